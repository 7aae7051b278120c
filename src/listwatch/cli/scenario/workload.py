"""Plays the controllers of one Deployment: the embedded server stores objects, but runs no pods.

`start` and `update` do what kube-controller-manager, a scheduler and a kubelet do in a cluster, one small step after
another, so that each step is a change that informers see.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random

from listwatch.cli.scenario.observer import TOUCHED
from listwatch.client.resources.client_set import ClientSet
from listwatch.controller.object_fields.owners import owner_reference
from listwatch.json_value import JSON, JSONObject
from listwatch.models.apps_v1 import Deployment, ReplicaSet
from listwatch.objects.object import Object

__all__ = ["NAMESPACE", "NODES", "Workload"]

NAMESPACE = "default"
NODES = ("node-a", "node-b", "node-c")

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # the characters of generated names in a cluster

Pause = Callable[[float], Awaitable[None]]
"""Waits for some seconds of the story."""


class Workload:
    """A Deployment, its ReplicaSets and their pods."""

    def __init__(self, client: ClientSet, name: str, *, replicas: int, pause: Pause, random: Random) -> None:
        self.name = name
        self.replicas = replicas
        self._deployments = client.apps_v1.deployments(NAMESPACE)
        self._sets = client.apps_v1.replicasets(NAMESPACE)
        self._pods = client.core_v1.pods(NAMESPACE)
        self._pause = pause
        self._random = random
        self._deployment: Deployment | None = None
        self._set: ReplicaSet | None = None
        self._running: list[str] = []  # the pods of the current ReplicaSet
        self._outdated: list[str] = []  # those of the one before
        self._created = 0

    @property
    def pods(self) -> list[str]:
        """The names of the pods of the current ReplicaSet."""
        return list(self._running)

    async def start(self, image: str) -> None:
        """Create the Deployment and its ReplicaSet, and start all pods."""
        spec: JSONObject = {
            "replicas": self.replicas,
            "selector": {"matchLabels": {"app": self.name}},
            "template": _template(self.name, image),
        }
        self._deployment = await self._deployments.create({"metadata": _metadata(self.name, self.name), "spec": spec})
        await self._pause(0.3)
        await self._create_set(image)
        for _ in range(self.replicas):
            await self.add_pod(image)

    async def update(self, image: str) -> None:
        """Change the image: a new ReplicaSet replaces the pods of the old one, one by one."""
        template: JSON = {"spec": {"containers": [{"name": "web", "image": image}]}}
        await self._deployments.patch(self.name, {"spec": {"template": template}})
        old_set, self._outdated, self._running = self._set, self._running, []
        await self._create_set(image)
        while self._outdated:
            await self.add_pod(image)
            await self.stop_pod(self._outdated[0])
        assert old_set is not None
        await self._sets.delete(old_set.name, propagation_policy="Background")

    async def add_pod(self, image: str) -> str:
        """Create a pod, schedule it, and let it become Running."""
        assert self._set is not None
        name = f"{self._set.name}-{self._suffix(5)}"
        metadata = _metadata(name, self.name, owner=self._set)
        await self._pods.create({"metadata": metadata, "spec": _template(self.name, image)["spec"]})
        await self._pause(0.12)
        await self._pods.bind(name, NODES[self._created % len(NODES)])
        await self._pause(0.12)
        await self._set_status(name, "Pending", reason="ContainerCreating")
        await self._pause(0.2)
        await self._set_status(name, "Running")
        self._created += 1
        self._running.append(name)
        await self._count()
        return name

    async def stop_pod(self, name: str) -> None:
        """Delete a pod at once, as a kubelet does at the end of the grace period."""
        await self._pods.delete(name, grace_period_seconds=0)
        for names in (self._running, self._outdated):
            if name in names:
                names.remove(name)
        await self._count()

    async def touch(self, count: int) -> None:
        """Annotate the pods `count` times in turn: a burst of updates."""
        names = self._running
        for number in range(count):
            annotation = {TOUCHED: str(number + 1)}
            await self._pods.patch(names[number % len(names)], {"metadata": {"annotations": annotation}})

    async def remove(self) -> None:
        """Delete the Deployment. The garbage collector deletes what it owns, and a kubelet would stop its pods."""
        await self._deployments.delete(self.name, propagation_policy="Background")
        for name in self._running:
            await self._pods.delete(name, grace_period_seconds=0)
        self._running = []

    # --- internal ----------------------------------------------------------------------------------------------------

    async def _create_set(self, image: str) -> None:
        spec: JSONObject = {
            "replicas": self.replicas,
            "selector": {"matchLabels": {"app": self.name}},
            "template": _template(self.name, image),
        }
        metadata = _metadata(f"{self.name}-{self._suffix(9)}", self.name, owner=self._deployment)
        self._set = await self._sets.create({"metadata": metadata, "spec": spec})
        await self._pause(0.3)

    async def _set_status(self, name: str, phase: str, *, reason: str = "") -> None:
        is_running = phase == "Running"
        state: JSON = {"waiting": {"reason": reason}} if reason else {"running": {}}
        container: JSON = {
            "name": "web",
            "image": "web",
            "imageID": "",
            "ready": is_running,
            "restartCount": 0,
            "state": state,
        }
        condition: JSON = {"type": "Ready", "status": "True" if is_running else "False"}
        status: JSONObject = {"phase": phase, "containerStatuses": [container], "conditions": [condition]}
        await self._pods.patch(name, {"status": status}, subresource="status")

    async def _count(self) -> None:
        """Report the number of running pods in the status of their owners."""
        assert self._set is not None
        current, all_of_them = len(self._running), len(self._running) + len(self._outdated)
        await self._sets.patch(self._set.name, {"status": _counts(current)}, subresource="status")
        await self._deployments.patch(self.name, {"status": _counts(all_of_them)}, subresource="status")

    def _suffix(self, length: int) -> str:
        return "".join(self._random.choices(_ALPHABET, k=length))


def _counts(pods: int) -> JSONObject:
    return {"replicas": pods, "readyReplicas": pods, "availableReplicas": pods}


def _metadata(name: str, app: str, *, owner: Object | None = None) -> JSONObject:
    owners: list[JSON] = []
    if owner is not None:
        reference = owner_reference(owner)
        owners.append(
            {
                "apiVersion": reference.api_version,
                "kind": reference.kind,
                "name": reference.name,
                "uid": reference.uid,
                "controller": True,
                "blockOwnerDeletion": True,
            }
        )
    return {"name": name, "labels": {"app": app}, "ownerReferences": owners}


def _template(app: str, image: str) -> JSONObject:
    return {
        "metadata": {"labels": {"app": app}},
        "spec": {"containers": [{"name": "web", "image": image}]},
    }

"""Nodes without kubelets: the phases of pods that are bound to them are set here."""

from __future__ import annotations

from contextlib import suppress
from typing import Self

import listwatch as lw
from listwatch.models.core_v1 import Pod

__all__ = ["NODE_FLAGS", "SimulatedNodes"]

NODE_FLAGS = ["--controllers=*,-node-lifecycle-controller"]
"""Flags of kube-controller-manager: nothing renews the leases of the nodes."""


class SimulatedNodes:
    """Creates nodes, sets the phases of pods that are bound to them, and ends terminating pods.

    Pods of Jobs succeed, others run and are ready.
    """

    def __init__(self, client: lw.ClientSet, *, count: int) -> None:
        self._client = client
        self._count = count
        self._informer = lw.SharedIndexInformer(client.core_v1.pods(), Pod)
        self._informer.add_handler(on_add=self._act, on_update=lambda _, new: self._act(new))

    async def __aenter__(self) -> Self:
        for number in range(self._count):
            await self._create_node(f"node-{number}")
        await self._informer.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._informer.__aexit__(None, None, None)

    async def _create_node(self, name: str) -> None:
        nodes = self._client.core_v1.nodes()
        capacity = {"cpu": "64", "memory": "256Gi", "pods": "110"}
        conditions = [{"type": "Ready", "status": "True", "reason": "Simulated"}]
        await nodes.create({"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}})
        status = {"capacity": capacity, "allocatable": capacity, "conditions": conditions}
        await nodes.patch(name, {"status": status}, subresource="status")
        # kube-apiserver adds a taint, which the controller that does not run would remove.
        await nodes.patch(name, {"spec": {"taints": None}}, type="merge")

    async def _act(self, pod: Pod) -> None:
        pods = self._client.core_v1.pods(pod.namespace)
        with suppress(lw.errors.NotFoundError, lw.errors.ConflictError):  # it was deleted or changed meanwhile
            if pod.metadata.deletion_timestamp and pod.metadata.deletion_grace_period_seconds:
                await pods.delete(pod.name, grace_period_seconds=0, uid=pod.metadata.uid or "")
            elif pod.spec.node_name and pod.status.phase == "Pending":
                await pods.patch(pod.name, {"status": _status(pod)}, subresource="status")


def _status(pod: Pod) -> dict[str, object]:
    is_job = any(owner.kind == "Job" for owner in pod.metadata.owner_references)
    now = pod.metadata.creation_timestamp
    state = {"terminated": {"exitCode": 0, "reason": "Completed"}} if is_job else {"running": {}}
    statuses = [
        {"name": each.name, "image": each.image, "imageID": "", "ready": not is_job, "restartCount": 0, "state": state}
        for each in pod.spec.containers
    ]
    return {
        "phase": "Succeeded" if is_job else "Running",
        "startTime": now,
        "podIPs": [{"ip": "10.200.0.1"}],
        "podIP": "10.200.0.1",
        "conditions": [{"type": "Ready", "status": str(not is_job), "lastTransitionTime": now}],
        "containerStatuses": statuses,
    }

"""The embedded API server of `--embedded`: sample objects, and a change of them every second."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.clock import Clock, SystemClock
from listwatch.json_value import JSON, JSONObject
from listwatch.objects.unstructured import Unstructured
from listwatch.server.api_server import APIServer
from listwatch.server.kubelet.container_log import ContainerLog
from listwatch.server.kubelet.kubelet import FunctionKubelet
from listwatch.tasks.cancellation import cancel_and_wait

__all__ = ["embedded_server"]

_INTERVAL = 1.0
"""Seconds between two changes."""
_REPLICAS = 3
_REQUEST = '10.0.0.1 "GET / HTTP/1.1" 200\n'
_LABELS: JSONObject = {"app": "web"}
_TEMPLATE: JSONObject = {
    "metadata": {"labels": _LABELS},
    "spec": {"containers": [{"name": "web", "image": "nginx:1.29", "ports": [{"containerPort": 80}]}]},
}


@asynccontextmanager
async def embedded_server(*, kubeconfig: Path | None = None) -> AsyncIterator[ClientConfig]:
    """Run an API server with a deployment, its pods and a few other objects; every second a pod is replaced.

    With `kubeconfig`, it also serves HTTPS for other processes, and writes that file for them.
    """
    log = ContainerLog()  # all sample pods have the same one
    log.write(f"nginx/1.29: ready for connections\n{_REQUEST}")
    kubelet = FunctionKubelet(logs=log.read)
    async with APIServer(kubelet=kubelet) as server, ClientSet(server.config) as client:
        if kubeconfig is not None:
            server.kubeconfig(kubeconfig)
        samples = _Samples(client.dynamic, SystemClock(), log)
        await samples.create()
        changing = asyncio.create_task(samples.keep_changing(), name="changes of the sample objects")
        try:
            yield server.config
        finally:
            await cancel_and_wait(changing)


class _Samples:
    def __init__(self, dynamic: DynamicClient, clock: Clock, log: ContainerLog) -> None:
        self._dynamic = dynamic
        self._clock = clock
        self._log = log
        self._numbers = count()
        self._replica_set: Unstructured | None = None

    async def create(self) -> None:
        """Create the objects as controllers would leave them."""
        node = await self._create("v1", "Node", "node-1", {})
        await self._set_status(node, {"conditions": [{"type": "Ready", "status": "True"}]})
        await self._create("v1", "ConfigMap", "web", {"data": {"index.html": "<h1>It works</h1>\n"}})
        ports: JSON = [{"port": 80, "targetPort": 80}]
        await self._create("v1", "Service", "web", {"spec": {"selector": _LABELS, "ports": ports}})
        workload: JSONObject = {
            "spec": {"replicas": _REPLICAS, "selector": {"matchLabels": _LABELS}, "template": _TEMPLATE}
        }
        deployment = await self._create("apps/v1", "Deployment", "web", workload)
        self._replica_set = await self._create("apps/v1", "ReplicaSet", "web-6d4cf56db6", workload, owner=deployment)
        ready: JSONObject = {"replicas": _REPLICAS, "readyReplicas": _REPLICAS, "availableReplicas": _REPLICAS}
        available: JSONObject = {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}
        await self._set_status(deployment, {**ready, "updatedReplicas": _REPLICAS, "conditions": [available]})
        await self._set_status(self._replica_set, ready)
        for _ in range(_REPLICAS):
            await self._set_status(await self._create_pod(), self._running())

    async def keep_changing(self) -> None:
        """Replace the oldest pod, one step a second."""
        pods = self._dynamic.resource("v1", "Pod", namespace="default")
        while True:
            await self._clock.sleep(_INTERVAL)
            self._log.write(_REQUEST)
            replacement = await self._create_pod()
            await self._clock.sleep(_INTERVAL)
            await self._set_status(replacement, self._running())
            await self._clock.sleep(_INTERVAL)
            found = await pods.list(label_selector="app=web")
            if len(found) > _REPLICAS:
                oldest = min(found, key=lambda pod: int(pod.name.rpartition("-")[2]))
                await pods.delete(oldest.name, grace_period_seconds=0)
                await self._record(oldest, "Killing", "Stopping container web")

    async def _create_pod(self) -> Unstructured:
        name = f"web-6d4cf56db6-{next(self._numbers)}"
        spec: JSONObject = {"nodeName": "node-1", **_part(_TEMPLATE, "spec")}
        pod = await self._create("v1", "Pod", name, {"spec": spec}, owner=self._replica_set)
        await self._record(pod, "Scheduled", f"Successfully assigned default/{name} to node-1")
        return pod

    def _running(self) -> JSONObject:
        started = self._clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        container: JSONObject = {
            "name": "web",
            "image": "nginx:1.29",
            "imageID": "",
            "ready": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": started}},
        }
        conditions: JSON = [{"type": "Ready", "status": "True"}, {"type": "PodScheduled", "status": "True"}]
        return {
            "phase": "Running",
            "podIP": "10.0.0.1",
            "startTime": started,
            "conditions": conditions,
            "containerStatuses": [container],
        }

    async def _record(self, about: Unstructured, reason: str, message: str) -> None:
        now = self._clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        reference: JSONObject = {
            "apiVersion": about.api_version,
            "kind": about.kind,
            "name": about.name,
            "namespace": about.namespace,
            "uid": about.uid,
        }
        content: JSONObject = {
            "involvedObject": reference,
            "reason": reason,
            "message": message,
            "type": "Normal",
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "source": {"component": "listwatch"},
        }
        await self._create("v1", "Event", f"{about.name}.{reason.lower()}", content)

    async def _create(
        self, api_version: str, kind: str, name: str, content: JSONObject, *, owner: Unstructured | None = None
    ) -> Unstructured:
        metadata: JSONObject = {"name": name, "labels": _LABELS}
        if owner is not None:
            reference: JSONObject = {
                "apiVersion": owner.api_version,
                "kind": owner.kind,
                "name": owner.name,
                "uid": owner.uid,
                "controller": True,
            }
            metadata["ownerReferences"] = [reference]
        namespace = "" if kind == "Node" else "default"
        return await self._dynamic.resource(api_version, kind, namespace=namespace).create(
            {"apiVersion": api_version, "kind": kind, "metadata": metadata, **content}
        )

    async def _set_status(self, obj: Unstructured, status: JSONObject) -> None:
        client = self._dynamic.resource(obj.api_version, obj.kind, namespace=obj.namespace)
        await client.patch(obj.name, {"status": status}, type="merge", subresource="status")


def _part(tree: JSONObject, name: str) -> JSONObject:
    part = tree[name]
    assert isinstance(part, dict)
    return part

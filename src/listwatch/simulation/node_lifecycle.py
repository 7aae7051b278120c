"""Marks nodes whose kubelet is gone, taints nodes by their conditions, and evicts pods by taints.

These are the node lifecycle, taint eviction and pod garbage collection controllers of kube-controller-manager.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from listwatch.clock import Clock
from listwatch.controller.controller import Controller
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.controller.watching.watches import Watch
from listwatch.errors import ConflictError, NotFoundError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.models.coordination_v1 import Lease
from listwatch.models.core_v1 import Node, Pod, Taint
from listwatch.simulation.node_objects import LEASE_NAMESPACE
from listwatch.simulation.options import SimulationOptions
from listwatch.simulation.pod_state import is_finished, is_ready, timestamp
from listwatch.simulation.scheduling.node_choice import tolerates

__all__ = ["NodeLifecycle"]

_PREFIX = "node.kubernetes.io/"
_PRESSURES = {
    "MemoryPressure": "memory-pressure",
    "DiskPressure": "disk-pressure",
    "PIDPressure": "pid-pressure",
    "NetworkUnavailable": "network-unavailable",
}
_OWN_TAINTS = {f"{_PREFIX}{name}" for name in ("not-ready", "unreachable", "unschedulable", *_PRESSURES.values())}


class NodeLifecycle:
    """Reconciles the taints of one node, and the pods that do not tolerate them."""

    def __init__(self, options: SimulationOptions, clock: Clock) -> None:
        self._clock = clock
        self._grace = options.node_grace_period
        self._records_events = options.events
        self.controller: Controller[Node] = Controller(
            self,
            for_=Node,
            watches=[
                Watch(Pod, keys=_node_of, when=_is_newly_bound, indexers={"node": _node_of}),
                Watch(Lease, keys=lambda _: None, namespace=LEASE_NAMESPACE),
            ],
            name="node-controller",
            clock=clock,
        )

    async def reconcile(self, key: ObjectKey, context: ReconcileContext[Node]) -> float | None:
        node = context.get()
        if node is None:
            await self._remove_orphans(key.name, context)
            return None
        now = self._clock.now()
        remaining = self._seconds_left(node, now, context)
        if remaining <= 0 and _ready_status(node) != "Unknown":
            await self._mark_unknown(node, now, context)
            return None  # the change of the node leads here again
        try:
            if await self._set_taints(node, now, context):
                return None
        except ConflictError:
            return 0.01  # another change of the node comes first
        waits = [each for each in (await self._evict(node, now, context), remaining) if each is not None and each > 0]
        return min(waits, default=None)

    def _seconds_left(self, node: Node, now: datetime, context: ReconcileContext[Node]) -> float:
        """How long the kubelet may stay silent; only the past counts for a node without a Lease."""
        lease = context.indexer(Lease).get(f"{LEASE_NAMESPACE}/{node.name}")
        seen = [node.metadata.creation_timestamp, lease.spec.renew_time if lease else None]
        seen += [each.last_heartbeat_time for each in node.status.conditions if each.type == "Ready"]
        latest = max(each for each in seen if each is not None)
        return self._grace - (now - latest).total_seconds()

    async def _mark_unknown(self, node: Node, now: datetime, context: ReconcileContext[Node]) -> None:
        conditions: list[JSON] = [
            {
                "type": type,
                "status": "Unknown",
                "lastTransitionTime": timestamp(now),
                "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.",
            }
            for type in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
        ]
        change: JSONObject = {"status": {"conditions": conditions}}
        await context.client.core_v1.nodes().patch(node.name, change, type="strategic", subresource="status")
        if self._records_events:
            context.record_event(node, "Normal", "NodeNotReady", f"Node {node.name} status is now: NodeNotReady")
        for pod in self._pods_of(node.name, context):
            if is_ready(pod):
                await self._mark_unready(pod, now, context)

    async def _mark_unready(self, pod: Pod, now: datetime, context: ReconcileContext[Node]) -> None:
        condition: JSONObject = {
            "type": "Ready",
            "status": "False",
            "lastProbeTime": None,
            "lastTransitionTime": timestamp(now),
            "reason": "NodeNotReady",
        }
        change: JSONObject = {"metadata": {"uid": pod.uid}, "status": {"conditions": [condition]}}
        try:
            await context.client.core_v1.pods(pod.namespace).patch(
                pod.name, change, type="strategic", subresource="status"
            )
        except (NotFoundError, ConflictError):
            return

    async def _set_taints(self, node: Node, now: datetime, context: ReconcileContext[Node]) -> bool:
        """Set the taints that follow from the conditions; returns whether they changed."""
        if not _ready_status(node):
            return False  # a new node has a taint until its kubelet reports for the first time
        wanted = {(f"{_PREFIX}{name}", effect) for name, effect in _taints_for(node)}
        present = {(each.key, each.effect) for each in node.spec.taints if each.key in _OWN_TAINTS}
        if wanted == present:
            return False
        kept: list[JSON] = [
            each.to_dict()
            for each in node.spec.taints
            if each.key not in _OWN_TAINTS or (each.key, each.effect) in wanted
        ]
        added: list[JSON] = [
            {"key": key, "effect": effect, "timeAdded": timestamp(now)} for key, effect in sorted(wanted - present)
        ]
        # With the version: a merge patch replaces the list, and must not undo another change of it.
        change: JSONObject = {
            "metadata": {"resourceVersion": node.resource_version},
            "spec": {"taints": [*kept, *added] or None},
        }
        await context.client.core_v1.nodes().patch(node.name, change, type="merge")
        return True

    async def _evict(self, node: Node, now: datetime, context: ReconcileContext[Node]) -> float | None:
        """Delete the pods that do not tolerate a taint any longer; returns the seconds until the next one is due."""
        taints = [each for each in node.spec.taints if each.effect == "NoExecute"]
        if not taints:
            return None
        waits: list[float] = []
        for pod in self._pods_of(node.name, context):
            if pod.metadata.deletion_timestamp is not None or is_finished(pod):
                continue
            seconds = min(_tolerated_seconds(pod, each, now) for each in taints)
            if seconds > 0:
                waits.append(seconds)
                continue
            if self._records_events:
                text = f"Marking for deletion Pod {pod.namespace}/{pod.name}"
                context.record_event(pod, "Normal", "TaintManagerEviction", text)
            await _delete(pod, context)
        return min((each for each in waits if each < 1e9), default=None)

    async def _remove_orphans(self, name: str, context: ReconcileContext[Node]) -> None:
        for pod in self._pods_of(name, context):
            await _delete(pod, context, grace_period_seconds=0)

    def _pods_of(self, name: str, context: ReconcileContext[Node]) -> list[Pod]:
        return context.indexer(Pod).by_index("node", name)


async def _delete(pod: Pod, context: ReconcileContext[Node], *, grace_period_seconds: int | None = None) -> None:
    try:
        await context.client.core_v1.pods(pod.namespace).delete(
            pod.name, uid=pod.uid, grace_period_seconds=grace_period_seconds
        )
    except (NotFoundError, ConflictError):
        return


def _ready_status(node: Node) -> str:
    return next((each.status for each in node.status.conditions if each.type == "Ready"), "")


def _taints_for(node: Node) -> Iterator[tuple[str, str]]:
    ready = _ready_status(node)
    name = {"True": "", "Unknown": "unreachable"}.get(ready, "not-ready")
    if name:
        yield name, "NoSchedule"
        yield name, "NoExecute"
    if node.spec.unschedulable:
        yield "unschedulable", "NoSchedule"
    for each in node.status.conditions:
        if each.type in _PRESSURES and each.status == "True":
            yield _PRESSURES[each.type], "NoSchedule"


def _tolerated_seconds(pod: Pod, taint: Taint, now: datetime) -> float:
    """The seconds for which a pod may stay on a node with this taint: 0 or less if it is to go now."""
    matching = [each for each in pod.spec.tolerations if tolerates(each, taint)]
    if not matching:
        return 0.0
    limits = [each.toleration_seconds for each in matching if each.toleration_seconds is not None]
    if not limits:
        return float("inf")
    added = taint.time_added or now
    return max(0, min(limits)) - (now - added).total_seconds()


def _node_of(pod: Pod) -> list[str]:
    return [pod.spec.node_name] if pod.spec.node_name else []


def _is_newly_bound(old: Pod | None, new: Pod | None) -> bool:
    return new is not None and bool(new.spec.node_name) and (old is None or not old.spec.node_name)

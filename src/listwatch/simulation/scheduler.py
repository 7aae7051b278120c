"""Binds pods to nodes, as kube-scheduler does. `scheduling.py` decides."""

from __future__ import annotations

from collections.abc import Iterator

from listwatch.clock import Clock
from listwatch.controller.controller import Controller
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.controller.watching.watches import Watch
from listwatch.errors import ConflictError, NotFoundError
from listwatch.json_value import JSONObject
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import Node, PersistentVolumeClaim, Pod
from listwatch.simulation.options import SimulationOptions
from listwatch.simulation.pod_state import is_finished, timestamp
from listwatch.simulation.scheduling import NodeUsage, PlacedPod, choose_node

__all__ = ["SimulatedScheduler"]

_NAME = "default-scheduler"
_RETRY = 5.0


class SimulatedScheduler:
    """Binds each pod to the least loaded node on which it fits, and retries those that fit nowhere."""

    def __init__(self, options: SimulationOptions, clock: Clock) -> None:
        self._clock = clock
        self._records_events = options.events
        self._nodes: dict[str, NodeUsage] = {}
        self._placed: dict[str, tuple[str, PlacedPod]] = {}
        self.controller: Controller[Pod] = Controller(
            self,
            for_=Watch(Pod, indexers={"unscheduled": _unscheduled}, when=_needs_node),
            watches=[
                Watch(Node, keys=lambda _: self._waiting(), when=_may_help),
                Watch(PersistentVolumeClaim, keys=lambda _: self._waiting()),
            ],
            name=_NAME,
            concurrency=8,
            clock=clock,
        )

    def _waiting(self) -> Iterator[Pod]:
        yield from self.controller.indexer(Pod).by_index("unscheduled", "yes")

    # --- what is known; handlers of informers call these -------------------------------------------------------------

    def on_node(self, node: Node) -> None:
        usage = self._nodes.get(node.name)
        if usage is not None:
            usage.node = node
            return
        usage = self._nodes[node.name] = NodeUsage(node)
        for name, placed in self._placed.values():
            if name == node.name:
                usage.add(placed)

    def on_node_deleted(self, node: Node) -> None:
        self._nodes.pop(node.name, None)

    def on_pod(self, pod: Pod) -> None:
        if pod.spec.node_name and is_finished(pod):
            self.on_pod_deleted(pod)
        elif pod.spec.node_name and pod.uid not in self._placed:
            self._place(pod.spec.node_name, PlacedPod.of(pod))

    def on_pod_deleted(self, pod: Pod) -> None:
        known = self._placed.pop(pod.uid, None)
        if known is not None and known[0] in self._nodes:
            self._nodes[known[0]].remove(pod.uid)

    def _place(self, node: str, placed: PlacedPod) -> None:
        self._placed[placed.uid] = node, placed
        if node in self._nodes:
            self._nodes[node].add(placed)

    # --- reconcile ---------------------------------------------------------------------------------------------------

    async def reconcile(self, key: ObjectKey, context: ReconcileContext[Pod]) -> float | None:
        pod = context.get()
        if pod is None or not _needs_node(None, pod):
            return None
        pods = context.client.core_v1.pods(pod.namespace)
        if pod.spec.scheduling_gates:
            await self._report(
                pod, "SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates", context
            )
            return None
        message = self._missing_claim(pod, context)
        if not message:
            verdict = choose_node(pod, [*self._nodes.values()])
            message = verdict.message
        if message:
            await self._report(pod, "Unschedulable", message, context)
            return _RETRY
        self._place(verdict.node, PlacedPod.of(pod))  # before the request: other pods are scheduled meanwhile
        try:
            await pods.bind(pod.name, verdict.node)
        except (NotFoundError, ConflictError):
            self.on_pod_deleted(pod)
            return None
        except BaseException:
            self.on_pod_deleted(pod)
            raise
        if self._records_events:
            text = f"Successfully assigned {pod.namespace}/{pod.name} to {verdict.node}"
            context.record_event(pod, "Normal", "Scheduled", text)
        return None

    def _missing_claim(self, pod: Pod, context: ReconcileContext[Pod]) -> str:
        claims = context.indexer(PersistentVolumeClaim)
        for volume in pod.spec.volumes:
            if volume.persistent_volume_claim is None:
                continue
            name = volume.persistent_volume_claim.claim_name
            claim = claims.get(ObjectKey(pod.namespace, name))
            count = len(self._nodes)
            if claim is None:
                return f'0/{count} nodes are available: persistentvolumeclaim "{name}" not found.'
            if claim.status.phase != "Bound":
                return f"0/{count} nodes are available: pod has unbound immediate PersistentVolumeClaims."
        return ""

    async def _report(self, pod: Pod, reason: str, message: str, context: ReconcileContext[Pod]) -> None:
        known = next((each for each in pod.status.conditions if each.type == "PodScheduled"), None)
        if known is not None and (known.reason, known.message) == (reason, message):
            return
        condition: JSONObject = {
            "type": "PodScheduled",
            "status": "False",
            "lastProbeTime": None,
            "lastTransitionTime": timestamp(self._clock.now()),
            "reason": reason,
            "message": message,
        }
        if pod.metadata.generation:
            condition["observedGeneration"] = pod.metadata.generation
        change: JSONObject = {"metadata": {"uid": pod.uid}, "status": {"conditions": [condition]}}
        try:
            await context.client.core_v1.pods(pod.namespace).patch(
                pod.name, change, type="strategic", subresource="status"
            )
        except (NotFoundError, ConflictError):
            return
        if self._records_events and reason == "Unschedulable":
            context.record_event(pod, "Warning", "FailedScheduling", message)


def _unscheduled(pod: Pod) -> list[str]:
    return ["yes"] if _needs_node(None, pod) else []


def _needs_node(_old: Pod | None, pod: Pod | None) -> bool:
    return (
        pod is not None
        and not pod.spec.node_name
        and pod.metadata.deletion_timestamp is None
        and (pod.spec.scheduler_name or _NAME) == _NAME
    )


def _may_help(old: Node | None, new: Node | None) -> bool:
    """Whether a change of a node can make a pod fit."""
    if old is None or new is None:
        return new is not None
    return (old.labels, old.spec, old.status.allocatable) != (new.labels, new.spec, new.status.allocatable)

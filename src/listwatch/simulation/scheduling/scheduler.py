"""Binds pods to nodes, as kube-scheduler does. `node_choice.py` and `preemption.py` decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from listwatch.clock import Clock
from listwatch.controller.controller import Controller
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.controller.watching.watches import Watch
from listwatch.errors import ConflictError, NotFoundError
from listwatch.json_value import JSONObject
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import Node, PersistentVolume, PersistentVolumeClaim, Pod
from listwatch.models.storage_v1 import StorageClass
from listwatch.simulation.options import SimulationOptions
from listwatch.simulation.pod_state import is_finished, timestamp
from listwatch.simulation.scheduling.node_choice import NodeUsage, PlacedPod, Verdict, choose_node
from listwatch.simulation.scheduling.pod_claims import SELECTED_NODE, claims_of
from listwatch.simulation.scheduling.preemption import choose_victims

__all__ = ["SimulatedScheduler"]

_NAME = "default-scheduler"
_RETRY = 5.0


@dataclass(frozen=True, slots=True)
class _Nomination:
    """A pod that gets a place on a node as soon as the victims are gone."""

    node: str
    placed: PlacedPod
    victims: frozenset[str]


class SimulatedScheduler:
    """Binds each pod to the least loaded node on which it fits.

    A pod that fits nowhere preempts pods of lower priority, and is tried again when a pod or node changes.
    """

    def __init__(self, options: SimulationOptions, clock: Clock) -> None:
        self._clock = clock
        self._records_events = options.events
        self._nodes: dict[str, NodeUsage] = {}
        self._placed: dict[str, tuple[str, PlacedPod]] = {}
        self._nominated: dict[str, _Nomination] = {}
        self._selected: dict[str, str] = {}
        self._unschedulable: set[ObjectKey] = set()
        self.controller: Controller[Pod] = Controller(
            self,
            for_=Watch(Pod, indexers={"unscheduled": _unscheduled}, when=_needs_node),
            watches=[
                Watch(Node, keys=lambda _: self._waiting(), when=_may_help),
                Watch(PersistentVolumeClaim, keys=lambda _: self._waiting()),
                Watch(PersistentVolume, keys=lambda _: self._waiting()),
                Watch(StorageClass, keys=lambda _: self._waiting()),
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
        self._nominated.pop(pod.uid, None)
        self._selected.pop(pod.uid, None)
        known = self._placed.pop(pod.uid, None)
        if known is not None and known[0] in self._nodes:
            self._nodes[known[0]].remove(pod.uid)
            for key in self._unschedulable:
                self.controller.enqueue(key)
            self._unschedulable.clear()

    def _place(self, node: str, placed: PlacedPod) -> None:
        self._placed[placed.uid] = node, placed
        if node in self._nodes:
            self._nodes[node].add(placed)

    # --- reconcile ---------------------------------------------------------------------------------------------------

    async def reconcile(self, key: ObjectKey, context: ReconcileContext[Pod]) -> float | None:
        pod = context.get()
        if pod is None or not _needs_node(None, pod):
            self._unschedulable.discard(key)
            return None
        if pod.spec.scheduling_gates:
            text = "Scheduling is blocked due to non-empty scheduling gates"
            await self._report(pod, "SchedulingGated", text, context)
            return None
        # 1. Choose a node.
        claims = claims_of(pod, context)
        nodes = self._usages(pod)
        verdict = Verdict(message=f"0/{len(nodes)} nodes are available: {claims.problem}.")
        if not claims.problem:
            verdict = self._choose(pod, nodes, claims.volumes)
        # 2. If there is none, preempt other pods, and wait.
        if not verdict.node:
            self._unschedulable.add(key)
            if not claims.problem:
                await self._preempt(pod, nodes, claims.volumes, context)
            await self._report(pod, "Unschedulable", verdict.message, context)
            return _RETRY
        # 3. Let claims be bound that wait for the node; their change leads here again.
        if claims.waiting:
            self._selected[pod.uid] = verdict.node
            await self._select_node(claims.waiting, verdict.node, context)
            return None
        await self._bind(pod, verdict.node, context)
        return None

    def _usages(self, pod: Pod) -> list[NodeUsage]:
        """The nodes, with the places of nominated pods that are at least as important as this one."""
        nodes = dict(self._nodes)
        for uid, each in self._nominated.items():
            if uid != pod.uid and each.node in nodes and each.placed.priority >= (pod.spec.priority or 0):
                nodes[each.node] = nodes[each.node].with_pod(each.placed)
        return [*nodes.values()]

    def _choose(self, pod: Pod, nodes: Sequence[NodeUsage], volumes: Sequence[PersistentVolume]) -> Verdict:
        selected = self._selected.pop(pod.uid, "")
        if selected and choose_node(pod, [each for each in nodes if each.node.name == selected], volumes).node:
            return Verdict(node=selected)
        return choose_node(pod, nodes, volumes)

    async def _bind(self, pod: Pod, node: str, context: ReconcileContext[Pod]) -> None:
        self._place(node, PlacedPod.of(pod))  # before the request: other pods are scheduled meanwhile
        try:
            await context.client.core_v1.pods(pod.namespace).bind(pod.name, node)
        except (NotFoundError, ConflictError):
            self.on_pod_deleted(pod)
            return
        except BaseException:
            self.on_pod_deleted(pod)
            raise
        self._nominated.pop(pod.uid, None)
        if self._records_events:
            text = f"Successfully assigned {pod.namespace}/{pod.name} to {node}"
            context.record_event(pod, "Normal", "Scheduled", text)

    async def _select_node(
        self, claims: Sequence[PersistentVolumeClaim], node: str, context: ReconcileContext[Pod]
    ) -> None:
        for claim in claims:
            if claim.metadata.annotations.get(SELECTED_NODE) != node:
                change = {"metadata": {"uid": claim.uid, "annotations": {SELECTED_NODE: node}}}
                resource = context.client.core_v1.persistentvolumeclaims(claim.namespace)
                await resource.patch(claim.name, change, type="merge")

    # --- preemption --------------------------------------------------------------------------------------------------

    async def _preempt(
        self,
        pod: Pod,
        nodes: Sequence[NodeUsage],
        volumes: Sequence[PersistentVolume],
        context: ReconcileContext[Pod],
    ) -> None:
        known = self._nominated.get(pod.uid)
        if known is not None and known.node in self._nodes and not known.victims.isdisjoint(self._placed):
            return  # the victims are still terminating
        found = choose_victims(pod, nodes, volumes)
        if found is None:
            self._nominated.pop(pod.uid, None)
            return
        victims = frozenset(each.uid for each in found.victims)
        self._nominated[pod.uid] = _Nomination(found.node, PlacedPod.of(pod), victims)
        for victim in found.victims:
            await self._evict(victim, pod, found.node, context)
        if pod.status.nominated_node_name != found.node:
            change: JSONObject = {"metadata": {"uid": pod.uid}, "status": {"nominatedNodeName": found.node}}
            with suppress(NotFoundError, ConflictError):
                pods = context.client.core_v1.pods(pod.namespace)
                await pods.patch(pod.name, change, type="merge", subresource="status")

    async def _evict(self, victim: PlacedPod, pod: Pod, node: str, context: ReconcileContext[Pod]) -> None:
        pods = context.client.core_v1.pods(victim.namespace)
        condition: JSONObject = {
            "type": "DisruptionTarget",
            "status": "True",
            "lastTransitionTime": timestamp(self._clock.now()),
            "reason": "PreemptionByScheduler",
            "message": f"{_NAME}: preempting to accommodate a higher priority pod",
        }
        change: JSONObject = {"metadata": {"uid": victim.uid}, "status": {"conditions": [condition]}}
        with suppress(NotFoundError, ConflictError):
            preempted = await pods.patch(victim.name, change, type="strategic", subresource="status")
            if self._records_events:
                context.record_event(preempted, "Normal", "Preempted", f"Preempted by pod {pod.uid} on node {node}")
            await pods.delete(victim.name, uid=victim.uid)

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

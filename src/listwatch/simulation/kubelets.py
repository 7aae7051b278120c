"""Simulates the kubelets' part for pods: statuses, as the stages say, and termination."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from math import isinf
from random import Random

from listwatch.clock import Clock
from listwatch.controller.controller import Controller
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.controller.watching.watches import Watch
from listwatch.errors import ConflictError, NotFoundError
from listwatch.json_value import JSONObject
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import Container, Pod
from listwatch.simulation.container_programs import ContainerPrograms
from listwatch.simulation.node_objects import host_ip, pod_network
from listwatch.simulation.nodes import SimulatedNodes
from listwatch.simulation.options import SimulationOptions
from listwatch.simulation.pod_state import (
    Placement,
    is_finished,
    restart_delay,
    state_of,
    status_after,
    status_after_exits,
    status_after_initialization,
    status_after_update,
    status_of_rejected,
)
from listwatch.simulation.scheduling.node_choice import host_ports
from listwatch.simulation.stage_timers import DueStage, StageTimers
from listwatch.simulation.stages import DEFAULT_STAGES, Stage, State

__all__ = ["SimulatedKubelets"]

_RESTART = Stage("restart containers", "crashed", "restart")
_DEADLINE = Stage("end at the deadline", "any", "deadline")
_INITIALIZE, _READY = DEFAULT_STAGES[1], DEFAULT_STAGES[3]
_EVENTS = {
    "start": (
        ("Normal", "Pulled", 'Container image "{image}" already present on machine and can be accessed by the pod'),
        ("Normal", "Created", "Container created"),
        ("Normal", "Started", "Container started"),
    ),
    "restart": (("Normal", "Started", "Container started"),),
    "crash": (("Warning", "BackOff", "Back-off restarting failed container {name} in pod {pod}"),),
    "image-error": (("Warning", "Failed", 'Failed to pull image "{image}"'),),
    "evict": (("Warning", "Evicted", "The node was low on resource: memory."),),
    "unready": (("Warning", "Unhealthy", "Readiness probe failed"),),
}


class SimulatedKubelets:
    """Applies the stages of pods that are bound to a node whose kubelet runs."""

    def __init__(self, options: SimulationOptions, nodes: SimulatedNodes, clock: Clock, random: Random) -> None:
        self._nodes = nodes
        self._clock = clock
        self._records_events = options.events
        self._own = [each for each in options.stages if each.kind == "Pod"]
        self._timers = StageTimers([*self._own, *DEFAULT_STAGES, _RESTART], clock, random)
        self._programs = ContainerPrograms(options, clock)
        self._addresses = _PodAddresses()
        self._uids: dict[ObjectKey, str] = {}
        self._accepted: set[str] = set()
        """The uids of pods that use host ports; their status may not be written yet."""
        self.controller: Controller[Pod] = Controller(
            self,
            for_=Watch(Pod, indexers={"node": _node_of}, when=_is_bound),
            name="kubelet",
            concurrency=16,
            clock=clock,
        )
        nodes.on_started = self._enqueue_pods

    def output_of(self, pod: Pod, container: str) -> str:
        """The log of a container that has started."""
        return self._programs.output(pod, container)

    def _enqueue_pods(self, node: str) -> None:
        for pod in self.controller.indexer(Pod).by_index("node", node):
            self.controller.enqueue(pod)

    async def reconcile(self, key: ObjectKey, context: ReconcileContext[Pod]) -> float | None:
        pod = context.get()
        if pod is None or self._uids.get(key, pod.uid) != pod.uid:
            self._forget(key)
        if pod is None or not pod.spec.node_name or self._nodes.is_stopped(pod.spec.node_name):
            return None
        self._uids[key] = pod.uid
        state = state_of(pod)
        if state == "terminating" and pod.metadata.finalizers and not pod.metadata.deletion_grace_period_seconds:
            return None  # it has stopped, and waits for its finalizers
        # 1. What follows a change of the spec.
        if state in ("running", "ready", "crashed"):
            change = status_after_update(pod, self._placement(pod, self._clock.now()))
            if change is not None:
                await self._patch_status(pod, change, context)
                return None
        # 2. A stage of the user, or the first of: the deadline of the pod, the end of a program, a default stage.
        due = self._due(pod, state)
        if due is None or due.stage not in self._own:
            left = self._active_seconds_left(pod)
            if left is not None and (due is None or left <= due.seconds):
                due = DueStage(_DEADLINE, left)
            exits = self._programs.next_exits(pod)
            if exits is not None and (due is None or exits.seconds <= due.seconds):
                if exits.seconds > 0:
                    return exits.seconds
                await self._exit(pod, exits.codes, context)
                return None
        if due is None or due.seconds > 0:
            return None if due is None or isinf(due.seconds) else due.seconds
        await self._apply(pod, due.stage, context)
        return None

    def _active_seconds_left(self, pod: Pod) -> float | None:
        """The seconds until a pod has been active for too long."""
        limit, started = pod.spec.active_deadline_seconds, pod.status.start_time
        if limit is None or started is None or is_finished(pod) or pod.metadata.deletion_timestamp is not None:
            return None
        return max(0.0, limit - (self._clock.now() - started).total_seconds())

    def _due(self, pod: Pod, state: State) -> DueStage | None:
        def adjust(stage: Stage, seconds: float) -> float:
            if stage is _RESTART:
                return restart_delay(pod)
            if stage is _INITIALIZE:
                return self._programs.seconds_to_initialize(pod, seconds)
            if stage is _READY:
                return seconds + max((_initial_delay(each) for each in pod.spec.containers), default=0.0)
            if state == "terminating":  # a container that ignores SIGTERM is killed at the end of the grace period
                return min(seconds, float(pod.metadata.deletion_grace_period_seconds or 0))
            return seconds

        skip = () if self._programs.pass_probes(pod) else (_READY,)
        return self._timers.next_for(pod, state, skip=skip, adjust=adjust)

    async def _exit(self, pod: Pod, codes: Mapping[str, int], context: ReconcileContext[Pod]) -> None:
        """Containers exit, because their programs have ended."""
        status = status_after_exits(pod, codes, self._placement(pod, self._clock.now()))
        is_written = await self._patch_status(pod, status, context)
        if is_written and self._records_events and any(codes.values()):
            self._record(pod, "crash", context)

    async def _patch_status(self, pod: Pod, status: JSONObject, context: ReconcileContext[Pod]) -> bool:
        """Returns whether the pod still exists."""
        # With the uid: a StatefulSet makes another pod of the same name.
        change = {"metadata": {"uid": pod.uid}, "status": {**status, "observedGeneration": pod.metadata.generation}}
        try:
            await context.client.core_v1.pods(pod.namespace).patch(pod.name, change, type="merge", subresource="status")
        except (NotFoundError, ConflictError):
            return False
        return True

    async def _apply(self, pod: Pod, stage: Stage, context: ReconcileContext[Pod]) -> None:
        if stage.next == "delete":
            is_written = await self._delete(pod, context)
        else:
            is_written = await self._patch_status(pod, self._next_status(pod, stage), context)
        if not is_written:
            return
        self._timers.applied(pod, stage)
        if self._records_events and isinstance(stage.next, str):
            self._record(pod, stage.next, context)

    async def _delete(self, pod: Pod, context: ReconcileContext[Pod]) -> bool:
        """Returns whether the pod still existed."""
        if pod.metadata.finalizers and not is_finished(pod) and pod.status.container_statuses:
            # Others still read how it ended.
            stopped = status_after(pod, "fail", self._placement(pod, self._clock.now()))
            if not await self._patch_status(pod, stopped, context):
                return False
        try:
            await context.client.core_v1.pods(pod.namespace).delete(pod.name, grace_period_seconds=0, uid=pod.uid)
        except (NotFoundError, ConflictError):
            return False
        return True

    def _has_port_conflict(self, pod: Pod) -> bool:
        """Whether another pod of the node uses a port of a pod that was not scheduled, but created with a node.

        If not, the pod uses its ports from now on.
        """
        if not (ports := host_ports(pod)):
            return False
        others = self.controller.indexer(Pod).by_index("node", pod.spec.node_name or "")
        accepted = [
            each
            for each in others
            if (each.status.container_statuses or each.uid in self._accepted) and not is_finished(each)
        ]
        if any(ports & host_ports(each) for each in accepted if each.uid != pod.uid):
            return True
        self._accepted.add(pod.uid)
        return False

    def _next_status(self, pod: Pod, stage: Stage) -> JSONObject:
        if isinstance(stage.next, str):
            assert stage.next != "delete"
            assert stage.next != "stop"
            place = self._placement(pod, self._clock.now())
            if stage.next == "create" and self._has_port_conflict(pod):
                return status_of_rejected("NodePorts", place)
            if stage is _INITIALIZE:
                return status_after_initialization(pod, self._programs.initialization_codes(pod), place)
            return status_after(pod, stage.next, place, code=stage.exit_code)
        return dict(stage.next(pod) if callable(stage.next) else stage.next)

    def _placement(self, pod: Pod, now: datetime) -> Placement:
        node = pod.spec.node_name or ""
        number = self._nodes.number(node)
        host = host_ip(number)
        address = host if pod.spec.host_network else self._addresses.address_of(pod, pod_network(number))
        return Placement(now=now, host_ip=host, pod_ip=address, node=node)

    def _record(self, pod: Pod, transition: str, context: ReconcileContext[Pod]) -> None:
        container = pod.spec.containers[0]
        for type, reason, message in _EVENTS.get(transition, ()):
            text = message.format(image=container.image, name=container.name, pod=pod.name)
            context.record_event(pod, "Warning" if type == "Warning" else "Normal", reason, text)

    def _forget(self, key: ObjectKey) -> None:
        if uid := self._uids.pop(key, ""):
            self._accepted.discard(uid)
            self._timers.forget(uid)
            self._addresses.release(uid)
            self._programs.forget(uid)


class _PodAddresses:
    """The addresses of pods: each is used by one pod at a time."""

    def __init__(self) -> None:
        self._by_pod: dict[str, str] = {}
        self._used: dict[str, str] = {}
        self._last: dict[str, int] = {}

    def address_of(self, pod: Pod, network: str) -> str:
        known = self._by_pod.get(pod.uid) or pod.status.pod_ip
        if known:
            return self._take(pod.uid, known)
        last = self._last.get(network, 1)
        for step in range(1, 254):
            number = (last - 2 + step) % 253 + 2
            if f"{network}{number}" not in self._used:
                break
        self._last[network] = number
        return self._take(pod.uid, f"{network}{number}")

    def _take(self, uid: str, address: str) -> str:
        self._by_pod[uid] = address
        self._used[address] = uid
        return address

    def release(self, uid: str) -> None:
        address = self._by_pod.pop(uid, "")
        if self._used.get(address) == uid:
            del self._used[address]


def _node_of(pod: Pod) -> list[str]:
    return [pod.spec.node_name] if pod.spec.node_name else []


def _is_bound(old: Pod | None, new: Pod | None) -> bool:
    return new is None or bool(new.spec.node_name)


def _initial_delay(container: Container) -> float:
    probe = container.readiness_probe
    return float(probe.initial_delay_seconds or 0) if probe else 0.0

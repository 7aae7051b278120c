"""Simulates the kubelets' part for nodes: statuses and Leases. `kubelets.py` has the pods."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from listwatch.clock import Clock
from listwatch.controller.controller import Controller
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.controller.watching.watches import Watch
from listwatch.errors import NotFoundError
from listwatch.meta import ObjectKey
from listwatch.models.coordination_v1 import Lease
from listwatch.models.core_v1 import Node
from listwatch.simulation.node_objects import LEASE_NAMESPACE, lease_of, micro_time, ready_status
from listwatch.simulation.options import SimulationOptions
from listwatch.simulation.stage_timers import StageTimers
from listwatch.simulation.stages import State

__all__ = ["SimulatedNodes"]

_STATUS_INTERVAL = 300.0


class SimulatedNodes:
    """Keeps the status of each Node ready and renews its Lease, unless its kubelet is stopped."""

    def __init__(self, options: SimulationOptions, clock: Clock, random: Random) -> None:
        self._heartbeat = options.heartbeat
        self._clock = clock
        self._stopped: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._reported: dict[str, float] = {}
        self._timers = StageTimers([each for each in options.stages if each.kind == "Node"], clock, random)
        self.on_started: Callable[[str], None] = lambda _name: None
        self.controller: Controller[Node] = Controller(
            self,
            for_=Node,
            name="simulated-nodes",
            watches=[Watch(Lease, keys=_no_keys, namespace=LEASE_NAMESPACE)],
            clock=clock,
            concurrency=8,
        )

    # --- control -----------------------------------------------------------------------------------------------------

    def is_stopped(self, name: str) -> bool:
        """Whether the kubelet of a node is stopped."""
        return name in self._stopped

    def stop(self, name: str) -> None:
        """Stop a kubelet: the Lease is not renewed, and nothing happens to the pods of the node."""
        self._stopped.add(name)

    def start(self, name: str) -> None:
        """Start a kubelet again."""
        self._stopped.discard(name)
        self._reported.pop(name, None)
        self.controller.enqueue(ObjectKey("", name))
        self.on_started(name)

    def number(self, name: str) -> int:
        """The number of a node, which its addresses contain."""
        return self._numbers.setdefault(name, len(self._numbers))

    # --- reconcile ---------------------------------------------------------------------------------------------------

    async def reconcile(self, key: ObjectKey, context: ReconcileContext[Node]) -> float | None:
        node = context.get()
        if node is None:
            self._reported.pop(key.name, None)
            return None
        until = await self._apply_stages(node, context)
        if self.is_stopped(key.name):
            return until
        now = self._clock.monotonic()
        if now - self._reported.get(key.name, -_STATUS_INTERVAL) >= _STATUS_INTERVAL or not _is_ready(node):
            await self._report_status(node, context)
            self._reported[key.name] = now
        await self._renew(node, context)
        return self._heartbeat if until is None else min(until, self._heartbeat)

    async def _apply_stages(self, node: Node, context: ReconcileContext[Node]) -> float | None:
        state: State = "stopped" if self.is_stopped(node.name) else "ready"
        due = self._timers.next_for(node, state)
        if due is None or due.seconds > 0:
            return None if due is None else due.seconds
        self._timers.applied(node, due.stage)
        match due.stage.next:
            case "stop":
                self.stop(node.name)
            case "start":
                self.start(node.name)
            case "delete":
                await context.client.core_v1.nodes().delete(node.name)
            case change if isinstance(change, dict):
                await context.client.core_v1.nodes().patch(
                    node.name, {"status": change}, type="strategic", subresource="status"
                )
        return 0.0

    async def _report_status(self, node: Node, context: ReconcileContext[Node]) -> None:
        status = ready_status(node, self.number(node.name), self._clock.now())
        await context.client.core_v1.nodes().patch(node.name, {"status": status}, type="merge", subresource="status")

    async def _renew(self, node: Node, context: ReconcileContext[Node]) -> None:
        leases = context.client.coordination_v1.leases(LEASE_NAMESPACE)
        present = context.indexer(Lease).get(f"{LEASE_NAMESPACE}/{node.name}")
        if present is not None and present.spec.renew_time is not None:
            age = (self._clock.now() - present.spec.renew_time).total_seconds()
            if 0 <= age < self._heartbeat / 2:
                return  # another change of the node led here
        now = self._clock.now()
        try:
            if present is not None:
                await leases.patch(node.name, {"spec": {"renewTime": micro_time(now)}}, type="merge")
                return
        except NotFoundError:
            pass
        await leases.create(lease_of(node, now))


def _is_ready(node: Node) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in node.status.conditions)


def _no_keys(_lease: object) -> None:
    return None

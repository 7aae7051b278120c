"""Runs controllers together: one set of informers, one leader among replicas, an orderly end.

    async with ClientSet(load_config()) as client:
        manager = Manager(client, leader_election="my-operator", health_port=8081)
        manager.add(Controller(reconcile, for_=Deployment, owns=[Pod]))
        await manager.run()

    probes ─ informers of all controllers ─ [ leadership ─ workers ]       entered in this order, left in the reverse

A replica that does not lead keeps its caches filled, so that it can begin at once.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, nullcontext
from http import HTTPStatus
from typing import Any, Self, TypeVar

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.clock import Clock, SystemClock
from listwatch.controller.controller import Controller
from listwatch.controller.loop_watchdog import watched_loop
from listwatch.controller.metrics_text import metrics_text
from listwatch.controller.probes import Answer, ProbeServer
from listwatch.controller.reports import ManagerStatistics
from listwatch.controller.samples import samples_of
from listwatch.controller.signals import on_ending_signals
from listwatch.controller.tasks import run_together
from listwatch.errors import UsageError
from listwatch.informer.cancellation import log_end
from listwatch.informer.factory import SharedInformerFactory
from listwatch.leaderelection.elector import LeaderElector

__all__ = ["Manager", "ManagerStatistics"]

C = TypeVar("C", bound=Controller)

_log = logging.getLogger("listwatch.controller")


class Manager:
    """Runs controllers over shared informers, until it is told to end, or one of them cannot go on.

    With `leader_election`, the name of a lease, or with a `leader_elector`, workers run only while this replica leads.
    Losing leadership ends the manager with LeadershipLostError: begin anew with a new process, as nobody can say what
    its reconciles have left half done. With `health_port` it answers at /healthz, /readyz and /metrics. When it ends,
    what is under way has `grace` seconds to finish, and then the lease is given back; not if a reconcile runs on that
    cannot be cancelled, as in a thread: then the lease expires.
    """

    def __init__(
        self,
        client: ClientSet | DynamicClient,
        *,
        leader_election: str = "",
        leader_elector: LeaderElector | None = None,
        namespace: str = "",
        namespaces: Sequence[str] = (),
        resync: float = 0.0,
        health_port: int | None = None,
        health_host: str = "127.0.0.1",
        grace: float = 30.0,
        held_up_after: float = 1.0,
        clock: Clock | None = None,
    ) -> None:
        if leader_election and leader_elector is not None:
            raise UsageError("give leader_election, the name of a lease, or a leader_elector; not both")
        self._client = client
        self._clock = clock or SystemClock()
        if leader_election:
            leader_elector = LeaderElector(client, name=leader_election, clock=self._clock)
        self._elector = leader_elector
        self._places = tuple(namespaces) or (namespace,)
        self._factory = SharedInformerFactory(
            client, resync=resync, namespace=namespace, namespaces=namespaces, clock=self._clock
        )
        self._controllers: list[Controller] = []
        self._health_checks: dict[str, Callable[[], object]] = {}
        self._ready_checks: dict[str, Callable[[], object]] = {}
        paths = {"/healthz": self._healthz, "/readyz": self._readyz, "/metrics": self._metrics}
        self._probes = None if health_port is None else ProbeServer(paths, port=health_port, host=health_host)
        self._grace = grace
        self._held_up_after = held_up_after
        self._is_leading = False
        self._has_lease = False
        self._has_started = False
        self._stop_asked = asyncio.Event()
        self._hurry_asked = asyncio.Event()
        self._main: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        names = ", ".join(each.name for each in self._controllers) or "no controllers"
        return f"<Manager of {names}{', leading' if self._is_leading else ''}>"

    # --- what it runs ------------------------------------------------------------------------------------------------

    def add(self, controller: C) -> C:
        """Run this controller too; gives it back."""
        if self._has_started:
            raise UsageError(f"the controller {controller.name} comes too late: the manager runs already")
        if any(each.name == controller.name for each in self._controllers):
            raise UsageError(f"there is a controller {controller.name} already: give this one another name=")
        self._controllers.append(controller)
        return controller

    def add_health_check(self, name: str, check: Callable[[], object]) -> None:
        """Have /healthz fail while this function, plain or async, raises: the program should be started anew."""
        self._health_checks[name] = check

    def add_ready_check(self, name: str, check: Callable[[], object]) -> None:
        """Have /readyz fail while this function, plain or async, raises."""
        self._ready_checks[name] = check

    @property
    def factory(self) -> SharedInformerFactory:
        """Where the controllers' informers come from; for other users of the same caches."""
        return self._factory

    @property
    def controllers(self) -> tuple[Controller, ...]:
        return tuple(self._controllers)

    @property
    def is_leading(self) -> bool:
        """Whether workers that need leadership run; always, where there is no election."""
        return self._is_leading

    @property
    def is_ready(self) -> bool:
        """Whether all caches are filled, and it is not about to end."""
        return self._has_started and not self._stop_asked.is_set() and all(c.is_ready for c in self._controllers)

    @property
    def health_port(self) -> int | None:
        """Where probes are answered; the very port, once it runs."""
        return None if self._probes is None else self._probes.port

    def statistics(self) -> ManagerStatistics:
        return ManagerStatistics(
            is_leading=self._is_leading,
            is_ready=self.is_ready,
            is_stopping=self._stop_asked.is_set(),
            controllers=tuple(each.statistics() for each in self._controllers),
            informers=self._factory.statistics(),
            elector=None if self._elector is None else self._elector.statistics(),
        )

    # --- running -----------------------------------------------------------------------------------------------------

    async def run(self, *, handle_signals: bool = True) -> None:
        """Run until stopped or cancelled; the first SIGTERM or SIGINT stops it, the next one does so at once."""
        self._check_is_new()
        self._has_started = True
        async with AsyncExitStack() as stack:
            stack.enter_context(on_ending_signals(self.stop_soon) if handle_signals else nullcontext())
            stack.enter_context(watched_loop(self._held_up, patience=self._held_up_after))
            if self._probes is not None:
                await stack.enter_async_context(self._probes)
            await stack.enter_async_context(self._factory)
            for controller in self._controllers:
                controller.begin()
                stack.push_async_callback(controller.close)
                controller.open(self._factory, self._places)
            await self._work_until_stopped()

    def start(self) -> None:
        """Run in the background until `stop`, without minding signals; starting what runs does nothing."""
        if self._main is None or self._main.done():
            self._check_is_new()
            self._main = asyncio.create_task(self.run(handle_signals=False), name="manager")
            self._main.add_done_callback(log_end("listwatch.controller"))

    def stop_soon(self) -> None:
        """Have it end, and wait for nothing; said again, what is under way gets no time to finish."""
        if self._stop_asked.is_set():
            self._hurry_asked.set()
        self._stop_asked.set()

    async def stop(self) -> None:
        """End what `start` or `async with` began, and wait for that; raises what ended it before, if something did."""
        self._stop_asked.set()
        await self.wait_stopped()

    async def wait_stopped(self) -> None:
        """Wait until what `start` or `async with` began is over, and raise what ended it."""
        if self._main is not None:
            await asyncio.wait([self._main])
            self._main.result()

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    # --- inside ------------------------------------------------------------------------------------------------------

    def _check_is_new(self) -> None:
        if self._has_started:
            raise UsageError(f"{self!r} runs once: it was started before; make a new one")

    async def _work_until_stopped(self) -> None:
        working = asyncio.create_task(self._work(), name="controllers")
        asked = asyncio.create_task(self._stop_asked.wait(), name="stop")
        try:
            await asyncio.wait([working, asked], return_when=asyncio.FIRST_COMPLETED)
            if not working.done() and await self._is_finished() and self._has_lease:
                # It ends by itself, and must not be cancelled while it gives back the lease.
                await asyncio.wait([working])
        finally:
            for task in (working, asked):
                task.cancel()
            await asyncio.wait([working, asked])
        if not working.cancelled():
            working.result()

    async def _work(self) -> None:
        leaders = [each for each in self._controllers if each.needs_leader]
        others = [each for each in self._controllers if not each.needs_leader]
        await run_together([*(each.work() for each in others), self._lead(leaders)])

    async def _lead(self, controllers: Sequence[Controller]) -> None:
        try:
            async with nullcontext() if self._elector is None else self._elector.lead():
                self._has_lease = True
                await self._work_as_leader(controllers)
        finally:
            self._has_lease = False

    async def _work_as_leader(self, controllers: Sequence[Controller]) -> None:
        self._is_leading = True
        try:
            await run_together([*(each.work() for each in controllers), self._stop_asked.wait()])
        finally:
            self._is_leading = False
            if self._elector is not None and any(each.has_left_some for each in controllers):
                self._elector.let_expire()

    async def _is_finished(self) -> bool:
        """Let what is under way end, within the grace time; False if some of it does not."""
        for controller in self._controllers:
            controller.stop_taking()
        finishing = asyncio.create_task(self._all_finished(), name="finish")
        hurried = asyncio.create_task(self._hurry_asked.wait(), name="hurry")
        try:
            await asyncio.wait([finishing, hurried], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (finishing, hurried):
                task.cancel()
            await asyncio.wait([finishing, hurried])
        left = [f"{each.name} {key}" for each in self._controllers for key in each.under_way]
        if left:
            _log.warning("ending with %d reconciles under way, which are cancelled: %s", len(left), ", ".join(left))
        return not any(each.is_working for each in self._controllers)

    async def _all_finished(self) -> None:
        ends = self._clock.monotonic() + self._grace
        for controller in self._controllers:
            await controller.wait_finished(max(ends - self._clock.monotonic(), 0.001))

    def _held_up(self, task: asyncio.Task[Any] | None, place: str) -> None:
        for controller in self._controllers:
            controller.was_held_up(task, place)

    # --- probes ------------------------------------------------------------------------------------------------------

    async def _healthz(self) -> Answer:
        checks = dict(self._health_checks)
        if self._elector is not None:
            checks["leader election"] = self._elector.check_health
        return await _checked(checks)

    async def _readyz(self) -> Answer:
        return await _checked({**self._ready_checks, "caches": self._check_caches, "running": self._check_running})

    def _check_caches(self) -> None:
        reasons = [why for each in self._controllers if (why := each.why_not_ready())]
        if reasons:
            raise UsageError("; ".join(reasons))

    def _check_running(self) -> None:
        if self._stop_asked.is_set():
            raise UsageError("the manager is ending")

    async def _metrics(self) -> Answer:
        rest = self._client.rest
        requests = samples_of(rest.statistics(), host=rest.config.base_url)
        text = metrics_text([*samples_of(self.statistics()), *requests])
        return Answer(text, content_type="text/plain; version=0.0.4; charset=utf-8")


async def _checked(checks: dict[str, Callable[[], object]]) -> Answer:
    lines, is_good = [], True
    for name, check in checks.items():
        try:
            answer = check()
            if inspect.isawaitable(answer):
                await answer
        except Exception as error:  # noqa: BLE001  # it is the user's function
            lines.append(f"[-] {name}: {error}")
            is_good = False
        else:
            lines.append(f"[+] {name}")
    lines.append("ok" if is_good else "failed")
    return Answer("\n".join([*lines, ""]), HTTPStatus.OK if is_good else HTTPStatus.SERVICE_UNAVAILABLE)

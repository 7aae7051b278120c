"""Runs the coordinator of a replica in a thread of its own, with its own event loop and connections.

A reconcile that blocks the event loop of the program does not delay renewals, and so does not cost the session. What
the coordinator decides is passed to the loop of the program; whether a write is still permitted is known at once, since
`SessionValidity` is read by any thread. A loop that is blocked for longer than `stall_limit` gives up its shards.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.rest.rest_client import RESTClient
from listwatch.clock import Clock
from listwatch.sharding.coordinator import ShardCoordinator
from listwatch.sharding.options import ShardingOptions
from listwatch.sharding.protocol.replica_actions import Action
from listwatch.sharding.protocol.replica_load import ReplicaLoad
from listwatch.sharding.protocol.replica_state import ReplicaState
from listwatch.sharding.validity import SessionValidity

if TYPE_CHECKING:
    from listwatch.client.config.client_config import ClientConfig

__all__ = ["CoordinatorThread"]

_log = logging.getLogger("listwatch.sharding")


class CoordinatorThread:
    """A ShardCoordinator in a thread. Its methods are called in the loop of `run`, and `on_action` is called there."""

    def __init__(
        self,
        config: ClientConfig,
        options: ShardingOptions,
        *,
        namespace: str,
        clock: Clock,
        on_action: Callable[[Action], None],
    ) -> None:
        from listwatch.models.coordination_v1 import Lease

        assert Lease.resource is not None
        self._rest = RESTClient(config)
        self._clock = clock
        self._on_action = on_action
        self._timing = options.timing
        self._group = options.group
        self._program: asyncio.AbstractEventLoop | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._early: list[Callable[[], object]] = []  # calls before the thread runs
        self._running: asyncio.Task[None] | None = None
        self._responded = 0.0
        self._coordinator = ShardCoordinator(
            ResourceClient(self._rest, Lease, Lease.resource),
            options,
            namespace=namespace,
            clock=clock,
            on_action=self._pass_on,
        )

    @property
    def state(self) -> ReplicaState:
        """The state machine, which the thread changes at any time."""
        return self._coordinator.state

    @property
    def validity(self) -> SessionValidity:
        return self._coordinator.validity

    # --- inputs ------------------------------------------------------------------------------------------------------

    def prefetched(self) -> None:
        self._call(self._coordinator.prefetched)

    def caught_up(self, shard: int, token: int, versions: Mapping[str, str] | None) -> None:
        self._call(self._coordinator.caught_up, shard, token, versions)

    def drained(self, shard: int, token: int, versions: Mapping[str, str] | None) -> None:
        self._call(self._coordinator.drained, shard, token, versions)

    def stopped(self, session: str, *, is_clean: bool) -> None:
        self._call(lambda: self._coordinator.stopped(session, is_clean=is_clean))

    def leave(self) -> None:
        self._call(self._coordinator.leave)

    def cancel_drains(self) -> None:
        self._call(self._coordinator.cancel_drains)

    def give_up(self) -> None:
        self._call(self._coordinator.give_up)

    def report_load(self, load: ReplicaLoad) -> None:
        self._coordinator.report_load(load)

    def abandon(self) -> None:
        self._call(self._coordinator.abandon)

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        if self._loop is None:
            self._early.append(lambda: function(*arguments))
            return
        with contextlib.suppress(RuntimeError):  # the thread has ended
            self._loop.call_soon_threadsafe(function, *arguments)

    # --- running -----------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Take part in the group until `leave` is done; raises ShardConfigError if that is not possible."""
        self._program = asyncio.get_running_loop()
        self._responded = self._clock.monotonic()
        ended: asyncio.Future[None] = self._program.create_future()
        thread = threading.Thread(target=self._run_thread, args=(ended,), name="shards", daemon=True)
        thread.start()
        try:
            await asyncio.wait([ended])
        finally:
            if not ended.done():
                self._call(self._cancel)
                await asyncio.wait([ended])
            thread.join()
        ended.result()

    def _run_thread(self, ended: asyncio.Future[None]) -> None:
        error: BaseException | None = None
        try:
            asyncio.run(self._run())
        except BaseException as raised:  # noqa: BLE001  # raised by `run`
            error = raised
        assert self._program is not None
        with contextlib.suppress(RuntimeError):  # the loop of the program is closed
            self._program.call_soon_threadsafe(_finish, ended, error)

    async def _run(self) -> None:
        self._running = asyncio.current_task()
        self._loop = asyncio.get_running_loop()
        while self._early:
            self._early.pop(0)()
        watching = asyncio.create_task(self._watch_program(), name="event loop of the program")
        try:
            async with self._rest:
                await self._coordinator.run()
        finally:
            watching.cancel()
            await asyncio.wait([watching])

    def _cancel(self) -> None:
        if self._running is not None:
            self._running.cancel()

    # --- the loop of the program -------------------------------------------------------------------------------------

    def _pass_on(self, action: Action) -> None:
        assert self._program is not None
        with contextlib.suppress(RuntimeError):  # the loop of the program is closed
            self._program.call_soon_threadsafe(self._on_action, action)

    async def _watch_program(self) -> None:
        """Give up the shards if the loop of the program does not respond: its reconciles make no progress."""
        assert self._program is not None
        while True:
            with contextlib.suppress(RuntimeError):  # it is closed
                self._program.call_soon_threadsafe(self._respond)
            await self._clock.sleep(self._timing.retry_period)
            stalled = self._clock.monotonic() - self._responded
            if stalled > self._timing.stall_limit and self._coordinator.give_up():
                message = "Shard group %s: the event loop was blocked for %.0f s; other replicas take the shards"
                _log.error(message, self._group, stalled, extra={"group": self._group, "seconds": stalled})

    def _respond(self) -> None:
        self._responded = self._clock.monotonic()


def _finish(ended: asyncio.Future[None], error: BaseException | None) -> None:
    if ended.done():
        return
    if error is None or isinstance(error, asyncio.CancelledError):
        ended.set_result(None)
    else:
        ended.set_exception(error)

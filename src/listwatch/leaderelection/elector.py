"""Stands for election, and leads while it holds the lease. `candidate.py` asks for it, `lease_lock.py` keeps it.

    elector = LeaderElector(client, name="my-controller")
    async with elector.lead():          waits until it is elected
        ...                             runs while it leads, and is cancelled when that is over
                                        the lease is released after the block has ended

Two tasks accompany the block: one renews the lease, the other ends the block in time even if a renewal hangs.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import random as _random
import socket
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from random import Random

from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.rest.base_client import Connected
from listwatch.client.rest.rest_client import RESTClient
from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import LeadershipLostError, UsageError
from listwatch.leaderelection.announcer import Announcer
from listwatch.leaderelection.candidate import Candidate, LeaderLock
from listwatch.leaderelection.elector_state import JITTER, Timing
from listwatch.leaderelection.lease_lock import LeaseLock

__all__ = ["ElectorStatistics", "LeaderElector", "LeaderLock"]

_log = logging.getLogger("listwatch.leaderelection")


@dataclass(frozen=True, slots=True)
class ElectorStatistics:
    """What an elector has done so far, and how it is."""

    lock: str
    identity: str
    leader: str
    is_leader: bool
    transitions: int
    """How often the lease has gone from one holder to another, as the lease says."""
    terms: int
    """How often this candidate was elected."""
    losses: int
    """How many of these terms did not end by its own will."""
    renewals: int
    """How often it wrote itself into the lease."""
    slow_paths: int
    """How often a leader had to look at the lease because to just write it failed."""
    failures_in_a_row: int
    last_error: Exception | None


class LeaderElector:
    """Of all candidates for one lease, one leads at a time, as long as their clocks run about equally fast.

    Give it a client and the name of a lease, or a lock of your own. Each candidate needs an identity that no other has;
    without one it makes one up from the host's name. `run` calls `on_started_leading` and `on_stopped_leading`;
    `on_new_leader` is told each leader's identity, its own too. All may be plain functions or coroutine functions.
    """

    def __init__(
        self,
        lock_or_client: LeaderLock | Connected | RESTClient,
        *,
        name: str = "",
        namespace: str = "",
        identity: str = "",
        lease_duration: float = 15.0,
        renew_deadline: float = 10.0,
        retry_period: float = 2.0,
        on_started_leading: Callable[[], object] | None = None,
        on_stopped_leading: Callable[[], object] | None = None,
        on_new_leader: Callable[[str], object] | None = None,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None:
        self._timing = Timing(lease_duration, renew_deadline, retry_period)
        self._clock = clock or SystemClock()
        self._random = random or _random.Random()
        self._candidate = Candidate(
            _lock_from(lock_or_client, name, namespace),
            _identity_from(identity),
            timing=self._timing,
            clock=self._clock,
        )
        self._state = self._candidate.state
        _check_callbacks(
            on_started_leading=on_started_leading, on_stopped_leading=on_stopped_leading, on_new_leader=on_new_leader
        )
        self._on_started_leading = on_started_leading
        self._on_stopped_leading = on_stopped_leading
        self._announcer = Announcer(on_new_leader, lock=self.name)
        self._is_standing = False
        self._holds_lease = False
        self._skip_release = False
        self._does_not_lead = asyncio.Event()
        self._does_not_lead.set()
        self._terms = self._losses = 0

    # --- questions ---------------------------------------------------------------------------------------------------

    @property
    def identity(self) -> str:
        """What this candidate calls itself in the lease."""
        return self._candidate.identity

    @property
    def name(self) -> str:
        """What the lease is called: `namespace/name`."""
        return self._candidate.lock.name

    @property
    def leader(self) -> str:
        """Who leads, as far as this candidate has seen; empty for nobody."""
        return self._state.leader

    @property
    def is_leader(self) -> bool:
        """Whether this candidate leads at this very moment, by its clock; any thread may ask."""
        return self._state.is_leader(self._clock.monotonic())

    def check_health(self, timeout: float = 20.0) -> None:
        """Raise LeadershipLostError if what only a leader may do still runs so long after the lease has expired.

        Whoever does not lead is in good health.
        """
        elapsed = self._state.since_renewal(self._clock.monotonic())
        if self._holds_lease and elapsed > self._timing.lease_duration + timeout:
            raise LeadershipLostError(
                f"{self.identity} has not renewed the lease {self.name} for {elapsed:.0f} s and still acts as leader"
            )

    def statistics(self) -> ElectorStatistics:
        return ElectorStatistics(
            lock=self.name,
            identity=self.identity,
            leader=self.leader,
            is_leader=self.is_leader,
            transitions=self._state.transitions,
            terms=self._terms,
            losses=self._losses,
            renewals=self._candidate.renewals,
            slow_paths=self._candidate.slow_paths,
            failures_in_a_row=self._candidate.failures,
            last_error=self._candidate.last_error,
        )

    def __repr__(self) -> str:
        doing = "leads" if self.is_leader else "is a candidate" if self._is_standing else "is no candidate"
        return f"<LeaderElector {self.identity} {doing} for {self.name}>"

    # --- leading -----------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def lead(self) -> AsyncIterator[None]:
        """Wait until elected, and run the block while leading: `async with elector.lead(): ...`

        When leadership is lost the block is cancelled, and LeadershipLostError is raised after it has ended; for that
        it has the time between `renew_deadline` and `lease_duration`. The lease is released after the block has ended.
        What cannot be cancelled, as a thread, has to ask `is_leader` or `wait_lost`.
        """
        if self._on_started_leading or self._on_stopped_leading:
            raise UsageError("on_started_leading and on_stopped_leading are for run(); lead() runs its block instead")
        async with self._term():
            yield

    async def run(self) -> None:
        """Stand for election until cancelled, and again after each loss of leadership.

        `on_started_leading` is called when elected, and cancelled when that is over; `on_stopped_leading` after it has
        ended, and before the lease is released. An error that one of them raises ends the run.
        """
        while True:
            try:
                async with self._term():
                    await self._act()
            except LeadershipLostError as error:
                _log.warning("%s; it stands for election again", error)

    async def wait_lost(self, timeout: float | None = None) -> bool:
        """Return True as soon as this candidate does not lead; False after `timeout` seconds in which it did."""
        try:
            async with time_limit(self._clock, timeout):
                await self._does_not_lead.wait()
        except TimeoutError:
            return not self.is_leader
        return True

    def skip_release(self) -> None:
        """Do not release the lease after this term: something that only a leader may do goes on, and cannot be ended.

        Others then wait until it has expired; end the program before that.
        """
        self._skip_release = True

    async def _act(self) -> None:
        try:
            await _called(self._on_started_leading)
            await asyncio.get_running_loop().create_future()
        finally:
            await _called(self._on_stopped_leading)

    @asynccontextmanager
    async def _term(self) -> AsyncIterator[None]:
        with self._standing():
            try:
                await self._wait_elected()
                async with self._office():
                    yield
            finally:
                await self._release()

    @contextmanager
    def _standing(self) -> Iterator[None]:
        if self._is_standing:
            raise UsageError(f"{self!r} already: one elector stands for election once at a time")
        self._is_standing = True
        self._skip_release = False
        self._state.stand()
        try:
            yield
        finally:
            self._is_standing = False
            self._state.resign()
            self._announcer.stop()

    async def _wait_elected(self) -> None:
        await self._attempt()
        while not self.is_leader:
            await self._clock.sleep(self._timing.retry_period * (1 + JITTER * self._random.random()))
            await self._attempt()

    @asynccontextmanager
    async def _office(self) -> AsyncIterator[None]:
        """What holds while leading; the block is cancelled when that is over."""
        self._enter_office()
        try:
            async with asyncio.timeout(None) as scope, self._accompanied(scope):
                yield
        except TimeoutError as error:
            if scope.expired():
                raise self._lost() from error
            raise
        finally:
            self._leave_office()
        if scope.expired():
            raise self._lost()  # the block was cancelled and ended as if it had not been

    @asynccontextmanager
    async def _accompanied(self, scope: asyncio.Timeout) -> AsyncIterator[None]:
        company = [
            asyncio.create_task(self._renew(scope), name=f"renewal of {self.name}"),
            asyncio.create_task(self._end_in_time(scope), name=f"deadline of {self.name}"),
        ]
        try:
            yield
        finally:
            for task in company:
                task.cancel()
            await asyncio.wait(company)

    async def _renew(self, scope: asyncio.Timeout) -> None:
        while self.is_leader:
            await self._clock.sleep(self._timing.retry_period)
            await self._attempt()
        self._end(scope)

    async def _end_in_time(self, scope: asyncio.Timeout) -> None:
        while left := self._state.time_left(self._clock.monotonic()):
            await self._clock.sleep(left)
        self._end(scope)

    def _end(self, scope: asyncio.Timeout) -> None:
        self._state.resign()
        self._does_not_lead.set()
        if not scope.expired():
            scope.reschedule(asyncio.get_running_loop().time())

    def _enter_office(self) -> None:
        self._terms += 1
        self._holds_lease = True
        self._does_not_lead.clear()
        _log.info("%s leads: it holds the lease %s", self.identity, self.name)
        self._tell("became leader")

    def _leave_office(self) -> None:
        self._tell("stopped leading")
        self._state.resign()
        self._holds_lease = False
        self._does_not_lead.set()

    def _lost(self) -> LeadershipLostError:
        self._losses += 1
        why = f"it was not renewed within {self._timing.renew_deadline:g} s"
        if self.leader not in ("", self.identity):
            why = f"{self.leader} holds it"
        elif self._candidate.last_error is not None:
            why += f"; the last error was: {self._candidate.last_error}"
        return LeadershipLostError(f"{self.identity} has lost the lease {self.name}: {why}")

    def _tell(self, what: str) -> None:
        if isinstance(self._candidate.lock, LeaseLock):
            self._candidate.lock.tell(f"{self.identity} {what}")

    async def _release(self) -> None:
        if self._skip_release:
            _log.warning("%s leaves the lease %s to expire: something still acts as leader", self.identity, self.name)
        else:
            await self._candidate.release()

    async def _attempt(self) -> None:
        await self._candidate.attempt()
        self._announcer.announce(self.leader)


async def _called(callback: Callable[[], object] | None) -> None:
    answer = None if callback is None else callback()
    if inspect.isawaitable(answer):
        await answer


def _check_callbacks(**callbacks: object) -> None:
    for name, callback in callbacks.items():
        if callback is not None and not callable(callback):
            raise UsageError(f"{name}={callback!r} cannot be called: give a leader elector a function, plain or async")


def _identity_from(given: str) -> str:
    if not isinstance(given, str):
        raise UsageError(f"a leader elector's identity is text, not {given!r}")
    return given or f"{socket.gethostname()}_{uuid.uuid4()}"


def _lock_from(given: LeaderLock | Connected | RESTClient, name: str, namespace: str) -> LeaderLock:
    if not isinstance(given, Connected | RESTClient):
        if not all(hasattr(given, each) for each in ("name", "get", "create", "update")):
            raise UsageError(f"a leader elector needs a client or a lock, and {given!r} is neither")
        if name or namespace:
            raise UsageError(f"{given!r} is a lock already: give a name and a namespace with a client only")
        return given
    if not name:
        raise UsageError("a leader elector needs the name of the lease that all candidates share: give it name=")
    from listwatch.models.coordination_v1 import Lease

    rest = given if isinstance(given, RESTClient) else given.rest
    assert Lease.resource is not None
    leases = ResourceClient(rest, Lease, Lease.resource)
    return LeaseLock(leases, name, namespace=namespace or rest.config.namespace)

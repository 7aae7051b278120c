"""Leader election: of several candidates, one leads while it holds the lease.

    elector = LeaderElector(client, name="my-controller")
    async with elector.lead():          waits until it is elected
        ...                             runs while it leads, and is cancelled when leadership is lost
                                        the lease is released after the block has ended

Two tasks run beside the block: one renews the lease, the other cancels the block at the deadline even if a renewal
hangs. `candidate.py` acquires and renews the lease, `lease_lock.py` reads and writes it.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import random as _random
import socket
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from random import Random

from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.rest.base_client import BaseClient
from listwatch.client.rest.rest_client import RESTClient
from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import LeadershipLostError, UsageError
from listwatch.leaderelection.candidate import Candidate, LeaderLock
from listwatch.leaderelection.elector_state import JITTER, Timing
from listwatch.leaderelection.lease_candidate import CandidateRegistration
from listwatch.leaderelection.lease_lock import LeaseLock
from listwatch.tasks.callers import Caller, SelfWaitError, is_caller

__all__ = ["ElectorStatistics", "LeaderElector", "LeaderLock"]

_log = logging.getLogger("listwatch.leaderelection")


@dataclass(frozen=True, slots=True)
class ElectorStatistics:
    """The state and counters of an elector."""

    lock: str
    identity: str
    leader: str
    is_leader: bool
    transitions: int
    """How often the holder of the lease changed, according to the lease."""
    terms: int
    """How often this candidate was elected."""
    losses: int
    """How many of these terms ended with a loss of leadership."""
    renewals: int
    """How often it wrote the lease as its holder."""
    slow_paths: int
    """How often a leader had to read the lease because writing it at once failed."""
    failures_in_a_row: int
    last_error: Exception | None


class LeaderElector:
    """One candidate for a lease. At most one candidate leads at a time, as long as their clocks run at similar speed.

    Pass a client and the `name` of a Lease, or a LeaderLock. The Lease is in `namespace`; the default is the
    namespace of the client's configuration: the pod's own in a cluster, that of the context in a kubeconfig. Each
    candidate needs a unique `identity`; the default is made from the host name and a random part. `run` calls
    `on_started_leading` and `on_stopped_leading`; `on_new_leader` is called with the identity of each new leader, this
    candidate included. All callbacks may be plain or async.

    With `candidate_version`, the version of this program, the API server elects the leader where it has coordinated
    leader election: the candidate with the oldest version leads, so that a rolling update changes the leader once.
    """

    def __init__(
        self,
        lock_or_client: LeaderLock | BaseClient | RESTClient,
        *,
        name: str = "",
        namespace: str = "",
        identity: str = "",
        lease_duration: float = 15.0,
        renew_deadline: float = 10.0,
        retry_period: float = 2.0,
        candidate_version: str = "",
        on_started_leading: Callable[[], object] | None = None,
        on_stopped_leading: Callable[[], object] | None = None,
        on_new_leader: Callable[[str], object] | None = None,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None:
        self._timing = Timing(lease_duration, renew_deadline, retry_period)
        self._clock = clock or SystemClock()
        self._random = random or _random.Random()
        identity = _identity_from(identity)
        self._candidate = Candidate(
            _lock_from(lock_or_client, name, namespace),
            identity,
            timing=self._timing,
            clock=self._clock,
            registration=_registration_from(
                lock_or_client, name, namespace, identity=identity, version=candidate_version, clock=self._clock
            ),
        )
        self._state = self._candidate.state
        _check_callbacks(
            on_started_leading=on_started_leading, on_stopped_leading=on_stopped_leading, on_new_leader=on_new_leader
        )
        self._on_started_leading = on_started_leading
        self._on_stopped_leading = on_stopped_leading
        self._observer = _LeaderObserver(on_new_leader, lease=self.name)
        self._is_candidate = False
        self._holds_lease = False
        self._skip_release = False
        self._not_leading = asyncio.Event()
        self._not_leading.set()
        self._terms = self._losses = 0
        self._stopping: Caller | None = None  # calls on_stopped_leading

    # --- state -------------------------------------------------------------------------------------------------------

    @property
    def identity(self) -> str:
        """The name of this candidate in the lease."""
        return self._candidate.identity

    @property
    def name(self) -> str:
        """The `namespace/name` of the lease."""
        return self._candidate.lock.name

    @property
    def leader(self) -> str:
        """The identity of the leader, as this candidate last read it; empty if there is none."""
        return self._state.leader

    @property
    def is_leader(self) -> bool:
        """Whether this candidate leads now, by its clock; from any thread."""
        return self._state.is_leader(self._clock.monotonic())

    def check_health(self, timeout: float = 20.0) -> None:
        """Raise LeadershipLostError if a block of `lead` still runs `timeout` seconds after the lease has expired.

        A candidate that does not lead is healthy.
        """
        elapsed = self._state.since_renewal(self._clock.monotonic())
        if self._holds_lease and elapsed > self._timing.lease_duration + timeout:
            raise LeadershipLostError(
                f"{self.identity} has not renewed the lease {self.name} for {elapsed:.0f} s and still runs as leader"
            )

    def statistics(self) -> ElectorStatistics:
        """State and counters."""
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
        state = "leader" if self.is_leader else "candidate" if self._is_candidate else "not running"
        return f"<LeaderElector {self.identity} of {self.name}, {state}>"

    # --- leading -----------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def lead(self) -> AsyncIterator[None]:
        """Wait until elected, and run the block while leading: `async with elector.lead(): ...`

        When leadership is lost the block is cancelled, and LeadershipLostError is raised after it has ended; it has the
        time between `renew_deadline` and `lease_duration` to end. The lease is released after the block has ended.
        Code that cannot be cancelled, as in a thread, has to check `is_leader` or `wait_lost`.
        """
        if self._on_started_leading or self._on_stopped_leading:
            raise UsageError("on_started_leading and on_stopped_leading are for run(); lead() runs its block instead")
        async with self._term():
            yield

    async def run(self) -> None:
        """Be a candidate until cancelled, and again after each loss of leadership.

        `on_started_leading` is called when elected, and cancelled when leadership ends; `on_stopped_leading` is called
        after that, before the lease is released. An exception of one of them ends the run.
        """
        while True:
            try:
                async with self._term():
                    await self._call_back()
            except LeadershipLostError:
                pass  # it was logged; be a candidate again

    async def wait_lost(self, timeout: float | None = None) -> bool:
        """Return True as soon as this candidate does not lead, or False if it still leads after `timeout` seconds."""
        if timeout is None and is_caller(self._stopping) and not self._not_leading.is_set():
            raise SelfWaitError(
                f"on_stopped_leading called wait_lost() for the lease {self.name}, which is released after "
                "on_stopped_leading has returned: return instead"
            )
        try:
            async with time_limit(self._clock, timeout):
                await self._not_leading.wait()
        except TimeoutError:
            return not self.is_leader
        return True

    def skip_release(self) -> None:
        """Do not release the lease after this term, because work of the leader still runs and cannot be cancelled.

        Other candidates then wait until the lease has expired; end the process before that.
        """
        self._skip_release = True

    async def _call_back(self) -> None:
        try:
            await _call(self._on_started_leading)
            await asyncio.get_running_loop().create_future()
        finally:
            self._stopping = asyncio.current_task()
            try:
                await _call(self._on_stopped_leading)
            finally:
                self._stopping = None

    @asynccontextmanager
    async def _term(self) -> AsyncIterator[None]:
        with self._candidacy():
            try:
                await self._wait_elected()
                async with self._leading():
                    yield
            finally:
                await self._release()

    @contextmanager
    def _candidacy(self) -> Iterator[None]:
        if self._is_candidate:
            raise UsageError(f"{self!r} is already running; create another elector for another candidate")
        self._is_candidate = True
        self._skip_release = False
        self._state.enter()
        try:
            yield
        finally:
            self._is_candidate = False
            self._state.resign()
            self._observer.stop()

    async def _wait_elected(self) -> None:
        while True:
            await self._candidate.register()
            await self._attempt()
            if self.is_leader:
                return
            await self._clock.sleep(self._timing.retry_period * (1 + JITTER * self._random.random()))

    @asynccontextmanager
    async def _leading(self) -> AsyncIterator[None]:
        """Run the block as leader; it is cancelled when leadership is lost."""
        self._start_leading()
        try:
            async with asyncio.timeout(None) as scope, self._renewing(scope):
                yield
        except TimeoutError as error:
            if scope.expired():
                raise self._lost() from error
            raise
        finally:
            self._stop_leading()
        if scope.expired():
            raise self._lost()  # the block was cancelled and swallowed the cancellation

    @asynccontextmanager
    async def _renewing(self, scope: asyncio.Timeout) -> AsyncIterator[None]:
        tasks = [
            asyncio.create_task(self._renew(scope), name=f"renewal of {self.name}"),
            asyncio.create_task(self._enforce_deadline(scope), name=f"deadline of {self.name}"),
        ]
        if self._candidate.is_registered:
            # Beside the renewals: a LeaseCandidate that cannot be written must not delay them.
            tasks.append(asyncio.create_task(self._stay_registered(), name=f"candidate for {self.name}"))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _renew(self, scope: asyncio.Timeout) -> None:
        while self.is_leader:
            await self._clock.sleep(self._timing.retry_period)
            await self._attempt()
        self._end(scope)

    async def _stay_registered(self) -> None:
        while self._candidate.is_registered:
            await self._clock.sleep(self._timing.retry_period)
            await self._candidate.register()

    async def _enforce_deadline(self, scope: asyncio.Timeout) -> None:
        while left := self._state.time_left(self._clock.monotonic()):
            await self._clock.sleep(left)
        self._end(scope)

    def _end(self, scope: asyncio.Timeout) -> None:
        self._state.resign()
        self._not_leading.set()
        if not scope.expired():
            scope.reschedule(asyncio.get_running_loop().time())

    def _start_leading(self) -> None:
        self._terms += 1
        self._holds_lease = True
        self._not_leading.clear()
        _log.info("%s became the leader: it holds the lease %s", self.identity, self.name, extra=self._fields)
        self._record_event("became leader")

    def _stop_leading(self) -> None:
        self._record_event("stopped leading")
        self._state.resign()
        self._holds_lease = False
        self._not_leading.set()

    def _lost(self) -> LeadershipLostError:
        self._losses += 1
        reason = f"it was not renewed within {self._timing.renew_deadline:g} s"
        if self.leader not in ("", self.identity):
            reason = f"{self.leader} holds it"
        elif self._state.is_term_over:
            reason = "the API server has selected another leader"
        elif self._candidate.last_error is not None:
            reason += f"; the last error was: {self._candidate.last_error}"
        error = LeadershipLostError(f"{self.identity} has lost the lease {self.name}: {reason}")
        _log.warning("%s", error, extra=self._fields)
        return error

    def _record_event(self, what: str) -> None:
        if isinstance(self._candidate.lock, LeaseLock):
            self._candidate.lock._record_event(f"{self.identity} {what}")

    @property
    def _fields(self) -> dict[str, str]:
        return {"lease": self.name, "identity": self.identity}

    async def _release(self) -> None:
        if self._skip_release:
            _log.warning(
                "%s does not release the lease %s, which will expire: work of the leader still runs",
                self.identity,
                self.name,
                extra=self._fields,
            )
        else:
            await self._candidate.release()

    async def _attempt(self) -> None:
        await self._candidate.attempt()
        self._observer.observe(self.leader)


class _LeaderObserver:
    """Calls `on_new_leader` once per new leader, beside the election; its failures do not affect the election."""

    def __init__(self, on_new_leader: Callable[[str], object] | None, *, lease: str) -> None:
        self._on_new_leader = on_new_leader
        self._lease = lease
        self._last = ""
        self._tasks: set[asyncio.Task[None]] = set()

    def observe(self, leader: str) -> None:
        if leader in ("", self._last):
            return
        self._last = leader
        _log.info("The leader for %s is %s", self._lease, leader, extra={"lease": self._lease, "leader": leader})
        try:
            result = self._on_new_leader(leader) if self._on_new_leader else None
        except Exception:  # noqa: BLE001  # user code
            self._log_failure(leader)
            return
        if inspect.isawaitable(result):
            task = asyncio.create_task(self._finish(result, leader), name=f"on_new_leader of {self._lease}")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def stop(self) -> None:
        """Cancel the calls in progress."""
        for task in self._tasks:
            task.cancel()

    async def _finish(self, result: Awaitable[object], leader: str) -> None:
        try:
            await result
        except Exception:  # noqa: BLE001  # user code
            self._log_failure(leader)

    def _log_failure(self, leader: str) -> None:
        fields = {"lease": self._lease, "leader": leader}
        _log.exception("on_new_leader failed for leader %s of %s", leader, self._lease, extra=fields)


async def _call(callback: Callable[[], object] | None) -> None:
    result = None if callback is None else callback()
    if inspect.isawaitable(result):
        await result


def _check_callbacks(**callbacks: object) -> None:
    for name, callback in callbacks.items():
        if callback is not None and not callable(callback):
            raise UsageError(f"{name}={callback!r} is not callable: pass a function, plain or async")


def _identity_from(given: str) -> str:
    if not isinstance(given, str):
        raise UsageError(f"identity={given!r}: expected a str")
    return given or f"{socket.gethostname()}_{uuid.uuid4()}"


def _lock_from(given: LeaderLock | BaseClient | RESTClient, name: str, namespace: str) -> LeaderLock:
    if not isinstance(given, BaseClient | RESTClient):
        if not all(hasattr(given, each) for each in ("name", "get", "create", "update")):
            raise UsageError(
                f"LeaderElector({given!r}): expected a client, or a lock with name, get, create and update"
            )
        if name or namespace:
            raise UsageError(f"name= and namespace= are for a client; {given!r} is a lock and has a name")
        return given
    if not name:
        raise UsageError("LeaderElector() needs name=, the name of the Lease that all candidates share")
    from listwatch.models.coordination_v1 import Lease

    rest = _rest_of(given)
    assert Lease.resource is not None
    leases = ResourceClient(rest, Lease, Lease.resource)
    return LeaseLock(leases, name, namespace=namespace or rest.config.namespace)


def _rest_of(client: BaseClient | RESTClient) -> RESTClient:
    return client if isinstance(client, RESTClient) else client.rest


def _registration_from(
    given: LeaderLock | BaseClient | RESTClient,
    name: str,
    namespace: str,
    *,
    identity: str,
    version: str,
    clock: Clock,
) -> CandidateRegistration | None:
    if not version:
        return None
    if not isinstance(given, BaseClient | RESTClient):
        raise UsageError("candidate_version= is for a client: the API server elects among the candidates for a Lease")
    rest = _rest_of(given)
    return CandidateRegistration(
        rest,
        lease=name,
        namespace=namespace or rest.config.namespace,
        identity=identity,
        version=version,
        clock=clock,
    )

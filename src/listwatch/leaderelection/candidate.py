"""Acquires, renews and releases the lease, one attempt at a time. `elector_state.py` decides, `elector.py` repeats."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import Protocol, TypeVar

from listwatch.client.wait.retry_on_conflict import retry_on_conflict
from listwatch.clock import Clock, time_limit
from listwatch.errors import AlreadyExistsError, ConflictError, TransportTimeoutError
from listwatch.leaderelection.elector_state import ElectorState, LeaderRecord, Timing
from listwatch.leaderelection.lease_candidate import CandidateRegistration
from listwatch.logs.folded_log import FoldedLog, cause_of_text

__all__ = ["Candidate", "LeaderLock"]

R = TypeVar("R")

_log = logging.getLogger("listwatch.leaderelection")


class LeaderLock(Protocol):
    """Reads and writes the record that all candidates share; each candidate has its own instance."""

    @property
    def name(self) -> str:
        """The name of the lock, for messages."""

    async def get(self) -> LeaderRecord | None:
        """Read the record; None if it does not exist."""

    async def create(self, record: LeaderRecord) -> None:
        """Create the record; raises AlreadyExistsError if it exists."""

    async def update(self, record: LeaderRecord) -> None:
        """Replace the record; raises ConflictError if it was changed since this lock last read or wrote it."""


class Candidate:
    """One candidate: acquires or renews the lease through the lock, and counts attempts."""

    def __init__(
        self,
        lock: LeaderLock,
        identity: str,
        *,
        timing: Timing,
        clock: Clock,
        registration: CandidateRegistration | None = None,
    ) -> None:
        self.lock = lock
        self.identity = identity
        self.state = ElectorState(identity, timing)
        self._registration = registration
        self.renewals = 0
        self.slow_paths = 0
        self.failures = 0
        self.last_error: Exception | None = None
        self._timing = timing
        self._clock = clock
        self._failure_log = FoldedLog(_log, clock)
        self._is_failure_logged = False

    @property
    def is_registered(self) -> bool:
        """Whether this candidate has a LeaseCandidate, which `register` has to maintain."""
        return self._registration is not None and self._registration.is_served

    async def register(self) -> None:
        """Create the LeaseCandidate, or respond to the server, if the election is coordinated; failures are logged."""
        if self._registration is not None:
            await self._registration.maintain(self._timing.request_timeout)
            self.state.is_coordinated = self._registration.is_served

    async def attempt(self) -> None:
        """Acquire or renew the lease, or read its holder; failures are counted and logged, not raised."""
        try:
            await self._acquire_or_renew()
        except (AlreadyExistsError, ConflictError) as error:
            _log.debug("Another candidate wrote the lease %s first: %s", self.lock.name, error, extra=self._fields)
        except Exception as error:  # noqa: BLE001  # a lock may be user code
            self._failed(error)
        else:
            if self._is_failure_logged:
                self._is_failure_logged = False
                fields = {**self._fields, "count": self.failures}
                message = "Requests for the lease %s succeed again after %d failed attempts"
                _log.info(message, self.lock.name, self.failures, extra=fields)
            self.failures = 0
            self.last_error = None

    async def release(self) -> None:
        """Release the lease, if this candidate may hold it; if that fails, it expires."""
        if self._registration is not None:
            await self._registration.remove(self._timing.request_timeout)
        if not self.state.may_hold:
            return
        try:
            async with time_limit(self._clock, self._timing.renew_deadline):
                # A conflict is possible with a renewal that timed out and arrived later.
                await retry_on_conflict(self._read_and_release, clock=self._clock)
            _log.info("%s has released the lease %s", self.identity, self.lock.name, extra=self._fields)
        except Exception as error:  # noqa: BLE001  # a lock may be user code
            _log.warning(
                "Cannot release the lease %s, which will expire: %s", self.lock.name, error, extra=self._fields
            )

    @property
    def _fields(self) -> dict[str, object]:
        return {"lease": self.lock.name, "identity": self.identity}

    def _failed(self, error: Exception) -> None:
        self.failures += 1
        self.last_error = error
        delay = self._timing.retry_period
        self._is_failure_logged |= self._failure_log.log(
            logging.WARNING,
            cause_of_text(error),
            "Cannot acquire or renew the lease %s: %s; attempt %d failed, retrying in %g s",
            self.lock.name,
            error,
            self.failures,
            delay,
            fields={**self._fields, "attempt": self.failures, "delay": delay},
        )

    async def _acquire_or_renew(self) -> None:
        if self.state.may_renew_without_reading(self._clock.monotonic()):
            try:
                await self._write()
            except Exception as error:  # noqa: BLE001  # a lock may be user code
                self.slow_paths += 1
                self.last_error = error
                _log.debug("Reading the lease %s before its renewal: %s", self.lock.name, error, extra=self._fields)
            else:
                return
        await self._read()
        if self.state.may_claim(self._clock.monotonic()):
            await self._write()

    async def _read(self) -> None:
        record = await self._within_timeout(self.lock.get())
        self.state.observe(record, now=self._clock.monotonic())

    async def _write(self) -> None:
        record, sent = self.state.claim(self._clock.now()), self._clock.monotonic()
        write = self.lock.create if self.state.is_missing else self.lock.update
        await self._within_timeout(write(record))
        self.state.observe_write(record, sent=sent, now=self._clock.monotonic())
        self.renewals += 1

    async def _read_and_release(self) -> None:
        await self._read()
        record = self.state.release(self._clock.now())
        if record is not None:
            await self._within_timeout(self.lock.update(record))
            self.state.observe(record, now=self._clock.monotonic())

    async def _within_timeout(self, request: Awaitable[R]) -> R:
        limit = self._timing.request_timeout
        try:
            async with time_limit(self._clock, limit):
                return await request
        except TimeoutError:
            raise TransportTimeoutError(f"no response within {limit:g} s") from None

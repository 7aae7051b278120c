"""Asks a lock for the lease, and gives it back. `elector_state.py` decides, `elector.py` asks again and leads."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import Protocol, TypeVar

from listwatch.client.wait.retry_on_conflict import retry_on_conflict
from listwatch.clock import Clock, time_limit
from listwatch.errors import AlreadyExistsError, ConflictError, TransportTimeoutError
from listwatch.leaderelection.elector_state import ElectorState, LeaderRecord, Timing

__all__ = ["Candidate", "LeaderLock"]

R = TypeVar("R")

_log = logging.getLogger("listwatch.leaderelection")


class LeaderLock(Protocol):
    """Keeps the one record that all candidates see; each candidate has a lock of its own."""

    @property
    def name(self) -> str:
        """What to call it towards people."""

    async def get(self) -> LeaderRecord | None:
        """The record as it is now; None if there is none."""

    async def create(self, record: LeaderRecord) -> None:
        """Keep the first record; an error if there is one."""

    async def update(self, record: LeaderRecord) -> None:
        """Replace the record; ConflictError if it was changed since this lock last saw it."""


class Candidate:
    """Gets the lease, keeps it or sees who has it, one try at a time, and counts."""

    def __init__(self, lock: LeaderLock, identity: str, *, timing: Timing, clock: Clock) -> None:
        self.lock = lock
        self.identity = identity
        self.state = ElectorState(identity, timing)
        self.renewals = 0
        self.slow_paths = 0
        self.failures = 0
        self.last_error: Exception | None = None
        self._timing = timing
        self._clock = clock

    async def attempt(self) -> None:
        """Get the lease, keep it, or see who has it; whatever goes wrong, there is a next time."""
        try:
            await self._acquire_or_renew()
        except (AlreadyExistsError, ConflictError) as error:
            _log.debug("%s was not the first to write the lease %s: %s", self.identity, self.lock.name, error)
        except Exception as error:  # noqa: BLE001  # a lock may be anybody's
            self._failed(error)
        else:
            self.failures = 0
            self.last_error = None

    async def release(self) -> None:
        """Let others have the lease at once, if it is ours; else, and if that fails, it expires."""
        if not self.state.may_hold:
            return
        try:
            async with time_limit(self._clock, self._timing.renew_deadline):
                # In conflict with a renewal that was given up on and arrived after all.
                await retry_on_conflict(self._look_and_release, clock=self._clock)
        except Exception as error:  # noqa: BLE001  # a lock may be anybody's
            _log.warning("%s leaves the lease %s to expire: %s", self.identity, self.lock.name, error)

    def _failed(self, error: Exception) -> None:
        self.failures += 1
        self.last_error = error
        # Loud when it begins, quiet while it lasts.
        level = logging.WARNING if self.failures == 1 else logging.DEBUG
        _log.log(level, "%s could not get or renew the lease %s: %s", self.identity, self.lock.name, error)

    async def _acquire_or_renew(self) -> None:
        if self.state.may_renew_unseen(self._clock.monotonic()):
            try:
                await self._write()
            except Exception as error:  # noqa: BLE001  # a lock may be anybody's
                self.slow_paths += 1
                self.last_error = error
                _log.debug("%s looks at the lease %s before it renews it: %s", self.identity, self.lock.name, error)
            else:
                return
        await self._look()
        if self.state.may_claim(self._clock.monotonic()):
            await self._write()

    async def _look(self) -> None:
        record = await self._in_time(self.lock.get())
        self.state.saw(record, now=self._clock.monotonic())

    async def _write(self) -> None:
        record, sent = self.state.claim(self._clock.now()), self._clock.monotonic()
        write = self.lock.create if self.state.is_missing else self.lock.update
        await self._in_time(write(record))
        self.state.wrote(record, sent=sent, now=self._clock.monotonic())
        self.renewals += 1

    async def _look_and_release(self) -> None:
        await self._look()
        record = self.state.release(self._clock.now())
        if record is not None:
            await self._in_time(self.lock.update(record))
            self.state.saw(record, now=self._clock.monotonic())

    async def _in_time(self, request: Awaitable[R]) -> R:
        limit = self._timing.request_timeout
        try:
            async with time_limit(self._clock, limit):
                return await request
        except TimeoutError:
            raise TransportTimeoutError(f"there was no answer within {limit:g} s") from None

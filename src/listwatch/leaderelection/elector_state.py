"""The state machine of one candidate: decides when to write the lease. `candidate.py` reads and writes it.

    free, own, or expired ──written──▶ LEADING ──renewed──▶ LEADING
                                          │
                                          └── not renewed in time, or another holder was read ──▶ lost

The clocks of different hosts are never compared. A candidate considers the lease of another holder expired when the
record did not change for the whole lease duration, by its own clock, since it first read it. A leader counts from
before it sent its last successful write, and stops after the renew deadline, which is shorter. So it has stopped
before the next leader starts, as long as their clocks run at similar speed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import datetime

from listwatch.errors import UsageError

__all__ = ["JITTER", "ElectorState", "LeaderRecord", "Timing"]

JITTER = 1.2
"""Candidates wait up to this factor longer than the retry period, at random, so that they retry at different times."""

# A clock may wake a sleeper early by this much.
_ROUNDING = 1e-6

_MAX_LEASE_DURATION = 2**31 - 1  # an int32 in the API


@dataclass(frozen=True, slots=True)
class LeaderRecord:
    """The leader record that all candidates share. They check whether it changes; its times are informative."""

    holder: str = ""
    lease_duration: int = 0
    acquired: datetime | None = None
    renewed: datetime | None = None
    transitions: int = 0
    preferred_holder: str = ""
    """The candidate that the API server has selected as the next holder, in coordinated elections."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Lease duration, the deadline for renewals of the leader, and the period of attempts, in seconds."""

    lease_duration: float
    renew_deadline: float
    retry_period: float

    def __post_init__(self) -> None:
        for name in ("lease_duration", "renew_deadline", "retry_period"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MAX_LEASE_DURATION:
                raise UsageError(f"{name}={value!r}: expected a positive number of seconds")
        if self.lease_duration <= self.renew_deadline:
            raise UsageError(
                f"lease_duration={self.lease_duration} must be longer than renew_deadline={self.renew_deadline}: "
                "a leader has to stop before another candidate may take the lease"
            )
        if self.renew_deadline <= JITTER * self.retry_period:
            raise UsageError(
                f"renew_deadline={self.renew_deadline} must be longer than {JITTER} times "
                f"retry_period={self.retry_period}: a leader needs time for a retry"
            )

    @property
    def request_timeout(self) -> float:
        """The timeout of one request, short enough for a second request if the first one hangs."""
        return min(self.renew_deadline, max(1.0, self.renew_deadline / 2))

    @property
    def written_duration(self) -> int:
        """The lease duration in whole seconds, rounded up, since other candidates rely on it."""
        return math.ceil(self.lease_duration)


class ElectorState:
    """The record that was last read and since when it is unchanged; and until when this candidate leads."""

    def __init__(self, identity: str, timing: Timing) -> None:
        self._identity = identity
        self._timing = timing
        self._record: LeaderRecord | None = None
        self._seen = -math.inf
        self._leads_until = -math.inf
        self._is_candidate = False
        self._may_hold = False
        self._free_since = math.inf
        self.is_coordinated = False
        """Whether the API server elects. A lease that stays free for another lease duration is claimed anyway."""

    @property
    def leader(self) -> str:
        """The last known holder of the lease; empty if there is none."""
        return self._record.holder if self._record else ""

    @property
    def transitions(self) -> int:
        """How often the holder of the lease changed."""
        return self._record.transitions if self._record else 0

    @property
    def is_missing(self) -> bool:
        """Whether the record does not exist and has to be created."""
        return self._record is None

    @property
    def may_hold(self) -> bool:
        """Whether this candidate may hold the lease: a write succeeded, or its result is unknown."""
        return self._may_hold

    @property
    def is_term_over(self) -> bool:
        """Whether this candidate holds the lease, and the API server has selected another holder."""
        record = self._record
        return record is not None and self.is_coordinated and record.preferred_holder not in ("", self._identity)

    def is_leader(self, now: float) -> bool:
        return self.time_left(now) > 0

    def time_left(self, now: float) -> float:
        """How long this candidate may lead without another renewal; 0 if it does not lead."""
        left = self._leads_until - now
        return left if left > _ROUNDING else 0.0

    def since_renewal(self, now: float) -> float:
        """Seconds since the record was last seen to change."""
        return now - self._seen

    # --- observations ------------------------------------------------------------------------------------------------

    def observe(self, record: LeaderRecord | None, *, now: float) -> None:
        """The record was read; None if it does not exist."""
        if record != self._record:
            self._record, self._seen = record, now
        if self.leader != self._identity:
            self._may_hold = False
        if self._leads_until > -math.inf and (self.leader not in ("", self._identity) or self.is_term_over):
            self.resign()
        self._free_since = min(self._free_since, now) if self._is_free(now) else math.inf

    def observe_write(self, record: LeaderRecord, *, sent: float, now: float) -> None:
        """The write of this record, sent at that time, succeeded."""
        self._record, self._seen = record, now
        self._free_since = math.inf
        if self._is_candidate:
            self._leads_until = sent + self._timing.renew_deadline

    def enter(self) -> None:
        """Become a candidate."""
        self._is_candidate = True

    def resign(self) -> None:
        """Stop leading and being a candidate: a renewal in progress does not change that."""
        self._is_candidate = False
        self._leads_until = -math.inf

    # --- decisions ---------------------------------------------------------------------------------------------------

    def may_renew_without_reading(self, now: float) -> bool:
        """Whether to write without reading first: the record of a leader is most likely unchanged."""
        return self.is_leader(now) and self.leader == self._identity

    def may_claim(self, now: float) -> bool:
        """Whether to write, given the record just read: the lease is free, own, or expired."""
        if not self._is_candidate:
            return False
        is_own = self._record is not None and self._record.holder == self._identity
        if not self.is_coordinated:
            return is_own or self._is_free(now)
        if is_own and not self.is_term_over:
            return True
        return now >= self._free_since + self._timing.lease_duration - _ROUNDING

    def _is_free(self, now: float) -> bool:
        """Whether the lease has no holder, or its holder did not renew it in time."""
        if self._record is None or not self._record.holder:
            return True
        return now >= self._seen + self._record.lease_duration - _ROUNDING

    def claim(self, time_of_day: datetime) -> LeaderRecord:
        """The record to write in order to acquire or renew the lease."""
        self._may_hold = True
        claim = LeaderRecord(self._identity, self._timing.written_duration, time_of_day, time_of_day)
        if self._record is None:
            return claim
        # Without coordination, the field belongs to others. In a coordinated election, a new term begins without it.
        preferred = "" if self.is_coordinated else self._record.preferred_holder
        claim = replace(claim, transitions=self._record.transitions, preferred_holder=preferred)
        if self._record.holder == self._identity:
            return replace(claim, acquired=self._record.acquired or time_of_day)
        return replace(claim, transitions=self._record.transitions + 1)

    def release(self, time_of_day: datetime) -> LeaderRecord | None:
        """The record to write in order to release the lease; None if this candidate does not hold it."""
        if self._record is None or self._record.holder != self._identity:
            return None
        return replace(self._record, holder="", lease_duration=1, acquired=time_of_day, renewed=time_of_day)

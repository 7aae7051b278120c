"""Decides what one candidate does about the lease. `candidate.py` does it.

    nobody's, ours, or expired ──written──▶ LEADING ──renewed──▶ LEADING
                                               │
                                               └── not renewed in time, or seen with another ──▶ lost

No two computers' clocks are compared. A candidate takes another's lease for expired when the record stayed the same for
the whole lease duration, by its own clock and from when it first saw it. A leader counts from before it sent what was
written, which no other can have seen earlier, and stops after the shorter renew deadline. So it has stopped when the
next one begins, as long as their clocks run about equally fast.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import datetime

from listwatch.errors import UsageError

__all__ = ["JITTER", "ElectorState", "LeaderRecord", "Timing"]

JITTER = 1.2
"""Candidates wait for up to this much longer than the retry period, each time, so that they do not come at once."""

# Clocks round: one that wakes a sleeper this much early is on time.
_ROUNDING = 1e-6

_LONGEST_LEASE = 2**31 - 1  # the API keeps seconds in 32 bits


@dataclass(frozen=True, slots=True)
class LeaderRecord:
    """Who leads, as all candidates see it. Its times are for people: only whether a record changed is looked at."""

    holder: str = ""
    lease_duration: int = 0
    acquired: datetime | None = None
    renewed: datetime | None = None
    transitions: int = 0


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a lease lasts, how long its holder leads without renewing it, and how often everybody tries."""

    lease_duration: float
    renew_deadline: float
    retry_period: float

    def __post_init__(self) -> None:
        for name in ("lease_duration", "renew_deadline", "retry_period"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _LONGEST_LEASE:
                raise UsageError(f"a leader elector's {name} is a number of seconds above 0, not {value!r}")
        if self.lease_duration <= self.renew_deadline:
            raise UsageError(
                f"lease_duration={self.lease_duration} must be longer than renew_deadline={self.renew_deadline}: "
                "a leader has to stop before others may take its lease"
            )
        if self.renew_deadline <= JITTER * self.retry_period:
            raise UsageError(
                f"renew_deadline={self.renew_deadline} must be longer than {JITTER} times "
                f"retry_period={self.retry_period}: a leader needs time to try again"
            )

    @property
    def request_timeout(self) -> float:
        """How long one request may take, so that one that hangs leaves time for another."""
        return min(self.renew_deadline, max(1.0, self.renew_deadline / 2))

    @property
    def written_duration(self) -> int:
        """The lease duration in the whole seconds of a record; never less, since others go by it."""
        return math.ceil(self.lease_duration)


class ElectorState:
    """What a candidate saw of the record and since when it is so, and until when it leads by what it wrote itself."""

    def __init__(self, identity: str, timing: Timing) -> None:
        self._identity = identity
        self._timing = timing
        self._record: LeaderRecord | None = None
        self._seen = -math.inf
        self._leads_until = -math.inf
        self._is_standing = False
        self._may_hold = False

    @property
    def leader(self) -> str:
        """Who holds the lease, as far as is known; empty for nobody."""
        return self._record.holder if self._record else ""

    @property
    def transitions(self) -> int:
        """How often the lease has gone from one holder to another."""
        return self._record.transitions if self._record else 0

    @property
    def is_missing(self) -> bool:
        """Whether there is no record yet, so that it has to be created."""
        return self._record is None

    @property
    def may_hold(self) -> bool:
        """Whether the lease could be ours, by anything that was written, or sent and never answered."""
        return self._may_hold

    def is_leader(self, now: float) -> bool:
        return self.time_left(now) > 0

    def time_left(self, now: float) -> float:
        """How long this candidate may lead without another renewal; 0 if it may not."""
        left = self._leads_until - now
        return left if left > _ROUNDING else 0.0

    def since_renewal(self, now: float) -> float:
        """How long ago the record was last seen to change."""
        return now - self._seen

    # --- what happened -----------------------------------------------------------------------------------------------

    def saw(self, record: LeaderRecord | None, *, now: float) -> None:
        """The lock holds this record; None if it has none."""
        if record != self._record:
            self._record, self._seen = record, now
        if self.leader != self._identity:
            self._may_hold = False
        if self._leads_until > -math.inf and self.leader not in ("", self._identity):
            self.resign()

    def wrote(self, record: LeaderRecord, *, sent: float, now: float) -> None:
        """The lock took our record, which had been sent at that time."""
        self._record, self._seen = record, now
        if self._is_standing:
            self._leads_until = sent + self._timing.renew_deadline

    def stand(self) -> None:
        """Be a candidate from now on."""
        self._is_standing = True

    def resign(self) -> None:
        """Lead no longer, and be no candidate until told so: a renewal that was under way does not bring it back."""
        self._is_standing = False
        self._leads_until = -math.inf

    # --- what to do --------------------------------------------------------------------------------------------------

    def may_renew_unseen(self, now: float) -> bool:
        """Whether to write without looking first: a leader's record is most likely as it left it."""
        return self.is_leader(now) and self.leader == self._identity

    def may_claim(self, now: float) -> bool:
        """Whether to write, after what was just seen: nobody holds the lease, we do, or it has expired."""
        if not self._is_standing:
            return False
        if self._record is None or self._record.holder in ("", self._identity):
            return True
        return now >= self._seen + self._record.lease_duration - _ROUNDING

    def claim(self, time_of_day: datetime) -> LeaderRecord:
        """The record to write in order to lead."""
        self._may_hold = True
        claim = LeaderRecord(self._identity, self._timing.written_duration, time_of_day, time_of_day)
        if self._record is None:
            return claim
        if self._record.holder == self._identity:
            return replace(claim, acquired=self._record.acquired, transitions=self._record.transitions)
        return replace(claim, transitions=self._record.transitions + 1)

    def release(self, time_of_day: datetime) -> LeaderRecord | None:
        """The record to write so that another need not wait; None if the lease is not ours."""
        if self._record is None or self._record.holder != self._identity:
            return None
        return replace(self._record, holder="", lease_duration=1, acquired=time_of_day, renewed=time_of_day)

"""The times of the sharding protocol, in seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from listwatch.errors import UsageError
from listwatch.leaderelection.elector_state import Timing

__all__ = ["MAX_LEASE_DURATION", "ShardTiming"]

MAX_LEASE_DURATION = 600.0


@dataclass(frozen=True, slots=True)
class ShardTiming:
    """How long sessions last without renewals, and how long shards take to change hands."""

    lease_duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0
    grace_period: float = 30.0
    """How long reconciles of a shard that moves may continue."""
    cleanup: float = 2.5
    """How long a cancelled reconcile may take to end."""
    settle: float = 5.0
    """How long the members must be unchanged before shards move to balance them."""
    prefetch_timeout: float = 30.0
    stall_limit: float = 60.0
    """How long the event loop of the program may be blocked before its shards are given up."""

    def __post_init__(self) -> None:
        Timing(self.lease_duration, self.renew_deadline, self.retry_period)
        if self.lease_duration > MAX_LEASE_DURATION:
            raise UsageError(
                f"lease_duration={self.lease_duration:g} must be at most {MAX_LEASE_DURATION:g} s: the shards of a "
                "replica that fails have no owner for so long"
            )
        for name in ("grace_period", "cleanup", "settle", "prefetch_timeout", "stall_limit"):
            value: object = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise UsageError(f"{name}={value!r}: expected a number of seconds")
        if self.renew_deadline + self.cleanup >= self.lease_duration:
            raise UsageError(
                f"lease_duration={self.lease_duration:g} must be longer than renew_deadline={self.renew_deadline:g} "
                f"plus {self.cleanup:g} s of clean-up: a replica has to stop before another one may take its shards"
            )

    @property
    def request_timeout(self) -> float:
        """The timeout of one request, short enough for a second request if the first one hangs."""
        return Timing(self.lease_duration, self.renew_deadline, self.retry_period).request_timeout

    @property
    def written_duration(self) -> int:
        """The lease duration in whole seconds, rounded up, since peers rely on it."""
        return math.ceil(self.lease_duration)

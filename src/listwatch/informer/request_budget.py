"""Limits the requests of a reflector that make no progress, whatever the server does."""

from __future__ import annotations

__all__ = ["RequestBudget"]

_BURST = 20
_INTERVAL = 5.0


class RequestBudget:
    """A token bucket: `burst` requests at once, then one every `interval` seconds.

    A request that made progress is refunded, so that a list of many pages costs nothing. A watch that lasts for
    `interval` or longer has paid for the next one. After a wait for an empty bucket, one request is granted.
    """

    def __init__(self, *, burst: int = _BURST, interval: float = _INTERVAL) -> None:
        self._burst = float(burst)
        self._interval = interval
        self._tokens = self._burst
        self._refilled_at = 0.0
        self._full_at = 0.0
        self.spent = 0
        """The requests since the bucket was full that were not refunded."""

    def take(self, now: float) -> bool:
        """Take a token at the monotonic time `now`; False if there is none."""
        self._tokens += (now - self._refilled_at) / self._interval
        self._refilled_at = now
        if self._tokens >= self._burst:
            self._tokens, self._full_at, self.spent = self._burst, now, 0
        if self._tokens < 1:
            return False
        self._tokens -= 1
        self.spent += 1
        return True

    def refund(self) -> None:
        """Return the token of a request that made progress."""
        self._tokens = min(self._tokens + 1, self._burst)
        self.spent = max(self.spent - 1, 0)

    def grant(self, now: float) -> None:
        """Count one request after a wait, which does not fill the bucket."""
        self._tokens, self._refilled_at = 0.0, now
        self.spent += 1

    def seconds_since_full(self, now: float) -> float:
        """The time in which `spent` requests were sent."""
        return now - self._full_at

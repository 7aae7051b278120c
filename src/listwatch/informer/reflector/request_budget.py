"""Limits the requests of a reflector that make no progress, whatever the server does."""

from __future__ import annotations

from listwatch.token_bucket import Tokens

__all__ = ["RequestBudget"]

_BURST = 20
_INTERVAL = 5.0


class RequestBudget:
    """A token bucket: `burst` requests at once, then one every `interval` seconds.

    A request that made progress is refunded, so that a list of many pages takes no tokens. During a watch of `interval`
    or longer, the bucket gets a token for the next one. After a wait for an empty bucket, one request is granted.
    """

    def __init__(self, *, burst: int = _BURST, interval: float = _INTERVAL) -> None:
        self._burst = burst
        self._tokens = Tokens(1 / interval, burst)
        self._full_at = 0.0
        self.spent = 0
        """The requests since the bucket was full that were not refunded."""

    def take(self, now: float) -> bool:
        """Take a token at the monotonic time `now`; False if there is none."""
        if not self._tokens.take(now):
            return False
        if self._tokens.left >= self._burst - 1:
            self._full_at, self.spent = now, 0
        self.spent += 1
        return True

    def refund(self) -> None:
        """Return the token of a request that made progress."""
        self._tokens.give_back()
        self.spent = max(self.spent - 1, 0)

    def grant(self, now: float) -> None:
        """Count one request after a wait until `now`, which does not fill the bucket."""
        self._tokens.take(now)
        self._tokens.left = 0.0
        self.spent += 1

    def seconds_since_full(self, now: float) -> float:
        """The time in which `spent` requests were sent."""
        return now - self._full_at

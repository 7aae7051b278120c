"""Client-side rate limiting. There is no limit unless a ClientConfig sets `qps`, or a RESTClient has a rate limiter."""

from __future__ import annotations

from typing import Protocol

from listwatch.clock import Clock
from listwatch.token_bucket import Tokens

__all__ = ["RateLimiter", "TokenBucket"]


class RateLimiter(Protocol):
    """Limits the rate of requests."""

    async def wait(self) -> float:
        """Wait until the caller may send one request. Return the seconds that it waited."""


class TokenBucket:
    """Allows `burst` requests at once, then `qps` per second, in the order of the calls."""

    def __init__(self, *, qps: float, burst: int, clock: Clock) -> None:
        self._qps = qps
        self._burst = burst
        self._clock = clock
        self._tokens = Tokens(qps, burst)

    @property
    def qps(self) -> float:
        """Requests per second."""
        return self._qps

    async def wait(self) -> float:
        """Wait for a token. Return the seconds that it waited."""
        # Each call reserves its token at once, so that the order of calls is kept.
        delay = self._tokens.reserve(self._clock.monotonic())
        if delay == 0:
            return 0.0
        try:
            await self._clock.sleep(delay)
        except BaseException:
            self._tokens.give_back()
            raise
        return delay

    def __repr__(self) -> str:
        return f"TokenBucket(qps={self._qps}, burst={self._burst}, tokens={self._tokens.left:.1f})"

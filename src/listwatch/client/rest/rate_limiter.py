"""Client-side rate limiting. There is no limit unless a ClientConfig sets `qps`, or a RESTClient has a rate limiter."""

from __future__ import annotations

from typing import Protocol

from listwatch.clock import Clock

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
        self._tokens = float(burst)  # negative by the number of waiting callers
        self._refilled_at = clock.monotonic()

    @property
    def qps(self) -> float:
        """Requests per second."""
        return self._qps

    async def wait(self) -> float:
        """Wait for a token. Return the seconds that it waited."""
        # Each call reserves its token at once, so that the order of calls is kept.
        self._refill()
        self._tokens -= 1
        if self._tokens >= 0:
            return 0.0
        delay = -self._tokens / self._qps
        try:
            await self._clock.sleep(delay)
        except BaseException:
            self._tokens += 1  # not used
            raise
        return delay

    def _refill(self) -> None:
        now = self._clock.monotonic()
        self._tokens = min(self._tokens + (now - self._refilled_at) * self._qps, float(self._burst))
        self._refilled_at = now

    def __repr__(self) -> str:
        return f"TokenBucket(qps={self._qps}, burst={self._burst}, tokens={self._tokens:.1f})"

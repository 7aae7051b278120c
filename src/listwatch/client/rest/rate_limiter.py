"""How many requests a client allows itself: no limit unless a ClientConfig sets one. `sender` waits here."""

from __future__ import annotations

from typing import Protocol

from listwatch.clock import Clock

__all__ = ["RateLimiter", "TokenBucket"]


class RateLimiter(Protocol):
    """Lets requests pass one by one, when it is time."""

    async def wait(self) -> float:
        """Return when the caller may send one request, with the seconds that it took."""


class TokenBucket:
    """`burst` requests at once, then `qps` each second; whoever comes first goes first."""

    def __init__(self, *, qps: float, burst: int, clock: Clock) -> None:
        self._qps = qps
        self._burst = burst
        self._clock = clock
        self._tokens = float(burst)  # below zero by as many as are waiting
        self._counted = clock.monotonic()

    @property
    def qps(self) -> float:
        return self._qps

    async def wait(self) -> float:
        # Each caller is given its own moment when it arrives, which is what makes the order fair.
        self._count()
        self._tokens -= 1
        if self._tokens >= 0:
            return 0.0
        delay = -self._tokens / self._qps
        try:
            await self._clock.sleep(delay)
        except BaseException:
            self._tokens += 1  # it was not used
            raise
        return delay

    def _count(self) -> None:
        now = self._clock.monotonic()
        self._tokens = min(self._tokens + (now - self._counted) * self._qps, float(self._burst))
        self._counted = now

    def __repr__(self) -> str:
        return f"TokenBucket(qps={self._qps}, burst={self._burst}, tokens={self._tokens:.1f})"

"""A token bucket without a clock: the arithmetic of rate limits. Time is passed in."""

from __future__ import annotations

import math

__all__ = ["Tokens"]


class Tokens:
    """Holds up to `burst` tokens, of which `rate` per second are added. It starts full."""

    __slots__ = ("_burst", "_rate", "_refilled_at", "left")

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = float(burst)
        self._refilled_at = -math.inf
        self.left = float(burst)
        """The tokens at the time of the last call; negative by the number of reserved tokens that are still missing."""

    def reserve(self, now: float) -> float:
        """Take a token that may still be missing. Return the seconds until it exists, in the order of the calls."""
        self._refill(now)
        self.left -= 1
        return -self.left / self._rate if self.left < 0 else 0.0

    def give_back(self) -> None:
        """Return a reserved token that was not used."""
        self.left += 1

    def take(self, now: float) -> bool:
        """Take a token, if there is one."""
        self._refill(now)
        if self.left < 1:
            return False
        self.left -= 1
        return True

    def available(self, now: float) -> float:
        """Return the number of tokens."""
        self._refill(now)
        return self.left

    def _refill(self, now: float) -> None:
        self.left = min(self.left + (now - self._refilled_at) * self._rate, self._burst)
        self._refilled_at = now

"""How long an item waits before it is retried. Time is passed in; `queue.py` does the waiting.

ExponentialLimiter     5 ms, 10 ms, 20 ms, … 1000 s, per item
BucketLimiter          a burst of 100, then 10 per second, over all items
FastSlowLimiter        a few fast retries, then slow ones, per item
MaxOfLimiter           the longest delay of several limiters
MaxWaitLimiter         the delay of another limiter, up to a maximum
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar

from listwatch.errors import UsageError
from listwatch.token_bucket import Tokens

__all__ = [
    "BucketLimiter",
    "ExponentialLimiter",
    "FastSlowLimiter",
    "ItemLimiter",
    "MaxOfLimiter",
    "MaxWaitLimiter",
    "default_limiter",
]

T = TypeVar("T", bound=Hashable)
Contra = TypeVar("Contra", contravariant=True)

# The largest power of two that a float can hold is 2 ** 1023.
_MAX_DOUBLINGS = 1000
_MIN_EXPIRY_SIZE = 1024


class ItemLimiter(Protocol[Contra]):
    """Counts the failures of items, and returns the delay before each retry."""

    def next_delay(self, item: Contra, *, now: float) -> float:
        """Count a failure at the monotonic time `now`; returns the seconds to wait before the retry."""

    def forget(self, item: Contra) -> None:
        """Reset the failures of the item."""

    def requeues(self, item: Contra) -> int:
        """How often the item failed since it was last forgotten."""


class _Failures(Generic[T]):
    """Counts failures per item. An item that is not forgotten is dropped `expire_after` seconds after the last."""

    def __init__(self, expire_after: float) -> None:
        self._expire_after = expire_after
        self._counts: dict[T, int] = {}
        self._last: dict[T, float] = {}
        self._expire_at_size = _MIN_EXPIRY_SIZE

    def add(self, item: T, now: float) -> int:
        """Count a failure; returns how many there were before."""
        before = self._counts.get(item, 0)
        self._counts[item] = before + 1
        self._last[item] = now
        if len(self._last) >= self._expire_at_size:
            self._expire(now)
        return before

    def count(self, item: T) -> int:
        return self._counts.get(item, 0)

    def forget(self, item: T) -> None:
        if self._counts.pop(item, None) is not None:
            del self._last[item]

    def _expire(self, now: float) -> None:
        for item in [item for item, last in self._last.items() if now - last > self._expire_after]:
            self.forget(item)
        # The next pass runs at twice the size, so that its cost per item stays constant.
        self._expire_at_size = max(2 * len(self._last), _MIN_EXPIRY_SIZE)


class ExponentialLimiter(Generic[T]):
    """Each failure of an item doubles its delay, from `initial` up to `cap` seconds.

    An item that did not fail for twice the cap starts over, so that memory stays bounded without `forget`.
    """

    def __init__(self, *, initial: float = 0.005, cap: float = 1000.0) -> None:
        if not 0 < initial <= cap < math.inf:
            raise UsageError(f"initial={initial} and cap={cap} are invalid: 0 < initial <= cap < infinity must hold")
        self._initial = initial
        self._cap = cap
        self._failures: _Failures[T] = _Failures(expire_after=2 * cap)

    def next_delay(self, item: T, *, now: float) -> float:
        failures = self._failures.add(item, now)
        return min(self._initial * 2.0 ** min(failures, _MAX_DOUBLINGS), self._cap)

    def forget(self, item: T) -> None:
        self._failures.forget(item)

    def requeues(self, item: T) -> int:
        return self._failures.count(item)


class FastSlowLimiter(Generic[T]):
    """The first `fast_tries` failures of an item cause the delay `fast`, later ones the delay `slow`."""

    def __init__(self, *, fast: float, slow: float, fast_tries: int) -> None:
        if not (0 <= fast < math.inf and 0 <= slow < math.inf):
            raise UsageError(f"fast={fast} and slow={slow} are invalid: pass finite numbers of seconds, at least 0")
        self._fast = fast
        self._slow = slow
        self._fast_tries = fast_tries
        self._failures: _Failures[T] = _Failures(expire_after=max(2 * slow, 2000.0))

    def next_delay(self, item: T, *, now: float) -> float:
        return self._fast if self._failures.add(item, now) < self._fast_tries else self._slow

    def forget(self, item: T) -> None:
        self._failures.forget(item)

    def requeues(self, item: T) -> int:
        return self._failures.count(item)


class BucketLimiter:
    """A token bucket over all items: `burst` at once, then `qps` per second. It counts no failures."""

    def __init__(self, *, qps: float = 10.0, burst: int = 100) -> None:
        if not (0 < qps < math.inf and burst >= 1):
            raise UsageError(f"qps={qps} and burst={burst} are invalid: qps > 0 and burst >= 1 must hold")
        self._tokens = Tokens(qps, burst)

    def next_delay(self, item: object, *, now: float) -> float:
        return self._tokens.reserve(now)

    def forget(self, item: object) -> None:
        pass

    def requeues(self, item: object) -> int:
        return 0


class MaxOfLimiter(Generic[T]):
    """The longest delay and the highest count of several limiters."""

    def __init__(self, *limiters: ItemLimiter[T]) -> None:
        if not limiters:
            raise UsageError("MaxOfLimiter() needs at least one limiter")
        self._limiters = limiters

    def next_delay(self, item: T, *, now: float) -> float:
        return max([limiter.next_delay(item, now=now) for limiter in self._limiters])

    def forget(self, item: T) -> None:
        for limiter in self._limiters:
            limiter.forget(item)

    def requeues(self, item: T) -> int:
        return max(limiter.requeues(item) for limiter in self._limiters)


class MaxWaitLimiter(Generic[T]):
    """Another limiter, with delays of at most `max_delay` seconds."""

    def __init__(self, limiter: ItemLimiter[T], *, max_delay: float) -> None:
        self._limiter = limiter
        self._max_delay = max_delay

    def next_delay(self, item: T, *, now: float) -> float:
        return min(self._limiter.next_delay(item, now=now), self._max_delay)

    def forget(self, item: T) -> None:
        self._limiter.forget(item)

    def requeues(self, item: T) -> int:
        return self._limiter.requeues(item)


def default_limiter() -> ItemLimiter[Hashable]:
    """Exponential backoff per item, and at most 10 retries per second over all items after a burst of 100."""
    return MaxOfLimiter[Hashable](ExponentialLimiter(), BucketLimiter())

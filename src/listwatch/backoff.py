"""Delays between attempts. Time and randomness are arguments; `clock` does the waiting.

Backoff             parameters, and the delays that follow from them:   0.8  1.6  3.2  …  30  30
ResettingBackoff    restarts after a time without failures
KeyedBackoff        one growing delay per key
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import islice, repeat
from typing import TYPE_CHECKING, Generic, TypeVar

from listwatch.errors import UsageError

if TYPE_CHECKING:
    from random import Random

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Delays that start at `initial` and grow by `factor`, at most `steps` times and up to `cap`.

    Each delay is extended by a random part of up to `jitter` times its length. The extension may exceed the cap and
    does not affect later delays.
    """

    initial: float
    factor: float = 2.0
    cap: float = math.inf
    jitter: float = 0.0
    steps: int | None = None

    def __post_init__(self) -> None:
        if not (0 <= self.initial <= self.cap and self.factor >= 1 and self.jitter >= 0):
            raise UsageError(f"invalid {self}: required are 0 <= initial <= cap, factor >= 1 and jitter >= 0")
        if self.steps is not None and self.steps < 0:
            raise UsageError(f"invalid {self}: steps must not be negative")

    def delays(self, random: Random) -> Iterator[float]:
        """An endless iterator that starts at `initial`."""
        for delay in self._without_jitter():
            yield delay * (1 + self.jitter * random.random())

    def retries(self, random: Random) -> Iterator[float]:
        """The delays between `steps` attempts, so one fewer than `steps`.

        Reaching the cap ends the growth, not the attempts as in client-go.
        """
        return islice(self.delays(random), None if self.steps is None else max(self.steps - 1, 0))

    def _without_jitter(self) -> Iterator[float]:
        delay = float(self.initial)
        for _ in repeat(None) if self.steps is None else repeat(None, self.steps):
            yield delay
            delay = min(delay * self.factor, self.cap)
        yield from repeat(delay)


class ResettingBackoff:
    """A backoff that restarts when it was not used for longer than `reset` seconds.

    client-go counts from the last restart instead, so its delays drop every two minutes during a long outage.
    """

    def __init__(self, backoff: Backoff, *, reset: float, random: Random) -> None:
        self._backoff = backoff
        self._reset = reset
        self._random = random
        self._delays = backoff.delays(random)
        self._last_use = -math.inf

    def next_delay(self, now: float) -> float:
        """The delay before the next attempt, at the monotonic time `now`."""
        if now - self._last_use > self._reset:
            self.restart()
        self._last_use = now
        return next(self._delays)

    def restart(self) -> None:
        """Restart at the shortest delay."""
        self._delays = self._backoff.delays(self._random)


@dataclass(slots=True)
class _Entry:
    delay: float
    updated: float


class KeyedBackoff(Generic[_Key]):
    """One delay per key. It grows with each failure and expires after `expire_after` seconds without one.

    `expire_after` defaults to twice the cap. Jitter is part of the delay that the next one grows from; the cap applies.
    """

    def __init__(self, backoff: Backoff, *, random: Random, expire_after: float | None = None) -> None:
        self._backoff = backoff
        self._random = random
        self._expire_after = 2 * backoff.cap if expire_after is None else expire_after
        self._entries: dict[_Key, _Entry] = {}

    def delay(self, key: _Key) -> float:
        """The current delay of a key; 0 if it has none."""
        entry = self._entries.get(key)
        return entry.delay if entry else 0.0

    def failed(self, key: _Key, *, now: float) -> float:
        """Record a failure of the key and return its new delay."""
        entry = self._entries.get(key)
        if entry is None or self._is_expired(entry, now):
            base, factor = self._backoff.initial, 1.0
        else:
            base, factor = entry.delay, self._backoff.factor
        delay = base * (factor + self._backoff.jitter * self._random.random())
        self._entries[key] = _Entry(min(delay, self._backoff.cap), now)
        return self._entries[key].delay

    def is_waiting(self, key: _Key, *, now: float, since: float | None = None) -> bool:
        """True if the key's delay, counted from `since` or else from its last failure, has not passed."""
        entry = self._entries.get(key)
        if entry is None or self._is_expired(entry, now if since is None else since):
            return False
        return now - (entry.updated if since is None else since) < entry.delay

    def forget(self, key: _Key) -> None:
        self._entries.pop(key, None)

    def forget_expired(self, *, now: float) -> None:
        """Remove expired keys. Call it periodically if the set of keys changes."""
        self._entries = {key: entry for key, entry in self._entries.items() if not self._is_expired(entry, now)}

    def _is_expired(self, entry: _Entry, now: float) -> bool:
        return now - entry.updated > self._expire_after

    def __len__(self) -> int:
        return len(self._entries)


REFLECTOR_BACKOFF = Backoff(initial=0.8, factor=2.0, cap=30.0, jitter=1.0)
"""Between attempts to list or watch: short at first, 30 to 60 seconds during a long outage."""

SHARDED_REFLECTOR_BACKOFF = Backoff(initial=0.8, factor=2.0, cap=4.0, jitter=1.0)
"""Between attempts to list or watch some shards: at most 8 seconds, since shards gained after an outage wait for it."""

REFLECTOR_RESET = 120.0
"""The `reset` of a ResettingBackoff with REFLECTOR_BACKOFF."""

MAX_RETRY_AFTER = 60.0
"""The longest time, in seconds, for which the server can delay the next list or watch."""

DEFAULT_RETRY = Backoff(initial=0.01, factor=1.0, jitter=0.1, steps=5)
"""For conflicts with writers of other fields: five attempts in quick succession."""

DEFAULT_BACKOFF = Backoff(initial=0.01, factor=5.0, jitter=0.1, steps=4)
"""For conflicts with frequent writers of the same object: four attempts with growing delays."""

"""How long to wait before the next attempt. Time and randomness are passed in; `clock` does the waiting.

Backoff             the numbers, and the delays they make:   0.8  1.6  3.2  …  30  30
ResettingBackoff    begins again after a time without trouble
KeyedBackoff        one growing delay for each key
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
    """Delays that begin at `initial` and grow by `factor`, `steps` times at most and never above `cap`.

    Each is prolonged by a random part of up to `jitter` times its length, which does not add up and may exceed the cap.
    """

    initial: float
    factor: float = 2.0
    cap: float = math.inf
    jitter: float = 0.0
    steps: int | None = None

    def __post_init__(self) -> None:
        if not (0 <= self.initial <= self.cap and self.factor >= 1 and self.jitter >= 0):
            raise UsageError(f"{self} cannot be: it must be that 0 <= initial <= cap, factor >= 1 and jitter >= 0")
        if self.steps is not None and self.steps < 0:
            raise UsageError(f"{self} cannot be: there cannot be fewer than 0 steps")

    def delays(self, random: Random) -> Iterator[float]:
        """An endless supply; each iterator begins again at `initial`."""
        for delay in self._without_jitter():
            yield delay * (1 + self.jitter * random.random())

    def retries(self, random: Random) -> Iterator[float]:
        """The delays between `steps` attempts: one fewer than these, so that no one waits after the last.

        Reaching the cap ends the growth and not, as in client-go, the attempts.
        """
        return islice(self.delays(random), None if self.steps is None else max(self.steps - 1, 0))

    def _without_jitter(self) -> Iterator[float]:
        delay = float(self.initial)
        for _ in repeat(None) if self.steps is None else repeat(None, self.steps):
            yield delay
            delay = min(delay * self.factor, self.cap)
        yield from repeat(delay)


class ResettingBackoff:
    """A backoff that begins again when it was not used for longer than `reset` seconds.

    client-go counts from the last beginning instead: its delays fall back every two minutes while everything fails.
    """

    def __init__(self, backoff: Backoff, *, reset: float, random: Random) -> None:
        self._backoff = backoff
        self._reset = reset
        self._random = random
        self._delays = backoff.delays(random)
        self._last_use = -math.inf

    def next_delay(self, now: float) -> float:
        """How long to wait, at the monotonic time `now`, before the next attempt."""
        if now - self._last_use > self._reset:
            self.restart()
        self._last_use = now
        return next(self._delays)

    def restart(self) -> None:
        """Begin again with the shortest delay."""
        self._delays = self._backoff.delays(self._random)


@dataclass(slots=True)
class _Entry:
    delay: float
    updated: float


class KeyedBackoff(Generic[_Key]):
    """Each key has a delay of its own, which grows with every failure and is forgotten after long without one.

    Long is `expire_after` seconds, or twice the cap. What jitter adds to a delay counts in the next, under the cap.
    """

    def __init__(self, backoff: Backoff, *, random: Random, expire_after: float | None = None) -> None:
        self._backoff = backoff
        self._random = random
        self._expire_after = 2 * backoff.cap if expire_after is None else expire_after
        self._entries: dict[_Key, _Entry] = {}

    def delay(self, key: _Key) -> float:
        """The present delay of a key; 0 if it has none."""
        entry = self._entries.get(key)
        return entry.delay if entry else 0.0

    def failed(self, key: _Key, *, now: float) -> float:
        """Make the key's delay longer and return it."""
        entry = self._entries.get(key)
        if entry is None or self._is_expired(entry, now):
            base, factor = self._backoff.initial, 1.0
        else:
            base, factor = entry.delay, self._backoff.factor
        delay = base * (factor + self._backoff.jitter * self._random.random())
        self._entries[key] = _Entry(min(delay, self._backoff.cap), now)
        return self._entries[key].delay

    def is_waiting(self, key: _Key, *, now: float, since: float | None = None) -> bool:
        """True if the key's delay, counted from `since` or else from its last failure, is not over yet."""
        entry = self._entries.get(key)
        if entry is None or self._is_expired(entry, now if since is None else since):
            return False
        return now - (entry.updated if since is None else since) < entry.delay

    def forget(self, key: _Key) -> None:
        self._entries.pop(key, None)

    def forget_expired(self, *, now: float) -> None:
        """Let go of the keys that had no failure for long; call it now and then if keys come and go."""
        self._entries = {key: entry for key, entry in self._entries.items() if not self._is_expired(entry, now)}

    def _is_expired(self, entry: _Entry, now: float) -> bool:
        return now - entry.updated > self._expire_after

    def __len__(self) -> int:
        return len(self._entries)


REFLECTOR_BACKOFF = Backoff(initial=0.8, factor=2.0, cap=30.0, jitter=1.0)
"""Between two tries to list or watch: soon at first, and every 30 to 60 seconds while a server stays away."""

REFLECTOR_RESET = 120.0
"""The `reset` that goes with it."""

DEFAULT_RETRY = Backoff(initial=0.01, factor=1.0, jitter=0.1, steps=5)
"""For conflicts with writers who touch other parts of the object: five quick tries."""

DEFAULT_BACKOFF = Backoff(initial=0.01, factor=5.0, jitter=0.1, steps=4)
"""For conflicts with writers who are busy on the same object: four tries, further and further apart."""

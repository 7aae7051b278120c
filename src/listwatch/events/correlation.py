"""Decides what becomes of many similar occurrences, so that a noisy program does not fill a cluster with events.

    occurrence ─▶ combine ─▶ count ─▶ filter ─▶ Counted, to be created or patched; or nothing

For events of the core API; those of events.k8s.io are counted by `correlation_series.py`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Generic, TypeVar

from listwatch.events.occurrence import Occurrence

__all__ = ["COMBINED", "Correlator", "Counted"]

V = TypeVar("V")

COMBINED: Final = "(combined from similar events): "

_REMEMBERED = 4096
_SIMILAR = 10
_SIMILAR_WITHIN = 600.0
_SPAM_BURST = 25
_SPAM_REFILL = 1 / 300.0


@dataclass(frozen=True, slots=True)
class Counted:
    """An event as it is to be written: new if it is the first of its kind, else one more of those before it."""

    occurrence: Occurrence
    name: str
    message: str
    count: int
    first_at: datetime

    @property
    def is_repeated(self) -> bool:
        return self.count > 1


@dataclass(slots=True)
class _Similar:
    last: float
    messages: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Seen:
    name: str
    first_at: datetime
    count: int = 0


@dataclass(slots=True)
class _Tokens:
    left: float
    counted: float


class Correlator:
    """Counts what repeats, combines what differs in its message only, and lets few through of what does not end.

    Ten different messages within ten minutes of each other, about one object and for one reason, become one event.
    Twenty-five events about an object are written at once, then one every five minutes.
    """

    def __init__(self) -> None:
        self._similar: _Recent[_Similar] = _Recent(_REMEMBERED)
        self._seen: _Recent[_Seen] = _Recent(_REMEMBERED)
        self._tokens: _Recent[_Tokens] = _Recent(_REMEMBERED)

    def correlate(self, occurrence: Occurrence, *, now: float) -> Counted | None:
        """What is to be written at the monotonic time `now`; None if there has been too much already."""
        key, message = self._combined(occurrence, now)
        counted = self._counted(key, occurrence, message)
        return counted if self._may_pass(occurrence, now) else None

    def _combined(self, occurrence: Occurrence, now: float) -> tuple[Hashable, str]:
        key = (occurrence.regarding.identity, occurrence.type, occurrence.reason)
        similar = self._similar.get(key)
        if similar is None or now - similar.last > _SIMILAR_WITHIN:
            similar = _Similar(now)
        similar.last = now
        similar.messages.add(occurrence.message)
        self._similar.put(key, similar)
        if len(similar.messages) < _SIMILAR:
            return (*key, occurrence.message), occurrence.message
        similar.messages.pop()  # so that as many stay, and no more
        return key, COMBINED + occurrence.message

    def _counted(self, key: Hashable, occurrence: Occurrence, message: str) -> Counted:
        seen = self._seen.get(key) or _Seen(occurrence.name, occurrence.at)
        seen.count += 1
        self._seen.put(key, seen)
        return Counted(occurrence, seen.name, message, seen.count, seen.first_at)

    def _may_pass(self, occurrence: Occurrence, now: float) -> bool:
        key = (occurrence.regarding.identity, occurrence.type)
        tokens = self._tokens.get(key) or _Tokens(_SPAM_BURST, now)
        tokens.left = min(tokens.left + (now - tokens.counted) * _SPAM_REFILL, float(_SPAM_BURST))
        tokens.counted = now
        self._tokens.put(key, tokens)
        if tokens.left < 1:
            return False
        tokens.left -= 1
        return True


class _Recent(Generic[V]):
    """The values that were used last, up to a number of them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[Hashable, V] = OrderedDict()

    def get(self, key: Hashable) -> V | None:
        return self._values.get(key)

    def put(self, key: Hashable, value: V) -> None:
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._size:
            self._values.popitem(last=False)

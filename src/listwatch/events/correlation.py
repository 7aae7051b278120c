"""Combines and limits similar events of the core API, as client-go does, so that they do not flood a cluster.

    occurrence ─▶ combine ─▶ count ─▶ filter ─▶ CountedEvent, to be created or patched; or None

`correlation_series.py` does this for events.k8s.io.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Generic, TypeVar

from listwatch.events.occurrence import Occurrence
from listwatch.token_bucket import Tokens

__all__ = ["COMBINED", "Correlator", "CountedEvent"]

V = TypeVar("V")

COMBINED: Final = "(combined from similar events): "

_CACHE_SIZE = 4096
_COMBINE_FROM = 10
_COMBINE_INTERVAL = 600.0
_SPAM_BURST = 25
_SPAM_REFILL = 1 / 300.0


@dataclass(frozen=True, slots=True)
class CountedEvent:
    """An event to write: created if its count is 1, else patched."""

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


class Correlator:
    """Counts repeated events, combines events that differ only in their message, and limits the rate per object.

    From the tenth message on, events about the same object with the same reason, each within ten minutes of the last,
    become one event. Per object, a burst of 25 events is written, then one every five minutes.
    """

    def __init__(self) -> None:
        self._similar: _Recent[_Similar] = _Recent(_CACHE_SIZE)
        self._seen: _Recent[_Seen] = _Recent(_CACHE_SIZE)
        self._tokens: _Recent[Tokens] = _Recent(_CACHE_SIZE)

    def correlate(self, occurrence: Occurrence, *, now: float) -> CountedEvent | None:
        """The event to write at the monotonic time `now`; None if it exceeds the rate."""
        key, message = self._combine(occurrence, now)
        counted = self._count(key, occurrence, message)
        return counted if self._is_within_rate(occurrence, now) else None

    def _combine(self, occurrence: Occurrence, now: float) -> tuple[Hashable, str]:
        key = (occurrence.regarding.identity, occurrence.type, occurrence.reason)
        similar = self._similar.get(key)
        if similar is None or now - similar.last > _COMBINE_INTERVAL:
            similar = _Similar(now)
        similar.last = now
        similar.messages.add(occurrence.message)
        self._similar.put(key, similar)
        if len(similar.messages) < _COMBINE_FROM:
            return (*key, occurrence.message), occurrence.message
        similar.messages.pop()  # keeps the number of messages constant
        return key, COMBINED + occurrence.message

    def _count(self, key: Hashable, occurrence: Occurrence, message: str) -> CountedEvent:
        seen = self._seen.get(key) or _Seen(occurrence.name, occurrence.at)
        seen.count += 1
        self._seen.put(key, seen)
        return CountedEvent(occurrence, seen.name, message, seen.count, seen.first_at)

    def _is_within_rate(self, occurrence: Occurrence, now: float) -> bool:
        key = (occurrence.regarding.identity, occurrence.type)
        tokens = self._tokens.get(key) or Tokens(_SPAM_REFILL, _SPAM_BURST)
        self._tokens.put(key, tokens)
        return tokens.take(now)


class _Recent(Generic[V]):
    """A bounded map that keeps the most recently used values."""

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

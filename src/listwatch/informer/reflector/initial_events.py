"""Recognizes servers that ignore `sendInitialEvents`, by how long the bookmark that ends the initial events takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from listwatch.api.watch_events import BatchedEvent
from listwatch.keyed import Cached

__all__ = ["InitialEventsDeadline"]

T = TypeVar("T", bound=Cached)

_MAX_PAUSE = 10.0
"""Seconds without an initial event after which the bookmark is overdue."""
_MAX_NEWEST = 30.0
"""Seconds for which objects that are newer than all others before count as initial events."""
_CHECK_INTERVAL = 0.5


class InitialEventsDeadline:
    """The time until which the bookmark must arrive. Initial events extend it, changes do not.

    Initial events are ADDED events of objects that were not received before. All of them are sent before the first
    change. An object that is created later looks the same, except that it is newer than all objects before it; those
    extend the deadline only for a while. `version` is the version that the stream was requested from.
    """

    def __init__(self, version: str, now: float) -> None:
        self._newest = _number(version)
        self._last_initial = self._last_added = now
        self._changed_at: float | None = None
        self._next_check = now

    @property
    def time(self) -> float:
        """The deadline, in monotonic time."""
        if self._changed_at is not None:
            return self._changed_at + _MAX_PAUSE
        return min(self._last_added + _MAX_PAUSE, self._last_initial + _MAX_NEWEST)

    @property
    def limit(self) -> str:
        """What determines the deadline, for messages."""
        if self._changed_at is not None:
            return f"{_MAX_PAUSE:.0f} s after the first change"
        if self._last_added + _MAX_PAUSE <= self._last_initial + _MAX_NEWEST:
            return f"{_MAX_PAUSE:.0f} s after the last of them"
        return f"{_MAX_NEWEST:.0f} s after the last of them, although new objects followed"

    def receive(self, events: Iterable[BatchedEvent[T]], *, has_new_objects: bool, now: float) -> None:
        """Process a batch of events. To save time, batches within half a second of the last one are skipped."""
        if self._changed_at is not None or now < self._next_check:
            return
        self._next_check = now + _CHECK_INTERVAL
        newest = self._newest
        has_older = False
        for event in events:
            if event.type == "UNDECODABLE":
                continue
            if event.type == "UNCHANGED":
                has_older = True
                continue
            if event.type != "ADDED":
                self._changed_at = now
                return
            version = _number(event.object.resource_version)
            if version > newest:
                newest = version
            else:
                has_older = True
        self._newest = newest
        if has_new_objects:
            self._last_added = now
            if has_older:
                self._last_initial = now


def _number(version: str) -> int:
    # Versions that are not numbers cannot be compared, so that all such objects count as initial.
    return int(version) if version.isdecimal() and len(version) < 100 else 0

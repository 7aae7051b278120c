"""Detects changes of cached objects in place, for tests: set LISTWATCH_MUTATION_DETECTOR."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable
from typing import Generic, Self, TypeVar

from listwatch.clock import Clock
from listwatch.errors import DecodeError, UsageError
from listwatch.informer.handlers import Change, ObjectDeleted, ObjectEvicted
from listwatch.keyed import Cached, describe

__all__ = ["MutationDetector"]

T = TypeVar("T", bound=Cached)

_VARIABLE = "LISTWATCH_MUTATION_DETECTOR"
_PERIOD = 1.0


class MutationDetector(Generic[T]):
    """Compares cached objects with copies that were made when they were stored."""

    def __init__(self, report: Callable[[Exception], None]) -> None:
        self._report = report
        self._remembered: dict[str, tuple[T, T]] = {}

    @classmethod
    def from_environment(cls, report: Callable[[Exception], None]) -> Self | None:
        """Return a detector if the environment variable is set."""
        return cls(report) if os.environ.get(_VARIABLE, "") not in ("", "0", "false") else None

    def remember(self, changes: Iterable[Change[T]]) -> None:
        for change in changes:
            key = change.object.cache_key
            if isinstance(change, ObjectDeleted | ObjectEvicted):
                self._remembered.pop(key, None)
            else:
                self._remembered[key] = (change.object, copy.deepcopy(change.object))

    def check(self) -> None:
        """Report each object that was changed, once."""
        for key, (item, original) in list(self._remembered.items()):
            if _is_changed(item, original):
                del self._remembered[key]
                self._report(
                    UsageError(f"the cached {describe(item)} was changed in place; copy() an object before changing it")
                )

    async def run(self, clock: Clock) -> None:
        """Check periodically, until cancelled."""
        while True:
            await clock.sleep(_PERIOD)
            self.check()


def _is_changed(item: object, original: object) -> bool:
    try:
        return item != original
    except DecodeError:
        return False  # a part of it is damaged; the informer reports that

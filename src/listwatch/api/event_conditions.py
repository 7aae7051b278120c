"""What is waited for in a stream of events: one condition, then the next.

`client.until` and `informer.until_with_sync` do the waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from listwatch.api.predicates import check_predicate

__all__ = ["EventConditions", "describe_last"]


E = TypeVar("E")


class EventConditions(Generic[E]):
    """Conditions that are met in turn, by one event or by several; what one of them raises is the caller's."""

    def __init__(self, conditions: Sequence[Callable[[E], bool]]) -> None:
        for each in conditions:
            check_predicate(each, "condition: give functions of an event that tell if it is the one")
        self._pending = list(conditions)

    def are_met_by(self, event: E) -> bool:
        """Whether this event meets the last of them that was left."""
        while self._pending and self._pending[0](event):
            del self._pending[0]
        return not self._pending

    def __str__(self) -> str:
        return ", ".join(getattr(each, "__name__", str(each)) for each in self._pending)


def describe_last(event: Any) -> str:
    """The last event, for messages."""
    return f"the last event was {event.type} {event.object.describe()}" if event else "there was no event"

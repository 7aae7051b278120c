"""Predicates that callers pass: validation, and sequences of conditions on events."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from listwatch.errors import UsageError
from listwatch.keyed import Cached, describe

__all__ = ["EventConditions", "check_predicate", "describe_last"]

E = TypeVar("E")


def check_predicate(given: object, expected: str) -> None:
    """Raise a UsageError unless this is a plain function: an async one returns a coroutine, which is always true."""
    if not callable(given):
        raise UsageError(f"{given!r} is not a {expected}")
    if inspect.iscoroutinefunction(given) or inspect.iscoroutinefunction(getattr(given, "__call__", None)):  # noqa: B004  # inspected, not tested for
        raise UsageError(f"{given!r} is async, and its result would not be awaited: pass a plain function")


class EventConditions(Generic[E]):
    """Conditions that must be met one after the other, by one event or by several."""

    def __init__(self, conditions: Sequence[Callable[[E], bool]]) -> None:
        for each in conditions:
            check_predicate(each, "condition: pass functions of an event that return a bool")
        self._pending = list(conditions)

    def are_met_by(self, event: E) -> bool:
        """Evaluate the pending conditions on this event; True if the last one is met."""
        while self._pending and self._pending[0](event):
            del self._pending[0]
        return not self._pending

    def __str__(self) -> str:
        return ", ".join(getattr(each, "__name__", str(each)) for each in self._pending)


class _Event(Protocol):
    @property
    def type(self) -> object: ...
    @property
    def object(self) -> Cached: ...


def describe_last(event: _Event | None) -> str:
    """Describe the last event, for messages."""
    return f"the last event was {event.type} {describe(event.object)}" if event else "there was no event"

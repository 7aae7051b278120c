"""Predicates: which changes of an object matter. They are functions of the old and the new object.

    Watch(Deployment, when=generation_changed | annotations_changed)
    Watch(Pod, when=~has_label("ignored"))

`old` is None for a new object, and `new` is None for a deleted one. An update in which the deletion of an object with
finalizers starts matches all predicates named `…_changed`, so that a controller with a finalizer never misses it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from listwatch.errors import UsageError
from listwatch.keyed import Cached
from listwatch.objects.object import Object

__all__ = [
    "Predicate",
    "PredicateFunction",
    "annotations_changed",
    "generation_changed",
    "has_label",
    "labels_changed",
    "predicate",
    "resource_version_changed",
]

T = TypeVar("T", bound=Cached)

PredicateFunction = Callable[[T | None, T | None], bool]
"""Returns whether a change from the old to the new object matters."""

AnyPredicate = PredicateFunction[Any]
"""One for objects of any kind."""


class Predicate:
    """A predicate function that combines with others through `&`, `|` and `~`."""

    def __init__(self, function: AnyPredicate, *, name: str = "") -> None:
        if not callable(function):
            raise UsageError(f"Predicate({function!r}): expected a function of the old and the new object")
        self._function = function
        self._name = name or getattr(function, "__qualname__", repr(function))

    def __call__(self, old: Cached | None, new: Cached | None) -> bool:
        return bool(self._function(old, new))

    def __and__(self, other: AnyPredicate) -> Predicate:
        right = predicate(other)
        return Predicate(lambda old, new: self(old, new) and right(old, new), name=f"({self!r} & {right!r})")

    def __or__(self, other: AnyPredicate) -> Predicate:
        right = predicate(other)
        return Predicate(lambda old, new: self(old, new) or right(old, new), name=f"({self!r} | {right!r})")

    def __invert__(self) -> Predicate:
        return Predicate(lambda old, new: not self(old, new), name=f"~{self!r}")

    def __repr__(self) -> str:
        return self._name


def predicate(function: AnyPredicate) -> Predicate:
    """Make a Predicate of a function of the old and the new object; usable as a decorator."""
    return function if isinstance(function, Predicate) else Predicate(function)


def _changed(part: Callable[[Object], object], name: str) -> Predicate:
    """Whether that part differs. Creations, deletions and the start of a deletion with finalizers always match."""

    def is_changed(old: Object | None, new: Object | None) -> bool:
        return old is None or new is None or part(old) != part(new) or _starts_deletion(old, new)

    return Predicate(is_changed, name=name)


def _starts_deletion(old: Object, new: Object) -> bool:
    return new.metadata.deletion_timestamp is not None and old.metadata.deletion_timestamp is None


generation_changed = _changed(lambda item: item.metadata.generation, "generation_changed")
"""The spec changed: the server increments the generation for a change of the spec, not of the status."""

labels_changed = _changed(lambda item: item.labels, "labels_changed")
"""The labels changed."""

annotations_changed = _changed(lambda item: item.metadata.annotations, "annotations_changed")
"""The annotations changed."""

resource_version_changed = _changed(lambda item: item.resource_version, "resource_version_changed")
"""Any field changed; resyncs do not match."""


def has_label(name: str, value: str | None = None) -> Predicate:
    """The old or the new object has this label; with this value, if one is given."""

    def is_labelled(item: Object | None) -> bool:
        return item is not None and name in item.labels and value in (None, item.labels[name])

    text = f"has_label({name!r})" if value is None else f"has_label({name!r}, {value!r})"
    return Predicate(lambda old, new: is_labelled(new) or is_labelled(old), name=text)

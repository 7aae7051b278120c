"""Which changes matter: questions about the old and the new state of an object. `triggers` asks them.

    Watch(Deployment, when=generation_changed | annotations_changed)
    Watch(Pod, when=~has_label("ignored"))

`old` is None for an object that is new, and `new` is None for one that is gone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from listwatch.errors import UsageError

__all__ = [
    "Predicate",
    "annotations_changed",
    "generation_changed",
    "has_label",
    "labels_changed",
    "predicate",
    "resource_version_changed",
]

Question = Callable[[Any, Any], bool]


class Predicate:
    """A question about the old and the new state of an object, which can be joined with others by `&`, `|` and `~`."""

    def __init__(self, asks: Question, *, name: str = "") -> None:
        if not callable(asks):
            raise UsageError(f"a predicate is a function of the old and the new object, and {asks!r} is none")
        self._asks = asks
        self._name = name or getattr(asks, "__qualname__", repr(asks))

    def __call__(self, old: Any, new: Any) -> bool:
        return bool(self._asks(old, new))

    def __and__(self, other: Question) -> Predicate:
        also = predicate(other)
        return Predicate(lambda old, new: self(old, new) and also(old, new), name=f"({self!r} & {also!r})")

    def __or__(self, other: Question) -> Predicate:
        also = predicate(other)
        return Predicate(lambda old, new: self(old, new) or also(old, new), name=f"({self!r} | {also!r})")

    def __invert__(self) -> Predicate:
        return Predicate(lambda old, new: not self(old, new), name=f"~{self!r}")

    def __repr__(self) -> str:
        return self._name


def predicate(asks: Question) -> Predicate:
    """`@predicate` makes one of a function of the old and the new object."""
    return asks if isinstance(asks, Predicate) else Predicate(asks)


def _changed(part: Callable[[Any], object], name: str) -> Predicate:
    """Whether that part differs; objects that come or go always matter."""
    return Predicate(lambda old, new: old is None or new is None or part(old) != part(new), name=name)


generation_changed = _changed(lambda item: item.metadata.generation, "generation_changed")
"""The spec was changed: the server counts a generation up for that, and not for the status."""

labels_changed = _changed(lambda item: item.labels, "labels_changed")
annotations_changed = _changed(lambda item: item.metadata.annotations, "annotations_changed")

resource_version_changed = _changed(lambda item: item.resource_version, "resource_version_changed")
"""Anything was changed: leaves out what is only told again by a resync."""


def has_label(name: str, value: str | None = None) -> Predicate:
    """The object has, or had until now, this label, with this value if one is given."""

    def is_labelled(item: Any) -> bool:
        return item is not None and name in item.labels and value in (None, item.labels[name])

    text = f"has_label({name!r})" if value is None else f"has_label({name!r}, {value!r})"
    return Predicate(lambda old, new: is_labelled(new) or is_labelled(old), name=text)

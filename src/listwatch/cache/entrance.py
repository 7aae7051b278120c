"""The way into a cache: an object gets its key and goes through the transform, once. `DeltaFIFO` is behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from listwatch.cache.contents import Cached, key_of
from listwatch.errors import TransformError

__all__ = ["Entrance", "Relist", "Transform"]

T = TypeVar("T", bound=Cached)

Transform = Callable[[T], T]
"""Makes of an object what is to be kept of it; it may change the object itself, and returns it, or another one."""


class Entrance(Generic[T]):
    """Lets objects in, each with its key and as the transform leaves it."""

    def __init__(self, transform: Transform[T] | None) -> None:
        self._transform = transform

    def admit(self, item: T) -> tuple[str, T]:
        """The key, and what is to be kept; raises BadKeyError or TransformError, which name the object."""
        key = key_of(item)
        return key, item if self._transform is None else self.transformed(key, item)

    def transformed(self, key: str, item: T) -> T:
        """What is to be kept of the object of this key; raises TransformError."""
        if self._transform is None:
            return item
        try:
            kept: T | None = self._transform(item)
            kept_key = "" if kept is None else key_of(kept)
        except Exception as error:
            raise TransformError(f"the transform failed on {key}: {error}") from error
        if kept is None:
            raise TransformError(f"the transform made nothing of {key}; it has to return an object")
        if kept_key != key:
            raise TransformError(f"the transform made {kept_key} of {key}; an object has to keep its name")
        return kept


class Relist(Generic[T]):
    """A list on its way in, page by page or event by event; an object is transformed when it is put here."""

    def __init__(self, entrance: Entrance[T]) -> None:
        self._admit = entrance.admit
        self._objects: dict[str, T] = {}

    def put(self, item: T) -> None:
        """Take an object into the list, in place of the one under its key if there is one."""
        key, kept = self._admit(item)
        self._objects[key] = kept

    def extend(self, items: Iterable[T]) -> None:
        for item in items:
            self.put(item)

    def discard(self, item: T) -> None:
        """Leave out what is under the object's key, if anything is."""
        self._objects.pop(key_of(item), None)

    def hand_over(self) -> dict[str, T]:
        """The objects by key, in the order in which they came; the list is empty again."""
        objects, self._objects = self._objects, {}
        return objects

    def __len__(self) -> int:
        return len(self._objects)

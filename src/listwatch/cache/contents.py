"""What a cache holds at one time: the objects, every index over them, and the version. `indexer.py` is its face."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Generic, Protocol, TypeVar

from listwatch.cache.index import Index
from listwatch.errors import BadKeyError

__all__ = ["Cached", "Contents", "key_of"]


class Cached(Protocol):
    """What a cache has to know of an object: every `Object` is such a thing."""

    @property
    def name(self) -> str: ...
    @property
    def namespace(self) -> str: ...
    @property
    def cache_key(self) -> str: ...
    @property
    def resource_version(self) -> str: ...


T = TypeVar("T", bound=Cached)


def key_of(item: Cached) -> str:
    """`namespace/name`, or `name` alone; BadKeyError for an object without a name, which no cache can keep."""
    if key := item.cache_key:
        return key
    raise BadKeyError(f"{item!r} has no name, so there is no key to keep it under")


class Contents(Generic[T]):
    """Objects by key and the indexes over them, in step after each change."""

    __slots__ = ("indexes", "objects", "resource_version")

    def __init__(self, indexes: Mapping[str, Index[T]], resource_version: str = "") -> None:
        self.objects: dict[str, T] = {}
        self.indexes = dict(indexes)
        self.resource_version = resource_version

    def put(self, key: str, item: T) -> T | None:
        """Hold an object; returns the one that it takes the place of. Changes nothing if an index function raises."""
        found = []
        for index in self.indexes.values():  # as a comprehension it takes a quarter longer, and this is the hot path
            found.append((index, index.values_of(key, item)))
        objects = self.objects
        old = objects.get(key)
        objects[key] = item
        for index, values in found:
            index.put(key, item, values)
        return old

    def take(self, key: str) -> T | None:
        """Let go of what is under a key; returns it, if anything was."""
        old = self.objects.pop(key, None)
        if old is not None:
            for index in self.indexes.values():
                index.remove(key)
        return old

    def add_indexes(self, indexes: Iterable[Index[T]]) -> None:
        """Keep more indexes, over what is there already too. Changes nothing if a function raises."""
        added = {index.name: index for index in indexes}
        for index in added.values():
            for key, item in self.objects.items():
                index.put(key, item, index.values_of(key, item))
        self.indexes = {**self.indexes, **added}

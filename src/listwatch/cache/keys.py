"""The key under which a cache stores an object: `namespace/name`, or `name` for a cluster-scoped object."""

from __future__ import annotations

from typing import Protocol

from listwatch.errors import BadKeyError

__all__ = ["NAMESPACE", "Cached", "key_of", "namespace_of"]

NAMESPACE = "namespace"
"""The name of the index by namespace, which listers use."""


class Cached(Protocol):
    """The attributes of an object that a store reads. Every `Object` has them."""

    @property
    def name(self) -> str: ...
    @property
    def namespace(self) -> str: ...
    @property
    def cache_key(self) -> str: ...
    @property
    def resource_version(self) -> str: ...


def key_of(item: Cached) -> str:
    """Return the cache key; raises BadKeyError for an object without a name."""
    if key := item.cache_key:
        return key
    raise BadKeyError(f"{item!r} has no metadata.name; objects without a name cannot be cached")


def namespace_of(item: Cached) -> list[str]:
    """The index function of the index by namespace."""
    return [item.namespace]

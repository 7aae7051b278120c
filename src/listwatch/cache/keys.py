"""The key under which a cache stores an object: `namespace/name`, or `name` for a cluster-scoped object."""

from __future__ import annotations

from listwatch.errors import BadKeyError
from listwatch.keyed import Cached, namespace_in

__all__ = ["NAMESPACE", "key_of", "namespace_of"]

NAMESPACE = "namespace"
"""The name of the index by namespace, which listers use."""


def key_of(item: Cached) -> str:
    """Return the cache key; raises BadKeyError for an object without a name."""
    if key := item.cache_key:
        return key
    missing = "metadata.name" if hasattr(item, "metadata") else "cache_key"
    raise BadKeyError(f"{item!r} has no {missing}; objects without a name cannot be cached")


def namespace_of(item: Cached) -> list[str]:
    """The index function of the index by namespace."""
    return [namespace_in(item.cache_key)]

"""The key under which a cache stores an object: `namespace/name`, or `name` for a cluster-scoped object."""

from __future__ import annotations

from listwatch.errors import BadKeyError
from listwatch.keyed import Cached, namespace_in
from listwatch.meta import ObjectKey

__all__ = ["NAMESPACE", "cache_key", "key_of", "namespace_of"]

NAMESPACE = "namespace"
"""The name of the index by namespace, which listers use."""


def cache_key(key: object) -> str:
    """Return the cache key in a text or an ObjectKey, without its cluster: a cache has the objects of one cluster."""
    if not isinstance(key, ObjectKey):
        return str(key)
    namespace, name = key[0], key[1]  # not `str`, which contains the cluster of a ClusterKey
    return f"{namespace}/{name}" if namespace else name


def key_of(item: Cached) -> str:
    """Return the cache key; raises BadKeyError for an object without a name."""
    if key := item.cache_key:
        return key
    missing = "metadata.name" if hasattr(item, "metadata") else "cache_key"
    raise BadKeyError(f"{item!r} has no {missing}; objects without a name cannot be cached")


def namespace_of(item: Cached) -> list[str]:
    """The index function of the index by namespace."""
    return [namespace_in(item.cache_key)]

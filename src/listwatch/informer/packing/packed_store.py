"""Makes the packed store of an informer, and its packer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, cast

from listwatch.cache.compact.codec import Codec
from listwatch.cache.compact.entry import Instances
from listwatch.cache.compact.packed_indexer import PackedIndexer, PendingObjects
from listwatch.cache.compact.zstd import find_library
from listwatch.cache.indexer import IndexFailure, IndexFunction
from listwatch.clock import Clock
from listwatch.errors import UsageError
from listwatch.informer.packing.packer import Packer
from listwatch.informer.storage_options import PackingPolicy
from listwatch.keyed import Cached
from listwatch.objects.object import Object

__all__ = ["make_packer"]

T = TypeVar("T", bound=Cached)


def make_packer(
    kind: type[T],
    *,
    indexer_type: type[PackedIndexer[T]] | None,
    indexers: Mapping[str, IndexFunction[T]],
    on_failure: IndexFailure,
    clock: Clock,
    policy: PackingPolicy,
    is_transformed: bool,
) -> Packer[T]:
    """Return a packer with its store, in which objects are compressed; raises ConfigError without a zstd library.

    `is_transformed` if objects are not stored as they are received.
    """
    if not issubclass(kind, Object):
        raise UsageError(f"compact=True needs objects of a Kubernetes API; {kind.__name__} cannot be compressed")
    instances: Instances[T] = Instances(
        cast("type[T]", kind), Codec(find_library()), are_as_received=not is_transformed
    )
    pending = PendingObjects()
    indexer = (indexer_type or PackedIndexer)(
        instances=instances, pending=pending, indexers=indexers, on_failure=on_failure
    )
    return Packer(indexer, clock=clock, policy=policy)

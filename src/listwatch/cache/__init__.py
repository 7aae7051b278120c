"""The cache: a queue of deltas, and the indexed store that they are applied to.

This package does no I/O; `listwatch.informer` keeps the store synced with a server.
"""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "AddedDelta": "listwatch.cache.deltas",
    "AppliedBatch": "listwatch.cache.indexer",
    "AppliedDelta": "listwatch.cache.replacement",
    "BookmarkDelta": "listwatch.cache.deltas",
    "Cached": "listwatch.keyed",
    "DeletedDelta": "listwatch.cache.deltas",
    "Delta": "listwatch.cache.deltas",
    "DeltaFIFO": "listwatch.cache.delta_fifo",
    "DroppedObject": "listwatch.cache.delta_fifo",
    "IndexFailure": "listwatch.cache.indexer",
    "IndexFunction": "listwatch.cache.indexer",
    "IndexReader": "listwatch.cache.lister",
    "Indexer": "listwatch.cache.indexer",
    "Keyed": "listwatch.keyed",
    "KnownObjects": "listwatch.cache.delta_fifo",
    "Lister": "listwatch.cache.lister",
    "NamespaceLister": "listwatch.cache.lister",
    "ObjectDelta": "listwatch.cache.deltas",
    "ReplacedAllDelta": "listwatch.cache.deltas",
    "ReplacedDelta": "listwatch.cache.deltas",
    "Replacement": "listwatch.cache.replacement",
    "ReplacementList": "listwatch.cache.delta_fifo",
    "SyncAllDelta": "listwatch.cache.deltas",
    "SyncDelta": "listwatch.cache.deltas",
    "Tombstone": "listwatch.keyed",
    "Transform": "listwatch.cache.delta_fifo",
    "UpdatedDelta": "listwatch.cache.deltas",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.cache.delta_fifo import DeltaFIFO as DeltaFIFO
    from listwatch.cache.delta_fifo import DroppedObject as DroppedObject
    from listwatch.cache.delta_fifo import KnownObjects as KnownObjects
    from listwatch.cache.delta_fifo import ReplacementList as ReplacementList
    from listwatch.cache.delta_fifo import Transform as Transform
    from listwatch.cache.deltas import AddedDelta as AddedDelta
    from listwatch.cache.deltas import BookmarkDelta as BookmarkDelta
    from listwatch.cache.deltas import DeletedDelta as DeletedDelta
    from listwatch.cache.deltas import Delta as Delta
    from listwatch.cache.deltas import ObjectDelta as ObjectDelta
    from listwatch.cache.deltas import ReplacedAllDelta as ReplacedAllDelta
    from listwatch.cache.deltas import ReplacedDelta as ReplacedDelta
    from listwatch.cache.deltas import SyncAllDelta as SyncAllDelta
    from listwatch.cache.deltas import SyncDelta as SyncDelta
    from listwatch.cache.deltas import UpdatedDelta as UpdatedDelta
    from listwatch.cache.indexer import AppliedBatch as AppliedBatch
    from listwatch.cache.indexer import Indexer as Indexer
    from listwatch.cache.indexer import IndexFailure as IndexFailure
    from listwatch.cache.indexer import IndexFunction as IndexFunction
    from listwatch.cache.lister import IndexReader as IndexReader
    from listwatch.cache.lister import Lister as Lister
    from listwatch.cache.lister import NamespaceLister as NamespaceLister
    from listwatch.cache.replacement import AppliedDelta as AppliedDelta
    from listwatch.cache.replacement import Replacement as Replacement
    from listwatch.keyed import Cached as Cached
    from listwatch.keyed import Keyed as Keyed
    from listwatch.keyed import Tombstone as Tombstone
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)

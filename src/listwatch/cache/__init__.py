"""The cache: a queue of deltas in order, and the indexed store that they lead to.

This package does no I/O; `listwatch.informer` keeps the store synced with a server.
"""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "Added": "listwatch.cache.deltas",
    "Bookmark": "listwatch.cache.deltas",
    "Deleted": "listwatch.cache.deltas",
    "Delta": "listwatch.cache.deltas",
    "DeltaFIFO": "listwatch.cache.delta_fifo",
    "Indexer": "listwatch.cache.indexer",
    "Lister": "listwatch.cache.lister",
    "NamespaceLister": "listwatch.cache.lister",
    "ObjectDelta": "listwatch.cache.deltas",
    "Relisted": "listwatch.cache.deltas",
    "Replaced": "listwatch.cache.deltas",
    "Resynced": "listwatch.cache.deltas",
    "Sync": "listwatch.cache.deltas",
    "Updated": "listwatch.cache.deltas",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.cache.delta_fifo import DeltaFIFO as DeltaFIFO
    from listwatch.cache.deltas import Added as Added
    from listwatch.cache.deltas import Bookmark as Bookmark
    from listwatch.cache.deltas import Deleted as Deleted
    from listwatch.cache.deltas import Delta as Delta
    from listwatch.cache.deltas import ObjectDelta as ObjectDelta
    from listwatch.cache.deltas import Relisted as Relisted
    from listwatch.cache.deltas import Replaced as Replaced
    from listwatch.cache.deltas import Resynced as Resynced
    from listwatch.cache.deltas import Sync as Sync
    from listwatch.cache.deltas import Updated as Updated
    from listwatch.cache.indexer import Indexer as Indexer
    from listwatch.cache.lister import Lister as Lister
    from listwatch.cache.lister import NamespaceLister as NamespaceLister
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)

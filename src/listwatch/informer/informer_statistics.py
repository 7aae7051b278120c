"""What an informer reports about itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from listwatch.histogram import HistogramSummary
from listwatch.informer.listener import ListenerStatistics
from listwatch.informer.reflector.reflector import ReflectorStatistics
from listwatch.informer.storage_options import CompactStatistics, PersistenceStatistics
from listwatch.meta import Resource

__all__ = ["InformerStatistics"]


@dataclass(frozen=True, slots=True)
class InformerStatistics:
    """The state of an informer, its sources and its handlers."""

    name: str
    objects: int
    resource_version: str
    has_synced: bool
    is_watching: bool
    """True while the watches of all sources are open."""
    last_contact: datetime | None
    """The oldest `last_contact` of the sources; None if one of them has not responded yet."""
    queued: int
    sources: tuple[ReflectorStatistics, ...]
    handlers: tuple[ListenerStatistics, ...]
    resource: Resource | None
    """The resource of the objects, if their kind defines it."""
    processing: HistogramSummary
    """Seconds that batches of changes took to be stored and distributed to handlers."""
    compact: CompactStatistics | None = None
    """The state of a compact store; None for a plain one."""
    stale_since: datetime | None = None
    """When the objects were last known to be those of the server, if they were read from files and not confirmed."""
    files: tuple[PersistenceStatistics, ...] = ()
    """The state of the files, one for each source; empty without `cache_dir`."""

"""The options and statistics of compact stores and of cache files.

They are apart from the code that packs and writes objects, which is imported only by informers that use it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

__all__ = ["EXCLUDED", "CompactStatistics", "PackingPolicy", "PersistenceOptions", "PersistenceStatistics"]

EXCLUDED: Collection[type | str] = ("secrets",)
"""What is not written to files by default."""


@dataclass(frozen=True, slots=True)
class PackingPolicy:
    """When objects are packed, and how many at once."""

    delay: float = 1.0
    """Seconds for which a changed object stays unpacked."""
    batch: int = 500
    pause: float = 0.05
    """Seconds between batches while events arrive, and at least nine times the duration of the last batch."""
    max_pending: int = 16 * 2**20
    """With more bytes of changed objects, they are packed at once, without pauses."""
    max_batches: int = 16
    """With more batches of a list, they are packed where they arrive, which delays the list."""
    min_samples: int = 200
    """A store with fewer objects is not compressed."""
    samples: int = 2000
    """How many objects of a list are received before a dictionary is trained with half of them."""
    in_thread: bool = True


@dataclass(frozen=True, slots=True)
class CompactStatistics:
    """The state of a compact store."""

    packed: int
    """Objects that are compressed, or in a file."""
    unpacked: int
    """Objects as they were received, which were changed a short time ago."""
    live: int
    """Packed objects of which an instance is held by the program. Their decoded parts take memory."""
    opened: int
    """How many times a packed object was decompressed, because a part of it was accessed."""
    ratio: float
    """The packed size of the last objects, as a share of their JSON."""
    dictionaries: int
    """How many dictionaries are in use."""


@dataclass(frozen=True, slots=True)
class PersistenceOptions:
    """How often a file is written."""

    delay: float = 0.2
    """Seconds for which changes are collected."""
    sync_interval: float = 5.0
    """Seconds between waits for the disk, in case the machine fails."""
    min_records: int = 2000
    """A file with fewer outdated records is not replaced."""
    in_thread: bool = True


@dataclass(frozen=True, slots=True)
class PersistenceStatistics:
    """The state of the file of a source."""

    path: str
    is_used: bool
    """False if the file cannot be used, or could not be written: the informer works without it."""
    restored: int
    """The number of objects that were read from the file."""
    resource_version: str
    """The version in the file."""
    written: int
    """How many objects and removals were written."""
    rewrites: int
    """How often the file was replaced, because most of it was outdated."""

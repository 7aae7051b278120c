"""Measures the cache of an informer: objects, bytes by part, memory, time, and the largest objects."""

from __future__ import annotations

import asyncio
import gc
import os
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from heapq import nlargest

import msgspec

from listwatch.cache.replacement import sliced
from listwatch.clock import Clock
from listwatch.errors import DecodeError
from listwatch.informer.reflector.lister_watcher import AnySource
from listwatch.informer.reflector.problems import Problem
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.objects.caching.transforms import strip_managed_fields
from listwatch.objects.object import Object

__all__ = ["CacheReport", "LargeObject", "measure_cache", "resident_memory"]

_LARGEST = 10
_NAMESPACES = 5


class LargeObject(msgspec.Struct, frozen=True):
    """One of the largest objects."""

    key: str
    bytes: int
    managed_fields: int
    """The bytes of `metadata.managedFields` in it."""


class CacheReport(msgspec.Struct, frozen=True, rename="camel"):
    """The size, memory and sync time of a cache, and its largest contents."""

    resource: str
    namespace: str
    """Empty for all namespaces."""
    objects: int
    resource_version: str
    seconds: float
    """The time until the cache was synced."""
    synced_by: str
    """`list` or `stream`."""
    requests: int
    bytes: int
    """The size of the objects as JSON."""
    managed_fields: int
    parts: dict[str, int]
    """The bytes of each top-level part, the largest first; managedFields are counted separately."""
    memory: int | None
    """How much the resident memory of this process grew; None where it cannot be read."""
    largest: list[LargeObject]
    namespaces: dict[str, int]
    """The namespaces with the most bytes."""
    skipped: int
    problems: list[str]


class _Metadata(msgspec.Struct, rename="camel"):
    managed_fields: msgspec.Raw = msgspec.Raw(b"")


_metadata = msgspec.json.Decoder(_Metadata)


async def measure_cache(
    source: AnySource,
    kind: type[Object],
    *,
    resource: str,
    namespace: str,
    streaming: bool,
    strip: bool,
    clock: Clock,
    timeout: float | None = None,
) -> CacheReport:
    """Sync an informer, and measure its store. With `strip`, managedFields are not stored."""
    problems: list[Problem] = []
    informer: SharedIndexInformer[Object] = SharedIndexInformer(
        source,
        kind,
        name=resource,
        streaming=streaming,
        transform=strip_managed_fields if strip else None,
        on_problem=problems.append,
        clock=clock,
    )
    before, started = resident_memory(), clock.monotonic()
    async with informer:
        await informer.wait_for_sync(timeout)
        seconds = clock.monotonic() - started
        after = resident_memory()
        statistics = informer.statistics()
        sizes = await _Sizes.of(informer.indexer.list())
    source_statistics = statistics.sources[0]
    return CacheReport(
        resource=resource,
        namespace=namespace,
        objects=statistics.objects,
        resource_version=statistics.resource_version,
        seconds=seconds,
        synced_by=source_statistics.synced_by,
        requests=source_statistics.lists + source_statistics.watches,
        bytes=sizes.total,
        managed_fields=sizes.managed_fields,
        parts=dict(sizes.parts.most_common()),
        memory=None if before is None or after is None else after - before,
        largest=nlargest(_LARGEST, sizes.objects, key=lambda each: each.bytes),
        namespaces=dict(sizes.namespaces.most_common(_NAMESPACES)),
        skipped=source_statistics.skipped,
        problems=[str(each.error) for each in problems],
    )


class _Sizes:
    """Sums over all objects."""

    def __init__(self) -> None:
        self.total = self.managed_fields = 0
        self.parts: Counter[str] = Counter()
        self.namespaces: Counter[str] = Counter()
        self.objects: list[LargeObject] = []

    @classmethod
    async def of(cls, items: Iterable[Object]) -> _Sizes:
        """Measure objects in slices, so that the watch is read meanwhile."""
        sizes = cls()
        for part in sliced(items):
            for item in part:
                sizes._add(item)
            sizes.objects = nlargest(_LARGEST, sizes.objects, key=lambda each: each.bytes)
            await asyncio.sleep(0)
        return sizes

    def _add(self, item: Object) -> None:
        size, managed = 2, 0  # the braces
        with suppress(DecodeError):  # a damaged object counts with the parts that can be read
            for name, part in item.parts.items():
                length = len(bytes(part))
                size += length + len(name) + 4  # the name in quotes, a colon and a comma
                if name == "metadata":
                    with suppress(msgspec.DecodeError):
                        managed = len(bytes(_metadata.decode(part).managed_fields))
                    length -= managed
                self.parts[name] += length
        self.total += size
        self.managed_fields += managed
        if item.namespace:
            self.namespaces[item.namespace] += size
        self.objects.append(LargeObject(item.cache_key, size, managed))


def resident_memory() -> int | None:
    """The resident memory of this process in bytes; None where the system does not show it."""
    gc.collect()
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None

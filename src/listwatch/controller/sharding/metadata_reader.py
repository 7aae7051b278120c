"""Reads the metadata of all objects of a source, and whole objects by their metadata."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

import msgspec

from listwatch.api.shard_selector import ShardField
from listwatch.client.resources.base_resource_client import BaseResourceClient
from listwatch.client.resources.metadata_client import MetadataResource
from listwatch.errors import NotFoundError
from listwatch.informer.reflector.lister_watcher import AnySource
from listwatch.objects.object import Object

__all__ = ["MetadataReader", "metadata_share"]

_CONCURRENT_READS = 8
_SAMPLES = 20


class MetadataReader:
    """The metadata of the objects of a resource client, and the objects themselves, read one by one or in lists."""

    def __init__(self, source: BaseResourceClient[Object], by: ShardField) -> None:
        self.source = source
        self.metadata = MetadataResource.of(source).without_managed_fields()
        self._by = by
        self._slots = asyncio.Semaphore(_CONCURRENT_READS)

    @classmethod
    def of(cls, source: AnySource, by: ShardField) -> MetadataReader | None:
        """The reader of a source; None if that is no resource client."""
        return cls(source, by) if isinstance(source, BaseResourceClient) else None

    async def list(self, selects: Callable[[Object], bool]) -> tuple[dict[str, Object], int, str]:
        """A consistent list: the metadata of the selected objects by key, the number of all, and the version."""
        found: dict[str, Object] = {}
        total, version = 0, ""
        async for page in self.metadata.pages():
            version = version or page.resource_version
            total += len(page.items)
            found.update({item.cache_key: item for item in page.items if selects(item)})
        return found, total, version

    async def read(self, wanted: Mapping[str, Object]) -> dict[str, Object]:
        """The present states of objects, by key; without those that do not exist any more.

        An object can be newer than its metadata, and another one of the same name.
        """
        reads = [asyncio.ensure_future(self._read(item)) for item in wanted.values()]
        try:
            found = await asyncio.gather(*reads)
        finally:
            for each in reads:
                each.cancel()
        return {key: item for key, item in zip(wanted, found, strict=True) if item is not None}

    async def _read(self, metadata: Object) -> Object | None:
        async with self._slots:
            try:
                # Without a version: a response from a cache could be older than the metadata.
                return await self.source.namespace(metadata.namespace).get(metadata.name)
            except NotFoundError:
                return None

    async def read_all(self, wanted: Mapping[str, Object]) -> Sequence[Object]:
        """The present states of many objects; the result may contain other objects too."""
        if self._by == "namespace":
            items: list[Object] = []
            for namespace in sorted({item.namespace for item in wanted.values()}):
                items += await self._pages(self.source.namespace(namespace), wanted)
            return items
        return await self._pages(self.source, wanted)

    async def _pages(self, source: BaseResourceClient[Object], wanted: Mapping[str, Object]) -> Sequence[Object]:
        found: list[Object] = []
        async for page in source.pages():
            found += [item for item in page.items if item.cache_key in wanted]
        return found


def metadata_share(items: Sequence[Object]) -> float:
    """The share of metadata, without managed fields, in the bytes of some objects."""
    whole = metadata = 0
    for item in islice(items, _SAMPLES):
        fields = item.to_dict()
        head = fields.get("metadata")
        whole += len(msgspec.json.encode(fields))
        if isinstance(head, dict):
            metadata += len(msgspec.json.encode({key: each for key, each in head.items() if key != "managedFields"}))
    return metadata / whole if whole else 1.0

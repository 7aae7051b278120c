"""Makes the files of an informer: one for each of its sources."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Generic, TypeVar

from listwatch.cache.compact.packed_indexer import PackedIndexer
from listwatch.cache.indexer import Indexer
from listwatch.clock import Clock
from listwatch.errors import UsageError
from listwatch.informer.packing.worker import InlineWorker, SharedThread, ThreadWorker, Worker
from listwatch.informer.persistence.cache_file import CacheFile
from listwatch.informer.persistence.cache_key import (
    ResourceNames,
    cache_key,
    file_name,
    identity_of,
    is_excluded,
    resource_names,
)
from listwatch.informer.persistence.mapped_files import MappedFiles
from listwatch.informer.persistence.persistent_forms import CompactForm, PlainForm
from listwatch.informer.persistence.persister import PersistentForm, Persister
from listwatch.informer.storage_options import EXCLUDED, PersistenceOptions
from listwatch.keyed import Cached, lazily_decoded

__all__ = ["PersistentStore"]

T = TypeVar("T", bound=Cached)


class PersistentStore(Generic[T]):
    """The files of one informer, and the thread that reads and writes them."""

    def __init__(
        self,
        kind: type[T],
        indexer: Indexer[T],
        *,
        cache_dir: str | PathLike[str],
        excluded: Collection[type | str],
        drop_fields: Sequence[str],
        transform: Callable[[T], T] | None,
        clock: Clock,
        options: PersistenceOptions,
        name: str,
        min_samples: int,
    ) -> None:
        """`min_samples` is the number of objects from which on a compact store is compressed."""
        if lazily_decoded(kind) is None:
            raise UsageError(f"cache_dir needs objects of a Kubernetes API; {kind.__name__} cannot be kept in a file")
        self._kind = kind
        self._indexer = indexer
        self._folder = Path(cache_dir)
        self._excluded = excluded
        self._key_options: dict[str, Any] = {
            "compact": isinstance(indexer, PackedIndexer),
            "drop_fields": drop_fields,
            "transform": transform,
        }
        self._clock = clock
        self._options = options
        self._worker: Worker = (
            ThreadWorker(SharedThread(f"cache files of {name}")) if options.in_thread else InlineWorker()
        )
        self._files = MappedFiles()
        self._form: PersistentForm = (
            CompactForm(indexer, lambda: len(indexer) >= min_samples)
            if isinstance(indexer, PackedIndexer)
            else PlainForm(kind)
        )

    def persister(self, source: object, scope: str | None, name: str) -> Persister[T] | None:
        """Return what keeps the objects of a source; None if they must not be written."""
        resource = resource_names(self._kind, source)
        if is_excluded(self._kind, resource.names, self._excluded):
            return None
        identify, indexer = identity_of(source), self._indexer

        def file() -> CacheFile:
            key = cache_key(identify(), self._kind, **self._key_options)
            return CacheFile(self._folder / file_name(key), key, self._files)

        return Persister(
            file,
            self._form,
            name=name,
            stored=indexer._stored,
            contents=lambda: indexer._contents(scope),
            count=lambda: indexer._count(scope),
            worker=self._worker,
            clock=self._clock,
            options=self._options,
            scope=scope,
            server_uid=getattr(source, "_server_uid", None),
            may_write=None if self._is_certain(resource) else lambda: self._may_write(source),
        )

    def _is_certain(self, resource: ResourceNames) -> bool:
        """Return whether it is known without a request that no name of `cache_exclude` is that of this resource."""
        others = [each for each in self._excluded if isinstance(each, str) and each not in EXCLUDED]
        return resource.are_known or (bool(resource.names) and not others)

    async def _may_write(self, source: object) -> bool:
        """Find the resource of a source by discovery, and return whether its objects may be written."""
        find: Callable[[], Awaitable[object]] | None = getattr(source, "_find_resource", None)
        if find is not None:
            await find()
        return not is_excluded(self._kind, resource_names(self._kind, source).names, self._excluded)

    async def close(self) -> None:
        """End the thread."""
        await self._worker.close()

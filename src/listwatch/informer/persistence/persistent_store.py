"""Makes the files of an informer: one for each of its sources."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Generic, TypeVar

from listwatch.cache.compact.packed_indexer import PackedIndexer
from listwatch.cache.indexer import Indexer
from listwatch.clock import Clock
from listwatch.errors import UsageError
from listwatch.informer.packing.worker import InlineWorker, SharedThread, ThreadWorker, Worker
from listwatch.informer.persistence.cache_file import CacheFile
from listwatch.informer.persistence.cache_key import cache_key, file_name, identity_of, is_excluded
from listwatch.informer.persistence.mapped_files import MappedFiles
from listwatch.informer.persistence.persistent_forms import CompactForm, PlainForm
from listwatch.informer.persistence.persister import PersistentForm, Persister
from listwatch.informer.storage_options import PersistenceOptions
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
        if is_excluded(self._kind, getattr(source, "resource", None), self._excluded):
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
            server_uid=getattr(source, "_server_uid", None),
        )

    async def close(self) -> None:
        """End the thread."""
        await self._worker.close()

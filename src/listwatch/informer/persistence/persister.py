"""Writes the changes of a store to its file, in the background, and restores the store from it.

Changes are collected for a moment and written together, with the version that the store has reached: a file always
contains a state that the store had. What was not written when a process is killed is received again, because the watch
is resumed at the version of the file.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, Protocol, TypeVar

from listwatch.cache.compact.dictionaries import Dictionary
from listwatch.cache.compact.entry import Entry
from listwatch.cache.compact.packed_indexer import Stored
from listwatch.cache.persistent.file_format import Mark
from listwatch.cache.persistent.recovery import RecoveredCache, UnusableFileError
from listwatch.clock import Clock, time_limit
from listwatch.errors import ListWatchError, TransportTimeoutError
from listwatch.informer.handlers import Change, ObjectDeleted, ObjectUpdated
from listwatch.informer.packing.freed_memory import FREED
from listwatch.informer.packing.worker import Worker
from listwatch.informer.persistence.cache_file import CacheFile
from listwatch.informer.reflector.state import NO_VERSION
from listwatch.informer.storage_options import PersistenceOptions, PersistenceStatistics
from listwatch.keyed import Cached, namespace_in
from listwatch.tasks.cooperative import TimeSlice

__all__ = ["PersistentForm", "Persister", "RestoredStore"]

T = TypeVar("T", bound=Cached)

_log = logging.getLogger("listwatch.informer")

_PAUSE = 4.0
"""The time between two writes is at least so many times the duration of the last one."""
_DICTIONARY_TIMEOUT = 10.0
_IDENTITY_TIMEOUT = 5.0
"""Seconds to read the identity of the server, or the names of a resource."""


@dataclass(frozen=True, slots=True)
class RestoredStore(Generic[T]):
    """The contents of a file, in the form in which the store keeps objects."""

    objects: Mapping[str, T]
    resource_version: str
    saved_at: datetime
    """When the server was last known to have these objects."""
    server_uid: str


@dataclass(frozen=True, slots=True)
class _Batch:
    """What is written together: stored values by key, None for a removed one."""

    values: Mapping[str, Stored]
    version: str
    replaces: bool = False
    """True if these are all objects, and replace the contents of the file."""


class PersistentForm(Protocol):
    """Converts between the form in which a store keeps objects and that of a file."""

    def use(self, file: CacheFile) -> None:
        """Read blobs from this file. Called in a thread."""

    def restore(self, found: RecoveredCache) -> Mapping[str, Stored]:
        """Return the stored values; raises UnusableFileError. Called once for each file, in a thread."""

    def to_write(self, key: str, stored: Stored) -> tuple[Entry, bytes]:
        """Return the head and the blob of a stored value. Called in a thread."""

    def written(self, key: str, stored: Stored, entry: Entry, place: int) -> None:
        """Record the place of a blob in the file. Called in the event loop."""

    def release(self) -> None:
        """Release what refers to files and is not in the store any more."""

    reads_from_file: bool
    """Whether the store reads what was written from the file, and does not keep it in memory."""

    @property
    def is_ready(self) -> bool:
        """False if objects can be written in a better form soon."""

    @property
    def dictionaries(self) -> Mapping[int, Dictionary]:
        """The dictionaries of the blobs, by number."""


class Persister(Generic[T]):
    """Keeps the objects of one source in a file. A problem with the file is logged once, and ends its use."""

    def __init__(
        self,
        file: Callable[[], CacheFile],
        form: PersistentForm,
        *,
        name: str,
        stored: Callable[[str], Stored],
        contents: Callable[[], dict[str, Stored]],
        count: Callable[[], int],
        worker: Worker,
        clock: Clock,
        options: PersistenceOptions,
        scope: str | None = None,
        server_uid: Callable[[], Awaitable[str]] | None = None,
        may_write: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        """`file` makes the file, in a thread, when the informer starts.

        `stored` returns a value of the store by key, `contents` all of those of the source, `count` their number.
        `scope` is the namespace of the source, if the informer has several. A file contains only objects of it.
        `may_write`, if it is not certain, sends a request and returns whether the objects may be written.
        """
        self._make_file = file
        self._opened: CacheFile | None = None
        self._form = form
        self._name = name
        self._stored = stored
        self._contents = contents
        self._count = count
        self._worker = worker
        self._clock = clock
        self._options = options
        self._scope = scope
        self._has_foreign = False  # whether the source has sent an object of another namespace
        self._read_server_uid = server_uid
        self._may_write = may_write
        self._server_uid: str | None = None
        self._applying: dict[str, Stored] = {}  # what the current batch has changed; None for a removed object
        self._pending: dict[str, Stored] = {}
        self._snapshot: tuple[dict[str, Stored], str] | None = None  # all objects at a version: they replace the file
        self._must_replace = False  # changes of a state without a version are in the store, but not in `_pending`
        self._version = ""
        self._written_version = ""
        self._wake = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None
        self._is_loaded = self._is_used = self._has_failed = False
        self._restored = self._written = self._rewrites = 0
        self._synced_at = 0.0
        self.last_contact: Callable[[], datetime | None] = lambda: None

    def statistics(self) -> PersistenceStatistics:
        return PersistenceStatistics(
            path="" if self._opened is None else str(self._opened.path),
            is_used=self._is_used,
            restored=self._restored,
            resource_version=self._written_version,
            written=self._written,
            rewrites=self._rewrites,
        )

    # --- restoring -----------------------------------------------------------------------------------------------

    async def load(self) -> RestoredStore[T] | None:
        """Open the file and return its contents; None if there are none that can be used."""
        self._is_loaded = True
        try:
            if self._may_write is not None and not await self._is_permitted(self._may_write):
                return None
            found = await self._worker.run(self._load)
        except (OSError, ImportError, ListWatchError) as error:
            await self._give_up("cannot be used", error)
            return None
        self._is_used = True
        if isinstance(found, str):
            if found:
                _log.warning(
                    "%s: the cache file %s is discarded: %s",
                    self._name,
                    self._file.path,
                    found,
                    extra={"resource": self._name, "path": str(self._file.path), "reason": found},
                )
            return None
        recovered, objects = found
        mark = recovered.mark
        self._server_uid = None
        self._restored = len(objects)
        self._version = self._written_version = mark.resource_version
        return RestoredStore(
            objects, mark.resource_version, datetime.fromtimestamp(mark.saved_at, UTC), mark.server_uid
        )

    async def _is_permitted(self, may_write: Callable[[], Awaitable[bool]]) -> bool:
        try:
            async with time_limit(self._clock, _IDENTITY_TIMEOUT):
                return await may_write()
        except TimeoutError:
            raise TransportTimeoutError(
                f"the server did not return within {_IDENTITY_TIMEOUT:g} s whether cache_exclude names this resource"
            ) from None

    def _load(self) -> str | tuple[RecoveredCache, Mapping[str, Stored]]:
        self._opened = file = self._make_file()
        found = file.open()
        self._form.use(file)
        if isinstance(found, str):
            return found
        try:
            if self._scope is not None and not all(map(self._is_own, found.contents)):
                raise UnusableFileError("it contains objects of other namespaces")
            return found, self._form.restore(found)
        except UnusableFileError as error:
            file.discard()
            return str(error)

    @property
    def _file(self) -> CacheFile:
        assert self._opened is not None, "the file is opened by `load`"
        return self._opened

    async def is_same_server(self, restored: RestoredStore[T]) -> bool:
        """Return whether the server is that of the file, as far as its identity can be read; raises its errors."""
        uid = await self._identify()
        return not uid or uid == restored.server_uid

    async def _identify(self) -> str:
        if self._server_uid is None:
            self._server_uid = await self._read_server_uid() if self._read_server_uid is not None else ""
        return self._server_uid

    async def _try_to_identify(self) -> None:
        with suppress(ListWatchError, OSError, TimeoutError):  # it is read again before the next write
            async with asyncio.timeout(_IDENTITY_TIMEOUT):
                await self._identify()

    # --- called by the informer ----------------------------------------------------------------------------------

    def record(self, changes: Sequence[Change[T]]) -> None:
        """Record changes of the store, which belong to one batch until `batch_applied`."""
        if not self._is_used:
            return
        applying, stored = self._applying, self._stored
        for change in changes:
            key = change.object.cache_key
            if self._scope is not None and not self._is_own(key):
                self._report_foreign(key)
                continue
            if type(change) is ObjectDeleted:
                applying[key] = None
            elif type(change) is not ObjectUpdated or change.old is not change.object:
                applying[key] = stored(key)

    def batch_applied(self, version: str) -> None:
        """Record that a batch was applied to the store completely, which has reached this version."""
        if self._has_foreign:
            version = ""  # a file with this version would lack an object
        if not self._is_used or (version == self._version and not self._applying):
            return
        self._version = version
        self._pending.update(self._applying)
        self._applying.clear()
        if version in NO_VERSION:
            # No watch can be resumed there. Changes are not collected until there is a version, which may be never.
            self._snapshot, self._pending, self._must_replace = None, {}, True
            return
        if self._must_replace or (self._snapshot is None and self._is_mostly_outdated()):
            self._snapshot, self._pending, self._must_replace = (self._contents(), version), {}, False
        self._wake.set()

    def _is_own(self, key: str) -> bool:
        return namespace_in(key) == self._scope

    def _report_foreign(self, key: str) -> None:
        if not self._has_foreign:
            self._has_foreign = True
            _log.warning(
                "%s: the server has sent %s, which is not in the namespace %r; its cache file is not written any more",
                self._name,
                key,
                self._scope,
                extra={"resource": self._name, "key": key},
            )

    def _is_mostly_outdated(self) -> bool:
        records = self._file.records + len(self._pending)
        return records > 2 * self._count() + self._options.min_records

    # --- writing -------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Write changes until cancelled; `close` writes the rest."""
        pause = 0.0
        await self._try_to_identify()
        while True:
            await self._wake.wait()
            await self._clock.sleep(max(self._options.delay, pause))
            await self._wait_for_dictionary()
            self._wake.clear()
            started = self._clock.monotonic()
            await self._write()
            pause = _PAUSE * (self._clock.monotonic() - started)

    async def _wait_for_dictionary(self) -> None:
        """Wait for the first dictionary of a compact store, if there is going to be one."""
        latest = self._clock.monotonic() + _DICTIONARY_TIMEOUT
        while not self._form.is_ready and self._clock.monotonic() < latest:
            await self._clock.sleep(self._options.delay)

    async def close(self) -> None:
        """Write all changes, wait until they are on the disk, and close the file."""
        if self._writing is not None:
            with suppress(Exception):
                await asyncio.shield(self._writing)
        if self._is_used:
            await self._write(at_end=True)
        self._is_used = False
        if self._is_loaded:
            await self._worker.run(self._close_file)

    def _close_file(self) -> None:
        if self._opened is not None:
            self._opened.close()

    def forget(self) -> None:
        """Release the closed file, when the objects of the source have left the store."""
        if self._opened is not None:
            self._opened.forget()
            self._form.release()

    async def _write(self, *, at_end: bool = False) -> None:
        # In a task of its own: a cancelled informer still has to record what the thread has written.
        self._writing = asyncio.create_task(self._write_changes(at_end=at_end), name=f"cache file of {self._name}")
        await asyncio.shield(self._writing)

    async def _write_changes(self, *, at_end: bool) -> None:
        if not at_end:
            await self._try_to_identify()
        if self._version in NO_VERSION:
            return
        # Taken together: another snapshot may be made while this one is written, and later changes belong to that.
        snapshot, changes, version = self._snapshot, self._pending, self._version
        self._snapshot, self._pending = None, {}
        if snapshot is not None:
            await self._write_batch(_Batch(*snapshot, replaces=True), at_end=at_end)
        if self._is_used and (changes or at_end or version != self._written_version):
            await self._write_batch(_Batch(changes, version), at_end=at_end)
        if self._form.reads_from_file and FREED.is_much:
            del snapshot, changes  # the last references to objects that are in the file now
            await self._worker.run(FREED.give_back)

    async def _write_batch(self, batch: _Batch, *, at_end: bool) -> None:
        saved_at = (self.last_contact() or self._clock.now()).timestamp()
        mark = Mark(batch.version, saved_at, self._server_uid or "")
        must_sync = at_end or self._clock.monotonic() - self._synced_at >= self._options.sync_interval
        try:
            written = await self._worker.run(lambda: self._write_file(batch, mark, must_sync=must_sync))
        except (OSError, ListWatchError) as error:
            await self._give_up("cannot be written", error)
            return
        if must_sync:
            self._synced_at = self._clock.monotonic()
        self._written_version = mark.resource_version
        time_slice, size = TimeSlice(), 0
        for key, stored, entry, place in zip(*written, strict=True):
            self._form.written(key, stored, entry, place)
            size += entry.size
            if time_slice.now() > time_slice.end:
                await time_slice.checkpoint()
        self._written += len(batch.values)
        self._rewrites += batch.replaces
        if self._form.reads_from_file:
            FREED.add(size)

    def _write_file(
        self, batch: _Batch, mark: Mark, *, must_sync: bool
    ) -> tuple[list[str], list[Stored], list[Entry], list[int]]:
        """Return the keys and values of the written objects, their entries, and their places."""
        # Not as tuples, of which there would be very many: the garbage collector would block all threads for longer.
        file, form = self._file, self._form
        keys = [key for key, stored in batch.values.items() if stored is not None]
        values = [stored for stored in batch.values.values() if stored is not None]
        removed = [key for key, stored in batch.values.items() if stored is None]
        heads: list[Entry] = []

        def to_write() -> Iterator[tuple[Entry, bytes]]:
            for key, stored in zip(keys, values, strict=True):
                entry, blob = form.to_write(key, stored)
                heads.append(entry)
                yield entry, blob

        if batch.replaces:
            places = file.rewrite(to_write(), mark, lambda: form.dictionaries)
        else:
            places = file.append(to_write(), removed, mark, lambda: form.dictionaries)
        if must_sync:
            file.sync()
        return keys, values, heads, places

    async def _give_up(self, what: str, error: Exception) -> None:
        """Log the only line about a file that cannot be used, and work without it."""
        if self._has_failed:
            return  # two writes may fail, if the informer ends during the first one
        self._is_used, self._has_failed = False, True
        self._pending, self._applying, self._snapshot = {}, {}, None
        reason = str(error) if isinstance(error, ListWatchError) else f"{type(error).__name__}: {error}"
        _log.warning(
            "%s: the cache file%s %s, the informer works without it: %s",
            self._name,
            f" {path}" if (path := "" if self._opened is None else str(self._opened.path)) else "",
            what,
            reason,
            extra={"resource": self._name, "path": path, "reason": reason},
        )
        await self._worker.run(self._close_file)

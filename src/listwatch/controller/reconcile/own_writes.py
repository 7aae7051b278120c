"""Lets a controller read its own writes: a key is not reconciled again before the caches contain its last writes.

    with own_writes.observed(key):
        await reconcile(key)               writes through any client, in any task or thread that it starts
    await own_writes.wait(key)             before the next reconcile of this key

Only writes of watched kinds count: no other objects are in the caches.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial

from listwatch.api.http_messages import HTTPRequest, HTTPResponse
from listwatch.api.request_paths import parse_path
from listwatch.client.rest.write_observer import observing_writes, uid_of_deleted
from listwatch.clock import Clock
from listwatch.controller.watching.sources import Source
from listwatch.errors import ListWatchError
from listwatch.informer.version_waits import has_reached
from listwatch.meta import GroupKind, GroupResource, ObjectKey, compare_resource_versions
from listwatch.objects.unstructured import Unstructured

__all__ = ["OwnWrites"]

_PRUNE_SIZE = 100

OnWrite = Callable[[ObjectKey, GroupResource, str], None]
"""Receives the key whose reconcile wrote, the resource, and the version; empty if that is not known."""


@dataclass(slots=True)
class _Pending:
    """The writes of one key: the newest version per source and namespace, and the deleted objects with their uids."""

    versions: dict[tuple[Source, str], str] = field(default_factory=dict)
    deletions: dict[tuple[Source, ObjectKey], str] = field(default_factory=dict)


class OwnWrites:
    """The writes of each key's reconciles, until the caches contain them."""

    def __init__(
        self,
        sources: Callable[[str], Iterable[Source]],
        *,
        timeout: float,
        clock: Clock,
        on_stale: Callable[[ObjectKey, Exception], None],
        on_write: OnWrite | None = None,
    ) -> None:
        """`sources` returns those that cache the objects of a server, which is given by its URL."""
        self._on_write = on_write
        self._sources = sources
        # Needed because it is not always known whether a written object belongs in a cache.
        self._timeout = timeout
        self._clock = clock
        self._on_stale = on_stale
        self._pending: dict[ObjectKey, _Pending] = {}
        self._prune_at = _PRUNE_SIZE
        self._lock = threading.Lock()
        # The event loop keeps the contexts of cancelled timers, and a controller refers to its caches.
        self._weak = weakref.ref(self)

    def __len__(self) -> int:
        return len(self._pending)

    def observed(self, key: ObjectKey) -> AbstractContextManager[None]:
        """Remember the writes in this block, for that key."""
        return observing_writes(partial(_observe, self._weak, key))

    def has_pending(self, key: ObjectKey) -> bool:
        """Whether the key has writes that the caches may not contain."""
        return key in self._pending

    async def wait(self, key: ObjectKey) -> None:
        """Wait until the caches contain the writes of this key; calls `on_stale` after the timeout."""
        with self._lock:
            pending = self._pending.pop(key, None)
        if pending is None:
            return
        waits: list[Callable[[], Awaitable[None]]] = [
            *(
                partial(source.informer.wait_until, version, self._timeout, namespace=namespace)
                for (source, namespace), version in pending.versions.items()
            ),
            *(
                partial(source.wait_deleted, deleted, uid, clock=self._clock, timeout=self._timeout)
                for (source, deleted), uid in pending.deletions.items()
            ),
        ]
        for wait in waits:
            try:
                await wait()
            except TimeoutError as error:
                self._on_stale(key, error)
                return
            except ListWatchError:
                continue  # the informer has stopped, or cannot compare these versions: waiting would not help

    def forget(self, matches: Callable[[ObjectKey], bool]) -> None:
        """Drop the writes of the keys that match."""
        with self._lock:
            self._pending = {key: each for key, each in self._pending.items() if not matches(key)}

    def _observe(self, key: ObjectKey, request: HTTPRequest, response: HTTPResponse | None, server: str) -> None:
        try:
            write = None if response is None else _Write(request, response)
        except ListWatchError:
            write = None  # an unreadable response is an error for the caller of the client
        if self._on_write is not None:
            path = parse_path(request.target.partition("?")[0])
            self._on_write(key, GroupResource(path.group, path.resource), "" if write is None else write.version)
        if write is not None:
            self._remember(key, write, server)

    def _remember(self, key: ObjectKey, write: _Write, server: str) -> None:
        try:
            sources = [source for source in self._sources(server) if source.has_cached(*write.names)]
            if sources:
                # A blocking client calls this in another thread.
                with self._lock:
                    write.add_to(self._pending.setdefault(key, _Pending()), sources)
                    self._prune()
        except ListWatchError:
            return  # as above

    def _prune(self) -> None:
        """Drop keys whose writes are cached: a key may never be reconciled again."""
        if len(self._pending) < self._prune_at:
            return
        self._pending = {key: each for key, each in self._pending.items() if not _is_cached(each)}
        self._prune_at = 2 * len(self._pending) + _PRUNE_SIZE


def _observe(
    owner: weakref.ref[OwnWrites], key: ObjectKey, request: HTTPRequest, response: HTTPResponse | None, server: str
) -> None:
    if (found := owner()) is not None:
        found._observe(key, request, response, server)


class _Write:
    """One write request and its response."""

    def __init__(self, request: HTTPRequest, response: HTTPResponse) -> None:
        path = parse_path(request.target.partition("?")[0])
        self._object = Unstructured.from_wire(response.body)
        self._is_status = self._object.kind == "Status"
        self._is_deletion = request.method == "DELETE"
        self._key = ObjectKey(path.namespace, path.name)
        api_group = self._object.api_version.rpartition("/")[0]
        self.names = (GroupResource(path.group, path.resource), GroupKind(api_group, self._object.kind))

    @property
    def version(self) -> str:
        """The version of the written object; empty if it is not known, as that of a deletion."""
        return "" if self._is_status or self._is_deletion else self._object.resource_version

    def add_to(self, pending: _Pending, sources: Iterable[Source]) -> None:
        written = self._object
        is_gone = self._is_deletion and (self._is_status or written.metadata.deletion_timestamp is None)
        for source in sources:
            if is_gone:
                pending.deletions[source, self._key] = uid_of_deleted(written)
            elif written.resource_version and not self._is_status and source.covers(written):
                place, version = (source, written.namespace), written.resource_version
                if compare_resource_versions(version, pending.versions.get(place, version)) >= 0:
                    pending.versions[place] = version


def _is_cached(pending: _Pending) -> bool:
    written = ((source.informer.indexer, version) for (source, _), version in pending.versions.items())
    are_present = all(has_reached(indexer.resource_version, version) for indexer, version in written)
    return are_present and not any(key in source.informer.indexer for source, key in pending.deletions)

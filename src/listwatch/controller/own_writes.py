"""A controller reads its own writes: what a reconcile wrote is in the cache before the same key is reconciled again.

    with own_writes.observed(key):
        await reconcile(key)               whatever client it uses, in whatever task or thread it starts
    await own_writes.wait(key)             before the next time

Only what the controller watches counts: nothing else is in its caches.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import msgspec

from listwatch.api.requests import HTTPRequest
from listwatch.api.responses import HTTPResponse
from listwatch.client.rest.write_observer import observing_writes
from listwatch.clock import Clock
from listwatch.controller.sources import Source
from listwatch.errors import ListWatchError
from listwatch.meta import GroupKind, GroupResource, ObjectKey, compare_resource_versions, is_newer
from listwatch.objects.unstructured import Unstructured
from listwatch.objects.wire import UNREADABLE

__all__ = ["OwnWrites", "place_in"]

_FEW = 100


@dataclass(slots=True)
class _Pending:
    """What the last reconcile of one key wrote: the newest version in each place, and objects that are to vanish."""

    versions: dict[tuple[Source, str], str] = field(default_factory=dict)
    ends: dict[tuple[Source, ObjectKey], str] = field(default_factory=dict)


class OwnWrites:
    """What each key's reconciles wrote, until the caches have it."""

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        patience: float,
        clock: Clock,
        on_stale: Callable[[ObjectKey, Exception], None],
    ) -> None:
        self._sources = sources
        # There is an end to it because it cannot always be known whether what was written belongs in a cache.
        self._patience = patience
        self._clock = clock
        self._on_stale = on_stale
        self._pending: dict[ObjectKey, _Pending] = {}
        self._prune_at = _FEW
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._pending)

    def observed(self, key: ObjectKey) -> AbstractContextManager[None]:
        """Remember what is written in this block, for that key."""
        return observing_writes(lambda request, answer: self._saw(key, request, answer))

    async def wait(self, key: ObjectKey) -> None:
        """Wait until the caches have what was written for this key, or patience ends, which is reported."""
        with self._lock:
            pending = self._pending.pop(key, None)
        if pending is None:
            return
        try:
            for (source, namespace), version in pending.versions.items():
                await source.informer.wait_until(version, self._patience, namespace=namespace)
            for (source, gone), uid in pending.ends.items():
                await source.wait_gone(gone, uid, clock=self._clock, timeout=self._patience)
        except TimeoutError as error:
            self._on_stale(key, error)
        except ListWatchError:
            return  # an informer that has stopped, looks elsewhere, or counts otherwise, will never have it

    def _saw(self, key: ObjectKey, request: HTTPRequest, answer: HTTPResponse) -> None:
        try:
            written = _Written(request, answer)
            sources = [source for source in self._sources if source.has_cached(*written.names)]
            if sources:
                # A blocking client tells of it in another thread.
                with self._lock:
                    written.note(sources, self._pending.setdefault(key, _Pending()))
                    self._prune()
        except ListWatchError:
            return  # an answer that cannot be read is for who asked for it to complain of

    def _prune(self) -> None:
        """Let go of keys that were not reconciled again, perhaps never will be, and whose writes are long cached."""
        if len(self._pending) < self._prune_at:
            return
        self._pending = {key: each for key, each in self._pending.items() if not _is_cached(each)}
        self._prune_at = 2 * len(self._pending) + _FEW


class _Written:
    """One write: what the request and its answer say about it."""

    def __init__(self, request: HTTPRequest, answer: HTTPResponse) -> None:
        group, plural, namespace, name = place_in(request.target.partition("?")[0])
        self._object = Unstructured.from_wire(answer.body)
        self._is_status = self._object.kind == "Status"
        self._is_deletion = request.method == "DELETE"
        self._key = ObjectKey(namespace, name)
        api_group = self._object.api_version.rpartition("/")[0]
        self.names = (GroupResource(group, plural), GroupKind(api_group, self._object.kind))

    def note(self, sources: Sequence[Source], pending: _Pending) -> None:
        written = self._object
        is_gone = self._is_deletion and (self._is_status or written.metadata.deletion_timestamp is None)
        for source in sources:
            if is_gone:
                pending.ends[source, self._key] = _uid_of(written)
            elif written.resource_version and not self._is_status and source.covers(written):
                place, version = (source, written.namespace), written.resource_version
                if compare_resource_versions(version, pending.versions.get(place, version)) >= 0:
                    pending.versions[place] = version


def _is_cached(pending: _Pending) -> bool:
    are_there = all(_has_reached(source, version) for (source, _), version in pending.versions.items())
    return are_there and not any(key in source.informer.indexer for source, key in pending.ends)


def _has_reached(source: Source, version: str) -> bool:
    present = source.informer.indexer.resource_version
    return bool(present) and present != "0" and not is_newer(version, present)


class _Details(msgspec.Struct, gc=False):
    uid: str = ""


class _Status(msgspec.Struct, gc=False):
    details: _Details = msgspec.field(default_factory=_Details)


_statuses = msgspec.json.Decoder(_Status)


def _uid_of(written: Unstructured) -> str:
    if written.uid:
        return written.uid
    try:
        return _statuses.decode(written.to_json()).details.uid
    except UNREADABLE:
        return ""


def place_in(path: str) -> tuple[str, str, str, str]:
    """Group, plural, namespace and name in the path of a request; empty where it says nothing of them."""
    parts = path.strip("/").split("/")
    group, rest = (parts[1], parts[3:]) if parts[0] == "apis" and len(parts) > 2 else ("", parts[2:])
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces" and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    plural, name, *_ = [*rest, "", ""]
    return group, plural, namespace, name

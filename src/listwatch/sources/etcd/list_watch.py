"""A prefix of etcd as a source for informers: one consistent list, then every change since.

source = EtcdListWatch(client, "/services/", Service)
informer = SharedIndexInformer(source, Service)
"""

from __future__ import annotations

import asyncio
import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from typing import Any, ClassVar, Generic, TypeVar, overload

from listwatch.api.list_pages import Page
from listwatch.errors import (
    BadRequestError,
    DecodeError,
    ExpiredError,
    ListWatchError,
    ProtocolError,
    ResponseTooLargeError,
    TransportTimeoutError,
    UsageError,
)
from listwatch.json_value import JSONObject
from listwatch.keyed import Cached, Keyed
from listwatch.sources.etcd.entries import Decode, EntryMapping, KeyFunction, KeyValue
from listwatch.sources.etcd.etcd_client import EtcdClient
from listwatch.sources.etcd.messages import KeyValueMessage, ListedRange, text
from listwatch.sources.etcd.watch import PROBE_INTERVAL, EtcdWatch
from listwatch.tasks.retry_observer import notify_retry_observer

__all__ = ["EtcdListWatch"]

T = TypeVar("T", bound=Cached)
K = TypeVar("K", bound=Keyed)
V = TypeVar("V")

_FIRST_PAGE = 50
_GROWTH = 4
"""How much larger a page may be than the one before: its values may be larger."""
_REDUCTION = 16
_MAX_PAGE = 10_000
_PAGE_BYTES = 4 * 2**20
"""The intended size of the values of one page: small pages are slow, and large ones need memory at both ends."""
_SLICE = 500
"""How many values are decoded without a pause."""


class EtcdListWatch(Generic[T]):
    """The keys of one prefix, which are listed at one revision and watched from it.

    `/services/web/1` becomes the object `web/1` of the prefix `/services/`; `key`, a function, maps keys otherwise, and
    returns None for keys to skip. A value is decoded from JSON as `kind`, kept as bytes without a kind, or decoded by
    the function `decode`. Objects of a kind derived from `Keyed` are delivered themselves, any other value in a
    `KeyValue`. The version of an object is its mod revision.

    A value that cannot be decoded is reported, and its object is not in the cache. A key outside of the mapping is
    skipped; the first one is reported.
    """

    supports_streaming: ClassVar[bool] = False
    page_size: ClassVar[int] = 0  # an informer requests complete lists, which this source reads in pages

    @overload
    def __init__(
        self: EtcdListWatch[K],
        client: EtcdClient,
        prefix: str,
        kind: type[K],
        *,
        decode: Decode[K] | None = None,
        key: KeyFunction | None = None,
        probe_interval: float = PROBE_INTERVAL,
    ) -> None: ...
    @overload
    def __init__(
        self: EtcdListWatch[KeyValue[V]],
        client: EtcdClient,
        prefix: str,
        kind: type[V],
        *,
        decode: Decode[V] | None = None,
        key: KeyFunction | None = None,
        probe_interval: float = PROBE_INTERVAL,
    ) -> None: ...
    @overload
    def __init__(
        self: EtcdListWatch[KeyValue[bytes]],
        client: EtcdClient,
        prefix: str,
        *,
        key: KeyFunction | None = None,
        probe_interval: float = PROBE_INTERVAL,
    ) -> None: ...
    def __init__(
        self,
        client: EtcdClient,
        prefix: str,
        kind: type[Any] | None = None,
        *,
        decode: Decode[Any] | None = None,
        key: KeyFunction | None = None,
        probe_interval: float = PROBE_INTERVAL,
    ) -> None:
        self._mapping: EntryMapping[T] = EntryMapping(prefix, kind, decode, key)
        if not probe_interval > 0:
            raise UsageError(f"probe_interval={probe_interval!r}: expected more than 0 seconds")
        self._gateway = client._gateway
        self._probe_interval = probe_interval
        self._cluster_id = ""

    def __repr__(self) -> str:
        return f"<EtcdListWatch of {self.prefix}>"

    @property
    def prefix(self) -> str:
        """The prefix of all keys."""
        return self._mapping.prefix.decode()

    @property
    def kind(self) -> type[T]:
        """The class of the objects."""
        return self._mapping.kind

    # --- reading pages -----------------------------------------------------------------------------------------------

    async def _list_all(self) -> Page[T]:
        items, broken = await self._objects([])
        listed = await self._range(self._mapping.prefix, "", _FIRST_PAGE)
        revision, expected, received = listed.header.revision, int(listed.count), len(listed.kvs)
        while listed.more:
            if received > expected:
                raise ProtocolError(f"the list of {expected} keys continues after {received}")
            following = asyncio.create_task(self._following(listed, revision), name="next page")
            try:
                await asyncio.sleep(0)  # lets etcd prepare the next page while this one is decoded
                await self._add(listed.kvs, items, broken)
                listed = await following
                received += len(listed.kvs)
            finally:
                following.cancel()
        await self._add(listed.kvs, items, broken)
        return Page(items, revision, "", broken)

    async def _following(self, listed: ListedRange, revision: str) -> ListedRange:
        """Read the page after this one. Its values may be so much larger that only a part of it can be read."""
        start, limit = listed.kvs[-1].key + b"\0", _next_limit(listed.kvs)
        while True:
            try:
                return await self._range(start, revision, limit)
            except (ResponseTooLargeError, TransportTimeoutError) as error:
                if limit == 1:
                    raise
                limit = max(1, limit // _REDUCTION)
                notify_retry_observer(error, 0.0)

    async def _range(self, start: bytes, revision: str, limit: int) -> ListedRange:
        # Always linearizable: a serializable read may be older than what was read before.
        request: JSONObject = {"key": text(start), "range_end": text(self._mapping.end), "limit": str(limit)}
        if revision:
            request["revision"] = revision
        listed = await self._gateway.read("/v3/kv/range", request, ListedRange)
        if listed.more and (not listed.kvs or listed.kvs[-1].key < start):
            raise ProtocolError("a page of the list does not advance, so the list has no end")
        if not revision:
            self._cluster_id = listed.header.cluster_id
        elif self._cluster_id and listed.header.cluster_id != self._cluster_id:
            raise ExpiredError("this page is of another cluster than the first one", doing="list")
        return listed

    async def _objects(self, entries: list[KeyValueMessage]) -> tuple[list[T], list[ListWatchError]]:
        items: list[T] = []
        broken: list[ListWatchError] = []
        await self._add(entries, items, broken)
        return items, broken

    async def _add(self, entries: list[KeyValueMessage], items: list[T], broken: list[ListWatchError]) -> None:
        for start in range(0, len(entries), _SLICE):
            if start:
                await asyncio.sleep(0)
            self._add_slice(entries[start : start + _SLICE], items, broken)

    def _add_slice(self, entries: Iterable[KeyValueMessage], items: list[T], broken: list[ListWatchError]) -> None:
        mapping = self._mapping
        for entry in entries:
            cache_key = mapping.cache_key(entry.key)
            if cache_key is None:
                if error := mapping.outside(entry.key):
                    broken.append(error)
                continue
            try:
                items.append(mapping.object_of(cache_key, entry, entry.mod_revision))
            except DecodeError as error:
                broken.append(error)

    # --- watch -------------------------------------------------------------------------------------------------------

    def watch(
        self,
        *,
        resource_version: str = "",
        resource_version_match: str = "",
        send_initial_events: bool | None = None,
        allow_watch_bookmarks: bool = True,
        timeout_seconds: int | None = None,
    ) -> EtcdWatch[T]:
        """Watch the changes after a version; without one, or with 0, from now on."""
        _reject_initial_events(requested=send_initial_events)
        return self._watch(resource_version, timeout_seconds, previous_values=True)

    def watch_for_cache(
        self,
        *,
        resource_version: str = "",
        resource_version_match: str = "",
        send_initial_events: bool | None = None,
        allow_watch_bookmarks: bool = True,
        timeout_seconds: int | None = None,
    ) -> EtcdWatch[T]:
        """Like `watch`, for a reader that has the state of every object, such as an informer.

        A deletion is a Tombstone, without the last state. etcd then sends no previous values, which it would also send
        with every change: that takes about half of its time, and half of the bytes.
        """
        _reject_initial_events(requested=send_initial_events)
        return self._watch(resource_version, timeout_seconds, previous_values=False)

    def _watch(self, resource_version: str, timeout: int | None, *, previous_values: bool) -> EtcdWatch[T]:
        if resource_version and not resource_version.isdecimal():
            raise BadRequestError(f"resource_version={resource_version!r} is not a revision of etcd")
        return EtcdWatch(
            self._gateway,
            self._mapping,
            revision=int(resource_version) if resource_version not in ("", "0") else None,
            cluster_id=self._cluster_id,
            timeout=timeout,
            probe_interval=self._probe_interval,
            previous_values=previous_values,
        )

    # Last in the class: below this line, type checkers resolve `list` to this method.
    async def list(
        self,
        *,
        resource_version: str = "",
        resource_version_match: str = "",
        limit: int | None = None,
        continue_token: str = "",
    ) -> Page[T]:
        """Return the objects at one revision: with a limit, a page; otherwise all of them.

        The list is always current, whichever version is requested.
        """
        if not limit and not continue_token:
            return await self._list_all()
        revision, start = _read_token(continue_token, self._mapping.prefix)
        listed = await self._range(start, revision, limit or _FIRST_PAGE)
        items, broken = await self._objects(listed.kvs)
        revision = revision or listed.header.revision
        token = _make_token(revision, listed.kvs[-1].key) if listed.more else ""
        return Page(items, revision, token, broken)


def _reject_initial_events(*, requested: bool | None) -> None:
    if requested:
        raise BadRequestError("etcd does not send initial events: list first, and watch from its version")


def _next_limit(entries: list[KeyValueMessage]) -> int:
    size = sum(len(entry.key) + len(entry.value) for entry in entries) // len(entries) + 1
    return max(1, min(_MAX_PAGE, _GROWTH * len(entries), _PAGE_BYTES // size))


def _make_token(revision: str, last_key: bytes) -> str:
    return f"{revision}.{urlsafe_b64encode(last_key).decode('ascii')}"


def _read_token(token: str, prefix: bytes) -> tuple[str, bytes]:
    """The revision of the list, and the key at which the page starts."""
    if not token:
        return "", prefix
    revision, _, key = token.partition(".")
    try:
        last_key = urlsafe_b64decode(key)
    except binascii.Error:
        last_key = b""
    if not revision.isdecimal() or not last_key.startswith(prefix):
        raise BadRequestError(f"continue_token={token!r} is not a token of this source")
    return revision, last_key + b"\0"

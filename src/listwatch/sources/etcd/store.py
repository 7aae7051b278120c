"""Reads and writes the objects of a prefix. Writes are compared with the version that was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar, cast, overload

from listwatch.api.list_pages import Page
from listwatch.errors import AlreadyExistsError, ConflictError, NotFoundError
from listwatch.json_value import JSONObject
from listwatch.keyed import Cached, Keyed
from listwatch.sources.etcd.entries import Decode, Encode, EntryMapping, KeyFunction, KeyValue, NameFunction
from listwatch.sources.etcd.etcd_client import EtcdClient
from listwatch.sources.etcd.lease import EtcdLease
from listwatch.sources.etcd.list_watch import EtcdListWatch
from listwatch.sources.etcd.messages import (
    KeyValueMessage,
    ListedRange,
    TransactionResult,
    Written,
    compare,
    text,
)

__all__ = ["EtcdStore"]

T = TypeVar("T", bound=Cached)
K = TypeVar("K", bound=Keyed)
V = TypeVar("V")


class EtcdStore(Generic[T]):
    """The objects of one prefix by their keys, `name` or `namespace/name`.

    For `kind`, `decode` and `key` see EtcdListWatch; `encode` and `name` are the inverse functions of the last two.
    Without `encode`, values are encoded as JSON, and bytes are written as they are. A key that is written with a lease
    is deleted when the lease expires.
    """

    @overload
    def __init__(
        self: EtcdStore[K],
        client: EtcdClient,
        prefix: str,
        kind: type[K],
        *,
        decode: Decode[K] | None = None,
        encode: Encode[K] | None = None,
        key: KeyFunction | None = None,
        name: NameFunction | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: EtcdStore[KeyValue[V]],
        client: EtcdClient,
        prefix: str,
        kind: type[V],
        *,
        decode: Decode[V] | None = None,
        encode: Encode[V] | None = None,
        key: KeyFunction | None = None,
        name: NameFunction | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: EtcdStore[KeyValue[bytes]],
        client: EtcdClient,
        prefix: str,
        *,
        key: KeyFunction | None = None,
        name: NameFunction | None = None,
    ) -> None: ...
    def __init__(
        self,
        client: EtcdClient,
        prefix: str,
        kind: type[Any] | None = None,
        *,
        decode: Decode[Any] | None = None,
        encode: Encode[Any] | None = None,
        key: KeyFunction | None = None,
        name: NameFunction | None = None,
    ) -> None:
        self._mapping: EntryMapping[T] = EntryMapping(prefix, kind, decode, key, encode=encode, name=name)
        self._gateway = client._gateway
        self._source: EtcdListWatch[Any] = EtcdListWatch(
            client, prefix, cast("type[Any]", kind or bytes), decode=decode, key=key
        )

    def __repr__(self) -> str:
        return f"<EtcdStore of {self._mapping.prefix.decode()}>"

    # --- reading -----------------------------------------------------------------------------------------------------

    async def get(self, key: str) -> T:
        """Return an object; raises NotFoundError."""
        etcd_key = self._mapping.etcd_key(key)
        listed = await self._gateway.read("/v3/kv/range", {"key": text(etcd_key)}, ListedRange)
        if not listed.kvs:
            raise self._not_found(key)
        return self._object(key, listed.kvs[0])

    # --- writing -----------------------------------------------------------------------------------------------------

    async def create(self, key: str, value: object, *, lease: EtcdLease | None = None) -> T:
        """Write a new object; raises AlreadyExistsError."""
        etcd_key = self._mapping.etcd_key(key)
        result = await self._transaction(
            [compare(etcd_key, "CREATE", 0)], [self._put(etcd_key, value, lease)], {"request_range": _key(etcd_key)}
        )
        if not result.succeeded:
            raise AlreadyExistsError.of(*self._names(key))
        return self._written(key, value, result.header.revision, result.header.revision, lease)

    async def update(self, key: str, value: object, *, resource_version: str = "", lease: EtcdLease | None = None) -> T:
        """Replace an object; raises NotFoundError, or ConflictError if it is not at this version any more.

        Without `resource_version`, that of the value is used if it has one, else the object is replaced whatever it is.
        Without a lease, it keeps the one that it has.
        """
        etcd_key = self._mapping.etcd_key(key)
        version = resource_version or getattr(value, "resource_version", "")
        result = await self._transaction(
            [_is_at(etcd_key, version)],
            # Read after the write, for the lease and the revision of the creation.
            [self._put(etcd_key, value, lease, keep_lease=lease is None), {"request_range": _key(etcd_key)}],
            {"request_range": _key(etcd_key)},
        )
        found = _found(result)
        if not result.succeeded or found is None:
            raise self._not_found(key) if found is None else self._conflict(key, found, version)
        return self._object(key, found)

    async def put(self, key: str, value: object, *, lease: EtcdLease | None = None) -> T:
        """Write an object, whether or not it exists. Without a lease, it has none afterwards."""
        request = self._put(self._mapping.etcd_key(key), value, lease)["request_put"]
        written = await self._gateway.write("/v3/kv/put", cast("JSONObject", request), Written)
        return self._written(key, value, written.header.revision, "", lease)

    async def delete(self, key: str, *, resource_version: str = "") -> T:
        """Delete an object, and return its last state with the version of the deletion.

        Raises NotFoundError, and with a version also ConflictError.
        """
        etcd_key = self._mapping.etcd_key(key)
        result = await self._transaction(
            [_is_at(etcd_key, resource_version)],
            [{"request_delete_range": {**_key(etcd_key), "prev_kv": True}}],
            {"request_range": _key(etcd_key)},
        )
        found = _found(result)
        if not result.succeeded or found is None:
            raise self._not_found(key) if found is None else self._conflict(key, found, resource_version)
        return self._mapping.deleted(key, result.header.revision, found)

    # --- internal ----------------------------------------------------------------------------------------------------

    def _put(self, etcd_key: bytes, value: object, lease: EtcdLease | None, *, keep_lease: bool = False) -> JSONObject:
        put: JSONObject = {**_key(etcd_key), "value": text(self._mapping.encoded(value))}  # raises before the request
        if lease is not None:
            put["lease"] = lease.id
        if keep_lease:
            put["ignore_lease"] = True  # a put without it would detach the key from its lease
        return {"request_put": put}

    async def _transaction(
        self, comparisons: Sequence[JSONObject], then: Sequence[JSONObject], otherwise: JSONObject
    ) -> TransactionResult:
        request: JSONObject = {"compare": [*comparisons], "success": [*then], "failure": [otherwise]}
        return await self._gateway.write("/v3/kv/txn", request, TransactionResult)

    def _written(self, key: str, value: object, version: str, created: str, lease: EtcdLease | None) -> T:
        entry = KeyValueMessage(
            key=self._mapping.etcd_key(key),
            value=self._mapping.encoded(value),
            mod_revision=version,
            create_revision=created or "0",
            lease=lease.id if lease is not None else "0",
        )
        return self._object(key, entry)

    def _object(self, key: str, entry: KeyValueMessage) -> T:
        return self._mapping.object_of(key, entry, entry.mod_revision)

    def _names(self, key: str) -> tuple[str, str]:
        return self._mapping.prefix.decode(), key

    def _not_found(self, key: str) -> NotFoundError:
        return NotFoundError.of(*self._names(key))

    def _conflict(self, key: str, found: KeyValueMessage, version: str) -> ConflictError:
        why = f"its version is {found.mod_revision}, not {version}; read it again and repeat the change"
        return ConflictError.of(*self._names(key), why)

    # Last in the class: below this line, type checkers resolve `list` to this method.
    async def list(self) -> Page[T]:
        """Return all objects at one revision."""
        return cast("Page[T]", await self._source.list())


def _key(etcd_key: bytes) -> JSONObject:
    return {"key": text(etcd_key)}


def _is_at(etcd_key: bytes, version: str) -> JSONObject:
    """The comparison with a version; without one, that the key exists."""
    return compare(etcd_key, "MOD", version) if version else compare(etcd_key, "VERSION", 0, "GREATER")


def _found(result: TransactionResult) -> KeyValueMessage | None:
    """The object that a transaction has read or deleted."""
    for each in result.responses:
        if each.response_range is not None and each.response_range.kvs:
            return each.response_range.kvs[0]
        if each.response_delete_range is not None and each.response_delete_range.prev_kvs:
            return each.response_delete_range.prev_kvs[0]
    return None

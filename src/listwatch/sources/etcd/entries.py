"""Maps keys and values of etcd to objects with a cache key and a version, and back.

/services/web/1 = {"address": …}    with the prefix /services/    ─▶    Service, cache key web/1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

import msgspec
import msgspec.inspect

from listwatch.errors import BadKeyError, DecodeError, EncodeError, ListWatchError, UsageError
from listwatch.keyed import Cached, Keyed, Tombstone, set_key
from listwatch.sources.etcd.messages import KeyValueMessage, prefix_end

__all__ = ["Decode", "Encode", "EntryMapping", "KeyFunction", "KeyValue", "NameFunction"]

T = TypeVar("T", bound=Cached)
V = TypeVar("V")

Decode = Callable[[bytes], V]
"""Returns the value of its bytes; may raise any exception, which is reported."""

Encode = Callable[[V], bytes]
"""Returns the bytes of a value; the inverse of `Decode`."""

KeyFunction = Callable[[str], str | None]
"""Maps a key, without the prefix, to a cache key such as `namespace/name`; None skips the key."""

NameFunction = Callable[[str], str]
"""Maps a cache key to a key without the prefix; the inverse of `KeyFunction`."""


class KeyValue(msgspec.Struct, Generic[V], frozen=True, gc=False):
    """One key of etcd and its decoded value, for values that have no place for a key and a version themselves."""

    cache_key: str
    value: V
    resource_version: str
    """The revision at which it was written last."""
    create_revision: str
    """The revision at which it was created; "0" in the result of `EtcdStore.put`, which does not read it."""
    lease: str = ""
    """The lease that it is attached to, if any."""


def default_key(name: str) -> str | None:
    """The cache key of `name` or `namespace/name`; None for other depths."""
    namespace, slash, last = name.partition("/")
    if not slash:
        return name or None
    return name if namespace and last and "/" not in last else None


class EntryMapping(Generic[T]):
    """The keys below one prefix, and their values as objects of one class.

    Objects of a class derived from `Keyed` get their key and version; all other values are wrapped in a `KeyValue`.
    """

    def __init__(
        self,
        prefix: str,
        kind: type | None,
        decode: Decode[Any] | None,
        key: KeyFunction | None,
        *,
        encode: Encode[Any] | None = None,
        name: NameFunction | None = None,
    ) -> None:
        if not prefix:
            raise UsageError(f"prefix={prefix!r}: expected a prefix of keys, such as '/services/'")
        if not prefix.endswith("/"):
            raise UsageError(f"prefix={prefix!r} would also select other keys; end it with a slash: {prefix + '/'!r}")
        self.prefix = prefix.encode()
        self.end = prefix_end(self.prefix)
        self._prefix_size = len(self.prefix)
        self.value_kind: type = kind or bytes
        self.is_keyed = issubclass(self.value_kind, Keyed)
        self.kind = cast("type[T]", self.value_kind if self.is_keyed else KeyValue)
        self._decode = decode or _decoder_of(self.value_kind)
        self._key_of = key or default_key
        self._has_own_keys = key is not None
        self._encode = encode
        self._name_of = name or str
        self._reports_outside = True
        self._key_failure: Exception | None = None

    # --- from etcd ---------------------------------------------------------------------------------------------------

    def cache_key(self, key: bytes) -> str | None:
        """The cache key of a key of etcd; None if it is outside of the mapping."""
        try:
            found = self._key_of(key[self._prefix_size :].decode())
            if self._has_own_keys and not isinstance(found, str | None):
                raise TypeError(f"it returned {found!r}, expected a str or None")
            return found or None
        except UnicodeDecodeError:
            return None
        except Exception as error:  # noqa: BLE001  # a function of the user may raise anything; one key is skipped
            self._key_failure = error
            return None

    def object_of(self, cache_key: str, entry: KeyValueMessage, version: str) -> T:
        """Decode a value; raises DecodeError."""
        value: Any
        try:
            value = self._decode(entry.value)
            if self.is_keyed:
                set_key(value, cache_key, version)
                return value  # type: ignore[no-any-return]  # an object of the kind; `cast` would be a call per object
        except Exception as error:
            name = f"etcd key {entry.key.decode(errors='backslashreplace')}"
            raise DecodeError(f"{self._reason(error)} (revision {entry.mod_revision})", object_name=name) from error
        lease = "" if entry.lease == "0" else entry.lease
        return cast("T", KeyValue(cache_key, value, version, entry.create_revision, lease))

    def _reason(self, error: Exception) -> str:
        return f"the value is not a {self.value_kind.__name__}: {error}"

    def deleted(self, cache_key: str, version: str, previous: KeyValueMessage | None) -> T:
        """The last state of a deleted key with the version of its deletion; a Tombstone if it is not known."""
        if previous is not None:
            try:
                return self.object_of(cache_key, previous, version)
            except DecodeError:
                pass  # it was reported when it was written
        return cast("T", Tombstone(cache_key, version))

    def undecodable(self, cache_key: str, version: str, error: DecodeError) -> T:
        """What replaces a value that cannot be decoded: the object leaves the cache, and the error is reported."""
        return cast("T", Tombstone(cache_key, version, error))

    def outside(self, key: bytes) -> ListWatchError | None:
        """The error to report for a key outside of the mapping: for the first one, and where `key` has failed."""
        failure, self._key_failure = self._key_failure, None
        shown = key.decode(errors="backslashreplace")
        if failure is not None:
            return BadKeyError(f"the key {shown} is skipped, because key= failed: {failure!r}")
        if self._has_own_keys or not self._reports_outside:
            return None
        self._reports_outside = False
        return BadKeyError(
            f"the key {shown} is not {self.prefix.decode()}NAME or "
            f"{self.prefix.decode()}NAMESPACE/NAME; it and others like it are skipped. Pass key=, a function"
        )

    # --- to etcd -----------------------------------------------------------------------------------------------------

    def etcd_key(self, cache_key: str) -> bytes:
        key = self.prefix + self._name_of(cache_key).encode(errors="surrogatepass")  # which is not decoded below
        if not cache_key or (found := self.cache_key(key)) != cache_key:
            expected = "expected 'name' or 'namespace/name'"
            if cache_key and self._has_own_keys:
                written = key.decode(errors="backslashreplace")
                expected = f"it is written as {written}, which key= maps to {found!r}; pass name=, the inverse of it"
            raise BadKeyError(f"{cache_key!r} is not a valid key: {expected}", text=cache_key)
        return key

    def encoded(self, value: object) -> bytes:
        """Encode a value, without a function of the user as the inverse of the default decoders."""
        if isinstance(value, KeyValue):
            value = value.value
        if self._encode is None and isinstance(value, bytes):
            content = value
        else:
            try:
                content = bytes(memoryview((self._encode or msgspec.json.encode)(value)))
            except Exception as error:
                raise EncodeError(f"cannot be encoded: {error}", object_name=type(value).__name__) from error
        # What could not be read is not to be written.
        try:
            decoded = self._decode(content)
            if self.is_keyed and not isinstance(decoded, self.value_kind):
                raise TypeError(f"decode= returned a {type(decoded).__name__}")
        except Exception as error:
            reason = f"cannot be written, because readers could not decode it: {self._reason(error)}"
            raise EncodeError(reason, object_name=type(value).__name__) from error
        return content


def _decoder_of(kind: type) -> Callable[[bytes], Any]:
    if kind is bytes:
        return bytes
    try:
        is_known = not isinstance(msgspec.inspect.type_info(kind), msgspec.inspect.CustomType)
    except TypeError:
        is_known = False
    if not is_known:
        raise UsageError(f"JSON cannot be decoded as {kind.__name__}; pass decode=, a function of the bytes of a value")
    return msgspec.json.Decoder(kind).decode

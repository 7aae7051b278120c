"""What is written of the objects of a store, and how they are restored: one form for plain and one for compact stores.

A restored object has its head; its bytes stay in the file until a part of it is accessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from listwatch.cache.compact.codec import Codec, number_of, plain_blob
from listwatch.cache.compact.dictionaries import Dictionary
from listwatch.cache.compact.entry import Entry, Instances, SealedBlob
from listwatch.cache.compact.packed_indexer import PackedIndexer, Stored
from listwatch.cache.persistent.recovery import RecoveredCache, UnusableFileError
from listwatch.cache.replacement import sliced
from listwatch.errors import DecodeError
from listwatch.informer.persistence.cache_file import CacheFile
from listwatch.objects.fields import NEW
from listwatch.objects.object import Object

__all__ = ["CompactForm", "PlainForm"]


class PlainForm:
    """The form of a plain store: objects, which are written as they were received."""

    reads_from_file = False

    def __init__(self, kind: type[Any]) -> None:
        self._codec = Codec(None)
        self._instances: Instances[Any] = Instances(kind, self._codec)
        self.dictionaries: Mapping[int, Dictionary] = {}
        self.is_ready = True

    def use(self, file: CacheFile) -> None:
        self._codec.files = file.files

    def restore(self, found: RecoveredCache) -> Mapping[str, Object]:
        # In place: an entry is released with its slice, not all at once, which would block all threads.
        contents: dict[str, Any] = found.contents
        for keys in sliced([*contents]):
            contents.update(zip(keys, self._instances.restored([contents[key] for key in keys]), strict=True))
        return contents

    def to_write(self, key: str, stored: Object) -> tuple[Entry, bytes]:
        blob = _sealed_blob(stored) or plain_blob(_json_of(stored))
        return self._instances.entry_of(stored, blob, shared=False), blob

    def written(self, key: str, stored: Object, entry: Entry, place: int) -> None:
        """Do nothing: the store keeps the object."""

    def release(self) -> None:
        """Do nothing: no entries are kept."""


class CompactForm:
    """The form of a compact store: what is written is compressed, and then read from the file."""

    reads_from_file = True

    def __init__(
        self,
        indexer: PackedIndexer[Any],
        will_compress: Callable[[], bool] = lambda: False,
    ) -> None:
        """`will_compress` returns whether a dictionary is going to be trained, if there is none yet."""
        self._indexer = indexer
        self._instances: Instances[Any] = indexer.instances
        self._codec = indexer.instances.codec
        self._will_compress = will_compress

    @property
    def is_ready(self) -> bool:
        return bool(self._codec.current) or not self._will_compress()

    @property
    def dictionaries(self) -> Mapping[int, Dictionary]:
        return self._codec.dictionaries

    def use(self, file: CacheFile) -> None:
        self._codec.files = file.files

    def restore(self, found: RecoveredCache) -> Mapping[str, Entry]:
        for number, dictionary in sorted(found.dictionaries.items()):
            try:
                is_restored = self._codec.restore(dictionary, number)
            except DecodeError as error:
                raise UnusableFileError(error.message) from None
            if not is_restored:
                raise UnusableFileError("it was compressed with other dictionaries than the files of other namespaces")
        return found.contents

    def to_write(self, key: str, stored: Stored) -> tuple[Entry, bytes]:
        stored = self._packed_since(key, stored) or stored
        if type(stored) is Entry:
            blob = self._codec.packed(stored.blob)
            if not number_of(blob) and self._codec.current:  # it was stored before there was a dictionary
                blob = self._codec.pack(self._codec.reopen(blob))
            return stored, blob
        blob = _sealed_blob(stored) or self._codec.pack(_json_of(stored))
        return self._instances.entry_of(stored, blob, shared=True), blob

    def written(self, key: str, stored: Stored, entry: Entry, place: int) -> None:
        self._indexer.pending.discard(key, stored)
        # An entry that has left the store is in no later file, so it keeps its bytes, or its blob in the file before.
        if self._indexer.stored(key) is entry or self._indexer.exchange(key, stored, entry):
            entry.blob = place
        elif (packed := self._packed_since(key, stored)) is not None:  # the packer was faster
            packed.blob = place

    def release(self) -> None:
        self._instances.sweep()

    def _packed_since(self, key: str, stored: Stored) -> Entry | None:
        """Return the entry that has replaced this object, not another one of the same version, in the store."""
        found = self._indexer.stored(key)
        if type(found) is not Entry or type(stored) is Entry or (reference := found.instance) is None:
            return None
        return found if reference() is stored else None


def _json_of(stored: Object) -> bytes:
    received = stored._received
    return received if type(received) is bytes and received is not NEW else stored.to_json()


def _sealed_blob(stored: Object) -> bytes | None:
    """The blob of an object that was restored or packed, and not accessed since; None for others."""
    received = stored._received
    if type(received) is not SealedBlob:
        return None
    blob = received.codec.packed(received.blob)
    if number_of(blob) and received.codec.library is None:
        raise DecodeError("a compressed object in a store without compression")
    return blob

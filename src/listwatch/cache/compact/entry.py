"""One object of a packed store at rest: what readers need without opening it, and its bytes."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from sys import getrefcount
from threading import RLock
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, TypeVar
from weakref import getweakrefcount, ref

from msgspec import Meta, Raw, Struct
from msgspec.json import encode

from listwatch.cache.compact.codec import Blob, Codec, LoadedDictionary
from listwatch.objects.caching.known_objects import size_from_metadata, sizes_from_metadata
from listwatch.objects.fields import NEW, set_head, set_raw
from listwatch.objects.head import Head, Labels
from listwatch.objects.object import Object
from listwatch.objects.untracked import untrack_at

__all__ = ["Entry", "Instances", "SealedBlob"]

T = TypeVar("T")

_new = object.__new__
_MIN_SWEEP = 1024
_SWEPT = 4
"""Entries that are swept for each one that is handed out: all at once would block for too long."""


def _references(items: Sequence[object], position: int) -> int:
    return getrefcount(items[position])


# What `_references` returns for an object to which only the list refers; a lower number is safe. Without the lock of
# the interpreter, counts are not exact, and every object counts as held.
_UNHELD = min(_references([object()], 0), 2) if getattr(sys, "_is_gil_enabled", lambda: True)() else -1


if TYPE_CHECKING:
    _Labels = Labels
    _Blob = Blob
    _Instance = ref[Any] | None
    _Dictionary = LoadedDictionary | None
    _Size = int
else:
    # msgspec decodes entries of a file, which have numbers there. It checks them; other entries are not checked.
    _Labels = _Blob = _Size = Annotated[int, Meta(ge=0, lt=2**32)]
    _Instance = _Dictionary = None


class Entry(Struct, gc=False, array_like=True):
    """The head and the blob of an object. While an instance of the object is held, all readers get that instance."""

    name: str
    namespace: str
    uid: str
    resource_version: str
    shared_labels: _Labels
    blob: _Blob
    size: _Size = 0
    """The size of the received bytes from their metadata on, by which a relist recognizes them; 0 if it is unknown."""
    instance: _Instance = None
    dictionary: _Dictionary = None
    """What opens the blob, which must not be released before it."""

    is_stored: ClassVar[bool] = True
    _received: ClassVar[None] = None  # like that of an object, whose bytes are not at hand

    @property
    def labels(self) -> Mapping[str, str]:
        return self.shared_labels.values

    @property
    def cache_key(self) -> str:
        name, namespace = self.name, self.namespace
        return f"{namespace}/{name}" if namespace else name


class SealedBlob(Struct, gc=False):
    """The bytes of an instance that was not accessed yet."""

    codec: Codec
    blob: Blob
    dictionary: LoadedDictionary | None = None

    def open(self) -> bytes:
        return self.codec.open(self.blob)


def _item_of(entry: Entry, items: Sequence[Any], entries: Sequence[Entry]) -> Any | None:
    return next((item for item, each in zip(items, entries, strict=True) if each is entry), None)


class Instances(Generic[T]):
    """Makes the instances of entries: one at a time for each entry, for readers in any thread."""

    def __init__(self, kind: type[T], codec: Codec, *, are_as_received: bool = True) -> None:
        """`are_as_received` unless stored objects have other bytes than received ones."""
        self.kind = kind
        self._are_as_received = are_as_received
        self.codec = codec
        self._changing = RLock()
        self._exchanged: tuple[Sequence[Any], Sequence[Entry]] | None = None  # objects and entries, during an exchange
        self._handed_out: deque[Entry] = deque()  # the entries with an instance, and some whose instance was released
        self._unswept = 0  # the number of entries that are left in the current sweep
        self._sweep_at = _MIN_SWEEP

    @property
    def live(self) -> int:
        """The number of instances that are held."""
        self.sweep()
        return len(self._handed_out)

    def sweep(self) -> None:
        """Release all entries whose instances were released."""
        with self._changing:
            self._unswept = len(self._handed_out)
            self._sweep(self._unswept)

    def of(self, entry: Entry) -> T:
        """Return the instance of an entry; nothing is opened."""
        reference = entry.instance
        held: T | None = None if reference is None else reference()
        return self._make(entry) if held is None else held

    def all_of(self, stored: Iterable[object]) -> list[T]:
        """Return the objects of stored values, which are entries or objects; nothing is opened."""
        found: list[T] = []
        add, new, made = found.append, self._new, list[Entry]()
        with self._changing:
            for each in stored:
                if type(each) is not Entry:
                    add(each)  # type: ignore[arg-type]  # an object
                elif (reference := each.instance) is None:
                    item = new(each)
                    untrack_at(id(item))
                    reference = ref(item)
                    untrack_at(id(reference))
                    if each.instance is not None:  # a weakref callback has read this entry meanwhile
                        add(self._make(each))
                        continue
                    each.instance = reference
                    made.append(each)
                    add(item)
                else:
                    held: T | None = reference()
                    add(self._make(each) if held is None else held)
            self._hand_out(made)
        return found

    def last_of(self, entry: Entry) -> T:
        """Return the instance of an entry that has left the store; a new one is not remembered.

        The entry itself may be part of a handler's backlog: its file stays open for it, because it gets no place in
        later files.
        """
        if type(entry.blob) is int:
            entry.blob = self.codec.located(entry.blob)
        reference = entry.instance
        held: T | None = None if reference is None else reference()
        if held is not None:
            return held
        item = self._new(entry)
        untrack_at(id(item))  # there may be as many of them as there are changes in the backlogs of handlers
        return item

    def _make(self, entry: Entry) -> T:
        with self._changing:
            item = self._new(entry)
            untrack_at(id(item))
            found: T = self._refer(entry, item)
            return found

    def _new(self, entry: Entry) -> T:
        exchanged = self._exchanged
        found: T | None = None if exchanged is None else _item_of(entry, *exchanged)
        if found is not None:
            return found
        item, blob = _new(self.kind), entry.blob
        if type(blob) is int:
            blob = self.codec.files.locate(blob)  # type: ignore[union-attr]  # an int is a place in a file
        set_raw(item, SealedBlob(self.codec, blob, entry.dictionary))
        set_head(item, Head(entry.name, entry.namespace, entry.uid, entry.resource_version, entry.shared_labels))  # type: ignore[arg-type]  # see Head.share_labels
        return item

    def restored(self, entries: Sequence[Entry]) -> list[T]:
        """Return new objects of entries that no store contains, and whose blobs are in files."""
        kind, codec, found = self.kind, self.codec, list[T]()
        assert codec.files is not None
        for entry, blob in zip(entries, codec.files.locate_all([each.blob for each in entries]), strict=True):  # type: ignore[misc]  # places
            item = _new(kind)
            set_raw(item, SealedBlob(codec, blob))
            set_head(item, Head(entry.name, entry.namespace, entry.uid, entry.resource_version, entry.shared_labels))  # type: ignore[arg-type]  # see Head.share_labels
            untrack_at(id(item))
            found.append(item)
        return found

    def can_pack(self, item: object) -> bool:
        """Return whether an object has its JSON: it was received, and is neither packed nor made by the program."""
        if type(item) is not self.kind:
            return False
        received: object = item._received  # type: ignore[attr-defined]  # stores are of objects of the API
        return type(received) is bytes and received is not NEW

    def entry_of(self, item: Object, blob: Blob, *, shared: bool = True) -> Entry:
        """Return an entry for an object, which stays its instance while it is held; if no reader has it, unshared."""
        head = item._head
        if type(head) is Head:
            labels: object = head.raw_labels
            if type(labels) is not Labels:
                labels = head.share_labels()
        else:  # all of its metadata was decoded
            labels = Head(raw_labels=Raw(encode(head.labels))).share_labels()
        raw = item._received
        size = size_from_metadata(raw) if self._are_as_received and type(raw) is bytes else 0
        entry = Entry(head.name, head.namespace, head.uid, head.resource_version, labels, blob, size)
        (entry.dictionary,) = self.codec.loaded_for([blob])
        if shared:
            with self._changing:
                self._refer(entry, item)
        return entry

    def entries_of(self, items: Sequence[Object], blobs: Sequence[Blob]) -> list[Entry]:
        """Return the entries of many objects whose bytes are available; takes half the time of single calls.

        The entries have no instances yet: a store exchanges the objects for them inside `exchanging`.
        """
        entries = []
        sizes = sizes_from_metadata(item._received for item in items) if self._are_as_received else [0] * len(items)  # type: ignore[misc]  # bytes
        for item, blob, size, loaded in zip(items, blobs, sizes, self.codec.loaded_for(blobs), strict=True):
            head = item._head
            labels: object = head.raw_labels if type(head) is Head else None
            if type(labels) is Labels:
                entries.append(
                    Entry(head.name, head.namespace, head.uid, head.resource_version, labels, blob, size, None, loaded)
                )
            else:
                entries.append(self.entry_of(item, blob, shared=False))
        return entries

    @contextmanager
    def exchanging(self, items: Sequence[Object], entries: Sequence[Entry]) -> Iterator[None]:
        """Exchange objects of a store for their entries in the block. Objects that are held become the instances.

        An object to which the caller has another reference than that in `items` counts as held.
        """
        # Another thread that reads one of these entries waits for the lock. Code that runs in this thread meanwhile,
        # such as a weakref callback, gets the object from `_exchanged`.
        with self._changing:
            self._exchanged = items, entries
            try:
                yield
            finally:
                for position in range(len(items)):
                    if _references(items, position) > _UNHELD or getweakrefcount(items[position]):
                        self._refer(entries[position], items[position])
                self._exchanged = None

    def _refer(self, entry: Entry, item: Any) -> Any:
        """Make an object the instance of an entry, unless the entry has one, and return the instance."""
        made = ref(item)
        untrack_at(id(made))  # as many as there are instances, and none is part of a cycle
        while True:
            # Another thread, or the weakref callback of an object that a call here releases, may have read this entry.
            before = entry.instance
            held = None if before is None else before()
            if held is not None:
                return held
            if entry.instance is before:
                entry.instance = made
                break
        if before is None:  # otherwise it is listed: the instance before was released
            self._handed_out.append(entry)
            self._continue_sweep(1)
        return item

    def _hand_out(self, entries: Sequence[Entry]) -> None:
        """Record entries that were given an instance, and continue the sweep."""
        self._handed_out.extend(entries)
        self._continue_sweep(len(entries))

    def _continue_sweep(self, count: int) -> None:
        if self._unswept:
            self._sweep(_SWEPT * count)
        elif len(self._handed_out) > self._sweep_at:
            self._unswept = len(self._handed_out)
            self._sweep(_SWEPT * count)

    def _sweep(self, count: int) -> None:
        """Drop the references to released instances, which take memory, in the next `count` entries."""
        handed_out = self._handed_out
        for _ in range(count):
            if not self._unswept:  # a weakref callback of an instance that is released here may have swept the rest
                break
            self._unswept -= 1
            entry = handed_out.popleft()
            reference = entry.instance
            item = None if reference is None else reference()
            if item is None and entry.instance is reference:  # otherwise such a callback has read it
                entry.instance = None
                continue
            handed_out.append(entry)
        if not self._unswept:
            self._sweep_at = max(2 * len(handed_out), _MIN_SWEEP)

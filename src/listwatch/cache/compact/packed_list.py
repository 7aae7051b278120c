"""A list that is being received for a packed store: objects are packed while others arrive."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from listwatch.cache.compact.entry import Entry
from listwatch.cache.compact.packed_indexer import Stored
from listwatch.cache.delta_fifo import ReplacementList
from listwatch.cache.keys import key_of
from listwatch.keyed import Cached

__all__ = ["PackedList"]

T = TypeVar("T", bound=Cached)


class PackedList(ReplacementList[T], Generic[T]):
    """The objects of a list. An object that is stored in the same version stays as it is stored.

    It may be put as its entry, if it was recognized as that.

    `on_full` is called when enough objects have arrived to pack them.
    """

    def __init__(
        self,
        transformed: Callable[[str, T], T] | None,
        *,
        known: Callable[[str], Stored | None],
        damaged: Container[str],
        batch: int,
        on_full: Callable[[PackedList[T]], None],
    ) -> None:
        super().__init__(transformed)
        self._known = known
        self._damaged = damaged
        self._batch = batch
        self._on_full = on_full
        self.unpacked: dict[str, T] = {}
        """The objects that were received and are not packed, in the order of their arrival."""

    def put(self, item: T) -> None:
        key = item.cache_key or key_of(item)
        known = self._known(key)
        if type(item) is Entry or (known is not None and key not in self._damaged and _is_same(known, item)):
            # An entry was stored when the list was requested. If another version is stored now, that is older or newer.
            self._objects[key] = known if known is not None and _is_same(known, item) else item
            self.unpacked.pop(key, None)
            return
        kept = item if self._transformed is None else self._transformed(key, item)
        self._objects[key] = self.unpacked[key] = kept
        if len(self.unpacked) >= self._batch:
            self._on_full(self)

    def keep(self, stored: Mapping[str, T]) -> None:
        entries = {key: each for key, each in stored.items() if type(each) is Entry}
        self._objects.update(entries)
        if len(entries) < len(stored):
            for key, item in stored.items():
                if key not in entries:
                    self.put(item)  # it may have been packed since the list was requested

    def discard(self, item: T) -> None:
        super().discard(item)
        self.unpacked.pop(key_of(item), None)

    def take_unpacked(self) -> dict[str, T]:
        """Remove and return the objects to pack."""
        taken, self.unpacked = self.unpacked, {}
        return taken

    def all_stored(self, keys: Iterable[str]) -> Iterable[Stored | None]:
        """Return the values with these keys."""
        return map(self._objects.get, keys)

    def exchange_all(self, keys: Sequence[str], values: Sequence[Stored], entries: Sequence[Entry]) -> None:
        """Replace objects by their packed forms, where the list still contains them.

        They are not the instances of their entries: readers get objects only from the store.
        """
        objects: dict[str, Stored] = self._objects
        for key, stored, entry in zip(keys, values, entries, strict=True):
            if objects.get(key) is stored:
                objects[key] = entry


def _is_same(known: Stored, item: Any) -> bool:
    version = item.resource_version
    return bool(version) and known.resource_version == version and getattr(known, "uid", "") == getattr(item, "uid", "")

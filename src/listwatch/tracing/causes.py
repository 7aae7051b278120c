"""The causes of work: the spans of writes, by the version of the written object.

write ──▶ WriteSpans ◀── change of that version ──▶ queue.add ──▶ ItemCauses ──▶ links of the reconcile
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from typing import Generic, NamedTuple, TypeVar

__all__ = ["ItemCauses", "ReceivedChange", "WriteSpans"]

ItemT = TypeVar("ItemT", bound=Hashable)
CauseT = TypeVar("CauseT")

_MAX_WRITES = 10_000
"""The number of stored writes. A write whose event arrives after this many other writes is not linked."""

_MAX_CAUSES = 32
"""How many causes of an item are kept: the latest ones."""


class ReceivedChange(NamedTuple):
    """A state of an object that was received from the server."""

    uid: str
    resource_version: str
    is_deletion: bool


class WriteSpans(Generic[CauseT]):
    """The spans of the last writes. It may be used in any thread."""

    def __init__(self, limit: int = _MAX_WRITES) -> None:
        self._limit = limit
        self._spans: OrderedDict[tuple[str, str], CauseT] = OrderedDict()
        self._lock = threading.Lock()

    def remember(self, uid: str, resource_version: str, span: CauseT, *, deletes: bool) -> None:
        """Store the span of a write with this result; `deletes` if the object is being deleted."""
        # The version of a deletion is not in the response: an object is deleted once.
        with self._lock:
            for key in ((uid, resource_version), (uid, ""))[: 2 if deletes else 1]:
                self._spans[key] = span
                self._spans.move_to_end(key)
            while len(self._spans) > self._limit:
                self._spans.popitem(last=False)

    def find(self, change: ReceivedChange) -> CauseT | None:
        """Return the span of the write that led to a change; None if it is not known, or not known yet."""
        found = self._spans.get((change.uid, change.resource_version))
        return self._spans.get((change.uid, "")) if found is None and change.is_deletion else found

    def __len__(self) -> int:
        return len(self._spans)


class ItemCauses(Generic[ItemT, CauseT]):
    """The causes of the items of a queue: of those that wait, and of those in process."""

    def __init__(self) -> None:
        self._waiting: dict[ItemT, list[CauseT]] = {}
        self._processing: dict[ItemT, list[CauseT]] = {}

    def add(self, item: ItemT, causes: Iterable[CauseT]) -> None:
        """Add the causes of an item that is added; those of an item that waits already are kept."""
        present = self._waiting.setdefault(item, [])
        present += [cause for cause in causes if cause not in present]
        del present[:-_MAX_CAUSES]

    def take(self, item: ItemT) -> None:
        """Keep the causes so far until the item is done; later ones belong to its next processing."""
        causes = self._waiting.pop(item, None)
        if causes:
            self._processing[item] = causes

    def of(self, item: ItemT) -> list[CauseT]:
        """Return the causes of an item in process."""
        return self._processing.get(item, [])

    def discard(self, item: ItemT) -> None:
        """Drop the causes of an item that was removed; those of its current processing stay."""
        self._waiting.pop(item, None)

    def done(self, item: ItemT) -> None:
        self._processing.pop(item, None)

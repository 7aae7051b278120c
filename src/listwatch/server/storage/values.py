"""The values of a storage: states of objects, events, pages, errors, and the protocol of its journal.

The errors are independent of HTTP; the pipeline and the watches translate them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from listwatch.errors import ListWatchError
from listwatch.meta import ObjectKey

T = TypeVar("T")
EventType = Literal["ADDED", "MODIFIED", "DELETED"]

# States and events are structs because they are created ten times as fast as dataclasses, which halves the time of a
# write, and because Python's garbage collector does not traverse them.


class Stored(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One state of one object: its bytes, and the revision at which they were written. Compared by identity."""

    key: ObjectKey
    value: bytes
    revision: int
    _view: Any = None
    _encoded: bytes | None = None

    def view(self, make: Callable[[bytes], T]) -> T:
        """Return `make(value)`, which is cached.

        All callers have to pass the same `make`. Its result must not refer to this state, which is not traversed by
        Python's garbage collector.
        """
        if self._view is None:
            msgspec.structs.force_setattr(self, "_view", make(self.value))
        seen: T = self._view
        return seen

    def encoded(self, encode: Callable[[bytes], bytes]) -> bytes:
        """Return `encode(value)`, the object in another encoding, which is kept as long as this state.

        All callers have to pass the same `encode`.
        """
        encoded = self._encoded
        if encoded is None:
            encoded = encode(self.value)
            msgspec.structs.force_setattr(self, "_encoded", encoded)
        return encoded

    def __repr__(self) -> str:
        # Without the bytes, which may be those of a Secret.
        return f"<Stored {self.key} at {self.revision}: {len(self.value)} bytes>"


class Event(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One write: the new state, which for a deletion is the last one, and the state before it."""

    type: EventType
    resource: str
    stored: Stored
    previous: Stored | None
    time: float

    @property
    def revision(self) -> int:
        return self.stored.revision

    @property
    def key(self) -> ObjectKey:
        return self.stored.key

    @property
    def value(self) -> bytes:
        return self.stored.value


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list at one revision; `next` is the key to continue after, None on the last page."""

    items: tuple[Stored, ...]
    revision: int
    remaining: int
    next: ObjectKey | None


class Journal(Protocol):
    """Persists events; an event is durable once `sync` has returned.

    A method that raises JournalError has lost all events that were not synced; the error has them.
    """

    def append(self, event: Event) -> None: ...

    def forget(self, events: Sequence[Event], *, compacted: int) -> None:
        """Delete the oldest events, which the storage has dropped; `compacted` is the new oldest readable revision."""

    def sync(self) -> None: ...

    def is_writable(self) -> bool:
        """Whether events can be persisted now."""

    def close(self) -> None: ...


# --- Errors -----------------------------------------------------------------------------------------------------------


class StorageError(ListWatchError):
    """An operation of the storage failed."""


class KeyExistsError(StorageError):
    """An object with that key exists."""


class KeyMissingError(StorageError):
    """No object has that key."""


class RevisionConflictError(StorageError):
    """The object is not at the revision that the writer expected."""


class RevisionCompactedError(StorageError):
    """The revision is too old: some events after it have been dropped."""

    def __init__(self, message: str = "", *, requested: int = 0, oldest: int = 0) -> None:
        super().__init__(message)
        self.requested = requested
        self.oldest = oldest


class RevisionTooLargeError(StorageError):
    """The revision is greater than the current one."""

    def __init__(self, message: str = "", *, requested: int = 0, current: int = 0) -> None:
        super().__init__(message)
        self.requested = requested
        self.current = current


class JournalError(StorageError):
    """The journal cannot be written; `lost` are the events that were appended since the last sync.

    `reason` is what clients may know: the cause and the remedy, without the path of the file.
    """

    def __init__(self, message: str = "", *, lost: Sequence[Event] = (), reason: str = "") -> None:
        super().__init__(message)
        self.lost = lost
        self.reason = reason

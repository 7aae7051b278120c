"""What a storage takes, gives and refuses: states, events, pages and errors. `storage` works with them.

The errors know nothing of HTTP; the server translates them at one place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import msgspec

from listwatch.errors import ListWatchError
from listwatch.meta import ObjectKey

T = TypeVar("T")
EventType = Literal["ADDED", "MODIFIED", "DELETED"]

# States and events are structs, not dataclasses: they are made in a tenth of the time, which halves that of a write,
# and the garbage collector does not walk through all of them again and again.


class Stored(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One state of one object: the bytes, and the revision they were written at. Two are equal if they are one."""

    key: ObjectKey
    value: bytes
    revision: int
    _view: Any = None

    def view(self, make: Callable[[bytes], T]) -> T:
        """What `make` sees in the bytes, made once and kept.

        Everybody has to ask with the same `make`, and what it returns must not lead back here.
        """
        if self._view is None:
            # Not a change: the view follows from the bytes.
            msgspec.structs.force_setattr(self, "_view", make(self.value))
        seen: T = self._view
        return seen

    def __repr__(self) -> str:
        # Without the bytes: they may be a Secret's.
        return f"<Stored {self.key} at {self.revision}: {len(self.value)} bytes>"


class Event(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One committed write: the state it led to, which for a delete is the last one, and the state before it."""

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
    """A part of a list at one revision; `next` is what the following page starts after, None on the last one."""

    items: tuple[Stored, ...]
    revision: int
    remaining: int
    next: ObjectKey | None


# --- Errors -----------------------------------------------------------------------------------------------------------


class StorageError(ListWatchError):
    """The storage did not do what it was asked to."""


class KeyExistsError(StorageError):
    """There is an object under that key already."""


class KeyMissingError(StorageError):
    """There is no object under that key."""


class RevisionConflictError(StorageError):
    """The object has another revision than the writer expected."""


class RevisionCompactedError(StorageError):
    """That revision is too old: what happened after it is no longer remembered in full."""

    def __init__(self, message: str = "", *, asked: int = 0, oldest: int = 0) -> None:
        super().__init__(message)
        self.asked = asked
        self.oldest = oldest


class RevisionTooLargeError(StorageError):
    """That revision is still to come."""

    def __init__(self, message: str = "", *, asked: int = 0, current: int = 0) -> None:
        super().__init__(message)
        self.asked = asked
        self.current = current


class JournalError(StorageError):
    """The journal has failed for good: no write is taken any more, and what was not synced may be lost."""

"""What a reflector does and has reached, as values: its requests, its states, and the store that it writes to.

`machine.py` decides which state follows; `reflector.py` sends the requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

from listwatch.keyed import Cached

__all__ = [
    "NO_VERSION",
    "PAGE_SIZE",
    "BackingOff",
    "Delay",
    "ListRequest",
    "Listing",
    "ReceivedList",
    "ReflectorState",
    "ReflectorStore",
    "Request",
    "StreamRequest",
    "Streaming",
    "WatchRequest",
    "Watching",
]

T = TypeVar("T", bound=Cached)
T_contra = TypeVar("T_contra", bound=Cached, contravariant=True)

PAGE_SIZE = 500
NO_VERSION = ("", "0")
"""Versions that do not name a state: a watch from them does not continue where another one ended."""


# --- What the machine writes to ---------------------------------------------------------------------------------------


class ReceivedList(Protocol[T_contra]):
    """A complete list that is being received: a `ReplacementList`."""

    def put(self, item: T_contra) -> None: ...
    def keep(self, stored: Mapping[str, T_contra]) -> None: ...
    def discard(self, item: T_contra) -> None: ...
    def __len__(self) -> int: ...


class ReflectorStore(Protocol[T_contra]):
    """Receives what the reflector reads: a `DeltaFIFO`."""

    def add(self, item: T_contra) -> None: ...
    def update(self, item: T_contra) -> None: ...
    def delete(self, item: T_contra) -> None: ...
    def relist(self) -> ReceivedList[T_contra]:
        """Return an empty list, to be filled and passed to `replace`."""

    def replace(self, items: Any, resource_version: str) -> None:  # exactly what `relist` of this store returned
        """Replace the contents."""

    def bookmark(self, resource_version: str) -> None: ...


# --- Requests ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ListRequest:
    """One page of a list; limit 0 requests the complete list."""

    resource_version: str
    limit: int = PAGE_SIZE
    continue_token: str = ""


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """A watch that begins with all objects as initial events, followed by a bookmark."""

    resource_version: str


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """A watch of the changes after a version."""

    resource_version: str


Request = ListRequest | StreamRequest | WatchRequest


# --- States -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """Reads a list, page by page."""

    version: str
    """The version that the store has reached; empty before the first list."""
    from_latest: bool = False
    """True if the server rejected `version`: the list is then requested at the latest version."""
    restarts: int = 0
    """How many streams have ended before their initial events were complete."""
    unpaged: bool = False
    """True if the remaining pages have expired, so that the complete list is requested at once."""
    objects: ReceivedList[T] | None = None
    """The objects of the pages that were received; None before the first page."""
    list_version: str = ""
    """The version of the first page, which is that of the list."""
    continue_token: str = ""
    tokens: set[str] | None = None
    """The continue tokens that were received."""


@dataclass(frozen=True, slots=True)
class Streaming(Generic[T]):
    """Reads the initial events of a stream."""

    version: str
    initial: ReceivedList[T]
    from_latest: bool = False
    restarts: int = 0


@dataclass(frozen=True, slots=True)
class Watching:
    """Reads changes; the store is synced."""

    version: str
    is_ordered: bool = True
    """False until the versions of the events are in order: a watch without a version first sends existing objects."""
    is_resumable: bool = True
    """False if the list had no version: what was deleted before the watch started is detected by the next list only."""


class Delay(Enum):
    """How long to wait before the next request."""

    NONE = "none"
    BACKOFF = "exponential backoff"
    DENIED = "long: an administrator has to grant access or create the resource"


@dataclass(frozen=True, slots=True)
class BackingOff(Generic[T]):
    """Waits before the next request."""

    then: Listing[T] | Streaming[T] | Watching
    delay: Delay = Delay.NONE
    problem: Exception | None = None
    """The error to report."""

    @property
    def version(self) -> str:
        return self.then.version


ReflectorState = Listing[T] | Streaming[T] | Watching | BackingOff[T]

"""Decides what a reflector does next. The reflector itself only does it.

              ┌────────────── too old a version: the same, without one ─────────────┐
              ▼                                                                       │
    STREAM ──end mark──▶ WATCH ──ended──▶ WATCH   (from the last version seen)        │
      │                    │                                                          │
      │ not to be had      └──410, or an error that may have cost events──▶ wait ─▶ STREAM or LIST
      ▼
    LIST ──all pages──▶ WATCH

Whatever was seen goes to the store, in order; a whole state goes there as one `replace`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

from listwatch.api.watch_events import AddedEvent, BookmarkEvent, DeletedEvent, ErrorEvent, ModifiedEvent, WatchEvent
from listwatch.errors import (
    APIError,
    BadRequestError,
    ConnectRefusedError,
    DecodeError,
    ForbiddenError,
    GoneError,
    InternalServerError,
    InvalidError,
    ListWatchError,
    MethodNotAllowedError,
    NotFoundError,
    ResourceVersionError,
    TooManyRequestsError,
    TransportError,
    UnauthorizedError,
    WatchClosedError,
)
from listwatch.meta import is_newer
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList

__all__ = ["List", "ReflectorState", "ReflectorStore", "Request", "Stream", "Verdict", "Wait", "Watch"]

T = TypeVar("T", bound=Object)
T_contra = TypeVar("T_contra", bound=Object, contravariant=True)

PAGE_SIZE = 500
_SLICE = 1000
"""How many listed objects are taken in one go."""
_SHORT = 1.0
"""A watch that ends sooner, without an event, did not work."""
_MAX_RESTARTS = 3

# To ask for the name is much faster than `isinstance`, which for these classes goes a long way to say no.
_CHANGES = frozenset({AddedEvent.type, ModifiedEvent.type, DeletedEvent.type})


class ReflectorStore(Protocol[T_contra]):
    """Takes what the reflector saw: a `DeltaFIFO`."""

    def add(self, item: T_contra) -> None: ...
    def update(self, item: T_contra) -> None: ...
    def delete(self, item: T_contra) -> None: ...
    def relist(self) -> Any:
        """A whole state on its way in, to be given to `replace`; objects are `put` and `discard`ed."""

    def replace(self, items: Any, resource_version: str) -> None: ...
    def bookmark(self, resource_version: str) -> None: ...


# --- What to ask for ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class List:
    """A page, or everything where the limit is 0."""

    resource_version: str
    limit: int = PAGE_SIZE
    continue_token: str = ""


@dataclass(frozen=True, slots=True)
class Stream:
    """A watch that begins with all there is, and says when that was all."""

    resource_version: str


@dataclass(frozen=True, slots=True)
class Watch:
    """What happens after a version."""

    resource_version: str


Request = List | Stream | Watch


class Wait(Enum):
    """How long to wait before the next request."""

    NOT = "not at all"
    BACKOFF = "longer each time"
    DENIED = "long: somebody has to do something first"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an answer means: how long to wait, and what to tell."""

    wait: Wait = Wait.NOT
    problem: Exception | None = None


_GO_ON = Verdict()


class ReflectorState(Generic[T]):
    """Knows the last version seen, what is being read, and so what to ask for next.

    `skipped` is told of what came and cannot be used; the stream goes on.
    """

    def __init__(
        self,
        store: ReflectorStore[T],
        kind: type[T],
        *,
        page_size: int | None = None,
        streaming: bool = True,
        internal_error_window: float = 0.0,
        skipped: Callable[[ListWatchError], None] = lambda _: None,
    ) -> None:
        self._store = store
        self._kind = kind
        self._is_of_one_kind = kind.gvk is not None
        self._page_size = page_size
        self._can_stream = streaming
        self._internal_errors = _Window(internal_error_window)
        self._skipped = skipped
        self.version = ""
        """The version up to which the store has been told everything."""
        self._is_watching = False
        self._streams_this_round = True
        self._version_is_unavailable = False
        self._lists_in_pages = False
        self._pages = _Pages()
        self._initial: Any = None
        self._restarts = 0
        self._adopts_added = True

    @property
    def is_watching(self) -> bool:
        """True once a whole state has been read and is being followed."""
        return self._is_watching

    @property
    def reads_initial_events(self) -> bool:
        """True while a stream has not yet said that all there was has been sent."""
        return self._initial is not None

    # --- asking --------------------------------------------------------------------------------------------------

    def next_request(self) -> Request:
        if self._is_watching:
            self._adopts_added = self.version not in ("", "0")
            return Watch(self.version)
        if self._can_stream and self._streams_this_round:
            self._initial = self._store.relist()
            return Stream("" if self._version_is_unavailable else self.version)
        if self._pages.continue_token:
            return List("", self._limit(""), self._pages.continue_token)
        version = "" if self._version_is_unavailable else self.version or "0"
        return List(version, 0 if self._pages.at_once else self._limit(version))

    def _limit(self, version: str) -> int:
        if self._page_size is not None:
            return self._page_size
        # A server answers from its own cache what need not be the latest, but only if all of it is asked for.
        is_cached = version not in ("", "0") and not self._lists_in_pages
        return 0 if is_cached and not self._pages.continue_token else PAGE_SIZE

    # --- what a list says ----------------------------------------------------------------------------------------

    def listed(self, request: List, page: ObjectList[T]) -> None:
        """A page has come; the last one makes the state."""
        for _ in self.listing(request, page):
            pass

    def listing(self, request: List, page: ObjectList[T]) -> Iterator[None]:
        """The same in slices, for those who have other things to do meanwhile: a page may be all there is."""
        if page.continue_token and request.resource_version == "0":
            # It has no cache that would answer everything at once.
            self._lists_in_pages = True
        for broken in page.broken:
            self._skipped(broken)
        if self._pages.state is None:
            self._pages.state = self._store.relist()
        put = self._pages.state.put
        for start in range(0, len(page.items), _SLICE):
            if start:
                yield
            for item in page.items[start : start + _SLICE]:
                if self._is_expected(item):
                    put(item)
        self._pages.resource_version = self._pages.resource_version or page.resource_version
        self._pages.continue_token = page.continue_token
        if not page.continue_token:
            state, version = self._pages.state, self._pages.resource_version
            self._pages = _Pages()
            self._synced(state, version)

    def _synced(self, state: Any, version: str) -> None:
        self._store.replace(state, version)
        self.version = version
        self._is_watching = True
        self._version_is_unavailable = False
        self._initial = None
        self._restarts = 0

    # --- what a stream says --------------------------------------------------------------------------------------

    def saw(self, events: Iterable[WatchEvent[T] | ErrorEvent]) -> None:
        """Some events have come; raises the error of one that ends the stream."""
        event: Any
        for event in events:
            if event.type in _CHANGES:
                if self._is_expected(event.object):
                    self._saw_change(event)
            elif isinstance(event, BookmarkEvent):
                self._saw_bookmark(event)
            elif isinstance(event, ErrorEvent):
                raise event.error

    def _saw_change(self, event: WatchEvent[T]) -> None:
        item, what = event.object, event.type
        if self._initial is not None:
            self._saw_initial(event)
            return
        if what == ModifiedEvent.type:
            self._store.update(item)
        elif what == DeletedEvent.type:
            self._store.delete(item)
        else:
            self._store.add(item)
            if not self._adopts_added:
                # What is there already comes in no order, so its versions say nothing.
                return
        self._adopts_added = True
        self.version = item.resource_version

    def _saw_initial(self, event: WatchEvent[T]) -> None:
        if event.type == DeletedEvent.type:
            self._initial.discard(event.object)
        else:
            self._initial.put(event.object)

    def _saw_bookmark(self, event: BookmarkEvent[T]) -> None:
        if self._initial is None:
            if _is_older(event.resource_version, self.version):
                return  # it was held up on its way: to go back would be to hear everything since then twice
            self.version = event.resource_version
            self._adopts_added = True
            self._store.bookmark(event.resource_version)
        elif event.ends_initial_events:
            self._synced(self._initial, event.resource_version)
            self._adopts_added = True

    def _is_expected(self, item: T) -> bool:
        # Only what can be of any kind can be a table, and to ask such an object what it is takes a pass over it.
        if isinstance(item, self._kind) and item.name and (self._is_of_one_kind or item.kind != "Table"):
            return True
        found = f"{item.api_version} {item.kind}" if item.name else "something without a name"
        self._skipped(DecodeError(f"expected {self._kind.__name__}, got {found}", object_name=item.describe()))
        return False

    # --- how it ended --------------------------------------------------------------------------------------------

    def ended(self, *, elapsed: float, events: int) -> Verdict:
        """A stream has ended without an error, after so many seconds and events."""
        is_short = elapsed < _SHORT and events == 0
        if self._is_watching:
            if is_short:
                return self._end_round(WatchClosedError("the watch was closed at once, without any event"))
            return _GO_ON
        self._initial = None
        if is_short:
            return self._list_instead(WatchClosedError("the stream of initial events was closed at once"))
        self._restarts += 1
        if self._restarts > _MAX_RESTARTS:
            return self._list_instead(WatchClosedError("the stream of initial events never came to its end"))
        return Verdict(Wait.NOT if self._restarts == 1 else Wait.BACKOFF)

    def failed(self, request: Request, error: Exception, *, now: float = 0.0) -> Verdict:
        """A request or its stream has failed."""
        if isinstance(request, List):
            return self._list_failed(request, error)
        if not self._is_watching:
            self._initial = None
            return self._stream_failed(error)
        return self._watch_failed(error, now)

    def mark_is_missing(self, error: Exception) -> Verdict:
        """A stream sent what there was, it seems, and never said so. This server will not be asked for one again."""
        self._initial = None
        self._can_stream = False
        return Verdict(problem=error)

    def _list_failed(self, request: List, error: Exception) -> Verdict:
        had_pages = bool(request.continue_token)
        self._pages = _Pages()
        if had_pages and isinstance(error, GoneError):
            # The rest of the pages is gone: everything at once, as of the version first asked for.
            self._pages.at_once = True
            return Verdict(problem=error)
        if _is_too_old_or_new(error) and not self._version_is_unavailable:
            self._version_is_unavailable = True
            return Verdict(problem=error)
        return self._end_round(error)

    def _stream_failed(self, error: Exception) -> Verdict:
        if isinstance(error, ConnectRefusedError) or _is_throttled(error):
            return Verdict(Wait.BACKOFF, error)
        if _is_too_old_or_new(error) and not self._version_is_unavailable:
            self._version_is_unavailable = True
            return Verdict(problem=error)
        if isinstance(error, InvalidError | BadRequestError | MethodNotAllowedError):
            self._can_stream = False
        return self._list_instead(error)

    def _watch_failed(self, error: Exception, now: float) -> Verdict:
        if isinstance(error, TransportError) or _is_throttled(error):
            # Nothing was lost: the server will send what happened since, or say that it cannot.
            return Verdict(Wait.BACKOFF, error)
        if isinstance(error, InternalServerError) and self._internal_errors.is_open(now):
            return Verdict(problem=error)
        return self._end_round(error)

    def _list_instead(self, error: Exception) -> Verdict:
        self._streams_this_round = False
        return Verdict(problem=error)

    def _end_round(self, error: Exception) -> Verdict:
        self._is_watching = False
        self._streams_this_round = True
        is_denied = isinstance(error, ForbiddenError | NotFoundError | UnauthorizedError)
        return Verdict(Wait.DENIED if is_denied else Wait.BACKOFF, error)


@dataclass(slots=True)
class _Pages:
    """The pages of a list that have come so far; the list has the version of the first."""

    state: Any = None
    resource_version: str = ""
    continue_token: str = ""
    at_once: bool = False


class _Window:
    """How long internal errors of the server are taken for passing: `length` seconds from the first of a streak."""

    _FORGOTTEN_AFTER = 60.0

    def __init__(self, length: float) -> None:
        self._length = length
        self._first = self._last = float("-inf")

    def is_open(self, now: float) -> bool:
        if now - self._last > self._FORGOTTEN_AFTER:
            self._first = now
        self._last = now
        return self._length > 0 and now - self._first <= self._length


def _is_older(left: str, right: str) -> bool:
    try:
        return is_newer(right, left)
    except ResourceVersionError:
        return False  # they are not of a server that counts


def _is_too_old_or_new(error: Exception) -> bool:
    return isinstance(error, GoneError) or (isinstance(error, APIError) and error.resource_version_too_large)


def _is_throttled(error: Exception) -> bool:
    return isinstance(error, TooManyRequestsError) or (isinstance(error, APIError) and error.status_code == 429)

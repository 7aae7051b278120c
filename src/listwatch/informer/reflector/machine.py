"""Decides what a reflector does next: a state machine without I/O. `Reflector` sends the requests.

    Streaming ──end of the initial events──▶ Watching ──end of the watch──▶ Watching, from the last version
        │                                       │
        │ not supported, or failed              └──410, or an error that may have lost events──▶ BackingOff
        ▼                                                                                            │
    Listing ──last page──▶ Watching                                         Streaming or Listing ◀───┘

If the server rejects the version of a request as too old or too new, the request is repeated without a version.
Changes are written to the store in order, a complete list as one `replace`.

Versions only move forward, and never to one that is missing: a watch is resumed from a version up to which everything
was received. Without such a version, the source is listed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Generic, Literal, TypeVar, cast

from listwatch.api.list_pages import ListPage
from listwatch.api.watch_events import BatchedEvent, ReceivedEvent, WatchEvent
from listwatch.cache.replacement import sliced
from listwatch.errors import (
    APIError,
    BadRequestError,
    ConnectRefusedError,
    ForbiddenError,
    GoneError,
    InternalServerError,
    InvalidError,
    ListWatchError,
    MethodNotAllowedError,
    NotFoundError,
    ProtocolError,
    ResponseTooLargeError,
    TooManyRequestsError,
    TransportError,
    UnauthorizedError,
    WatchClosedError,
)
from listwatch.informer.reflector.kind_check import expected_kind
from listwatch.informer.reflector.state import (
    NO_VERSION,
    PAGE_SIZE,
    BackingOff,
    Delay,
    Listing,
    ListRequest,
    ReceivedList,
    ReflectorState,
    ReflectorStore,
    Request,
    Streaming,
    StreamRequest,
    Watching,
    WatchRequest,
)
from listwatch.keyed import Cached, describe
from listwatch.meta import Resource, is_known_older

__all__ = ["ReflectorMachine"]

T = TypeVar("T", bound=Cached)

_SLICE = 1000
"""How many listed objects are stored without a pause."""
_SHORT = 1.0
"""A watch that ends within this time without an event counts as failed."""
_MAX_RESTARTS = 3
_MAX_LISTED = 10_000_000
"""Objects of one list. More do not fit into an etcd, so such a list is taken to have no end."""
_REPORTED_PAGES = 1000
"""A list that continues is reported after each of so many pages."""


class ReflectorMachine(Generic[T]):
    """Holds the state of one reflector and changes it with each response.

    `on_skipped` receives the error of an object that is not usable, and `on_problem` that of a response which can be
    used although it violates the protocol; the stream continues.
    """

    def __init__(
        self,
        store: ReflectorStore[T],
        kind: type[T],
        *,
        page_size: int | None = None,
        streaming: bool = True,
        internal_error_window: float = 0.0,
        max_listed: int = _MAX_LISTED,
        on_skipped: Callable[[ListWatchError], None] = lambda _: None,
        on_problem: Callable[[ListWatchError], None] = lambda _: None,
    ) -> None:
        self._store = store
        self._kind = kind
        self._resource: Resource | None = None
        self._expected = expected_kind(kind, None, on_skipped)
        self._page_size = page_size
        self._max_listed = max_listed
        self._on_skipped = on_skipped
        self._on_problem = on_problem
        self._internal_errors = _ErrorWindow(internal_error_window)
        # What is known about the server.
        self._supports_streaming = streaming
        self._paginates_cached_lists = False
        self._max_page_size: int | None = None  # set when a larger page has exceeded the limit of the client
        self._sends_versions = True
        self.listed = 0
        """The number of objects of the last complete list."""
        self.has_progressed = False
        """True if the last page completed the list, or brought new objects and a token for more."""
        self.syncs = 0
        """How often everything was read."""
        self.synced_by: Literal["", "list", "stream"] = ""
        self.state: ReflectorState[T] = self._first_state("")

    @property
    def version(self) -> str:
        """The version that the store has reached; empty before the first list."""
        return self.state.version

    @property
    def is_watching(self) -> bool:
        """True if the store is synced and the next request, or the current one, is a watch."""
        state = self.state.then if isinstance(self.state, BackingOff) else self.state
        return isinstance(state, Watching)

    @property
    def reads_initial_events(self) -> bool:
        """True while a stream has not sent the bookmark that ends its initial events."""
        return isinstance(self.state, Streaming)

    @property
    def initial_objects(self) -> int:
        """The number of objects that the stream has sent before the bookmark that ends its initial events."""
        return len(self.state.initial) if isinstance(self.state, Streaming) else 0

    def resume(self, version: str) -> None:
        """Begin with a watch from a version that the store has reached already."""
        self.state = Watching(version)

    def restart(self) -> None:
        """Begin with the latest list: what the store contains may be that of another server."""
        self.state = self._first_state("", from_latest=True)

    def expect(self, resource: Resource | None) -> None:
        """Set the resource of the source, once it is known; only objects of its kind are stored."""
        if resource is not self._resource:
            self._resource = resource
            self._expected = expected_kind(self._kind, resource, self._on_skipped)

    def next_request(self) -> Request:
        """Return the request of the current state; ends a backoff."""
        match self.state.then if isinstance(self.state, BackingOff) else self.state:
            case Watching(version) as state:
                self.state = replace(state, is_ordered=version not in NO_VERSION)
                # A watch from version 0 may start with an older state than that of the list.
                return WatchRequest("" if version == "0" else version)
            case Streaming(version, from_latest=from_latest) as state:
                self.state = state
                return StreamRequest("" if from_latest else version)
            case Listing() as state:
                self.state = state
                return self._list_request(state)

    def _list_request(self, state: Listing[T]) -> ListRequest:
        if self._max_page_size is not None:
            # Only a list of the latest version is sent in pages by every server.
            return ListRequest("", self._max_page_size, state.continue_token)
        if state.continue_token:
            return ListRequest("", PAGE_SIZE if self._page_size is None else self._page_size, state.continue_token)
        # Version 0 is served from the server's cache, at any version.
        version = "" if state.from_latest else state.version or "0"
        if state.unpaged:
            return ListRequest(version, 0)
        if self._page_size is not None:
            return ListRequest(version, self._page_size)
        # A server serves a list of a known version from its cache, but only without a limit.
        is_cached = version not in NO_VERSION and not self._paginates_cached_lists
        return ListRequest(version, 0 if is_cached else PAGE_SIZE)

    def _first_state(self, version: str, *, from_latest: bool = False, restarts: int = 0) -> Listing[T] | Streaming[T]:
        if self._supports_streaming:
            return Streaming(version, self._store.relist(), from_latest, restarts)
        return Listing(version, from_latest, restarts)

    # --- responses -----------------------------------------------------------------------------------------------

    def receive_page(self, request: ListRequest, page: ListPage[T]) -> Iterator[None]:
        """Store a page of a list; the last one completes the list. Yields between slices: a page may be large."""
        state = self.state
        assert isinstance(state, Listing)
        if page.continue_token and request.resource_version == "0":
            # The server does not serve complete lists from a cache.
            self._paginates_cached_lists = True
        is_usable = self._expected.check_of_items(page)
        for error in page.broken:
            self._on_skipped(error)
        objects = self._store.relist() if state.objects is None else state.objects
        known = len(objects)
        unchanged: Mapping[str, T] = getattr(page, "_unchanged", {})
        for entries in sliced(unchanged.items()) if unchanged else ():
            objects.keep(dict(entries))
            yield
        for start in range(0, len(page.items), _SLICE):
            if start:
                yield
            for item in page.items[start : start + _SLICE]:
                if is_usable(item):
                    objects.put(item)
        version = state.list_version or page.resource_version
        if not page.continue_token:
            self.has_progressed = True
            self._complete(objects, version)
            return
        tokens = state.tokens or set()
        if page.continue_token in tokens:
            self.has_progressed = False
            raise RepeatedTokenError("the server repeats a continue token, so the list has no end")
        tokens.add(page.continue_token)
        if len(objects) > self._max_listed:
            raise ProtocolError(f"the list has more than {self._max_listed} objects, and no end is in sight")
        if len(tokens) % _REPORTED_PAGES == 0:
            self._on_problem(ProtocolError(f"the list continues after {len(tokens)} pages with {len(objects)} objects"))
        self.has_progressed = len(objects) > known
        self.state = replace(
            state, objects=objects, list_version=version, continue_token=page.continue_token, tokens=tokens
        )

    def _complete(self, objects: ReceivedList[T], version: str) -> None:
        """Store a complete list."""
        if version in NO_VERSION and self._sends_versions:
            self._sends_versions = False
            self._on_problem(
                ProtocolError("the list has no resourceVersion; the source is listed again whenever a watch ends")
            )
        self.listed = len(objects)
        self._store.replace(objects, version)
        self.syncs, self.synced_by = self.syncs + 1, "list"
        self.state = Watching(version, is_resumable=version not in NO_VERSION)

    def receive(self, events: Iterable[BatchedEvent[T]]) -> None:
        """Store a batch of events; raises the error of an ERROR event, which ends the stream."""
        remaining = iter(events)
        if isinstance(state := self.state, Streaming):
            state = self._receive_initial(state, remaining)
        if isinstance(state, Watching):
            # Cached objects are recognized only in front of the bookmark that ends the initial events.
            self._receive_changes(state, cast("Iterator[ReceivedEvent[T]]", remaining))

    def _receive_initial(self, state: Streaming[T], events: Iterator[BatchedEvent[T]]) -> Streaming[T] | Watching:
        is_usable, initial = self._expected.is_usable_event, state.initial
        for event in events:
            # Comparing the text is much faster than `isinstance`, which is slow for these classes.
            if event.type == "ADDED" or event.type == "MODIFIED":
                if is_usable(event.object):
                    initial.put(event.object)
            elif event.type == "DELETED":
                if is_usable(event.object):
                    initial.discard(event.object)
            elif event.type == "UNCHANGED":
                initial.keep(event.objects)
            elif event.type == "BOOKMARK":
                if event.ends_initial_events:
                    return self._end_initial_events(state, event.resource_version)
            elif event.type == "UNDECODABLE":
                self._on_skipped(event.error)
            else:
                raise event.error
        return state

    def _end_initial_events(self, state: Streaming[T], version: str) -> Watching:
        requested = "" if state.from_latest else state.version
        if version in NO_VERSION or is_known_older(version, requested):
            self._supports_streaming = False
            found = f"resourceVersion {version}, which is before {requested}, the requested one"
            raise ProtocolError(
                f"the bookmark that ends the initial events has {found if version else 'no resourceVersion'}; "
                "the source will be listed instead"
            )
        self.listed = len(state.initial)
        self._store.replace(state.initial, version)
        self.syncs, self.synced_by = self.syncs + 1, "stream"
        self.state = Watching(version)
        return self.state

    def _receive_changes(self, state: Watching, events: Iterator[ReceivedEvent[T]]) -> None:
        version, is_ordered, store = state.version, state.is_ordered, self._store
        is_usable = self._expected.is_usable_event
        try:
            for event in events:
                if event.type == "MODIFIED":
                    if not is_usable(item := event.object):
                        continue
                    store.update(item)
                elif event.type == "ADDED":
                    if not is_usable(item := event.object):
                        continue
                    store.add(item)
                    if not is_ordered:
                        continue
                elif event.type == "DELETED":
                    if not is_usable(item := event.object):
                        continue
                    store.delete(item)
                elif event.type == "BOOKMARK":
                    if self._later(version, event) == version:
                        continue  # it was delayed; going back would repeat all changes since then
                    store.bookmark((item := event.object).resource_version)
                elif event.type == "UNDECODABLE":
                    self._on_skipped(event.error)
                    continue
                else:
                    raise event.error
                received = item.resource_version
                # Numbers of the same length are in the order of their texts, which is much faster to compare.
                if received > version and len(received) == len(version):
                    version = received
                elif received != version:
                    version = self._later(version, event)
                is_ordered = True
        finally:
            self.state = Watching(version, is_ordered, state.is_resumable)

    def _later(self, version: str, event: WatchEvent[T]) -> str:
        """Return the later one of a version and that of an event."""
        received = event.object.resource_version
        if received in NO_VERSION:
            # A watch from no version would skip changes; one from the last version repeats some.
            name = "" if event.type == "BOOKMARK" else f" of {describe(event.object)}"
            self._on_problem(ProtocolError(f"the {event.type} event{name} has no resourceVersion"))
            return version
        return version if is_known_older(received, version) else received

    # --- ends and failures ---------------------------------------------------------------------------------------

    def end(self, *, elapsed: float, events: int) -> ReflectorState[T]:
        """Handle the end of a stream without an error; returns the new state."""
        is_short = elapsed < _SHORT and events == 0
        match self.state:
            case Watching(version, is_resumable=False) if not is_short:
                self.state = self._first_state(version, from_latest=True)
            case Watching() as state if is_short:
                error = WatchClosedError("the server closed the watch at once, without an event")
                self.state = self._end_round(state, error)
            case Streaming() as state if is_short:
                error = WatchClosedError("the server closed the stream of initial events at once")
                self.state = _list_instead(state, error)
            case Streaming(restarts=restarts) as state if restarts >= _MAX_RESTARTS:
                error = WatchClosedError("the stream of initial events ended too often before it was complete")
                self.state = _list_instead(replace(state, restarts=restarts + 1), error)
            case Streaming(restarts=restarts) as state:
                again = replace(state, initial=self._store.relist(), restarts=restarts + 1)
                error = WatchClosedError("the stream of initial events ended before it was complete")
                self.state = BackingOff(again, Delay.NONE if restarts == 0 else Delay.BACKOFF, error)
        return self.state

    def fail(self, error: Exception, *, now: float = 0.0) -> BackingOff[T]:
        """Handle the failure of a request or its stream; returns the new state."""
        match self.state:
            case Listing() as state:
                failed = self._fail_list(state, error)
            case Streaming() as state:
                failed = self._fail_stream(state, error)
            case Watching() as state:
                failed = self._fail_watch(state, error, now)
            case BackingOff() as state:
                failed = state
        self.state = failed
        return failed

    def miss_initial_events_end(self, error: Exception) -> BackingOff[T]:
        """Handle a stream whose initial events pause without the bookmark: the server does not support streaming."""
        self._supports_streaming = False
        state = self.state
        assert isinstance(state, Streaming)
        self.state = failed = _list_instead(state, error)
        return failed

    def _fail_list(self, state: Listing[T], error: Exception) -> BackingOff[T]:
        again: Listing[T] = Listing(state.version, state.from_latest, state.restarts)
        if state.continue_token and not state.unpaged and isinstance(error, GoneError | RepeatedTokenError):
            # The remaining pages have expired or cannot be read: request the complete list at once.
            return BackingOff(replace(again, unpaged=True), problem=error)
        if _is_version_rejected(error) and not state.from_latest:
            return BackingOff(replace(again, from_latest=True), problem=error)
        if isinstance(error, ResponseTooLargeError):
            self._reduce_pages(self._list_request(state))
            return BackingOff(again, Delay.BACKOFF, error)
        return self._end_round(state, error)

    def _reduce_pages(self, failed: ListRequest) -> None:
        is_paged = failed.limit and (failed.continue_token or not failed.resource_version)
        self._max_page_size = max(failed.limit // 4, 1) if is_paged else failed.limit or PAGE_SIZE

    def _fail_stream(self, state: Streaming[T], error: Exception) -> BackingOff[T]:
        again = replace(state, initial=self._store.relist())
        if isinstance(error, ConnectRefusedError) or _is_throttled(error):
            return BackingOff(again, Delay.BACKOFF, error)
        if _is_version_rejected(error) and not state.from_latest:
            return BackingOff(replace(again, from_latest=True), problem=error)
        if isinstance(error, InvalidError | BadRequestError | MethodNotAllowedError):
            self._supports_streaming = False
        return _list_instead(state, error)

    def _fail_watch(self, state: Watching, error: Exception, now: float) -> BackingOff[T]:
        if isinstance(error, ResponseTooLargeError):
            # The next watch would receive the same event again. A page of a list may be larger.
            return self._end_round(state, error)
        if state.is_resumable and (isinstance(error, TransportError) or _is_throttled(error)):
            # No event is lost: the next watch continues from the last version, or fails with 410.
            return BackingOff(state, Delay.BACKOFF, error)
        if isinstance(error, InternalServerError) and self._internal_errors.is_open(now):
            return BackingOff(state, problem=error)
        return self._end_round(state, error)

    def _end_round(self, state: Listing[T] | Watching, error: Exception) -> BackingOff[T]:
        """Start again with a stream, if the server supports it, or a list."""
        match state:
            case Watching(version, is_resumable=is_resumable):
                # Without a version, only the latest list is certainly not older than what the store has.
                then = self._first_state(version, from_latest=not is_resumable)
            case Listing(version, from_latest, restarts):
                then = self._first_state(version, from_latest=from_latest, restarts=restarts)
        is_denied = isinstance(error, ForbiddenError | NotFoundError | UnauthorizedError)
        return BackingOff(then, Delay.DENIED if is_denied else Delay.BACKOFF, error)


def _list_instead(state: Streaming[T], error: Exception) -> BackingOff[T]:
    return BackingOff(Listing(state.version, state.from_latest, state.restarts), problem=error)


class RepeatedTokenError(ProtocolError):
    """The pages of a list have no end."""


class _ErrorWindow:
    """How long a watch is retried after internal server errors: `length` seconds from the first of a series."""

    _SERIES_ENDS_AFTER = 60.0

    def __init__(self, length: float) -> None:
        self._length = length
        self._first = self._last = float("-inf")

    def is_open(self, now: float) -> bool:
        if now - self._last > self._SERIES_ENDS_AFTER:
            self._first = now
        self._last = now
        return self._length > 0 and now - self._first <= self._length


def _is_version_rejected(error: Exception) -> bool:
    return isinstance(error, GoneError) or (isinstance(error, APIError) and error.resource_version_too_large)


def _is_throttled(error: Exception) -> bool:
    return isinstance(error, TooManyRequestsError) or (isinstance(error, APIError) and error.status_code == 429)

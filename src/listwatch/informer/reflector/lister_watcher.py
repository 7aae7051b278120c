"""Sources of an informer: anything that can be listed, and watched from the version of the list."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, Protocol, TypeVar, cast

from listwatch.api.list_pages import ListPage
from listwatch.api.watch_events import ReceivedEvent
from listwatch.keyed import Cached

__all__ = [
    "AnySource",
    "KnownObjects",
    "ListerWatcher",
    "ReadObject",
    "RecognizingSource",
    "WatchSource",
    "batches_of",
    "is_client",
    "of_kind",
    "reader_of",
]

T = TypeVar("T", bound=Cached)

Event = ReceivedEvent[T]

ReadObject = Callable[[str, str], Awaitable[T]]
"""Reads one object from the server: namespace, name."""


class WatchSource(Protocol[T]):
    """A watch: a context manager whose value is iterated to the end of the watch."""

    async def __aenter__(self) -> AsyncIterator[Event[T]]: ...
    async def __aexit__(self, *exc: object) -> bool | None: ...


class ListerWatcher(Protocol[T]):
    """A source that can be listed, and watched from the version of the list."""

    async def list(
        self,
        *,
        resource_version: str = "",
        resource_version_match: str = "",
        limit: int | None = None,
        continue_token: str = "",
    ) -> ListPage[T]:
        """Return one response: with a limit, a page; with limit 0, the complete list."""

    def watch(
        self,
        *,
        resource_version: str = "",
        resource_version_match: str = "",
        send_initial_events: bool | None = None,
        allow_watch_bookmarks: bool = True,
        timeout_seconds: int | None = None,
    ) -> WatchSource[T]:
        """Watch the changes after a version. The watch ends after `timeout_seconds`, and raises if its peer is dead.

        After a TransportError the watch is resumed from the last version; after any other error the source is listed.
        """


AnySource = ListerWatcher[Any]
"""A source of objects of any kind."""


# --- What a source may offer in addition --------------------------------------------------------------------------


class KnownObjects(Protocol):
    """Cached objects, of which a source recognizes the received ones that are unchanged."""

    def __len__(self) -> int: ...
    def extend(self, cached: Iterable[tuple[str, Any]], /) -> None: ...


class RecognizingSource(Protocol[T]):
    """A source that returns cached instances of unchanged objects."""

    def _new_known_objects(self) -> KnownObjects: ...
    def _recognizing(self, known: KnownObjects, /) -> ListerWatcher[T]: ...


def of_kind(source: ListerWatcher[T], kind: type[T]) -> ListerWatcher[T]:
    """Return the source, which decodes objects as this kind if it can decode several."""
    decoding_as: Callable[[type[T]], ListerWatcher[T]] | None = getattr(source, "of_kind", None)
    return source if decoding_as is None else decoding_as(kind)


def is_client(source: ListerWatcher[T]) -> bool:
    """Return whether the objects are as a server has sent them: a program's own source may change them."""
    if hasattr(source, "watch_for_cache"):
        return False
    methods = [getattr(source, name, None) for name in ("list", "watch", "_recognizing")]
    return all(getattr(each, "__module__", "").startswith("listwatch.") for each in methods)


def reader_of(source: ListerWatcher[T], kind: type[T]) -> ReadObject[T] | None:
    """Return a function that reads one object by namespace and name; None if the source cannot do that."""
    source = of_kind(source, kind)
    read: ReadObject[T] | None = getattr(source, "_read_object", None)
    if read is not None:
        return read
    in_namespace, get = getattr(source, "namespace", None), getattr(source, "get", None)
    if not (callable(in_namespace) and callable(get)):
        return None
    return lambda namespace, name: cast("Awaitable[T]", in_namespace(namespace).get(name))


def batches_of(stream: AsyncIterator[Event[T]]) -> AsyncIterator[Iterable[Event[T]]]:
    """Return the events of a watch in batches: those of one network read, if the source provides batches."""
    batches: Callable[[], AsyncIterator[Iterable[Event[T]]]] | None = getattr(stream, "batches", None)
    return _single_batches(stream) if batches is None else batches()


async def _single_batches(stream: AsyncIterator[Event[T]]) -> AsyncIterator[Iterable[Event[T]]]:
    async for event in stream:
        yield (event,)
        del event  # the next one may arrive much later

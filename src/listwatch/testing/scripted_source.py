"""A scripted ListerWatcher, for tests of informers and reflectors without a server.

source = ScriptedSource(Pod)
source.will_list([pod], resource_version="10")
watch = source.will_watch()
...
watch.add(other); watch.bookmark("12"); watch.end()
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable
from typing import Generic, Self, TypeVar

from listwatch.api.statuses import status_from_error
from listwatch.api.watch_events import AddedEvent, BookmarkEvent, DeletedEvent, ErrorEvent, ModifiedEvent, WatchEvent
from listwatch.errors import APIError
from listwatch.objects.metadata import ListMeta
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList
from listwatch.objects.unstructured import Unstructured

__all__ = ["ScriptedSource", "ScriptedWatch"]

T = TypeVar("T", bound=Object)


class _End:
    """Ends a scripted watch."""


class ScriptedWatch(Generic[T]):
    """One scripted watch. Events that are added before it is opened are delivered when it is."""

    def __init__(self, kind: type[T], *, error: Exception | None = None) -> None:
        self._kind = kind
        self._error = error
        self._script: asyncio.Queue[WatchEvent[T] | ErrorEvent | Exception | _End] = asyncio.Queue()
        self.opened = asyncio.Event()
        self.closed = asyncio.Event()

    def add(self, item: T) -> Self:
        return self.send(AddedEvent(item))

    def modify(self, item: T) -> Self:
        return self.send(ModifiedEvent(item))

    def delete(self, item: T) -> Self:
        return self.send(DeletedEvent(item))

    def bookmark(self, resource_version: str, *, ends_initial_events: bool = False) -> Self:
        metadata: dict[str, object] = {"resourceVersion": resource_version}
        if ends_initial_events:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        return self.send(BookmarkEvent(self._kind.from_dict({"metadata": metadata})))

    def fail(self, error: APIError) -> Self:
        """Add an ERROR event, as a server sends it."""
        return self.send(ErrorEvent(Unstructured.from_dict(status_from_error(error))))

    def send(self, event: WatchEvent[T] | ErrorEvent) -> Self:
        self._script.put_nowait(event)
        return self

    def break_with(self, error: Exception) -> Self:
        """End the stream with an exception, as a lost connection does."""
        self._script.put_nowait(error)
        return self

    def end(self) -> Self:
        """End the stream cleanly."""
        self._script.put_nowait(_End())
        return self

    async def __aenter__(self) -> AsyncIterator[WatchEvent[T] | ErrorEvent]:
        if self._error is not None:
            raise self._error
        self.opened.set()
        return self._events()

    async def __aexit__(self, *_: object) -> None:
        self.closed.set()

    async def _events(self) -> AsyncIterator[WatchEvent[T] | ErrorEvent]:
        while not isinstance(entry := await self._script.get(), _End):
            if isinstance(entry, Exception):
                raise entry
            yield entry


class ScriptedSource(Generic[T]):
    """Responds to lists and watches in the scripted order; when the script is used up, requests hang.

    `requests` has each request as `("list", options)` or `("watch", options)`, in order.
    """

    def __init__(self, kind: type[T], *, supports_streaming: bool = False) -> None:
        self._kind = kind
        self._lists: deque[ObjectList[T] | Exception] = deque()
        self._watches: deque[ScriptedWatch[T]] = deque()
        self.supports_streaming = supports_streaming
        self.requests: list[tuple[str, dict[str, object]]] = []

    def will_list(self, items: Iterable[T] = (), *, resource_version: str, continue_token: str = "") -> None:
        """Respond to the next list with these objects."""
        self._lists.append(
            ObjectList(items, metadata=ListMeta(resource_version=resource_version, continue_=continue_token))
        )

    def will_fail_list(self, error: Exception) -> None:
        """Respond to the next list with an error."""
        self._lists.append(error)

    def will_watch(self) -> ScriptedWatch[T]:
        """Respond to the next watch with the returned script."""
        watch = ScriptedWatch(self._kind)
        self._watches.append(watch)
        return watch

    def will_fail_watch(self, error: Exception) -> None:
        """Respond to the next watch with an error."""
        self._watches.append(ScriptedWatch(self._kind, error=error))

    async def list(self, **options: object) -> ObjectList[T]:
        self.requests.append(("list", options))
        if not self._lists:
            await asyncio.Event().wait()
        response = self._lists.popleft()
        if isinstance(response, Exception):
            raise response
        return response

    def watch(self, **options: object) -> ScriptedWatch[T]:
        self.requests.append(("watch", options))
        return self._watches.popleft() if self._watches else ScriptedWatch(self._kind)

"""A source that says what a test tells it to say, for informers and reflectors without a server.

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
from typing import Any, Generic, Self, TypeVar

from listwatch.api.statuses import status_from_error
from listwatch.api.watch_events import AddedEvent, BookmarkEvent, DeletedEvent, ErrorEvent, ModifiedEvent, WatchEvent
from listwatch.errors import APIError
from listwatch.objects.metadata import ListMeta
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList
from listwatch.objects.unstructured import Unstructured

__all__ = ["ScriptedSource", "ScriptedWatch"]

T = TypeVar("T", bound=Object)

_END = object()


class ScriptedWatch(Generic[T]):
    """One watch, before and while it is read; what is said before it is opened is heard when it is."""

    def __init__(self, kind: type[T], *, error: Exception | None = None) -> None:
        self._kind = kind
        self._error = error
        self._said: asyncio.Queue[Any] = asyncio.Queue()
        self.opened = asyncio.Event()
        self.closed = asyncio.Event()

    def add(self, item: T) -> Self:
        return self.say(AddedEvent(item))

    def modify(self, item: T) -> Self:
        return self.say(ModifiedEvent(item))

    def delete(self, item: T) -> Self:
        return self.say(DeletedEvent(item))

    def bookmark(self, resource_version: str, *, ends_initial_events: bool = False) -> Self:
        metadata: dict[str, Any] = {"resourceVersion": resource_version}
        if ends_initial_events:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        return self.say(BookmarkEvent(self._kind.from_dict({"metadata": metadata})))

    def fail(self, error: APIError) -> Self:
        """Say ERROR in the stream, as a server does."""
        return self.say(ErrorEvent(Unstructured.from_dict(status_from_error(error))))

    def say(self, event: WatchEvent[T] | ErrorEvent) -> Self:
        self._said.put_nowait(event)
        return self

    def break_with(self, error: Exception) -> Self:
        """End the stream with an exception, as a lost connection does."""
        self._said.put_nowait(error)
        return self

    def end(self) -> Self:
        """End the stream in good order."""
        self._said.put_nowait(_END)
        return self

    async def __aenter__(self) -> AsyncIterator[WatchEvent[T] | ErrorEvent]:
        if self._error is not None:
            raise self._error
        self.opened.set()
        return self._events()

    async def __aexit__(self, *_: object) -> None:
        self.closed.set()

    async def _events(self) -> AsyncIterator[WatchEvent[T] | ErrorEvent]:
        while (said := await self._said.get()) is not _END:
            if isinstance(said, Exception):
                raise said
            yield said


class ScriptedSource(Generic[T]):
    """Answers lists and watches in the order in which the answers were given; with none left, it does not answer.

    `requests` has the options of each list and watch, `("list", {...})`, in the order they came.
    """

    def __init__(self, kind: type[T], *, supports_streaming: bool = False) -> None:
        self._kind = kind
        self._lists: deque[ObjectList[T] | Exception] = deque()
        self._watches: deque[ScriptedWatch[T]] = deque()
        self.supports_streaming = supports_streaming
        self.requests: list[tuple[str, dict[str, Any]]] = []

    def will_list(self, items: Iterable[T] = (), *, resource_version: str, continue_token: str = "") -> None:
        """Answer a list with these."""
        self._lists.append(
            ObjectList(items, metadata=ListMeta(resource_version=resource_version, continue_=continue_token))
        )

    def will_fail_list(self, error: Exception) -> None:
        """Answer a list with an error."""
        self._lists.append(error)

    def will_watch(self) -> ScriptedWatch[T]:
        """Answer a watch with what is said to the value returned."""
        watch = ScriptedWatch(self._kind)
        self._watches.append(watch)
        return watch

    def will_fail_watch(self, error: Exception) -> None:
        """Answer a watch with an error."""
        self._watches.append(ScriptedWatch(self._kind, error=error))

    async def list(self, **options: Any) -> ObjectList[T]:
        self.requests.append(("list", options))
        if not self._lists:
            await asyncio.Event().wait()
        answer = self._lists.popleft()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def watch(self, **options: Any) -> ScriptedWatch[T]:
        self.requests.append(("watch", options))
        return self._watches.popleft() if self._watches else ScriptedWatch(self._kind)

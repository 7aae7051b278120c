"""The contract of sources, as tests: what an informer relies on.

    class TestMySource(SourceContract):
        @asynccontextmanager
        async def backend(self):
            async with MyDatabase() as database:
                yield MyBackend(database)          # a SourceBackend

Each test runs in an event loop of its own. A source that passes can be used with every informer.
"""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import wraps
from typing import Any, ClassVar, TypeVar

import pytest

from listwatch.api.watch_events import (
    AddedEvent,
    BookmarkEvent,
    DeletedEvent,
    ErrorEvent,
    ModifiedEvent,
    ReceivedEvent,
    UndecodableEvent,
)
from listwatch.errors import GoneError, ListWatchError
from listwatch.informer.reflector.lister_watcher import AnySource, batches_of
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.keyed import Cached, Tombstone
from listwatch.meta import is_newer

__all__ = ["SourceBackend", "SourceContract"]

S = TypeVar("S", bound="SourceContract")

Event = ReceivedEvent[Cached]
ChangeEvent = AddedEvent[Cached] | ModifiedEvent[Cached] | DeletedEvent[Cached]

TIMEOUT = 30.0
WATCH_SECONDS = 20


class SourceBackend(ABC):
    """What a source reads, with the operations that the contract needs. Keys are `name` or `namespace/name`."""

    source: AnySource
    """The source under test."""
    kind: type[Any]
    """The class of its objects."""

    @abstractmethod
    async def put(self, key: str, content: str) -> None:
        """Create the object, or replace its content."""

    @abstractmethod
    async def delete(self, key: str) -> None:
        """Delete the object."""

    @abstractmethod
    def content_of(self, item: Any) -> str:
        """The content that `put` wrote into this object."""

    async def expire(self, version: str) -> str:
        """Make a version unavailable for watches, as a compaction does; return it, or an older one that is."""
        pytest.skip("this source keeps all versions")

    def unreachable(self) -> AnySource:
        """A source like the one under test whose server cannot be reached."""
        pytest.skip("this source has no server")


def _in_loop(test: Callable[[S, SourceBackend], Coroutine[object, object, None]]) -> Callable[[S], None]:
    """Run a test with a new backend in a new event loop."""

    @wraps(test)
    def run(self: S) -> None:
        async def with_backend() -> None:
            async with asyncio.timeout(TIMEOUT), self.backend() as backend:
                await test(self, backend)

        asyncio.run(with_backend())

    del run.__wrapped__  # pytest would take the parameters of the test for fixtures
    return run


class SourceContract(ABC):
    """The tests; derive a class whose name starts with `Test`, and implement `backend`."""

    namespace: ClassVar[str] = ""
    """The namespace of all keys, for a source that needs one."""

    @abstractmethod
    def backend(self) -> AbstractAsyncContextManager[SourceBackend]:
        """Provide an empty backend; called for each test."""

    # --- lists -------------------------------------------------------------------------------------------------------

    @_in_loop
    async def test_an_empty_source_lists_nothing_at_a_version(self, backend: SourceBackend) -> None:
        page = await backend.source.list()
        assert list(page.items) == []
        assert page.resource_version not in ("", "0")
        assert not page.continue_token

    @_in_loop
    async def test_a_list_contains_every_object_with_its_last_content(self, backend: SourceBackend) -> None:
        for number in range(5):
            await backend.put(self._key(number), "old")
        await backend.put(self._key(3), "new")
        await backend.delete(self._key(4))
        page = await backend.source.list(limit=0)
        expected = {self._key(number): "new" if number == 3 else "old" for number in range(4)}
        assert _contents(backend, page.items) == expected
        assert all(isinstance(item, backend.kind) for item in page.items)
        assert all(not is_newer(item.resource_version, page.resource_version) for item in page.items)

    @_in_loop
    async def test_all_pages_of_a_list_show_the_same_version(self, backend: SourceBackend) -> None:
        for number in range(7):
            await backend.put(self._key(number), "old")
        page = await backend.source.list(limit=3)
        version, items = page.resource_version, [*page.items]
        await backend.put(self._key(6), "new")
        await backend.delete(self._key(5))
        await backend.put(self._key(9), "new")
        while page.continue_token:
            page = await backend.source.list(limit=3, continue_token=page.continue_token)
            assert page.resource_version == version
            items += page.items
        assert _contents(backend, items) == {self._key(number): "old" for number in range(7)}
        assert len(items) == 7

    # --- watches -----------------------------------------------------------------------------------------------------

    @_in_loop
    async def test_a_watch_delivers_every_change_since_the_list_once_and_in_order(self, backend: SourceBackend) -> None:
        await backend.put(self._key(0), "0")
        version = (await backend.source.list()).resource_version
        await self._make_history(backend)
        async with backend.source.watch(resource_version=version, timeout_seconds=WATCH_SECONDS) as stream:
            seen = [await _next_change(stream) for _ in range(5)]
            await backend.put(self._key(3), "live")
            seen.append(await _next_change(stream))
        assert [(event.type, event.object.cache_key) for event in seen] == [
            ("ADDED", self._key(1)),
            ("MODIFIED", self._key(0)),
            ("ADDED", self._key(2)),
            ("DELETED", self._key(1)),
            ("MODIFIED", self._key(0)),
            ("ADDED", self._key(3)),
        ]
        written = [None if event.type == "DELETED" else backend.content_of(event.object) for event in seen]
        assert written == ["1", "changed", "2", None, "again", "live"]
        _check_order(version, seen)

    @_in_loop
    async def test_a_watch_continues_after_every_version_that_was_delivered(self, backend: SourceBackend) -> None:
        version = (await backend.source.list()).resource_version
        await backend.put(self._key(0), "0")
        await self._make_history(backend)
        seen: list[str] = []
        for _ in range(6):
            async with backend.source.watch(resource_version=version, timeout_seconds=WATCH_SECONDS) as stream:
                event = await _next_change(stream)
            seen.append(f"{event.type} {event.object.cache_key}")
            version = event.object.resource_version
        assert seen == [
            f"ADDED {self._key(0)}",
            f"ADDED {self._key(1)}",
            f"MODIFIED {self._key(0)}",
            f"ADDED {self._key(2)}",
            f"DELETED {self._key(1)}",
            f"MODIFIED {self._key(0)}",
        ]

    @_in_loop
    async def test_a_deletion_has_a_version_of_its_own(self, backend: SourceBackend) -> None:
        await backend.put(self._key(0), "0")
        page = await backend.source.list()
        await backend.delete(self._key(0))
        async with backend.source.watch(
            resource_version=page.resource_version, timeout_seconds=WATCH_SECONDS
        ) as stream:
            event = await _next_change(stream)
        assert event.type == "DELETED"
        assert is_newer(event.object.resource_version, page.resource_version)
        if not isinstance(event.object, Tombstone):
            assert backend.content_of(event.object) == "0"

    @_in_loop
    async def test_bookmarks_do_not_run_ahead_of_events(self, backend: SourceBackend) -> None:
        version = (await backend.source.list()).resource_version
        await self._write_many(backend, 10)  # so that the first bookmark is not before events that are pending
        writing = asyncio.create_task(self._write_many(backend, 30))
        seen: list[Event] = []
        try:
            async with backend.source.watch(resource_version=version, timeout_seconds=WATCH_SECONDS) as stream:
                async for batch in batches_of(stream):
                    seen += batch
                    if len([event for event in seen if not isinstance(event, BookmarkEvent)]) >= 40:
                        break
        finally:
            await writing
        _check_order(version, seen)

    @_in_loop
    async def test_an_expired_version_is_reported_as_gone(self, backend: SourceBackend) -> None:
        await backend.put(self._key(0), "0")
        version = (await backend.source.list()).resource_version
        await self._write_many(backend, 5)
        expired = await backend.expire(version)
        with pytest.raises(GoneError):
            async with backend.source.watch(resource_version=expired, timeout_seconds=WATCH_SECONDS) as stream:
                await _next_change(stream)
        page = await backend.source.list()
        async with backend.source.watch(
            resource_version=page.resource_version, timeout_seconds=WATCH_SECONDS
        ) as stream:
            await backend.put(self._key(1), "after")
            assert backend.content_of((await _next_change(stream)).object) == "after"

    @_in_loop
    async def test_a_watch_ends_after_its_time(self, backend: SourceBackend) -> None:
        version = (await backend.source.list()).resource_version
        async with backend.source.watch(resource_version=version, timeout_seconds=1) as stream:
            async for event in stream:
                assert isinstance(event, BookmarkEvent)

    @_in_loop
    async def test_a_cancelled_watch_leaves_no_task(self, backend: SourceBackend) -> None:
        version = (await backend.source.list()).resource_version
        before = asyncio.all_tasks()
        opened = asyncio.Event()

        async def read() -> None:
            async with backend.source.watch(resource_version=version, timeout_seconds=WATCH_SECONDS) as stream:
                opened.set()
                while True:
                    await _next_change(stream)

        reading = asyncio.create_task(read())
        await opened.wait()
        await asyncio.sleep(0)
        reading.cancel()
        await asyncio.wait([reading])
        assert reading.cancelled()
        await asyncio.sleep(0)
        assert asyncio.all_tasks() <= before
        await backend.put(self._key(0), "0")
        assert len((await backend.source.list()).items) == 1

    @_in_loop
    async def test_an_unreachable_server_is_an_error_of_listwatch(self, backend: SourceBackend) -> None:
        source = backend.unreachable()
        with pytest.raises(ListWatchError):
            await source.list()
        with pytest.raises(ListWatchError):
            async with source.watch(resource_version="1", timeout_seconds=5) as stream:
                await _next_change(stream)

    # --- informers ---------------------------------------------------------------------------------------------------

    @_in_loop
    async def test_an_informer_converges_and_its_handlers_see_legal_histories(self, backend: SourceBackend) -> None:
        rng = random.Random(7)
        expected: dict[str, str] = {}
        informer: SharedIndexInformer[Cached] = SharedIndexInformer(backend.source, backend.kind)
        history = _History(backend)
        informer.add_handler(history)
        for number in range(3):
            expected[self._key(number)] = "initial"
            await backend.put(self._key(number), "initial")
        async with informer:
            await informer.wait_for_sync(TIMEOUT)
            for number in range(60):
                key = self._key(rng.randrange(8))
                if key in expected and rng.random() < 0.3:
                    del expected[key]
                    await backend.delete(key)
                else:
                    expected[key] = str(number)
                    await backend.put(key, str(number))
            while history.objects != expected:  # noqa: ASYNC110  # a handler has no end that could be awaited
                await asyncio.sleep(0.01)
            assert _contents(backend, informer.indexer.list()) == expected

    # --- support -----------------------------------------------------------------------------------------------------

    def _key(self, number: int) -> str:
        name = f"item-{number}"
        return f"{self.namespace}/{name}" if self.namespace else name

    async def _make_history(self, backend: SourceBackend) -> None:
        """Five changes of the objects 0, which exists, 1 and 2."""
        await backend.put(self._key(1), "1")
        await backend.put(self._key(0), "changed")
        await backend.put(self._key(2), "2")
        await backend.delete(self._key(1))
        await backend.put(self._key(0), "again")

    async def _write_many(self, backend: SourceBackend, count: int) -> None:
        for number in range(count):
            await backend.put(self._key(number % 4), f"write {number}")


class _History:
    """A handler that checks that the changes of each object are a possible history."""

    def __init__(self, backend: SourceBackend) -> None:
        self._content_of = backend.content_of
        self.objects: dict[str, str] = {}
        self._versions: dict[str, str] = {}

    def on_add(self, item: Cached) -> None:
        assert item.cache_key not in self.objects, f"{item.cache_key} was added twice"
        self._remember(item)

    def on_update(self, old: Cached, new: Cached) -> None:
        assert old.cache_key == new.cache_key
        assert self.objects[new.cache_key] == self._content_of(old), "an update skipped a state"
        self._remember(new)

    def on_delete(self, item: Cached) -> None:
        assert self.objects.pop(item.cache_key) == self._content_of(item), "a deletion has another last state"

    def _remember(self, item: Cached) -> None:
        before = self._versions.get(item.cache_key)
        assert before is None or is_newer(item.resource_version, before), "a version went back"
        self._versions[item.cache_key] = item.resource_version
        self.objects[item.cache_key] = self._content_of(item)


def _contents(backend: SourceBackend, items: Iterable[Cached]) -> dict[str, str]:
    return {item.cache_key: backend.content_of(item) for item in items}


async def _next_change(stream: AsyncIterator[Event]) -> ChangeEvent:
    """The next event that is no bookmark."""
    async for event in stream:
        if isinstance(event, ErrorEvent | UndecodableEvent):
            raise event.error
        if not isinstance(event, BookmarkEvent):
            return event
    raise AssertionError("the watch ended before its time")


def _check_order(start: str, events: Sequence[Event]) -> None:
    """Versions never go back, and an event is newer than every bookmark before it."""
    version, bookmark = start, start
    for event in events:
        assert not isinstance(event, ErrorEvent | UndecodableEvent), event.error
        found = event.object.resource_version
        assert not is_newer(version, found), f"{found} after {version}"
        if isinstance(event, BookmarkEvent):
            bookmark = found
        else:
            assert is_newer(found, bookmark), f"an event at {found} after a bookmark at {bookmark}"
        version = found

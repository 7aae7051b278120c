"""The contract of sources holds for a scripted source, and finds the mistakes of a source that breaks it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import listwatch as lw
from listwatch.client import AddedEvent, DeletedEvent, ModifiedEvent
from listwatch.errors import ExpiredError, ListWatchError
from listwatch.models.core_v1 import ConfigMap
from listwatch.testing import ScriptedSource, ScriptedWatch, SourceBackend, SourceContract


class ScriptedBackend(SourceBackend):
    """Writes a script for each request: the current objects for a list, the log since its version for a watch."""

    kind = ConfigMap

    def __init__(self) -> None:
        self._script: ScriptedSource[ConfigMap] = ScriptedSource(ConfigMap)
        self._objects: dict[str, ConfigMap] = {}
        self._log: list[Any] = []
        self._watches: list[ScriptedWatch[ConfigMap]] = []
        self._version, self._expired = 1, 0
        self.source = lw.ListWatch(list=self._list, watch=self._watch, chunking=False)

    async def put(self, key: str, content: str) -> None:
        event = ModifiedEvent if key in self._objects else AddedEvent
        self._objects[key] = self._object(key, content)
        self._send(event(self._objects[key]))

    async def delete(self, key: str) -> None:
        content = self.content_of(self._objects.pop(key))
        self._send(DeletedEvent(self._object(key, content)))

    def content_of(self, item: ConfigMap) -> str:
        return item.data["content"]

    async def expire(self, version: str) -> str:
        self._expired = self._version
        return version

    def _object(self, key: str, content: str) -> ConfigMap:
        self._version += 1
        metadata = {"name": key, "resourceVersion": str(self._version)}
        return ConfigMap.from_dict({"metadata": metadata, "data": {"content": content}})

    def _send(self, event: Any) -> None:
        self._log.append(event)
        for watch in self._watches:
            watch.send(event).bookmark(event.object.resource_version)

    async def _list(self) -> object:
        self._script.will_list(self._objects.values(), resource_version=str(self._version))
        return await self._script.list()

    @asynccontextmanager
    async def _watch(self, resource_version: str, timeout_seconds: int) -> AsyncIterator[object]:
        watch = self._script.will_watch()
        if int(resource_version) < self._expired:
            watch.fail(ExpiredError("expired"))
        for event in self._log:
            if int(event.object.resource_version) > int(resource_version):
                watch.send(event)
        self._watches.append(watch)
        end = asyncio.get_running_loop().call_later(timeout_seconds, watch.end)
        try:
            async with self._script.watch() as events:
                yield events
        finally:
            end.cancel()
            self._watches.remove(watch)


class TestScriptedSource(SourceContract):
    @asynccontextmanager
    async def backend(self) -> AsyncIterator[SourceBackend]:
        yield ScriptedBackend()


# --- what the contract finds ------------------------------------------------------------------------------------------


class _Losing(ScriptedBackend):
    """Forgets what was written between a list and a watch."""

    @asynccontextmanager
    async def _watch(self, resource_version: str, timeout_seconds: int) -> AsyncIterator[object]:
        async with super()._watch(str(self._version), timeout_seconds) as events:
            yield events


class _Repeating(ScriptedBackend):
    def _send(self, event: Any) -> None:
        super()._send(event)
        self._log.append(event)


class _RunningAhead(ScriptedBackend):
    def _send(self, event: Any) -> None:
        for watch in self._watches:
            watch.bookmark(event.object.resource_version)
        super()._send(event)


class _StartingAhead(ScriptedBackend):
    """Begins a watch with a bookmark of the current version, before the events up to it."""

    @asynccontextmanager
    async def _watch(self, resource_version: str, timeout_seconds: int) -> AsyncIterator[object]:
        version = str(self._version)
        log, self._log = self._log, []
        async with super()._watch(resource_version, timeout_seconds) as events:
            self._log = log
            self._watches[-1].bookmark(version)
            for event in log:
                self._watches[-1].send(event)
            yield events


class _Unexpired(ScriptedBackend):
    async def expire(self, version: str) -> str:
        self._log.clear()
        return version


class _Leaking(ScriptedBackend):
    @asynccontextmanager
    async def _watch(self, resource_version: str, timeout_seconds: int) -> AsyncIterator[object]:
        self._left = asyncio.create_task(asyncio.sleep(3600))
        async with super()._watch(resource_version, timeout_seconds) as events:
            yield events


@pytest.mark.parametrize(
    ("backend", "test"),
    [
        (_Losing, "test_a_watch_continues_after_every_version_that_was_delivered"),
        (_Repeating, "test_a_watch_delivers_every_change_since_the_list_once_and_in_order"),
        (_RunningAhead, "test_bookmarks_do_not_run_ahead_of_events"),
        (_StartingAhead, "test_bookmarks_do_not_run_ahead_of_events"),
        (_Unexpired, "test_an_expired_version_is_reported_as_gone"),
        (_Leaking, "test_a_cancelled_watch_leaves_no_task"),
    ],
)
def test_the_contract_fails_for_a_source_that_breaks_it(backend, test, monkeypatch):
    monkeypatch.setattr("listwatch.testing.source_contract.WATCH_SECONDS", 1)

    class Broken(SourceContract):
        @asynccontextmanager
        async def backend(self) -> AsyncIterator[SourceBackend]:
            yield backend()

    with pytest.raises((AssertionError, ListWatchError, pytest.fail.Exception)):
        getattr(Broken(), test)()

"""Watches: events, resource versions, bookmarks and their end."""

import asyncio
from typing import Any

import pytest
from tests.contract.client.samples import config_map
from tests.contract.target import Target

from listwatch.api.watch_events import AddedEvent, BookmarkEvent, DeletedEvent, ModifiedEvent, WatchEvent
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.rest.streams import WatchStream
from listwatch.client.wait.retry_watcher import RetryWatcher
from listwatch.errors import ExpiredError
from listwatch.meta import is_newer
from listwatch.models.core_v1 import ConfigMap

MINE = {"made-by": "the-test"}


@pytest.fixture
def config_maps(config_maps: ResourceClient[ConfigMap]) -> ResourceClient[ConfigMap]:
    """Only the objects of the test: some servers create one in every namespace."""
    return config_maps.selecting(label_selector=MINE)


async def create(config_maps: ResourceClient[ConfigMap], name: str, **labels: str) -> ConfigMap:
    return await config_maps.create(config_map(name, labels=MINE | labels))


async def take(watch: WatchStream[Any], count: int) -> list[tuple[type[WatchEvent[Any]], str]]:
    events = [await anext(watch) for _ in range(count)]
    return [(type(event), event.object.name) for event in events]


async def test_a_watch_sends_all_changes_after_a_version(config_maps: ResourceClient[ConfigMap]):
    await create(config_maps, "before")
    start = (await config_maps.list()).resource_version
    async with config_maps.watch(resource_version=start) as watch:
        made = await create(config_maps, "a")
        changed = await config_maps.patch("a", {"data": {"x": "1"}})
        await config_maps.delete("a")
        added, modified, deleted = [await anext(watch) for _ in range(3)]
    assert (type(added), added.object.to_dict()) == (AddedEvent, made.to_dict())
    assert (type(modified), modified.object.to_dict()) == (ModifiedEvent, changed.to_dict())
    assert (type(deleted), deleted.object.data) == (DeletedEvent, {"x": "1"})
    assert is_newer(deleted.object.resource_version, changed.resource_version)


@pytest.mark.parametrize("version", ["", "0"])
async def test_a_watch_without_a_version_starts_with_the_existing_objects(
    config_maps: ResourceClient[ConfigMap], version: str
):
    await create(config_maps, "a")
    async with config_maps.watch(resource_version=version) as watch:
        assert await take(watch, 1) == [(AddedEvent, "a")]
        await create(config_maps, "b")
        assert await take(watch, 1) == [(AddedEvent, "b")]


async def test_entering_a_selection_is_added_and_leaving_it_is_deleted(
    config_maps: ResourceClient[ConfigMap],
):
    start = (await create(config_maps, "a", tier="front")).resource_version
    async with config_maps.watch(label_selector={"tier": "back"}, resource_version=start) as watch:
        for tier in ("back", "back-office", "back"):
            await config_maps.patch("a", {"metadata": {"labels": {"tier": tier}}})
        assert await take(watch, 3) == [(AddedEvent, "a"), (DeletedEvent, "a"), (AddedEvent, "a")]


async def test_one_object_is_watched_by_its_name(config_maps: ResourceClient[ConfigMap]):
    start = (await config_maps.list()).resource_version
    async with config_maps.watch(field_selector={"metadata.name": "b"}, resource_version=start) as watch:
        for name in "ab":
            await create(config_maps, name)
        assert await take(watch, 1) == [(AddedEvent, "b")]


async def test_a_bookmark_ends_the_initial_events(config_maps: ResourceClient[ConfigMap]):
    made = await create(config_maps, "a")
    async with config_maps.watch(
        send_initial_events=True, resource_version_match="NotOlderThan", allow_watch_bookmarks=True
    ) as watch:
        assert await take(watch, 1) == [(AddedEvent, "a")]
        mark = await anext(watch)
        assert isinstance(mark, BookmarkEvent)
        assert mark.ends_initial_events
        assert not is_newer(made.resource_version, mark.resource_version)
        await create(config_maps, "b")
        assert await take(watch, 1) == [(AddedEvent, "b")]


async def test_a_watch_ends_after_its_timeout_with_a_bookmark(
    config_maps: ResourceClient[ConfigMap],
):
    start = (await config_maps.list()).resource_version
    async with config_maps.watch(resource_version=start, allow_watch_bookmarks=True, timeout_seconds=3) as watch:
        made = await create(config_maps, "a")
        events = [event async for event in watch]
    added, *marks = events
    assert (type(added), {type(mark) for mark in marks}) == (AddedEvent, {BookmarkEvent})
    assert not is_newer(made.resource_version, marks[-1].object.resource_version)


async def test_a_compacted_version_is_expired(client: ClientSet, namespace: str, target: Target):
    events = client.core_v1.events(namespace)
    about = {"kind": "Namespace", "namespace": namespace, "name": namespace}
    first = await events.create({"metadata": {"name": "a"}, "involvedObject": about})
    await events.delete("a")
    await events.create({"metadata": {"name": "b"}, "involvedObject": about})
    target.forget_history()
    async with events.watch(resource_version=first.resource_version) as watch:
        with pytest.raises(ExpiredError, match="too old"):
            await anext(watch)


async def test_events_can_be_read_in_batches(config_maps: ResourceClient[ConfigMap]):
    start = (await config_maps.list()).resource_version
    for name in "abc":
        await create(config_maps, name)
    seen: list[str] = []
    async with config_maps.watch(resource_version=start) as watch:
        async for batch in watch.batches():
            seen += [event.object.name for event in batch]
            if len(seen) == 3:
                break
    assert seen == ["a", "b", "c"]


async def test_closing_a_watch_ends_its_iteration(config_maps: ResourceClient[ConfigMap]):
    await create(config_maps, "a")
    seen = []
    async with config_maps.watch() as watch:
        async for event in watch:
            seen.append(event.object.name)
            watch.close()
    assert seen == ["a"]


class BrieflyWatched:
    """A client whose watches end after a second, and which signals the second watch."""

    def __init__(self, config_maps: ResourceClient[ConfigMap]) -> None:
        self._config_maps = config_maps
        self._versions: list[str] = []
        self.again = asyncio.Event()

    def watch(self, *, resource_version: str, allow_watch_bookmarks: bool) -> WatchStream[ConfigMap]:
        if self._versions:
            self.again.set()
        self._versions.append(resource_version)
        return self._config_maps.watch(
            resource_version=resource_version, allow_watch_bookmarks=allow_watch_bookmarks, timeout_seconds=1
        )


async def test_a_retry_watcher_resumes_where_a_watch_ended(config_maps: ResourceClient[ConfigMap]):
    source = BrieflyWatched(config_maps)
    async with RetryWatcher(source, (await config_maps.list()).resource_version) as watcher:
        await create(config_maps, "a")
        first = await anext(watcher)
        waiting = asyncio.create_task(anext(watcher))
        await source.again.wait()
        await create(config_maps, "b")
        second = await waiting
    assert [(type(event), event.object.name) for event in (first, second)] == [(AddedEvent, "a"), (AddedEvent, "b")]

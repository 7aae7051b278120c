"""Informers of objects that are not API objects: a user's structs and dataclasses."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator

import msgspec
import pytest

import listwatch as lw
from listwatch.api.watch_events import AddedEvent, BookmarkEvent, DeletedEvent, ModifiedEvent
from listwatch.cache import Keyed
from listwatch.errors import NotFoundError, SelectorError, UsageError
from listwatch.informer import ObjectAdded, ObjectDeleted, ObjectUpdated, Page
from listwatch.informer.mutation_detector import MutationDetector
from listwatch.keyed import set_key


class Service(Keyed, msgspec.Struct):
    address: str
    region: str = "eu"
    tags: dict[str, str] = {}


@dataclasses.dataclass
class Row:
    """It has the two attributes of its own, and no base class."""

    cache_key: str
    resource_version: str
    region: str = "eu"


def service(key: str, version: int, region: str = "eu", **tags: str) -> Service:
    item = Service(f"address of {key}", region, tags)
    set_key(item, key, str(version))
    return item


def row(key: str, version: int, region: str = "eu") -> Row:
    return Row(key, str(version), region)


class ScriptedEvents:
    """A source of listed objects and of the events that a test puts into `events`."""

    def __init__(self, *listed, version: int) -> None:
        self.page = Page(listed, str(version))
        self.events: asyncio.Queue[object] = asyncio.Queue()

    def list_watch(self) -> lw.ListWatch:
        return lw.ListWatch(list=lambda: self.page, watch=self.watch)

    async def watch(self, send_initial_events: bool | None) -> AsyncIterator[object]:
        if send_initial_events:
            for item in self.page.items:
                yield AddedEvent(item)
            yield BookmarkEvent.at(self.page.resource_version, ends_initial_events=True)
        while True:
            yield await self.events.get()


@pytest.mark.parametrize("make", [service, row])
@pytest.mark.parametrize("streaming", [True, False])
async def test_an_informer_caches_objects_of_any_class_with_a_key_and_a_version(make, streaming):
    script = ScriptedEvents(make("web/1", 3), make("web/2", 4, "us"), version=5)
    informer = lw.SharedIndexInformer(
        script.list_watch(),
        type(make("x", 1)),
        indexers={"region": lambda item: [item.region]},
        streaming=streaming,
    )
    seen = []
    async with informer:
        await informer.wait_for_sync(10)
        changes = informer.changes()
        seen += [await anext(changes), await anext(changes)]
        assert informer.indexer.index_keys("region", "us") == ["web/2"]
        script.events.put_nowait(ModifiedEvent(make("web/1", 6, "us")))
        script.events.put_nowait(DeletedEvent(make("web/2", 7, "us")))
        script.events.put_nowait(AddedEvent(make("db/1", 8)))
        script.events.put_nowait(BookmarkEvent.at("12"))
        await informer.wait_until("12", 10)
        seen += [await anext(changes) for _ in range(3)]
        await changes.aclose()
    assert [type(each) for each in seen] == [ObjectAdded, ObjectAdded, ObjectUpdated, ObjectDeleted, ObjectAdded]
    assert [each.object.cache_key for each in seen] == ["web/1", "web/2", "web/1", "web/2", "db/1"]
    assert informer.indexer.keys() == ["web/1", "db/1"]
    assert informer.indexer.index_keys("region", "us") == ["web/1"]
    assert informer.indexer.resource_version == "12"
    assert informer.statistics().resource is None
    assert "Service" in repr(informer) or "Row" in repr(informer)


async def test_a_lister_reads_by_namespace_name_and_field():
    items = service("web/1", 3), service("web/2", 4, "us", tier="gold"), service("db/1", 5, "us")
    script = ScriptedEvents(*items, version=5)
    informer = lw.SharedIndexInformer(script.list_watch(), Service)
    async with informer:
        await informer.wait_for_sync(10)
    lister = informer.lister
    assert lister.namespace("web").list() == [items[0], items[1]]
    assert lister.namespace("web").get("2") is items[1]
    assert lister.list(field_selector="region=us") == [items[1], items[2]]
    assert lister.list(field_selector="tags.tier=gold") == [items[1]]
    with pytest.raises(NotFoundError, match="web/3"):
        lister.get("web/3")
    with pytest.raises(SelectorError, match="Service has no field 'zone'"):
        lister.list(field_selector="zone=a")
    with pytest.raises(UsageError, match="Service web/1 has no labels"):
        lister.list("tier=gold")


async def test_objects_without_a_key_and_of_another_class_are_reported_and_skipped():
    script = ScriptedEvents(service("web/1", 3), Service("no key"), row("web/2", 4), version=5)
    problems = []
    informer = lw.SharedIndexInformer(script.list_watch(), Service, on_problem=problems.append, streaming=False)
    async with informer:
        await informer.wait_for_sync(10)
    assert informer.indexer.keys() == ["web/1"]
    assert [str(each.error) for each in problems] == [
        "Service without a key: expected Service, got an object without a key",
        "Row web/2: expected Service, got Row",
    ]


@pytest.mark.parametrize("kind", [dict, int, msgspec.Struct])
def test_a_class_without_a_key_is_rejected(kind):
    with pytest.raises(UsageError, match=r"has no cache_key and no resource_version.*listwatch.cache.Keyed"):
        lw.SharedIndexInformer(lw.ListWatch(list=list, watch=list), kind)


def test_the_mutation_detector_finds_a_changed_struct():
    problems: list[Exception] = []
    detector: MutationDetector[Service] = MutationDetector(problems.append)
    item = service("web/1", 3)
    detector.remember([ObjectAdded(item)])
    detector.check()
    assert problems == []
    item.region = "us"
    detector.check()
    assert "the cached Service web/1 was changed in place" in str(problems[0])


async def test_a_failing_handler_is_logged_with_the_key(caplog):
    script = ScriptedEvents(service("web/1", 3), version=5)
    informer = lw.SharedIndexInformer(script.list_watch(), Service)
    informer.add_handler(on_add=lambda item: 1 / 0)
    async with informer:
        await informer.wait_for_sync(10)
    assert "failed on ADDED Service web/1" in caplog.text


async def test_a_controller_and_a_manager_without_a_client_reconcile_such_objects():
    script = ScriptedEvents(service("web/1", 3), version=5)
    informer = lw.SharedIndexInformer(script.list_watch(), Service)
    reconciled: asyncio.Queue[tuple[lw.ObjectKey, str | None]] = asyncio.Queue()

    async def reconcile(key, context):
        found = context.get()
        reconciled.put_nowait((key, found and found.region))

    manager = lw.Manager()
    controller = manager.add(lw.Controller(reconcile, for_=informer))
    async with informer, manager:
        assert await reconciled.get() == (lw.ObjectKey("web", "1"), "eu")
        script.events.put_nowait(ModifiedEvent(service("web/1", 6, "us")))
        assert await reconciled.get() == (lw.ObjectKey("web", "1"), "us")
        script.events.put_nowait(DeletedEvent(service("web/1", 7, "us")))
        assert await reconciled.get() == (lw.ObjectKey("web", "1"), None)
        controller.enqueue(service("db/1", 8))
        assert await reconciled.get() == (lw.ObjectKey("db", "1"), None)
        assert controller.lister(Service) is informer.lister
        assert manager.statistics().informers == ()
    with pytest.raises(UsageError, match="no client"):
        _ = manager.factory


def test_leader_election_by_name_needs_a_client():
    with pytest.raises(UsageError, match="leader_election= needs a client"):
        lw.Manager(leader_election="lock")


def test_fields_of_objects_without_received_bytes_cannot_be_dropped():
    with pytest.raises(UsageError, match=r"drop_fields needs objects of a Kubernetes API; .* pass a transform"):
        lw.SharedIndexInformer(ScriptedEvents(version=1).list_watch(), Service, drop_fields=["address"])

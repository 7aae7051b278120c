"""A relist keeps the cached instances of unchanged objects, in both formats, by list and by stream."""

import asyncio
import gc
import weakref

import pytest
from msgspec import json
from tests.protobuf.wire import METADATA

from listwatch.api.watch_events import BatchedEvent, EventReader, UnchangedEvents
from listwatch.backoff import Backoff
from listwatch.cache.compact.codec import Codec
from listwatch.cache.compact.entry import Instances
from listwatch.client.resources.client_set import ClientSet
from listwatch.errors import UsageError
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.informer.storage_options import PackingPolicy
from listwatch.models.core_v1 import ConfigMap, ConfigMapList
from listwatch.objects.caching.known_objects import KnownObjects
from listwatch.objects.caching.transforms import strip_managed_fields
from listwatch.protobuf import encode_object
from listwatch.server import APIServer

SHORT = Backoff(initial=0.001, cap=0.001)


@pytest.mark.parametrize("transform", [None, strip_managed_fields])
@pytest.mark.parametrize("content_type", ["json", "protobuf"])
@pytest.mark.parametrize("streaming", [True, False])
async def test_a_relist_keeps_unchanged_instances_and_replaces_the_others(content_type, streaming, transform):
    async with APIServer() as server, ClientSet(server.config) as client:
        config_maps = client.core_v1.configmaps("default")
        for name in "abcd":
            await config_maps.create({"metadata": {"name": name}, "data": {"round": "0"}})
        source = config_maps.with_content_type(content_type)
        seen: list[str] = []
        informer = SharedIndexInformer(source, ConfigMap, streaming=streaming, transform=transform, backoff=SHORT)
        informer.add_handler(
            on_update=lambda _, new: seen.append(new.name), on_delete=lambda old: seen.append(old.name)
        )
        async with asyncio.timeout(30), informer:
            await informer.wait_for_sync()
            before = {item.name: item for item in informer.indexer}
            await relist(informer)
            assert all(before[item.name] is item for item in informer.indexer)
            changed = await config_maps.patch("b", {"data": {"round": "1"}})
            await config_maps.delete("c")
            await relist(informer)
            await informer.wait_until(changed.resource_version)
            while "default/c" in informer.indexer or len(seen) < 2:  # noqa: ASYNC110  # of another component
                await asyncio.sleep(0)
            after = {item.name: item for item in informer.indexer}
            assert set(after) == {"a", "b", "d"}
            assert [after[name] is before[name] for name in "abd"] == [True, False, True]
            assert after["b"].data == {"round": "1"}
        assert sorted(seen) == ["b", "c"]


@pytest.mark.parametrize("content_type", ["json", "protobuf"])
@pytest.mark.parametrize("streaming", [True, False])
async def test_no_watch_keeps_the_objects_that_were_cached_before_a_relist(content_type, streaming):
    async with APIServer(bootstrap=False) as server, ClientSet(server.config) as client:
        config_maps = client.core_v1.configmaps("default").with_content_type(content_type)
        await config_maps.create({"metadata": {"name": "a"}})
        informer = SharedIndexInformer(config_maps, ConfigMap, streaming=streaming, backoff=SHORT)
        async with asyncio.timeout(30), informer:
            await informer.wait_for_sync()
            await relist(informer)
            changed = await config_maps.patch("a", {"data": {"round": "1"}})
            await informer.wait_until(changed.resource_version)
            gc.collect()
            assert not [each for each in gc.get_objects() if isinstance(each, KnownObjects)]


@pytest.mark.parametrize("streaming", [True, False])
async def test_a_relist_succeeds_if_the_server_has_another_order_than_the_cache(streaming):
    async with APIServer(bootstrap=False) as server, ClientSet(server.config) as client:
        config_maps = client.core_v1.configmaps("default")
        await config_maps.create({"metadata": {"name": "b"}})
        informer = SharedIndexInformer(config_maps, ConfigMap, streaming=streaming, backoff=SHORT)
        async with asyncio.timeout(30), informer:
            await informer.wait_for_sync()
            made = await config_maps.create({"metadata": {"name": "a"}})
            await informer.wait_until(made.resource_version)
            before = {item.name: item for item in informer.indexer}
            assert [*before] == ["b", "a"]
            await relist(informer)
            assert {item.name: item for item in informer.indexer} == before
            assert informer._pipelines[0].reflector.statistics().synced_by == ("stream" if streaming else "list")


class CompactInformer(SharedIndexInformer[ConfigMap]):
    """Packs few objects, at once."""

    _packing_policy = PackingPolicy(delay=0.0, min_samples=4, samples=8, batch=4, in_thread=False)


@pytest.mark.parametrize("drop_fields", [(), ("metadata.managedFields",)])
@pytest.mark.parametrize("content_type", ["json", "protobuf"])
@pytest.mark.parametrize("streaming", [True, False])
async def test_a_relist_of_a_compact_store_keeps_unchanged_entries_and_opens_nothing(
    content_type, streaming, drop_fields
):
    async with APIServer() as server, ClientSet(server.config) as client:
        config_maps = client.core_v1.configmaps("default")
        for name in "abcdefgh":
            await config_maps.create({"metadata": {"name": name}, "data": {"round": "0" * 300}})
        source = config_maps.with_content_type(content_type)
        informer = CompactInformer(
            source, ConfigMap, streaming=streaming, compact=True, drop_fields=drop_fields, backoff=SHORT
        )
        async with asyncio.timeout(30), informer:
            await informer.wait_for_sync()
            while informer.statistics().compact.packed < 8:  # noqa: ASYNC110  # of another component
                await asyncio.sleep(0)
            before = dict(informer.indexer._store.objects)
            await relist(informer)
            assert all(informer.indexer._store.objects[key] is entry for key, entry in before.items())
            changed = await config_maps.patch("b", {"data": {"round": "1"}})
            await config_maps.delete("c")
            await relist(informer)
            await informer.wait_until(changed.resource_version)
            after = informer.indexer._store.objects
            assert [name for name in "abdefgh" if after[f"default/{name}"] is not before[f"default/{name}"]] == ["b"]
            assert informer.statistics().compact.opened == 0
            assert informer.indexer.get("default/d").data == {"round": "0" * 300}


async def relist(informer: SharedIndexInformer[ConfigMap]) -> None:
    (pipeline,) = informer._pipelines
    syncs = pipeline.reflector.statistics().syncs
    pipeline.relist(UsageError("a test"))
    while pipeline.reflector.statistics().syncs == syncs or len(pipeline.fifo):  # noqa: ASYNC110  # of another component
        await asyncio.sleep(0)


UID = METADATA["uid"]
TREE = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": METADATA}
HEAD = b'{"metadata":{"name":"web-0","namespace":"default",'
PAIR = b'"uid":"%b","resourceVersion":"1000"' % str(UID).encode()


def recognized(raw: bytes) -> bool:
    item = ConfigMap.from_dict(TREE)
    return KnownObjects({item.cache_key: item}).reader(ConfigMap, ConfigMap.from_wire)(raw) is item


ITEM = HEAD + PAIR + b"}}"
OTHER = ITEM.replace(b"web-0", b"web-1").replace(b'"1000"', b'"1001"')


def test_a_list_contains_the_known_instances_and_new_ones():
    item = ConfigMap.from_wire(ITEM)
    start = b'{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":['
    work = ConfigMapList.reading([start + ITEM + b"," + OTHER + b"]}"], known=KnownObjects({item.cache_key: item}))
    try:
        while True:
            next(work)
    except StopIteration as end:
        first, second = end.value
    assert first is item
    assert (second.name, second.resource_version) == ("web-1", "1001")


def test_a_watch_contains_the_known_instances_until_they_are_forgotten():
    item = ConfigMap.from_wire(ITEM)
    line = b'{"type":"ADDED","object":' + ITEM + b"}\n"
    reader = EventReader(ConfigMap, known=KnownObjects({item.cache_key: item}))
    known, other = reader.feed(line + line.replace(ITEM, OTHER))
    assert known == UnchangedEvents({"default/web-0": item})
    assert other.object.name == "web-1"
    reader.forget_known()
    (again,) = (event.object for event in reader.feed(line))
    assert again == item
    assert again is not item


def versioned(number: int, version: int) -> bytes:
    metadata = {
        **METADATA,
        "name": f"web-{number}",
        "uid": f"{number:08d}{str(UID)[8:]}",
        "resourceVersion": str(version),
    }
    return json.encode({**TREE, "metadata": metadata, "data": {"text": '}\n{"type":"ADDED"' * (number % 3)}})


def initial_events(*, changed: int, deleted: int) -> bytes:
    """Objects as they are cached, without one, with a changed one and a new one, a bookmark, and a later change."""
    added = [(number, 7 if number == changed else 1) for number in range(12) if number != deleted]
    lines = [b'{"type":"ADDED","object":%b}' % versioned(*each) for each in (*added, (99, 1))]
    lines[3] = lines[3].replace(b":", b": ", 1)  # another format
    end = b'{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"9"}}}'
    return b"\n".join([*lines, end, b'{"type":"ADDED","object":%b}' % versioned(1, 1), b""])


@pytest.mark.parametrize("form", ["objects", "entries", "objects of a list"])
def test_a_stream_in_pieces_of_any_size_has_the_same_events_with_known_objects(form: str):
    text = initial_events(changed=5, deleted=8)
    cached = [ConfigMap.from_wire(versioned(number, 1)) for number in range(12)]
    if form == "objects of a list":
        start = b'{"kind":"ConfigMap","apiVersion":"v1",'
        cached = [ConfigMap.from_wire(b"{" + each._raw.removeprefix(start)) for each in cached]
    instances = Instances(ConfigMap, Codec(None))
    stored = [instances.entry_of(each, b"") if form == "entries" else each for each in cached]
    known = {item.cache_key: each for item, each in zip(cached, stored, strict=True)}
    expected = [(event.type, event.object.cache_key, event.object.resource_version) for event in read(text, len(text))]
    for size in (1, 7, 100, 450, 1000, len(text)):
        found = read(text, size, KnownObjects(known))
        unchanged = {key: item for event in found if event.type == "UNCHANGED" for key, item in event.objects.items()}
        assert all(known[key] is item for key, item in unchanged.items())
        assert unchanged.keys() == known.keys() - {"default/web-3", "default/web-5", "default/web-8"}
        assert [each for event in found for each in separated(event)] == expected


def read(text: bytes, size: int, known: KnownObjects[ConfigMap] | None = None) -> list[BatchedEvent[ConfigMap]]:
    reader = EventReader(ConfigMap, known=known)
    return [event for start in range(0, len(text), size) for event in reader.feed(text[start : start + size])]


def separated(event: BatchedEvent[ConfigMap]) -> list[tuple[str, str, str]]:
    if isinstance(event, UnchangedEvents):
        return [("ADDED", key, item.resource_version) for key, item in event.objects.items()]
    return [(event.type, event.object.cache_key, event.object.resource_version)]


def test_an_object_is_recognized_where_servers_write_its_uid_and_version():
    assert recognized(HEAD + PAIR + b"}}")
    assert recognized(b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"web-0",' + PAIR + b"}}")
    assert recognized(encode_object(TREE))


@pytest.mark.parametrize(
    "raw",
    [
        HEAD + PAIR.replace(b'"1000"', b'"10001"') + b"}}",
        HEAD + PAIR.replace(b'"1000"', b'"100"') + b"}}",
        HEAD + b'"annotations":{' + PAIR + b"}}}",  # those of another object, quoted
        HEAD + b'"ownerReferences":[{' + PAIR + b"}]}}",
        b'{"data":{' + PAIR + b'},"metadata":{"name":"web-0"}}',
        b'{"data":{"metadata":"x"},"metadata":{"name":"web-0",' + PAIR + b"}}",
        encode_object({**TREE, "metadata": {**METADATA, "resourceVersion": "1001"}}),
        encode_object({**TREE, "metadata": {**METADATA, "uid": "612e7696-a6ce-4c1b-b8e5-10617311d8a4"}}),
    ],
)
def test_another_object_is_not_taken_for_a_known_one(raw: bytes):
    assert not recognized(raw)


async def test_a_quiet_watch_does_not_keep_its_last_events():
    async with APIServer() as server, ClientSet(server.config) as client:
        config_maps = client.core_v1.configmaps("default")
        informer = SharedIndexInformer(config_maps, ConfigMap)
        async with informer:
            await informer.wait_for_sync(timeout=30)
            made = await config_maps.create({"metadata": {"name": "a"}})
            await informer.wait_until(made.resource_version, timeout=30)
            stored = informer.indexer.get("default/a")
            assert stored is not None
            reference = weakref.ref(stored)
            informer.indexer.delete(stored)
            del stored
            async with asyncio.timeout(30):
                while reference() is not None:
                    gc.collect()
                    await asyncio.sleep(0.001)  # the informer completes the batch meanwhile

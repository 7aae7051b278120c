"""A relist keeps the cached instances of unchanged objects, in both formats, by list and by stream."""

import asyncio

import pytest
from tests.protobuf.wire import METADATA

from listwatch.api.watch_events import EventReader
from listwatch.backoff import Backoff
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
    first, second = (event.object for event in reader.feed(line + line.replace(ITEM, OTHER)))
    assert first is item
    assert second.name == "web-1"
    reader.forget_known()
    (again,) = (event.object for event in reader.feed(line))
    assert again == item
    assert again is not item


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

"""Shard selectors of clients, on servers that evaluate them and on servers that ignore them."""

from collections.abc import AsyncIterator

import pytest

import listwatch as lw
from listwatch.errors import SelectorError, UsageError
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects import ObjectMeta
from listwatch.server import APIServer
from listwatch.sharding import ShardSpace

SPACE = ShardSpace(4)
NAMES = [f"map-{number}" for number in range(24)]


@pytest.fixture(params=[True, False], ids=["evaluated", "ignored"])
async def server(request: pytest.FixtureRequest) -> AsyncIterator[APIServer]:
    async with APIServer(shard_selectors=request.param, seed=7) as server:
        yield server


@pytest.fixture
async def client(server: APIServer) -> AsyncIterator[lw.ClientSet]:
    async with lw.ClientSet(server.config) as client:
        for name in NAMES:
            await client.core_v1.configmaps("default").create(ConfigMap(metadata=ObjectMeta(name=name)))
        yield client


def selector(*shards: int) -> str:
    return str(SPACE.selector(shards))


async def test_each_object_is_listed_by_one_shard(client: lw.ClientSet):
    maps = client.core_v1.configmaps("default")
    listed = [[each.name for each in (await maps.list(shard_selector=selector(shard))).items] for shard in range(4)]
    assert all(listed)
    assert sorted(name for names in listed for name in names) == sorted(NAMES)
    for shard, names in enumerate(listed):
        assert {SPACE.shard_of((await maps.get(name)).uid) for name in names} == {shard}


async def test_pages_and_metadata_have_the_objects_of_their_shards_only(client: lw.ClientSet, server: APIServer):
    maps = client.core_v1.configmaps("default")
    expected = [each.name for each in await maps.list(shard_selector=selector(0, 1))]
    paged = [each.name async for page in maps.pages(page_size=5, shard_selector=selector(0, 1)) for each in page]
    assert paged == expected
    async with lw.MetadataClient(server.config) as metadata:
        listed = await metadata.resource("v1", "ConfigMap").namespace("default").list(shard_selector=selector(0, 1))
        assert [each.name for each in listed] == expected


async def test_a_watch_and_an_informer_have_the_objects_of_their_shards_only(client: lw.ClientSet):
    maps = client.core_v1.configmaps("default").selecting(shard_selector=selector(2, 3))
    expected = {each.name for each in (await maps.list()).items}
    async with lw.SharedIndexInformer(maps, ConfigMap) as informer:
        await informer.wait_for_sync(timeout=30)
        assert {each.name for each in informer.lister.list()} == expected
        for name in NAMES:
            await maps.patch(name, {"data": {"changed": name}})
        last = max((each.resource_version for each in await maps.list()), key=int)
        await informer.wait_until(last, timeout=30)
        assert {each.name for each in informer.lister.list() if each.data == {"changed": each.name}} == expected


async def test_a_collection_is_deleted_by_shards_only_if_the_server_evaluates_them(
    client: lw.ClientSet, server: APIServer
):
    maps = client.core_v1.configmaps("default")
    selected = {each.name for each in await maps.list(shard_selector=selector(0))}
    if (await maps.list(shard_selector=selector(0), limit=1)).metadata.shard_info:
        await maps.delete_collection(shard_selector=selector(0))
        assert {each.name for each in await maps.list()} == set(NAMES) - selected
    else:
        with pytest.raises(UsageError, match="would delete the objects of all shards"):
            await maps.delete_collection(shard_selector=selector(0))
        assert {each.name for each in await maps.list()} == set(NAMES)
        assert not server.requests.matching(verb="deletecollection")


async def test_a_malformed_selector_is_an_error_before_a_request(client: lw.ClientSet, server: APIServer):
    maps = client.core_v1.configmaps("default")
    before = server.statistics().requests
    for wrong in ("nonsense", "shardRange(object.metadata.name, '0x0', '0x1')"):
        with pytest.raises(SelectorError):
            maps.watch(shard_selector=wrong)
    with pytest.raises(UsageError, match="cannot be combined"):
        await maps.selecting(shard_selector=selector(0)).list(shard_selector=selector(1))
    assert server.statistics().requests == before

"""MetadataClient, on servers that send metadata only and on others."""

import json

import pytest
from tests.client.scripted import scripted

from listwatch.api.watch_events import DeletedEvent, ModifiedEvent
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.metadata_client import MetadataClient
from listwatch.errors import DecodeError, NotFoundError
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.partial_object import PartialObjectMetadata
from listwatch.server import APIServer
from listwatch.testing.scripted_server import LAST_CHUNK, chunk, respond, stream_head

FULL = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a", "namespace": "default", "uid": "u", "resourceVersion": "7", "labels": {"x": "y"}},
    "data": {"big": "x" * 100},
}


def config_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, labels={"app": name}), data={"x": "1"})


async def test_a_metadata_client_can_be_created_alone(server: APIServer, client: ClientSet):
    await client.core_v1.configmaps("default").create(config_map("a"))
    async with MetadataClient(server.config) as metadata:
        [found] = await metadata.resource("v1", "ConfigMap").namespace("default").list(field_selector="metadata.name=a")
    assert isinstance(found, PartialObjectMetadata)
    assert (found.name, found.labels) == ("a", {"app": "a"})
    assert found.to_dict().keys() == {"apiVersion", "kind", "metadata"}


async def test_metadata_clients_read_watch_patch_and_delete(client: ClientSet):
    await client.core_v1.configmaps("default").create(config_map("a"))
    metadata = client.metadata.resource("cm", namespace="default")
    found = await metadata.get("a")
    assert found.metadata.labels == {"app": "a"}

    async with metadata.watch(resource_version=found.resource_version) as events:
        changed = await metadata.patch("a", {"metadata": {"labels": {"seen": "yes"}}})
        assert changed.labels == {"app": "a", "seen": "yes"}
        assert await metadata.delete("a") is None
        first, second = await anext(events), await anext(events)
    assert (type(first), first.object.labels) == (ModifiedEvent, changed.labels)
    assert type(second) is DeletedEvent
    assert b'"data"' not in first.object.to_json()
    with pytest.raises(NotFoundError):
        await metadata.get("a")


async def test_pages_and_collections_work_as_for_whole_objects(client: ClientSet):
    for name in ("a", "b", "c"):
        await client.core_v1.configmaps("default").create(config_map(name))
    metadata = client.metadata.resource("cm", namespace="default").selecting(label_selector="app")
    assert [len(page) async for page in metadata.pages(page_size=2)] == [2, 1]
    assert len(await metadata.delete_collection(label_selector="app in (a, b)")) == 2
    assert [each.name for each in await metadata.list()] == ["c"]


async def test_metadata_is_requested_and_plain_json_is_accepted():
    listed = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": {}, "items": []}
    replies = [respond(200, json.dumps(FULL).encode()), respond(200, json.dumps(listed).encode())]
    async with scripted(*replies, [stream_head(), LAST_CHUNK]) as (server, client):
        metadata = client.metadata.resource("v1", "ConfigMap", namespace="default")
        await metadata.get("a")
        await metadata.list()
        assert [event async for event in metadata.watch()] == []
    assert [each.headers["accept"] for each in server.requests] == [
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
    ]


async def test_a_server_that_sends_whole_objects_is_accepted():
    listed = {"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}, "items": [FULL, FULL]}
    event = json.dumps({"type": "ADDED", "object": FULL}).encode() + b"\n"
    replies = [respond(200, json.dumps(FULL).encode()), respond(200, json.dumps(listed).encode())]
    async with scripted(*replies, [stream_head(), chunk(event), LAST_CHUNK]) as (_, client):
        metadata = client.metadata.resource("v1", "ConfigMap", namespace="default")
        one = await metadata.get("a")
        many = await metadata.list()
        [seen] = [event async for event in metadata.watch()]
    for each in (one, *many, seen.object):
        assert (each.name, each.uid, each.labels) == ("a", "u", {"x": "y"})
        assert b"big" not in each.to_json()
    assert many.resource_version == "9"


@pytest.mark.parametrize("body", [b'{"kind":"Thing"}', b'{"metadata":{}}', b'{"metadata":{"labels":{}}}'])
async def test_a_response_without_metadata_is_an_error(body: bytes):
    async with scripted(respond(200, body)) as (_, client):
        with pytest.raises(DecodeError, match="not the metadata of an object"):
            await client.metadata.resource("v1", "ConfigMap", namespace="default").get("a")


async def test_a_metadata_client_is_a_source_of_informers(client: ClientSet):
    kind, resource, source = client.metadata.source(
        ConfigMap, namespace="default", label_selector="a=b", field_selector=""
    )
    assert (kind, resource) == (PartialObjectMetadata, ConfigMap.resource)
    assert list(await source.list()) == []

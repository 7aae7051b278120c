"""Clients and informers that read and write protobuf see and do the same as those with JSON."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from tests.contract.client.samples import config_map, deployment
from tests.contract.server.kinds import KINDS, Kind

from listwatch.api.watch_events import AddedEvent, BookmarkEvent, ModifiedEvent
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.discovery.discovery_client import DiscoveryClient
from listwatch.client.resources.base_resource_client import BaseResourceClient
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.resources.metadata_client import MetadataClient
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.errors import ConflictError, NotFoundError
from listwatch.factory.factory import SharedInformerFactory
from listwatch.models import lookup, resources
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList
from listwatch.objects.unstructured import Unstructured


@pytest.fixture
def protobuf_config(config: ClientConfig) -> ClientConfig:
    return replace(config, content_type="protobuf")


@pytest.fixture
async def protobuf(protobuf_config: ClientConfig) -> AsyncIterator[ClientSet]:
    async with ClientSet(protobuf_config) as client:
        yield client


def is_protobuf(item: Object) -> bool:
    return item._raw.startswith(b"k8s\0")


async def both_lists(client: BaseResourceClient[Any], other: BaseResourceClient[Any]) -> tuple[Any, Any]:
    """The same lists in the order of the names, read until nothing changed in between.

    A server returns objects that it does not store, such as ComponentStatus, in any order and without a version.
    """
    while True:
        one, two, again = await client.list(), await other.list(), await client.list()
        for each in (one, two, again):
            each.items.sort(key=lambda item: (item.namespace, item.name))
        if [item.to_dict() for item in one] == [item.to_dict() for item in again]:
            two.metadata.resource_version = one.metadata.resource_version
            return one, two


@pytest.mark.parametrize("kind", KINDS, ids=str)
async def test_lists_and_watches_of_every_kind_are_equal(
    config: ClientConfig, protobuf: ClientSet, namespace: str, kind: Kind
):
    model: Any = lookup(kind.version, kind.kind)
    place = namespace if kind.namespaced else ""
    metadata = {"name": namespace, **(kind.metadata or {})}
    async with ClientSet(config) as client:
        json, other = client.resource(model, namespace=place), protobuf.resource(model, namespace=place)
        made = await json.create({"metadata": metadata, **kind.fields})
        try:
            await check_lists_and_watches(json, other, made.name)
        finally:
            await json.patch(made.name, {"metadata": {"finalizers": None}})
            await json.delete(made.name, grace_period_seconds=0)


async def check_lists_and_watches(json: ResourceClient[Any], other: ResourceClient[Any], name: str) -> None:
    listed, received = await both_lists(json, other)
    assert received == listed
    assert all(map(is_protobuf, received))
    assert not any(map(is_protobuf, listed))
    assert received.to_dict() == listed.to_dict()
    for one, two in zip(received, listed, strict=True):
        for part in one.lazy_fields:
            assert getattr(one, part) == getattr(two, part)
        assert one == two
    by_name = {(each.namespace, each.name): each for each in listed}
    async with other.watch(
        send_initial_events=True, resource_version_match="NotOlderThan", allow_watch_bookmarks=True
    ) as watch:
        async for event in watch:
            if isinstance(event, BookmarkEvent):
                assert event.ends_initial_events
                break
            item = event.object
            known = by_name[item.namespace, item.name]
            assert is_protobuf(item)
            assert item.resource_version != known.resource_version or item == known
    # Sent back unchanged and with a change.
    current = await other.get(name)
    current.metadata.labels = {**current.metadata.labels, "changed": "here"}
    changed = await other.update(current)
    assert changed.labels["changed"] == "here"
    assert is_protobuf(changed)


async def test_lists_of_all_resources_of_the_server_are_equal(config: ClientConfig, protobuf_config: ClientConfig):
    builtin = {(each.api_version, each.plural) for each in resources()}
    seen = 0
    async with DynamicClient(config) as client, DynamicClient(protobuf_config) as other:
        for each in (await DiscoveryClient(client.rest).server_groups_and_resources()).resources:
            if (each.api_version, each.plural) not in builtin or "list" not in each.verbs:
                continue
            listed, received = await both_lists(client.resource(each.gvr), other.resource(each.gvr))
            assert received == listed, each
            assert all(map(is_protobuf, received))
            seen += 1
    assert seen > 40


async def test_objects_are_created_updated_patched_and_deleted(protobuf: ClientSet, client: ClientSet, namespace: str):
    config_maps = protobuf.core_v1.configmaps(namespace)
    made = await config_maps.create(config_map("a", x="1"))
    assert is_protobuf(made)
    assert made == await client.core_v1.configmaps(namespace).get("a")
    made.data["x"] = "2"
    updated = await config_maps.update(made)
    assert updated.data == {"x": "2"}
    with pytest.raises(ConflictError):
        await config_maps.update(made)
    patched = await config_maps.patch("a", {"data": {"y": "3"}})
    assert (patched.data, is_protobuf(patched)) == ({"x": "2", "y": "3"}, True)
    applied = await config_maps.apply({"metadata": {"name": "b"}, "data": {"z": "1"}}, field_manager="me")
    assert applied.data == {"z": "1"}
    await config_maps.delete("a")
    with pytest.raises(NotFoundError, match='"a" not found'):
        await config_maps.get("a")


async def test_subresources_are_protobuf_too(protobuf: ClientSet, namespace: str):
    deployments = protobuf.apps_v1.deployments(namespace)
    await deployments.create(deployment("web"))
    scale = await deployments.get_scale("web")
    scale.spec.replicas = 3
    assert (await deployments.update_scale("web", scale)).spec.replicas == 3
    found = await deployments.get("web")
    found.status.observed_generation = 5
    assert (await deployments.update_status(found)).status.observed_generation == 5


async def test_an_object_of_one_format_is_sent_by_a_client_of_the_other(
    protobuf: ClientSet, client: ClientSet, namespace: str
):
    made = await protobuf.core_v1.configmaps(namespace).create(config_map("a", x="1"))
    made.data["x"] = "2"
    updated = await client.core_v1.configmaps(namespace).update(made)
    assert (updated.data, is_protobuf(updated)) == ({"x": "2"}, False)
    updated.data["x"] = "3"
    again = await protobuf.core_v1.configmaps(namespace).update(updated)
    assert (again.data, is_protobuf(again)) == ({"x": "3"}, True)


async def test_a_content_type_can_be_chosen_for_one_resource(client: ClientSet, namespace: str):
    config_maps = client.core_v1.configmaps(namespace).with_content_type("protobuf")
    assert is_protobuf(await config_maps.create(config_map("a")))
    assert not is_protobuf(await config_maps.with_content_type("json").get("a"))
    assert is_protobuf((await config_maps.without_managed_fields().list())[0])


async def test_dynamic_and_metadata_clients_read_protobuf(
    protobuf_config: ClientConfig, config: ClientConfig, namespace: str
):
    async with DynamicClient(protobuf_config) as dynamic, MetadataClient(protobuf_config) as metadata:
        deployments = dynamic.resource("apps/v1", "Deployment").namespace(namespace)
        made = await deployments.create(deployment("web").to_dict())
        assert (type(made), made.kind, made["spec"]["replicas"], is_protobuf(made)) == (
            Unstructured,
            "Deployment",
            1,
            True,
        )
        made["spec"]["replicas"] = 2
        assert (await deployments.update(made)).metadata.generation == 2
        partial = metadata.resource("apps/v1", "Deployment").namespace(namespace)
        found, listed = await partial.get("web"), await partial.list()
        assert is_protobuf(found)
        assert is_protobuf(listed[0])
        async with MetadataClient(config) as json:
            expected = json.resource("apps/v1", "Deployment").namespace(namespace)
            assert (found, listed[0]) == (await expected.get("web"), (await expected.list())[0])


async def test_a_plain_request_is_decoded_from_protobuf(protobuf: ClientSet, client: ClientSet, namespace: str):
    await protobuf.core_v1.configmaps(namespace).create(config_map("a", x="1"))
    result = await protobuf.rest.get().namespace(namespace).resource("configmaps").name("a").do()
    assert result.raw.startswith(b"k8s\0")
    plain = await client.rest.get().namespace(namespace).resource("configmaps").name("a").do()
    assert result.into(dict) == plain.into(dict)
    assert result.into(ConfigMap) == plain.into(ConfigMap)
    listed = await protobuf.rest.get().namespace(namespace).resource("configmaps").do()
    assert "a" in {each.name for each in listed.into_list(ConfigMap)}
    version = await protobuf.rest.get().abs_path("/version").do()
    assert "gitVersion" in version.into(dict)


async def test_a_watch_reports_changes_and_the_end_of_its_version(protobuf: ClientSet, namespace: str):
    config_maps = protobuf.core_v1.configmaps(namespace)
    start: ObjectList[ConfigMap] = await config_maps.list()
    async with config_maps.watch(resource_version=start.resource_version) as watch:
        made = await config_maps.create(config_map("a", x="1"))
        made.data["x"] = "2"
        changed = await config_maps.update(made)
        first, second = await anext(watch), await anext(watch)
    assert (type(first), type(second)) == (AddedEvent, ModifiedEvent)
    assert second.object == changed


async def test_an_informer_keeps_protobuf_synced(client: ClientSet, namespace: str):
    config_maps = client.core_v1.configmaps(namespace)
    await config_maps.create(config_map("a", x="1"))
    async with SharedInformerFactory(client, namespace=namespace, content_type="protobuf") as factory:
        informer = factory.core_v1.configmaps.informer
        assert factory.informer(ConfigMap, content_type="json").informer is not informer
        await factory.wait_for_sync(timeout=30)
        updated = await config_maps.update(config_map("a", x="2"))
        await informer.wait_until(updated.resource_version, timeout=30)
        cached = informer.indexer.get(f"{namespace}/a")
        assert cached is not None
        assert (cached == updated, is_protobuf(cached), cached.data) == (True, True, {"x": "2"})

"""The dynamic, the metadata and the REST client."""

import pytest
from tests.contract.client.samples import config_map, deployment

from listwatch.api.watch_events import AddedEvent, DeletedEvent, ModifiedEvent
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.resources.metadata_client import MetadataClient
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import NoMatchError, NotFoundError, UnauthorizedError
from listwatch.meta import GroupVersionResource
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.partial_object import PartialObjectMetadata
from listwatch.objects.unstructured import Unstructured

# --- DynamicClient ---------------------------------------------------------------------------------------------------


async def test_a_dynamic_client_has_all_operations_of_a_typed_one(config: ClientConfig, namespace: str):
    async with DynamicClient(config) as dynamic:
        deployments = dynamic.resource("apps/v1", "Deployment").namespace(namespace)
        made = await deployments.create(deployment("web").to_dict())
        assert (type(made), made.kind, made["spec"]["replicas"]) == (Unstructured, "Deployment", 1)
        made["spec"]["replicas"] = 2
        assert (await deployments.update(made)).metadata.generation == 2
        patched = await deployments.patch("web", {"metadata": {"labels": {"x": "y"}}})
        assert patched.labels == {"x": "y"}
        assert [each.name for each in await deployments.list(label_selector={"x": "y"})] == ["web"]
        async with deployments.watch(resource_version=patched.resource_version) as watch:
            await deployments.delete("web")
            event = await anext(watch)
        assert (type(event), event.object.name) == (DeletedEvent, "web")


@pytest.mark.parametrize("of", ["cm", "configmaps", "v1 ConfigMap", GroupVersionResource("", "v1", "configmaps")])
async def test_a_dynamic_client_finds_resources_by_any_reference(
    client: ClientSet, config_maps: ResourceClient[ConfigMap], namespace: str, of: str | GroupVersionResource
):
    made = await config_maps.create(config_map("a", x="1"))
    found = await client.dynamic.resource(of, namespace=namespace).get("a")
    assert found.to_dict() == made.to_dict()


async def test_a_dynamic_client_reports_unknown_resources(client: ClientSet, namespace: str):
    with pytest.raises(NoMatchError, match="Gadget"):
        await client.dynamic.resource("example.com/v1", "Gadget", namespace=namespace).get("a")


# --- MetadataClient --------------------------------------------------------------------------------------------------


async def test_only_metadata_is_sent(config: ClientConfig, config_maps: ResourceClient[ConfigMap], namespace: str):
    made = await config_maps.create(config_map("a", labels={"x": "y"}, big="x" * 100))
    async with MetadataClient(config) as client:
        metadata = client.resource("v1", "ConfigMap", namespace=namespace)
        read = await metadata.get("a")
        listed = await metadata.list(label_selector={"x": "y"})
    assert (type(read), read.kind, read.labels) == (PartialObjectMetadata, "PartialObjectMetadata", {"x": "y"})
    assert read.to_dict().keys() == {"apiVersion", "kind", "metadata"}
    assert read.to_dict()["metadata"] == made.to_dict()["metadata"]
    assert [each.to_dict()["metadata"] for each in listed] == [read.to_dict()["metadata"]]


async def test_metadata_clients_watch_patch_and_delete(
    client: ClientSet, config_maps: ResourceClient[ConfigMap], namespace: str
):
    metadata = client.metadata.resource("configmaps", namespace=namespace)
    start = (await metadata.list()).resource_version
    async with metadata.watch(resource_version=start) as watch:
        await config_maps.create(config_map("a", x="1"))
        patched = await metadata.patch("a", {"metadata": {"labels": {"seen": "yes"}}})
        await metadata.delete("a", uid=patched.uid)
        events = [await anext(watch) for _ in range(3)]
    assert [type(event) for event in events] == [AddedEvent, ModifiedEvent, DeletedEvent]
    assert patched.labels == events[1].object.labels == {"seen": "yes"}
    assert not any("data" in event.object.to_dict() for event in events)


async def test_metadata_clients_list_pages_and_delete_collections(
    client: ClientSet, config_maps: ResourceClient[ConfigMap], namespace: str
):
    for name in "abc":
        await config_maps.create(config_map(name, labels={"letter": name}))
    metadata = client.metadata.resource("configmaps", namespace=namespace).selecting(label_selector="letter")
    assert [len(page) async for page in metadata.pages(page_size=2)] == [2, 1]
    await metadata.delete_collection(label_selector="letter in (a, b)")
    assert [each.name for each in await metadata.list()] == ["c"]


# --- RESTClient ------------------------------------------------------------------------------------------------------


async def test_requests_are_built_step_by_step(config: ClientConfig, namespace: str):
    async with RESTClient(config) as rest:
        created = await rest.post().namespace(namespace).resource("configmaps").body(config_map("a", x="1")).do()
        assert (created.status_code, created.was_created) == (201, True)
        read = await rest.get().namespace(namespace).resource("configmaps").name("a").do()
        assert read.into(ConfigMap).to_dict() == created.into(ConfigMap).to_dict()
        patch = rest.patch("merge").namespace(namespace).resource("configmaps").name("a")
        assert (await patch.body({"data": {"y": "2"}}).do()).into(dict)["data"] == {"x": "1", "y": "2"}
        listed = await rest.get().namespace(namespace).resource("configmaps").param("limit", 1).do()
        assert len(listed.into_list(ConfigMap)) == 1
        await rest.delete().namespace(namespace).resource("configmaps").name("a").do()
        with pytest.raises(NotFoundError):
            await rest.get().namespace(namespace).resource("configmaps").name("a").do()


async def test_paths_outside_of_the_api_are_read_raw(config: ClientConfig):
    async with RESTClient(config) as rest:
        assert await rest.get().abs_path("/readyz").do_raw() == b"ok"
        with pytest.raises(NotFoundError):
            await rest.get().abs_path("/nothing/of/the/kind").do()


async def test_a_rest_client_of_another_group_shares_the_connections(config: ClientConfig, namespace: str):
    async with RESTClient(config) as rest:
        apps = rest.for_group_version("apps/v1")
        await apps.post().namespace(namespace).resource("deployments").body(deployment("web")).do()
        assert rest.statistics().responses == {201: 1}


async def test_warnings_of_the_server_reach_the_handler(config: ClientConfig, namespace: str):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "colour": "red"}
    async with RESTClient(config) as rest:
        request = rest.post().namespace(namespace).resource("configmaps").param("fieldValidation", "Warn")
        [warning] = (await request.body(body).do()).warnings
    assert warning.text == 'unknown field "colour"'


async def test_invalid_credentials_are_rejected(config: ClientConfig):
    async with RESTClient(config) as rest:
        request = rest.get().abs_path("/api/v1/pods").header("Authorization", "Bearer nonsense")
        with pytest.raises(UnauthorizedError):
            await request.do()

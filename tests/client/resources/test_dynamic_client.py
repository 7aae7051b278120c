"""DynamicClient."""

from typing import Any

import pytest
from tests.client.routed import DISCOVERY, WITH_WIDGETS, listing, routed

from listwatch.api.watch_events import AddedEvent
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.errors import NoMatchError, NotFoundError, RequestError
from listwatch.meta import GroupVersionResource
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.unstructured import Unstructured
from listwatch.server import APIServer


async def test_a_dynamic_client_can_be_created_alone(server: APIServer):
    async with DynamicClient(server.config) as dynamic:
        deployments = await dynamic.resource("apps/v1", "Deployment").namespace("default").list()
        assert (list(deployments), deployments.kind) == ([], "DeploymentList")


async def test_objects_are_read_and_written_as_mappings(client: ClientSet):
    maps = client.dynamic.resource("v1", "ConfigMap", namespace="default")
    made = await maps.create({"metadata": {"name": "a"}, "data": {"x": "1"}})
    assert isinstance(made, Unstructured)
    assert (made.kind, made.api_version, made["data"]) == ("ConfigMap", "v1", {"x": "1"})
    made["data"]["y"] = "2"
    await maps.update(made)
    assert (await maps.get("a"))["data"] == {"x": "1", "y": "2"}
    assert (await maps.patch("a", {"data": {"x": None}}))["data"] == {"y": "2"}
    [listed] = await maps.list(field_selector="metadata.name=a")
    assert listed.kind == "ConfigMap"  # the server sends the kind of the list only
    async with maps.watch(field_selector="metadata.name=a") as events:
        first = await anext(events)
    assert isinstance(first, AddedEvent)
    assert first.object["data"] == {"y": "2"}
    assert await maps.delete("a") is None


async def test_integers_stay_integers(client: ClientSet):
    made = await client.dynamic.resource("v1", "Service", namespace="default").create(
        {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}], "clusterIP": "None"}}
    )
    port = made["spec"]["ports"][0]["port"]
    assert (port, type(port)) == (80, int)


@pytest.mark.parametrize(
    ("of", "kind"),
    [
        (("apps/v1", "Deployment"), ""),
        ("apps/v1", "Deployment"),
        (GroupVersionResource("apps", "v1", "deployments"), ""),
        ("apps/v1 Deployment", ""),
        ("apps_v1.deployments", ""),
    ],
    ids=str,
)
async def test_a_built_in_resource_is_found_without_a_request(of: Any, kind: str):
    path = "/apis/apps/v1/namespaces/default/deployments"
    async with routed({path: listing("DeploymentList")}) as (documents, client):
        await client.dynamic.resource(of, kind).namespace("default").list()
        assert documents.paths == [path]


@pytest.mark.parametrize("name", ["deployments", "deploy", "deployment", "deployments.apps", "Deployment.v1.apps"])
async def test_a_bare_name_is_found_by_discovery(name: str):
    path = "/apis/apps/v1/namespaces/default/deployments"
    async with routed({**DISCOVERY, path: listing("DeploymentList")}) as (documents, client):
        await client.dynamic.resource(name, namespace="default").list()
        assert documents.paths == ["/api", "/apis", path]


@pytest.mark.parametrize(
    ("of", "kind"),
    [("example.com/v1", "Widget"), (GroupVersionResource("example.com", "v1", "widgets"), ""), ("wd", "")],
    ids=str,
)
async def test_a_new_custom_resource_is_found(of: Any, kind: str):
    path = "/apis/example.com/v1/widgets"
    async with routed(DISCOVERY) as (documents, client):
        custom = client.dynamic.resource(of, kind)
        with pytest.raises(NoMatchError, match="is its CustomResourceDefinition installed"):
            await custom.list()
        documents.routes |= {**WITH_WIDGETS, path: listing("WidgetList")}
        assert list(await custom.list()) == []
        assert list(await custom.list()) == []
        assert documents.paths == [*["/api", "/apis"] * 2, path, path]


async def test_nothing_is_sent_before_the_first_request():
    async with routed({}) as (documents, client):
        watch = client.dynamic.resource("wd", namespace="default").watch()
        assert documents.requests == []
        with pytest.raises(NotFoundError):
            await watch.open()
        assert documents.paths == ["/api", "/apis"]


async def test_the_namespace_is_checked_after_discovery():
    async with routed(WITH_WIDGETS) as (_, client):
        with pytest.raises(RequestError, match=r"widgets.example.com 'a' needs a namespace"):
            await client.dynamic.resource("wd").get("a")
        with pytest.raises(RequestError, match="nodes are cluster-scoped"):
            await client.dynamic.resource("no", namespace="default").get("a")


async def test_a_dict_for_a_custom_resource_may_omit_its_kind():
    path = "/apis/example.com/v1/namespaces/default/widgets"
    made = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}
    async with routed({**WITH_WIDGETS, path: made}) as (documents, client):
        await client.dynamic.resource("wd", namespace="default").create({"metadata": {"name": "a"}})
        assert documents.requests[-1].body == b'{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}'


async def test_a_typed_object_may_be_sent_as_well(client: ClientSet):
    made = await client.dynamic.resource(ConfigMap, namespace="default").create(
        ConfigMap.from_dict({"metadata": {"name": "a"}, "data": {"x": "1"}})
    )
    assert made["data"] == {"x": "1"}


async def test_the_repr_of_a_client_names_its_resource():
    async with DynamicClient(ClientConfig(host="http://127.0.0.1:1")) as dynamic:
        assert repr(dynamic) == "<DynamicClient of http://127.0.0.1:1>"
        assert repr(dynamic.resource("wd").namespace("x")) == "<ResourceClient of wd in x>"
        assert dynamic.resource("wd").resource is None
        assert dynamic.resource("v1 Pod").resource is not None

"""ClientSet: resources by attribute and by class."""

import subprocess
import sys
from typing import Any

import pytest
from tests.client.routed import DISCOVERY, WITH_WIDGETS, routed
from tests.client.scripted import scripted

from listwatch import models
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.discovery.discovery_client import DiscoveryClient
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.resources.metadata_client import MetadataClient
from listwatch.client.resources.resource_groups import ClusterScoped, Namespaced
from listwatch.client.resources.typed_groups import Groups
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import NoMatchError, RequestError, UsageError
from listwatch.informer import SharedInformerFactory
from listwatch.meta import GroupVersionKind, GroupVersionResource, Resource
from listwatch.models.core_v1 import ConfigMap, Pod
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.object import Object, lazy
from listwatch.objects.unstructured import Unstructured
from listwatch.server import APIServer

NOWHERE = ClientConfig(host="http://127.0.0.1:1")


class Widget(Object, resource=Resource("example.com", "v1", "Widget", "widgets")):
    spec: dict[str, Any] = lazy(dict[str, Any])


class Gadget(Object, gvk=GroupVersionKind("example.com", "v1", "Widget")):
    """A kind without its resource."""


@pytest.mark.parametrize("resource", models.resources(), ids=lambda each: f"{each.attribute}.{each.plural}")
async def test_every_built_in_resource_has_a_typed_client(resource: Resource):
    client = ClientSet(NOWHERE)
    named = getattr(getattr(client, resource.attribute), resource.plural)
    assert isinstance(named, Namespaced if resource.namespaced else ClusterScoped)
    found = named("default") if resource.namespaced else named()
    assert found.resource == resource
    assert found.kind is models.lookup(resource.api_version, resource.kind)
    await client.aclose()


def test_the_declared_attributes_are_those_at_run_time():
    declared = {}
    for attribute, group in Groups.__annotations__.items():
        home = __import__("listwatch.client.resources.typed_groups", fromlist=[group])
        declared[attribute] = getattr(home, group).__annotations__
    found: dict[str, dict[str, str]] = {}
    for each in models.resources():
        place = "Namespaced" if each.namespaced else "ClusterScoped"
        found.setdefault(each.attribute, {})[each.plural] = f"{place}[{each.attribute}.{each.kind}]"
    assert declared == found


async def test_completions_see_group_versions_and_resources():
    client = ClientSet(NOWHERE)
    assert {"core_v1", "apps_v1", "rbac_v1", "apiextensions_v1", "resource", "dynamic", "aclose"} <= set(dir(client))
    assert {"pods", "configmaps", "nodes"} <= set(dir(client.core_v1))
    await client.aclose()


async def test_the_repr_of_a_group_version_lists_its_resources():
    async with ClientSet(NOWHERE) as client:
        assert repr(client.policy_v1) == "<resources of policy/v1: poddisruptionbudgets>"


async def test_an_unknown_attribute_is_an_error_that_suggests_a_similar_one_or_lists_all():
    client = ClientSet(NOWHERE)
    with pytest.raises(AttributeError, match=r"ClientSet has no attribute 'core_v2'; did you mean core_v1\?"):
        _ = client.core_v2
    with pytest.raises(AttributeError, match="ClientSet has no attribute 'x'; it has: core_v1, "):
        _ = client.x
    with pytest.raises(AttributeError, match=r"the client's core_v1 has no attribute 'podz'; did you mean pods\?"):
        _ = client.core_v1.podz
    with pytest.raises(AttributeError, match=r"ClientSet has no attribute 'pods'; did you mean core_v1\.pods\?"):
        _ = client.pods
    with pytest.raises(AttributeError, match=r"'deployments'; did you mean apps_v1\.deployments\?"):
        _ = client.core_v1.deployments
    factory = SharedInformerFactory(client)
    with pytest.raises(AttributeError, match=r"'deployments'; did you mean apps_v1\.deployments\?"):
        _ = factory.core_v1.deployments
    with pytest.raises(AttributeError, match=r"'events'; did you mean (core|events)_v1\.events or "):
        _ = factory.events
    with pytest.raises(TypeError):
        client.core_v1.nodes("default")
    await client.aclose()


def test_no_model_is_imported_before_its_resource_is_used():
    program = """
import sys
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.config.client_config import ClientConfig
client = ClientSet(ClientConfig(host="http://127.0.0.1:1"))
client.apps_v1.deployments
before = [name for name in sys.modules if name.startswith("listwatch.models.") and name != "listwatch.models.table"]
client.apps_v1.deployments("default")
after = [name for name in sys.modules if name.startswith("listwatch.models.") and name != "listwatch.models.table"]
assert before == [], before
assert "listwatch.models.apps_v1" in after and "listwatch.models.batch_v1" not in after, after
"""
    subprocess.run([sys.executable, "-c", program], check=True)


# --- custom kinds ----------------------------------------------------------------------------------------------------


WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"size": 1}}
ONE_WIDGET = {"kind": "WidgetList", "apiVersion": "example.com/v1", "metadata": {}, "items": [WIDGET]}
IN_DEFAULT = "/apis/example.com/v1/namespaces/default/widgets"


async def test_a_custom_kind_has_a_typed_client():
    async with routed({IN_DEFAULT: ONE_WIDGET, f"{IN_DEFAULT}/a": WIDGET}) as (documents, client):
        widgets = client.resource(Widget, namespace="default")
        [listed] = await widgets.list()
        assert isinstance(listed, Widget)
        assert listed.spec == (await widgets.get("a")).spec == {"size": 1}
        assert documents.paths == [IN_DEFAULT, f"{IN_DEFAULT}/a"]


async def test_a_kind_without_a_resource_is_found_by_discovery():
    async with routed(DISCOVERY) as (documents, client):
        gadgets = client.resource(Gadget, namespace="default")
        with pytest.raises(NoMatchError, match=r"no resource example.com/v1, Kind=Widget; is its CustomResourceDef"):
            await gadgets.list()
        documents.routes |= {**WITH_WIDGETS, IN_DEFAULT: ONE_WIDGET}
        [found] = await gadgets.list()
        assert isinstance(found, Gadget)


async def test_a_kind_must_be_a_class_of_objects():
    async with ClientSet(NOWHERE) as client:
        with pytest.raises(RequestError, match="expected a class such as Pod, not 'pods'"):
            client.resource("pods")
        with pytest.raises(RequestError, match="does not name a resource"):
            client.resource(Object)


# --- one set of connections -------------------------------------------------------------------------------------------


async def test_all_clients_share_the_connections(server: APIServer):
    async with ClientSet(server.config) as client:
        await client.core_v1.pods().list()
        await client.apps_v1.deployments().list()
        await client.dynamic.resource("v1", "ConfigMap").list()
        await client.metadata.resource("v1", "ConfigMap").list()
        await client.discovery.server_version()
        assert client.rest.statistics().requests == 5
        assert client.dynamic.rest is client.metadata.rest is client.discovery.rest is client.rest


async def test_the_version_of_the_server_is_known(server: APIServer):
    async with ClientSet(server.config) as client:
        version = await client.version()
        assert version == await client.dynamic.version() == await client.discovery.server_version()
        assert str(version) == version.git_version
        assert version.git_version.startswith(f"v{version.major}.{version.minor}.")


async def test_a_client_with_a_shared_rest_client_leaves_it_open(server: APIServer):
    async with RESTClient(server.config) as rest:
        async with ClientSet(rest) as client:
            await client.core_v1.pods().list()
        await rest.get().resource("pods").do()


# --- sources of informers ---------------------------------------------------------------------------------------------


OPTIONS = {"namespace": "default", "label_selector": "app=web", "field_selector": ""}


@pytest.mark.parametrize(
    "of",
    [
        Pod,
        Pod.resource,
        GroupVersionResource("", "v1", "pods"),
        GroupVersionKind("", "v1", "Pod"),
        "core_v1.pods",
        "v1 Pod",
        ("v1", "Pod"),
        "v1, Kind=Pod",
    ],
    ids=str,
)
async def test_a_built_in_kind_is_a_source_of_typed_objects(of: Any):
    async with ClientSet(NOWHERE) as client:
        kind, resource, source = client.source(of, **OPTIONS)
    assert (kind, resource) == (Pod, Pod.resource)
    assert source.kind is Pod
    assert "in default labelSelector=app=web" in repr(source)


async def test_a_custom_kind_is_a_source():
    async with ClientSet(NOWHERE) as client:
        kind, resource, source = client.source(Widget, **OPTIONS)
        assert (kind, resource, source.kind) == (Widget, Widget.resource, Widget)
        kind, resource, source = client.source(Gadget, **OPTIONS)
        assert (kind, resource.kind, source.kind) == (Gadget, "Widget", Gadget)


@pytest.mark.parametrize("of", ["example.com/v1 Widget", GroupVersionResource("example.com", "v1", "widgets"), "wd"])
async def test_a_custom_resource_is_a_source_that_is_found_when_it_is_read(of: Any):
    async with routed({**WITH_WIDGETS, IN_DEFAULT: ONE_WIDGET}) as (documents, client):
        kind, resource, source = client.source(of, **OPTIONS)
        assert kind is Unstructured
        assert resource.plural in ("widget", "widgets", "wd")
        assert documents.requests == []
        assert [each.name for each in await source.list()] == ["a"]


async def test_a_source_lists_and_watches_the_selected_objects():
    listed = b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}'
    replies = [
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(listed), listed)
    ]
    async with scripted(*replies, otherwise=b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") as (server, client):
        _, _, source = client.source(
            Pod, namespace="default", label_selector="app=web", field_selector="spec.nodeName=n1"
        )
        page = await source.list(resource_version="0", limit=500, resource_version_match="", continue_token="")
        async with source.watch(
            resource_version=page.resource_version,
            resource_version_match="",
            send_initial_events=None,
            allow_watch_bookmarks=True,
            timeout_seconds=300,
        ) as stream:
            assert [batch async for batch in stream.batches()] == []
    listing, watching = ({*each.target.partition("?")[2].split("&")} for each in server.requests)
    selected = {"labelSelector=app%3Dweb", "fieldSelector=spec.nodeName%3Dn1"}
    assert listing == selected | {"resourceVersion=0", "limit=500"}
    assert watching == selected | {"watch=true", "resourceVersion=7", "allowWatchBookmarks=true", "timeoutSeconds=300"}


async def test_config_maps_are_read_as_config_maps(client: ClientSet):
    _, _, source = client.source("core_v1.configmaps", namespace="kube-system", label_selector="", field_selector="")
    await client.core_v1.configmaps("kube-system").create(ConfigMap(metadata=ObjectMeta(name="a")))
    assert "a" in [each.name for each in await source.list()]


@pytest.mark.parametrize("kind", [ClientSet, DynamicClient, MetadataClient, DiscoveryClient, RESTClient])
def test_an_invalid_configuration_is_rejected_with_advice(kind: Any):
    for given in ("http://jane:secret@10.0.0.1", {"token": "secret"}):
        with pytest.raises(UsageError, match=r"pass listwatch\.load_config\(\) or listwatch\.ClientConfig") as caught:
            kind(given)
        assert "secret" not in str(caught.value)

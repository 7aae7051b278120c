"""Discovery, and the other paths without a resource."""

import json
from typing import Any

import pytest

from listwatch.errors import MethodNotAllowedError, NotAcceptableError, NotFoundError
from listwatch.meta import Resource, Subresource
from listwatch.protobuf import decode_object
from listwatch.server.protocol.non_resources import NonResources
from listwatch.server.protocol.routes import read_target, route
from listwatch.server.requests import NonResourceRequest, Response
from listwatch.server.schema.registry import Registry
from listwatch.server.schema.schema import builtin_schema

V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
V2_BETA = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
KUBECTL = f"{V2},{V2_BETA},application/json"


@pytest.fixture
def registry() -> Registry:
    return Registry.builtin()


class DiscoveryServer:
    def __init__(self, registry: Registry, **options: Any) -> None:
        self._registry = registry
        self._paths = NonResources(registry, **options)

    def respond(self, target: str, *, method: str = "GET", **headers: str) -> Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = route(read_target(method, target), self._registry, headers=named)
        assert isinstance(request, NonResourceRequest)
        return self._paths.respond(request)

    def tree(self, target: str, **headers: str) -> Any:
        return json.loads(self.respond(target, **headers).body)


@pytest.fixture
def server(registry: Registry) -> DiscoveryServer:
    return DiscoveryServer(registry, address="127.0.0.1:6443")


def by(name: str, items: list[Any]) -> dict[str, Any]:
    return {item[name]: item for item in items}


# --- Aggregated -------------------------------------------------------------------------------------------------------


def test_all_groups_are_in_one_document(server, registry):
    response = server.respond("/apis", Accept=KUBECTL)
    assert response.headers["Content-Type"] == V2
    document = json.loads(response.body)
    assert (document["kind"], document["apiVersion"]) == ("APIGroupDiscoveryList", "apidiscovery.k8s.io/v2")
    assert [item["metadata"]["name"] for item in document["items"]] == [each for each in registry.groups() if each]


def test_an_aggregated_resource_is_complete(server):
    apps = next(item for item in server.tree("/apis", Accept=V2)["items"] if item["metadata"] == {"name": "apps"})
    (version,) = apps["versions"]
    assert (version["version"], version["freshness"]) == ("v1", "Current")
    assert by("resource", version["resources"])["deployments"] == {
        "resource": "deployments",
        "responseKind": {"group": "", "version": "", "kind": "Deployment"},
        "scope": "Namespaced",
        "singularResource": "deployment",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "shortNames": ["deploy"],
        "categories": ["all"],
        "subresources": [
            {
                "subresource": "scale",
                "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
                "verbs": ["get", "patch", "update"],
            },
            {
                "subresource": "status",
                "responseKind": {"group": "", "version": "", "kind": "Deployment"},
                "verbs": ["get", "patch", "update"],
            },
        ],
    }


def test_the_core_group_has_its_own_document(server):
    (core,) = server.tree("/api", Accept=KUBECTL)["items"]
    assert core["metadata"] == {}
    assert by("resource", core["versions"][0]["resources"])["nodes"]["scope"] == "Cluster"


def test_older_clients_get_the_older_version(server):
    response = server.respond("/api", Accept=f"{V2_BETA},application/json")
    assert response.headers["Content-Type"] == V2_BETA
    assert json.loads(response.body)["apiVersion"] == "apidiscovery.k8s.io/v2beta1"


@pytest.mark.parametrize(
    "accept",
    [
        "",
        "application/json",
        "*/*",
        "application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList,application/json",
        "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json",
    ],
)
def test_a_client_that_does_not_accept_the_aggregated_form_gets_the_plain_one(server, accept):
    response = server.respond("/apis", Accept=accept)
    assert response.headers == {"Content-Type": "application/json"}
    assert json.loads(response.body)["kind"] == "APIGroupList"


def test_the_aggregated_form_can_be_protobuf(server):
    accept = V2.replace("application/json", "application/vnd.kubernetes.protobuf")
    response = server.respond("/apis", Accept=f"{accept},application/json")
    assert response.headers["Content-Type"] == accept
    found, plain = decode_object(response.body), json.loads(server.respond("/apis", Accept=V2).body)
    assert (found["kind"], found["apiVersion"]) == (plain["kind"], plain["apiVersion"])
    assert [item["metadata"]["name"] for item in found["items"]] == [
        item["metadata"]["name"] for item in plain["items"]
    ]
    assert found["items"][0]["versions"][0]["resources"] == plain["items"][0]["versions"][0]["resources"]


def test_a_document_with_a_known_etag_is_not_sent_again(server):
    first = server.respond("/apis", Accept=V2)
    again = server.respond("/apis", Accept=V2, If_None_Match=first.headers["ETag"])
    assert (again.code, again.body) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    assert server.respond("/apis", Accept=V2, If_None_Match='"other"').code == 200


def test_a_new_resource_changes_the_document_and_its_etag(server, registry):
    before = server.respond("/apis", Accept=V2)
    registry.add(Resource("example.com", "v1", "Widget", "widgets", verbs=("get",)))
    after = server.respond("/apis", Accept=V2, If_None_Match=before.headers["ETag"])
    assert after.code == 200
    assert after.headers["ETag"] != before.headers["ETag"]
    assert json.loads(after.body)["items"][-1]["metadata"] == {"name": "example.com"}


def test_resources_that_are_added_to_a_group_are_listed_in_order(registry):
    server = DiscoveryServer(registry)
    registry.add(Resource("example.com", "v1", "Widget", "widgets", verbs=("get",)))
    assert [item["resource"] for item in newest(server.tree("/apis", Accept=V2))] == ["widgets"]
    registry.add(Resource("example.com", "v1", "Gadget", "gadgets", verbs=("get",)))
    assert {item["resource"] for item in newest(server.tree("/apis", Accept=V2))} == {"gadgets", "widgets"}
    names = [entry["name"] for entry in server.tree("/apis/example.com/v1")["resources"]]
    assert names == ["gadgets", "widgets"]


def newest(document: Any) -> list[Any]:
    resources: list[Any] = document["items"][-1]["versions"][0]["resources"]
    return resources


def test_the_etag_depends_only_on_the_content():
    tags = {DiscoveryServer(Registry.builtin()).respond("/apis", Accept=V2).headers["ETag"] for _ in range(2)}
    assert len(tags) == 1
    assert tags.pop().startswith('"')


# --- Plain ------------------------------------------------------------------------------------------------------------


def test_the_plain_root_has_the_versions_and_the_address_of_the_server(server):
    assert server.tree("/api") == {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}],
    }


def test_a_group_has_its_versions_and_the_preferred_one(server):
    autoscaling = {
        "name": "autoscaling",
        "versions": [
            {"groupVersion": "autoscaling/v2", "version": "v2"},
            {"groupVersion": "autoscaling/v1", "version": "v1"},
        ],
        "preferredVersion": {"groupVersion": "autoscaling/v2", "version": "v2"},
    }
    assert server.tree("/apis/autoscaling") == {"kind": "APIGroup", "apiVersion": "v1", **autoscaling}
    groups = server.tree("/apis")["groups"]
    assert by("name", groups)["autoscaling"] == autoscaling
    assert "" not in by("name", groups)


def test_a_version_lists_its_resources_and_their_subresources(server):
    document = server.tree("/apis/apps/v1")
    assert (document["kind"], document["apiVersion"], document["groupVersion"]) == ("APIResourceList", "v1", "apps/v1")
    names = [entry["name"] for entry in document["resources"]]
    assert names == sorted(names)
    entries = by("name", document["resources"])
    assert entries["deployments"]["shortNames"] == ["deploy"]
    assert entries["deployments/scale"] == {
        "name": "deployments/scale",
        "singularName": "",
        "namespaced": True,
        "group": "autoscaling",
        "version": "v1",
        "kind": "Scale",
        "verbs": ["get", "patch", "update"],
    }


def test_the_resource_list_of_the_core_group_has_no_api_version(server):
    document = server.tree("/api/v1")
    assert "apiVersion" not in document
    assert document["groupVersion"] == "v1"
    assert by("name", document["resources"])["pods"]["storageVersionHash"]


def test_a_subresource_of_a_custom_resource_is_listed(registry):
    status = Subresource("status", "example.com", "v1", "Widget", ("get",))
    registry.add(Resource("example.com", "v1", "Widget", "widgets", verbs=("get",), subresources=(status,)))
    names = by("name", DiscoveryServer(registry).tree("/apis/example.com/v1")["resources"])
    assert list(names) == ["widgets", "widgets/status"]
    assert names["widgets"]["storageVersionHash"] == "gIwvi5rymmg="


def test_plain_documents_are_also_sent_as_yaml_and_indented(server):
    response = server.respond("/apis/apps", Accept="application/yaml")
    assert response.headers["Content-Type"] == "application/yaml"
    assert b"name: apps\n" in response.body
    assert server.respond("/apis/apps", User_Agent="curl/8").body.startswith(b"{\n  ")
    with pytest.raises(NotAcceptableError):
        server.respond("/apis/apps", Accept="text/html")


@pytest.mark.parametrize("target", ["/api/v2", "/apis/apps/v2"])
def test_an_unknown_version_of_a_known_group_is_not_found(server, target):
    with pytest.raises(NotFoundError, match="the server could not find the requested resource"):
        server.respond(target)


@pytest.mark.parametrize("target", ["/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1", "/version"])
def test_discovery_allows_get_only(server, target):
    with pytest.raises(MethodNotAllowedError, match="the server does not allow this method"):
        server.respond(target, method="POST")


@pytest.mark.parametrize("target", ["/api/", "/apis/", "/api/v1/", "/apis/apps/", "/apis/apps/v1/", "/version/"])
def test_a_slash_at_the_end_changes_nothing(server, target):
    assert server.respond(target).body == server.respond(target.rstrip("/")).body


# --- The other paths --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    [
        "/nothing",
        "/apis/unknown",
        "/apis/unknown/v1",
        "/apis/unknown/v1/things",
        "//api/v1",
        "/openapi/v2",
        "/healthz/x",
    ],
)
def test_an_unknown_path_is_not_found_in_plain_text(server, target):
    response = server.respond(target)
    assert (response.code, response.body) == (404, b"404 page not found\n")
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"


def test_the_version_is_a_release_of_kubernetes(server):
    version = server.tree("/version")
    assert version["gitVersion"] == f"v{version['major']}.{version['minor']}.0+listwatch"


def test_the_version_has_the_fields_that_the_schema_requires(server):
    assert server.tree("/version").keys() >= set(builtin_schema().type("pkg.version.Info").required)


def test_the_index_lists_the_paths(server):
    paths = server.tree("/")["paths"]
    assert {"/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz", "/livez/ping", "/version"} <= {
        *paths
    }
    assert paths == sorted(paths)


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/readyz/ping"])
def test_a_healthy_server_responds_ok(server, path):
    assert server.respond(path).body == b"ok"


def test_verbose_health_lists_each_check(registry):
    server = DiscoveryServer(registry, checks={"storage": lambda: True})
    assert server.respond("/livez?verbose").body == b"[+]ping ok\n[+]storage ok\nlivez check passed\n"
    assert server.respond("/livez?verbose&exclude=storage&exclude=x").body == (
        b"[+]ping ok\n[+]storage excluded: ok\n"
        b'warn: some health checks cannot be excluded: no matches for "x"\nlivez check passed\n'
    )


def test_a_failed_check_is_listed_without_verbose(registry):
    server = DiscoveryServer(registry, checks={"storage": lambda: False})
    response = server.respond("/readyz")
    assert response.code == 500
    assert response.body == b"[+]ping ok\n[-]storage failed: reason withheld\nreadyz check failed\n"
    assert server.respond("/readyz?exclude=storage").code == 200
    assert server.respond("/readyz/storage").code == 500

"""What a new server has, and how it follows namespaces, definitions and restarts."""

from pathlib import Path
from typing import Any

import pytest
from tests.server.caller import Caller

from listwatch.server.api_server import APIServer
from listwatch.testing.clocks import VirtualClock

Tree = Any

ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SLICE = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"
NAMESPACED = "/api/v1/namespaces"
INITIAL = [
    "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
    "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    ROLES,
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/rolebindings",
]


async def items(call: Caller, path: str) -> list[Tree]:
    listed = (await call("GET", path)).json
    kind = {"kind": listed["kind"].removesuffix("List"), "apiVersion": listed["apiVersion"]}
    return [{**kind, **item} for item in listed["items"]]


async def names(call: Caller, path: str) -> list[str]:
    return [item["metadata"]["name"] for item in await items(call, path)]


# --- Initial objects --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", INITIAL)
async def test_initial_objects_are_what_a_client_could_have_created(path: str):
    async with (
        APIServer() as server,
        APIServer(bootstrap=False) as empty,
        Caller(server) as call,
        Caller(empty) as other,
    ):
        found = await items(call, path)
        assert found
        for each in found:
            metadata = {name: each["metadata"].get(name) for name in ("name", "labels", "annotations")}
            created = (await other("POST", f"{path}?dryRun=All", {**each, "metadata": metadata})).json
            assert created["metadata"]["name"] == each["metadata"]["name"]
            ignored = ("metadata", "status")
            assert {name: value for name, value in created.items() if name not in ignored} == {
                name: value for name, value in each.items() if name not in ignored
            }


async def test_initial_objects_have_an_identity_of_their_own():
    async with APIServer(clock=VirtualClock()) as server, Caller(server) as call:
        found = [item["metadata"] for path in INITIAL for item in await items(call, path)]
    assert len({each["uid"] for each in found}) == len(found)
    assert len({each["resourceVersion"] for each in found}) == len(found)
    assert len({each["creationTimestamp"] for each in found}) == 1


async def test_the_same_seed_gives_the_same_initial_objects():
    async def state() -> list[Tree]:
        async with APIServer(seed=3, clock=VirtualClock()) as server, Caller(server) as call:
            return [item for path in INITIAL for item in await items(call, path)]

    assert await state() == await state()


async def test_a_server_without_bootstrap_has_only_namespaces():
    async with APIServer(bootstrap=False, tls=True) as server:
        assert server.revision == 5


async def test_roles_are_aggregated_when_the_server_starts():
    async with APIServer() as server, Caller(server) as call:
        roles = {role["metadata"]["name"]: role for role in await items(call, ROLES)}
        revision = server.revision
        for name in ("admin", "edit", "view"):
            assert roles[f"system:aggregate-to-{name}"]["rules"][0] in roles[name]["rules"]
        # The first change of a role makes the controller compare all of them.
        await call("POST", ROLES, {"metadata": {"name": "mine"}, "rules": []})
        assert server.revision == revision + 1


# --- Restarts ---------------------------------------------------------------------------------------------------------


async def test_a_restart_changes_nothing(tmp_path: Path):
    async def state() -> list[Tree]:
        async with server, Caller(server) as call:
            paths = (*INITIAL, API_SERVICES, "/api/v1/serviceaccounts", "/api/v1/services", "/api/v1/endpoints", SLICE)
            return [(await call("GET", path)).json.get("items") for path in paths]

    server = APIServer(data_dir=tmp_path)
    assert await state() == await state()


async def test_an_initial_object_that_was_deleted_exists_after_a_restart(tmp_path: Path):
    server = APIServer(data_dir=tmp_path)
    async with server, Caller(server) as call:
        assert (await call("DELETE", f"{ROLES}/view")).status == 200
        assert (await call("PATCH", f"{ROLES}/edit", {"metadata": {"labels": {"mine": "1"}}})).status == 200
    async with server, Caller(server) as call:
        assert (await call("GET", f"{ROLES}/view")).status == 200
        assert (await call("GET", f"{ROLES}/edit")).json["metadata"]["labels"]["mine"] == "1"


async def test_a_server_without_bootstrap_can_get_one_later(tmp_path: Path):
    async with APIServer(data_dir=tmp_path, bootstrap=False) as server, Caller(server) as call:
        await call("POST", NAMESPACED, {"metadata": {"name": "team"}})
        assert await names(call, ROLES) == []
    async with APIServer(data_dir=tmp_path) as server, Caller(server) as call:
        assert "cluster-admin" in await names(call, ROLES)
        assert await names(call, f"{NAMESPACED}/team/serviceaccounts") == ["default"]


async def test_a_server_starts_with_the_objects_of_another():
    async with APIServer() as server:
        snapshot = server.snapshot()
    async with APIServer(snapshot=snapshot) as other, Caller(other) as call:
        assert len(await names(call, ROLES)) == 69


# --- The Service of the server ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "address", "family"),
    [("127.0.0.1", "127.0.0.1", "IPv4"), ("0.0.0.0", "127.0.0.1", "IPv4"), ("::1", "::1", "IPv6")],
)
async def test_the_service_of_the_server_leads_to_it(host: str, address: str, family: str):
    async with APIServer(host=host) as server, Caller(server) as call:
        port = int(server.url.rpartition(":")[2])
        service = (await call("GET", f"{NAMESPACED}/default/services/kubernetes")).json
        endpoints = (await call("GET", f"{NAMESPACED}/default/endpoints/kubernetes")).json
        endpoint_slice = (await call("GET", SLICE)).json
    assert service["spec"]["clusterIP"] == "10.96.0.1"
    assert service["spec"]["ports"] == [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": port}]
    assert endpoints["subsets"] == [
        {"addresses": [{"ip": address}], "ports": [{"name": "https", "port": port, "protocol": "TCP"}]}
    ]
    assert (endpoint_slice["addressType"], endpoint_slice["endpoints"]) == (
        family,
        [{"addresses": [address], "conditions": {"ready": True}}],
    )
    assert endpoint_slice["ports"] == [{"name": "https", "protocol": "TCP", "port": port}]


async def test_the_service_follows_a_server_to_another_port(tmp_path: Path):
    async with APIServer(data_dir=tmp_path) as server, Caller(server) as call:
        before = (await call("GET", f"{NAMESPACED}/default/endpoints/kubernetes")).json
    async with APIServer(data_dir=tmp_path) as server, Caller(server) as call:
        after = (await call("GET", f"{NAMESPACED}/default/endpoints/kubernetes")).json
        port = int(server.url.rpartition(":")[2])
    assert after["subsets"][0]["ports"][0]["port"] == port != before["subsets"][0]["ports"][0]["port"]
    assert after["metadata"]["uid"] == before["metadata"]["uid"]


async def test_the_address_of_the_service_is_taken():
    async with APIServer() as server, Caller(server) as call:
        spec = {"clusterIP": "10.96.0.1", "ports": [{"port": 80}]}
        reply = await call("POST", f"{NAMESPACED}/default/services", {"metadata": {"name": "a"}, "spec": spec})
    assert reply.status == 422
    assert "provided IP is already allocated" in reply.json["message"]


# --- Namespaces -------------------------------------------------------------------------------------------------------


async def test_every_namespace_has_a_default_service_account():
    async with APIServer() as server, Caller(server) as call:
        await call("POST", NAMESPACED, {"metadata": {"name": "team"}})
        accounts = await items(call, "/api/v1/serviceaccounts")
        assert [(each["metadata"]["namespace"], each["metadata"]["name"]) for each in accounts] == [
            (namespace, "default") for namespace in ("default", "kube-node-lease", "kube-public", "kube-system", "team")
        ]
        first = (await call("GET", f"{NAMESPACED}/team/serviceaccounts/default")).json["metadata"]["uid"]
        await call("DELETE", f"{NAMESPACED}/team/serviceaccounts/default")
        assert (await call("GET", f"{NAMESPACED}/team/serviceaccounts/default")).json["metadata"]["uid"] != first


async def test_a_deleted_namespace_leaves_nothing():
    async with APIServer(tls=True) as server, Caller(server) as call:
        await call("POST", NAMESPACED, {"metadata": {"name": "team"}})
        await call("DELETE", f"{NAMESPACED}/team")
        assert (await call("GET", f"{NAMESPACED}/team")).status == 404
        accounts = await items(call, "/api/v1/serviceaccounts")
        assert "team" not in {each["metadata"]["namespace"] for each in accounts}


async def test_a_namespace_that_waits_for_a_finalizer_stays_empty():
    async with APIServer() as server, Caller(server) as call:
        await call("POST", NAMESPACED, {"metadata": {"name": "team", "finalizers": ["example.com/hold"]}})
        await call("DELETE", f"{NAMESPACED}/team")
        assert await names(call, f"{NAMESPACED}/team/serviceaccounts") == []
        await call("PATCH", f"{NAMESPACED}/team", {"metadata": {"finalizers": None}})
        assert (await call("GET", f"{NAMESPACED}/team")).status == 404


async def test_with_tls_every_namespace_has_the_certificate_of_the_server():
    async with APIServer(tls=True) as server, Caller(server) as call:
        await call("POST", NAMESPACED, {"metadata": {"name": "team"}})
        path = f"{NAMESPACED}/team/configmaps/kube-root-ca.crt"
        certificate = server.ca_certificate.decode()
        assert (await call("GET", path)).json["data"] == {"ca.crt": certificate}
        assert (await call("PATCH", path, {"data": {"ca.crt": "other", "more": "1"}})).status == 200
        assert (await call("GET", path)).json["data"] == {"ca.crt": certificate}
        await call("PATCH", path, {"metadata": {"annotations": None, "labels": {"mine": "1"}}})
        metadata = (await call("GET", path)).json["metadata"]
        assert (metadata["labels"], [*metadata["annotations"]]) == ({"mine": "1"}, ["kubernetes.io/description"])
        await call("DELETE", path)
        assert (await call("GET", path)).json["data"] == {"ca.crt": certificate}
        path = f"{NAMESPACED}/kube-system/configmaps/extension-apiserver-authentication"
        assert (await call("GET", path)).json["data"] == {"client-ca-file": certificate}


async def test_without_tls_no_namespace_has_a_config_map():
    async with APIServer() as server, Caller(server) as call:
        assert await names(call, "/api/v1/configmaps") == []


# --- APIServices ------------------------------------------------------------------------------------------------------


def definition(*versions: str) -> Tree:
    schema = {"openAPIV3Schema": {"type": "object"}}
    return {
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [
                {"name": name, "served": True, "storage": name == versions[0], "schema": schema} for name in versions
            ],
        },
    }


async def custom_services(call: Caller) -> dict[str, Tree]:
    found = await items(call, API_SERVICES)
    return {each["metadata"]["name"]: each for each in found if each["spec"].get("group") == "example.com"}


async def test_every_served_version_has_an_api_service():
    async with APIServer() as server, Caller(server) as call:
        groups = (await call("GET", "/apis")).json["groups"]
        found = {each["metadata"]["name"]: each for each in await items(call, API_SERVICES)}
    versions = {f"{each['version']}.{group['name']}" for group in groups for each in group["versions"]}
    assert found.keys() == (versions | {"v1."}) - {"v1.apiregistration.k8s.io"}
    assert found["v1."]["spec"] == {"version": "v1", "groupPriorityMinimum": 18000, "versionPriority": 1}
    newest = found["v1alpha1.lifecycle.k8s.io"]["spec"]
    assert (newest["groupPriorityMinimum"], newest["versionPriority"]) == (15000, 1)


async def test_the_api_services_of_definitions_come_and_go():
    async with APIServer() as server, Caller(server) as call:
        await call("POST", DEFINITIONS, definition("v1", "v1beta1"))
        services = await custom_services(call)
        assert services.keys() == {"v1.example.com", "v1beta1.example.com"}
        assert services["v1.example.com"]["spec"] == {
            "group": "example.com",
            "version": "v1",
            "groupPriorityMinimum": 1000,
            "versionPriority": 100,
        }
        assert services["v1.example.com"]["metadata"]["labels"] == {"kube-aggregator.kubernetes.io/automanaged": "true"}
        assert services["v1.example.com"]["status"]["conditions"][0]["status"] == "True"
        await call("DELETE", f"{API_SERVICES}/v1.example.com")
        assert (await custom_services(call)).keys() == services.keys()
        changed = (await call("GET", f"{DEFINITIONS}/widgets.example.com")).json
        changed["spec"]["versions"] = [changed["spec"]["versions"][0]]
        assert (await call("PUT", f"{DEFINITIONS}/widgets.example.com", changed)).status == 200
        assert (await custom_services(call)).keys() == {"v1.example.com"}
        await call("DELETE", f"{DEFINITIONS}/widgets.example.com")
        assert await custom_services(call) == {}


async def test_the_api_services_of_definitions_survive_a_restart(tmp_path: Path):
    server = APIServer(data_dir=tmp_path)
    async with server, Caller(server) as call:
        await call("POST", DEFINITIONS, definition("v1"))
        before = await custom_services(call)
    async with server, Caller(server) as call:
        assert await custom_services(call) == before
        await call("DELETE", f"{DEFINITIONS}/widgets.example.com")
        assert await custom_services(call) == {}


async def test_api_services_of_others_are_left_alone():
    async with APIServer() as server, Caller(server) as call:
        spec = {
            "group": "metrics.k8s.io",
            "version": "v1beta1",
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "service": {"name": "metrics", "namespace": "kube-system"},
        }
        body = {"metadata": {"name": "v1beta1.metrics.k8s.io"}, "spec": spec}
        assert (await call("POST", API_SERVICES, body)).status == 201
        await call("POST", DEFINITIONS, definition("v1"))
        await call("DELETE", f"{DEFINITIONS}/widgets.example.com")
        assert "v1beta1.metrics.k8s.io" in await names(call, API_SERVICES)


# --- Figures and keys -------------------------------------------------------------------------------------------------


async def test_the_figures_of_the_server_are_metrics():
    async with APIServer() as server, Caller(server) as call:
        await call.create("a")
        reply = await call("GET", "/metrics")
        revision = server.revision
        assert (await call("POST", "/metrics")).status == 200  # kube-apiserver accepts every method there
    assert reply.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = reply.body.decode().splitlines()
    assert f"listwatch_server_revision {revision}" in lines
    assert 'apiserver_resource_objects{group="",resource="configmaps"} 1' in lines
    assert "# TYPE listwatch_server_requests_total counter" in lines


async def test_the_issuer_of_tokens_can_be_discovered():
    async with APIServer() as server, Caller(server) as call:
        found = (await call("GET", "/.well-known/openid-configuration")).json
        assert found["issuer"] == "https://kubernetes.default.svc"
        assert found["jwks_uri"] == f"{server.url}/openid/v1/jwks"
        reply = await call("GET", "/openid/v1/jwks")
        assert reply.headers["Content-Type"] == "application/jwk-set+json"
        assert [key["alg"] for key in reply.json["keys"]] == found["id_token_signing_alg_values_supported"] == ["ES256"]
        assert {"/metrics", "/openid/v1/jwks"} <= {*(await call("GET", "/")).json["paths"]}

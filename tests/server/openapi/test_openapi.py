"""The OpenAPI documents of the embedded server, over HTTP."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

import listwatch as lw
from listwatch.protobuf.wire_format import read_length, read_varint, skip_field
from listwatch.server import APIServer
from listwatch.server.openapi.descriptions import descriptions_of
from listwatch.server.schema.schema import builtin_schema

DEPLOYMENT = "io.k8s.api.apps.v1.Deployment"


@dataclass
class Documents:
    server: APIServer
    session: aiohttp.ClientSession

    async def get(self, path: str, **headers: str) -> aiohttp.ClientResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        response = await self.session.get(self.server.url + path, headers=named, allow_redirects=False)
        await response.read()
        return response

    async def tree(self, path: str) -> Any:
        response = await self.get(path)
        assert response.status == 200
        return json.loads(await response.read())

    async def schemas(self, path: str) -> Any:
        return (await self.tree(f"/openapi/v3/{path}"))["components"]["schemas"]


@pytest.fixture
async def documents() -> AsyncIterator[Documents]:
    async with APIServer() as server:
        headers = {"Authorization": f"Bearer {server.config.token}"}
        async with aiohttp.ClientSession(headers=headers) as session:
            yield Documents(server, session)


def definition(*, schema: dict[str, Any]) -> dict[str, Any]:
    names = {"plural": "fleets", "singular": "fleet", "kind": "Fleet", "listKind": "FleetList"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "fleets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
    }


def fleet_schema(field: str) -> dict[str, Any]:
    spec = {"type": "object", "properties": {field: {"type": "integer", "description": "how many"}}}
    return {"type": "object", "properties": {"spec": spec}}


def references_in(tree: Any) -> set[str]:
    if isinstance(tree, dict):
        found = {tree["$ref"]} if isinstance(tree.get("$ref"), str) else set()
        return found.union(*(references_in(each) for each in tree.values()))
    return set[str]().union(*(references_in(each) for each in tree)) if isinstance(tree, list) else set()


async def test_the_index_has_a_url_for_each_group_and_version(documents: Documents) -> None:
    paths = (await documents.tree("/openapi/v3"))["paths"]
    served = {resource.api_version for resource in builtin_schema().resources}
    assert {path.removeprefix("apis/").removeprefix("api/") for path in paths} == served
    for path, entry in paths.items():
        assert entry["serverRelativeURL"].startswith(f"/openapi/v3/{path}?hash=")


async def test_every_document_of_the_index_can_be_read_and_refers_to_nothing_else(documents: Documents) -> None:
    for entry in (await documents.tree("/openapi/v3"))["paths"].values():
        tree = await documents.tree(entry["serverRelativeURL"])
        known = {f"#/components/schemas/{name}" for name in tree["components"]["schemas"]}
        assert references_in(tree) <= known


async def test_a_document_has_the_extensions_that_clients_merge_by(documents: Documents) -> None:
    schemas = await documents.schemas("apis/apps/v1")
    assert schemas[DEPLOYMENT]["x-kubernetes-group-version-kind"] == [
        {"group": "apps", "version": "v1", "kind": "Deployment"}
    ]
    strategy = schemas["io.k8s.api.apps.v1.DeploymentSpec"]["properties"]["strategy"]
    assert strategy["x-kubernetes-patch-strategy"] == "retainKeys"
    containers = schemas["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"]
    assert containers["x-kubernetes-patch-merge-key"] == "name"
    assert containers["x-kubernetes-list-map-keys"] == ["name"]
    assert containers["items"] == {
        "allOf": [{"$ref": "#/components/schemas/io.k8s.api.core.v1.Container"}],
        "default": {},
    }


async def test_a_patch_operation_has_the_parameters_that_kubectl_looks_for(documents: Documents) -> None:
    tree = await documents.tree("/openapi/v3/apis/apps/v1")
    patch = tree["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert {each["name"] for each in patch["parameters"]} == {"dryRun", "fieldManager", "fieldValidation", "force"}
    assert patch["x-kubernetes-group-version-kind"] == {"group": "apps", "version": "v1", "kind": "Deployment"}
    assert patch["operationId"] == "patchAppsV1NamespacedDeployment"


async def test_types_and_fields_have_descriptions(documents: Documents) -> None:
    spec = (await documents.schemas("api/v1"))["io.k8s.api.core.v1.PodSpec"]
    assert "PodSpec is a description of a pod" in spec["description"]
    assert "scheduled" in spec["properties"]["nodeName"]["description"]
    assert "JSON:" not in json.dumps(spec)
    pod = (await documents.schemas("api/v1"))["io.k8s.api.core.v1.Pod"]
    assert "versioned schema" in pod["properties"]["apiVersion"]["description"]
    metadata = (await documents.schemas("api/v1"))["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]
    assert metadata["properties"]["creationTimestamp"]["description"].startswith("CreationTimestamp is a timestamp")


def test_a_package_without_stubs_has_no_descriptions() -> None:
    assert descriptions_of("no.such.package", "Type").text == ""


async def test_an_old_hash_redirects_to_the_present_one(documents: Documents) -> None:
    url = (await documents.tree("/openapi/v3"))["paths"]["apis/apps/v1"]["serverRelativeURL"]
    response = await documents.get("/openapi/v3/apis/apps/v1?hash=OLD")
    assert (response.status, response.headers["Location"]) == (301, url)
    response = await documents.get(url)
    assert response.headers["Cache-Control"] == "public, immutable"


@pytest.mark.parametrize("path", ["/openapi/v2", "/openapi/v3", "/openapi/v3/apis/apps/v1"])
async def test_a_document_that_the_client_has_is_not_sent_again(documents: Documents, path: str) -> None:
    etag = (await documents.get(path)).headers["ETag"]
    response = await documents.get(path, If_None_Match=etag)
    assert (response.status, await response.read()) == (304, b"")


@pytest.mark.parametrize("path", ["/openapi/v1", "/openapi/v3/apis/none/v1", "/openapi/v3/apis", "/openapi"])
async def test_other_paths_do_not_exist(documents: Documents, path: str) -> None:
    assert (await documents.get(path)).status == 404


async def test_a_client_that_accepts_no_served_form_gets_406(documents: Documents) -> None:
    assert (await documents.get("/openapi/v2", Accept="text/html")).status == 406
    assert (await documents.get("/openapi/v2", Accept="text/html,application/json;q=0.5")).status == 200
    protobuf = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
    assert (await documents.get("/openapi/v3/api/v1", Accept=protobuf)).status == 406


PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


def fields_in(message: bytes) -> list[tuple[int, bytes]]:
    """The numbers and contents of the length-delimited fields of a message."""
    found, position = [], 0
    while position < len(message):
        key, position = read_varint(message, position)
        if key & 7 == 2:
            start, position = read_length(message, position, len(message))
            found.append((key >> 3, message[start:position]))
        else:
            position = skip_field(message, position, len(message), key, "Message", {})
    return found


def named_in(message: bytes, number: int) -> dict[str, bytes]:
    """The entries of a map that is a repeated field of names and values."""
    entries = [dict(fields_in(content)) for each, content in fields_in(message) if each == number]
    return {entry[1].decode(): entry[2] for entry in entries}


async def test_version_2_is_served_as_protobuf(documents: Documents) -> None:
    response = await documents.get("/openapi/v2", Accept=PROTOBUF)
    assert response.content_type == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    document = dict(fields_in(await response.read()))
    tree = await documents.tree("/openapi/v2")
    assert named_in(document[8], 2).keys() == tree["paths"].keys()
    definitions = named_in(document[9], 1)
    assert definitions.keys() == tree["definitions"].keys()
    deployment = dict(fields_in(definitions[DEPLOYMENT]))
    assert deployment[4].decode() == tree["definitions"][DEPLOYMENT]["description"]
    assert named_in(deployment[25], 1).keys() == tree["definitions"][DEPLOYMENT]["properties"].keys()
    [extension] = [dict(fields_in(each)) for number, each in fields_in(definitions[DEPLOYMENT]) if number == 31]
    assert extension[1] == b"x-kubernetes-group-version-kind"
    assert json.loads(dict(fields_in(extension[2]))[2]) == [{"group": "apps", "kind": "Deployment", "version": "v1"}]
    known = await documents.get("/openapi/v2", Accept=PROTOBUF, If_None_Match=response.headers["ETag"])
    assert known.status == 304
    assert (await documents.get("/openapi/v2", If_None_Match=response.headers["ETag"])).status == 200


async def test_a_custom_resource_appears_changes_and_disappears(documents: Documents) -> None:
    async with lw.ClientSet(documents.server.config) as client:
        definitions = client.apiextensions_v1.customresourcedefinitions()
        await definitions.create(definition(schema=fleet_schema("size")))
        await lw.wait_for(definitions, "fleets.example.com", is_established, timeout=30)
        found = await documents.schemas("apis/example.com/v1")
        fleet = found["com.example.v1.Fleet"]
        assert fleet["properties"]["spec"]["properties"]["size"]["description"] == "how many"
        assert fleet["x-kubernetes-group-version-kind"] == [{"group": "example.com", "version": "v1", "kind": "Fleet"}]
        assert "com.example.v1.FleetList" in found
        before = (await documents.tree("/openapi/v3"))["paths"]["apis/example.com/v1"]

        change = {"spec": {"versions": definition(schema=fleet_schema("count"))["spec"]["versions"]}}
        await definitions.patch("fleets.example.com", change)
        assert (await documents.tree("/openapi/v3"))["paths"]["apis/example.com/v1"] != before
        fleet = (await documents.schemas("apis/example.com/v1"))["com.example.v1.Fleet"]
        assert list(fleet["properties"]["spec"]["properties"]) == ["count"]
        assert "com.example.v1.Fleet" in (await documents.tree("/openapi/v2"))["definitions"]

        await definitions.delete("fleets.example.com")
        await lw.wait_for(definitions, "fleets.example.com", lambda found: found is None, timeout=30)
        assert "apis/example.com/v1" not in (await documents.tree("/openapi/v3"))["paths"]


async def test_only_built_in_kinds_offer_strategic_merge_patches_and_protobuf(documents: Documents) -> None:
    async with lw.ClientSet(documents.server.config) as client:
        definitions = client.apiextensions_v1.customresourcedefinitions()
        await definitions.create(definition(schema=fleet_schema("size")))
        await lw.wait_for(definitions, "fleets.example.com", is_established, timeout=30)
    fleet = "/apis/example.com/v1/namespaces/{namespace}/fleets/{name}"
    deployment = "/apis/apps/v1/namespaces/{namespace}/deployments/{name}"
    paths = (await documents.tree("/openapi/v2"))["paths"]
    strategic, protobuf = "application/strategic-merge-patch+json", "application/vnd.kubernetes.protobuf"
    assert strategic in paths[deployment]["patch"]["consumes"]
    assert paths[fleet]["patch"]["consumes"] == [
        "application/apply-patch+yaml",
        "application/json-patch+json",
        "application/merge-patch+json",
    ]
    assert protobuf in paths[deployment]["get"]["produces"]
    assert protobuf not in paths[fleet]["get"]["produces"]
    patch = (await documents.tree("/openapi/v3/apis/example.com/v1"))["paths"][fleet]["patch"]
    assert strategic not in patch["requestBody"]["content"]


async def test_version_2_has_no_properties_of_a_kind_that_keeps_unknown_fields(documents: Documents) -> None:
    async with lw.ClientSet(documents.server.config) as client:
        definitions = client.apiextensions_v1.customresourcedefinitions()
        schema = {**fleet_schema("size"), "x-kubernetes-preserve-unknown-fields": True}
        await definitions.create(definition(schema=schema))
        await lw.wait_for(definitions, "fleets.example.com", is_established, timeout=30)
    fleet = (await documents.tree("/openapi/v2"))["definitions"]["com.example.v1.Fleet"]
    assert fleet.keys() == {"type", "x-kubernetes-group-version-kind"}
    assert "spec" in (await documents.schemas("apis/example.com/v1"))["com.example.v1.Fleet"]["properties"]


def is_established(found: Any) -> bool:
    conditions = found.status.conditions or [] if found and found.status else []
    return any(each.type == "Established" and each.status == "True" for each in conditions)


async def test_version_2_has_all_kinds_in_its_own_form(documents: Documents) -> None:
    tree = await documents.tree("/openapi/v2")
    assert tree["swagger"] == "2.0"
    assert references_in(tree) <= {f"#/definitions/{name}" for name in tree["definitions"]}
    port = tree["definitions"]["io.k8s.api.core.v1.ServicePort"]["properties"]
    assert port["targetPort"]["$ref"] == "#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString"
    assert tree["definitions"]["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]["type"] == "string"
    create = tree["paths"]["/api/v1/namespaces/{namespace}/pods"]["post"]
    assert [each["name"] for each in create["parameters"] if each["in"] == "body"] == ["body"]
    assert create["responses"]["201"]["schema"] == {"$ref": "#/definitions/io.k8s.api.core.v1.Pod"}

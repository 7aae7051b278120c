"""Definitions on the embedded server: they take effect at once, and survive a restart."""

from pathlib import Path
from typing import Any

import pytest

from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.errors import InternalServerError, NotFoundError
from listwatch.meta import Resource
from listwatch.objects.unstructured import Unstructured
from listwatch.server import APIServer

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


def definition(**version: Any) -> Unstructured:
    spec = {"type": "object", "properties": {"size": {"type": "integer", "default": 1}}}
    schema = {"type": "object", "properties": {"spec": spec}}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **version}]
    names = {"plural": "widgets", "kind": "Widget"}
    return Unstructured(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions},
        }
    )


def widget(name: str, **spec: Any) -> Unstructured:
    return Unstructured({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec})


def resources(client: DynamicClient) -> tuple[Any, Any]:
    definitions = client.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    return definitions, client.resource("example.com/v1", "Widget", namespace="default")


async def test_a_custom_resource_is_served_as_soon_as_its_definition_is_created():
    async with APIServer() as server, DynamicClient(server.config) as client:
        definitions, widgets = resources(client)
        await definitions.create(definition())
        assert (await widgets.create(widget("a")))["spec"] == {"size": 1}
        conditions = (await definitions.get("widgets.example.com"))["status"]["conditions"]
        assert [each["status"] for each in conditions] == ["True", "True"]


async def test_definitions_and_objects_survive_a_restart(tmp_path: Path):
    async with APIServer(data_dir=tmp_path) as server, DynamicClient(server.config) as client:
        definitions, widgets = resources(client)
        await definitions.create(definition(subresources={"status": {}}))
        made = await widgets.create(widget("a", size=2))
    async with APIServer(data_dir=tmp_path) as server, DynamicClient(server.config) as client:
        definitions, widgets = resources(client)
        assert await widgets.get("a") == made
        stored = await widgets.patch("a", {"status": {"ok": True}}, subresource="status")
        assert "status" not in stored  # not in the schema
        assert (await widgets.create(widget("b")))["spec"] == {"size": 1}
        await definitions.delete("widgets.example.com")
        with pytest.raises(NotFoundError):
            await definitions.get("widgets.example.com")


async def test_the_deletion_of_a_definition_continues_after_a_restart(tmp_path: Path):
    async with APIServer(data_dir=tmp_path) as server, DynamicClient(server.config) as client:
        definitions, widgets = resources(client)
        await definitions.create(definition())
        held = widget("a")
        held.metadata.finalizers = ["example.com/hold"]
        await widgets.create(held)
        await definitions.delete("widgets.example.com")
    async with APIServer(data_dir=tmp_path) as server, DynamicClient(server.config) as client:
        definitions, widgets = resources(client)
        assert (await definitions.get("widgets.example.com")).metadata.deletion_timestamp
        await widgets.patch("a", {"metadata": {"finalizers": None}})
        with pytest.raises(NotFoundError):
            await definitions.get("widgets.example.com")


async def test_an_error_does_not_contain_the_data_of_a_secret():
    async with APIServer() as server, DynamicClient(server.config) as client:
        secrets = client.resource("v1", "Secret", namespace="default")
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringData": {"key": ["hidden"]}}
        with pytest.raises(InternalServerError, match=r"\.stringData\.key: expected string") as caught:
            await secrets.apply(body, field_manager="me")
        assert "hidden" not in str(caught.value)


async def test_resources_passed_to_the_server_need_no_definition():
    gadgets = Resource("example.com", "v1", "Gadget", "gadgets", verbs=VERBS)
    async with APIServer(resources=[gadgets]) as server, DynamicClient(server.config) as client:
        served = client.resource("example.com/v1", "Gadget", namespace="default")
        made = await served.create(Unstructured({"metadata": {"name": "a"}, "anything": {"goes": [1]}}))
        assert made["anything"] == {"goes": [1]}
        body = {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "a"}, "anything": {"else": 2}}
        assert (await served.apply(body, field_manager="me"))["anything"] == {"goes": [1], "else": 2}


async def test_a_snapshot_starts_with_its_definitions():
    async with APIServer() as server, DynamicClient(server.config) as client:
        definitions, widgets = resources(client)
        await definitions.create(definition())
        await widgets.create(widget("a"))
        snapshot = server.snapshot()
    async with APIServer(snapshot=snapshot) as server, DynamicClient(server.config) as client:
        _, widgets = resources(client)
        assert [each.name for each in await widgets.list()] == ["a"]


async def test_custom_objects_are_deleted_with_their_namespace_and_their_owner():
    async with APIServer() as server, DynamicClient(server.config) as client:
        definitions, widgets = resources(client)
        await definitions.create(definition())
        owner = await widgets.create(widget("owner"))
        reference = {"apiVersion": "example.com/v1", "kind": "Widget", "name": "owner", "uid": owner.uid}
        body = widget("owned").to_dict()
        body["metadata"]["ownerReferences"] = [reference]
        await widgets.create(body)
        await widgets.delete("owner")
        assert list(await widgets.list()) == []
        namespaces = client.resource("v1", "Namespace")
        await namespaces.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}})
        await widgets.namespace("x").create(widget("a"))
        await namespaces.delete("x")
        assert list(await client.resource("example.com/v1", "Widget").list()) == []

"""What is checked on the embedded and on a real server."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

import pytest
from tests.generate.example import Example

import listwatch as lw
from listwatch.errors import APIError
from listwatch.generate import custom_resource_definitions


def kind_with(annotation: Any) -> type[lw.CustomResource]:
    """A kind with one field of this type."""
    namespace = {"__annotations__": {"value": annotation}, "__module__": __name__}
    cls: type[lw.CustomResource] = type(lw.CustomResource)(
        "Odd", (lw.CustomResource,), namespace, group="a.example.com", version="v1", kind="Odd"
    )
    return cls


def types_of(module: str) -> list[type[lw.Model]]:
    """The nested types that a module of the models defines."""
    found = import_module(f"listwatch.models.{module}")
    types = [each for each in vars(found).values() if isinstance(each, type) and issubclass(each, lw.Model)]
    return [each for each in types if each.__module__ == found.__name__]


def schema_of(cls: type[lw.CustomResource]) -> dict[str, Any]:
    [definition] = custom_resource_definitions(cls)
    schema: dict[str, Any] = definition.to_dict()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return schema


async def check_accepted(client: lw.ClientSet, example: Example) -> None:
    """Create the definition and an object; read it with the class; send it back; see another one rejected."""
    [definition] = custom_resource_definitions(*example.classes)
    definitions = client.apiextensions_v1.customresourcedefinitions()
    stored = await definitions.create(definition)
    assert stored.spec.versions[0].schema == definition.spec.versions[0].schema
    await lw.wait_for(definitions, definition.name, "condition=Established", timeout=30)
    await _discover(client, definition.name)
    cls = example.classes[0]
    is_namespaced = definition.spec.scope == "Namespaced"
    objects = client.resource(cls, namespace="default" if is_namespaced else None)
    created = await objects.create({"metadata": {"name": "a"}, **example.accepted})
    for name in cls.lazy_fields:
        getattr(created, name)
    changed = created.copy()
    changed.metadata.labels["changed"] = "yes"
    updated = await objects.update(changed)
    assert _content(updated) == _content(created)
    if example.rejected is not None:
        with pytest.raises(APIError) as caught:
            await objects.create({"metadata": {"name": "b"}, **example.rejected})
        assert example.reason in str(caught.value)


async def _discover(client: lw.ClientSet, name: str) -> None:
    """Wait until discovery has a resource. A real server updates it some time after the definition is established."""
    deadline = asyncio.get_running_loop().time() + 30
    while name not in {str(each.group_resource) for each in await client.discovery.preferred_resources()}:
        assert asyncio.get_running_loop().time() < deadline
        await asyncio.sleep(0.05)


def _content(obj: lw.Object) -> dict[str, Any]:
    return {name: value for name, value in obj.to_dict().items() if name != "metadata"}

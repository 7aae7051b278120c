"""A model is one kind of the API as a Python type. Generated, a module per group-version, imported when asked for.

`from listwatch.models.apps_v1 import Deployment` is the usual way; here is what finds a kind by its name.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import msgspec

from listwatch.errors import DecodeError
from listwatch.meta import Resource
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured

__all__ = ["load_yaml", "lookup", "resources"]


def lookup(api_version: str, kind: str) -> type[Object] | None:
    """The model of a built-in kind, None for any other. Imports the one module that has it."""
    from listwatch.models.table import MODULES

    if api_version not in MODULES:
        return None
    found = getattr(import_module(f"{__name__}.{MODULES[api_version]}"), kind, None)
    is_kind = isinstance(found, type) and issubclass(found, Object) and found.gvk is not None
    return found if is_kind else None


@cache
def resources() -> tuple[Resource, ...]:
    """Every built-in resource: groups in the server's order, in each the preferred version first. Imports no model."""
    from listwatch.models.table import RESOURCES

    return msgspec.json.decode(RESOURCES, type=tuple[Resource, ...])


def attributes_of(plural: str) -> list[str]:
    """Where clients and factories have a resource, the preferred versions first: `apps_v1.deployments`."""
    from listwatch.models.table import MODULES

    found = [each for each in resources() if each.plural == plural]
    return [f"{MODULES.get(each.api_version, each.attribute)}.{each.plural}" for each in found]


def load_yaml(text: str | bytes) -> list[Object]:
    """The objects in a YAML text of any number of documents: models of built-in kinds, `Unstructured` for others."""
    # PyYAML is slow to load, and most programs read no YAML.
    from listwatch.objects.yaml.manifests import read_all

    return [_load(tree, number) for number, tree in enumerate(read_all(text), start=1)]


def _load(tree: Any, number: int) -> Object:
    match tree:
        case {"apiVersion": str(api_version), "kind": str(kind)}:
            return (lookup(api_version, kind) or Unstructured).from_dict(tree)
        case _:
            raise DecodeError("expected a mapping with apiVersion and kind", object_name=f"YAML object {number}")

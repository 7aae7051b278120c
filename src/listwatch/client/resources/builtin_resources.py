"""The resources that every server has, known without asking one."""

from __future__ import annotations

from functools import cache

from listwatch.api.resource_map import ResourceMap
from listwatch.meta import Resource
from listwatch.models import resources

__all__ = ["builtin_resources", "is_builtin"]


@cache
def builtin_resources() -> ResourceMap:
    """By kind and name; imports no model."""
    return ResourceMap(resources())


def is_builtin(resource: Resource) -> bool:
    return builtin_resources().at(resource.group, resource.version, resource.plural) is not None

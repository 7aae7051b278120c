"""Writes what type checkers and completions know of a ClientSet: a line for each resource. Programs use the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from listwatch.meta import GroupVersion, Resource
from tools.models.definitions import Definition
from tools.models.source import Source


def client_groups_text(source: Source, definitions: Mapping[str, Definition]) -> str:
    """`client/typed_groups.py`."""
    modules = {each.gvk.api_version: each.module for each in definitions.values() if each.is_object}
    groups: dict[GroupVersion, list[Resource]] = {}
    for resource in source.resources:
        groups.setdefault(resource.group_version, []).append(resource)
    used = sorted({modules[each.api_version] for each in groups})
    return "\n".join([
        f'"""The resources of Kubernetes {source.version}, as type checkers and completions see them in a ClientSet.',
        "",
        "Generated from an API server's schemas and discovery. Do not edit: `make models` makes it again.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import TYPE_CHECKING",
        "",
        "from .groups import Clusterwide, Group, Namespaced",
        "",
        "if TYPE_CHECKING:",
        "    from listwatch.models import (",
        *(f"        {module}," for module in used),
        "    )",
        "",
        *(line for each in groups for line in _group(each, groups[each], modules[each.api_version])),
        "",
        "class Groups:",
        '    """The group-versions of a ClientSet."""',
        "",
        *(f"    {each.attribute}: {_class_name(each)}" for each in groups),
        "",
    ])  # fmt: skip


def _group(group_version: GroupVersion, resources: list[Resource], module: str) -> Iterator[str]:
    yield from ("", f"class {_class_name(group_version)}(Group):")
    yield from (f'    """The resources of `{group_version}`."""', "")
    for resource in resources:
        place = "Namespaced" if resource.namespaced else "Clusterwide"
        yield f"    {resource.plural}: {place}[{module}.{resource.kind}]"
    yield ""


def _class_name(group_version: GroupVersion) -> str:
    return "".join(word.capitalize() for word in group_version.attribute.split("_"))

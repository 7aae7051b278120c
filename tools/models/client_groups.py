"""Generates the declarations of a ClientSet for type checkers: an attribute for each resource."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from listwatch.generate.python_names import pascal_case
from listwatch.meta import GroupVersionKind, Resource
from tools.models.definitions import Definition
from tools.models.source import Source


def client_groups_text(source: Source, definitions: Mapping[str, Definition]) -> str:
    """`client/resources/typed_groups.py`."""
    kinds = {each.gvk: f"{each.module}.{each.gvk.kind}" for each in definitions.values() if each.is_object}
    modules = {each.gvk.group_version: each.module for each in definitions.values() if each.is_object}
    groups: dict[str, list[Resource]] = {}
    for resource in source.resources:
        groups.setdefault(modules.get(resource.group_version, resource.attribute), []).append(resource)
    has_no_model = any(each.gvk not in kinds for each in source.resources)
    return "\n".join([
        f'"""The resources of Kubernetes {source.version}, as type checkers and completions see them in a ClientSet.',
        "",
        "Generated from an API server's schemas and discovery. Do not edit: run `make models`.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import TYPE_CHECKING",
        "",
        "from listwatch.client.resources.resource_groups import ClusterScoped, Group, Namespaced",
        "",
        "if TYPE_CHECKING:",
        "    from listwatch.models import (",
        *(f"        {module}," for module in sorted(groups.keys() & set(modules.values()))),
        "    )",
        *(["    from listwatch.objects.unstructured import Unstructured"] if has_no_model else []),
        "",
        *(line for name, resources in groups.items() for line in _group(name, resources, kinds)),
        "",
        "class Groups:",
        '    """The group-versions of a ClientSet."""',
        "",
        *(f"    {name}: {pascal_case(name)}" for name in groups),
        "",
    ])  # fmt: skip


def _group(name: str, resources: list[Resource], kinds: Mapping[GroupVersionKind, str]) -> Iterator[str]:
    yield from ("", f"class {pascal_case(name)}(Group):")
    yield from (f'    """The resources of `{resources[0].api_version}`."""', "")
    for resource in resources:
        place = "Namespaced" if resource.namespaced else "ClusterScoped"
        yield f"    {resource.plural}: {place}[{kinds.get(resource.gvk, 'Unstructured')}]"
    yield ""

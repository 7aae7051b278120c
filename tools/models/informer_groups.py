"""Generates the declarations of an informer factory for type checkers: an attribute for each watchable resource."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from listwatch.generate.python_names import pascal_case
from listwatch.meta import GroupVersionKind, Resource
from tools.models.definitions import Definition
from tools.models.source import Source


def informer_groups_text(source: Source, definitions: Mapping[str, Definition]) -> str:
    """`factory/typed_groups.py`."""
    kinds = {each.gvk: f"{each.module}.{each.gvk.kind}" for each in definitions.values() if each.is_object}
    modules = {each.gvk.group_version: each.module for each in definitions.values() if each.is_object}
    groups: dict[str, list[Resource]] = {}
    for resource in source.resources:
        if {"list", "watch"} <= set(resource.verbs) and resource.gvk in kinds:
            groups.setdefault(modules[resource.group_version], []).append(resource)
    return "\n".join([
        f'"""The resources of Kubernetes {source.version}, as type checkers and completions see them in a factory.',
        "",
        "Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import TYPE_CHECKING",
        "",
        "from listwatch.factory.informer_handle import InformerGroup, InformerHandle",
        "",
        *_imports(sorted(groups)),
        *(line for name, resources in groups.items() for line in _group(name, resources, kinds)),
        "",
        "class InformerGroups:",
        '    """The group-versions of a factory over a ClientSet."""',
        "",
        *(f"    {name}: {pascal_case(name)}Informers" for name in groups),
        "",
    ])  # fmt: skip


def _imports(modules: list[str]) -> list[str]:
    if not modules:
        return []
    return [
        "if TYPE_CHECKING:",
        "    from listwatch.models import (",
        *(f"        {each}," for each in modules),
        "    )",
        "",
    ]


def _group(name: str, resources: list[Resource], kinds: Mapping[GroupVersionKind, str]) -> Iterator[str]:
    yield from ("", f"class {pascal_case(name)}Informers(InformerGroup):")
    yield from (f'    """The informers of `{resources[0].api_version}`."""', "")
    for resource in resources:
        yield f"    {resource.plural}: InformerHandle[{kinds[resource.gvk]}]"
    yield ""

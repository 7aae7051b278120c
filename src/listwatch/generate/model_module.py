"""Python modules of the classes of CustomResourceDefinitions.

Each group-version is a module, `cert-manager.io/v1` is `cert_manager_v1.py`. `model_source.py` writes its classes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from listwatch.generate.generate_error import GenerateError
from listwatch.generate.model_source import ModelSource
from listwatch.generate.shared_schemas import SharedSchemas
from listwatch.json_value import JSON, JSONObject

__all__ = ["ModelModule", "model_modules"]


@dataclass(frozen=True, slots=True)
class ModelModule:
    """The source of a module, and what it defines."""

    name: str
    group: str
    version: str
    kinds: tuple[str, ...]
    source: str


def model_modules(
    definitions: Iterable[Mapping[str, JSON]], *, group: str = "", lenient: bool = False
) -> list[ModelModule]:
    """Return a module for each group-version of CustomResourceDefinitions, given as dicts.

    `group` selects the definitions of one group. With `lenient`, the classes read objects that the schemas do not
    allow: enums are strings, fields have no limits, and only fields of the same type are required.
    """
    found: dict[tuple[str, str], list[tuple[JSONObject, JSONObject]]] = {}
    for definition in definitions:
        spec = _object(definition.get("spec"))
        if group and spec.get("group") != group:
            continue
        for version in _objects(spec.get("versions")):
            key = (str(spec.get("group")), str(version.get("name")))
            found.setdefault(key, []).append((_object(definition), version))
    names = _module_names(found)
    return [_module(names[key], key, found[key], lenient=lenient) for key in sorted(found)]


def _module(
    name: str, key: tuple[str, str], kinds: list[tuple[JSONObject, JSONObject]], *, lenient: bool
) -> ModelModule:
    group, version = key
    kinds = sorted(kinds, key=lambda each: _kind(each[0]))
    source = ModelSource(group, version, SharedSchemas(_schema(each) for _, each in kinds), lenient=lenient)
    source.reserve(_kind(each) for each, _ in kinds)
    written = []
    for definition, version_tree in kinds:
        kind = _kind(definition)
        if not kind.isidentifier():
            raise GenerateError(kind, "the kind is no name of a Python class")
        source.add_kind(kind, _schema(version_tree), definition, version_tree)
        written.append(kind)
    return ModelModule(name, group, version, tuple(written), source.text())


def _schema(version: JSONObject) -> JSONObject:
    return _object(_object(version.get("schema")).get("openAPIV3Schema"))


def _module_names(keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the first label of the group and the version; the whole group if two groups would be called the same."""
    short = {key: _identifier(f"{key[0].partition('.')[0]}_{key[1]}") for key in keys}
    taken = [*short.values()]
    return {key: name if taken.count(name) == 1 else _identifier("_".join(key)) for key, name in short.items()}


def _identifier(text: str) -> str:
    return re.sub(r"\W", "_", text)


def _kind(definition: JSONObject) -> str:
    return str(_object(_object(definition.get("spec")).get("names")).get("kind"))


def _object(value: object) -> JSONObject:
    return dict(value) if isinstance(value, Mapping) else {}


def _objects(value: object) -> list[JSONObject]:
    return [_object(each) for each in value] if isinstance(value, list | tuple) else []

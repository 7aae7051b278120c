"""Generates data modules: the table of all resources, and the schemas for the embedded server.

`listwatch.server.schema.schema` describes the format of the latter, and reads it.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from listwatch.meta import Resource
from tools.models.definitions import Definition, Field, Shape
from tools.models.source import Source

_LETTERS = {"string": "s", "integer": "i", "number": "n", "boolean": "b", "int-or-string": "x", "any": "a"}


def table_text(source: Source, definitions: Mapping[str, Definition]) -> str:
    """`models/table.py`."""
    modules = {each.gvk.api_version: each.module for each in definitions.values() if each.is_object}
    return "\n".join([
        f'"""Every resource of Kubernetes {source.version}, as `listwatch.models` reads it.',
        "",
        "Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.",
        '"""',
        "",
        "MODULES = {",
        *(f'    "{api_version}": "{module}",' for api_version, module in sorted(modules.items())),
        "}",
        "",
        f'RESOURCES = """\\\n{_wrapped(_resources(source.resources))}\\\n"""',
        "",
    ])  # fmt: skip


def schema_data_text(source: Source, definitions: Mapping[str, Definition]) -> str:
    """`server/schema/schema_data.py`."""
    content = {
        "version": source.version,
        "packages": _packages(definitions),
        "hashes": source.hashes,
    }
    return "\n".join([
        f'"""The types of Kubernetes {source.version}, as `listwatch.server.schema.schema` reads them.',
        "",
        "Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.",
        '"""',
        "",
        f'DATA = """\\\n{_wrapped(content)}\\\n"""',
        "",
    ])  # fmt: skip


def _wrapped(content: Any) -> str:
    """JSON in short lines: each type and each resource starts a line, and long lines are broken after commas."""
    compact = json.dumps(content, separators=(",", ":"))
    entries = re.sub(r',(?="[A-Z]\w*":\{|\{"group":)', ",\n", compact)
    text = re.sub(r"(?=.{119})(.{1,118},)", r"\1\n", entries)
    if json.loads(text) != content or "\\" in text or '"""' in text:
        raise ValueError("a string in the schemas has commas or escapes that break the line wrapping")
    return text


# --- resources -------------------------------------------------------------------------------------------------------


def _resources(resources: Iterable[Resource]) -> list[dict[str, Any]]:
    """Each resource by field name, without the values that `Resource` derives itself."""
    return [_resource(each) for each in resources]


def _resource(resource: Resource) -> dict[str, Any]:
    names = {name: getattr(resource, name) for name in ("group", "version", "kind", "plural")}
    implied = dataclasses.asdict(Resource(**names))
    stated = {name: value for name, value in dataclasses.asdict(resource).items() if value != implied[name]}
    row: dict[str, Any] = json.loads(json.dumps(names | stated))  # tuples become lists
    return row


# --- types -----------------------------------------------------------------------------------------------------------


def _packages(definitions: Mapping[str, Definition]) -> dict[str, Any]:
    short = _short_names({each.package for each in definitions.values()})
    packages: dict[str, Any] = {}
    for each in definitions.values():
        package = packages.setdefault(short[each.package], {"name": each.package, "types": {}})
        package["types"][each.name] = _type(each, short)
    return packages


def _short_names(packages: set[str]) -> dict[str, str]:
    """`core.v1` for `io.k8s.api.core.v1`, unless another package would be called so as well."""
    short = {package: ".".join(package.split(".")[-2:]) for package in sorted(packages)}
    names = list(short.values())
    return {package: name if names.count(name) == 1 else package for package, name in short.items()}


def _type(definition: Definition, short: Mapping[str, str]) -> dict[str, Any]:
    unions = [[each.get("discriminator", ""), each.get("fields-to-discriminateBy", {})] for each in definition.unions]
    row = {
        "f": {each.wire: _field(each, definition.package, short) for each in definition.fields},
        "v": [each.api_version for each in definition.kinds],
        "t": list(definition.json_types) if definition.json_types != ("object",) else None,
        "o": definition.format,
        "x": definition.map_type,
        "u": unions,
    }
    return {name: value for name, value in row.items() if value or (name == "t" and value is not None)}


def _field(field: Field, package: str, short: Mapping[str, str]) -> str | dict[str, Any]:
    """Only the type if the field has nothing else."""
    text = _shape(field.shape, package, short) + "!" * field.required + "=" * field.defaults_to_zero
    row = {
        "l": field.list_type,
        "k": list(field.map_keys),
        "m": field.merge_key,
        "p": list(field.patch_strategies),
        "x": field.map_type,
        "e": list(field.enum),
    }
    row = {name: value for name, value in row.items() if value}
    if field.has_default and not field.defaults_to_zero:
        row["d"] = field.default
    return {"t": text, **row} if row else text


def _shape(shape: Shape, package: str, short: Mapping[str, str]) -> str:
    match shape:
        case Shape("list", items=Shape() as items):
            return f"[{_shape(items, package, short)}"
        case Shape("map", items=Shape() as items):
            return f"{{{_shape(items, package, short)}"
        case Shape("ref"):
            home, _, name = shape.ref.rpartition(".")
            return f"#{name}" if home == package else f"#{short[home]}.{name}"
        case _:
            return _LETTERS[shape.type] + (f":{shape.format}" if shape.format else "")

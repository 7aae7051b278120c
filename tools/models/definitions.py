"""The API's types as the generator represents them: the module of each type, and its fields.

`source` reads the schemas; `python_code` and `tables` generate files from these definitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from listwatch.generate.python_names import pascal_case, unique
from listwatch.meta import GroupVersion, GroupVersionKind

Schema = dict[str, Any]

MACHINERY = "io.k8s.apimachinery.pkg."
META = f"{MACHINERY}apis.meta.v1"

# Distinguishes an absent default from null.
_ABSENT = object()
_ZERO: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False, "ref": {}}


@dataclass(frozen=True)
class Shape:
    """The shape of a value: a scalar, a list or map of a shape, a definition, or any value."""

    type: str  # string integer number boolean int-or-string list map ref any
    format: str = ""
    ref: str = ""
    items: Shape | None = None


@dataclass(frozen=True)
class Field:
    """One field of a definition, and how the server merges it."""

    wire: str
    shape: Shape
    required: bool
    default: Any = _ABSENT
    list_type: str = ""
    map_type: str = ""
    map_keys: tuple[str, ...] = ()
    merge_key: str = ""
    patch_strategies: tuple[str, ...] = ()
    enum: tuple[Any, ...] = ()
    description: str = ""

    @property
    def has_default(self) -> bool:
        return self.default is not _ABSENT

    @property
    def defaults_to_zero(self) -> bool:
        zero = _ZERO.get(self.shape.type)
        return self.has_default and type(self.default) is type(zero) and self.default == zero

    @property
    def is_value(self) -> bool:
        """Whether the field is never absent: unset and zero mean the same, and the API always writes it."""
        return self.required or self.defaults_to_zero


@dataclass(frozen=True)
class Definition:
    """One type of the API."""

    name: str
    package: str
    module: str
    fields: tuple[Field, ...]
    json_types: tuple[str, ...] = ("object",)
    format: str = ""
    map_type: str = ""
    unions: tuple[Schema, ...] = ()
    kinds: tuple[GroupVersionKind, ...] = ()
    description: str = ""

    @property
    def full_name(self) -> str:
        return f"{self.package}.{self.name}"

    @property
    def gvk(self) -> GroupVersionKind:
        return self.kinds[0]

    def field(self, wire: str) -> Field | None:
        return next((each for each in self.fields if each.wire == wire), None)

    @property
    def item(self) -> Shape:
        """The definition of the items of a list kind."""
        items = self.field("items")
        return (items and items.shape.items) or Shape("any")

    @property
    def is_object(self) -> bool:
        return bool(self.kinds) and self._metadata == f"{META}.ObjectMeta"

    @property
    def is_list(self) -> bool:
        return bool(self.kinds) and self._metadata == f"{META}.ListMeta" and self.item.type == "ref"

    @property
    def _metadata(self) -> str:
        metadata = self.field("metadata")
        return metadata.shape.ref if metadata else ""


def read_definitions(schemas: dict[str, Schema]) -> dict[str, Definition]:
    """Every type by its full name; inline types get a name too."""
    reader = _Reader(schemas)
    return dict(sorted((definition.full_name, definition) for definition in reader.read_all()))


class _Reader:
    def __init__(self, schemas: dict[str, Schema]) -> None:
        self.schemas = dict(sorted(schemas.items()))
        self.modules = _modules(schemas)

    def read_all(self) -> Iterator[Definition]:
        waiting = list(self.schemas)
        for full_name in waiting:
            yield self.definition(full_name, self.schemas[full_name], self.modules[_package(full_name)])
            # Reading a type may add inline types, which come last in the dict.
            waiting += list(self.schemas)[len(waiting) :]

    def definition(self, full_name: str, schema: Schema, module: str) -> Definition:
        package, _, name = full_name.rpartition(".")
        return Definition(
            name=name,
            package=package,
            module=module,
            fields=tuple(self.field(full_name, schema, wire) for wire in schema.get("properties", {})),
            json_types=tuple(each["type"] for each in schema.get("oneOf", [schema]) if "type" in each),
            format=schema.get("format", ""),
            map_type=schema.get("x-kubernetes-map-type", ""),
            unions=tuple(schema.get("x-kubernetes-unions", ())),
            kinds=_kinds(schema),
            description=schema.get("description", ""),
        )

    def field(self, owner: str, schema: Schema, wire: str) -> Field:
        found = schema["properties"][wire]
        strategy = found.get("x-kubernetes-patch-strategy", "")
        return Field(
            wire=wire,
            shape=self.shape(found, owner + pascal_case(wire)),
            required=wire in schema.get("required", ()),
            default=found.get("default", _ABSENT),
            list_type=found.get("x-kubernetes-list-type", ""),
            map_type=found.get("x-kubernetes-map-type", ""),
            map_keys=tuple(found.get("x-kubernetes-list-map-keys", ())),
            merge_key=found.get("x-kubernetes-patch-merge-key", ""),
            patch_strategies=tuple(strategy.split(",")) if strategy else (),
            enum=tuple(found.get("enum", ())),
            description=found.get("description", ""),
        )

    def shape(self, schema: Schema, name_if_new: str) -> Shape:
        reference = schema.get("$ref") or schema.get("allOf", [{}])[0].get("$ref")
        if reference:
            return Shape("ref", ref=reference.rpartition("/")[2])
        if schema.get("x-kubernetes-int-or-string"):
            return Shape("int-or-string")
        match schema.get("type"):
            case "array":
                return Shape("list", items=self.shape(schema.get("items", {}), name_if_new))
            case "object" if schema.get("properties"):
                return Shape("ref", ref=self.hoist(schema, name_if_new))
            case "object":
                values = schema.get("additionalProperties")
                # It may also be `true`, or unspecified.
                return Shape("map", items=self.shape(values if isinstance(values, dict) else {}, name_if_new))
            case str(scalar):
                return Shape(scalar, schema.get("format", ""))
            case _:
                return Shape("any")

    def hoist(self, schema: Schema, name: str) -> str:
        """Name an inline type, as in schemas of custom resources."""
        name = unique(name, self.schemas)
        self.schemas[name] = schema
        return name


def _kinds(schema: Schema) -> tuple[GroupVersionKind, ...]:
    kinds = schema.get("x-kubernetes-group-version-kind", ())
    return tuple(sorted(GroupVersionKind(each["group"], each["version"], each["kind"]) for each in kinds))


def _package(full_name: str) -> str:
    return full_name.rpartition(".")[0]


def _modules(schemas: dict[str, Schema]) -> dict[str, str]:
    """The Python module of each package: that of the group-version of its kinds."""
    versions: dict[str, GroupVersion] = {}
    for full_name, schema in schemas.items():
        package, kinds = _package(full_name), _kinds(schema)
        if kinds and not package.startswith(MACHINERY):
            versions[package] = kinds[0].group_version
        else:
            versions.setdefault(package, _without_kinds(package))
    return {package: _module(version, set(versions.values())) for package, version in versions.items()}


def _without_kinds(package: str) -> GroupVersion:
    if package.startswith(MACHINERY):
        return GroupVersion("meta", "v1")
    *_, group, version = package.split(".")
    return GroupVersion(group, version)


def _module(version: GroupVersion, versions: set[GroupVersion]) -> str:
    """`apps_v1`; if two groups share a first label, only that of Kubernetes is abbreviated."""
    groups = {each.group for each in versions if each.attribute == version.attribute}
    if len(groups) == 1 or version.group.endswith(".k8s.io") or "." not in version.group:
        return version.attribute
    return f"{version.group}_{version.version}".replace(".", "_").replace("-", "_")

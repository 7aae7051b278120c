"""What the embedded server knows of the built-in types: their fields, how they merge, and where they are served.

`schema_data.py` holds it as JSON, written by `make models`:

    {"version": the Kubernetes version,
     "packages": {"core.v1": {"name": "io.k8s.api.core.v1", "types": {"PodSpec": TYPE, …}}, …},
     "hashes": {"v1/pods": storage version hash, …}}

    TYPE   f  its fields, {name: FIELD}      v  the API versions in which it is a kind
           t  the JSON types it may have, if not an object; [] for any
           o  its format                     x  its map type
           u  its unions, [discriminator or "", {field: value of the discriminator}]

    FIELD  either SHAPE alone, or an object with the SHAPE as t and
           l  list type      k  map keys     m  patch merge key     p  patch strategies
           x  map type       e  enum         d  default

    SHAPE  s string, i integer, n number, b boolean, x integer or string, a anything, each with :format if it has one;
           #PodSpec a type of this package, #meta.v1.Time of another; [SHAPE a list, {SHAPE a map;
           then ! if it is required, and = if it defaults to the zero of its type

It is read as a whole in a few milliseconds; each type is made when it is first asked for. The resources come from
`listwatch.models`, which has them anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import Any

import msgspec

from listwatch import models
from listwatch.meta import Resource

__all__ = ["FieldSchema", "Schema", "Shape", "TypeSchema", "UnionSchema", "builtin_schema"]

_SCALARS = {"s": "string", "i": "integer", "n": "number", "b": "boolean", "x": "int-or-string", "a": "any"}
_ZEROS: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False}


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What a value is: `type` is string, integer, number, boolean, int-or-string, any, list, map or ref."""

    type: str
    format: str = ""
    ref: str = ""
    """The name of the type, for `Schema.type`."""
    items: Shape | None = None
    """What the elements of a list or the values of a map are."""


class FieldSchema(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a type, and how it is merged."""

    name: str
    type: Shape
    required: bool = False
    default: Any = msgspec.UNSET
    list_type: str = ""
    """atomic, set or map; empty for what is no list, and for lists that nobody declared."""
    map_keys: tuple[str, ...] = ()
    merge_key: str = ""
    patch_strategies: tuple[str, ...] = ()
    map_type: str = ""
    enum: tuple[Any, ...] = ()


class UnionSchema(msgspec.Struct, frozen=True, kw_only=True):
    """Fields of which one may be set, and the field that says which."""

    discriminator: str = ""
    fields: Mapping[str, str]


class TypeSchema(msgspec.Struct, frozen=True, kw_only=True):
    """One type."""

    name: str
    """As other types refer to it: `core.v1.PodSpec`."""
    definition: str
    """As OpenAPI documents call it: `io.k8s.api.core.v1.PodSpec`."""
    fields: Mapping[str, FieldSchema]
    json_types: tuple[str, ...] = ("object",)
    """Empty for a type that takes any JSON."""
    format: str = ""
    map_type: str = ""
    unions: tuple[UnionSchema, ...] = ()
    api_versions: tuple[str, ...] = ()

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields.values() if field.required)


class Schema:
    """Every type and resource of one Kubernetes version; what it hands out is shared, so it is only read."""

    def __init__(self, data: str, resources: tuple[Resource, ...] = ()) -> None:
        self.resources = resources
        """In the server's order: the groups as it lists them, in each the preferred version first."""
        self._document = msgspec.json.decode(data, type=_Document)
        self._types: dict[str, TypeSchema] = {}

    @property
    def version(self) -> str:
        return self._document.version

    def storage_version_hash(self, resource: Resource) -> str:
        """Empty where the real server was not heard to tell one."""
        return self._document.hashes.get(f"{resource.api_version}/{resource.plural}", "")

    def type_of(self, api_version: str, kind: str) -> TypeSchema | None:
        """The type of a kind; None for one that is not built in."""
        name = self._names.get((api_version, kind))
        return self.type(name) if name else None

    def type(self, name: str) -> TypeSchema:
        """The type of a name that a `Shape` refers to."""
        if name not in self._types:
            self._types[name] = self._read_type(name)
        return self._types[name]

    def type_names(self) -> Iterator[str]:
        """The name of every type."""
        for package, row in self._document.packages.items():
            yield from (f"{package}.{name}" for name in row.types)

    @cached_property
    def _names(self) -> dict[tuple[str, str], str]:
        return {
            (api_version, name): f"{package}.{name}"
            for package, row in self._document.packages.items()
            for name, type_row in row.types.items()
            for api_version in type_row.v
        }

    def _read_type(self, full_name: str) -> TypeSchema:
        package, _, name = full_name.rpartition(".")
        home = self._document.packages[package]
        row = home.types[name]
        return TypeSchema(
            name=full_name,
            definition=f"{home.name}.{name}",
            fields={wire: _read_field(wire, field, package) for wire, field in row.f.items()},
            json_types=row.t,
            format=row.o,
            map_type=row.x,
            unions=tuple(UnionSchema(discriminator=says, fields=fields) for says, fields in row.u),
            api_versions=row.v,
        )


@cache
def builtin_schema() -> Schema:
    """What the built-in kinds are."""
    # An eighth of a megabyte, and not needed before a server starts.
    from listwatch.server.schema.schema_data import DATA

    return Schema(DATA, models.resources())


# --- the format ------------------------------------------------------------------------------------------------------


class _Type(msgspec.Struct):
    f: dict[str, str | dict[str, Any]] = {}
    v: tuple[str, ...] = ()
    t: tuple[str, ...] = ("object",)
    o: str = ""
    x: str = ""
    u: tuple[tuple[str, dict[str, str]], ...] = ()


class _Package(msgspec.Struct):
    name: str
    types: dict[str, _Type]


class _Document(msgspec.Struct):
    version: str
    packages: dict[str, _Package]
    hashes: dict[str, str]


def _read_field(name: str, row: str | dict[str, Any], package: str) -> FieldSchema:
    said = {"t": row} if isinstance(row, str) else row
    text = said["t"]
    shape = _read_shape(text.rstrip("!="), package)
    return FieldSchema(
        name=name,
        type=shape,
        required="!" in text[-2:],
        default=_ZEROS.get(shape.type, {}) if text.endswith("=") else said.get("d", msgspec.UNSET),
        list_type=said.get("l", ""),
        map_keys=tuple(said.get("k", ())),
        merge_key=said.get("m", ""),
        patch_strategies=tuple(said.get("p", ())),
        map_type=said.get("x", ""),
        enum=tuple(said.get("e", ())),
    )


def _read_shape(text: str, package: str) -> Shape:
    mark, rest = text[0], text[1:]
    match mark:
        case "[":
            return Shape(type="list", items=_read_shape(rest, package))
        case "{":
            return Shape(type="map", items=_read_shape(rest, package))
        case "#":
            return Shape(type="ref", ref=rest if "." in rest else f"{package}.{rest}")
        case _:
            return Shape(type=_SCALARS[mark], format=rest.removeprefix(":"))

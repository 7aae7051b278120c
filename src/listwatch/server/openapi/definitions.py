"""Types as OpenAPI schemas.

Version 3 wraps a reference in `allOf` if it has a default or a description beside it; version 2 has both in one object.
Defaults are in version 3 only, as in the real server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupVersionKind, Resource
from listwatch.server.schema.schema import FieldSchema, Schema, Shape, TypeSchema

__all__ = [
    "COMMON_DESCRIPTIONS",
    "GVK",
    "BuiltinDefinitions",
    "Describe",
    "TypeDescriptions",
    "custom_definition",
    "custom_name",
    "gvk_extension",
]

GVK = "x-kubernetes-group-version-kind"
_UNION = "x-kubernetes-unions"
_CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
# The fields that every object has. The models have no descriptions of them.
COMMON_DESCRIPTIONS: Mapping[str, str] = {
    "apiVersion": "APIVersion defines the versioned schema of this representation of an object. Servers should convert "
    "recognized schemas to the latest internal value, and may reject unrecognized values. "
    f"More info: {_CONVENTIONS}#resources",
    "kind": "Kind is a string value representing the REST resource this object represents. Servers may infer this from "
    "the endpoint the client submits requests to. Cannot be updated. In CamelCase. "
    f"More info: {_CONVENTIONS}#types-kinds",
    "metadata": f"Standard object's metadata. More info: {_CONVENTIONS}#metadata",
}
_ELEMENT_DEFAULTS: Mapping[str, JSON] = {"string": "", "integer": 0, "number": 0, "boolean": False}


def gvk_extension(gvk: GroupVersionKind) -> JSONObject:
    return {"group": gvk.group, "kind": gvk.kind, "version": gvk.version}


class TypeDescriptions(NamedTuple):
    """The description of a type, and those of its fields by wire name."""

    text: str = ""
    fields: Mapping[str, str] = {}


Describe = Callable[[str, str], TypeDescriptions]
"""Returns the descriptions of a type of a package of the schema, such as core.v1."""


class BuiltinDefinitions:
    """The schemas of built-in types for one version of OpenAPI; collects the types that a document refers to.

    With `api_version`, kinds that belong to many group versions have only that one and the core group's.
    """

    def __init__(self, schema: Schema, *, version: int, describe: Describe, api_version: str = "") -> None:
        self._schema = schema
        self._describe = describe
        self._api_version = api_version
        self.is_v3 = version == 3
        self.prefix = "#/components/schemas/" if self.is_v3 else "#/definitions/"
        self.found: JSONObject = {}
        """The schemas of all types that were referred to, by name."""

    def refer(self, api_version: str, kind: str) -> JSONObject | None:
        """Return a reference to a kind; None if it is not built in."""
        found = self._schema.type_of(api_version, kind)
        return self.refer_to(found.name) if found else None

    def refer_to(self, name: str) -> JSONObject:
        """Return a reference to a type by its name in the schema."""
        found = self._schema.type(name)
        waiting = [found]
        while waiting:
            each = waiting.pop()
            if each.definition not in self.found:
                self.found[each.definition] = self._definition(each)
                waiting += [self._schema.type(other) for other in _references(each)]
        return {"$ref": self.prefix + found.definition}

    def _definition(self, type_: TypeSchema) -> JSONObject:
        package, _, name = type_.name.rpartition(".")
        described = self._describe(package, name)
        tree: JSONObject = {"description": described.text} if described.text else {}
        tree |= self._json_type(type_)
        if type_.fields:
            texts = {**(COMMON_DESCRIPTIONS if type_.api_versions else {}), **described.fields}
            tree["properties"] = {
                field.name: self._field(field, texts.get(field.name, "")) for field in type_.fields.values()
            }
        if type_.required:
            tree["required"] = [*type_.required]
        if type_.map_type:
            tree["x-kubernetes-map-type"] = type_.map_type
        if type_.api_versions:
            kinds = sorted(GroupVersionKind.of(each, name) for each in self._shown(type_.api_versions))
            tree[GVK] = [gvk_extension(each) for each in kinds]
        if type_.unions:
            tree[_UNION] = [_union(each.discriminator, each.fields) for each in type_.unions]
        return tree

    def _shown(self, api_versions: Sequence[str]) -> Sequence[str]:
        """Return the group versions of a kind that the document shows."""
        if not self._api_version or len(api_versions) == 1:
            return api_versions
        return [each for each in api_versions if each in ("v1", self._api_version)]

    def _json_type(self, type_: TypeSchema) -> JSONObject:
        if len(type_.json_types) > 1:
            return self._either(type_.format, type_.json_types)
        tree: JSONObject = {"type": type_.json_types[0]} if type_.json_types else {}
        if type_.format:
            tree["format"] = type_.format
        return tree

    def _either(self, format_: str, types: tuple[str, ...]) -> JSONObject:
        tree: JSONObject = {"format": format_} if format_ else {}
        if not self.is_v3:
            return {"type": "string", **tree}
        return {**tree, "oneOf": [{"type": each} for each in types]}

    def _field(self, field: FieldSchema, description: str) -> JSONObject:
        optional: JSONObject = {
            "description": description,
            "x-kubernetes-list-type": field.list_type,
            "x-kubernetes-list-map-keys": [*field.map_keys],
            "x-kubernetes-map-type": field.map_type,
            "x-kubernetes-patch-merge-key": field.merge_key,
            "x-kubernetes-patch-strategy": ",".join(field.patch_strategies),
            "enum": [*field.enum],
        }
        tree: JSONObject = {name: value for name, value in optional.items() if value}
        if field.default is not msgspec.UNSET and self.is_v3:
            tree["default"] = field.default
        return {**self._shape(field.type, wrapped=bool(tree)), **tree}

    def _shape(self, shape: Shape, *, wrapped: bool = False) -> JSONObject:
        match shape.type:
            case "ref":
                reference: JSONObject = {"$ref": self.prefix + self._schema.type(shape.ref).definition}
                return {"allOf": [reference]} if wrapped and self.is_v3 else reference
            case "list":
                return {"type": "array", "items": self._element(shape.items)}
            case "map":
                return {"type": "object", "additionalProperties": self._element(shape.items)}
            case "int-or-string":
                return self._either("int-or-string", ("integer", "string"))
            case "any":
                return {}
            case scalar:
                return {"type": scalar, "format": shape.format} if shape.format else {"type": scalar}

    def _element(self, shape: Shape | None) -> JSONObject:
        if shape is None:
            return {}
        has_default = self.is_v3 and not (shape.type == "string" and shape.format)
        if shape.type == "ref":
            is_struct = bool(self._schema.type(shape.ref).fields)
            default: JSONObject = {"default": {}} if is_struct and has_default else {}
            return {**self._shape(shape, wrapped=is_struct), **default}
        tree = self._shape(shape)
        if has_default and shape.type in _ELEMENT_DEFAULTS:
            tree["default"] = _ELEMENT_DEFAULTS[shape.type]
        return tree


def _references(type_: TypeSchema) -> list[str]:
    names = []
    for field in type_.fields.values():
        shape: Shape | None = field.type
        while shape is not None:
            if shape.ref:
                names.append(shape.ref)
            shape = shape.items
    return names


def _union(discriminator: str, fields: Mapping[str, str]) -> JSONObject:
    tree: JSONObject = {"discriminator": discriminator} if discriminator else {}
    return {**tree, "fields-to-discriminateBy": {**fields}}


# --- Custom resources -------------------------------------------------------------------------------------------------


def custom_name(resource: Resource, kind: str = "") -> str:
    """Return the name of the schema of a custom resource: its group reversed, its version and its kind."""
    return ".".join([*reversed(resource.group.split(".")), resource.version, kind or resource.kind])


def custom_definition(resource: Resource, schema: JSONObject, definitions: BuiltinDefinitions) -> JSONObject:
    """Return the schema of a custom resource, with the fields that every object has."""
    extension: JSONObject = {GVK: [gvk_extension(resource.gvk)]}
    if not definitions.is_v3 and schema.get("x-kubernetes-preserve-unknown-fields"):
        return {"type": "object", **extension}  # with properties, kubectl would reject all others
    metadata = definitions.refer_to("meta.v1.ObjectMeta")
    given = schema.get("properties")
    properties: JSONObject = {
        **(given if isinstance(given, dict) else {}),
        "apiVersion": {"description": COMMON_DESCRIPTIONS["apiVersion"], "type": "string"},
        "kind": {"description": COMMON_DESCRIPTIONS["kind"], "type": "string"},
        "metadata": {
            "description": COMMON_DESCRIPTIONS["metadata"],
            **({"allOf": [metadata]} if definitions.is_v3 else metadata),
        },
    }
    return {"type": "object", **schema, "properties": properties, **extension}

"""Reads trees by the schema: one function for each type, made when the type is first met. `decoding` is the door.

A reader takes a value, its path and the problems so far, and gives the value as the server would write it. The path is
a chain that is spelled out only when something is wrong, which keeps the common way short.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from listwatch.server.codec import scalars
from listwatch.server.codec.bodies import Repeating
from listwatch.server.codec.scalars import Unreadable, WrongType, json_type
from listwatch.server.codec.strictness import Path, Problems, steps
from listwatch.server.json_tree import Tree, copied
from listwatch.server.schema.schema import FieldSchema, Schema, Shape, TypeSchema
from listwatch.server.schema.zero_values import is_always_written, is_null_when_unset, is_written_when_zero

__all__ = ["Unfit", "read_as", "read_unstructured"]

Reader = Callable[[Tree, Path, Problems], Tree]

_OBJECT_META = "meta.v1.ObjectMeta"
_QUANTITY = "api.resource.Quantity"
_RAW = frozenset({"meta.v1.FieldsV1", "meta.v1.Patch", "pkg.runtime.RawExtension"})
_JSON_SCHEMA = "apiextensions.v1.JSONSchemaProps"
_GO_SCALARS = {"string": "string", "boolean": "bool", "number": "float64", "any": "interface {}"}
# Structs that Go holds inside of others: their fields are those of the outer one, all but the ones named here.
_EMBEDDED = {
    "ConfigMapEnvSource": ("LocalObjectReference", "optional"),
    "ConfigMapKeySelector": ("LocalObjectReference", "key optional"),
    "ConfigMapProjection": ("LocalObjectReference", "items optional"),
    "ConfigMapVolumeSource": ("LocalObjectReference", "defaultMode items optional"),
    "EphemeralContainer": ("EphemeralContainerCommon", "targetContainerName"),
    "PersistentVolumeSpec": (
        "PersistentVolumeSource",
        "accessModes capacity claimRef mountOptions nodeAffinity persistentVolumeReclaimPolicy storageClassName"
        " volumeAttributesClassName volumeMode",
    ),
    "Probe": (
        "ProbeHandler",
        "failureThreshold initialDelaySeconds periodSeconds successThreshold terminationGracePeriodSeconds"
        " timeoutSeconds",
    ),
    "SecretEnvSource": ("LocalObjectReference", "optional"),
    "SecretKeySelector": ("LocalObjectReference", "key optional"),
    "SecretProjection": ("LocalObjectReference", "items optional"),
    "Volume": ("VolumeSource", "name"),
}
_PYTHON_TYPES = {"string": str, "boolean": bool}
# What a null stands for where it has a place; elsewhere it stands for nothing.
_ZEROS: dict[str, Tree] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "list": [],
    "map": {},
    "int-or-string": 0,
    "util.intstr.IntOrString": 0,
    _QUANTITY: "0",
}


class Unfit(Exception):  # noqa: N818  # a verdict that never leaves this room
    """A tree is not of the type it should be; the message is the real server's."""


def read_as(type_name: str, tree: Tree, schema: Schema, problems: Problems) -> dict[str, Tree]:
    """The tree as an object of that type, all its containers new; what is dropped is added to the problems."""
    try:
        found: dict[str, Tree] = _readers(schema).of_type(type_name)(tree, None, problems)
    except RecursionError:
        raise Unfit("exceeded max depth") from None
    return found


def read_unstructured(tree: dict[str, Tree], schema: Schema, problems: Problems) -> dict[str, Tree]:
    """The tree as an object of a type that the schema does not know: all of it stays, and the metadata are typed."""
    try:
        problems.repeats(tree)
        found: dict[str, Tree] = copied(tree)
    except RecursionError:
        raise Unfit("exceeded max depth") from None
    metadata = _readers(schema).of_type(_OBJECT_META)
    found["metadata"] = metadata(found.get("metadata") or {}, (None, "", "metadata"), problems)
    return found


@lru_cache(maxsize=8)
def _readers(schema: Schema) -> _Readers:
    return _Readers(schema)


class _Readers:
    """The readers of a schema's types."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._types: dict[str, Reader] = {}

    def of_type(self, name: str) -> Reader:
        return self._types.get(name) or self._make(self._schema.type(name))

    def _make(self, type_: TypeSchema) -> Reader:
        if reader := self._special(type_):
            self._types[type_.name] = reader
            return reader
        struct = _Struct(type_.name)
        self._types[type_.name] = struct.read  # before the fields, which may be of this very type
        for field in type_.fields.values():
            struct.add(field, self._of_shape(field.type))
        return struct.read

    def _special(self, type_: TypeSchema) -> Reader | None:
        match type_.name.rpartition(".")[2]:
            case "Quantity":
                return _scalar(scalars.read_quantity)
            case "Time":
                return _scalar(lambda value: scalars.read_time(value, "seconds"))
            case "MicroTime":
                return _scalar(lambda value: scalars.read_time(value, "microseconds"))
            case "IntOrString":
                return _scalar(scalars.read_int_or_string)
            case "JSONSchemaPropsOrArray" | "JSONSchemaPropsOrBool" | "JSONSchemaPropsOrStringArray":
                return self._schema_or_other
        return _read_anything if type_.name in _RAW or not type_.json_types else None

    def _schema_or_other(self, value: Tree, path: Path, problems: Problems) -> Tree:
        # Here the real server looks with a decoder of its own, which reports nothing.
        if isinstance(value, list):
            return [self._schema_or_other(item, path, problems) for item in value]
        return self.of_type(_JSON_SCHEMA)(value, path, Problems()) if isinstance(value, dict) else value

    def _of_shape(self, shape: Shape) -> Reader:
        match shape.type:
            case "ref":
                return self.of_type(shape.ref)
            case "list":
                return self._list(shape)
            case "map":
                return self._map(shape)
            case "integer":
                return _scalar(lambda value: scalars.read_integer(value, shape.format or "int64"))
            case "int-or-string":
                return _scalar(scalars.read_int_or_string)
            case "any":
                return _read_anything
            case "string" if shape.format == "byte":
                return _scalar(scalars.read_bytes)
            case _:
                return _plain_scalar(shape)

    def _list(self, shape: Shape) -> Reader:
        items, zero = self._elements(shape)
        go_type = _go_type(shape)

        def read(value: Tree, path: Path, problems: Problems) -> Tree:
            if not isinstance(value, list):
                raise _misfit(json_type(value), go_type, path)
            return [
                zero(problems) if item is None else items(item, (path, "", index), problems)
                for index, item in enumerate(value)
            ]

        return read

    def _map(self, shape: Shape) -> Reader:
        items, zero = self._elements(shape)
        plain = _plain_types(shape.items)
        go_type = _go_type(shape)

        def read(value: Tree, path: Path, problems: Problems) -> Tree:
            if not isinstance(value, dict):
                raise _misfit(json_type(value), go_type, path)
            if type(value) is dict and plain.issuperset(map(type, value.values())):
                return value.copy()  # as labels and most other maps are
            members = problems.members(value, value, path) if isinstance(value, Repeating) else value.items()
            return {
                name: zero(problems) if item is None else items(item, (path, "", name), problems)
                for name, item in members
            }

        return read

    def _elements(self, shape: Shape) -> tuple[Reader, Callable[[Problems], Tree]]:
        """The reader of what is in a list or map, and what a null there stands for."""
        inner = shape.items or Shape(type="any")
        reader = self._of_shape(inner)
        zero = _ZEROS.get(inner.ref or inner.type)
        if inner.type == "ref" and self._schema.type(inner.ref).json_types == ("object",):
            zero = {}
        return reader, lambda problems: None if zero is None else reader(zero, None, problems)


class _Struct:
    """Reads objects with known fields."""

    def __init__(self, type_name: str) -> None:
        self._name = type_name.rpartition(".")[2]
        self._go_type = _go_type(Shape(type="ref", ref=type_name))
        # By name: the Python type that needs no further look, the reader for all else, and whether a zero is written.
        self._fields: dict[str, tuple[type | None, Reader, bool]] = {}
        self._always: dict[str, tuple[Reader, Tree]] = {}

    def add(self, field: FieldSchema, reader: Reader) -> None:
        plain = None if field.type.format else _PYTHON_TYPES.get(field.type.type)
        self._fields[field.name] = (plain, reader, is_written_when_zero(self._name, field))
        if is_null_when_unset(self._name, field):
            self._always[field.name] = (_read_anything, None)
        elif is_always_written(self._name, field):
            self._always[field.name] = (reader, field.default or _ZEROS.get(field.type.ref, field.default))

    def read(self, value: Tree, path: Path, problems: Problems) -> Tree:
        if not isinstance(value, dict):
            raise _misfit(json_type(value), self._go_type, path)
        found = {}
        fields, struct = self._fields, self._name
        for name, item in problems.members(value, fields, path) if isinstance(value, Repeating) else value.items():
            field = fields.get(name)
            if field is None:
                problems.unknown(path, name)
                continue
            plain, reader, written_when_zero = field
            if item is None:
                continue
            if type(item) is not plain:
                item = reader(item, (path, struct, name), problems)
            if item or written_when_zero:
                found[name] = item
        for name, (reader, zero) in self._always.items():
            if name not in found:
                found[name] = reader(zero, path, problems)
        return found


# --- scalars and the rest -------------------------------------------------------------------------------------------


def _scalar(read: Callable[[Tree], Tree]) -> Reader:
    def reader(value: Tree, path: Path, _: Problems) -> Tree:
        try:
            return read(value)
        except WrongType as error:
            raise _misfit(error.found, error.expected, path) from None
        except Unreadable as error:
            raise Unfit(str(error)) from None

    return reader


def _plain_types(shape: Shape | None) -> frozenset[type]:
    """What needs no further look."""
    found = _PYTHON_TYPES.get(shape.type) if shape and not shape.format else None
    return frozenset([found]) if found else frozenset()


def _plain_scalar(shape: Shape) -> Reader:
    accepted = (int, float) if shape.type == "number" else (_PYTHON_TYPES[shape.type],)

    def reader(value: Tree, path: Path, _: Problems) -> Tree:
        if type(value) not in accepted:
            raise _misfit(json_type(value), _GO_SCALARS[shape.type], path)
        return value

    return reader


def _read_anything(value: Tree, _: Path, __: Problems) -> Tree:
    return copied(value)


def _go_type(shape: Shape) -> str:
    match shape.type:
        case "ref":
            package, _, name = shape.ref.rpartition(".")
            return f"{package.rpartition('.')[2]}.{name}"
        case "list":
            return f"[]{_go_type(shape.items)}" if shape.items else "[]interface {}"
        case "map" if shape.items and shape.items.ref == _QUANTITY:
            return "v1.ResourceList"
        case "map":
            return f"map[string]{_go_type(shape.items)}" if shape.items else "map[string]interface {}"
        case "string" if shape.format == "byte":
            return "[]uint8"
        case "integer":
            return shape.format or "int64"
        case _:
            return _GO_SCALARS.get(shape.type, "intstr.IntOrString")


# --- what is wrong, and where ---------------------------------------------------------------------------------------


def _go_field(struct: str, name: str) -> str:
    embedded, own = _EMBEDDED.get(struct, ("", ""))
    return f"{embedded}.{name}" if embedded and name not in own.split() else name


def _misfit(found: str, expected: str, path: Path) -> Unfit:
    chain = list(steps(path))
    struct = next((struct for struct, _ in reversed(chain) if struct), "")
    if not struct:
        return Unfit(f"json: cannot unmarshal {found} into Go value of type {expected}")
    field = ".".join(_go_field(step_struct, str(name)) for step_struct, name in chain if step_struct)
    return Unfit(f"json: cannot unmarshal {found} into Go struct field {struct}.{field} of type {expected}")

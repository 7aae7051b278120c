"""Decodes JSON trees into objects of the schema's types, and collects what strict decoding rejects.

There is one reader per type, built when the type is first used. A reader takes a value, its path and the strict errors
so far, and returns the value as the server writes it. The path is a linked chain that is formatted only for an error,
so that valid objects are decoded without that work.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from functools import lru_cache
from threading import RLock
from typing import TypeAlias

from msgspec import UNSET

from listwatch.json_value import JSON, JSONObject
from listwatch.server.codec import scalars
from listwatch.server.codec.scalars import InvalidScalarError, WrongTypeError, json_type
from listwatch.server.json_tree import copied, quoted
from listwatch.server.schema.schema import FieldSchema, Schema, Shape, TypeSchema
from listwatch.server.schema.zero_values import is_always_written, is_null_when_unset, is_written_when_zero

__all__ = ["DuplicateMembers", "FieldPath", "StrictErrors", "UnmarshalError", "decode_as", "decode_unstructured"]

FieldPath: TypeAlias = tuple["FieldPath", str, str | int] | None
"""A chain of (parent, struct, name); the struct is empty for members of maps and elements of lists."""

Reader = Callable[[JSON, FieldPath, "StrictErrors"], JSON]

_OBJECT_META = "meta.v1.ObjectMeta"
_QUANTITY = "api.resource.Quantity"
_RAW = frozenset({"meta.v1.FieldsV1", "meta.v1.Patch", "pkg.runtime.RawExtension"})
_JSON_SCHEMA = "apiextensions.v1.JSONSchemaProps"
_GO_SCALARS = {"string": "string", "boolean": "bool", "number": "float64", "any": "interface {}"}
# Structs that Go embeds in others. All fields of the outer struct belong to the embedded one, except those named here.
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
# The value of a null that is an element of a list or map; elsewhere a null means "not set".
_ZEROS: dict[str, JSON] = {
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


_MAX_STRICT_ERRORS = 100
# The longest part of a path in a message; the path repeats the names of all parents.
_MAX_SHOWN = 1000


class UnmarshalError(Exception):
    """A value has another type than its field; the message is worded as the real server's."""


class DuplicateMembers(JSONObject):
    """A JSON object with duplicate member names: the last value of each name, and all pairs in order."""

    pairs: list[tuple[str, JSON]]


class StrictErrors(list[str]):
    """Unknown and duplicate fields in document order, each once, at most a hundred.

    The request's fieldValidation decides whether they are errors, warnings, or ignored.
    """

    mismatch: UnmarshalError | None = None
    """The first value with a wrong type. Decoding continues: an invalid time or quantity is reported before it."""
    converts_numbers: bool = False
    """Whether numbers are converted to the type of their field, as Go does, instead of being rejected."""

    def add_mismatch(self, found: str, expected: str, path: FieldPath) -> JSON:
        """Keep the first mismatch; returns the null that takes the place of the value."""
        if self.mismatch is None:
            self.mismatch = _mismatch(found, expected, path)
        return None

    def raise_mismatch(self) -> None:
        """Raise the first mismatch, and forget it."""
        error, self.mismatch = self.mismatch, None
        if error:
            raise error

    def add_unknown(self, path: FieldPath, name: str) -> None:
        self._add("unknown", path, name)

    def add_all_unknown(self, paths: Iterable[FieldPath]) -> None:
        """Add several unknown fields, sorted by path."""
        for path in sorted(filter(None, paths), key=_format_path):
            self.add_unknown(path[0], str(path[2]))

    def members(self, value: DuplicateMembers, known: Container[str], path: FieldPath) -> Iterator[tuple[str, JSON]]:
        """Iterate over all pairs of an object; report known names that are repeated."""
        seen: set[str] = set()
        for name, item in value.pairs:
            if name in seen and name in known:
                self._add("duplicate", path, name)
            seen.add(name)
            yield name, item

    def add_duplicates(self, value: JSON, path: FieldPath = None) -> None:
        """Add all duplicate members, at any depth."""
        inside: Iterable[tuple[str | int, JSON]] = ()
        if isinstance(value, DuplicateMembers):
            inside = self.members(value, value, path)
        elif isinstance(value, dict):
            inside = value.items()
        elif isinstance(value, list):
            inside = enumerate(value)
        for name, item in inside:
            if isinstance(item, dict | list):
                self.add_duplicates(item, (path, "", name))

    def message(self) -> str:
        return f"strict decoding error: {', '.join(self)}"

    def warnings(self) -> tuple[str, ...]:
        """Return one text per line; the YAML decoder reports several lines at once."""
        lines = (line.strip() for error in self for line in error.splitlines())
        return tuple(line for line in lines if line and not line.startswith("yaml: "))

    def _add(self, what: str, path: FieldPath, name: str) -> None:
        if len(self) >= _MAX_STRICT_ERRORS:
            return
        error = f"{what} field {quoted(_format_path((path, '', name)))}"
        if error not in self:
            self.append(error)


def _format_path(path: FieldPath) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step[:_MAX_SHOWN]}" for _, step in _steps(path))
    return text.removeprefix(".")


def _steps(path: FieldPath) -> Iterator[tuple[str, str | int]]:
    """Iterate over the structs and names from the root down."""
    if path is not None:
        parent, struct, name = path
        yield from _steps(parent)
        yield struct, name


def decode_as(
    type_name: str, tree: JSON, schema: Schema, errors: StrictErrors, *, path: FieldPath = None
) -> JSONObject:
    """Decode a tree as an object of a type into new containers; raises UnmarshalError. Reports dropped fields.

    `path` is where the tree is inside of another one.
    """
    errors.mismatch = None
    try:
        found = _readers(schema).of_type(type_name)(tree, path, errors)
    except RecursionError:
        raise UnmarshalError("exceeded max depth") from None
    errors.raise_mismatch()
    assert isinstance(found, dict)
    return found


def decode_unstructured(tree: JSONObject, schema: Schema, errors: StrictErrors) -> JSONObject:
    """Decode an object whose type is not in the schema: everything is kept, and only the metadata are typed."""
    try:
        errors.add_duplicates(tree)
        found = copied(tree)
    except RecursionError:
        raise UnmarshalError("exceeded max depth") from None
    metadata = _readers(schema).of_type(_OBJECT_META)
    errors.mismatch = None
    sent = found.get("metadata")
    found["metadata"] = metadata({} if sent is None else sent, (None, "", "metadata"), errors)
    errors.raise_mismatch()
    return found


# --- Readers ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def _readers(schema: Schema) -> _Readers:
    return _Readers(schema)


class _Readers:
    """Builds and caches the readers of a schema's types."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._types: dict[str, Reader] = {}
        self._building: dict[str, Reader] = {}
        self._lock = RLock()  # servers in several threads share the readers

    def of_type(self, name: str) -> Reader:
        return self._types.get(name) or self._build(name)

    def _build(self, name: str) -> Reader:
        """Build a reader and those that it refers to; they are published together, when all are complete."""
        with self._lock:
            if reader := self._types.get(name) or self._building.get(name):
                return reader
            is_outermost = not self._building
            reader = self._make(self._schema.type(name))
            if is_outermost:
                self._types.update(self._building)
                self._building = {}
            return reader

    def _make(self, type_: TypeSchema) -> Reader:
        if reader := self._special(type_):
            self._building[type_.name] = reader
            return reader
        struct = _Struct(type_.name)
        self._building[type_.name] = struct.read  # set before the fields, which may refer to this type
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
        return _read_untyped if type_.name in _RAW or not type_.json_types else None

    def _schema_or_other(self, value: JSON, path: FieldPath, errors: StrictErrors) -> JSON:
        # The real server uses a separate decoder here, which reports no strict errors.
        if isinstance(value, list):
            return [self._schema_or_other(item, path, errors) for item in value]
        if not isinstance(value, dict):
            return value
        own = StrictErrors()
        found = self.of_type(_JSON_SCHEMA)(value, path, own)
        own.raise_mismatch()
        return found

    def _of_shape(self, shape: Shape) -> Reader:
        match shape.type:
            case "ref":
                return self.of_type(shape.ref)
            case "list":
                return self._list(shape)
            case "map":
                return self._map(shape)
            case "integer":
                return _integer(shape.format or "int64")
            case "int-or-string":
                return _scalar(scalars.read_int_or_string)
            case "any":
                return _read_untyped
            case "string" if shape.format == "byte":
                return _read_bytes
            case _:
                return _plain_scalar(shape)

    def _list(self, shape: Shape) -> Reader:
        items, zero = self._elements(shape)
        go_type = _go_type(shape)

        def read(value: JSON, path: FieldPath, errors: StrictErrors) -> JSON:
            if not isinstance(value, list):
                return errors.add_mismatch(json_type(value), go_type, path)
            return [
                zero(errors) if item is None else items(item, (path, "", index), errors)
                for index, item in enumerate(value)
            ]

        return read

    def _map(self, shape: Shape) -> Reader:
        items, zero = self._elements(shape)
        plain = _plain_types(shape.items)
        go_type = _go_type(shape)

        def read(value: JSON, path: FieldPath, errors: StrictErrors) -> JSON:
            if not isinstance(value, dict):
                return errors.add_mismatch(json_type(value), go_type, path)
            if type(value) is dict and plain.issuperset(map(type, value.values())):
                return value.copy()  # the common case, for instance labels
            members = errors.members(value, value, path) if isinstance(value, DuplicateMembers) else value.items()
            return {
                name: zero(errors) if item is None else items(item, (path, "", name), errors) for name, item in members
            }

        return read

    def _elements(self, shape: Shape) -> tuple[Reader, Callable[[StrictErrors], JSON]]:
        """Return the reader of the elements of a list or map, and a function for the value of a null element."""
        inner = shape.items or Shape(type="any")
        reader = self._of_shape(inner)
        zero = _ZEROS.get(inner.ref or inner.type)
        if inner.type == "ref" and self._schema.type(inner.ref).json_types == ("object",):
            zero = {}
        return reader, lambda errors: None if zero is None else reader(zero, None, errors)


class _Struct:
    """Reads objects with declared fields."""

    def __init__(self, type_name: str) -> None:
        self._name = type_name.rpartition(".")[2]
        self._go_type = _go_type(Shape(type="ref", ref=type_name))
        # By name: the Python type that is accepted without its reader, the reader, and whether a zero value is written.
        self._fields: dict[str, tuple[type | None, Reader, bool]] = {}
        self._always: dict[str, tuple[Reader, JSON]] = {}

    def add(self, field: FieldSchema, reader: Reader) -> None:
        plain = None if field.type.format else _PYTHON_TYPES.get(field.type.type)
        self._fields[field.name] = (plain, reader, is_written_when_zero(self._name, field))
        if is_null_when_unset(self._name, field):
            self._always[field.name] = (_read_untyped, None)
        elif is_always_written(self._name, field):
            default = None if field.default is UNSET else field.default
            self._always[field.name] = (reader, default or _ZEROS.get(field.type.ref, default))

    def read(self, value: JSON, path: FieldPath, errors: StrictErrors) -> JSON:
        if not isinstance(value, dict):
            return errors.add_mismatch(json_type(value), self._go_type, path)
        found = {}
        fields, struct = self._fields, self._name
        for name, item in errors.members(value, fields, path) if isinstance(value, DuplicateMembers) else value.items():
            field = fields.get(name)
            if field is None:
                errors.add_unknown(path, name)
                continue
            plain, reader, written_when_zero = field
            if item is None:
                continue
            if type(item) is not plain:
                item = reader(item, (path, struct, name), errors)
            if item or written_when_zero:
                found[name] = item
        for name, (reader, zero) in self._always.items():
            if name not in found:
                found[name] = reader(zero, path, errors)
        return found


# --- Scalars and untyped values ---------------------------------------------------------------------------------------


def _scalar(read: Callable[[JSON], JSON]) -> Reader:
    """Return the reader of a type that decodes itself: its errors end the decoding."""

    def reader(value: JSON, path: FieldPath, _: StrictErrors) -> JSON:
        try:
            return read(value)
        except WrongTypeError as error:
            raise _mismatch(error.found, error.expected, path) from None
        except InvalidScalarError as error:
            raise UnmarshalError(str(error)) from None

    return reader


def _integer(go_type: str) -> Reader:
    def reader(value: JSON, path: FieldPath, errors: StrictErrors) -> JSON:
        try:
            return scalars.read_integer(value, go_type)
        except WrongTypeError as error:
            if errors.converts_numbers and (converted := scalars.convert_number(value, go_type)) is not None:
                return converted
            return errors.add_mismatch(error.found, error.expected, path)

    return reader


def _read_bytes(value: JSON, path: FieldPath, errors: StrictErrors) -> JSON:
    try:
        return scalars.read_bytes(value)
    except WrongTypeError as error:
        return errors.add_mismatch(error.found, error.expected, path)
    except InvalidScalarError as error:
        errors.mismatch = errors.mismatch or UnmarshalError(str(error))
        return None


def _plain_types(shape: Shape | None) -> frozenset[type]:
    """Return the Python types that are accepted without calling a reader."""
    found = _PYTHON_TYPES.get(shape.type) if shape and not shape.format else None
    return frozenset([found]) if found else frozenset()


def _plain_scalar(shape: Shape) -> Reader:
    accepted = (int, float) if shape.type == "number" else (_PYTHON_TYPES[shape.type],)

    def reader(value: JSON, path: FieldPath, errors: StrictErrors) -> JSON:
        if type(value) not in accepted:
            return errors.add_mismatch(json_type(value), _GO_SCALARS[shape.type], path)
        return value

    return reader


def _read_untyped(value: JSON, _: FieldPath, __: StrictErrors) -> JSON:
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


# --- Errors -----------------------------------------------------------------------------------------------------------


def _go_field(struct: str, name: str) -> str:
    embedded, own = _EMBEDDED.get(struct, ("", ""))
    return f"{embedded}.{name}" if embedded and name not in own.split() else name


def _mismatch(found: str, expected: str, path: FieldPath) -> UnmarshalError:
    chain = list(_steps(path))
    struct = next((struct for struct, _ in reversed(chain) if struct), "")
    if not struct:
        return UnmarshalError(f"json: cannot unmarshal {found} into Go value of type {expected}")
    field = ".".join(_go_field(step_struct, str(name)) for step_struct, name in chain if step_struct)
    return UnmarshalError(f"json: cannot unmarshal {found} into Go struct field {struct}.{field} of type {expected}")

"""Types of expressions from structural schemas: what `self` is, how large it can be, and its value."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field

from listwatch.json_value import JSON, JSONObject
from listwatch.server.cel.escaping import escaped
from listwatch.server.cel.library.times import parse_date, parse_duration, parse_timestamp
from listwatch.server.cel.type_system import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    ObjectType,
    Type,
    list_of,
    map_of,
    object_type,
)
from listwatch.server.cel.values import CELError, Failed, KeyedList, Value
from listwatch.server.json_tree import list_at, object_at, text_at, texts_at

__all__ = ["DeclaredType", "declared_type", "object_types", "size_limits", "with_metadata"]

MAX_REQUEST = 3 * 1024 * 1024
_INT_OR_STRING = "x-kubernetes-int-or-string"
_EMBEDDED = "x-kubernetes-embedded-resource"
_TEXT: JSONObject = {"type": "string"}


@dataclass(frozen=True, slots=True)
class DeclaredType:
    """A type with the sizes of its values; `least_size` is that of its shortest JSON."""

    type: Type
    least_size: int
    most_elements: int = 0
    fields: Mapping[str, DeclaredType] = field(default_factory=dict)
    """Of an object, by identifier."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The identifiers of an object's fields, by name."""
    element: DeclaredType | None = None
    keys: tuple[str, ...] = ()
    """Of a list of type map."""
    list_type: str = ""
    convert: Callable[[str], Value] | None = None
    """Makes the value from a string, for formats that have types of their own."""

    def value(self, tree: JSON) -> Value:
        """Return a valid JSON value of this type as the value of an expression."""
        if tree is None:
            return None
        match self.type.kind:
            case "object" if isinstance(tree, dict):
                return {
                    identifier: self.fields[identifier].value(each)
                    for name, each in tree.items()
                    if (identifier := self.names.get(name)) is not None
                }
            case "map" if isinstance(tree, dict) and self.element:
                return {name: self.element.value(each) for name, each in tree.items()}
            case "list" if isinstance(tree, list) and self.element:
                return self._list([self.element.value(each) for each in tree])
            case "double" if isinstance(tree, int | float):
                return float(tree)
            case "int" if isinstance(tree, float):
                return int(tree)
        if self.convert and isinstance(tree, str):
            try:
                return self.convert(tree)
            except CELError as error:
                return Failed(error)
        return tree

    def _list(self, elements: list[Value]) -> Value:
        match self.list_type:
            case "set":
                return KeyedList(elements, _hashable, is_set=True)
            case "map":
                return KeyedList(elements, lambda each: _key(each, self.keys), is_set=False)
        return elements


def _key(element: Value, names: tuple[str, ...]) -> Hashable:
    return tuple(_hashable(element.get(name)) for name in names) if isinstance(element, dict) else ()


def _hashable(value: Value) -> Hashable:
    match value:
        case dict():
            return frozenset((name, _hashable(each)) for name, each in value.items())
        case list():
            return tuple(map(_hashable, value))
    return (type(value), value) if isinstance(value, bool | str) else repr(value)


def declared_type(schema: JSONObject, *, is_root: bool = False, name: str = "") -> DeclaredType | None:
    """Return the type that a schema declares; None if expressions cannot access it."""
    if schema.get(_INT_OR_STRING):
        return DeclaredType(DYN, 1, _most_characters(schema))
    if is_root:
        schema = with_metadata(schema)
    match schema.get("type"):
        case "array":
            return _list_type(schema, name)
        case "object" if isinstance(schema.get("additionalProperties"), dict):
            return _map_type(schema, name)
        case "object":
            return _object_type(schema, name)
        case "string":
            return _string_type(schema)
        case "boolean":
            return DeclaredType(BOOL, 4)
        case "number":
            return DeclaredType(DOUBLE, 1)
        case "integer":
            return DeclaredType(INT, 1)
    return None


def with_metadata(schema: JSONObject) -> JSONObject:
    """Return the schema of a resource with what every resource has."""
    if schema.get("type") != "object" or schema.get("additionalProperties"):
        return schema
    metadata: JSONObject = {"type": "object", "properties": {"name": _TEXT, "generateName": _TEXT}}
    properties = {**object_at(schema, "properties"), "kind": _TEXT, "apiVersion": _TEXT, "metadata": metadata}
    return {**schema, "properties": properties}


def _inner(schema: JSONObject, name: str) -> DeclaredType | None:
    return declared_type(schema, is_root=bool(schema.get(_EMBEDDED)), name=name)


def _list_type(schema: JSONObject, name: str) -> DeclaredType | None:
    element = _inner(object_at(schema, "items"), f"{name}.@idx")
    if element is None:
        return None
    limit = schema.get("maxItems")
    most = max(limit, 0) if isinstance(limit, int) else (MAX_REQUEST - 2) // (element.least_size + 1)
    keys = tuple(each for key in texts_at(schema, "x-kubernetes-list-map-keys") if (each := escaped(key)))
    return DeclaredType(
        list_of(element.type), 2, most, element=element, keys=keys, list_type=text_at(schema, "x-kubernetes-list-type")
    )


def _map_type(schema: JSONObject, name: str) -> DeclaredType | None:
    element = _inner(object_at(schema, "additionalProperties"), f"{name}.@elem")
    if element is None:
        return None
    limit = schema.get("maxProperties")
    most = max(limit, 0) if isinstance(limit, int) else (MAX_REQUEST - 2) // (element.least_size + 6)
    return DeclaredType(map_of(STRING, element.type), 2, most, element=element)


def _object_type(schema: JSONObject, name: str) -> DeclaredType:
    required = {*texts_at(schema, "required")}
    fields: dict[str, DeclaredType] = {}
    names: dict[str, str] = {}
    least = 2
    for field_name, inner in object_at(schema, "properties").items():
        if not isinstance(inner, dict):
            continue
        identifier = escaped(field_name)
        found = _inner(inner, f"{name}.{identifier or field_name}")
        if found is None:
            continue
        if identifier:
            fields[identifier], names[field_name] = found, identifier
        if field_name in required and inner.get("default") is None:
            least += len(field_name) + found.least_size + 4
    return DeclaredType(object_type(name), least, fields=fields, names=names)


def _most_characters(schema: JSONObject) -> int:
    limit = schema.get("maxLength")
    return max(limit, 0) * 4 if isinstance(limit, int) else MAX_REQUEST - 2


def _string_type(schema: JSONObject) -> DeclaredType:
    match schema.get("format"):
        case "byte":
            limit = schema.get("maxLength")
            return DeclaredType(BYTES, 2, max(limit, 0) if isinstance(limit, int) else MAX_REQUEST - 2, convert=_bytes)
        case "duration":
            return DeclaredType(DURATION, 3, 32, convert=parse_duration)
        case "date":
            return DeclaredType(TIMESTAMP, 12, 12, convert=parse_date)
        case "date-time":
            return DeclaredType(TIMESTAMP, 21, 32, convert=parse_timestamp)
    allowed = [len(each) for each in list_at(schema, "enum") if isinstance(each, str)]
    most = max(allowed) if allowed and schema.get("maxLength") is None else _most_characters(schema)
    return DeclaredType(STRING, 2, most)


def _bytes(text: str) -> Value:
    """Decode a string in the alphabet for URLs, which is what expressions accept."""
    illegal = re.search(r"[^A-Za-z0-9_=-]", text)
    try:
        if illegal:
            raise ValueError
        return base64.b64decode(text, altchars=b"-_", validate=True)
    except ValueError:
        why = f"illegal base64 data at input byte {illegal.start() if illegal else len(text)}"
        raise CELError(f"Invalid byte formatted string {text}: {why}") from None


def object_types(declared: DeclaredType) -> Mapping[str, ObjectType]:
    """Return the object types in a type, by name."""
    return {
        each.type.name: ObjectType(each.type.name, {name: inner.type for name, inner in each.fields.items()})
        for each in _all_types(declared)
        if each.type.kind == "object"
    }


def _all_types(declared: DeclaredType) -> Iterator[DeclaredType]:
    yield declared
    if declared.element:
        yield from _all_types(declared.element)
    for inner in declared.fields.values():
        yield from _all_types(inner)


def size_limits(root: DeclaredType) -> Callable[[tuple[str, ...]], int | None]:
    """Return the function that gives the largest size of the value at a path, which starts with a variable."""

    def most(path: tuple[str, ...]) -> int | None:
        found = root
        for name in path[1:]:
            if name in ("@items", "@values"):
                inner = found.element
            elif name == "@keys":
                if found.type.kind != "map":
                    return None
                inner = DeclaredType(STRING, 2)
            else:
                inner = found.fields.get(name)
            if inner is None:
                return None
            found = inner
        return found.most_elements

    return most

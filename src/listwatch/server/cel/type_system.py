"""Types of expressions, as the type checker compares them and messages show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = [
    "BOOL",
    "BYTES",
    "DOUBLE",
    "DURATION",
    "DYN",
    "ERROR",
    "INT",
    "NULL",
    "STRING",
    "TIMESTAMP",
    "TYPE",
    "UINT",
    "ObjectType",
    "Type",
    "list_of",
    "map_of",
    "object_type",
    "opaque",
    "optional_of",
    "parameter",
    "type_of_type",
]


@dataclass(frozen=True, slots=True)
class Type:
    """A type: `kind` is its name for simple types, else list, map, type, opaque, object or parameter."""

    kind: str
    name: str = ""
    """Of an opaque or object type, or of a parameter."""
    parameters: tuple[Type, ...] = ()

    def __str__(self) -> str:
        match self.kind:
            case "list" | "map" | "type":
                return f"{self.kind}({', '.join(map(str, self.parameters))})" if self.parameters else self.kind
            case "opaque":
                inner = ", ".join(map(str, self.parameters))
                return f"{self.name}({inner})" if inner else self.name
            case "object" | "parameter":
                return self.name
            case "timestamp" | "duration":
                return f"google.protobuf.{self.kind.capitalize()}"
            case "null":
                return "null"
            case _:
                return self.kind

    @property
    def shown(self) -> str:
        """The type in messages about overloads, which have shorter names for times."""
        if self.kind in ("timestamp", "duration"):
            return self.kind
        if self.parameters and self.kind in ("list", "map", "type", "opaque"):
            inner = ", ".join(each.shown for each in self.parameters)
            return f"{self.name or self.kind}({inner})"
        return str(self)

    @property
    def element(self) -> Type:
        """The type of the values in a list, map or optional."""
        return self.parameters[-1] if self.parameters else DYN


@dataclass(frozen=True, slots=True)
class ObjectType:
    """The fields of an object type. Without `fields`, every field exists and is dynamic."""

    name: str
    fields: Mapping[str, Type] | None = field(default_factory=dict)


BOOL, INT, UINT, DOUBLE = Type("bool"), Type("int"), Type("uint"), Type("double")
STRING, BYTES, NULL, DYN, ERROR = Type("string"), Type("bytes"), Type("null"), Type("dyn"), Type("!error!")
TIMESTAMP, DURATION, TYPE = Type("timestamp"), Type("duration"), Type("type")


def list_of(element: Type) -> Type:
    return Type("list", "", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type("map", "", (key, value))


def optional_of(value: Type) -> Type:
    return Type("opaque", "optional_type", (value,))


def opaque(name: str) -> Type:
    return Type("opaque", name)


def object_type(name: str) -> Type:
    return Type("object", name)


def type_of_type(inner: Type) -> Type:
    return Type("type", "", (inner,))


def parameter(name: str) -> Type:
    return Type("parameter", name)

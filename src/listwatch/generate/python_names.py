"""Python names of the API's names."""

from __future__ import annotations

import keyword
import re
from collections.abc import Container, Iterable
from functools import cache

import msgspec

# The words in a name, first match wins: V3, IPs, API (before V3), PKCS10, HTTP (before Get), pod, IP.
_WORD = re.compile(
    r"V\d+(?![a-z\d])|[A-Z]{2,}s(?![a-z])|[A-Z]+(?=V\d)|[A-Z]{2,}\d+(?=[A-Z]|$)"
    r"|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z\d]+|[A-Z\d]+"
)

# An attribute with one of these names would shadow a name that annotations and defaults below it use.
_RESERVED = frozenset({
    *("Annotated", "Any", "Literal", "Meta", "bool", "bytes", "datetime", "dict", "float", "int", "lazy", "list"),
    *("lw", "str"),
})  # fmt: skip


def snake_case(wire: str) -> str:
    """`podIPs` → `pod_ips`, `openAPIV3Schema` → `open_api_v3_schema`, `$ref` → `ref`."""
    return "_".join(_WORD.findall(wire)).lower()


def pascal_case(wire: str) -> str:
    """`podIPs` → `PodIPs`."""
    return "".join(word[0].upper() + word[1:] for word in _WORD.findall(wire))


def attribute_names(wires: Iterable[str], reserved: frozenset[str]) -> dict[str, str]:
    """The attribute of each wire name of one type; a trailing underscore avoids collisions."""
    attributes: dict[str, str] = {}
    taken = set(reserved | _RESERVED)
    for wire in wires:
        name = snake_case(wire)
        if not name.isidentifier():
            name = f"_{name}"
        while keyword.iskeyword(name) or name in taken:
            name += "_"
        taken.add(name)
        attributes[wire] = name
    return attributes


@cache
def wire_name(attribute: str) -> str:
    """msgspec's default wire name of an attribute; a field whose API name differs is declared with its name."""
    probe = msgspec.defstruct("Probe", [attribute], rename="camel")
    return probe.__struct_encode_fields__[0]


def unique(name: str, taken: Container[str]) -> str:
    """`name`, or the first of `name2`, `name3`, … that is free."""
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}{number}"
    return candidate

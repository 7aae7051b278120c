"""Descriptions of the built-in types and their fields, read on demand.

They are those of the stubs of `listwatch.models`; a file has those of types such as ObjectMeta, which have no stubs.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from textwrap import dedent

import msgspec

from listwatch import models
from listwatch.server.openapi.definitions import TypeDescriptions

__all__ = ["descriptions_of"]

_CLASS = re.compile(r"^class (\w+)\b.*?:$", re.MULTILINE)
_DOCSTRING = re.compile(r'^    """(.*?)"""$', re.MULTILINE | re.DOTALL)
_FIELD_END = re.compile(r"\n*^ *JSON: `([^`]+)`\..*\Z", re.MULTILINE | re.DOTALL)


_NONE = TypeDescriptions()


class _Described(msgspec.Struct):
    text: str
    fields: dict[str, str]


def descriptions_of(package: str, name: str) -> TypeDescriptions:
    """Return the descriptions of a type of a package of the schema, such as core.v1; empty if there are none."""
    return _in_package(package).get(name) or _common_types().get(f"{package}.{name}", _NONE)


@cache
def _common_types() -> dict[str, TypeDescriptions]:
    content = Path(__file__).with_name("meta_descriptions.json").read_bytes()
    found = msgspec.json.decode(content, type=dict[str, _Described])
    return {name: TypeDescriptions(each.text, each.fields) for name, each in found.items()}


@cache
def _in_package(package: str) -> dict[str, TypeDescriptions]:
    stub = Path(models.__file__).with_name(f"{package.replace('.', '_')}.pyi")
    if not stub.is_file():
        return {}
    _, *classes = _CLASS.split(stub.read_text("utf-8"))
    return {name: _read(body) for name, body in zip(classes[::2], classes[1::2], strict=True)}


def _read(body: str) -> TypeDescriptions:
    text, fields = "", {}
    for found in _DOCSTRING.findall(body):
        described = _plain(found)
        end = _FIELD_END.search(described)
        if end:
            fields[end[1]] = described[: end.start()]
        elif not text and not fields:
            text = described
    return TypeDescriptions(text, fields)


def _plain(docstring: str) -> str:
    first, _, rest = docstring.partition("\n")
    return f"{first}\n{dedent(rest)}".strip().replace('\\"', '"').replace("\\\\", "\\")

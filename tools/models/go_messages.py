"""Reads the protobuf messages of a Go package with API types.

`generated.proto` has the numbers and types of the fields. The tags of the Go structs have their names in JSON, and say
which fields are pointers and which zero values JSON omits; both decide what Kubernetes writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SCALARS = {"string": "s", "bool": "b", "int32": "i", "int64": "l", "double": "d", "bytes": "y"}
_NOT_READ = re.compile(r"_test\.go$|^zz_generated|^generated\.pb\.go$|_swagger_doc_generated\.go$")

_PACKAGE = re.compile(r"^package ([\w.]+);", re.MULTILINE)
_MESSAGE = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_PROTO_FIELD = re.compile(
    r"^  (?:(?P<label>optional|repeated) (?P<type>[\w.]+)|map<string, (?P<value>[\w.]+)>)"
    r" (?P<name>\w+) = (?P<number>\d+);",
    re.MULTILINE,
)
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_SLICE = re.compile(r"^type (\w+) \[\]", re.MULTILINE)
_GO_FIELD = re.compile(r"^\t(?:(\w+)[ \t]+)?(\S+)[ \t]+`([^`\n]*)`", re.MULTILINE)
_GROUP = re.compile(r'^const GroupName = "([^"]*)"', re.MULTILINE)


@dataclass(frozen=True)
class GoField:
    """A field of a Go struct: its name, whether it is a pointer, and its tag for JSON."""

    name: str
    is_pointer: bool
    json_name: str
    json_options: tuple[str, ...]


@dataclass(frozen=True)
class MessageField:
    """A field of a message, as `listwatch.protobuf.schema` reads it."""

    number: int
    shape: str
    go: GoField

    @property
    def text(self) -> str:
        options = self.go.json_options
        marks = "*" * self.go.is_pointer + "!" * ("omitempty" not in options) + "~" * ("omitzero" in options)
        usual = self.go.json_name[:1].upper() + self.go.json_name[1:]
        go_name = "" if self.go.name == usual else f"@{self.go.name}"
        return f"{self.number}:{self.go.json_name}:{self.shape}{marks}{go_name}"


@dataclass(frozen=True)
class Package:
    """The messages of one Go package. `api_version` is empty if it has no kinds."""

    name: str
    api_version: str
    messages: dict[str, str]
    """The text of each message, as `listwatch.protobuf.schema` reads it."""
    references: frozenset[str]
    """The names of other packages whose messages are used."""


def read_package(folder: Path) -> Package:
    """Read `generated.proto` and the Go files of a folder."""
    proto = (folder / "generated.proto").read_text()
    go = "\n".join(path.read_text() for path in sorted(folder.glob("*.go")) if not _NOT_READ.search(path.name))
    found = _PACKAGE.search(proto)
    if not found:
        raise ValueError(f"{folder}/generated.proto names no package")
    structs = {name: dict(_go_fields(body)) for name, body in _STRUCT.findall(go)}
    slices = {*_SLICE.findall(go)}
    references: set[str] = set()
    messages = {}
    for name, body in _MESSAGE.findall(proto):
        fields = _fields(body, structs.get(name, {}), references)  # in the order of the Go struct
        messages[name + "[]" * (name in slices)] = " ".join(field.text for field in fields)
    group = _GROUP.search(go)
    version = folder.name
    api_version = "" if group is None else f"{group[1]}/{version}" if group[1] else version
    return Package(short_name(found[1]), api_version, messages, frozenset(references))


def short_name(package: str) -> str:
    """`core_v1` for `k8s.io.api.core.v1`."""
    return "_".join(package.split(".")[-2:])


def _fields(body: str, go: dict[int, GoField], references: set[str]) -> Iterator[MessageField]:
    for found in _PROTO_FIELD.finditer(body):
        prefix = "{" if found["value"] else "[" if found["label"] == "repeated" else ""
        name, number = found["name"], int(found["number"])
        # A message that is a slice in Go has no tags, and its only field is `items`.
        field = go.get(number) or GoField(name[0].upper() + name[1:], False, name, ())
        shape = prefix + _shape(found["type"] or found["value"], references)
        yield MessageField(number, shape, field)


def _shape(proto_type: str, references: set[str]) -> str:
    if proto_type in _SCALARS:
        return _SCALARS[proto_type]
    package, _, name = proto_type.removeprefix(".").rpartition(".")
    if not package:
        return f"#{name}"
    references.add(short_name(package))
    return f"#{short_name(package)}.{name}"


def _go_fields(body: str) -> Iterator[tuple[int, GoField]]:
    """Yield the number of each field in protobuf and the field."""
    for name, go_type, tags in _GO_FIELD.findall(body):
        tag = _tag(tags, "protobuf")
        if tag is None or "," not in tag:
            continue
        number = int(tag.split(",")[1])
        json_name, *options = (_tag(tags, "json") or "").split(",")
        is_pointer = go_type.startswith("*")
        yield number, GoField(name or go_type.rpartition(".")[2].lstrip("*"), is_pointer, json_name, tuple(options))


def _tag(tags: str, name: str) -> str | None:
    found = re.search(rf'\b{name}:"([^"]*)"', tags)
    return found[1] if found else None

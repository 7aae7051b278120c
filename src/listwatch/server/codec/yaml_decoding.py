"""Parses YAML request bodies by the rules of the API server. A separate module, so that PyYAML loads on demand."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from typing import ClassVar

import yaml
from yaml.scanner import ScannerError

from listwatch.errors import DecodeError
from listwatch.json_value import JSON
from listwatch.objects.yaml.yaml_loader import BoundedLoader
from listwatch.server.json_tree import MAX_DEPTH, quoted

__all__ = ["parse_yaml"]

_INTEGER = re.compile(r"[-+]?(?:0b[01_]+|0[0-7_]+|(?:0|[1-9][0-9_]*)|0x[0-9a-fA-F_]+)$")
_FLOAT = re.compile(r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?$|[-+]?[0-9]+[eE][-+]?[0-9]+$")
# YAML is parsed at about 100,000 values a second, and no other request is served meanwhile.
_MAX_NODES = 200_000


class _BodyLoader(BoundedLoader):
    """Keeps the last value of a duplicate key, and records the duplicate."""

    max_depth = MAX_DEPTH
    max_nodes = _MAX_NODES
    bool_values: ClassVar[dict[str, bool]] = BoundedLoader.bool_values | {"y": True, "n": False}

    def __init__(self, stream: bytes) -> None:
        super().__init__(stream)
        self.duplicates: list[str] = []

    def construct_mapping(self, node: yaml.MappingNode, *, deep: bool = False) -> dict[Hashable, object]:
        mapping: dict[Hashable, object] = super().construct_mapping(node, deep=deep)
        if len(mapping) < len(node.value):
            seen: set[object] = set()
            for key, _ in node.value:
                name = self.construct_object(key, deep=True)
                if name in seen:
                    self.duplicates.append(
                        f"line {key.start_mark.line + 1}: key {quoted(str(name))} already set in map"
                    )
                seen.add(name)
        return mapping


# Timestamps stay strings. So do times of day such as 12:30, which YAML 1.1 reads as base 60 integers.
_BodyLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":timestamp", ":int", ":float"))]
    for first, resolvers in BoundedLoader.yaml_implicit_resolvers.items()
}
_BodyLoader.add_implicit_resolver("tag:yaml.org,2002:int", _INTEGER, list("-+0123456789"))
_BodyLoader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("[yYnN]$"), list("yYnN"))
_BodyLoader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+0123456789."))


def parse_yaml(body: bytes) -> tuple[JSON, list[str]]:
    """Return the first document, and an error message if it has duplicate keys."""
    try:
        loader = _BodyLoader(body)
        tree = _JSONConverter().convert(loader.get_data() if loader.check_data() else None)
    except yaml.MarkedYAMLError as error:
        raise DecodeError(f"yaml: {_place(error)}{error.problem}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise DecodeError("yaml: " + " ".join(str(error).split())) from None
    except RecursionError:
        raise DecodeError("yaml: exceeded max depth") from None
    duplicates = "\n  ".join(loader.duplicates)
    return tree, [f"yaml: unmarshal errors:\n  {duplicates}"] if duplicates else []


def _place(error: yaml.MarkedYAMLError) -> str:
    # The real server counts lines from 0 for parser errors and from 1 for scanner errors, and omits the first line.
    line = error.problem_mark.line if error.problem_mark else 0
    return f"line {line + isinstance(error, ScannerError)}: " if line else ""


class _JSONConverter:
    """Converts YAML values to JSON; rejects documents that aliases expand to too many values."""

    def __init__(self) -> None:
        self._nodes_left = _MAX_NODES

    def convert(self, value: object) -> JSON:
        self._nodes_left -= 1
        if self._nodes_left < 0:
            raise DecodeError("yaml: document contains excessive aliasing")
        match value:
            case dict():
                return {_name(key): self.convert(each) for key, each in value.items()}
            case list():
                return [self.convert(each) for each in value]
            case float() if not math.isfinite(value):
                raise DecodeError(f"yaml: json: unsupported value: {value}")
            case str() | bool() | int() | float() | None:
                return value
            case _:
                raise DecodeError(f"yaml: cannot decode a {type(value).__name__}")


def _name(key: object) -> str:
    match key:
        case str():
            return key
        case bool():
            return "true" if key else "false"
        case int() | float():
            return str(key)
        case _:
            raise DecodeError(f"yaml: invalid map key: {key!r}")

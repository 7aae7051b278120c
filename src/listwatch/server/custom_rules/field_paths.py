"""Parses the path in a rule that names the field to blame: `.spec.ports['http']`."""

from __future__ import annotations

import re

from listwatch.json_value import JSONObject
from listwatch.server.json_tree import object_at, value_at

__all__ = ["FieldPathError", "parsed_field_path"]

_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|[.\[\]]|[^.\[\]']+|'")
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}


class FieldPathError(Exception):
    """A path that is not valid, or names no field of the schema."""


def parsed_field_path(text: str, schema: JSONObject) -> str:
    """Return the path as it appears in messages; raises FieldPathError."""
    tokens = [match.group() for match in _TOKEN.finditer(text)]
    found = ""
    position = 0
    while position < len(tokens):
        is_bracket = tokens[position] == "["
        if not is_bracket and tokens[position] != ".":
            raise FieldPathError(f"expected [ or . but got: {tokens[position]}")
        if position + 1 >= len(tokens):
            raise FieldPathError("unexpected end of JSON path")
        name = tokens[position + 1]
        if is_bracket:
            name = _quoted_name(tokens, position)
        position += 3 if is_bracket else 2
        if schema.get("properties") is not None:
            found += f".{name}" if found else name
            inner = object_at(schema, "properties").get(name)
        else:
            found += f"[{name}]"
            inner = value_at(schema, "additionalProperties")
        if not isinstance(inner, dict):
            raise FieldPathError("does not refer to a valid field")
        schema = inner
    return found


def _quoted_name(tokens: list[str], position: int) -> str:
    name = tokens[position + 1]
    if len(name) < 2 or name[0] != "'" or name[-1] != "'":
        raise FieldPathError(f"expected single quoted string but got {name}")
    if tokens[position + 2 : position + 3] != ["]"]:
        raise FieldPathError("expected ]")

    def unescaped(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPES:
            raise FieldPathError(f"invalid escape char {match[0]}")
        return _ESCAPES[match[1]]

    return re.sub(r"\\(.)", unescaped, name[1:-1])

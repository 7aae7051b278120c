"""The bytes of a request as a plain tree: JSON or YAML. `decoding` then makes an object of it.

A name that a JSON object gives twice is a mistake that the API reports and otherwise lets pass, the last value winning.
The fast way to read JSON does not notice it, so it is looked for separately, at the price of encoding what was decoded.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

import msgspec

from listwatch.errors import DecodeError, UnsupportedMediaTypeError
from listwatch.server.json_tree import Tree

__all__ = ["JSON", "YAML", "Repeating", "media_type", "read_body", "read_json"]

JSON = "application/json"
YAML = "application/yaml"

# What the standard library finds, in the words of the real server.
_IN_OTHER_WORDS = {
    "Expecting value": "looking for beginning of value",
    "Expecting property name enclosed in double quotes": "looking for beginning of object key string",
    "Illegal trailing comma before end of object": "looking for beginning of object key string",
    "Illegal trailing comma before end of array": "looking for beginning of value",
    "Expecting ':' delimiter": "after object key",
    "Expecting ',' delimiter": "after object key:value pair",
    "Extra data": "after top-level value",
    "Invalid control character at": "in string literal",
    "Invalid \\escape": "in string escape code",
}

_QUOTED = {**{chr(code): f"\\{letter}" for code, letter in enumerate("abtnvfr", start=7)}, "'": "\\'", "\\": "\\\\"}

_MAX_DEPTH = 400


class Repeating(dict[str, Tree]):
    """A JSON object that gives a name twice: the last value of each name, and all that came in order."""

    pairs: list[tuple[str, Tree]]


def media_type(content_type: str) -> str:
    """Without parameters such as the charset."""
    return content_type.partition(";")[0].strip().lower()


def read_body(body: bytes, content_type: str, *, find_repeats: bool) -> tuple[Tree, list[str]]:
    """The tree, and what a strict reader would complain about; raises DecodeError for what is neither JSON nor YAML."""
    match media_type(content_type):
        case "" | "application/json":
            return _read_json_body(body, find_repeats=find_repeats), []
        case "application/yaml":
            # PyYAML is slow to load, and most clients send JSON.
            from listwatch.server.codec.yaml_bodies import read_yaml

            return read_yaml(body)
        case _:
            raise UnsupportedMediaTypeError(
                "the body of the request was in an unknown format - "
                f"accepted media types include: {JSON}, {YAML}, application/vnd.kubernetes.protobuf"
            )


def _read_json_body(body: bytes, *, find_repeats: bool) -> Tree:
    try:
        return read_json(body, find_repeats=find_repeats)
    except DecodeError as error:
        # The first thing that the real server wants to know is the kind.
        raise DecodeError(f"couldn't get version/kind; json parse error: {error.message}") from None


def read_json(body: bytes, *, find_repeats: bool) -> Tree:
    """With `find_repeats`, an object that gives a name twice is a `Repeating`; raises DecodeError if it is no JSON."""
    try:
        tree = msgspec.json.decode(body)
        if _is_too_deep(body, tree):
            raise DecodeError("exceeded max depth")
        return _read_pairs(body) if find_repeats and _repeats(body, tree) else tree
    except RecursionError:
        raise DecodeError("exceeded max depth") from None
    except (msgspec.DecodeError, ValueError):
        # By bytes, as the real server does: a letter of another alphabet is none of JSON, wherever it is split.
        _explain(body.decode("latin-1"))


def _is_too_deep(body: bytes, tree: Tree) -> bool:
    """Whether the tree is deeper than anything here can walk, whatever the interpreter's own limit is just now."""
    if body.count(b"{") + body.count(b"[") <= _MAX_DEPTH:
        return False
    level = [tree]
    for _ in range(_MAX_DEPTH):
        inside = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = [item for items in inside for item in items]
    return bool(level)


def _repeats(body: bytes, tree: Tree) -> bool:
    # Each name and each text has two quotes, and those inside of them are escaped alike on both sides unless
    # somebody writes \u0022. So a name that got lost is two quotes that got lost.
    return b"\\u0022" in body or body.count(b'"') != msgspec.json.encode(tree).count(b'"')


def _read_pairs(body: bytes) -> Tree:
    return json.loads(body, object_pairs_hook=_noticing_repeats)


def _noticing_repeats(pairs: list[tuple[str, Tree]]) -> dict[str, Tree]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    repeating = Repeating(members)
    repeating.pairs = pairs
    return repeating


def _explain(text: str) -> NoReturn:
    """Say what is wrong with JSON in the words of the real server."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        rest = text[error.pos :]
        if error.msg.startswith("Illegal trailing comma"):  # since Python 3.13, which points at the comma
            rest = rest[1:].lstrip(" \t\r\n")
        if not rest.strip() or error.msg.startswith("Unterminated string"):
            raise DecodeError("unexpected end of JSON input") from None
        character = rest[error.msg.startswith("Invalid \\escape") and len(rest) > 1]
        reason = _IN_OTHER_WORDS.get(error.msg, "in string literal")
        if error.msg.startswith("Expecting ','") and _is_in_array(text[: error.pos]):
            reason = "after array element"
        raise DecodeError(f"invalid character {_go_character(character)} {reason}") from None
    except ValueError:
        # Python refuses to read a number of thousands of digits.
        raise DecodeError("json: cannot unmarshal number into Go value of type float64") from None
    except RecursionError:
        raise DecodeError("exceeded max depth") from None
    raise DecodeError("invalid character in string literal")


def _is_in_array(text: str) -> bool:
    """Whether the innermost bracket that is still open is that of an array."""
    depth = 0
    for character in reversed(re.sub(r'"(?:[^"\\]|\\.)*"', "", text)):
        depth += (character in "]}") - (character in "[{")
        if depth < 0:
            return character == "["
    return False


def _go_character(character: str) -> str:
    if character in _QUOTED:
        return f"'{_QUOTED[character]}'"
    if character.isprintable():
        return f"'{character}'"
    return f"'\\x{ord(character):02x}'" if character < "\x80" else f"'\\u{ord(character):04x}'"

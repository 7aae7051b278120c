"""Finds the values of a JSON document without decoding them and without recursion.

For documents that msgspec cannot decode as a whole: nested too deeply, or with an invalid string in one place. The
content of a value is not validated; decoding it does that. The time is linear in the length of the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from listwatch.errors import DecodeError

__all__ = ["IncompleteJSONError", "Member", "elements_of", "members_of", "value_end"]


class IncompleteJSONError(DecodeError):
    """The document ends in the middle of a value."""


class Member(NamedTuple):
    """A member of a JSON object: its decoded name, and the position of its value."""

    name: str
    start: int
    end: int


# A lone quote matches only if no string does, so that an unterminated string is found in one attempt.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|["{}\[\]]', re.DOTALL)
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_SCALAR = re.compile(rb"[^\s,:{}\[\]\"]++")
_SPACE = re.compile(rb"[ \t\r\n]*+")

_QUOTE = ord('"')
_CLOSING = {ord("{"): ord("}"), ord("["): ord("]")}


def value_end(document: bytes, start: int) -> int:
    """Return the position after the value that starts here."""
    first = document[start : start + 1]
    if first not in (b"{", b"["):
        found = (_STRING if first == b'"' else _SCALAR).match(document, start)
        if found is None:
            raise _incomplete() if first == b'"' else _unexpected(document, start)
        return found.end()
    expected = bytearray()
    for token in _TOKEN.finditer(document, start):
        position = token.start()
        byte = document[position]
        if byte in _CLOSING:
            expected.append(_CLOSING[byte])
        elif byte != _QUOTE:
            if expected.pop() != byte:
                raise _unexpected(document, position)
            if not expected:
                return token.end()
        elif token.end() - position == 1:
            break
    raise _incomplete()


def members_of(document: bytes, start: int = 0) -> Iterator[Member]:
    """Yield the members of the object that starts here, in order; a name may occur more than once."""
    position = _first_entry(document, start, b"{", b"}")
    while position:
        if document[position : position + 1] != b'"':
            raise _unexpected(document, position)
        name_end = value_end(document, position)
        colon = _skip_space(document, name_end)
        if document[colon : colon + 1] != b":":
            raise _unexpected(document, colon)
        value = _skip_space(document, colon + 1)
        end = value_end(document, value)
        yield Member(_name(document[position:name_end]), value, end)
        position = _next_entry(document, end, b"}")


def elements_of(document: bytes, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each element of the array that starts here."""
    position = _first_entry(document, start, b"[", b"]")
    while position:
        end = value_end(document, position)
        yield position, end
        position = _next_entry(document, end, b"]")


def _first_entry(document: bytes, start: int, opening: bytes, closing: bytes) -> int:
    """The position of the first entry; 0 if there is none."""
    if document[start : start + 1] != opening:
        raise _unexpected(document, start)
    position = _skip_space(document, start + 1)
    return 0 if document[position : position + 1] == closing else position


def _next_entry(document: bytes, end: int, closing: bytes) -> int:
    """The position of the entry after one that ends here; 0 if that was the last one."""
    position = _skip_space(document, end)
    match document[position : position + 1]:
        case b",":
            return _skip_space(document, position + 1)
        case found if found == closing:
            return 0
        case _:
            raise _unexpected(document, position)


def _skip_space(document: bytes, start: int) -> int:
    space = _SPACE.match(document, start)
    assert space is not None
    return space.end()


def _name(text: bytes) -> str:
    try:
        return msgspec.json.decode(text, type=str)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ""  # no field has such a name


def _unexpected(document: bytes, position: int) -> DecodeError:
    # The text is not shown: it may contain secrets.
    if position >= len(document):
        return _incomplete()
    return DecodeError(f"invalid JSON at byte {position}", object_name="a document")


def _incomplete() -> IncompleteJSONError:
    return IncompleteJSONError("it is incomplete", object_name="a document")

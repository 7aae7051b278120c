"""Finds the values of a JSON document without decoding them and without recursion.

For documents that msgspec cannot decode as a whole: nested too deeply, or with an invalid string or number in one
place. Brackets, commas and colons are checked; the content of strings and the spelling of numbers are not, decoding a
value does that. The time is linear in the length of the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import msgspec

from listwatch.errors import DecodeError

__all__ = [
    "IncompleteJSONError",
    "Member",
    "ValueScanner",
    "elements_of",
    "is_invalid_name",
    "members_of",
    "parts_of",
    "readable_parts",
    "skip_space",
    "value_end",
]


class IncompleteJSONError(DecodeError):
    """The document ends in the middle of a value."""


class Member(NamedTuple):
    """A member of a JSON object: its decoded name, and the position of its value."""

    name: str
    start: int
    end: int


# --- Patterns ---------------------------------------------------------------------------------------------------------
# One match reads all values up to the next bracket, so that most of the work is done in C. Each quantifier is
# possessive: a failed match does not try other ways to read the same bytes, which keeps the time linear.


def _pattern(text: bytes) -> re.Pattern[bytes]:
    names = {b"SPACE": rb"[ \t\r\n]*+", b"STRING": rb'"(?:[^"\\]++|\\.)*+"', b"SCALAR": rb'[^ \t\r\n,:{}\[\]"]++'}
    names[b"LEAF"] = b"(?:%(STRING)b|%(SCALAR)b)" % names
    names[b"CUT_STRING"] = rb'(?:"(?:[^"\\]++|\\.)*+\\?+)?+'
    names[b"KEY"] = b"%(STRING)b%(SPACE)b:%(SPACE)b" % names
    # The number of values in one match is bounded, so that a scan can be paused.
    names[b"MEMBERS"] = (
        rb"(?:(?:%(KEY)b%(LEAF)b%(SPACE)b,%(SPACE)b){1,256}+(?:%(KEY)b(?:[{\[]|%(LEAF)b%(SPACE)b\}))?+"
        rb"|%(KEY)b(?:[{\[]|%(LEAF)b%(SPACE)b\}))" % names
    )
    names[b"ELEMENTS"] = (
        rb"(?:(?:%(LEAF)b%(SPACE)b,%(SPACE)b){1,256}+(?:[{\[]|%(LEAF)b%(SPACE)b\])?+|[{\[]|%(LEAF)b%(SPACE)b\])" % names
    )
    return re.compile(text % names, re.DOTALL)


class _Patterns:
    """The patterns by the place in a document; compiled on first use, because most documents need none of them."""

    def __init__(self) -> None:
        self.space = _pattern(rb"%(SPACE)b")
        self.string = _pattern(rb"%(STRING)b")
        self.leaf = _pattern(rb"%(LEAF)b")
        # A number at the end of the document may continue in its next piece.
        self.value = _pattern(rb"[{\[]|%(STRING)b|%(SCALAR)b(?=[ \t\r\n,\]}])")
        # What may follow in an object and in an array, by its closing bracket: at its start, after a comma, after a
        # value. The group is a run of brackets, of which a document may have millions.
        self.at_start = {
            _BRACE: _pattern(rb"%(SPACE)b(?:\}|%(MEMBERS)b)"),
            _BRACKET: _pattern(rb"%(SPACE)b(?:\]|(\[++)|%(ELEMENTS)b)"),
        }
        self.after_comma = {
            _BRACE: _pattern(rb"%(SPACE)b%(MEMBERS)b"),
            _BRACKET: _pattern(rb"%(SPACE)b%(ELEMENTS)b"),
        }
        self.after_value = {
            _BRACE: _pattern(rb"%(SPACE)b(?:([}\]]++)|,%(SPACE)b%(MEMBERS)b)"),
            _BRACKET: _pattern(rb"%(SPACE)b(?:([}\]]++)|,%(SPACE)b%(ELEMENTS)b)"),
        }
        # What may be left at the end of a document that is cut short, by the closing bracket that is missing.
        self.cut_string = _pattern(rb"%(CUT_STRING)b")
        self.cut = {
            _BRACE: _pattern(
                rb"%(SPACE)b,?+%(SPACE)b"
                rb"(?:%(KEY)b(?:%(LEAF)b%(SPACE)b|%(CUT_STRING)b)|%(STRING)b%(SPACE)b|%(CUT_STRING)b)"
            ),
            _BRACKET: _pattern(rb"%(SPACE)b,?+%(SPACE)b(?:%(LEAF)b%(SPACE)b|%(CUT_STRING)b)"),
        }


_patterns = cache(_Patterns)

_BRACE, _BRACKET, _OPENING = ord("}"), ord("]"), ord("[")
_CLOSING = {ord("{"): _BRACE, ord("["): _BRACKET}

# Appended to names that cannot be decoded. Different names stay different, and none of them can be encoded, so that no
# member is sent under another name.
_INVALID = "\udc80"


# --- Scanning ---------------------------------------------------------------------------------------------------------


class ValueScanner:
    """Finds the end of a value. It keeps its place, so that a document can be scanned in slices, or as it arrives."""

    __slots__ = ("_open", "_pattern", "position")

    def __init__(self, start: int) -> None:
        self.position = start
        """How far the value was scanned; the position after it once it is complete."""
        self._open = bytearray()  # the closing brackets of the arrays and objects that are not complete
        self._pattern = _patterns().value

    def scan(self, document: bytes | bytearray, stop: int) -> bool:
        """Continue up to about `stop`. Return True if the value is complete.

        If it is not, and `position` is before `stop`, the document is incomplete or invalid from there on.
        """
        patterns = _patterns()
        pattern, position, closings = self._pattern, self.position, self._open
        complete = False
        while position < stop and not complete:
            found = pattern.match(document, position)
            if found is None:
                break
            if found.lastindex:
                run = found[1]
                if run[0] == _OPENING:
                    closings += b"]" * len(run)
                else:
                    run = run[: len(closings)]
                    if closings[-len(run) :] != run[::-1]:
                        break
                    del closings[-len(run) :]
                    complete = not closings
                    pattern = patterns.value if complete else patterns.after_value[closings[-1]]
                position = found.start(1) + len(run)
                continue
            position = found.end()
            last = document[position - 1]
            if pattern is patterns.value and last not in _CLOSING:
                complete = True
            elif last in _CLOSING:
                closings.append(_CLOSING[last])
                pattern = patterns.at_start[closings[-1]]
            elif last == closings[-1]:
                closings.pop()
                complete = not closings
                pattern = patterns.value if complete else patterns.after_value[closings[-1]]
            else:
                pattern = patterns.after_comma[closings[-1]]
        self._pattern, self.position = pattern, position
        return complete

    def is_cut(self, document: bytes | bytearray) -> bool:
        """True if the value may continue after the end of the document, False if it is invalid."""
        rest = _patterns().cut[self._open[-1] if self._open else _BRACKET]
        return rest.fullmatch(document, self.position) is not None


def value_end(document: bytes | bytearray, start: int) -> int:
    """Return the position after the value that starts here."""
    if document[start : start + 1] not in (b"{", b"["):
        found = _patterns().leaf.match(document, start)
        if found is None:
            raise _unexpected(document, start)
        return found.end()
    scanner = ValueScanner(start)
    if not scanner.scan(document, len(document)):
        raise _incomplete() if scanner.is_cut(document) else _unexpected(document, scanner.position)
    return scanner.position


def members_of(document: bytes | bytearray, start: int = 0) -> Iterator[Member]:
    """Yield the members of the object that starts here, in order; a name may occur more than once."""
    position = _first_entry(document, start, b"{", b"}")
    while position:
        name = _patterns().string.match(document, position)
        if name is None:
            raise _unexpected(document, position)
        colon = skip_space(document, name.end())
        if document[colon : colon + 1] != b":":
            raise _unexpected(document, colon)
        value = skip_space(document, colon + 1)
        end = value_end(document, value)
        yield Member(_name(name[0]), value, end)
        position = _next_entry(document, end, b"}")


def elements_of(document: bytes | bytearray, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each element of the array that starts here."""
    position = _first_entry(document, start, b"[", b"]")
    while position:
        end = value_end(document, position)
        yield position, end
        position = _next_entry(document, end, b"]")


def parts_of(document: bytes) -> dict[str, msgspec.Raw]:
    """Return the members of a document that is one object, as views of it. Of equal names the last one counts."""
    start = skip_space(document, 0)
    members = list(members_of(document, start))
    closing = skip_space(document, members[-1].end if members else start + 1)
    if (end := skip_space(document, closing + 1)) < len(document):
        raise DecodeError(f"JSON is malformed: trailing characters (byte {end})", object_name="a document")
    view = memoryview(document)
    return {each.name: msgspec.Raw(view[each.start : each.end]) for each in members}


def readable_parts(document: bytes) -> dict[str, msgspec.Raw] | None:
    """Return the same; None if it is no object, or a name cannot be decoded: that may be the name of any part."""
    try:
        parts = parts_of(document)
    except DecodeError:
        return None
    return None if any(map(is_invalid_name, parts)) else parts


def is_invalid_name(name: str) -> bool:
    """True if the name of a member could not be decoded."""
    return name.endswith(_INVALID)


def skip_space(document: bytes | bytearray, start: int) -> int:
    """Return the position of the next byte that is not white space; the length of the document if there is none."""
    space = _patterns().space.match(document, start)
    assert space is not None
    return space.end()


def _first_entry(document: bytes | bytearray, start: int, opening: bytes, closing: bytes) -> int:
    """The position of the first entry; 0 if there is none."""
    if document[start : start + 1] != opening:
        raise _unexpected(document, start)
    position = skip_space(document, start + 1)
    return 0 if document[position : position + 1] == closing else position


def _next_entry(document: bytes | bytearray, end: int, closing: bytes) -> int:
    """The position of the entry after one that ends here; 0 if that was the last one."""
    position = skip_space(document, end)
    match document[position : position + 1]:
        case b",":
            return skip_space(document, position + 1)
        case found if found == closing:
            return 0
        case _:
            raise _unexpected(document, position)


def _name(text: bytes) -> str:
    try:
        return msgspec.json.decode(text, type=str)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return text.decode(errors="surrogateescape") + _INVALID


def _unexpected(document: bytes | bytearray, position: int) -> DecodeError:
    # The text is not shown: it may contain secrets.
    if _patterns().cut_string.fullmatch(document, position):
        return _incomplete()
    return DecodeError(f"JSON is malformed (byte {position})", object_name="a document")


def _incomplete() -> IncompleteJSONError:
    return IncompleteJSONError("it is truncated", object_name="a document")

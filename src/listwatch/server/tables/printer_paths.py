"""The JSONPaths of printer columns, with the grammar and the failures of kube-apiserver.

    .spec.size   .spec.*   ..name                    a field, all fields, fields at any depth
    .metadata.labels.example\\.com/name               a dot in a name is escaped, also in ['…']
    .spec.ports[0]   [-1]   [1:3]   [*]   [0,2]      elements
    .status.conditions[?(@.type=="Ready")].status    elements that match; also != < <= > >=, or that have a field

It differs from `listwatch.api.json_path`, which people type, and which is more tolerant: here an index out of range and
a comparison of different types fail, so that the cell is empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from listwatch.api.json_path import COMPARISONS
from listwatch.errors import MalformedError
from listwatch.json_value import JSON

__all__ = ["PathError", "PrinterPath"]

Step: TypeAlias = Callable[[Sequence[JSON]], list[JSON]]
"""Returns the values that it selects in some values; raises PathError."""

_TERMINATORS = " \t\r\n.,[]$@{}"
_FIELD = re.compile(rf"(?:\\.|[^\\{re.escape(_TERMINATORS)}])*", re.DOTALL)
_WORD = re.compile(rf"[^{re.escape(_TERMINATORS)}]+")
_NUMBER = re.compile(r"[-+]?[0-9.]*")
_KEY = re.compile(r"'([^']*)'")
_SLICE = re.compile(r"(-?\d*)(:-?\d*)?(:-?\d*)?")
_COMPARISON = re.compile(r"([^!<>=]+)([!<>=]+)(.+)", re.DOTALL)


class PathError(Exception):
    """The path cannot be applied to this object."""


class PrinterPath:
    """A parsed path; raises MalformedError if it is invalid."""

    def __init__(self, text: str) -> None:
        self._steps = _Parser(text).steps()

    def find(self, tree: JSON) -> list[JSON]:
        """Return the values that the path selects; raises PathError."""
        return _follow(self._steps, [tree])


def _follow(steps: Sequence[Step], values: Sequence[JSON]) -> list[JSON]:
    found = [*values]
    for step in steps:
        found = step(found)
    return found


# --- Parsing ----------------------------------------------------------------------------------------------------------


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0

    def steps(self) -> list[Step]:
        """Return the steps up to the end, or to a closing brace: what follows it does not affect the first value."""
        found: list[Step] = []
        while self._position < len(self._text) and self._text[self._position] != "}":
            found += self._next()
        return found

    def _next(self) -> Iterator[Step]:
        text, start = self._text, self._position
        if text.startswith("[?(", start):
            yield self._filter()
        elif text.startswith("..", start):
            self._position += 2
            yield _descendants
            if text[start + 2 : start + 3].isalnum() or text.startswith("_", start + 2):
                yield self._field()
        elif (first := text[start]) in " @$":
            self._position += 1
        elif first == "[":
            yield from self._brackets()
        elif first in "\"'":
            yield _constant(self._quoted(first))
        elif first == ".":
            self._position += 1
            yield self._field()
        elif first in "+-" or first.isdigit():
            yield _constant(self._number())
        elif first.isalpha() or first == "_":
            yield _constant_word(self._take(_WORD))
        else:
            raise self._malformed(f"{first!r} is not expected")

    def _field(self) -> Step:
        name = self._take(_FIELD)
        return _children if name == "*" else _member(name.replace("\\", ""))

    def _number(self) -> int | float:
        text = self._take(_NUMBER)
        try:
            return float(text) if "." in text else int(text)
        except ValueError:
            raise self._malformed(f"{text!r} is not a number") from None

    def _quoted(self, quote: str) -> str:
        start = self._position
        end = start
        while True:
            end = self._text.find(quote, end + 1)
            if end < 0:
                raise self._malformed("a string is not terminated")
            if self._text[end - 1] != "\\":
                break
        self._position = end + 1
        return re.sub(r"\\(.)", r"\1", self._text[start + 1 : end])

    def _brackets(self) -> Iterator[Step]:
        end = self._text.find("]", self._position)
        if end < 0:
            raise self._malformed("an array is not terminated")
        inside = self._text[self._position + 1 : end]
        self._position = end + 1
        if "," in inside:
            yield _union([_Parser(f"[{each.strip(' ')}]").steps() for each in inside.split(",")])
        elif key := _KEY.fullmatch(inside):
            yield from _Parser(f".{key[1]}").steps()
        elif bounds := _SLICE.fullmatch(":" if inside == "*" else inside):
            yield _elements(*bounds.groups())
        else:
            raise self._malformed(f"{inside!r} is not an array index")

    def _filter(self) -> Step:
        condition = self._condition()
        comparison = _COMPARISON.fullmatch(condition)
        if comparison is None:
            return _having(_Parser(condition).steps())
        left, sign, right = comparison.groups()
        return _comparing(_Parser(left).steps(), sign, _Parser(right).steps())

    def _condition(self) -> str:
        """Take the condition of a filter; a parenthesis in a string does not end it."""
        start = self._position + 3
        quote, is_closed = "", False
        for end in range(start, len(self._text)):
            character = self._text[end]
            if character in "\"'" and not quote:
                quote = character
            elif character == quote and self._text[end - 1] != "\\":
                is_closed = True
            elif character == ")" and bool(quote) == is_closed:
                if self._text[end + 1 : end + 2] != "]":
                    break
                self._position = end + 2
                return self._text[start:end]
        raise self._malformed("a filter is not terminated")

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._position)
        assert found is not None
        self._position = found.end()
        return found[0]

    def _malformed(self, reason: str) -> MalformedError:
        return MalformedError(f"cannot read the JSONPath {self._text!r}: {reason}", text=self._text)


# --- Steps ------------------------------------------------------------------------------------------------------------


def _constant(value: JSON) -> Step:
    return lambda values: [value] * len(values)


def _constant_word(word: str) -> Step:
    if word in ("true", "false"):
        return _constant(word == "true")

    def fail(values: Sequence[JSON]) -> list[JSON]:
        raise PathError(f"unknown word {word}")

    return fail


def _member(name: str) -> Step:
    return lambda values: [each[name] for each in values if isinstance(each, dict) and name in each]


def _inside(value: JSON) -> list[JSON]:
    match value:
        case dict():
            return [*value.values()]
        case list():
            return value
        case _:
            return []


def _children(values: Sequence[JSON]) -> list[JSON]:
    return [inner for value in values for inner in _inside(value)]


def _descendants(values: Sequence[JSON]) -> list[JSON]:
    """Return the values that have something inside, at any depth."""
    found: list[JSON] = []
    for value in values:
        if inside := _inside(value):
            found += [value, *_descendants(inside)]
    return found


def _union(alternatives: Sequence[Sequence[Step]]) -> Step:
    return lambda values: [found for steps in alternatives for found in _follow(steps, values)]


def _elements(start: str, stop: str | None, step: str | None) -> Step:
    first = int(start or 0)
    is_single = stop is None

    def select(values: Sequence[JSON]) -> list[JSON]:
        found: list[JSON] = []
        for value in values:
            if value is None:
                continue
            if not isinstance(value, list):
                raise PathError("not an array")
            length = len(value)
            begin = first + length if first < 0 else first
            end = _end(first, stop, length)
            if begin == end:
                return found
            if not (0 <= begin < length and 0 <= end <= length and begin < end):
                raise PathError("index out of bounds")
            stride = int(step[1:] or 1) if step else 1
            if stride <= 0:
                raise PathError("step must be positive")
            found += value[begin:end:stride]
        return found

    def _end(first: int, stop: str | None, length: int) -> int:
        if is_single:
            return first + 1 + length if first < 0 else first + 1
        given = (stop or "")[1:]
        if not given:
            return length
        return int(given) + length if int(given) < 0 else int(given)

    return select


def _having(steps: Sequence[Step]) -> Step:
    def has(item: JSON) -> bool:
        try:
            return bool(_follow(steps, [item]))
        except PathError:
            return True  # as in kube-apiserver, where the failed step returns its input

    return lambda values: [item for value in values for item in _filterable(value) if has(item)]


def _comparing(left: Sequence[Step], sign: str, right: Sequence[Step]) -> Step:
    def matches(item: JSON) -> bool:
        one, other = _follow(left, [item]), _follow(right, [item])
        if not one or not other:
            return False
        if len(one) > 1 or len(other) > 1:
            raise PathError("can only compare one element at a time")
        return _compare(one[0], sign, other[0])

    return lambda values: [item for value in values for item in _filterable(value) if matches(item)]


def _filterable(value: JSON) -> list[JSON]:
    if not isinstance(value, list):
        raise PathError("not an array")
    return value


def _compare(one: JSON, sign: str, other: JSON) -> bool:
    is_order = sign not in ("==", "!=")
    if type(one) is not type(other) or not isinstance(one, str | int | float) or (is_order and isinstance(one, bool)):
        raise PathError("incompatible types for comparison")
    if sign not in COMPARISONS:
        raise PathError(f"unknown operator {sign}")
    return COMPARISONS[sign](one, other)

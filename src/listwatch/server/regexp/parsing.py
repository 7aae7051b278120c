"""Parses regular expressions in Go's syntax, with the errors of Go's parser.

The schemas of custom resources contain such expressions. Unlike Python's, they have no back references and no
lookaround, so that they can be matched in linear time. `matching` does that.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TypeAlias

from listwatch.server.regexp.characters import (
    ANY,
    PERL_CLASSES,
    POSIX_CLASSES,
    Ranges,
    complement,
    normalized,
    unicode_class,
)

__all__ = ["Alternation", "Assertion", "Characters", "Node", "RegexpSyntaxError", "Repetition", "Sequence", "parse"]

_MAX_REPEAT = 1000
# Less than Go's limits of 1000 levels and of several million instructions.
_MAX_HEIGHT = 200
_MAX_SIZE = 10_000
# The length of a class name or of a count, so that the search for its end is short.
_MAX_NAME = 64

_NOT_NEWLINE = complement([(10, 10)])
_ESCAPES = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")
_OCTAL = frozenset("01234567")


class RegexpSyntaxError(ValueError):
    """A regular expression is invalid; the message is that of Go's parser."""

    def __init__(self, reason: str, part: str) -> None:
        super().__init__(f"error parsing regexp: {reason}: `{part}`")


@dataclass(frozen=True, slots=True)
class Characters:
    """Matches one character of a set."""

    ranges: Ranges
    ignores_case: bool = False
    is_negated: bool = False
    size: int = 1
    height: int = 1


@dataclass(frozen=True, slots=True)
class Assertion:
    r"""Matches the empty string at some places: `A` the start of the text, `z` its end, `^ $` of a line, `b B`."""

    kind: str
    size: int = 1
    height: int = 1


@dataclass(frozen=True, slots=True)
class Sequence:
    """Matches its parts one after the other."""

    parts: tuple[Node, ...]
    size: int
    height: int


@dataclass(frozen=True, slots=True)
class Alternation:
    """Matches one of its parts."""

    parts: tuple[Node, ...]
    size: int
    height: int


@dataclass(frozen=True, slots=True)
class Repetition:
    """Matches its part several times; `most` is None if there is no limit."""

    part: Node
    least: int
    most: int | None
    size: int
    height: int
    is_lazy: bool = False
    """Prefers few repetitions, which matters only for where a match ends."""


Node: TypeAlias = Characters | Assertion | Sequence | Alternation | Repetition


@dataclass(frozen=True, slots=True)
class _Flags:
    ignores_case: bool = False
    multi_line: bool = False
    dot_matches_newline: bool = False


@dataclass(slots=True)
class _Group:
    """An open group: the alternatives that are complete, the current one, and the flags to restore."""

    outer_flags: _Flags
    alternatives: list[Node] = field(default_factory=list)
    parts: list[Node] = field(default_factory=list)


def parse(pattern: str) -> Node:
    """Parse an expression; raises RegexpSyntaxError."""
    return _Parser(pattern).parse()


class _Parser:
    """One parse, as a loop over the pattern with a stack of open groups."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._flags = _Flags()
        self._stack = [_Group(self._flags)]

    def parse(self) -> Node:
        last_repeat = None
        while self._at < len(self._pattern):
            start = self._at
            is_repeat = self._parse_next(last_repeat)
            last_repeat = start if is_repeat else None
        if len(self._stack) > 1:
            raise RegexpSyntaxError("missing closing )", self._pattern)
        return self._closed(self._stack[0])

    def _parse_next(self, last_repeat: int | None) -> bool:
        """Parse the next element; returns whether it was a repetition."""
        pattern, at = self._pattern, self._at
        match pattern[at]:
            case "*" | "+" | "?" as sign:
                self._at += 1
                self._repeat({"*": (0, None), "+": (1, None), "?": (0, 1)}[sign], at, last_repeat)
                return True
            case "{" if (counts := self._counts()) is not None:
                self._repeat(counts, at, last_repeat)
                return True
            case "(" if pattern.startswith("(?", at):
                self._open_with_flags()
            case "(":
                self._at += 1
                self._open(self._flags)
            case ")":
                self._close()
            case "|":
                self._at += 1
                self._next_alternative()
            case "^" | "$" as sign:
                self._at += 1
                self._push(Assertion(sign if self._flags.multi_line else {"^": "A", "$": "z"}[sign]))
            case ".":
                self._at += 1
                self._push(Characters(ANY if self._flags.dot_matches_newline else _NOT_NEWLINE))
            case "[":
                self._push(self._class())
            case "\\":
                self._parse_escape()
            case character:
                self._at += 1
                self._push_literal(character)
        return False

    def _push(self, node: Node) -> None:
        parts = self._stack[-1].parts
        if len(parts) >= _MAX_SIZE:
            raise RegexpSyntaxError("expression too large", self._pattern)
        parts.append(node)

    def _push_literal(self, character: str) -> None:
        self._push(Characters(((ord(character), ord(character)),), self._flags.ignores_case))

    # --- Repetitions

    def _counts(self) -> tuple[int, int | None] | None:
        """Parse `{n}`, `{n,}` or `{n,m}`; None if the brace is a literal."""
        end = self._pattern.find("}", self._at, self._at + _MAX_NAME)
        text = self._pattern[self._at + 1 : end] if end > 0 else ""
        least, comma, most = text.partition(",")
        if not _is_count(least) or (most and not _is_count(most)):
            return None
        numbers = _number(least), (_number(most) if most else None) if comma else _number(least)
        if max(numbers[0], numbers[1] or 0) > _MAX_REPEAT or (numbers[1] is not None and numbers[0] > numbers[1]):
            raise RegexpSyntaxError("invalid repeat count", self._pattern[self._at : end + 1])
        self._at = end + 1
        return numbers

    def _repeat(self, counts: tuple[int, int | None], start: int, last_repeat: int | None) -> None:
        is_lazy = self._pattern.startswith("?", self._at)
        self._at += is_lazy
        if last_repeat is not None:
            raise RegexpSyntaxError("invalid nested repetition operator", self._pattern[last_repeat : self._at])
        parts = self._stack[-1].parts
        if not parts:
            raise RegexpSyntaxError("missing argument to repetition operator", self._pattern[start : self._at])
        part, (least, most) = parts.pop(), counts
        copies = max(least, most or 0, 1)
        repeated = Repetition(part, least, most, copies * (part.size + 1) + 1, part.height + 1, is_lazy)
        if copies > 1 and not _repeats_at_most(repeated, _MAX_REPEAT):
            raise RegexpSyntaxError("invalid repeat count", self._pattern[start : self._at])
        _check_size(repeated, self._pattern)
        parts.append(repeated)

    # --- Groups

    def _open(self, flags: _Flags) -> None:
        if len(self._stack) > _MAX_HEIGHT:
            raise RegexpSyntaxError("expression nests too deeply", self._pattern)
        self._stack.append(_Group(self._flags))
        self._flags = flags

    def _close(self) -> None:
        if len(self._stack) == 1:
            raise RegexpSyntaxError("unexpected )", self._pattern)
        self._at += 1
        group = self._stack.pop()
        self._flags = group.outer_flags
        self._push(self._closed(group))

    def _next_alternative(self) -> None:
        group = self._stack[-1]
        if len(group.alternatives) >= _MAX_SIZE:
            raise RegexpSyntaxError("expression too large", self._pattern)
        group.alternatives.append(_sequence(group.parts, self._pattern))
        group.parts = []

    def _closed(self, group: _Group) -> Node:
        last = _sequence(group.parts, self._pattern)
        if not group.alternatives:
            return last
        parts = (*group.alternatives, last)
        found = Alternation(parts, sum(each.size + 2 for each in parts), 1 + max(each.height for each in parts))
        _check_size(found, self._pattern)
        return found

    def _open_with_flags(self) -> None:
        pattern, start = self._pattern, self._at
        for prefix in ("(?P<", "(?<"):
            if pattern.startswith(prefix, start) and len(pattern) > start + len(prefix):
                self._open_named(start + len(prefix))
                return
        flags, is_set, saw_flag = self._flags, True, False
        self._at += 2
        while self._at < len(pattern):
            character = pattern[self._at]
            self._at += 1
            if character in "imsU":
                flags, saw_flag = _with_flag(flags, character, is_set=is_set), True
            elif character == "-" and is_set:
                is_set, saw_flag = False, False
            elif character in ":)" and (is_set or saw_flag):
                if character == ":":
                    self._open(flags)
                self._flags = flags
                return
            else:
                break
        raise RegexpSyntaxError("invalid or unsupported Perl syntax", pattern[start : self._at])

    def _open_named(self, start: int) -> None:
        pattern, end = self._pattern, self._pattern.find(">", start)
        if end < 0:
            raise RegexpSyntaxError("invalid named capture", pattern[self._at :])
        name = pattern[start:end]
        if not (name.isascii() and name.replace("_", "a").isalnum()):
            raise RegexpSyntaxError("invalid named capture", pattern[self._at : end + 1])
        self._at = end + 1
        self._open(self._flags)

    # --- Escapes and classes

    def _parse_escape(self) -> None:
        pattern, at = self._pattern, self._at
        match pattern[at + 1 : at + 2]:
            case "A" | "b" | "B" | "z" as kind:
                self._at += 2
                self._push(Assertion(kind))
            case "C":
                raise RegexpSyntaxError("invalid escape sequence", pattern[at : at + 2])
            case "Q":
                end = pattern.find("\\E", at + 2)
                self._at = len(pattern) if end < 0 else end + 2
                for index in range(at + 2, len(pattern) if end < 0 else end):
                    self._push_literal(pattern[index])
            case _:
                ranges = self._named_class()
                if ranges is None:
                    self._push_literal(self._escaped())
                else:
                    self._push(Characters(ranges, self._flags.ignores_case))

    def _named_class(self) -> Ranges | None:
        r"""Parse a class such as `\d`, `\pL` or `\P{Greek}`; None if there is none."""
        pattern, at = self._pattern, self._at
        if not pattern.startswith("\\", at):
            return None
        name = pattern[at + 1 : at + 2]
        if name and name in "dswDSW":
            self._at += 2
            found = PERL_CLASSES[name.lower()]
            return found if name.islower() else complement(found)
        if name and name in "pP" and len(pattern) > at + 2:
            return self._unicode_class(is_negated=name == "P")
        return None

    def _unicode_class(self, *, is_negated: bool) -> Ranges:
        pattern, at = self._pattern, self._at
        end = at + 2
        if pattern[end] == "{":
            end = pattern.find("}", at)
            if end < 0:
                raise RegexpSyntaxError("invalid character class range", pattern[at:])
        name = pattern[at + 2 : end + 1].strip("{}")
        ranges = unicode_class(name.removeprefix("^"))
        if ranges is None:
            raise RegexpSyntaxError("invalid character class range", pattern[at : end + 1])
        self._at = end + 1
        return complement(ranges) if is_negated != name.startswith("^") else ranges

    def _escaped(self) -> str:
        """Parse the escape of one character."""
        pattern, start = self._pattern, self._at
        character = pattern[start + 1 : start + 2]
        self._at += 2
        if not character:
            raise RegexpSyntaxError("trailing backslash at end of expression", "")
        rest = pattern[self._at : self._at + 2]
        if character in _ESCAPES:
            return _ESCAPES[character]
        if character in _OCTAL and (character == "0" or rest[:1] in _OCTAL):
            digits = character + "".join(takewhile(_OCTAL.__contains__, rest))
            self._at += len(digits) - 1
            return chr(int(digits, 8))
        if character == "x":
            return self._hexadecimal(start)
        if character.isascii() and not character.isalnum():
            return character
        raise RegexpSyntaxError("invalid escape sequence", pattern[start : self._at])

    def _hexadecimal(self, start: int) -> str:
        pattern = self._pattern
        if pattern.startswith("{", self._at):
            self._at += 1
            first, code = self._at, 0
            while pattern[self._at : self._at + 1] in _HEXADECIMAL and code <= ANY[0][1]:
                code = 16 * code + int(pattern[self._at], 16)
                self._at += 1
            if code <= ANY[0][1]:
                self._at += self._at < len(pattern)
                if self._at - 1 > first and pattern[self._at - 1] == "}":
                    return chr(code)
        else:
            digits = pattern[self._at : self._at + 2]
            self._at += len(digits)
            if len(digits) == 2 and _HEXADECIMAL.issuperset(digits):
                return chr(int(digits, 16))
        raise RegexpSyntaxError("invalid escape sequence", pattern[start : self._at])

    def _class(self) -> Characters:
        pattern, start = self._pattern, self._at
        self._at += 1
        is_negated = pattern.startswith("^", self._at)
        self._at += is_negated
        first = self._at
        found: list[tuple[int, int]] = []
        # A closing bracket that comes first is a member of the class.
        while self._at == first or not pattern.startswith("]", self._at):
            ranges = self._posix_class()
            if ranges is None:
                ranges = self._named_class()
            found += (self._class_range(start),) if ranges is None else ranges
        self._at += 1
        return Characters(normalized(found), self._flags.ignores_case, is_negated)

    def _posix_class(self) -> Ranges | None:
        pattern, at = self._pattern, self._at
        end = pattern.find(":]", at + 2, at + _MAX_NAME) if pattern.startswith("[:", at) else -1
        if end < 0:
            return None
        name = pattern[at + 2 : end]
        ranges = POSIX_CLASSES.get(name.removeprefix("^"))
        if ranges is None:
            raise RegexpSyntaxError("invalid character class range", pattern[at : end + 2])
        self._at = end + 2
        return complement(ranges) if name.startswith("^") else ranges

    def _class_range(self, start: int) -> tuple[int, int]:
        pattern, at = self._pattern, self._at
        low = high = self._class_character(start)
        if pattern.startswith("-", self._at) and pattern[self._at + 1 : self._at + 2] not in ("", "]"):
            self._at += 1
            high = self._class_character(start)
            if high < low:
                raise RegexpSyntaxError("invalid character class range", pattern[at : self._at])
        return ord(low), ord(high)

    def _class_character(self, start: int) -> str:
        character = self._pattern[self._at : self._at + 1]
        if not character:
            raise RegexpSyntaxError("missing closing ]", self._pattern[start:])
        if character == "\\":
            return self._escaped()
        self._at += 1
        return character


def _with_flag(flags: _Flags, name: str, *, is_set: bool) -> _Flags:
    match name:
        case "i":
            return replace(flags, ignores_case=is_set)
        case "m":
            return replace(flags, multi_line=is_set)
        case "s":
            return replace(flags, dot_matches_newline=is_set)
        case _:
            return flags  # greediness does not change what is matched


def _sequence(parts: list[Node], pattern: str) -> Node:
    if len(parts) == 1:
        return parts[0]
    height = 1 + max((part.height for part in parts), default=0)
    found = Sequence(tuple(parts), sum(part.size for part in parts), height)
    _check_size(found, pattern)
    return found


def _check_size(node: Node, pattern: str) -> None:
    if node.size > _MAX_SIZE:
        raise RegexpSyntaxError("expression too large", pattern)
    if node.height > _MAX_HEIGHT:
        raise RegexpSyntaxError("expression nests too deeply", pattern)


def _repeats_at_most(node: Node, limit: int) -> bool:
    """Whether nested repetitions multiply to no more than the limit."""
    parts: tuple[Node, ...] = ()
    if isinstance(node, Repetition):
        times = node.least if node.most is None else node.most
        if times > limit:
            return False
        limit, parts = limit // max(times, 1), (node.part,)
    elif isinstance(node, Sequence | Alternation):
        parts = node.parts
    return all(_repeats_at_most(part, limit) for part in parts)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and (text == "0" or not text.startswith("0"))


def _number(text: str) -> int:
    return int(text) if len(text) <= 8 else _MAX_REPEAT + 1

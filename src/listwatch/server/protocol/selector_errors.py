"""The messages of kube-apiserver for selectors that cannot be parsed."""

from __future__ import annotations

import re

from listwatch.server.json_tree import quoted
from listwatch.server.rules.checks import label_value, qualified_name

__all__ = ["field_selector_error", "label_selector_error"]

_WHITESPACE = " \t\r\n"
_TOKEN = re.compile(r"[ \t\r\n]*(==|!=|[=!<>(),]|[^ \t\r\n=!<>(),]+)")
_SYMBOLS = frozenset(("==", "!=", *"=!<>(),"))
_OPERATORS = ("in", "notin", "=", "==", "!=", "gt", "lt")
_INFIX = ("in", "notin", "=", "==", "!=", ">", "<")
_INTEGER = re.compile(r"[-+]?[0-9]+", re.ASCII)
_MAX_DIGITS = 20
_FIELD_OPERATOR = re.compile(r"!=|==?")
_FIELD_TERMS = re.compile(r"((?:[^\\,]|\\.|\\\Z)*)(?:,|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)


class _ParseError(Exception):
    """What the parser found instead of what it expected."""


def label_selector_error(text: str) -> str:
    """Return why a label selector cannot be parsed; empty if it can."""
    try:
        _LabelParser(text).parse()
    except _ParseError as problem:
        return str(problem)
    return ""


class _LabelParser:
    """Reads the tokens of one label selector; raises _ParseError."""

    def __init__(self, text: str) -> None:
        # After the last token, each place in a run of whitespace would be the start of a search.
        self._tokens: list[str] = [*_TOKEN.findall(text.rstrip(_WHITESPACE)), ""]
        self._position = 0

    def parse(self) -> None:
        while token := self._next:
            if token in _SYMBOLS and token != "!":
                raise _ParseError(f"found '{token}', expected: !, identifier, or 'end of string'")
            try:
                self._read_requirement()
            except _ParseError as problem:
                raise _ParseError(f"unable to parse requirement: {problem}") from None
            token = self._take()
            if not token:
                return
            if token != ",":
                raise _ParseError(f"found '{token}', expected: ',' or 'end of string'")
            if not self._next_is_word() and self._next != "!":
                raise _ParseError(f"found '{self._next}', expected: identifier after ','")

    @property
    def _next(self) -> str:
        return self._tokens[self._position]

    def _next_is_word(self) -> bool:
        return bool(self._next) and self._next not in _SYMBOLS

    def _take(self) -> str:
        token = self._next
        if token:
            self._position += 1
        return token

    def _read_requirement(self) -> None:
        is_negated = self._next == "!"
        if is_negated:
            self._take()
        key = self._read_word()
        if problems := [*qualified_name(key)]:
            raise _ParseError(_invalid("<nil>", key, "; ".join(problems)))
        if is_negated or self._next in ("", ","):
            return
        operator = self._take()
        if operator not in _INFIX:
            raise _ParseError(f"found '{operator}', expected: {', '.join(_OPERATORS)}")
        if operator in ("in", "notin"):
            values = self._read_values()
        else:
            values = [""] if self._next in ("", ",") else [self._read_word()]
        _check_values(key, operator, values)

    def _read_word(self) -> str:
        is_word, token = self._next_is_word(), self._take()
        if not is_word:
            raise _ParseError(f"found '{token}', expected: identifier")
        return token

    def _read_values(self) -> list[str]:
        if (token := self._take()) != "(":
            raise _ParseError(f"found '{token}' expected: '('")
        if not self._next_is_word() and self._next not in (",", ")"):
            raise _ParseError(f"found '{self._next}', expected: ',', ')' or identifier")
        values = {""} if self._next == ")" else self._read_words()
        self._take()
        return sorted(values)

    def _read_words(self) -> set[str]:
        """Read up to the closing parenthesis; a comma without a word on one side stands for an empty value."""
        values: set[str] = set()
        while True:
            if self._next_is_word():
                values.add(self._take())
                if self._next not in (",", ")"):
                    raise _ParseError(f"found '{self._next}', expected: ',' or ')'")
            elif self._next == ",":
                self._take()
                if not values or self._next in (",", ")"):
                    values.add("")
            else:
                raise _ParseError(f"found '{self._next}', expected: ',', or identifier")
            if self._next == ")":
                return values


def _check_values(key: str, operator: str, values: list[str]) -> None:
    problems: list[str] = []
    if operator in ("<", ">") and not (_INTEGER.fullmatch(values[0]) and _fits(values[0])):
        problems.append(_invalid("values[0]", values[0], "for 'Gt', 'Lt' operators, the value must be an integer"))
    for index, value in enumerate(values):
        if found := [*label_value(value)]:
            problems.append(_invalid(f"values[{index}][{key}]", value, "; ".join(found)))
    if problems:
        raise _ParseError(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")


def _fits(digits: str) -> bool:
    return len(digits) <= _MAX_DIGITS and -(1 << 63) <= int(digits) < 1 << 63


def _invalid(path: str, value: str, detail: str) -> str:
    return f"{path}: Invalid value: {quoted(value)}: {detail}"


def field_selector_error(text: str) -> str:
    """Return why a field selector cannot be used."""
    for term in _FIELD_TERMS.findall(text):
        operator = _FIELD_OPERATOR.search(term)
        if not term:
            continue
        if not operator:
            return f"invalid selector: '{text}'; can't understand '{term}'"
        if problem := _escape_error(term[operator.end() :]):
            return f"invalid field selector: {problem}"
    # Of the fields, only their names can be wrong here.
    terms = filter(None, _FIELD_TERMS.findall(text))
    names = (_FIELD_OPERATOR.split(term, maxsplit=1)[0] for term in terms)
    return f"field label not supported: {next((name for name in names if not _is_name(name)), '')}"


def _is_name(name: str) -> bool:
    return bool(name) and not re.search(r"[\s\\!]", name)


def _escape_error(value: str) -> str:
    position = 0
    while position < len(value):
        if escape := _ESCAPE.match(value, position):
            if escape[1] not in ("\\", ",", "="):
                return f"invalid escape sequence: {escape[0]}"
            position = escape.end()
        elif value[position] in ",=":
            return f"unescaped character in value: {ord(value[position])}"
        else:
            position += 1
    return ""

"""A subset of JSONPath, as `kubectl` reads it.

.status.phase                                    a field; also without the first dot, or in braces
.metadata.annotations['example.com/owner']       a field with dots in its name; also example\\.com
.spec.containers[0].image   [-1]   [1:3]         elements
.status.conditions[?(@.type=="Ready")].status    elements that match; also != < <= > >=
.spec.containers[*].name   ..image               all elements; at any depth
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator

from listwatch.errors import MalformedError
from listwatch.json_value import JSON

__all__ = ["COMPARISONS", "JSONPath"]

Step = Callable[[JSON], Iterator[JSON]]

_TOKEN = re.compile(
    r"""
      (?P<deep>\.\.)
    | \.?\[\?\(\s*@(?P<inner>[^=!<>]*?)\s*
      (?:(?P<operator>==|!=|<=|>=|<|>)\s*(?P<operand>'[^']*'|"[^"]*"|[^)]*?))?\s*\)\]
    | \.?\[(?:'(?P<single>[^']*)'|"(?P<double>[^"]*)")\]
    | \.?\[(?P<start>-?\d*):(?P<stop>-?\d*)(?::(?P<step>-?[1-9]\d*))?\]
    | \.?\[(?P<index>-?\d+)\]
    | (?P<all>\.?\[\*\]|\.?\*)
    | \.?(?P<field>(?:\\.|[^.\[\]\\{}'"\s])+)
    """,
    re.VERBOSE,
)
COMPARISONS: dict[str, Callable[..., bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_LITERALS = {"true": True, "false": False, "null": None}


class JSONPath:
    """A parsed path, which finds any number of values in an object."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._steps = list(_steps(_strip_braces(text), text))

    def find(self, tree: JSON) -> list[JSON]:
        """Return the values that the path selects."""
        found = [tree]
        for step in self._steps:
            found = [value for each in found for value in step(each)]
        return found

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"JSONPath({self._text!r})"


def _strip_braces(text: str) -> str:
    inner = text.strip()
    if inner.startswith("{") and inner.endswith("}"):
        inner = inner[1:-1].strip()
    return inner.removeprefix("$")


def _steps(path: str, text: str) -> Iterator[Step]:
    position = 0
    while position < len(path) and path != ".":
        token = _TOKEN.match(path, position)
        if token is None:
            raise MalformedError(f"cannot read the JSONPath {text!r} at {path[position : position + 20]!r}", text=text)
        yield _step(token, text)
        position = token.end()


def _step(token: re.Match[str], text: str) -> Step:
    parts = token.groupdict()
    name = next((parts[kind] for kind in ("single", "double") if parts[kind] is not None), None)
    match token.lastgroup:
        case "deep":
            return _descendants
        case "all":
            return _children
        case "index":
            return _element(int(parts["index"]))
        case "field":
            return _field(re.sub(r"\\(.)", r"\1", parts["field"]))
        case "single" | "double":
            return _field(name or "")
        case "start" | "stop" | "step":
            return _slice(*(int(parts[each]) if parts[each] else None for each in ("start", "stop", "step")))
        case _:
            return _filter(JSONPath(parts["inner"]), parts["operator"], _literal(parts["operand"] or "", text))


def _field(name: str) -> Step:
    return lambda tree: iter([tree[name]] if isinstance(tree, dict) and name in tree else [])


def _element(index: int) -> Step:
    return lambda tree: iter([tree[index]] if isinstance(tree, list) and -len(tree) <= index < len(tree) else [])


def _slice(start: int | None, stop: int | None, step: int | None) -> Step:
    return lambda tree: iter(tree[start:stop:step] if isinstance(tree, list) else [])


def _children(tree: JSON) -> Iterator[JSON]:
    match tree:
        case dict():
            yield from tree.values()
        case list():
            yield from tree


def _descendants(tree: JSON) -> Iterator[JSON]:
    yield tree
    for child in _children(tree):
        yield from _descendants(child)


def _filter(inner: JSONPath, sign: str | None, operand: JSON) -> Step:
    def accepts(tree: JSON) -> bool:
        values = inner.find(tree)
        if sign is None:
            return bool(values)
        return any(_compares(value, sign, operand) for value in values)

    return lambda tree: filter(accepts, _children(tree))


def _compares(value: JSON, sign: str, operand: JSON) -> bool:
    try:
        return bool(COMPARISONS[sign](value, operand))
    except TypeError:
        return False  # strings and numbers have no order


def _literal(word: str, text: str) -> JSON:
    if word[:1] in ("'", '"'):
        return word[1:-1]
    if word in _LITERALS:
        return _LITERALS[word]
    try:
        return float(word) if word else None
    except ValueError:
        raise MalformedError(
            f"cannot read the JSONPath {text!r}: {word!r} is not a value; quote strings", text=text
        ) from None

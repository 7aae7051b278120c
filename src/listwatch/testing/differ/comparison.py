"""Where two answers differ, once what must differ (versions, uids, times, names that were made up) is taken out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from listwatch.testing.differ.playing import Answer

__all__ = ["Difference", "Normal", "differences"]

Tree = Any

_UID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_ADDRESS = re.compile(r"^10(?:\.\d{1,3}){3}$|^fd[0-9a-f:]+$")
_MADE_UP = re.compile(r"(generated-)[bcdfghjklmnpqrstvwxz2456789]{5}\b")
_IN_RECORD = re.compile(r"in record \(\d+\)")
_IMMUTABLE = re.compile(r"Invalid value: \{(?:(?!Invalid value: ).)*\}: field is immutable")
_SHOWN_JSON = re.compile(r'Invalid value: "(\{.*\})": ')
_NUMBERED = frozenset({"nodePort", "healthCheckNodePort"})
_ABSENT = "absent"


@dataclass(frozen=True)
class Difference:
    """One place where two answers differ: what kind of thing, where in it, and what each server said."""

    what: str
    """status, reason, causes, details, message, header, body, or events."""
    where: str
    left: Tree
    right: Tree

    @property
    def place(self) -> str:
        """Where it is, without the numbers of list items: differences of one place are of one kind."""
        return re.sub(r"\[\d+\]", "[]", self.where)


class Normal:
    """Names the uids and versions of one server by their order of appearance, which both servers share."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}

    def tree(self, tree: Tree, *, key: str = "") -> Tree:
        match tree:
            case dict():
                is_list = "items" in tree and isinstance(tree.get("metadata"), dict)
                return {name: self._member(name, value, of_a_list=is_list) for name, value in tree.items()}
            case list():
                order = _ORDERS.get(key)
                return [self.tree(item, key=key) for item in (sorted(tree, key=order) if order else tree)]
            case str():
                return self._text(tree)
            case int() if key in _NUMBERED and tree:
                return "a port"
        return tree

    def _member(self, name: str, value: Tree, *, of_a_list: bool) -> Tree:
        if name == "metadata" and of_a_list and isinstance(value, dict):
            # The version of a list is that of the whole server, and other things happen there.
            return {key: key if key in ("resourceVersion", "continue") else found for key, found in value.items()}
        if name == "resourceVersion" and isinstance(value, str) and value.isdigit():
            return self._named("version", value)
        return self.tree(value, key=name)

    def _text(self, text: str) -> str:
        text = _SHOWN_JSON.sub(self._shown, text)
        text = _UID.sub(lambda found: self._named("uid", found[0]), text)
        text = _MADE_UP.sub(r"\1…", _TIME.sub("a time", text))
        # The real server shows what may not change as its own code has it, with every field that there could be.
        text = _IMMUTABLE.sub("Invalid value: …: field is immutable", text)
        text = _IN_RECORD.sub("in record (a version)", text)
        return "an address" if _ADDRESS.match(text) else text

    def _shown(self, found: re.Match[str]) -> str:
        """An object that is shown in a message, whatever the order of its fields."""
        try:
            tree = json.loads(json.loads(f'"{found[1]}"'))
        except ValueError:
            return found[0]
        return f'Invalid value: "{json.dumps(self.tree(tree), sort_keys=True)}": '

    def _named(self, kind: str, value: str) -> str:
        return self._names.setdefault((kind, value), f"{kind} {sum(of == kind for of, _ in self._names) + 1}")


def _rank(item: Tree) -> tuple[str, int]:
    """Places those whose names are made up, and thereby their order, in the order in which they were written."""
    metadata = item.get("metadata", {}) if isinstance(item, dict) else {}
    version = metadata.get("resourceVersion", "")
    return _MADE_UP.sub(r"\1", metadata.get("name", "")), int(version) if version.isdigit() else 0


def _manager(entry: Tree) -> str:
    """Managers are ordered by time, in whole seconds: two writes may fall into one on the one server alone."""
    names = ("manager", "operation", "apiVersion", "subresource")
    return str([entry.get(name, "") for name in names]) if isinstance(entry, dict) else str(entry)


_ORDERS: dict[str, Callable[[Tree], Any]] = {"items": _rank, "managedFields": _manager}


def differences(left: Answer, right: Answer, normal: tuple[Normal, Normal], *, watched: bool) -> Iterator[Difference]:
    """All of one answer; a status that differs is told alone, for then the rest does too."""
    if left.status != right.status:
        yield Difference("status", "", _brief(left), _brief(right))
        return
    yield from _headers(left, right)
    if watched and left.status == 200:
        trees: tuple[Tree, Tree] = (normal[0].tree(_told(left)), normal[1].tree(_told(right)))
        yield from _walk("events", "", *trees)
    elif left.tree is None or right.tree is None:
        if left.body != right.body:
            yield Difference("body", "", left.body.decode(errors="replace"), right.body.decode(errors="replace"))
    else:
        yield from _trees(normal[0].tree(left.tree), normal[1].tree(right.tree))


def _told(answer: Answer) -> list[Tree]:
    """Bookmarks come when a server thinks fit, and hold what it has seen by then."""
    return [event for event in answer.events if event["type"] != "BOOKMARK"]


def _brief(answer: Answer) -> str:
    tree = answer.tree
    said = tree.get("message", "") if isinstance(tree, dict) else ""
    return f"{answer.status} {said}".strip()


def _headers(left: Answer, right: Answer) -> Iterator[Difference]:
    for name in ("content-type", "warning", "retry-after", "allow"):
        if left.headers.get(name) != right.headers.get(name):
            yield Difference("header", name, left.headers.get(name, _ABSENT), right.headers.get(name, _ABSENT))


def _trees(left: Tree, right: Tree) -> Iterator[Difference]:
    if not (isinstance(left, dict) and isinstance(right, dict) and left.get("kind") == right.get("kind") == "Status"):
        yield from _walk("body", "", left, right)
        return
    for name in ("reason", "message"):
        yield from _walk(name, "", left.get(name, _ABSENT), right.get(name, _ABSENT))
    details = [dict(status.get("details") or {}) for status in (left, right)]
    # The real server looks at some things twice, and says twice what is wrong with them.
    yield from _walk("causes", "", *(sorted(set(map(_cause, found.pop("causes", [])))) for found in details))
    yield from _walk("details", "", *details)


def _cause(cause: Tree) -> str:
    return f"{cause.get('field', '')} {cause.get('reason', '')}: {cause.get('message', '')}"


def _walk(what: str, where: str, left: Tree, right: Tree) -> Iterator[Difference]:
    match left, right:
        case dict(), dict():
            for name in sorted(left.keys() | right.keys()):
                inner = f"{where}.{name}" if where else name
                yield from _walk(what, inner, left.get(name, _ABSENT), right.get(name, _ABSENT))
        case list(), list():
            for place, (one, other) in enumerate(zip_longest(left, right, fillvalue=_ABSENT)):
                yield from _walk(what, f"{where}[{place}]", one, other)
        case _ if left != right or type(left) is not type(right):
            yield Difference(what, where, left, right)

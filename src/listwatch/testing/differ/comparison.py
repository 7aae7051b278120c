"""Compares two responses, after normalizing what must differ: versions, uids, times, generated names."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from listwatch.json_value import JSON, JSONObject
from listwatch.testing.differ.runner import Response

__all__ = ["Difference", "Normalizer", "differences"]

_UID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_AGE = re.compile(r"\d+s")
_ADDRESS = re.compile(r"^10(?:\.\d{1,3}){3}$|^fd[0-9a-f:]+$")
_GENERATED = re.compile(r"(generated-)[bcdfghjklmnpqrstvwxz2456789]{5}\b")
_IN_RECORD = re.compile(r"in record \(\d+\)")
_IMMUTABLE = re.compile(r"Invalid value: \{(?:(?!Invalid value: ).)*\}: field is immutable")
_SHOWN_JSON = re.compile(r'Invalid value: "(\{.*\})": ')
_UNORDERED = re.compile(
    r'((?:LimitRange|ResourceQuota) "[^"]*" is invalid: |pods .* is forbidden: )\[(.*)\]', re.DOTALL
)
_UNTYPED = re.compile(r"(failed to create typed patch object \(.*?\): errors:\n)(.*)", re.DOTALL)
_PART = re.compile(r", (?=spec\.|minimum |maximum |\S+ max limit )")
_QUANTITIES = re.compile(
    r"(?:spec\.\S*\.resources\.(?:limits|requests)\S*: (?:(?!, spec\.).)*(?:, |(?=\])))+", re.DOTALL
)
_ALLOCATED_PORTS = frozenset({"nodePort", "healthCheckNodePort"})
_ABSENT = "absent"


@dataclass(frozen=True)
class Difference:
    """A difference between two responses: in which aspect, at which path, and the value of each server."""

    aspect: str
    """status, reason, causes, details, message, header, body, or events."""
    path: str
    left: JSON
    right: JSON

    @property
    def pattern(self) -> str:
        """The path without the indexes of list items; differences with the same pattern are of one kind."""
        return re.sub(r"\[\d+\]", "[]", self.path)


class Normalizer:
    """Replaces the uids and versions of one server by their order of appearance, which both servers share."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}

    def normalize(self, tree: JSON, *, key: str = "") -> JSON:
        match tree:
            case dict():
                is_list = ("items" in tree or "rows" in tree) and isinstance(tree.get("metadata"), dict)
                return {name: self._normalize_member(name, value, is_in_list=is_list) for name, value in tree.items()}
            case list():
                order = _ORDERS.get(key)
                return [self.normalize(item, key=key) for item in (sorted(tree, key=order) if order else tree)]
            case str() if key == "cells" and _AGE.fullmatch(tree):
                return "an age"
            case str():
                return self._normalize_text(tree)
            case int() if key in _ALLOCATED_PORTS and tree:
                return "a port"
        return tree

    def _normalize_member(self, name: str, value: JSON, *, is_in_list: bool) -> JSON:
        if name == "metadata" and is_in_list and isinstance(value, dict):
            # The version of a list is that of the whole server, which counts unrelated writes.
            return {key: key if key in ("resourceVersion", "continue") else inner for key, inner in value.items()}
        if name == "resourceVersion" and isinstance(value, str) and value.isdigit():
            return self._label("version", value)
        return self.normalize(value, key=name)

    def _normalize_text(self, text: str) -> str:
        text = _SHOWN_JSON.sub(self._normalize_shown, text)
        text = _UID.sub(lambda match: self._label("uid", match[0]), text)
        text = _GENERATED.sub(r"\1…", _TIME.sub("a time", text))
        # The real server prints an immutable value as its Go struct, with all fields.
        text = _IMMUTABLE.sub("Invalid value: …: field is immutable", text)
        text = _IN_RECORD.sub("in record (a version)", text)
        return "an address" if _ADDRESS.match(text) else text

    def _normalize_shown(self, match: re.Match[str]) -> str:
        """Sort the fields of an object that is printed in a message."""
        try:
            tree = json.loads(json.loads(f'"{match[1]}"'))
        except ValueError:
            return match[0]
        return f'Invalid value: "{json.dumps(self.normalize(tree), sort_keys=True)}": '

    def _label(self, kind: str, value: str) -> str:
        return self._names.setdefault((kind, value), f"{kind} {sum(of == kind for of, _ in self._names) + 1}")


def _by_name_and_version(item: JSON) -> tuple[str, int]:
    """Order objects with generated names, which are random, by their versions."""
    metadata = item.get("metadata") if isinstance(item, dict) else None
    if not isinstance(metadata, dict):
        return "", 0
    version = str(metadata.get("resourceVersion", ""))
    return _GENERATED.sub(r"\1", str(metadata.get("name", ""))), int(version) if version.isdigit() else 0


def _by_manager(entry: JSON) -> str:
    """Order managers by name: servers order them by time in whole seconds, and two writes may share one."""
    names = ("manager", "operation", "apiVersion", "subresource")
    return str([entry.get(name, "") for name in names]) if isinstance(entry, dict) else str(entry)


_ORDERS: dict[str, Callable[[JSON], str | tuple[str, int]]] = {
    "items": _by_name_and_version,
    "managedFields": _by_manager,
}


def differences(
    left: Response, right: Response, normalizers: tuple[Normalizer, Normalizer], *, watched: bool
) -> Iterator[Difference]:
    """Yield all differences; only the status if that differs, because the rest then differs, too."""
    if left.status != right.status:
        yield Difference("status", "", _summary(left), _summary(right))
        return
    yield from _headers(left, right)
    if watched and left.status == 200:
        yield from _walk(
            "events", "", normalizers[0].normalize(_events(left)), normalizers[1].normalize(_events(right))
        )
    elif left.tree is None or right.tree is None:
        if left.body != right.body:
            yield Difference("body", "", left.body.decode(errors="replace"), right.body.decode(errors="replace"))
    else:
        yield from _trees(normalizers[0].normalize(left.tree), normalizers[1].normalize(right.tree))


def _events(response: Response) -> list[JSON]:
    """Return the events without bookmarks, whose times and versions are up to the server."""
    return [event for event in response.events if event["type"] != "BOOKMARK"]


def _summary(response: Response) -> str:
    tree = response.tree
    message = tree.get("message", "") if isinstance(tree, dict) else ""
    return f"{response.status} {message}".strip()


def _headers(left: Response, right: Response) -> Iterator[Difference]:
    for name in ("content-type", "warning", "retry-after", "allow"):
        if left.headers.get(name) != right.headers.get(name):
            yield Difference("header", name, left.headers.get(name, _ABSENT), right.headers.get(name, _ABSENT))


def _trees(left: JSON, right: JSON) -> Iterator[Difference]:
    if not (isinstance(left, dict) and isinstance(right, dict) and left.get("kind") == right.get("kind") == "Status"):
        yield from _walk("body", "", left, right)
        return
    yield from _walk("reason", "", left.get("reason", _ABSENT), right.get("reason", _ABSENT))
    yield from _walk("message", "", _message(left), _message(right))
    # Causes as a set: the real server validates some fields twice, and reports their causes twice.
    yield from _walk("causes", "", _causes(left), _causes(right))
    yield from _walk("details", "", _details(left), _details(right))


def _message(status: JSONObject) -> JSON:
    """Return the message; the real server validates maps in a random order, so the parts of some are sorted."""
    message = status.get("message", _ABSENT)
    if not isinstance(message, str):
        return message
    if found := _UNTYPED.fullmatch(message):
        return found[1] + "\n".join(sorted(found[2].splitlines()))
    if found := _UNORDERED.fullmatch(message):
        return f"{found[1]}[{', '.join(sorted(_PART.split(found[2])))}]"
    return _QUANTITIES.sub(_sorted_parts, message)


def _sorted_parts(match: re.Match[str]) -> str:
    parts = match[0].removesuffix(", ")
    return ", ".join(sorted(_PART.split(parts))) + match[0][len(parts) :]


def _causes(status: JSONObject) -> list[JSON]:
    details = status.get("details")
    causes = details.get("causes") if isinstance(details, dict) else None
    shown = {
        f"{cause.get('field', '')} {cause.get('reason', '')}: {cause.get('message', '')}"
        for cause in (causes if isinstance(causes, list) else ())
        if isinstance(cause, dict)
    }
    return [*sorted(shown)]


def _details(status: JSONObject) -> JSONObject:
    details = status.get("details")
    return {name: value for name, value in details.items() if name != "causes"} if isinstance(details, dict) else {}


def _walk(aspect: str, path: str, left: JSON, right: JSON) -> Iterator[Difference]:
    match left, right:
        case dict(), dict():
            for name in sorted(left.keys() | right.keys()):
                inner = f"{path}.{name}" if path else name
                yield from _walk(aspect, inner, left.get(name, _ABSENT), right.get(name, _ABSENT))
        case list(), list():
            for index, (one, other) in enumerate(zip_longest(left, right, fillvalue=_ABSENT)):
                yield from _walk(aspect, f"{path}[{index}]", one, other)
        case _ if left != right or type(left) is not type(right):
            yield Difference(aspect, path, left, right)

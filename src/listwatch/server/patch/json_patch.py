"""JSON patches (RFC 6902), applied as the API server applies them.

The API server deviates from the RFC: `replace` also adds a missing member, `test` treats a missing member as null,
`copy` of a missing member writes null, an index may count from the end, and `add` cannot replace the whole document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from listwatch.errors import InvalidError
from listwatch.json_value import JSON, JSONObject
from listwatch.server.json_tree import copied, same

__all__ = ["MAX_OPERATIONS", "apply_json_patch"]

MAX_OPERATIONS = 10_000
_MAX_COPIED_BYTES = 3 * 1024 * 1024
_INDEX = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)

Operation = JSONObject
Container = JSONObject | list[JSON]


def apply_json_patch(operations: Iterable[Operation], tree: JSON) -> JSON:
    """Return the tree after all operations, which do not change it in place; raises InvalidError."""
    document = _Document(copied(tree))
    for operation in operations:
        document.change(operation)
    return document.root


class _Document:
    """A tree that operations change in place."""

    def __init__(self, root: JSON) -> None:
        self.root = root
        self._bytes_copied = 0

    def change(self, operation: Operation) -> None:
        kind = operation.get("op") or "unknown"
        match kind:
            case "add":
                container, key = self._find(_pointer(operation, "path"))
                _add(container, key, copied(operation.get("value")))
            case "remove":
                container, key = self._find(_pointer(operation, "path"))
                _remove(container, key)
            case "replace":
                self._replace(_pointer(operation, "path"), copied(operation.get("value")))
            case "move":
                self._move(_pointer(operation, "from"), _pointer(operation, "path"))
            case "copy":
                self._copy(_pointer(operation, "from"), _pointer(operation, "path"))
            case "test":
                self._test(_pointer(operation, "path"), operation.get("value"))
            case _:
                raise _rejected(f"Unexpected kind: {kind}")

    def _replace(self, path: str, value: JSON) -> None:
        if path:
            container, key = self._find(path)
            if isinstance(container, dict):
                container[key] = value
            else:
                container[_index(container, key)] = value
        elif isinstance(value, dict | list):
            self.root = value
        else:
            raise _rejected("replace operation value must be object or array")

    def _move(self, origin: str, path: str) -> None:
        container, key = self._find(origin)
        value = _get(container, key)
        _remove(container, key)
        container, key = self._find(path)
        _add(container, key, value)

    def _copy(self, origin: str, path: str) -> None:
        value = _get(*self._find(origin))
        container, key = self._find(path)
        encoded = msgspec.json.encode(value)
        self._bytes_copied += len(encoded)
        if self._bytes_copied > _MAX_COPIED_BYTES:
            raise _rejected(
                "Unable to complete the copy, the accumulated size increase of copy is "
                f"{self._bytes_copied}, exceeding the limit {_MAX_COPIED_BYTES}"
            )
        _add(container, key, msgspec.json.decode(encoded))  # faster than `copied`

    def _test(self, path: str, expected: JSON) -> None:
        found = _get(*self._find(path)) if path else self.root
        if not same(found, expected):
            raise _rejected(f"testing value {path} failed: test failed")

    def _find(self, path: str) -> tuple[Container, str]:
        """Return the container that a pointer leads to, and the last token."""
        node = self.root
        tokens = [token.replace("~1", "/").replace("~0", "~") for token in path.split("/")[1:]]
        for token in tokens[:-1]:
            node = _get(node, token) if isinstance(node, dict | list) else None
        if not tokens or not isinstance(node, dict | list):
            raise _rejected(f"the document is missing path: {path}")
        return node, tokens[-1]


def _pointer(operation: Operation, name: str) -> str:
    pointer = operation.get(name)
    if not isinstance(pointer, str):
        raise _rejected(f"{operation.get('op')} operation has no {name}")
    return pointer


def _get(container: Container, key: str) -> JSON:
    return container.get(key) if isinstance(container, dict) else container[_index(container, key)]


def _add(container: Container, key: str, value: JSON) -> None:
    if isinstance(container, dict):
        container[key] = value
    elif key == "-":
        container.append(value)
    else:
        container.insert(_index(container, key, extra=1), value)


def _remove(container: Container, key: str) -> None:
    if isinstance(container, list):
        del container[_index(container, key)]
    elif key in container:
        del container[key]
    else:
        raise _rejected(f"Unable to remove nonexistent key: {key}")


def _index(container: list[JSON], key: str, *, extra: int = 0) -> int:
    """Return a position in the list; `extra` is 1 for an insertion, which may also be at the end."""
    if not _INDEX.fullmatch(key):
        raise _rejected(f"value was not a proper array index: '{key}'")
    index, size = int(key), len(container) + extra
    if not -size <= index < size:
        raise _rejected(f"Unable to access invalid index: {index}")
    return index % size


def _rejected(why: str) -> InvalidError:
    error = InvalidError("the server rejected our request due to an error in our request")
    # As in the real server, the response has no reason. It is a note on the exception, which the server logs.
    error.add_note(why)
    return error

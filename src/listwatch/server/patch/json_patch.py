"""JSON patches (RFC 6902), applied as the API server applies them.

The API server deviates from the RFC: `replace` also adds a missing member, `test` treats a missing member as null,
`copy` of a missing member writes null, an index may count from the end, and `add` cannot replace the whole document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import msgspec

from listwatch.json_value import JSON, JSONObject
from listwatch.server.json_tree import copied, quoted, same

__all__ = ["MAX_OPERATIONS", "JSONPatchError", "apply_json_patch"]

MAX_OPERATIONS = 10_000
_MAX_COPIED_BYTES = 3 * 1024 * 1024
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_MAX_DIGITS = 18
_MISSING = "missing value"
_INVALID_INDEX = "invalid index referenced"

Operation = JSONObject
Container = JSONObject | list[JSON]


class JSONPatchError(Exception):
    """A patch cannot be applied; the message is that of the real server's library."""

    def __init__(self, message: str, *, is_failed_test: bool = False) -> None:
        super().__init__(message)
        self.is_failed_test = is_failed_test


def apply_json_patch(operations: Iterable[Operation], tree: JSON) -> JSON:
    """Return the tree after all operations, which do not change it in place; raises JSONPatchError."""
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
                path = _pointer(operation, "path")
                container, key = self._find(path, f'add operation does not apply: doc is missing path: "{path}"')
                with _during(f"error in add for path: '{path}'"):
                    _add(container, key, copied(operation.get("value")))
            case "remove":
                path = _pointer(operation, "path")
                container, key = self._find(path, f'remove operation does not apply: doc is missing path: "{path}"')
                with _during(f"error in remove for path: '{path}'"):
                    _remove(container, key)
            case "replace":
                self._replace(_pointer(operation, "path"), copied(operation.get("value")))
            case "move":
                self._move(operation)
            case "copy":
                self._copy(operation)
            case "test":
                self._test(_pointer(operation, "path"), operation.get("value"))
            case _:
                raise JSONPatchError(f"Unexpected kind: {kind}")

    def _replace(self, path: str, value: JSON) -> None:
        if not path:
            if not isinstance(value, dict | list):
                raise JSONPatchError("replace operation value must be object or array: %!w(<nil>)")
            self.root = value
            return
        container, key = self._find(path, f"replace operation does not apply: doc is missing path: {path}")
        if isinstance(container, dict):
            container[key] = value
            return
        try:
            container[_index(container, key)] = value
        except JSONPatchError:
            why = f"replace operation does not apply: doc is missing key: {path}: {_MISSING}"
            raise JSONPatchError(why) from None

    def _move(self, operation: Operation) -> None:
        origin = _pointer(operation, "from")
        container, key = self._find(origin, f"move operation does not apply: doc is missing from path: {origin}")
        with _during(f"error in move for path: '{key}'"):
            value = _get(container, key)
            _remove(container, key)
        path = _pointer(operation, "path")
        container, key = self._find(path, f"move operation does not apply: doc is missing destination path: {path}")
        with _during(f"error in move for path: '{path}'"):
            _add(container, key, value)

    def _copy(self, operation: Operation) -> None:
        origin = _pointer(operation, "from")
        container, key = self._find(origin, f"copy operation does not apply: doc is missing from path: {origin}")
        with _during(f"error in copy for from: '{origin}'"):
            value = _get(container, key)
        path = _pointer(operation, "path")
        container, key = self._find(path, f"copy operation does not apply: doc is missing destination path: {path}")
        encoded = msgspec.json.encode(value)
        self._bytes_copied += len(encoded)
        if self._bytes_copied > _MAX_COPIED_BYTES:
            raise JSONPatchError(
                "Unable to complete the copy, the accumulated size increase of copy is "
                f"{self._bytes_copied}, exceeding the limit {_MAX_COPIED_BYTES}"
            )
        with _during("error while adding value during copy"):
            _add(container, key, msgspec.json.decode(encoded))  # faster than `copied`

    def _test(self, path: str, expected: JSON) -> None:
        found = self.root
        if path:
            container, key = self._find(path, f"test operation does not apply: is missing path: {path}")
            with _during(f"error in test for path: '{path}'"):
                found = _get(container, key)
        if not same(found, expected):
            raise JSONPatchError(f"testing value {path} failed: test failed", is_failed_test=True)

    def _find(self, path: str, missing: str) -> tuple[Container, str]:
        """Return the container that a pointer leads to, and the last token; raises the error `missing`."""
        node = self.root
        tokens = [token.replace("~1", "/").replace("~0", "~") for token in path.split("/")[1:]]
        try:
            for token in tokens[:-1]:
                node = _get(node, token) if isinstance(node, dict | list) else None
        except JSONPatchError:
            node = None
        if not tokens or not isinstance(node, dict | list):
            raise JSONPatchError(f"{missing}: {_MISSING}")
        return node, tokens[-1]


@contextmanager
def _during(what: str) -> Iterator[None]:
    """Add what was being done to the message of an error."""
    try:
        yield
    except JSONPatchError as error:
        raise JSONPatchError(f"{what}: {error}") from None


def _pointer(operation: Operation, name: str) -> str:
    pointer = operation.get(name)
    if isinstance(pointer, str):
        return pointer
    kind = operation.get("op")
    # The library reports what is missing only for some operations.
    if kind in ("add", "remove") or (kind == "copy" and name == "path"):
        raise JSONPatchError(f"{kind} operation failed to decode {name}: {_MISSING}")
    what = "operation, missing from field" if name == "from" else "operation missing path field"
    raise JSONPatchError(f"{kind} operation failed to decode {name}: {what}: {_MISSING}")


def _get(container: Container, key: str) -> JSON:
    return container.get(key) if isinstance(container, dict) else container[_index(container, key)]


def _add(container: Container, key: str, value: JSON) -> None:
    if isinstance(container, dict):
        container[key] = value
    elif key == "-":
        container.append(value)
    else:
        with _during(f"value was not a proper array index: '{key}'"):
            number = _number(key)
        container.insert(_position(number, len(container) + 1), value)


def _remove(container: Container, key: str) -> None:
    if isinstance(container, list):
        del container[_index(container, key)]
    elif key in container:
        del container[key]
    else:
        raise JSONPatchError(f"Unable to remove nonexistent key: {key}: {_MISSING}")


def _index(container: list[JSON], key: str) -> int:
    return _position(_number(key), len(container))


def _position(number: int, size: int) -> int:
    """Return the position that a number, which may count from the end, has among `size` ones."""
    if not -size <= number < size:
        raise JSONPatchError(f"Unable to access invalid index: {number}: {_INVALID_INDEX}")
    return number % size


def _number(key: str) -> int:
    if not _INTEGER.fullmatch(key):
        raise JSONPatchError(f"strconv.Atoi: parsing {quoted(key)}: invalid syntax")
    if len(key) > _MAX_DIGITS:
        raise JSONPatchError(f"strconv.Atoi: parsing {quoted(key)}: value out of range")
    return int(key)

"""Redacts the objects of Secrets before they are recorded: their keys remain, and their values are replaced."""

from __future__ import annotations

import msgspec

from listwatch.errors import DecodeError, ResponseTooLargeError
from listwatch.json_value import JSON, JSONObject
from listwatch.objects.json.reading import DECODE_FAILURES
from listwatch.objects.json.wire import LineSplitter

__all__ = ["SecretRedactor"]

_REDACTED = "UkVEQUNURUQ="  # REDACTED in base64
_KEPT = ("kind", "apiVersion", "metadata", "type", "immutable")
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class SecretRedactor:
    """Redacts a response that contains Secrets, piece by piece: JSON without their values.

    Content that is not JSON is left out. Callers do not pass protobuf, in which a value may contain lines of JSON.
    """

    def __init__(self, *, is_stream: bool) -> None:
        self._lines = LineSplitter() if is_stream else None
        self._pieces: list[bytes] = []
        self._is_over = False

    def feed(self, piece: bytes) -> bytes:
        """Return the redacted events that this piece completes; nothing for a response that is not a stream."""
        if self._lines is None:
            self._pieces.append(piece)
            return b""
        if self._is_over:
            return b""
        try:
            return b"".join(map(_redacted_line, self._lines.feed(piece)))
        except ResponseTooLargeError:
            self._is_over, self._lines = True, LineSplitter()  # the client closes such a stream
            return b""

    def finish(self) -> bytes:
        """Return the redacted response, if it is not a stream."""
        whole = b"".join(self._pieces)
        self._pieces.clear()
        return _redacted(whole) if whole else b""


def _redacted_line(line: bytes) -> bytes:
    redacted = _redacted(line)
    return redacted + b"\n" if redacted else b""


def _redacted(document: bytes) -> bytes:
    try:
        tree: JSON = msgspec.json.decode(document)
        return msgspec.json.encode(_without_values(tree))
    except (*DECODE_FAILURES, DecodeError):
        return b""


def _without_values(tree: JSON) -> JSON:
    """Redact an object, a list or a watch event."""
    if not isinstance(tree, dict):
        return None
    if isinstance(tree.get("object"), dict) and "type" in tree and "metadata" not in tree:
        return {"type": tree["type"], "object": _without_values(tree["object"])}
    items = tree.get("items")
    if isinstance(items, list):
        kept: JSONObject = {name: value for name, value in tree.items() if name in _KEPT}
        return {**kept, "items": [_without_values(each) for each in items]}
    if tree.get("kind") == "Status":
        return tree
    return _without_secret_fields(tree)


def _without_secret_fields(tree: JSONObject) -> JSONObject:
    redacted: JSONObject = {name: value for name, value in tree.items() if name in _KEPT}
    for field in ("data", "stringData"):
        values = tree.get(field)
        if isinstance(values, dict):
            redacted[field] = dict.fromkeys(values, _REDACTED)
    metadata = tree.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if isinstance(metadata, dict) and isinstance(annotations, dict):
        kept: JSON = {name: value for name, value in annotations.items() if name != _LAST_APPLIED}
        redacted["metadata"] = {**metadata, "annotations": kept}
    return redacted

"""Server-side apply by kubectl to objects that `kubectl apply` has written before, on the client side.

Client-side apply records the applied configuration in an annotation. Server-side apply by the manager `kubectl` takes
over, without a conflict, the fields that the annotation has with their present values, and keeps the annotation up to
date, so that client-side apply remains possible. Other managers have to force conflicts.
"""

from __future__ import annotations

import json

import msgspec

from listwatch.json_value import JSON, JSONObject
from listwatch.server.apply.field_sets import (
    ElementKeyError,
    FieldSet,
    MergeShape,
    applied_fields,
    compare,
    difference,
)
from listwatch.server.apply.merging import validate_applied
from listwatch.server.json_tree import ensure_object, object_at, text_at

__all__ = ["fields_to_take_over", "record_last_applied"]

ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
_KUBECTL = "kubectl"
_MAX_ANNOTATIONS = 256 << 10
"""The size of all annotations together, in bytes."""

# The characters that Go's encoder escapes beyond what JSON requires.
_ESCAPED_IN_GO = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def fields_to_take_over(live: JSONObject, manager: str, api_version: str, shape: MergeShape) -> FieldSet:
    """Return the fields that this manager may change although others manage them: none, except for kubectl."""
    if manager != _KUBECTL or not (text := _annotation(live)):
        return {}
    try:
        applied: JSON = msgspec.json.decode(text)
        if not isinstance(applied, dict) or applied.get("apiVersion") != api_version:
            return {}
        if validate_applied(applied, shape):
            return {}
        changed, removed = compare(applied, live, shape)
        return difference(difference(applied_fields(applied, shape), changed), removed)
    except (msgspec.DecodeError, ElementKeyError):
        return {}  # the annotation was written by another program


def record_last_applied(merged: JSONObject, manager: str, config: JSONObject) -> None:
    """Set the annotation of a merged object that has one to the configuration that kubectl has applied."""
    if manager != _KUBECTL or not _annotation(merged):
        return
    annotations = ensure_object(merged, "metadata", "annotations")
    annotations[ANNOTATION] = _encoded(config)
    if sum(len(name.encode()) + len(str(value).encode()) for name, value in annotations.items()) > _MAX_ANNOTATIONS:
        del annotations[ANNOTATION]


def _annotation(tree: JSONObject) -> str:
    return text_at(tree, "metadata", "annotations", ANNOTATION)


def _encoded(config: JSONObject) -> str:
    """Encode a configuration without the annotation itself, as Go does: sorted, and with a newline at the end."""
    metadata = {**object_at(config, "metadata")}
    if ANNOTATION in object_at(metadata, "annotations"):
        left: JSONObject = {
            name: value for name, value in object_at(metadata, "annotations").items() if name != ANNOTATION
        }
        metadata["annotations"] = left
    sent: JSONObject = {**config, "metadata": metadata}
    text = json.dumps(sent, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return text.translate(_ESCAPED_IN_GO) + "\n"

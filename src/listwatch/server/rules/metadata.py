"""Rules for labels and annotations, label selectors, owners and finalizers."""

from __future__ import annotations

from collections.abc import Mapping

from listwatch.errors import StatusCause
from listwatch.json_value import JSON, JSONObject
from listwatch.server.field_errors import forbidden, invalid, required, too_long
from listwatch.server.json_tree import list_at, object_at, objects_at, text_at, texts_at, value_at
from listwatch.server.rules.checks import (
    Causes,
    all_of,
    at,
    each,
    field_path,
    label_value,
    qualified_name,
)

__all__ = [
    "annotation_rules",
    "finalizers",
    "labels",
    "new_finalizers",
    "owners",
    "selector",
    "selects",
    "standard_finalizer",
]

_MAX_ANNOTATIONS = 256 * 1024
_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")


# --- labels and annotations ------------------------------------------------------------------------------------------


def labels(value: dict[str, str], path: str) -> list[StatusCause]:
    causes: list[StatusCause] = []
    for key, text in value.items():
        if problems := qualified_name(key):
            causes += [invalid(path, key, each) for each in problems]
        if problems := label_value(text):
            causes += [invalid(path, text, each) for each in problems]
    return causes


def annotation_rules(value: dict[str, str], path: str) -> Causes:
    for key in value:
        yield from (invalid(path, key, detail) for detail in qualified_name(key.lower()))
    if sum(len(key.encode()) + len(text.encode()) for key, text in value.items()) > _MAX_ANNOTATIONS:
        yield too_long(path, _MAX_ANNOTATIONS)


def _requirement(requirement: JSONObject, path: str) -> Causes:
    key, operator = text_at(requirement, "key"), text_at(requirement, "operator")
    values = texts_at(requirement, "values")
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    else:
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    yield from (invalid(f"{path}.key", key, detail) for detail in qualified_name(key))
    for index, value in enumerate(values):
        yield from (invalid(f"{path}.values[{index}]", value, detail) for detail in label_value(value))


selector = all_of(at("matchLabels", labels), each("matchExpressions", _requirement))
"""The rule for a label selector."""


def selects(value: JSON, labels_: Mapping[str, JSON]) -> bool:
    """Return whether a valid label selector matches an object with these labels."""
    return object_at(value, "matchLabels").items() <= labels_.items() and all(
        _matches(requirement, labels_) for requirement in objects_at(value, "matchExpressions")
    )


def _matches(requirement: JSONObject, labels_: Mapping[str, JSON]) -> bool:
    key, values = text_at(requirement, "key"), list_at(requirement, "values")
    match requirement["operator"]:
        case "In":
            return labels_.get(key) in values
        case "NotIn":
            return labels_.get(key) not in values
        case "Exists":
            return key in labels_
        case _:
            return key not in labels_


# --- owners and finalizers -------------------------------------------------------------------------------------------


def owners(references: list[JSON], path: str) -> Causes:
    controllers = []
    for reference in references:
        yield from _owner(reference, path)
        if value_at(reference, "controller"):
            controllers.append(f"{text_at(reference, 'kind')}/{text_at(reference, 'name')}")
    for other in controllers[1:]:
        yield invalid(
            path,
            references,
            "Only one reference can have Controller set to true. "
            f'Found "true" in references for {controllers[0]} and {other}',
        )


def _owner(reference: JSON, path: str) -> Causes:
    version = text_at(reference, "apiVersion")
    if not version or version.count("/") > 1:
        yield invalid(f"{path}.apiVersion", version, "version must not be empty")
    for name in ("kind", "name", "uid"):
        if not text_at(reference, name):
            yield invalid(f"{path}.{name}", "", "must not be empty")
    if version == "v1" and text_at(reference, "kind") == "Event":
        yield invalid(path, reference, "/v1, Kind=Event is disallowed from being an owner")


def finalizers(names: list[str], path: str) -> Causes:
    for finalizer in names:
        yield from (invalid(path, finalizer, detail) for detail in qualified_name(finalizer))
    if {"orphan", "foregroundDeletion"} <= set(names):
        yield invalid(path, names, "finalizer orphan and foregroundDeletion cannot be both set")


def standard_finalizer(finalizer: str, path: str) -> Causes:
    if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
        yield invalid(path, finalizer, "name is neither a standard finalizer name nor is it fully qualified")


def new_finalizers(new: JSONObject, old: JSONObject, path: str) -> Causes:
    """Finalizers must not be added to an object that is being deleted."""
    if value_at(old, "metadata", "deletionTimestamp"):
        before = set(texts_at(old, "metadata", "finalizers"))
        added = sorted(set(texts_at(new, "metadata", "finalizers")) - before)
        if added:
            shown = ", ".join(f'"{name}"' for name in added)
            yield forbidden(
                field_path(path, "metadata.finalizers"),
                "no new finalizers can be added if the object is being deleted, "
                f"found new finalizers []string{{{shown}}}",
            )

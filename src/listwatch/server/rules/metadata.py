"""The rules for the metadata of every object, and for label selectors. `formats` has the names and keys."""

from __future__ import annotations

from collections.abc import Mapping

from listwatch.server.field_errors import forbidden, invalid, required, too_long
from listwatch.server.json_tree import Tree, child
from listwatch.server.rules.checks import (
    Causes,
    Check,
    Format,
    all_of,
    at,
    cron_job_name,
    dns_label,
    dns_subdomain,
    each,
    elements,
    inside,
    label_value,
    path_segment,
    path_segment_prefix,
    qualified_name,
)

__all__ = ["labels", "metadata_rules", "new_finalizers", "selector", "selects", "standard_finalizer"]

_MAX_ANNOTATIONS = 256 * 1024
_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")
_NAME_FORMATS: Mapping[str, Format] = {
    "dns_subdomain": dns_subdomain,
    "dns_label": dns_label,
    "path_segment": path_segment,
    "any": path_segment,
    "cron_job": cron_job_name,
}


def metadata_rules(*, name_rule: str, namespaced: bool, built_in: bool) -> Check:
    """For an object as it shall be stored, with its name made."""
    return at(
        "metadata",
        _names(name_rule),
        _namespace if namespaced else _no_namespace,
        at("labels", labels),
        at("annotations", _annotations),
        at("ownerReferences", _owners),
        at("finalizers", _finalizers, *([elements(standard_finalizer)] if built_in else [])),
    )


def _names(rule: str) -> Check:
    format_ = _NAME_FORMATS[rule]

    def check(metadata: Tree, path: str) -> Causes:
        if base := metadata.get("generateName"):
            yield from (invalid(inside(path, "generateName"), base, said) for said in _of_prefix(base, format_))
        if name := metadata.get("name"):
            for said in format_(name):
                yield invalid(inside(path, "name"), name, said)
        else:
            yield required(inside(path, "name"), "name or generateName is required")

    return check


def _of_prefix(base: str, format_: Format) -> list[str]:
    """What would be wrong with every name that begins so; that it ends in a dash is not."""
    if format_ is path_segment:
        return list(path_segment_prefix(base))
    return list(format_(f"{base[:-2]}a" if len(base) > 1 and base.endswith("-") else base))


def _namespace(metadata: Tree, path: str) -> Causes:
    if namespace := metadata.get("namespace"):
        for said in dns_label(namespace):
            yield invalid(inside(path, "namespace"), namespace, said)
    else:
        yield required(inside(path, "namespace"))


def _no_namespace(metadata: Tree, path: str) -> Causes:
    if metadata.get("namespace"):
        yield forbidden(inside(path, "namespace"), "not allowed on this type")


# --- labels and annotations ------------------------------------------------------------------------------------------


def labels(value: Tree, path: str) -> Causes:
    for key, text in value.items():
        for said in qualified_name(key):
            yield invalid(path, key, said)
        for said in label_value(text):
            yield invalid(path, text, said)


def _annotations(value: Tree, path: str) -> Causes:
    for key in value:
        yield from (invalid(path, key, said) for said in qualified_name(key.lower()))
    if sum(len(key.encode()) + len(text.encode()) for key, text in value.items()) > _MAX_ANNOTATIONS:
        yield too_long(path, _MAX_ANNOTATIONS)


def _requirement(requirement: Tree, path: str) -> Causes:
    operator, values = requirement.get("operator", ""), requirement.get("values") or []
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    else:
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    yield from (invalid(f"{path}.key", requirement.get("key", ""), said) for said in qualified_name(requirement["key"]))
    for index, value in enumerate(values):
        yield from (invalid(f"{path}.values[{index}]", value, said) for said in label_value(value))


selector = all_of(at("matchLabels", labels), each("matchExpressions", _requirement))
"""The rule for a label selector."""


def selects(value: Tree, labels_: Mapping[str, str]) -> bool:
    """Whether a label selector that keeps the rule finds an object with these labels."""
    wanted = value.get("matchLabels") or {}
    return wanted.items() <= labels_.items() and all(
        _fits(requirement, labels_) for requirement in value.get("matchExpressions") or ()
    )


def _fits(requirement: Tree, labels_: Mapping[str, str]) -> bool:
    key, values = requirement["key"], requirement.get("values") or ()
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


def _owners(references: Tree, path: str) -> Causes:
    controllers = []
    for reference in references:
        yield from _owner(reference, path)
        if reference.get("controller"):
            controllers.append(f"{reference['kind']}/{reference['name']}")
    for other in controllers[1:]:
        yield invalid(
            path,
            references,
            "Only one reference can have Controller set to true. "
            f'Found "true" in references for {controllers[0]} and {other}',
        )


def _owner(reference: Tree, path: str) -> Causes:
    version = reference.get("apiVersion", "")
    if not version or version.count("/") > 1:
        yield invalid(f"{path}.apiVersion", version, "version must not be empty")
    for name in ("kind", "name", "uid"):
        if not reference.get(name):
            yield invalid(f"{path}.{name}", "", "must not be empty")
    if (reference.get("apiVersion"), reference.get("kind")) == ("v1", "Event"):
        yield invalid(path, reference, "/v1, Kind=Event is disallowed from being an owner")


def _finalizers(finalizers: Tree, path: str) -> Causes:
    for finalizer in finalizers:
        yield from (invalid(path, finalizer, said) for said in qualified_name(finalizer))
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        yield invalid(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set")


def standard_finalizer(finalizer: Tree, path: str) -> Causes:
    if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
        yield invalid(path, finalizer, "name is neither a standard finalizer name nor is it fully qualified")


def new_finalizers(new: Tree, old: Tree, path: str) -> Causes:
    """An object that is being deleted gets no new ones."""
    if child(old, "metadata", "deletionTimestamp"):
        before = set(child(old, "metadata", "finalizers") or ())
        added = sorted(set(child(new, "metadata", "finalizers") or ()) - before)
        if added:
            shown = ", ".join(f'"{name}"' for name in added)
            yield forbidden(
                inside(path, "metadata.finalizers"),
                "no new finalizers can be added if the object is being deleted, "
                f"found new finalizers []string{{{shown}}}",
            )

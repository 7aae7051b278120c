"""Rules for Node, RuntimeClass, Event and webhook configurations."""

from __future__ import annotations

from dataclasses import replace

from listwatch.json_value import JSON, JSONObject
from listwatch.server.field_errors import duplicate, forbidden, invalid, required
from listwatch.server.json_tree import object_at, text_at, value_at
from listwatch.server.rules.checks import (
    Causes,
    at,
    changed,
    cidr,
    dns_label,
    field_path,
    formatted,
    immutable,
    qualified_name,
    require_fields,
)
from listwatch.server.rules.workloads.pods import taint

__all__ = ["EVENT", "NODE", "RUNTIME_CLASS", "node_update", "runtime_class_update"]

_MAX_LENGTHS = {"reportingInstance": 128, "action": 128, "reason": 128, "message": 1024, "note": 1024}


def _event(event: JSONObject, path: str) -> Causes:
    """An event is in the namespace of its object; events of cluster objects are in the default namespace."""
    reference = "involvedObject" if "involvedObject" in event else "regarding"
    namespace, own = text_at(event, reference, "namespace"), text_at(event, "metadata", "namespace")
    if event.get("eventTime"):
        misplaced = not namespace and own not in ("default", "kube-system")
        yield from _reporter(event, path)
    else:
        misplaced = namespace != own and (bool(namespace) or own != "default")
    if misplaced:
        yield invalid(field_path(path, "involvedObject.namespace"), namespace, "does not match event.namespace")


def _reporter(event: JSONObject, path: str) -> Causes:
    """Events with an eventTime, the newer form, must name their reporter."""
    reporter = "reportingController" if "reportingController" in event else "reportingComponent"
    yield from require_fields(reporter, "reportingInstance", "action", "reason")(event, path)
    if name := text_at(event, reporter):
        yield from formatted(qualified_name)(name, field_path(path, reporter))
    for field, maximum in _MAX_LENGTHS.items():
        if len(text_at(event, field).encode()) > maximum:
            yield invalid(field_path(path, field), "", f"can have at most {maximum} characters")


EVENT = _event


def _taints(taints: list[JSON], _path: str) -> Causes:
    seen: set[tuple[str, str]] = set()
    for index, each_taint in enumerate(taints):
        path = f"metadata.taints[{index}]"
        yield from taint(object_at(each_taint), path)
        pair = text_at(each_taint, "effect"), text_at(each_taint, "key")
        if pair in seen:
            # Shown with the names of kube-apiserver's Go fields.
            names = {"Key": "key", "Value": "value", "Effect": "effect"}
            shown: JSONObject = {field: text_at(each_taint, name) for field, name in names.items()}
            shown["TimeAdded"] = value_at(each_taint, "timeAdded")
            cause = duplicate(path, shown)
            yield replace(cause, message=f"{cause.message}: taints must be unique by key and effect pair")
        seen.add(pair)


def _pod_cidr(value: str, path: str) -> Causes:
    yield from formatted(cidr)(value, f"{path}s[0]")


NODE = at("spec", at("taints", _taints), at("podCIDR", _pod_cidr))


def node_update(new: JSONObject, old: JSONObject, path: str) -> Causes:
    for name, field in (("podCIDR", "podCIDRs"), ("providerID", "providerID")):
        if value_at(old, "spec", name) and changed(new, old, f"spec.{name}"):
            detail = f'node updates may not change {name} except from "" to valid'
            yield forbidden(field_path(path, f"spec.{field}"), detail)


def _handler(runtime_class: JSONObject, path: str) -> Causes:
    if not text_at(runtime_class, "handler"):
        yield required(field_path(path, "handler"))
    else:
        yield from formatted(dns_label)(text_at(runtime_class, "handler"), field_path(path, "handler"))


RUNTIME_CLASS = _handler
runtime_class_update = immutable("handler", missing="")

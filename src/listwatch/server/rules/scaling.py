"""The rules for how many: HorizontalPodAutoscaler, PodDisruptionBudget, PriorityClass."""

from __future__ import annotations

from collections.abc import Mapping

from listwatch.server.field_errors import forbidden, invalid, not_supported, required
from listwatch.server.json_tree import Tree, child
from listwatch.server.rules.checks import (
    Causes,
    all_changes,
    all_of,
    at,
    at_least,
    changed,
    each,
    formatted,
    immutable,
    inside,
    needs,
    one_of,
    path_segment,
    percent,
    percentage,
)
from listwatch.server.rules.metadata import selector

__all__ = ["AUTOSCALER", "DISRUPTION_BUDGET", "PRIORITY_CLASS", "priority_class_change"]

_HIGHEST_PRIORITY = 1_000_000_000


# --- autoscalers -----------------------------------------------------------------------------------------------------

_SOURCES: Mapping[str, str] = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}


def _metric(metric: Tree, path: str) -> Causes:
    kind = metric.get("type", "")
    if not kind:
        yield required(f"{path}.type", "must specify a metric source type")
    if kind not in _SOURCES:
        yield not_supported(f"{path}.type", kind, _SOURCES)
    elif metric.get(_SOURCES[kind]) is None:
        where = f"{path}.{_SOURCES[kind]}"
        yield required(where, "must populate information for the given metric source")
    elif kind in ("Resource", "ContainerResource"):
        yield from _resource_target(metric[_SOURCES[kind]], f"{path}.{_SOURCES[kind]}")


def _resource_target(source: Tree, path: str) -> Causes:
    target = source.get("target", {})
    utilization, average = target.get("averageUtilization"), target.get("averageValue")
    if not source.get("name"):
        yield required(f"{path}.name", "must specify a resource name")
    if utilization is None and average is None:
        where = f"{path}.target.averageUtilization"
        yield required(where, "must set either a target raw value or a target utilization")
    if utilization is not None and utilization < 1:
        yield invalid(f"{path}.target.averageUtilization", utilization, "must be greater than 0")
    if utilization is not None and average is not None:
        where = f"{path}.target.averageValue"
        yield forbidden(where, "may not set both a target raw value and a target utilization")


def _target(spec: Tree, path: str) -> Causes:
    target = spec.get("scaleTargetRef", {})
    if target.get("kind") != "ReplicationController" and "/" not in target.get("apiVersion", ""):
        where = f"{path}.scaleTargetRef.apiVersion"
        yield invalid(where, target.get("apiVersion", ""), "apiVersion must specify API group")


def _bounds(spec: Tree, path: str) -> Causes:
    least, most = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    if most < 1:
        yield required(f"{path}.maxReplicas", "must be set and greater than 0")
    elif least is not None and most < least:
        yield invalid(f"{path}.maxReplicas", most, "must be greater than or equal to `minReplicas`")


AUTOSCALER = at(
    "spec",
    at("minReplicas", at_least(1)),
    _bounds,
    at("scaleTargetRef", needs("kind", "name")),
    at("scaleTargetRef.kind", formatted(path_segment)),
    at("scaleTargetRef.name", formatted(path_segment)),
    _target,
    each("metrics", _metric),
)


# --- budgets ---------------------------------------------------------------------------------------------------------


def _pods_or_share(value: Tree, path: str) -> Causes:
    if isinstance(value, int):
        yield from at_least(0)(value, path)
        return
    yield from formatted(percent)(value, path)
    if (percentage(value) or 0) > 100:
        yield invalid(path, value, "must not be greater than 100%")


def _either(spec: Tree, path: str) -> Causes:
    if "minAvailable" in spec and "maxUnavailable" in spec:
        yield invalid(path, spec, "minAvailable and maxUnavailable cannot be both set")


DISRUPTION_BUDGET = at(
    "spec",
    _either,
    at("minAvailable", _pods_or_share),
    at("maxUnavailable", _pods_or_share),
    at("selector", selector),
    at("unhealthyPodEvictionPolicy", one_of("AlwaysAllow", "IfHealthyBudget")),
)


# --- priorities ------------------------------------------------------------------------------------------------------


def _priority(priority: Tree, path: str) -> Causes:
    name, value = child(priority, "metadata", "name") or "", priority.get("value", 0)
    if name in ("system-node-critical", "system-cluster-critical"):
        return
    if name.startswith("system-"):
        yield forbidden(
            inside(path, "metadata.name"),
            "priority class names with 'system-' prefix are reserved for system use only. "
            f"error: {name} is not a known system priority class",
        )
    if value > _HIGHEST_PRIORITY:
        yield forbidden(
            inside(path, "value"), f"maximum allowed value of a user defined priority is {_HIGHEST_PRIORITY}"
        )


PRIORITY_CLASS = all_of(_priority, at("preemptionPolicy", one_of("PreemptLowerPriority", "Never")))


def _value_change(new: Tree, old: Tree, path: str) -> Causes:
    if changed(new, old, "value"):
        yield forbidden(inside(path, "value"), "may not be changed in an update.")


priority_class_change = all_changes(_value_change, immutable("preemptionPolicy"))

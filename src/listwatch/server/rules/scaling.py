"""Rules for HorizontalPodAutoscaler, PodDisruptionBudget and PriorityClass."""

from __future__ import annotations

from collections.abc import Mapping

from listwatch.json_value import JSONObject
from listwatch.quantity import Quantity
from listwatch.server.field_errors import duplicate, forbidden, invalid, not_supported, required, too_long
from listwatch.server.json_tree import integer_at, object_at, objects_at, text_at, value_at
from listwatch.server.rules.checks import (
    Causes,
    Check,
    all_of,
    all_updates,
    at,
    at_least,
    at_nonempty,
    changed,
    condition_reason,
    dns_label,
    each,
    field_path,
    formatted,
    immutable,
    not_negative,
    one_of,
    path_segment,
    qualified_name,
    require_fields,
)
from listwatch.server.rules.metadata import selector
from listwatch.server.rules.workloads.controllers import count_or_percent_up_to_100

__all__ = ["AUTOSCALER", "DISRUPTION_BUDGET", "DISRUPTION_BUDGET_STATUS", "PRIORITY_CLASS", "priority_class_update"]

_HIGHEST_PRIORITY = 1_000_000_000
_CONDITION_STATUSES = ("False", "True", "Unknown")
_MAX_REASON = 1024
_MAX_MESSAGE = 32 * 1024


# --- autoscalers -----------------------------------------------------------------------------------------------------

# In the order in which they are checked.
_SOURCES: Mapping[str, str] = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def _metric(metric: JSONObject, path: str) -> Causes:
    kind = text_at(metric, "type")
    if not kind:
        yield required(f"{path}.type", "must specify a metric source type")
    if kind not in _SOURCES:
        yield not_supported(f"{path}.type", kind, sorted(_SOURCES))
    sources = [name for name in _SOURCES.values() if name in metric]
    if sources:
        yield from _SOURCE_RULES[sources[0]](object_at(metric, sources[0]), f"{path}.{sources[0]}")
    expected = _SOURCES.get(kind, "")
    if expected and expected not in sources:
        yield required(f"{path}.{expected}", "must populate information for the given metric source")
    if len(sources) > 1:
        others = (name for name in sources if name != expected)
        yield from (forbidden(f"{path}.{name}", "must populate the given metric source only") for name in others)


def _resource_source(source: JSONObject, path: str) -> Causes:
    target, field = object_at(source, "target"), f"{path}.target"
    utilization, average = target.get("averageUtilization"), target.get("averageValue")
    if not source.get("name"):
        yield required(f"{path}.name", "must specify a resource name")
    if path.endswith("containerResource"):
        yield from require_fields("container", detail="must specify a container")(source, path)
        yield from at_nonempty("container", formatted(dns_label))(source, path)
    yield from _metric_target(target, field)
    if utilization is None and average is None:
        detail = "must set either a target raw value or a target utilization"
        yield required(f"{field}.averageUtilization", detail)
    if utilization is not None and average is not None:
        yield forbidden(f"{field}.averageValue", "may not set both a target raw value and a target utilization")


def _pods_source(source: JSONObject, path: str) -> Causes:
    yield from _identified_target(source, path)
    if "averageValue" not in object_at(source, "target"):
        yield required(f"{path}.target.averageValue", "must specify a positive target averageValue")


def _object_source(source: JSONObject, path: str) -> Causes:
    yield from _OBJECT_REFERENCE(object_at(source, "describedObject"), f"{path}.describedObject")
    yield from _identified_target(source, path)
    if not object_at(source, "target").keys() & {"value", "averageValue"}:
        yield required(f"{path}.target.averageValue", "must set either a target value or averageValue")


def _external_source(source: JSONObject, path: str) -> Causes:
    yield from _identified_target(source, path)
    match len(object_at(source, "target").keys() & {"value", "averageValue"}):
        case 0:
            detail = "must set either a target value for metric or a per-pod target"
            yield required(f"{path}.target.averageValue", detail)
        case 2:
            detail = "may not set both a target value for metric and a per-pod target"
            yield forbidden(f"{path}.target.value", detail)


_OBJECT_REFERENCE = all_of(
    require_fields("kind"),
    at_nonempty("kind", formatted(path_segment)),
    require_fields("name"),
    at_nonempty("name", formatted(path_segment)),
)
_SOURCE_RULES: Mapping[str, Check] = {
    "containerResource": _resource_source,
    "external": _external_source,
    "object": _object_source,
    "pods": _pods_source,
    "resource": _resource_source,
}


def _identified_target(source: JSONObject, path: str) -> Causes:
    name = text_at(source, "metric", "name")
    if not name:
        yield required(f"{path}.metric.name", "must specify a metric name")
    yield from (invalid(f"{path}.metric.name", name, problem) for problem in path_segment(name))
    yield from _metric_target(object_at(source, "target"), f"{path}.target")


def _metric_target(target: JSONObject, path: str) -> Causes:
    kind = text_at(target, "type")
    if not kind:
        yield required(f"{path}.type", "must specify a metric target type")
    if kind not in ("Utilization", "Value", "AverageValue"):
        yield invalid(f"{path}.type", kind, "must be either Utilization, Value, or AverageValue")
    for name in ("value", "averageValue"):
        if (amount := text_at(target, name)) and Quantity(amount).value <= 0:
            yield invalid(f"{path}.{name}", amount, "must be positive")
    utilization = target.get("averageUtilization")
    if isinstance(utilization, int) and utilization < 1:
        yield invalid(f"{path}.averageUtilization", utilization, "must be greater than 0")


def _target(spec: JSONObject, path: str) -> Causes:
    target = object_at(spec, "scaleTargetRef")
    if target.get("kind") != "ReplicationController" and "/" not in text_at(target, "apiVersion"):
        field = f"{path}.scaleTargetRef.apiVersion"
        yield invalid(field, text_at(target, "apiVersion"), "apiVersion must specify API group")


def _bounds(spec: JSONObject, path: str) -> Causes:
    least, most = value_at(spec, "minReplicas"), integer_at(spec, "maxReplicas")
    if most < 1:
        yield required(f"{path}.maxReplicas", "must be set and greater than 0")
    if isinstance(least, int) and most < least:
        yield invalid(f"{path}.maxReplicas", most, "must be greater than or equal to `minReplicas`")


AUTOSCALER = at(
    "spec",
    at("minReplicas", at_least(1)),
    _bounds,
    at("scaleTargetRef", require_fields("kind", "name")),
    at("scaleTargetRef.kind", formatted(path_segment)),
    at("scaleTargetRef.name", formatted(path_segment)),
    _target,
    each("metrics", _metric),
)


# --- budgets ---------------------------------------------------------------------------------------------------------


def _not_both(spec: JSONObject, path: str) -> Causes:
    if "minAvailable" in spec and "maxUnavailable" in spec:
        yield invalid(path, spec, "minAvailable and maxUnavailable cannot be both set")


DISRUPTION_BUDGET = at(
    "spec",
    _not_both,
    at("minAvailable", count_or_percent_up_to_100),
    at("maxUnavailable", count_or_percent_up_to_100),
    at("selector", selector),
    at("unhealthyPodEvictionPolicy", one_of("AlwaysAllow", "IfHealthyBudget")),
)


def _conditions(status: JSONObject, path: str) -> Causes:
    seen: set[str] = set()
    for index, condition in enumerate(objects_at(status, "conditions")):
        field, type_ = f"{path}.conditions[{index}]", text_at(condition, "type")
        if type_ in seen:
            yield duplicate(f"{field}.type", type_)
        seen.add(type_)
        yield from (invalid(f"{field}.type", type_, detail) for detail in qualified_name(type_))
        yield from _condition(condition, field)


def _condition(condition: JSONObject, field: str) -> Causes:
    if condition.get("status") not in _CONDITION_STATUSES:
        yield not_supported(f"{field}.status", text_at(condition, "status"), _CONDITION_STATUSES)
    if (generation := integer_at(condition, "observedGeneration")) < 0:
        yield invalid(f"{field}.observedGeneration", generation, "must be greater than or equal to zero")
    if not condition.get("lastTransitionTime"):
        yield required(f"{field}.lastTransitionTime")
    if reason := text_at(condition, "reason"):
        yield from (invalid(f"{field}.reason", reason, detail) for detail in condition_reason(reason))
        if len(reason.encode()) > _MAX_REASON:
            yield too_long(f"{field}.reason", _MAX_REASON)
    else:
        yield required(f"{field}.reason")
    if len(text_at(condition, "message").encode()) > _MAX_MESSAGE:
        yield too_long(f"{field}.message", _MAX_MESSAGE)


DISRUPTION_BUDGET_STATUS = at(
    "status", _conditions, not_negative("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
)


# --- priorities ------------------------------------------------------------------------------------------------------


def _priority(priority: JSONObject, path: str) -> Causes:
    name, value = text_at(priority, "metadata", "name"), integer_at(priority, "value")
    if name in ("system-node-critical", "system-cluster-critical"):
        return
    if name.startswith("system-"):
        yield forbidden(
            field_path(path, "metadata.name"),
            "priority class names with 'system-' prefix are reserved for system use only. "
            f"error: {name} is not a known system priority class",
        )
    if value > _HIGHEST_PRIORITY:
        yield forbidden(
            field_path(path, "value"), f"maximum allowed value of a user defined priority is {_HIGHEST_PRIORITY}"
        )


PRIORITY_CLASS = all_of(_priority, at("preemptionPolicy", one_of("PreemptLowerPriority", "Never")))


def _value_update(new: JSONObject, old: JSONObject, path: str) -> Causes:
    if changed(new, old, "value"):
        yield forbidden(field_path(path, "value"), "may not be changed in an update.")


priority_class_update = all_updates(_value_update, immutable("preemptionPolicy"))

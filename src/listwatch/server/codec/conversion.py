"""Converts objects between the versions of their kind: stored in one version, read and written in any.

Most kinds have the same fields in all versions, and only the apiVersion changes. For the others, a converter is
registered in a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupVersionKind
from listwatch.server.json_tree import ensure_object, object_at, objects_at, text_at, value_at

__all__ = ["ConversionTable", "Converter", "convert"]

Converter = Callable[[JSONObject], JSONObject]
"""Returns an object with the fields of another version and does not change its argument; the kind is set later."""

Fields = Mapping[str, str]
"""The fields of a metric source in autoscaling/v1, and their paths in v2."""
SourceConverter = Callable[[JSONObject, Fields], JSONObject]


class ConversionTable:
    """Converters by origin and target kind. Without an entry, only kind and apiVersion are replaced."""

    def __init__(self) -> None:
        self._converters: dict[tuple[GroupVersionKind, GroupVersionKind], Converter] = {}

    def register(self, origin: GroupVersionKind, target: GroupVersionKind, converter: Converter) -> None:
        self._converters[origin, target] = converter

    def convert(self, tree: JSONObject, target: GroupVersionKind) -> JSONObject:
        """Return the object as the target kind: the tree itself if it is of that kind, or one that may share parts."""
        if tree["apiVersion"] == target.api_version and tree["kind"] == target.kind:
            return tree
        origin = GroupVersionKind.of(text_at(tree, "apiVersion"), text_at(tree, "kind"))
        converter = self._converters.get((origin, target))
        found = converter(tree) if converter else tree
        return {**found, "kind": target.kind, "apiVersion": target.api_version}


def builtin_conversions() -> ConversionTable:
    """Return the conversions of the built-in kinds."""
    table = ConversionTable()
    event, newer_event = (GroupVersionKind(group, "v1", "Event") for group in ("", "events.k8s.io"))
    table.register(event, newer_event, _event_to_newer)
    table.register(newer_event, event, _event_to_older)
    v1, v2 = (GroupVersionKind("autoscaling", version, "HorizontalPodAutoscaler") for version in ("v1", "v2"))
    table.register(v1, v2, _autoscaler_to_v2)
    table.register(v2, v1, _autoscaler_to_v1)
    return table


def convert(tree: JSONObject, target: GroupVersionKind) -> JSONObject:
    """Convert a built-in object, or one whose versions have the same fields."""
    return _BUILTIN.convert(tree, target)


# --- Events -----------------------------------------------------------------------------------------------------------

_EVENT_FIELDS = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_REPORTER = ("reportingComponent", "reportingInstance")


def _event_to_newer(event: JSONObject) -> JSONObject:
    # The older version writes these two even if they are empty, the newer one does not.
    found = {name: value for name, value in event.items() if value or name not in _REPORTER}
    return {_EVENT_FIELDS.get(name, name): value for name, value in found.items()}


def _event_to_older(event: JSONObject) -> JSONObject:
    names = {newer: older for older, newer in _EVENT_FIELDS.items()}
    return {**dict.fromkeys(_REPORTER, ""), **{names.get(name, name): value for name, value in event.items()}}


# --- HorizontalPodAutoscaler ------------------------------------------------------------------------------------------

_PREFIX = "autoscaling.alpha.kubernetes.io/"
_METRICS, _STATUSES, _BEHAVIOR, _CONDITIONS = (
    f"{_PREFIX}{name}" for name in ("metrics", "current-metrics", "behavior", "conditions")
)
_DEFAULT_UTILIZATION = 80

# The fields of each metric source in v1, and their paths in v2.
_SPEC_FIELDS: Mapping[str, Fields] = {
    "resource": {
        "name": "name",
        "targetAverageUtilization": "target.averageUtilization",
        "targetAverageValue": "target.averageValue",
    },
    "containerResource": {
        "name": "name",
        "container": "container",
        "targetAverageUtilization": "target.averageUtilization",
        "targetAverageValue": "target.averageValue",
    },
    "pods": {
        "metricName": "metric.name",
        "selector": "metric.selector",
        "targetAverageValue": "target.averageValue",
    },
    "object": {
        "target": "describedObject",
        "metricName": "metric.name",
        "selector": "metric.selector",
        "targetValue": "target.value",
        "averageValue": "target.averageValue",
    },
    "external": {
        "metricName": "metric.name",
        "metricSelector": "metric.selector",
        "targetValue": "target.value",
        "targetAverageValue": "target.averageValue",
    },
}
_STATUS_FIELDS: Mapping[str, Fields] = {
    source: {
        old.replace("targetAverage", "currentAverage").replace("targetValue", "currentValue"): new.replace(
            "target.", "current."
        )
        for old, new in fields.items()
    }
    for source, fields in _SPEC_FIELDS.items()
}


def _autoscaler_to_v1(tree: JSONObject) -> JSONObject:
    """Convert v2 to v1, whose only metric is the CPU utilization; the rest is kept in annotations, as JSON."""
    spec, status = dict(object_at(tree, "spec")), dict(object_at(tree, "status"))
    metrics, statuses = objects_at(spec.pop("metrics", None)), objects_at(status.pop("currentMetrics", None))
    others: list[JSON] = []
    for metric in metrics:
        utilization = _cpu_utilization(metric, "target")
        if utilization is None:
            others.append(_convert_sources(metric, _SPEC_FIELDS, _flatten))
        else:
            spec["targetCPUUtilizationPercentage"] = utilization
    for metric in statuses:
        if (utilization := _cpu_utilization(metric, "current")) is not None:
            status["currentCPUUtilizationPercentage"] = utilization
    status.setdefault("currentReplicas", 0)  # v2 omits the zero
    kept: JSONObject = {
        _BEHAVIOR: spec.pop("behavior", None),
        _CONDITIONS: status.pop("conditions", None),
        _METRICS: others,
        _STATUSES: [_convert_sources(metric, _STATUS_FIELDS, _flatten) for metric in statuses],
    }
    return _with_annotations(tree | {"spec": spec, "status": status}, kept)


def _autoscaler_to_v2(tree: JSONObject) -> JSONObject:
    """Convert v1 to v2, and restore what an earlier conversion has written to annotations."""
    annotations = object_at(tree, "metadata", "annotations")
    kept = {name: _decode_annotation(text) for name, text in annotations.items() if name.startswith(_PREFIX)}
    spec, status = dict(object_at(tree, "spec")), dict(object_at(tree, "status"))
    metrics: list[JSON] = [_convert_sources(each, _SPEC_FIELDS, _nest) for each in objects_at(kept, _METRICS)]
    utilization = spec.pop("targetCPUUtilizationPercentage", None if metrics else _DEFAULT_UTILIZATION)
    if utilization is not None:
        target: JSONObject = {"type": "Utilization", "averageUtilization": utilization}
        metrics.append({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    spec["metrics"] = metrics
    if isinstance(kept.get(_BEHAVIOR), dict):
        spec["behavior"] = kept[_BEHAVIOR]
    status.pop("currentCPUUtilizationPercentage", None)
    if not status.get("currentReplicas"):
        status.pop("currentReplicas", None)
    statuses = objects_at(kept, _STATUSES)
    status["currentMetrics"] = [_convert_sources(each, _STATUS_FIELDS, _nest) for each in statuses] or None
    if conditions := objects_at(kept, _CONDITIONS):
        status["conditions"] = [*conditions]
    return _with_annotations(tree | {"spec": spec, "status": status}, {})


def _cpu_utilization(metric: JSONObject, where: str) -> JSON:
    is_cpu = text_at(metric, "resource", "name") == "cpu"
    return value_at(metric, "resource", where, "averageUtilization") if is_cpu else None


def _convert_sources(metric: JSONObject, fields: Mapping[str, Fields], convert_source: SourceConverter) -> JSONObject:
    return {
        name: convert_source(value, fields[name]) if name in fields and isinstance(value, dict) else value
        for name, value in metric.items()
    }


def _flatten(source: JSONObject, fields: Fields) -> JSONObject:
    found = {old: value_at(source, *new.split(".")) for old, new in fields.items()}
    return {name: value for name, value in found.items() if value is not None}


def _nest(source: JSONObject, fields: Fields) -> JSONObject:
    found: JSONObject = {}
    for old, new in fields.items():
        if old in source:
            *outer, name = new.split(".")
            ensure_object(found, *outer)[name] = source[old]
    if target := object_at(found, "target"):
        target["type"] = (
            "Utilization" if "averageUtilization" in target else "AverageValue" if "averageValue" in target else "Value"
        )
    return found


def _with_annotations(tree: JSONObject, kept: JSONObject) -> JSONObject:
    """Return the tree with these values as annotations; annotations of earlier conversions are dropped."""
    ours = {_METRICS, _STATUSES, _BEHAVIOR, _CONDITIONS}
    metadata = dict(object_at(tree, "metadata"))
    before = object_at(metadata.pop("annotations", None))
    annotations = {name: text for name, text in before.items() if name not in ours}
    annotations |= {name: msgspec.json.encode(value).decode() for name, value in kept.items() if value}
    if annotations:
        metadata["annotations"] = annotations
    return tree | {"metadata": metadata}


def _decode_annotation(text: JSON) -> JSON:
    # Any client can write these annotations. Invalid ones are ignored, as in the real server.
    try:
        value: JSON = msgspec.json.decode(text) if isinstance(text, str) else None
    except (msgspec.DecodeError, RecursionError):
        return None
    return value


_BUILTIN = builtin_conversions()

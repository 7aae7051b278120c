"""HorizontalPodAutoscaler between autoscaling/v1 and v2. `conversion` has the table that leads here.

The older version knows one metric, the utilization of the CPU. Whatever else the newer one says is kept in annotations
of the older, as JSON, so that nothing is lost on a way there and back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from listwatch.server.json_tree import Tree, child

__all__ = ["autoscaler_to_v1", "autoscaler_to_v2"]

Map = dict[str, Any]

_PREFIX = "autoscaling.alpha.kubernetes.io/"
_METRICS, _STATUSES, _BEHAVIOR, _CONDITIONS = (
    f"{_PREFIX}{name}" for name in ("metrics", "current-metrics", "behavior", "conditions")
)
_DEFAULT_UTILIZATION = 80

# For each source of metrics, its fields in v1 and where they are in v2.
_SPEC_FIELDS: Mapping[str, Mapping[str, str]] = {
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
_STATUS_FIELDS: Mapping[str, Mapping[str, str]] = {
    source: {
        old.replace("targetAverage", "currentAverage").replace("targetValue", "currentValue"): new.replace(
            "target.", "current."
        )
        for old, new in fields.items()
    }
    for source, fields in _SPEC_FIELDS.items()
}


def autoscaler_to_v1(tree: Map) -> Map:
    """The newer version's object as the older version has it."""
    spec, status = dict(tree.get("spec", {})), dict(tree.get("status", {}))
    metrics, statuses = spec.pop("metrics", []), status.pop("currentMetrics", []) or []
    kept = {_BEHAVIOR: spec.pop("behavior", None), _CONDITIONS: status.pop("conditions", None)}
    others = []
    for metric in metrics:
        utilization = _cpu_utilization(metric, "target")
        if utilization is None:
            others.append(_each_source(metric, _SPEC_FIELDS, _flat))
        else:
            spec["targetCPUUtilizationPercentage"] = utilization
    for metric in statuses:
        if (utilization := _cpu_utilization(metric, "current")) is not None:
            status["currentCPUUtilizationPercentage"] = utilization
    kept |= {_METRICS: others, _STATUSES: [_each_source(metric, _STATUS_FIELDS, _flat) for metric in statuses]}
    return _with_annotations(tree | {"spec": spec, "status": status}, kept)


def autoscaler_to_v2(tree: Map) -> Map:
    """The older version's object as the newer version has it."""
    kept = {name: _decoded(text) for name, text in _annotations(tree).items() if name.startswith(_PREFIX)}
    spec, status = dict(tree.get("spec", {})), dict(tree.get("status", {}))
    metrics = [_each_source(metric, _SPEC_FIELDS, _nested) for metric in _maps(kept.get(_METRICS))]
    utilization = spec.pop("targetCPUUtilizationPercentage", None if metrics else _DEFAULT_UTILIZATION)
    if utilization is not None:
        target = {"type": "Utilization", "averageUtilization": utilization}
        metrics.append({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    spec["metrics"] = metrics
    if isinstance(kept.get(_BEHAVIOR), dict):
        spec["behavior"] = kept[_BEHAVIOR]
    status.pop("currentCPUUtilizationPercentage", None)
    if statuses := [_each_source(metric, _STATUS_FIELDS, _nested) for metric in _maps(kept.get(_STATUSES))]:
        status["currentMetrics"] = statuses
    if conditions := _maps(kept.get(_CONDITIONS)):
        status["conditions"] = conditions
    return _with_annotations(tree | {"spec": spec, "status": status}, {})


def _cpu_utilization(metric: Map, where: str) -> Tree:
    is_cpu = child(metric, "resource", "name") == "cpu"
    return child(metric, "resource", where, "averageUtilization") if is_cpu else None


def _each_source(metric: Map, fields: Mapping[str, Mapping[str, str]], change: Any) -> Map:
    return {
        name: change(value, fields[name]) if name in fields and isinstance(value, dict) else value
        for name, value in metric.items()
    }


def _flat(source: Map, fields: Mapping[str, str]) -> Map:
    found = {old: child(source, *new.split(".")) for old, new in fields.items()}
    return {name: value for name, value in found.items() if value is not None}


def _nested(source: Map, fields: Mapping[str, str]) -> Map:
    found: Map = {}
    for old, new in fields.items():
        if old in source:
            outer, dot, inner = new.partition(".")
            if dot:
                found.setdefault(outer, {})[inner] = source[old]
            else:
                found[outer] = source[old]
    if target := found.get("target"):
        target["type"] = (
            "Utilization" if "averageUtilization" in target else "AverageValue" if "averageValue" in target else "Value"
        )
    return found


def _annotations(tree: Map) -> Map:
    return child(tree, "metadata", "annotations") or {}


def _with_annotations(tree: Map, kept: Map) -> Map:
    """The tree with these values among its annotations, and none of those that it had from an earlier conversion."""
    ours = {_METRICS, _STATUSES, _BEHAVIOR, _CONDITIONS}
    annotations = {name: text for name, text in _annotations(tree).items() if name not in ours}
    annotations |= {name: msgspec.json.encode(value).decode() for name, value in kept.items() if value}
    metadata = {name: value for name, value in tree.get("metadata", {}).items() if name != "annotations"}
    return tree | {"metadata": metadata | ({"annotations": annotations} if annotations else {})}


def _decoded(text: Tree) -> Tree:
    # Anybody can write these annotations; what makes no sense is passed over, as the real server does.
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, TypeError, RecursionError):
        return None


def _maps(value: Tree) -> list[Map]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []

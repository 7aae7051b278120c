"""How many replicas a HorizontalPodAutoscaler recommends. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, Decimal

from listwatch.errors import QuantityError
from listwatch.json_value import JSONObject
from listwatch.models.autoscaling_v2 import HorizontalPodAutoscaler, MetricSpec
from listwatch.quantity import format_quantity, parse_quantity

__all__ = ["LOAD", "MetricsError", "Recommendation", "Sizes", "limited", "recommend", "stabilized"]

LOAD = "simulation.listwatch/load-"
"""The prefix of the annotations with the load of all pods together: `simulation.listwatch/load-cpu: "2"`."""

_TOLERANCE = Decimal("0.1")
_DEFAULT_WINDOW = 300


class MetricsError(Exception):
    """A metric has no value; `reason` is that of the condition."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Sizes:
    """The pods of the target."""

    current: int
    """The replicas of its spec."""
    ready: int
    requests: Mapping[str, Decimal]
    """What one pod requests."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The replicas that a metric asks for, before limits."""

    replicas: int
    metric: str
    """As the conditions name it."""
    statuses: tuple[JSONObject, ...]


def recommend(autoscaler: HorizontalPodAutoscaler, sizes: Sizes) -> Recommendation:
    """The highest recommendation of all metrics; raises MetricsError."""
    found = [_of_metric(each, autoscaler.metadata.annotations, sizes) for each in autoscaler.spec.metrics]
    best = max(found, key=lambda each: each.replicas)
    return Recommendation(best.replicas, best.metric, tuple(each.statuses[0] for each in found))


def _of_metric(metric: MetricSpec, annotations: Mapping[str, str], sizes: Sizes) -> Recommendation:
    if metric.resource is None:
        raise MetricsError("InvalidMetricSourceType", f"metrics of type {metric.type} are not simulated")
    name, target = metric.resource.name, metric.resource.target
    text = annotations.get(LOAD + name)
    what = f"{name} utilization" if target.average_utilization is not None else f"{name} resource metric value"
    if text is None or not sizes.ready:
        why = f"unable to get metrics for resource {name}: no metrics returned from resource metrics API"
        raise MetricsError("FailedGetResourceMetric", f"failed to get {what}: {why}")
    try:
        load = parse_quantity(text)
    except QuantityError as error:
        why = f"the annotation {LOAD}{name}: {error}"
        raise MetricsError("FailedGetResourceMetric", f"failed to get {what}: {why}") from None
    average = load / sizes.ready
    current: JSONObject = {"averageValue": format_quantity(round(average, 3))}
    if target.average_utilization is not None:
        if not (request := sizes.requests.get(name)):
            why = f"missing request for {name}"
            raise MetricsError("FailedGetResourceMetric", f"failed to get {what}: {why}")
        wanted = request * target.average_utilization / 100
        current["averageUtilization"] = int(average / request * 100)
        described = f"{name} resource utilization (percentage of request)"
    else:
        wanted = parse_quantity(target.average_value or "0")
        described = f"{name} resource"
    ratio = average / wanted if wanted else Decimal(1)
    replicas = sizes.current
    if abs(ratio - 1) > _TOLERANCE:
        replicas = int((ratio * sizes.ready).to_integral_value(ROUND_CEILING))
    status: JSONObject = {"type": "Resource", "resource": {"name": name, "current": current}}
    return Recommendation(replicas, described, (status,))


def stabilized(
    autoscaler: HorizontalPodAutoscaler, history: Sequence[tuple[datetime, int]], now: datetime, replicas: int
) -> int:
    """The recommendation that may be followed: fewer replicas only if none of the last minutes asked for more."""
    behavior = autoscaler.spec.behavior
    rules = behavior.scale_down if behavior else None
    window = rules.stabilization_window_seconds if rules else None
    limit = _DEFAULT_WINDOW if window is None else window
    recent = [count for at, count in history if (now - at).total_seconds() < limit]
    return max([replicas, *recent])


def limited(autoscaler: HorizontalPodAutoscaler, current: int, replicas: int) -> tuple[int, tuple[str, str, str]]:
    """The replicas within the limits, and the condition ScalingLimited as status, reason and message."""
    spec = autoscaler.spec
    least = 1 if spec.min_replicas is None else spec.min_replicas
    fastest = max(2 * current, current + 4)
    if replicas > min(spec.max_replicas, fastest):
        if spec.max_replicas <= fastest:
            text = "the desired replica count is more than the maximum replica count"
            return spec.max_replicas, ("True", "TooManyReplicas", text)
        text = "the desired replica count is increasing faster than the maximum scale rate"
        return fastest, ("True", "ScaleUpLimit", text)
    if replicas < least:
        return least, ("True", "TooFewReplicas", "the desired replica count is less than the minimum replica count")
    return replicas, ("False", "DesiredWithinRange", "the desired count is within the acceptable range")

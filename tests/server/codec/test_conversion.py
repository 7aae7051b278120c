"""Conversion between versions: renamed fields, fields of one version only, and round trips."""

import json
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.meta import GroupVersionKind
from listwatch.server.codec.conversion import ConversionTable, convert

EVENT = GroupVersionKind("", "v1", "Event")
NEWER_EVENT = GroupVersionKind("events.k8s.io", "v1", "Event")
V1, V2 = (GroupVersionKind("autoscaling", version, "HorizontalPodAutoscaler") for version in ("v1", "v2"))
TARGET = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}


def obj(kind, **fields):
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "x"}, **fields}


def converted(tree, target):
    before = deepcopy(tree)
    found = convert(tree, target)
    assert tree == before
    assert (found["apiVersion"], found["kind"]) == (target.api_version, target.kind)
    return found


def test_an_object_of_the_target_version_is_returned_unchanged():
    tree = obj(EVENT)
    assert convert(tree, EVENT) is tree


def test_without_a_converter_only_the_version_changes():
    older = GroupVersionKind("example.com", "v1alpha1", "Widget")
    newer = GroupVersionKind("example.com", "v1", "Widget")
    assert converted(obj(older, spec={"a": 1}), newer) == obj(newer, spec={"a": 1})


def test_a_converter_can_be_registered():
    older = GroupVersionKind("example.com", "v1alpha1", "Widget")
    newer = GroupVersionKind("example.com", "v1", "Widget")
    table = ConversionTable()
    table.register(older, newer, lambda tree: {**tree, "spec": {"size": tree["spec"]["width"]}})
    assert table.convert(obj(older, spec={"width": 1}), newer) == obj(newer, spec={"size": 1})


# --- Events -----------------------------------------------------------------------------------------------------------


def test_fields_of_an_event_are_renamed_in_its_newer_group():
    event = obj(
        EVENT,
        involvedObject={"kind": "Pod"},
        message="m",
        reason="R",
        type="Normal",
        count=2,
        source={"component": "c"},
        firstTimestamp="2024-01-01T00:00:00Z",
        lastTimestamp="2024-01-01T00:00:01Z",
        reportingComponent="r",
        reportingInstance="i",
    )
    newer = converted(event, NEWER_EVENT)
    assert newer == obj(
        NEWER_EVENT,
        regarding={"kind": "Pod"},
        note="m",
        reason="R",
        type="Normal",
        deprecatedCount=2,
        deprecatedSource={"component": "c"},
        deprecatedFirstTimestamp="2024-01-01T00:00:00Z",
        deprecatedLastTimestamp="2024-01-01T00:00:01Z",
        reportingController="r",
        reportingInstance="i",
    )
    assert converted(newer, EVENT) == event


def test_the_older_event_always_has_reporter_fields():
    event = converted(obj(NEWER_EVENT), EVENT)
    assert (event["reportingComponent"], event["reportingInstance"]) == ("", "")
    assert converted(event, NEWER_EVENT) == obj(NEWER_EVENT)


# --- Autoscalers ------------------------------------------------------------------------------------------------------

CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
OTHERS = [
    {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "100Mi"}}},
    {"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "5"}}},
    {
        "type": "Object",
        "object": {"metric": {"name": "m"}, "describedObject": TARGET, "target": {"type": "Value", "value": "5"}},
    },
    {
        "type": "External",
        "external": {
            "metric": {"name": "e", "selector": {"matchLabels": {"a": "b"}}},
            "target": {"type": "AverageValue", "averageValue": "3"},
        },
    },
    {
        "type": "ContainerResource",
        "containerResource": {
            "name": "cpu",
            "container": "c",
            "target": {"type": "Utilization", "averageUtilization": 5},
        },
    },
]
STATUS = {
    "currentReplicas": 2,
    "desiredReplicas": 3,
    "conditions": [{"type": "ScalingActive", "status": "True"}],
    "currentMetrics": [
        {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 40, "averageValue": "1"}}}
    ],
}


def test_the_utilization_of_the_cpu_is_a_field_of_the_older_version():
    older = converted(obj(V2, spec={"maxReplicas": 3, "scaleTargetRef": TARGET, "metrics": [CPU]}), V1)
    assert older["spec"] == {"maxReplicas": 3, "scaleTargetRef": TARGET, "targetCPUUtilizationPercentage": 50}
    assert "annotations" not in older["metadata"]


def test_other_metrics_are_kept_in_an_annotation_as_the_older_version_wrote_them():
    older = converted(obj(V2, spec={"maxReplicas": 3, "metrics": [CPU, *OTHERS]}), V1)
    kept = json.loads(older["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/metrics"])
    assert kept == [
        {"type": "Resource", "resource": {"name": "memory", "targetAverageValue": "100Mi"}},
        {"type": "Pods", "pods": {"metricName": "m", "targetAverageValue": "5"}},
        {"type": "Object", "object": {"target": TARGET, "metricName": "m", "targetValue": "5"}},
        {
            "type": "External",
            "external": {
                "metricName": "e",
                "metricSelector": {"matchLabels": {"a": "b"}},
                "targetAverageValue": "3",
            },
        },
        {
            "type": "ContainerResource",
            "containerResource": {"name": "cpu", "container": "c", "targetAverageUtilization": 5},
        },
    ]


@given(st.permutations(OTHERS).flatmap(lambda order: st.integers(0, 5).map(lambda count: order[:count])), st.booleans())
def test_a_round_trip_loses_nothing(metrics, behaves):
    spec = {"maxReplicas": 3, "metrics": [*metrics, CPU]}
    if behaves:
        spec["behavior"] = {"scaleUp": {"selectPolicy": "Max"}}
    newer = obj(V2, spec=spec, status=STATUS)
    newer["metadata"]["annotations"] = {"mine": "stays"}
    older = converted(newer, V1)
    assert older["status"]["currentCPUUtilizationPercentage"] == 40
    assert converted(older, V2) == newer


def test_without_metrics_the_cpu_is_the_metric():
    [metric] = converted(obj(V1, spec={"maxReplicas": 3}), V2)["spec"]["metrics"]
    assert metric["resource"] == {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}


@pytest.mark.parametrize("text", ["", "x", "1", "{}", "[1]", "null", "[[[", '[{"resource":1}]'])
def test_an_invalid_annotation_is_ignored(text):
    older = obj(V1, spec={"maxReplicas": 3, "targetCPUUtilizationPercentage": 50})
    names = ("metrics", "current-metrics", "behavior", "conditions")
    older["metadata"]["annotations"] = {f"autoscaling.alpha.kubernetes.io/{name}": text for name in names}
    newer = converted(older, V2)
    assert newer["spec"]["metrics"][-1] == CPU
    assert "annotations" not in newer["metadata"]

"""Workloads and autoscalers in many states."""

from __future__ import annotations

from typing import Any

from tests.real.tables.sample import (
    CONTAINERS,
    LATER,
    LONG_AGO,
    LONG_SELECTOR,
    ONCE,
    SELECTOR,
    TEMPLATE,
    Sample,
    Tree,
    condition,
    local,
)


def job(name: str, *conditions: Tree, spec: Tree | None = None, deleted: bool = False, **status: Any) -> Sample:
    given = {"conditions": list(conditions), **status} if conditions or status else None
    return local("batch/v1", "jobs", name, given, spec={"template": ONCE, **(spec or {})}, deleted=deleted)


def autoscaler(name: str, metrics: list[Tree], current: list[Tree] | None = None, **spec: Any) -> Sample:
    target = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}
    fields = {"scaleTargetRef": target, "maxReplicas": 5, "metrics": metrics, **spec}
    status = {"currentReplicas": 2, "desiredReplicas": 3, "currentMetrics": current} if current is not None else None
    return local("autoscaling/v2", "horizontalpodautoscalers", name, status, spec=fields)


def resource_metric(**target: Any) -> Tree:
    kind = "Utilization" if "averageUtilization" in target else "AverageValue"
    return {"type": "Resource", "resource": {"name": "memory", "target": {"type": kind, **target}}}


def container_metric(**target: Any) -> Tree:
    kind = "Utilization" if "averageUtilization" in target else "AverageValue"
    source = {"name": "cpu", "container": "web", "target": {"type": kind, **target}}
    return {"type": "ContainerResource", "containerResource": source}


def other_metric(type_: str, **target: Any) -> Tree:
    kind = "AverageValue" if "averageValue" in target else "Value"
    source: Tree = {"metric": {"name": "m"}, "target": {"type": kind, **target}}
    if type_ == "Object":
        source["describedObject"] = {"kind": "Service", "name": "web", "apiVersion": "v1"}
    return {"type": type_, type_.lower(): source}


def current_metric(type_: str, **current: Any) -> Tree:
    name = type_[0].lower() + type_[1:]
    source: Tree = {"current": current}
    if "Resource" in type_:
        source["name"] = "cpu"
        if type_ == "ContainerResource":
            source["container"] = "web"
    else:
        source["metric"] = {"name": "m"}
    if type_ == "Object":
        source["describedObject"] = {"kind": "Service", "name": "web", "apiVersion": "v1"}
    return {"type": type_, name: source}


COUNTS = {"replicas": 3, "readyReplicas": 2, "availableReplicas": 1, "observedGeneration": 1}

WORKLOADS = [
    local("v1", "podtemplates", "a", template=TEMPLATE),
    local("v1", "podtemplates", "plain", template={"spec": {"containers": CONTAINERS[:1]}}),
    local(
        "v1",
        "replicationcontrollers",
        "a",
        COUNTS,
        spec={"replicas": 4, "selector": {"app": "web"}, "template": TEMPLATE},
    ),
    local("v1", "replicationcontrollers", "plain", spec={"template": TEMPLATE}),
    local("apps/v1", "replicasets", "a", COUNTS, spec={"replicas": 4, "selector": SELECTOR, "template": TEMPLATE}),
    local("apps/v1", "replicasets", "plain", spec={"selector": SELECTOR, "template": TEMPLATE}),
    local(
        "apps/v1",
        "deployments",
        "a",
        {**COUNTS, "updatedReplicas": 3, "unavailableReplicas": 2},
        spec={"replicas": 4, "selector": SELECTOR, "template": TEMPLATE},
    ),
    local(
        "apps/v1",
        "deployments",
        "selector",
        spec={
            "replicas": 0,
            "selector": LONG_SELECTOR,
            "template": {**TEMPLATE, "metadata": {"labels": {"app": "web", "tier": "a"}}},
        },
    ),
    local(
        "apps/v1",
        "statefulsets",
        "a",
        {"replicas": 3, "readyReplicas": 2},
        spec={"replicas": 4, "selector": SELECTOR, "template": TEMPLATE, "serviceName": "web"},
    ),
    local("apps/v1", "statefulsets", "plain", spec={"selector": SELECTOR, "template": TEMPLATE, "serviceName": "web"}),
    local(
        "apps/v1",
        "daemonsets",
        "a",
        {
            "desiredNumberScheduled": 5,
            "currentNumberScheduled": 4,
            "numberReady": 3,
            "updatedNumberScheduled": 2,
            "numberAvailable": 1,
            "numberMisscheduled": 0,
        },
        spec={
            "selector": SELECTOR,
            "template": {**TEMPLATE, "spec": {"containers": CONTAINERS, "nodeSelector": {"b": "2", "a": "1"}}},
        },
    ),
    local("apps/v1", "daemonsets", "plain", spec={"selector": SELECTOR, "template": TEMPLATE}),
    local("apps/v1", "controllerrevisions", "a", revision=7, data={"a": 1}),
    local(
        "apps/v1",
        "controllerrevisions",
        "owned",
        revision=8,
        data={},
        metadata={
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "1"},
                {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "2", "controller": True},
            ]
        },
    ),
    job("plain"),
    job("started", startTime=LONG_AGO, active=1),
    job(
        "complete",
        condition("SuccessCriteriaMet"),
        condition("Complete"),
        startTime=LONG_AGO,
        completionTime=LATER,
        succeeded=1,
    ),
    job("failed", condition("FailureTarget"), condition("Failed"), startTime=LONG_AGO, failed=1),
    job("suspended", condition("Suspended"), spec={"suspend": True}),
    job("target", condition("FailureTarget"), startTime=LONG_AGO),
    job("criteria", condition("SuccessCriteriaMet"), startTime=LONG_AGO),
    job("several", spec={"completions": 5, "parallelism": 2}, startTime=LONG_AGO, succeeded=2),
    job("work-queue", spec={"parallelism": 3, "completions": None}, startTime=LONG_AGO),
    job("deleted", deleted=True),
    local("batch/v1", "cronjobs", "a", spec={"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": ONCE}}}),
    local(
        "batch/v1",
        "cronjobs",
        "b",
        {
            "lastScheduleTime": LONG_AGO,
            "active": [{"kind": "Job", "name": "x"}, {"kind": "Job", "name": "y"}],
        },
        spec={
            "schedule": "@daily",
            "timeZone": "Europe/Berlin",
            "suspend": True,
            "jobTemplate": {"spec": {"template": ONCE}},
        },
    ),
    local("policy/v1", "poddisruptionbudgets", "a", spec={"minAvailable": 2, "selector": SELECTOR}),
    local(
        "policy/v1",
        "poddisruptionbudgets",
        "b",
        {
            "disruptionsAllowed": 3,
            "currentHealthy": 4,
            "desiredHealthy": 1,
            "expectedPods": 4,
        },
        spec={"maxUnavailable": "30%", "selector": SELECTOR},
    ),
    local("policy/v1", "poddisruptionbudgets", "c"),
    local(
        "autoscaling/v1",
        "horizontalpodautoscalers",
        "old",
        spec={
            "scaleTargetRef": {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"},
            "maxReplicas": 3,
            "targetCPUUtilizationPercentage": 40,
        },
    ),
    autoscaler("plain", [], minReplicas=2),
    autoscaler(
        "resources",
        [resource_metric(averageUtilization=70), resource_metric(averageValue="1500Mi")],
        [
            current_metric("Resource", averageUtilization=33, averageValue="5"),
            current_metric("Resource", averageValue="1Gi"),
        ],
    ),
    autoscaler("unknown", [resource_metric(averageUtilization=70), resource_metric(averageValue="1Gi")]),
    autoscaler(
        "containers",
        [container_metric(averageUtilization=70), container_metric(averageValue="500m")],
        [current_metric("ContainerResource", averageUtilization=5, averageValue="5"), {"type": "Resource"}],
    ),
    autoscaler(
        "pods",
        [other_metric("Pods", averageValue="100"), other_metric("Pods", averageValue="1k")],
        [current_metric("Pods", averageValue="50")],
    ),
    autoscaler(
        "objects",
        [other_metric("Object", value="100"), other_metric("Object", averageValue="5")],
        [current_metric("Object", value="1500m"), current_metric("Object", value="1", averageValue="2")],
    ),
    autoscaler(
        "external",
        [other_metric("External", value="100"), other_metric("External", averageValue="5")],
        [current_metric("External", value="20"), current_metric("External", value="2")],
    ),
    autoscaler(
        "many",
        [other_metric("External", value=str(number)) for number in range(1, 6)],
        [current_metric("External", value="0.5")],
        behavior={"scaleDown": {"stabilizationWindowSeconds": 5}},
    ),
]

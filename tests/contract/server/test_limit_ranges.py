"""LimitRanges: defaults for containers, and what exceeds limits."""

import time
from typing import Any

import pytest
from tests.contract.server.api import API

LIMIT = {
    "type": "Container",
    "default": {"cpu": "500m", "memory": "200Mi"},
    "defaultRequest": {"cpu": "100m"},
    "min": {"cpu": "50m"},
    "max": {"cpu": "1", "memory": "1Gi"},
    "maxLimitRequestRatio": {"cpu": "5"},
}


def pod(requests: dict[str, str] | None = None, limits: dict[str, str] | None = None) -> dict[str, Any]:
    resources = {name: value for name, value in (("requests", requests), ("limits", limits)) if value}
    return {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i", "resources": resources}]}}


def limit(api: API, *limits: dict[str, Any]) -> None:
    """Create a LimitRange and return when it is enforced; a real server reads them from a cache."""
    claim = {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}
    api.create("limitranges", "limits", spec={"limits": [*limits, claim]})
    deadline = time.monotonic() + 20
    while api.post(f"{api.path('persistentvolumeclaims')}?dryRun=All", claim_of("2Gi")).status != 403:
        assert time.monotonic() < deadline


def claim_of(storage: str) -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}
    return {"metadata": {"name": "a"}, "spec": spec}


@pytest.mark.parametrize(
    ("limit", "field", "problem"),
    [
        (
            {"type": "PersistentVolumeClaim", "min": {}},
            "limits",
            "Required value: either minimum or maximum storage value is required, but neither was provided",
        ),
        ({"type": "Pod", "default": {"cpu": "1"}}, "default", "Forbidden: may not be specified when `type` is 'Pod'"),
        (
            {"type": "Container", "min": {"cpu": "1"}, "defaultRequest": {"cpu": "0"}},
            "defaultRequest[cpu]",
            'Invalid value: "0": min value 1 is greater than default request value 0',
        ),
        (
            {"type": "Container", "max": {"cpu": "500m"}, "default": {"cpu": "1"}, "defaultRequest": {"cpu": "0"}},
            "default[cpu]",
            'Invalid value: "500m": default value 1 is greater than max value 500m',
        ),
        (
            {"type": "Container", "min": {"cpu": "1"}, "max": {"cpu": "2"}, "maxLimitRequestRatio": {"cpu": "3"}},
            "maxLimitRequestRatio[cpu]",
            'Invalid value: "3": ratio 3 is greater than max/min = 2.000000',
        ),
    ],
)
def test_the_bounds_of_a_limit_must_be_in_order(api: API, limit: Any, field: str, problem: str):
    body = {"metadata": {"name": "a"}, "spec": {"limits": [limit]}}
    found = api.post(api.path("limitranges"), body).failed(422, "Invalid")["details"]["causes"]
    assert [(each["field"], each["message"]) for each in found] == [(f"spec.limits[0].{field}", problem)]


def test_the_creator_of_a_pod_does_not_manage_its_defaults(api: API):
    limit(api, LIMIT)
    made = api.post(api.path("pods"), pod()).ok(201)
    [entry] = made["metadata"]["managedFields"]
    assert "f:metadata" not in entry["fieldsV1"]
    assert entry["fieldsV1"]["f:spec"]["f:containers"]['k:{"name":"c"}']["f:resources"] == {}


def test_a_pod_gets_the_defaults(api: API):
    limit(api, LIMIT)
    made = api.post(api.path("pods"), pod()).ok(201)
    assert made["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "500m", "memory": "200Mi"},
        "requests": {"cpu": "100m", "memory": "200Mi"},
    }
    note = "LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c"
    assert made["metadata"]["annotations"] == {"kubernetes.io/limit-ranger": note}


@pytest.mark.parametrize(
    ("requests", "limits", "problem"),
    [
        ({"cpu": "10m"}, {"cpu": "50m"}, "minimum cpu usage per Container is 50m, but request is 10m"),
        ({"cpu": "1"}, {"cpu": "2"}, "maximum cpu usage per Container is 1, but limit is 2"),
        (
            {"cpu": "100m"},
            {"cpu": "1"},
            "cpu max limit to request ratio per Container is 5, but provided ratio is 10.000000",
        ),
    ],
)
def test_a_pod_outside_of_the_limits_is_rejected(api: API, requests: Any, limits: Any, problem: str):
    limit(api, LIMIT)
    response = api.post(api.path("pods"), pod(requests, limits))
    assert response.status == 403
    assert response.json["message"] == f'pods "a" is forbidden: {problem}'


def test_the_limits_of_a_pod_are_those_of_its_containers_together(api: API):
    limit(api, {"type": "Pod", "max": {"cpu": "1"}})
    assert api.post(api.path("pods"), pod(limits={"cpu": "1"})).status == 201
    response = api.post(api.path("pods"), pod(limits={"memory": "1Gi"}))
    assert response.json["message"] == 'pods "a" is forbidden: maximum cpu usage per Pod is 1.  No limit is specified'


def test_a_claim_above_the_limit_is_rejected(api: API):
    limit(api)
    response = api.post(api.path("persistentvolumeclaims"), claim_of("2Gi"))
    problem = "maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi"
    assert response.json["message"] == f'persistentvolumeclaims "a" is forbidden: {problem}'

"""The cells of kinds whose objects no real server in the tests has, or whose status its controllers write."""

from datetime import UTC, datetime
from typing import Any

import pytest

from listwatch.server.tables.kinds import BUILTIN_TABLES

NOW = datetime(2026, 1, 1, 0, 0, 9, tzinfo=UTC)


def cells(group: str, kind: str, tree: dict[str, Any]) -> dict[str, Any]:
    table = BUILTIN_TABLES[group, kind]
    found = table.row({"metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"}, **tree}, NOW)
    return dict(zip((column.name for column in table.columns), found, strict=True))


@pytest.mark.parametrize(
    ("spec", "condition", "service", "available"),
    [
        ({}, {"status": "True", "reason": "Local"}, "Local", "True"),
        ({"service": {"namespace": "n", "name": "s"}}, {"status": "False", "reason": "Gone"}, "n/s", "False (Gone)"),
        ({}, {"status": "False"}, "Local", "False"),
        ({}, None, "Local", "Unknown"),
    ],
)
def test_an_api_service_shows_whether_it_is_available(
    spec: Any, condition: dict[str, str] | None, service: str, available: str
):
    status = {"conditions": [{"type": "Available", **condition}]} if condition else {}
    found = cells("apiregistration.k8s.io", "APIService", {"spec": spec, "status": status})
    assert found == {"Name": "a", "Service": service, "Available": available, "Age": "9s"}


@pytest.mark.parametrize(
    ("types", "state"), [([], "Pending"), (["Issued"], "Issued"), (["SuggestedKeyType", "Denied"], "Denied")]
)
def test_a_request_for_a_pod_certificate_shows_its_last_condition(types: list[str], state: str):
    spec = {"podName": "p", "serviceAccountName": "s", "nodeName": "n", "signerName": "e/s"}
    tree = {"spec": spec, "status": {"conditions": [{"type": each, "status": "True"} for each in types]}}
    found = cells("certificates.k8s.io", "PodCertificateRequest", tree)
    assert list(found.values()) == ["a", "p", "s", "n", "e/s", state, "<none>"]


def test_a_request_for_the_status_of_pools_shows_sums():
    pools = [{"totalDevices": 3, "availableDevices": 1, "allocatedDevices": 2}, {"validationError": "x"}]
    ended = {"type": "Complete", "status": "True", "lastTransitionTime": "2026-01-01T00:00:04Z"}
    request = {"spec": {"driver": "d"}, "status": {"pools": pools, "poolCount": 5, "conditions": [ended]}}
    found = cells("resource.k8s.io", "ResourcePoolStatusRequest", request)
    assert list(found.values()) == ["a", "d", "3", "1", "2", "0", "1", 5, "Complete (2/5 pools)", "5s"]
    request = {
        "spec": {"driver": "d"},
        "status": {"poolCount": 5, "conditions": [{"type": "Failed", "status": "True"}]},
    }
    found = cells("resource.k8s.io", "ResourcePoolStatusRequest", request)
    assert list(found.values()) == ["a", "d", "-", "-", "-", "-", "-", 5, "Failed", "<none>"]


@pytest.mark.parametrize(
    ("conditions", "status"),
    [
        ([], "Pending"),
        ([{"type": "PodGroupScheduled", "status": "True"}], "Scheduled"),
        ([{"type": "PodGroupScheduled", "status": "False"}], "Unschedulable"),
        ([{"type": "PodGroupScheduled", "status": "True"}, {"type": "DisruptionTarget", "reason": "Out"}], "Out"),
    ],
)
def test_a_pod_group_shows_whether_it_is_scheduled(conditions: list[Any], status: str):
    spec = {"schedulingPolicy": {"gang": {}}, "workloadRef": {"workloadName": "w"}}
    found = cells("scheduling.k8s.io", "PodGroup", {"spec": spec, "status": {"conditions": conditions}})
    assert found == {"Name": "a", "Policy": "Gang", "Workload": "w", "Status": status, "Age": "9s"}


def test_a_component_shows_its_health():
    conditions = [{"type": "Healthy", "status": "False", "message": "m", "error": "e"}]
    found = cells("", "ComponentStatus", {"conditions": conditions})
    assert found == {"Name": "a", "Status": "Unhealthy", "Message": "m", "Error": "e"}

"""ResourceQuotas: what is used, and what exceeds a quota."""

import time
from typing import Any

import pytest
from tests.contract.server.api import API

HARD = {"pods": "2", "requests.cpu": "1", "requests.memory": "200Mi"}


def pod(cpu: str = "100m", memory: str = "50Mi", **spec: Any) -> dict[str, Any]:
    resources = {"requests": {"cpu": cpu, "memory": memory}}
    return {"spec": {"containers": [{"name": "a", "image": "a", "resources": resources}], **spec}}


PROBE = "count/endpoints"


def quota(api: API, name: str = "limits", *, hard: dict[str, str]) -> None:
    """Create a quota and return when it is enforced; nothing fits into one of its limits, which shows it."""
    create_quota(api, name, hard={**hard, PROBE: "0"})
    wait_until_enforced(api, name, "endpoints", {})


def create_quota(api: API, name: str, *, hard: dict[str, str], **spec: Any) -> None:
    """Create a quota. A real server without controllers needs the status that a controller would write."""
    made = api.create("resourcequotas", name, spec={"hard": hard, **spec})
    path = api.path("resourcequotas", name)
    if not api.get(path).ok().get("status"):
        status = {"hard": hard, "used": dict.fromkeys(hard, "0")}
        api.put(f"{path}/status", {**made, "status": status}).ok()


def wait_until_enforced(api: API, name: str, resource: str, too_much: dict[str, Any]) -> None:
    """Return when a request exceeds the quota; a real server reads quotas from a cache."""
    deadline = time.monotonic() + 20
    while True:
        probe = api.post(f"{api.path(resource)}?dryRun=All", {"metadata": {"name": "probe"}, **too_much})
        if f"exceeded quota: {name}," in probe.json.get("message", ""):
            return
        assert time.monotonic() < deadline, probe.body


def used(api: API, name: str = "limits") -> dict[str, str]:
    found: dict[str, str] = api.get(api.path("resourcequotas", name)).ok()["status"]["used"]
    found.pop(PROBE, None)
    return found


def test_a_new_quota_uses_nothing(api: API):
    quota(api, hard={**HARD, "count/deployments.apps": "1"})
    names = ("pods", "requests.cpu", "requests.memory", "count/deployments.apps")
    assert used(api) == dict.fromkeys(names, "0")


def test_what_a_pod_requests_is_used(api: API):
    quota(api, hard=HARD)
    api.create("pods", "one", **pod())
    assert used(api) == {"pods": "1", "requests.cpu": "100m", "requests.memory": "50Mi"}
    api.create("pods", "two", **pod(cpu="0.2"))
    assert used(api) == {"pods": "2", "requests.cpu": "300m", "requests.memory": "100Mi"}


def test_a_pod_that_exceeds_a_quota_is_rejected(api: API):
    quota(api, hard=HARD)
    api.create("pods", "one", **pod())
    failed = api.post(api.path("pods"), {"metadata": {"name": "two"}, **pod(cpu="950m", memory="180Mi")})
    assert failed.failed(403, "Forbidden")["message"] == (
        'pods "two" is forbidden: exceeded quota: limits, requested: requests.cpu=950m,requests.memory=180Mi, '
        "used: requests.cpu=100m,requests.memory=50Mi, limited: requests.cpu=1,requests.memory=200Mi"
    )
    assert used(api)["pods"] == "1"


def test_a_dry_run_is_checked_and_uses_nothing(api: API):
    quota(api, hard={"pods": "1"})
    for _ in range(2):
        api.post(f"{api.path('pods')}?dryRun=All", {"metadata": {"name": "one"}, **pod()}).ok(201)
    assert used(api) == {"pods": "0"}
    api.create("pods", "one", **pod())
    failed = api.post(f"{api.path('pods')}?dryRun=All", {"metadata": {"name": "two"}, **pod()})
    failed.failed(403, "Forbidden")


def test_a_pod_must_state_what_a_quota_limits(api: API):
    quota(api, hard={"requests.cpu": "1", "limits.memory": "1Gi"})
    containers = [{"name": "b", "image": "a"}, {"name": "a", "image": "a", "resources": {"requests": {"cpu": "1"}}}]
    failed = api.post(api.path("pods"), {"metadata": {"name": "one"}, "spec": {"containers": containers}})
    assert failed.failed(403, "Forbidden")["message"] == (
        'pods "one" is forbidden: failed quota: limits: must specify limits.memory for: a,b; requests.cpu for: b'
    )


@pytest.mark.parametrize(
    ("scope", "inside", "outside"),
    [
        ("Terminating", {"activeDeadlineSeconds": 60}, {}),
        ("NotTerminating", {}, {"activeDeadlineSeconds": 60}),
        ("NotBestEffort", {}, {"containers": [{"name": "a", "image": "a"}]}),
        ("BestEffort", {"containers": [{"name": "a", "image": "a"}]}, {}),
    ],
)
def test_a_quota_covers_the_pods_of_its_scope(api: API, scope: str, inside: dict[str, Any], outside: dict[str, Any]):
    create_quota(api, "limits", hard={"pods": "0"}, scopes=[scope])
    wait_until_enforced(api, "limits", "pods", pod(**inside))
    api.create("pods", "out", **pod(**outside))
    assert used(api) == {"pods": "0"}


def test_services_are_counted_with_their_ports(api: API):
    quota(api, hard={"services": "2", "services.nodeports": "1", "services.loadbalancers": "0"})
    ports = [{"name": "a", "port": 80}]
    api.create("services", "one", spec={"type": "NodePort", "ports": ports})
    assert used(api) == {"services": "1", "services.nodeports": "1", "services.loadbalancers": "0"}
    body = {"metadata": {"name": "two"}, "spec": {"type": "LoadBalancer", "ports": ports}}
    assert api.post(api.path("services"), body).failed(403, "Forbidden")["message"] == (
        'services "two" is forbidden: exceeded quota: limits, requested: '
        "services.loadbalancers=1,services.nodeports=1, used: services.loadbalancers=0,services.nodeports=1, "
        "limited: services.loadbalancers=0,services.nodeports=1"
    )
    api.create("services", "two", spec={"ports": ports})
    changed = api.patch(api.path("services", "two"), {"spec": {"type": "NodePort"}})
    assert "exceeded quota" in changed.failed(403, "Forbidden")["message"]


def test_claims_are_counted_by_storage_class(api: API):
    hard = {"persistentvolumeclaims": "5", "requests.storage": "10Gi"}
    gold = {f"gold.storageclass.storage.k8s.io/{name}": value for name, value in hard.items()}
    quota(api, hard={**hard, **gold})
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}
    api.create("persistentvolumeclaims", "plain", spec={**spec, "storageClassName": "silver"})
    api.create("persistentvolumeclaims", "gold", spec={**spec, "storageClassName": "gold"})
    assert used(api) == {
        "persistentvolumeclaims": "2",
        "requests.storage": "4Gi",
        "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
        "gold.storageclass.storage.k8s.io/requests.storage": "2Gi",
    }


def test_objects_are_counted(api: API):
    quota(api, hard={"configmaps": "9", "count/configmaps": "9", "count/leases.coordination.k8s.io": "1"})
    api.create("configmaps", "one")
    leases = f"/apis/coordination.k8s.io/v1/namespaces/{api.namespace}/leases"
    api.post(leases, {"metadata": {"name": "one"}}).ok(201)
    failed = api.post(leases, {"metadata": {"name": "two"}}).failed(403, "Forbidden")
    assert failed["message"] == (
        'leases.coordination.k8s.io "two" is forbidden: exceeded quota: limits, requested: '
        "count/leases.coordination.k8s.io=1, used: count/leases.coordination.k8s.io=1, "
        "limited: count/leases.coordination.k8s.io=1"
    )


def test_each_quota_of_a_namespace_is_checked(api: API):
    quota(api, "many", hard={"pods": "5"})
    quota(api, "few", hard={"pods": "0"})
    failed = api.post(api.path("pods"), {"metadata": {"name": "one"}, **pod()}).failed(403, "Forbidden")
    assert "exceeded quota: few, requested: pods=1, used: pods=0, limited: pods=0" in failed["message"]
    assert used(api, "many") == {"pods": "0"}


def test_a_quota_covers_the_claims_of_a_class(api: API):
    expression = {"scopeName": "VolumeAttributesClass", "operator": "In", "values": ["fast"]}
    scopes = {"matchExpressions": [expression]}
    create_quota(api, "limits", hard={"persistentvolumeclaims": "0"}, scopeSelector=scopes)
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    fast = {"spec": {**claim, "volumeAttributesClassName": "fast"}}
    wait_until_enforced(api, "limits", "persistentvolumeclaims", fast)
    api.create("persistentvolumeclaims", "other", spec={**claim, "volumeAttributesClassName": "slow"})
    api.create("persistentvolumeclaims", "none", spec=claim)


def test_devices_of_claims_are_counted_by_class(api: API):
    create_quota(api, "limits", hard={"gpus.deviceclass.resource.k8s.io/devices": "1"})

    def claim(count: int, device_class: str) -> Any:
        exactly = {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count}
        spec = {"devices": {"requests": [{"name": "a", "exactly": exactly}]}}
        path = f"{api.path('resourceclaims', version='resource.k8s.io/v1')}?dryRun=All"
        return api.post(path, {"metadata": {"name": "a"}, "spec": spec})

    deadline = time.monotonic() + 20
    while (found := claim(2, "gpus")).status == 201 or "status unknown" in found.json["message"]:
        assert time.monotonic() < deadline
    why = "exceeded quota: limits, requested: gpus.deviceclass.resource.k8s.io/devices=2, used: "
    assert why in found.failed(403, "Forbidden")["message"]
    claim(1, "gpus").ok(201)
    claim(2, "others").ok(201)


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"hard": {"pods": "1.5"}}, 'spec.hard[pods]: Invalid value: "1500m": must be an integer'),
        (
            {"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In"}]}},
            "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator`",
        ),
        (
            {"scopeSelector": {"matchExpressions": [{"scopeName": "BestEffort", "operator": "In", "values": ["a"]}]}},
            "spec.scopeSelector.matchExpressions.operator: Invalid value: \"In\": must be 'Exists' when scope is any",
        ),
    ],
)
def test_a_wrong_quota_is_refused(api: API, spec: dict[str, Any], problem: str):
    body = {"metadata": {"name": "limits"}, "spec": {"hard": {"pods": "1"}, **spec}}
    assert problem in api.post(api.path("resourcequotas"), body).failed(422, "Invalid")["message"]

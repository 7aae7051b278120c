"""What new pods and claims get from PriorityClasses, RuntimeClasses and the default StorageClass."""

import secrets
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.contract.server.api import API

CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
STORAGE = "/apis/storage.k8s.io/v1/storageclasses"


def create_pod(api: API, **spec: Any) -> Any:
    body = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}
    return api.post(f"{api.path('pods')}?dryRun=All", body)


@pytest.fixture
def priority_class(api: API) -> Iterator[str]:
    """The name of a class, once the server knows it."""
    name = f"important-{secrets.token_hex(4)}"
    body = {"metadata": {"name": name}, "value": 1000, "preemptionPolicy": "Never"}
    api.post(CLASSES, body).ok(201)
    deadline = time.monotonic() + 20
    while create_pod(api, priorityClassName=name).status == 403:
        assert time.monotonic() < deadline
    yield name
    api.delete(f"{CLASSES}/{name}").ok()


def test_a_pod_gets_the_priority_of_its_class(api: API, priority_class: str):
    spec = create_pod(api, priorityClassName=priority_class).ok(201)["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (1000, "Never")


def test_a_pod_without_a_class_has_the_priority_zero_and_preempts_others(api: API):
    spec = create_pod(api).ok(201)["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (0, "PreemptLowerPriority")
    assert "priorityClassName" not in spec


def test_an_unknown_class_is_rejected(api: API):
    response = create_pod(api, priorityClassName="unknown")
    assert response.status == 403
    assert response.json["message"] == 'pods "a" is forbidden: no PriorityClass with name unknown was found'


def test_another_priority_than_that_of_the_class_is_rejected(api: API, priority_class: str):
    response = create_pod(api, priorityClassName=priority_class, priority=5)
    assert response.status == 403
    assert response.json["message"] == (
        'pods "a" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority '
        "admission controller computed 1000 from the given PriorityClass name"
    )


def test_a_claim_gets_the_default_class(api: API):
    name = f"default-{secrets.token_hex(4)}"
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    api.post(STORAGE, {"metadata": {"name": name, "annotations": annotations}, "provisioner": "example.com/none"}).ok(
        201
    )
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    deadline = time.monotonic() + 20
    try:
        while True:
            made = api.post(
                f"{api.path('persistentvolumeclaims')}?dryRun=All", {"metadata": {"name": "a"}, "spec": claim}
            )
            if made.ok(201)["spec"].get("storageClassName") == name:
                break
            assert time.monotonic() < deadline
        explicit = {"metadata": {"name": "a"}, "spec": {**claim, "storageClassName": ""}}
        made = api.post(f"{api.path('persistentvolumeclaims')}?dryRun=All", explicit)
        assert made.ok(201)["spec"]["storageClassName"] == ""
    finally:
        api.delete(f"{STORAGE}/{name}").ok()


def test_only_a_class_that_allows_it_lets_claims_grow(api: API):
    names = {allowed: f"class-{secrets.token_hex(4)}" for allowed in (False, True)}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}
    for allowed, name in names.items():
        body = {"metadata": {"name": name}, "provisioner": "example.com/none", "allowVolumeExpansion": allowed}
        api.post(STORAGE, body).ok(201)
        api.create("persistentvolumeclaims", name, spec={**claim, "storageClassName": name, "volumeName": "a"})
        path = api.path("persistentvolumeclaims", name)
        api.patch(f"{path}/status", {"status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}}).ok()

    def resize(allowed: bool, size: str) -> Any:
        path = api.path("persistentvolumeclaims", names[allowed])
        return api.patch(path, {"spec": {"resources": {"requests": {"storage": size}}}})

    try:
        why = (
            "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support"
        )
        refused = resize(False, "3Gi").failed(403, "Forbidden")
        assert refused["message"] == f'persistentvolumeclaims "{names[False]}" is forbidden: {why} resize'
        deadline = time.monotonic() + 20
        while (grown := resize(True, "3Gi")).status == 403:  # until a real server knows the class
            assert time.monotonic() < deadline
        assert grown.ok()["spec"]["resources"]["requests"] == {"storage": "3Gi"}
        shrunk = resize(True, "512Mi").failed(422, "Invalid")
        assert (
            "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"
            in shrunk["message"]
        )
    finally:
        for name in names.values():
            api.delete(f"{STORAGE}/{name}").ok()


INGRESS_CLASSES = "/apis/networking.k8s.io/v1/ingressclasses"


def test_an_ingress_gets_the_default_class(api: API):
    name = f"default-{secrets.token_hex(4)}"
    annotations = {"ingressclass.kubernetes.io/is-default-class": "true"}
    body = {"metadata": {"name": name, "annotations": annotations}, "spec": {"controller": "example.com/none"}}
    api.post(INGRESS_CLASSES, body).ok(201)

    def create(**metadata: Any) -> Any:
        backend = {"service": {"name": "a", "port": {"number": 80}}}
        ingress = {"metadata": {"name": "a", **metadata}, "spec": {"defaultBackend": backend}}
        path = f"{api.path('ingresses', version='networking.k8s.io/v1')}?dryRun=All"
        return api.post(path, ingress).ok(201)["spec"]

    try:
        deadline = time.monotonic() + 20
        while create().get("ingressClassName") != name:
            assert time.monotonic() < deadline
        assert "ingressClassName" not in create(annotations={"kubernetes.io/ingress.class": "other"})
    finally:
        api.delete(f"{INGRESS_CLASSES}/{name}").ok()


def test_the_classes_of_the_system_cannot_be_deleted(api: API):
    refused = api.delete(f"{CLASSES}/system-node-critical").failed(403, "Forbidden")
    why = "this is a system priority class and cannot be deleted"
    assert refused["message"] == f'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: {why}'


# --- RuntimeClasses ---------------------------------------------------------------------------------------------------

RUNTIME = "/apis/node.k8s.io/v1/runtimeclasses"


@pytest.fixture
def runtime_class(api: API) -> Iterator[str]:
    """The name of a class with an overhead, a node selector and a toleration."""
    name = f"sandbox-{secrets.token_hex(4)}"
    tolerations = [{"key": "sandbox", "operator": "Exists", "effect": "NoSchedule"}]
    scheduling = {"nodeSelector": {"sandbox": "yes"}, "tolerations": tolerations}
    body = {"metadata": {"name": name}, "handler": "none", "overhead": {"podFixed": {"cpu": "10m"}}}
    api.post(RUNTIME, {**body, "scheduling": scheduling}).ok(201)
    yield name
    api.delete(f"{RUNTIME}/{name}").ok()


def test_a_pod_gets_what_its_runtime_class_declares(api: API, runtime_class: str):
    spec = create_pod(api, runtimeClassName=runtime_class, nodeSelector={"disk": "fast"}).ok(201)["spec"]
    assert spec["overhead"] == {"cpu": "10m"}
    assert spec["nodeSelector"] == {"disk": "fast", "sandbox": "yes"}
    assert {"key": "sandbox", "operator": "Exists", "effect": "NoSchedule"} in spec["tolerations"]


def test_a_pod_that_contradicts_its_runtime_class_is_rejected(api: API, runtime_class: str):
    given = create_pod(api, runtimeClassName=runtime_class, overhead={"cpu": "20m"})
    assert (given.status, given.json["message"]) == (
        403,
        "pods \"a\" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    )
    elsewhere = create_pod(api, runtimeClassName=runtime_class, nodeSelector={"sandbox": "no"})
    assert (elsewhere.status, elsewhere.json["message"]) == (
        403,
        'pods "a" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[sandbox] = yes; '
        "pod.spec.nodeSelector[sandbox] = no",
    )
    assert create_pod(api, runtimeClassName=runtime_class, overhead={"cpu": "0.01"}).status == 201


def test_an_unknown_runtime_class_and_an_overhead_without_one_are_rejected(api: API):
    unknown, without = create_pod(api, runtimeClassName="unknown"), create_pod(api, overhead={"cpu": "1m"})
    assert (unknown.status, unknown.json["message"]) == (
        403,
        'pods "a" is forbidden: pod rejected: RuntimeClass "unknown" not found',
    )
    assert (without.status, without.json["message"]) == (
        403,
        'pods "a" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    )


def test_names_of_sysctls_are_checked(api: API):
    names = ["kernel.shmmax", "net/ipv4/ip_forward", "foo-", "bar.."]
    response = create_pod(api, securityContext={"sysctls": [{"name": name, "value": "1"} for name in names]})
    assert response.status == 422
    pattern = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
    problem = f"must have at most 253 characters and match regex {pattern}"
    assert response.json["message"] == (
        f'Pod "a" is invalid: [spec.securityContext.sysctls[2].name: Invalid value: "foo-": {problem}, '
        f'spec.securityContext.sysctls[3].name: Invalid value: "bar..": {problem}]'
    )


def test_only_one_class_is_the_default(api: API):
    names = [f"default-{secrets.token_hex(4)}" for _ in range(2)]
    first, second = ({"metadata": {"name": name}, "value": 1000, "globalDefault": True} for name in names)
    api.post(CLASSES, first).ok(201)
    deadline = time.monotonic() + 20
    while "priorityClassName" not in create_pod(api).ok(201)["spec"]:
        assert time.monotonic() < deadline
    try:
        why = f"PriorityClass {names[0]} is already marked as default. Only one default can exist"
        rejected = api.post(CLASSES, second).failed(403, "Forbidden")
        assert rejected["message"] == f'priorityclasses.scheduling.k8s.io "{names[1]}" is forbidden: {why}'
        api.post(CLASSES, {**second, "globalDefault": False}).ok(201)
        changed = api.patch(f"{CLASSES}/{names[1]}", {"globalDefault": True})
        assert why in changed.failed(403, "Forbidden")["message"]
        api.patch(f"{CLASSES}/{names[0]}", {"description": "still the default"}).ok()
    finally:
        for name in names:
            api.delete(f"{CLASSES}/{name}")

"""What new pods and claims get from PriorityClasses and the default StorageClass."""

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

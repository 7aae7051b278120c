"""Admission webhooks, which the test serves over HTTPS."""

import base64
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.server.api import API
from tests.contract.server.https_hooks import HTTPSHooks

PATH = "/apis/admissionregistration.k8s.io/v1"
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
Tree = dict[str, Any]


class Hooks:
    """Serves one webhook at a time, and configures it for one namespace."""

    def __init__(self, api: API, namespace: str, folder: Path) -> None:
        self.api = api
        self.answer: Callable[[Tree], Any] = lambda _: {}
        self.requests: list[Tree] = []
        self.released = threading.Event()
        self.name = f"hook-{secrets.token_hex(4)}"
        self._selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
        self._made: list[str] = []
        self._server = HTTPSHooks(self._respond, folder)

    def _respond(self, review: Tree) -> Any:
        request = review["request"]
        if request.get("name") == "probe":
            return self.response(request, {})
        self.requests.append(request)
        answer = self.answer(request)
        return answer if isinstance(answer, bytes) else self.response(request, answer)

    def response(self, request: Tree, answer: Tree) -> bytes:
        response = {"uid": request["uid"], "allowed": True, **answer}
        if request.get("name") == "probe":
            response = {"uid": request["uid"], "allowed": False, "status": {"message": "enforced"}}
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
        return json.dumps(review).encode()

    def add(self, kind: str, answer: Callable[[Tree], Any], **spec: Any) -> None:
        """Configure the webhook, and return when it is called."""
        self.answer = answer
        webhook = {
            "name": f"{self.name}.example.com",
            "clientConfig": self._server.client_config,
            "rules": [RULE],
            "namespaceSelector": self._selector,
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            **spec,
        }
        path = f"{PATH}/{kind}webhookconfigurations"
        self.api.post(path, {"metadata": {"name": self.name}, "webhooks": [webhook]}).ok(201)
        self._made.append(f"{path}/{self.name}")
        deadline = time.monotonic() + 20
        while self.api.post(f"{self.api.path('configmaps')}?dryRun=All", {"metadata": {"name": "probe"}}).status == 201:
            assert time.monotonic() < deadline

    def close(self) -> None:
        for path in self._made:
            self.api.delete(path).ok()
        self._server.close()


@pytest.fixture
def hooks(api: API, namespace: str, tmp_path: Path) -> Iterator[Hooks]:
    found = Hooks(api, namespace, tmp_path)
    yield found
    found.close()


def create(api: API, name: str = "a", **data: str) -> Any:
    return api.post(api.path("configmaps"), {"metadata": {"name": name}, "data": data})


def patch(*operations: Tree) -> Tree:
    return {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(operations).encode()).decode()}


def test_a_webhook_gets_the_request(hooks: Hooks, api: API, namespace: str):
    hooks.add("validating", lambda _: {"warnings": ["be careful"]})
    made = create(api, a="1")
    assert made.status == 201
    assert any("be careful" in warning for warning in made.warnings)
    [request] = hooks.requests
    assert request["operation"] == "CREATE"
    assert (request["namespace"], request["name"], request["dryRun"]) == (namespace, "a", False)
    assert request["kind"] == {"group": "", "version": "v1", "kind": "ConfigMap"}
    assert request["requestResource"] == {"group": "", "version": "v1", "resource": "configmaps"}
    assert request["object"]["data"] == {"a": "1"}
    assert request["oldObject"] is None


def test_a_webhook_denies_a_request(hooks: Hooks, api: API):
    hooks.add("validating", lambda _: {"allowed": False, "status": {"code": 403, "message": "not today"}})
    denied = create(api)
    assert denied.status == 403
    assert denied.json["message"] == f'admission webhook "{hooks.name}.example.com" denied the request: not today'


def test_a_denial_without_a_status_is_a_bad_request(hooks: Hooks, api: API):
    hooks.add("validating", lambda _: {"allowed": False})
    denied = create(api)
    assert denied.status == 400
    message = f'admission webhook "{hooks.name}.example.com" denied the request without explanation'
    assert denied.json["message"] == message


def test_a_mutating_webhook_patches_the_object(hooks: Hooks, api: API):
    hooks.add("mutating", lambda _: patch({"op": "add", "path": "/metadata/labels", "value": {"added": "yes"}}))
    assert create(api, a="1").ok(201)["metadata"]["labels"] == {"added": "yes"}


def test_updates_and_deletions_are_sent(hooks: Hooks, api: API):
    create(api, a="1").ok(201)
    hooks.add("validating", lambda _: {})
    path = api.path("configmaps", "a")
    api.put(path, {"metadata": {"name": "a"}, "data": {"a": "2"}}).ok()
    api.delete(path).ok()
    assert [each["operation"] for each in hooks.requests] == ["UPDATE", "DELETE"]
    assert hooks.requests[0]["oldObject"]["data"] == {"a": "1"}
    assert hooks.requests[1]["object"] is None


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"{}", "received invalid webhook response"),
        ({"uid": "another"}, "received invalid webhook response: expected response.uid="),
        ({"patch": "e30="}, "webhook returned response.patch but not response.patchType"),
        (patch({"op": "remove", "path": "/data/missing"}), "Internal error occurred"),
    ],
)
def test_a_bad_response_fails_the_request(hooks: Hooks, api: API, answer: Any, problem: str):
    hooks.add("mutating", lambda _: answer)
    failed = create(api, a="1")
    assert failed.status == 500
    assert problem in failed.json["message"]
    assert api.get(api.path("configmaps", "a")).status == 404


def test_failures_are_ignored_if_the_policy_says_so(hooks: Hooks, api: API):
    hooks.add("validating", lambda _: b"<html>", failurePolicy="Ignore")
    assert create(api).status == 201


def test_a_condition_selects_what_is_sent(hooks: Hooks, api: API):
    condition = {"name": "checked", "expression": "request.name in ['checked', 'probe']"}
    hooks.add("validating", lambda _: {}, matchConditions=[condition])
    create(api, "other").ok(201)
    create(api, "checked").ok(201)
    assert [each["name"] for each in hooks.requests] == ["checked"]


def test_the_writer_does_not_manage_what_a_webhook_adds(hooks: Hooks, api: API):
    def answer(request: Tree) -> Tree:
        return patch({"op": "add", "path": "/data/added", "value": request["operation"]})

    hooks.add("mutating", answer)
    made = create(api, a="1").ok(201)
    assert made["data"] == {"a": "1", "added": "CREATE"}
    assert owned(made) == {"f:a"}
    changed = api.patch(api.path("configmaps", "a"), {"data": {"b": "2"}}).ok()
    assert changed["data"] == {"a": "1", "b": "2", "added": "UPDATE"}
    assert owned(changed) == {"f:a", "f:b"}


def owned(tree: Tree) -> set[str]:
    """The fields of the data that have a manager."""
    entries = tree["metadata"]["managedFields"]
    return {name for each in entries for name in each["fieldsV1"].get("f:data", {}) if name != "."}

"""Admission webhooks, which the test serves over HTTPS."""

import base64
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.contract.server.api import API
from tests.contract.server.https_hooks import HTTPSHooks, PlainAnswer

PATH = "/apis/admissionregistration.k8s.io/v1"
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
Tree = dict[str, Any]


class Hooks:
    """Serves one webhook at a time, and configures it for one namespace."""

    def __init__(self, api: API, namespace: str, folder: Path) -> None:
        self.api = api
        self.answer: Callable[[Tree], Any] = lambda _: {}
        self.answers: dict[str, Callable[[Tree], Any]] = {}
        self.requests: list[Tree] = []
        self.paths: list[str] = []
        """The paths of the requests; the first webhook has `/hook`."""
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
        self.paths.append(review["path"])
        answer = self.answers.get(review["path"], self.answer)(request)
        return answer if isinstance(answer, bytes | PlainAnswer) else self.response(request, answer)

    def response(self, request: Tree, answer: Tree) -> bytes:
        response = {"uid": request["uid"], "allowed": True, **answer}
        if request.get("name") == "probe":
            response = {"uid": request["uid"], "allowed": False, "status": {"message": "enforced"}}
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
        return json.dumps(review).encode()

    def add(self, kind: str, answer: Callable[[Tree], Any], **spec: Any) -> None:
        """Configure the webhook, and return when it is called."""
        self.answer = answer
        self.add_all(kind, [("/hook", answer, spec)])

    def add_all(self, kind: str, webhooks: Sequence[tuple[str, Callable[[Tree], Any], Tree]]) -> None:
        """Configure several webhooks, each with a path, and return when they are called."""
        specs = []
        for number, (path, answer, spec) in enumerate(webhooks):
            self.answers[path] = answer
            config = self._server.client_config
            webhook = {
                "name": f"{self.name}{number or ''}.example.com",
                "clientConfig": {**config, "url": config["url"].removesuffix("/hook") + path},
                "rules": [RULE],
                "namespaceSelector": self._selector,
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                **spec,
            }
            specs.append(webhook)
        path = f"{PATH}/{kind}webhookconfigurations"
        self.api.post(path, {"metadata": {"name": self.name}, "webhooks": specs}).ok(201)
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
        (
            patch({"op": "remove", "path": "/data/missing"}),
            "error occurred: error in remove for path: '/data/missing': Unable to remove nonexistent key: missing",
        ),
        (patch({"op": "jump", "path": "/data"}), "Internal error occurred: Unexpected kind: jump"),
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


def test_all_validating_webhooks_are_called_although_one_denies(hooks: Hooks, api: API):
    def deny(_: Tree) -> Tree:
        return {"allowed": False, "status": {"message": "no"}}

    hooks.add_all("validating", [("/first", deny, {}), ("/second", lambda _: {}, {}), ("/third", lambda _: {}, {})])
    assert create(api).json["message"] == f'admission webhook "{hooks.name}.example.com" denied the request: no'
    assert sorted(hooks.paths) == ["/first", "/second", "/third"]


def test_a_mutating_webhook_that_denies_is_the_last_one(hooks: Hooks, api: API):
    hooks.add_all("mutating", [("/first", lambda _: {"allowed": False}, {}), ("/second", lambda _: {}, {})])
    assert create(api).status == 400
    assert hooks.paths == ["/first"]


def test_the_second_round_has_the_webhooks_before_the_last_change(hooks: Hooks, api: API):
    def count(name: str) -> Callable[[Tree], Tree]:
        return lambda request: patch(
            {"op": "add", "path": f"/data/{name}", "value": str(len(request["object"]["data"]))}
        )

    again = {"reinvocationPolicy": "IfNeeded"}
    hooks.add_all("mutating", [("/a", count("a"), again), ("/b", count("b"), again), ("/c", lambda _: {}, again)])
    made = create(api, key="value").ok(201)
    assert made["data"] == {"key": "value", "a": "3", "b": "3"}
    assert hooks.paths == ["/a", "/b", "/c", "/a", "/b", "/c"]


def test_no_webhook_is_called_for_the_first_time_in_the_second_round(hooks: Hooks, api: API):
    selector = {"objectSelector": {"matchExpressions": [{"key": "added", "operator": "Exists"}]}}
    add = patch({"op": "add", "path": "/metadata/labels", "value": {"added": "yes"}})
    again = {"reinvocationPolicy": "IfNeeded"}
    hooks.add_all("mutating", [("/selected", lambda _: {}, {**again, **selector}), ("/adding", lambda _: add, again)])
    create(api).ok(201)
    assert hooks.paths == ["/adding"]


def test_a_container_that_a_webhook_adds_gets_the_defaults_of_its_namespace(hooks: Hooks, api: API):
    limits = {"type": "Container", "default": {"cpu": "200m"}, "defaultRequest": {"cpu": "100m"}}
    api.create("limitranges", "limits", spec={"limits": [limits]})
    added = {"name": "added", "image": "busybox"}

    def inject(request: Tree) -> Tree:
        is_there = len(request["object"]["spec"]["containers"]) > 1
        return {} if is_there else patch({"op": "add", "path": "/spec/containers/-", "value": added})

    rule = {**RULE, "resources": ["configmaps", "pods"]}
    hooks.add("mutating", inject, rules=[rule])
    pod = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "main", "image": "busybox"}]}}
    made = api.post(api.path("pods"), pod).ok(201)
    expected = {"limits": {"cpu": "200m"}, "requests": {"cpu": "100m"}}
    assert [each["resources"] for each in made["spec"]["containers"]] == [expected, expected]


def test_a_condition_uses_the_decision_about_a_service_account(hooks: Hooks, api: API, namespace: str):
    check = f"authorizer.serviceAccount('{namespace}', 'nobody').group('').resource('secrets').check('get').allowed()"
    condition = {"name": "checked", "expression": f"request.name == 'probe' || {check}"}
    hooks.add("validating", lambda _: {"allowed": False}, matchConditions=[condition])
    create(api).ok(201)
    assert hooks.requests == []


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

"""What webhooks and policies are sent: the objects of subresources, connections, and other versions of a resource."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.server.api import API
from tests.contract.server.test_policies import Policies
from tests.contract.server.test_webhooks import RULE, Hooks, patch

Tree = dict[str, Any]
POD = {"containers": [{"name": "main", "image": "example"}]}
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
SCALER = {"maxReplicas": 3, "scaleTargetRef": TARGET}
META = {"apiVersion": "meta.k8s.io/v1"}


@pytest.fixture
def hooks(api: API, namespace: str, tmp_path: Path) -> Iterator[Hooks]:
    found = Hooks(api, namespace, tmp_path)
    yield found
    found.close()


@pytest.fixture
def policies(api: API, namespace: str) -> Iterator[Policies]:
    found = Policies(api, namespace)
    yield found
    found.remove()


def rules(group: str, version: str, *resources: str) -> list[Tree]:
    """The rule for these resources, and the one of the probe."""
    return [RULE, {"apiGroups": [group], "apiVersions": [version], "operations": ["*"], "resources": [*resources]}]


def create_pod(api: API) -> None:
    api.create("pods", "web", spec=POD)


def evict(api: API) -> Any:
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"}}
    return api.post(api.path("pods", "web", "eviction"), {**body, "deleteOptions": {"gracePeriodSeconds": 7}})


def bind(api: API) -> Any:
    body = {"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "node"}}
    return api.post(api.path("pods", "web", "binding"), body)


@pytest.mark.parametrize(
    ("send", "kind", "expected"),
    [
        (evict, "policy/v1 Eviction", {"deleteOptions": {"gracePeriodSeconds": 7}}),
        (bind, "v1 Binding", {"target": {"kind": "Node", "name": "node"}}),
    ],
)
def test_the_object_of_a_subresource_is_sent(
    hooks: Hooks, api: API, namespace: str, send: Callable[[API], Any], kind: str, expected: Tree
):
    create_pod(api)
    hooks.add("validating", lambda _: {}, rules=rules("", "v1", "pods/*"))
    assert send(api).status == 201
    [request] = hooks.requests
    sent = request["object"]
    assert f"{sent['apiVersion']} {sent['kind']}" == kind
    assert request["kind"]["kind"] == request["requestKind"]["kind"] == sent["kind"]
    assert request["resource"] == {"group": "", "version": "v1", "resource": "pods"}
    assert (request["operation"], request["name"], request["oldObject"]) == ("CREATE", "web", None)
    assert (sent["metadata"]["name"], sent["metadata"]["namespace"]) == ("web", namespace)
    assert expected.items() <= sent.items()


def test_a_webhook_changes_an_eviction(hooks: Hooks, api: API):
    create_pod(api)
    bind(api)
    change = patch({"op": "add", "path": "/deleteOptions/gracePeriodSeconds", "value": 3})
    hooks.add("mutating", lambda _: change, rules=rules("", "v1", "pods/eviction"))
    assert evict(api).status == 201
    assert api.get(api.path("pods", "web")).ok()["metadata"]["deletionGracePeriodSeconds"] == 3


def test_an_eviction_is_not_a_deletion(hooks: Hooks, api: API):
    create_pod(api)
    hooks.add("validating", lambda _: {"allowed": False}, rules=rules("", "v1", "pods"))
    assert evict(api).status == 201
    assert hooks.requests == []


def test_a_denied_binding_does_not_assign_the_pod(hooks: Hooks, api: API):
    create_pod(api)
    hooks.add("validating", lambda _: {"allowed": False}, rules=rules("", "v1", "pods/binding"))
    assert bind(api).status == 400
    assert "nodeName" not in api.get(api.path("pods", "web")).ok()["spec"]


def test_a_request_for_a_token_is_sent(hooks: Hooks, api: API):
    api.create("serviceaccounts", "robot")
    hooks.add("validating", lambda _: {}, rules=rules("", "v1", "serviceaccounts/token"))
    api.post(api.path("serviceaccounts", "robot", "token"), {"spec": {"audiences": ["shop"]}}).ok(201)
    [request] = hooks.requests
    assert request["kind"] == {"group": "authentication.k8s.io", "version": "v1", "kind": "TokenRequest"}
    assert request["object"]["spec"]["audiences"] == ["shop"]
    assert request["object"]["spec"]["expirationSeconds"] == 3600


def test_the_scale_of_an_object_is_sent_and_changed(hooks: Hooks, api: API):
    labels = {"app": "web"}
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": POD}}
    api.create("deployments", "web", version="apps/v1", spec=spec)
    change = patch({"op": "replace", "path": "/spec/replicas", "value": 5})
    hooks.add("mutating", lambda _: change, rules=rules("apps", "v1", "deployments/scale"))
    path = api.path("deployments", "web", version="apps/v1")
    assert api.patch(f"{path}/scale", {"spec": {"replicas": 2}}).ok()["spec"]["replicas"] == 5
    assert api.get(path).ok()["spec"]["replicas"] == 5
    [request] = hooks.requests
    assert request["kind"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert request["object"]["spec"] == {"replicas": 2}
    assert request["oldObject"]["spec"] == {"replicas": 1}
    assert request["object"]["status"] == {"replicas": 0, "selector": "app=web"}


# --- Connections


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (
            "exec?command=ls&command=-l&stdout=1&container=main",
            {"kind": "PodExecOptions", "command": ["ls", "-l"], "stdout": True, "container": "main"},
        ),
        ("attach?stdin=true&tty=true", {"kind": "PodAttachOptions", "stdin": True, "tty": True}),
        ("attach", {"kind": "PodAttachOptions"}),
        ("portforward?ports=80&ports=81", {"kind": "PodPortForwardOptions", "ports": [80, 81]}),
        ("proxy/a/b", {"kind": "PodProxyOptions", "path": "/a/b"}),
    ],
)
def test_a_connection_can_be_denied(hooks: Hooks, api: API, path: str, expected: Tree):
    create_pod(api)
    denial = {"allowed": False, "status": {"message": "no connections"}}
    hooks.add("validating", lambda _: denial, rules=rules("", "v1", "pods/*"))
    denied = api.get(f"{api.path('pods', 'web')}/{path}").failed(400, "")
    assert denied["message"].endswith("denied the request: no connections")
    [request] = hooks.requests
    assert request["object"] == {"apiVersion": "v1", **expected}
    assert (request["operation"], request["name"], request["options"]) == ("CONNECT", "web", None)
    assert request["kind"]["kind"] == expected["kind"]


def test_a_policy_denies_a_connection(policies: Policies, api: API):
    create_pod(api)
    connections = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CONNECT"], "resources": ["pods/exec"]}
    policies.validate(
        {"expression": "request.operation != 'CONNECT' || object.command[0] != 'rm'", "message": "no rm"},
        matchConstraints=policies.constraints(connections),
    )
    path = api.path("pods", "web", "exec")
    assert "no rm" in api.get(path, command="rm").failed(422, "Invalid")["message"]
    assert "no rm" not in api.get(path, command="ls").json["message"]


def test_the_log_of_a_pod_is_not_sent(hooks: Hooks, api: API):
    create_pod(api)
    hooks.add("validating", lambda _: {"allowed": False}, rules=rules("", "v1", "pods/log"))
    assert api.get(api.path("pods", "web", "log")).status == 204
    assert hooks.requests == []


# --- Options


def test_the_options_of_a_request_are_sent(hooks: Hooks, api: API):
    hooks.add("validating", lambda _: {})
    path = api.path("configmaps", "a")
    api.post(api.path("configmaps"), {"metadata": {"name": "a"}}, fieldManager="me", fieldValidation="Strict").ok(201)
    api.patch(path, {"data": {"a": "1"}}, dryRun="All").ok()
    api.delete(path, {"propagationPolicy": "Background"}).ok()
    assert [each["options"] for each in hooks.requests] == [
        {"kind": "CreateOptions", "fieldManager": "me", "fieldValidation": "Strict", **META},
        {"kind": "UpdateOptions", "dryRun": ["All"], **META},
        {"kind": "DeleteOptions", "propagationPolicy": "Background", **META},
    ]


def test_a_new_object_is_sent_without_what_the_server_generates(hooks: Hooks, api: API):
    hooks.add("mutating", lambda _: {})
    api.post(api.path("configmaps"), {"metadata": {"generateName": "a-"}}).ok(201)
    [request] = hooks.requests
    assert not {"uid", "creationTimestamp", "name"} & {*request["object"]["metadata"]}
    assert "name" not in request
    assert "subResource" not in request


# --- Other versions


def scalers(api: API, version: str) -> str:
    return api.path("horizontalpodautoscalers", version=f"autoscaling/{version}")


def test_a_webhook_gets_the_version_that_its_rule_names(hooks: Hooks, api: API):
    change = patch({"op": "replace", "path": "/spec/metrics/0/resource/target/averageUtilization", "value": 55})
    hooks.add("mutating", lambda _: change, rules=rules("autoscaling", "v2", "horizontalpodautoscalers"))
    spec = {**SCALER, "targetCPUUtilizationPercentage": 70}
    made = api.post(scalers(api, "v1"), {"metadata": {"name": "web"}, "spec": spec}).ok(201)
    assert made["apiVersion"] == "autoscaling/v1"
    assert made["spec"]["targetCPUUtilizationPercentage"] == 55
    [request] = hooks.requests
    assert request["kind"]["version"] == request["resource"]["version"] == "v2"
    assert request["requestKind"]["version"] == request["requestResource"]["version"] == "v1"
    assert request["object"]["apiVersion"] == "autoscaling/v2"
    assert request["object"]["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 70


def test_a_rule_for_the_requested_version_counts_first(hooks: Hooks, api: API):
    both = [*rules("autoscaling", "v2", "horizontalpodautoscalers"), *rules("*", "v1", "horizontalpodautoscalers")]
    hooks.add("validating", lambda _: {}, rules=both)
    api.post(scalers(api, "v1"), {"metadata": {"name": "web"}, "spec": SCALER}).ok(201)
    assert hooks.requests[0]["kind"]["version"] == "v1"


def test_an_exact_webhook_is_not_called_for_another_version(hooks: Hooks, api: API):
    other = rules("autoscaling", "v2", "horizontalpodautoscalers")
    hooks.add("validating", lambda _: {"allowed": False}, rules=other, matchPolicy="Exact")
    api.post(scalers(api, "v1"), {"metadata": {"name": "web"}, "spec": SCALER}).ok(201)
    assert hooks.requests == []


def test_updates_and_deletions_are_sent_in_the_version_of_the_rule(hooks: Hooks, api: API):
    api.post(scalers(api, "v2"), {"metadata": {"name": "web"}, "spec": SCALER}).ok(201)
    hooks.add("validating", lambda _: {}, rules=rules("autoscaling", "v1", "horizontalpodautoscalers"))
    api.patch(f"{scalers(api, 'v2')}/web", {"spec": {"maxReplicas": 4}}).ok()
    api.delete(f"{scalers(api, 'v2')}/web").ok()
    update, deletion = hooks.requests
    assert {update["object"]["apiVersion"], update["oldObject"]["apiVersion"]} == {"autoscaling/v1"}
    assert update["object"]["spec"]["targetCPUUtilizationPercentage"] == 80
    assert deletion["oldObject"]["apiVersion"] == "autoscaling/v1"


def test_events_of_both_groups_are_the_same_resource(hooks: Hooks, api: API, namespace: str):
    hooks.add("validating", lambda _: {}, rules=rules("events.k8s.io", "v1", "events"))
    event = {"involvedObject": {"namespace": namespace}, "message": "started"}
    api.post(api.path("events"), {"metadata": {"name": "e"}, **event}).ok(201)
    [request] = hooks.requests
    assert request["object"]["apiVersion"] == "events.k8s.io/v1"
    assert request["object"]["note"] == "started"


def test_a_policy_evaluates_the_version_that_its_rule_names(policies: Policies, api: API):
    names = {"apiGroups": ["autoscaling"], "apiVersions": ["v2"], "operations": ["CREATE"]}
    policies.validate(
        {
            "expression": "!has(object.spec) || object.spec.metrics[0].resource.target.averageUtilization < 60",
            "messageExpression": "'version ' + object.apiVersion + ' of ' + request.requestKind.version",
        },
        matchConstraints=policies.constraints({**names, "resources": ["horizontalpodautoscalers"]}),
    )
    spec = {**SCALER, "targetCPUUtilizationPercentage": 70}
    denied = api.post(scalers(api, "v1"), {"metadata": {"name": "web"}, "spec": spec}).failed(422, "Invalid")
    assert "version autoscaling/v2 of v1" in denied["message"]
    spec = {**SCALER, "targetCPUUtilizationPercentage": 50}
    api.post(scalers(api, "v1"), {"metadata": {"name": "web"}, "spec": spec}).ok(201)


def test_a_policy_cannot_change_another_version_of_a_built_in_kind(policies: Policies, api: API):
    names = {"apiGroups": ["autoscaling"], "apiVersions": ["v2"], "operations": ["CREATE"]}
    changed = "object.kind == 'ConfigMap' ? [JSONPatch{op: 'add', path: '/data', value: {'mutated': 'yes'}}] : "
    path = "/spec/metrics/0/resource/target/averageUtilization"
    policies.mutate(
        {
            "patchType": "JSONPatch",
            "jsonPatch": {"expression": f"{changed} [JSONPatch{{op: 'replace', path: '{path}', value: 45}}]"},
        },
        matchConstraints=policies.constraints({**names, "resources": ["horizontalpodautoscalers"]}),
    )
    policies.wait_until_mutated(lambda tree: tree.get("data"))
    denied = api.post(scalers(api, "v1"), {"metadata": {"name": "web"}, "spec": SCALER}).failed(403, "Invalid")
    problem = "converting (v2.HorizontalPodAutoscaler) to (v1.HorizontalPodAutoscaler): unknown conversion"
    assert problem in denied["message"]
    api.post(scalers(api, "v2"), {"metadata": {"name": "web"}, "spec": SCALER}).ok(201)
    assert api.get(f"{scalers(api, 'v1')}/web").ok()["spec"]["targetCPUUtilizationPercentage"] == 45


def test_a_custom_resource_is_sent_in_the_version_of_the_rule(hooks: Hooks, api: API, namespace: str):
    group = f"{namespace}.example.com"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [
        {"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in ("v1", "v2", "v1beta1")
    ]
    names = {"plural": "books", "kind": "Book"}
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": versions}
    api.post(path, {"metadata": {"name": f"books.{group}"}, "spec": spec}).ok(201)
    books = api.path("books", version=f"{group}/v2")
    while api.get(books).status != 200:
        pass
    change = patch({"op": "add", "path": "/title", "value": "Changed"})
    hooks.add("mutating", lambda _: change, rules=rules(group, "v1beta1", "books"))
    book = {"apiVersion": f"{group}/v2", "kind": "Book", "metadata": {"name": "b"}, "title": "A"}
    made = api.post(books, book).ok(201)
    assert (made["apiVersion"], made["title"]) == (f"{group}/v2", "Changed")
    [request] = hooks.requests
    assert request["object"]["apiVersion"] == f"{group}/v1beta1"
    assert request["requestKind"]["version"] == "v2"
    api.delete(f"{path}/books.{group}").ok()

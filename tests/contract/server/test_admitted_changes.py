"""What the server does with the changes of mutating webhooks: it completes an object after admission, not before."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.server.api import API
from tests.contract.server.test_rbac import NOT_HELD, Users, as_user, rule
from tests.contract.server.test_webhooks import RULE, Hooks, patch

Tree = dict[str, Any]
POD = {"containers": [{"name": "main", "image": "example"}]}
LABELS = {"app": "web"}
DEPLOYMENT = {"selector": {"matchLabels": LABELS}, "template": {"metadata": {"labels": LABELS}, "spec": POD}}


@pytest.fixture
def hooks(api: API, namespace: str, tmp_path: Path) -> Iterator[Hooks]:
    found = Hooks(api, namespace, tmp_path)
    yield found
    found.close()


def change(hooks: Hooks, resource: str, *operations: Tree, group: str = "apps") -> None:
    """Let a webhook patch the objects of a resource."""
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "operations": ["*"], "resources": [resource]}
    hooks.add("mutating", lambda _: patch(*operations), rules=[RULE, rule])


def add(path: str, value: object) -> Tree:
    return {"op": "add", "path": path, "value": value}


def deployment(api: API) -> str:
    api.create("deployments", "web", version="apps/v1", spec=DEPLOYMENT)
    return api.path("deployments", "web", version="apps/v1")


def test_the_status_of_a_new_object_is_not_that_of_a_webhook(hooks: Hooks, api: API):
    change(hooks, "deployments", add("/status", {"replicas": 7}))
    body = {"metadata": {"name": "web"}, "spec": DEPLOYMENT}
    assert api.post(api.path("deployments", version="apps/v1"), body).ok(201)["status"] == {}


def test_a_webhook_sees_the_status_that_a_client_sends(hooks: Hooks, api: API):
    change(hooks, "deployments")
    body = {"metadata": {"name": "web"}, "spec": DEPLOYMENT, "status": {"replicas": 7}}
    assert api.post(api.path("deployments", version="apps/v1"), body).ok(201)["status"] == {}
    assert [each["object"]["status"] for each in hooks.requests] == [{"replicas": 7}]


def test_a_webhook_cannot_change_the_status_in_an_update(hooks: Hooks, api: API):
    path = deployment(api)
    change(hooks, "deployments", add("/status/replicas", 7))
    assert api.patch(path, {"metadata": {"labels": LABELS}}).ok()["status"] == {}


def test_a_webhook_cannot_change_the_spec_in_a_status_update(hooks: Hooks, api: API):
    path = deployment(api)
    change(hooks, "deployments/status", add("/spec/replicas", 7), add("/status/replicas", 3))
    updated = api.patch(f"{path}/status", {"status": {"observedGeneration": 1}}).ok()
    assert (updated["spec"]["replicas"], updated["status"]["replicas"]) == (1, 3)


def test_the_generation_counts_the_changes_of_a_webhook(hooks: Hooks, api: API):
    path = deployment(api)
    change(hooks, "deployments", add("/spec/replicas", 7))
    updated = api.patch(path, {"metadata": {"labels": LABELS}}).ok()
    assert (updated["spec"]["replicas"], updated["metadata"]["generation"]) == (7, 2)


def test_a_webhook_sees_the_generation_before_an_update(hooks: Hooks, api: API):
    path = deployment(api)
    change(hooks, "deployments")
    assert api.patch(path, {"spec": {"replicas": 2}}).ok()["metadata"]["generation"] == 2
    assert [each["object"]["metadata"]["generation"] for each in hooks.requests] == [1]


def test_the_generation_counts_a_scale_that_a_webhook_changes(hooks: Hooks, api: API):
    path = deployment(api)
    change(hooks, "deployments/scale", add("/spec/replicas", 7))
    api.patch(f"{path}/scale", {"spec": {"replicas": 1}}).ok()
    found = api.get(path).ok()
    assert (found["spec"]["replicas"], found["metadata"]["generation"]) == (7, 2)


def test_a_webhook_cannot_change_what_the_server_sets(hooks: Hooks, api: API):
    path = deployment(api)
    before = api.get(path).ok()["metadata"]
    change(
        hooks,
        "deployments",
        add("/metadata/generation", 30),
        add("/metadata/creationTimestamp", "2020-01-01T00:00:00Z"),
    )
    after = api.patch(path, {"metadata": {"labels": LABELS}}).ok()["metadata"]
    assert after["generation"] == before["generation"]
    assert after["creationTimestamp"] == before["creationTimestamp"]


def test_a_webhook_cannot_set_what_the_server_generates(hooks: Hooks, api: API):
    change(
        hooks,
        "deployments",
        add("/metadata/uid", "mine"),
        add("/metadata/generation", 30),
        add("/metadata/creationTimestamp", "2020-01-01T00:00:00Z"),
    )
    body = {"metadata": {"name": "web"}, "spec": DEPLOYMENT}
    made = api.post(api.path("deployments", version="apps/v1"), body).ok(201)["metadata"]
    assert made["uid"] != "mine"
    assert made["generation"] == 1
    assert not made["creationTimestamp"].startswith("2020")


def test_a_webhook_cannot_change_the_uid_in_an_update(hooks: Hooks, api: API):
    path = deployment(api)
    change(hooks, "deployments", add("/metadata/uid", "mine"))
    failed = api.patch(path, {"metadata": {"labels": LABELS}}).failed(422, "Invalid")
    assert 'metadata.uid: Invalid value: "mine": field is immutable' in failed["message"]


def test_a_webhook_sees_an_update_as_it_was_sent(hooks: Hooks, api: API):
    path = deployment(api)
    change(hooks, "deployments")
    body = {"metadata": {"name": "web"}, "spec": DEPLOYMENT, "status": {"replicas": 7}}
    assert api.put(path, body).ok()["status"] == {}
    [seen] = [each["object"] for each in hooks.requests]
    assert {"uid", "resourceVersion", "generation"}.isdisjoint(seen["metadata"])
    assert seen["status"] == {"replicas": 7}


def test_a_webhook_changes_the_options_of_a_connection(hooks: Hooks, api: API):
    api.create("pods", "web", spec=POD)
    change(hooks, "pods/exec", add("/container", "other"), group="")
    failed = api.get(api.path("pods", "web", "exec"), command="ls").failed(400, "BadRequest")
    assert failed["message"] == "container other is not valid for pod web"


def test_a_webhook_cannot_move_an_object_to_another_namespace(hooks: Hooks, api: API):
    change(hooks, "deployments", add("/metadata/namespace", "default"))
    body = {"metadata": {"name": "web"}, "spec": DEPLOYMENT}
    refused = api.post(api.path("deployments", version="apps/v1"), body).failed(400, "BadRequest")
    why = "the namespace of the provided object does not match the namespace sent on the request"
    assert refused["message"] == why


@pytest.mark.parametrize(
    ("field", "value", "status", "reason", "message"),
    [
        ("namespace", "default", 400, "BadRequest", "the namespace of the provided object does not match"),
        ("name", "other", 422, "Invalid", 'metadata.name: Invalid value: "other": field is immutable'),
        ("resourceVersion", "1", 409, "Conflict", "the object has been modified"),
    ],
)
def test_a_webhook_cannot_change_the_identity_of_an_object(
    hooks: Hooks, api: API, field: str, value: str, status: int, reason: str, message: str
):
    path = deployment(api)
    change(hooks, "deployments", add(f"/metadata/{field}", value))
    assert message in api.patch(path, {"metadata": {"labels": LABELS}}).failed(status, reason)["message"]


def test_a_role_that_a_webhook_has_changed_may_not_grant_more_than_its_writer_has(hooks: Hooks, api: API):
    users = Users(api)
    user, group = users.name("writer"), "rbac.authorization.k8s.io"
    rules = [rule(["create", "patch"], ["roles"], group), rule(["get"], ["pods"])]
    users.grant(user, *rules, verb="create", resource="roles", group=group)
    path, body = users.path("roles"), {"metadata": {"name": "a"}, "rules": [rule(["get"], ["pods"])]}
    api.post(path, body, headers=as_user(user)).ok(201)
    change(hooks, "roles", add("/rules/-", rule(["get"], ["secrets"])), group=group)
    refused = api.post(path, {**body, "metadata": {"name": "b"}}, headers=as_user(user))
    assert NOT_HELD in refused.failed(403, "Forbidden")["message"]
    refused = api.patch(f"{path}/a", {"metadata": {"labels": LABELS}}, headers=as_user(user))
    assert NOT_HELD in refused.failed(403, "Forbidden")["message"]


def test_a_webhook_sees_what_built_in_plugins_have_added(hooks: Hooks, api: API):
    change(hooks, "pods", add("/metadata/labels", LABELS), group="")
    made = api.post(api.path("pods"), {"metadata": {"name": "web"}, "spec": POD}).ok(201)
    [seen] = [each["object"]["spec"] for each in hooks.requests]
    assert seen["tolerations"] == made["spec"]["tolerations"]
    assert len(seen["tolerations"]) == 2
    assert (seen["priority"], seen["preemptionPolicy"]) == (0, "PreemptLowerPriority")

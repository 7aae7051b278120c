"""Subresources, beyond the contract: budgets, tokens, and the rules of single kinds."""

import pytest
from tests.server.bare_server import PODS, BareServer, Tree

from listwatch.errors import (
    APIError,
    BadRequestError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    TooManyRequestsError,
)
from listwatch.server.requests import APIRequest

BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
SPEC = {"containers": [{"name": "c", "image": "i"}], "nodeName": "n1"}
READY = {"type": "Ready", "status": "True"}


@pytest.fixture
def server() -> BareServer:
    return BareServer()


def running_pod(server: BareServer, *conditions: Tree) -> None:
    server.create(PODS, "web", spec=SPEC, metadata={"labels": {"app": "web"}})
    server.patch(f"{PODS}/web/status", {"status": {"phase": "Running", "conditions": list(conditions)}})


def budget(server: BareServer, name: str = "web", *, spec: Tree = None, **status: Tree) -> None:
    selector = {"matchLabels": {"app": "web"}}
    server.create(BUDGETS, name, spec={"minAvailable": 1, "selector": selector, **(spec or {})})
    server.patch(f"{BUDGETS}/{name}/status", {"status": {"observedGeneration": 1, **status}})


def evict(server: BareServer, **options: Tree) -> Tree:
    return server.call("POST", f"{PODS}/web/eviction", {"metadata": {"name": "web"}, "deleteOptions": options})


def is_there(server: BareServer) -> bool:
    """Whether the pod is not being deleted."""
    return "deletionTimestamp" not in server.get(f"{PODS}/web")["metadata"]


# --- eviction ---------------------------------------------------------------------------------------------------------


def test_an_evicted_pod_has_a_disruption_target_condition(server: BareServer):
    running_pod(server, READY)
    assert evict(server)["status"] == "Success"
    conditions = {each["type"]: each for each in server.get(f"{PODS}/web")["status"]["conditions"]}
    assert conditions["DisruptionTarget"]["reason"] == "EvictionByEvictionAPI"
    assert conditions["Ready"]["status"] == "True"


def test_an_eviction_has_the_options_of_a_deletion(server: BareServer):
    running_pod(server)
    evict(server, gracePeriodSeconds=3)
    assert server.get(f"{PODS}/web")["metadata"]["deletionGracePeriodSeconds"] == 3


def test_an_eviction_of_another_pod_is_a_conflict(server: BareServer):
    running_pod(server)
    with pytest.raises(ConflictError):
        evict(server, preconditions={"uid": "other"})
    assert is_there(server)


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
def test_a_pod_that_does_not_run_needs_no_budget(server: BareServer, phase: str):
    running_pod(server)
    server.patch(f"{PODS}/web/status", {"status": {"phase": phase}})
    budget(server, disruptionsAllowed=0)
    evict(server)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ({"observedGeneration": 0}, "The disruption budget web is still being processed by the server."),
        (
            {"currentHealthy": 1, "desiredHealthy": 1},
            "The disruption budget web needs 1 healthy pods and has 1 currently",
        ),
        (
            {"currentHealthy": 3, "desiredHealthy": 1},
            "The disruption budget web does not allow evicting pods currently",
        ),
    ],
)
def test_a_rejected_eviction_names_the_missing_healthy_pods(server: BareServer, status: Tree, said: str):
    running_pod(server, READY)
    budget(server, disruptionsAllowed=0, **status)
    with pytest.raises(TooManyRequestsError) as caught:
        evict(server)
    assert [cause.message for cause in caught.value.causes] == [said]
    assert is_there(server)


def test_a_negative_budget_is_an_error(server: BareServer):
    running_pod(server, READY)
    server.create(BUDGETS, "web", spec={"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}})
    stored = server.storage.list("policy/poddisruptionbudgets").items[0]
    tree = server.get(f"{BUDGETS}/web")
    tree["status"] = {"disruptionsAllowed": -1, "observedGeneration": 1}
    server.objects.update("policy/poddisruptionbudgets", stored, tree)
    with pytest.raises(ForbiddenError, match="negative"):
        evict(server)


def test_a_pod_with_two_budgets_cannot_be_evicted(server: BareServer):
    running_pod(server, READY)
    budget(server, "one", disruptionsAllowed=1)
    budget(server, "two", disruptionsAllowed=1)
    with pytest.raises(APIError, match="more than one PodDisruptionBudget") as caught:
        evict(server)
    assert caught.value.status_code == 500


@pytest.mark.parametrize(
    ("spec", "status", "goes"),
    [
        ({"unhealthyPodEvictionPolicy": "AlwaysAllow"}, {}, True),
        ({}, {"currentHealthy": 2, "desiredHealthy": 2}, True),
        ({}, {"currentHealthy": 1, "desiredHealthy": 2}, False),
    ],
)
def test_an_unready_pod_is_evicted_if_enough_pods_are_healthy(server: BareServer, spec: Tree, status: Tree, goes: bool):
    running_pod(server)
    budget(server, spec=spec, disruptionsAllowed=0, **status)
    if goes:
        evict(server)
        assert server.get(f"{BUDGETS}/web")["status"]["disruptionsAllowed"] == 0
    else:
        with pytest.raises(TooManyRequestsError):
            evict(server)


@pytest.mark.parametrize("labels", [{"app": "other"}, None])
def test_a_budget_of_other_pods_does_not_count(server: BareServer, labels: Tree):
    running_pod(server, READY)
    server.patch(f"{PODS}/web", {"metadata": {"labels": labels}})
    budget(server, disruptionsAllowed=0)
    evict(server)


def test_a_dry_run_eviction_takes_nothing_from_the_budget(server: BareServer):
    running_pod(server, READY)
    budget(server, disruptionsAllowed=1)
    before = server.storage.revision
    evict(server, dryRun=["All"])
    assert server.storage.revision == before


# --- binding ----------------------------------------------------------------------------------------------------------


def bind(server: BareServer, name: str = "web", **fields: Tree) -> Tree:
    body = {"metadata": {"name": name, **fields.pop("metadata", {})}, "target": {"name": "n1"}, **fields}
    return server.call("POST", f"{PODS}/web/binding", body)


def unbound_pod(server: BareServer, **spec: Tree) -> None:
    server.create(PODS, "web", spec={"containers": SPEC["containers"], **spec})


def test_a_binding_may_annotate_the_pod(server: BareServer):
    unbound_pod(server)
    bind(server, metadata={"annotations": {"why": "it has capacity"}})
    pod = server.get(f"{PODS}/web")
    assert (pod["metadata"]["annotations"], pod["spec"]["nodeName"]) == ({"why": "it has capacity"}, "n1")
    assert pod["metadata"]["generation"] == 1


def test_a_pod_that_waits_for_its_gates_is_not_bound(server: BareServer):
    unbound_pod(server, schedulingGates=[{"name": "example.com/gate"}])
    with pytest.raises(ConflictError, match="schedulingGates"):
        bind(server)


def test_a_binding_may_name_the_uid_of_its_pod(server: BareServer):
    unbound_pod(server)
    with pytest.raises(ConflictError, match="UID in precondition"):
        bind(server, metadata={"uid": "other"})


@pytest.mark.parametrize("target", [{"kind": "Pod", "name": "n1"}, {"name": ""}])
def test_a_pod_is_bound_to_a_node(server: BareServer, target: Tree):
    unbound_pod(server)
    with pytest.raises(APIError) as caught:
        bind(server, target=target)
    assert caught.value.status_code == 500


def test_a_binding_is_for_the_pod_of_its_path(server: BareServer):
    unbound_pod(server)
    with pytest.raises(BadRequestError):
        bind(server, name="other")


def test_a_dry_run_binding_binds_nothing(server: BareServer):
    unbound_pod(server)
    server.call("POST", f"{PODS}/web/binding?dryRun=All", {"metadata": {"name": "web"}, "target": {"name": "n1"}})
    assert "nodeName" not in server.get(f"{PODS}/web")["spec"]


# --- scale ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def web(server: BareServer) -> str:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": SPEC["containers"]}}
    selector = {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}
    server.create(DEPLOYMENTS, "web", spec={"selector": selector, "template": template, "replicas": 2})
    return f"{DEPLOYMENTS}/web"


def test_a_scale_without_a_version_overwrites(server: BareServer, web: str):
    scale = {"metadata": {"name": "web"}, "spec": {"replicas": 5}}
    assert server.call("PUT", f"{web}/scale", scale)["spec"] == {"replicas": 5}
    assert server.get(web)["spec"]["replicas"] == 5


def test_a_scale_shows_its_selector_as_text(server: BareServer, web: str):
    assert server.get(f"{web}/scale")["status"] == {"replicas": 0, "selector": "!a,app=web"}


def test_a_scale_that_changes_nothing_writes_only_managed_fields(server: BareServer, web: str):
    for _ in range(2):  # as in kube-apiserver, the second of them drops the manager that the first one has separated
        server.patch(f"{web}/scale", {"spec": {"replicas": 2}})
    before = server.storage.revision
    server.patch(f"{web}/scale", {"spec": {"replicas": 2}})
    assert server.storage.revision == before


def test_a_scale_with_another_name_is_rejected(server: BareServer, web: str):
    with pytest.raises(BadRequestError):
        server.call("PUT", f"{web}/scale", {"metadata": {"name": "other"}, "spec": {"replicas": 5}})


def test_admission_receives_the_object_of_a_scale():
    seen: list[tuple[str, Tree]] = []

    def look(request: APIRequest, new: Tree | None, _old: Tree | None) -> None:
        if request.subresource and new:
            seen.append((request.subresource, new["spec"]["replicas"]))

    server = BareServer(admission=[look])
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": SPEC["containers"]}}
    server.create(DEPLOYMENTS, "web", spec={"selector": {"matchLabels": {"a": "b"}}, "template": template})
    server.patch(f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": 7}})
    assert seen == [("scale", 7)]


def test_admission_receives_the_objects_of_subresources_and_no_deletion():
    seen: list[tuple[str, Tree, Tree]] = []

    def look(request: APIRequest, new: Tree | None, old: Tree | None) -> None:
        if request.subresource:
            seen.append((request.subresource, new and new["kind"], old))

    server = BareServer(admission=[look])
    server.create(PODS, "web", spec={**SPEC, "nodeName": ""})
    binding = {"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "n1"}}
    server.call("POST", f"{PODS}/web/binding", binding)
    evict(server)
    server.create(ACCOUNTS, "robot")
    server.call("POST", f"{ACCOUNTS}/robot/token", {"spec": {}})
    assert seen == [("binding", "Binding", None), ("eviction", "Eviction", None), ("token", "TokenRequest", None)]


def test_admission_changes_and_rejects_evictions():
    def change(request: APIRequest, new: Tree | None, _old: Tree | None) -> None:
        if request.subresource == "eviction" and new:
            if new["deleteOptions"].get("gracePeriodSeconds") == 0:
                raise ForbiddenError("not at once")
            new["deleteOptions"]["gracePeriodSeconds"] = 3

    server = BareServer(admission=[change])
    running_pod(server)
    with pytest.raises(ForbiddenError):
        evict(server, gracePeriodSeconds=0)
    assert is_there(server)
    evict(server, gracePeriodSeconds=9)
    assert server.get(f"{PODS}/web")["metadata"]["deletionGracePeriodSeconds"] == 3


def test_the_generation_counts_what_an_admission_function_changes():
    def scale(request: APIRequest, new: Tree | None, old: Tree | None) -> None:
        if old and new and request.resource.plural == "deployments":
            new["spec"]["replicas"] = 7
            new["status"] = {"replicas": 7}

    server = BareServer(admission=[scale])
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": SPEC["containers"]}}
    server.create(DEPLOYMENTS, "web", spec={"selector": {"matchLabels": {"a": "b"}}, "template": template})
    changed = server.patch(f"{DEPLOYMENTS}/web", {"metadata": {"labels": {"a": "b"}}})
    assert (changed["metadata"]["generation"], changed["status"]) == (2, {})


# --- others -----------------------------------------------------------------------------------------------------------


def test_a_resize_changes_resources_and_nothing_else(server: BareServer):
    server.create(PODS, "web", spec=SPEC)
    container = {**SPEC["containers"][0], "resources": {"requests": {"cpu": "1"}}}
    changes = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container], "priority": 5}}
    resized = server.patch(f"{PODS}/web/resize", changes)
    assert resized["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "1"}}
    assert "priority" not in resized["spec"]
    assert "labels" not in resized["metadata"]
    assert resized["metadata"]["generation"] == 2


def test_a_token_identifies_its_service_account_for_an_hour(server: BareServer):
    account = server.create(ACCOUNTS, "robot")
    response = server.call("POST", f"{ACCOUNTS}/robot/token", {"spec": {}})
    user = server.identities.user_of(response["status"]["token"])
    assert user is not None
    assert (user.name, user.uid) == ("system:serviceaccount:default:robot", account["metadata"]["uid"])
    assert response["status"]["expirationTimestamp"] == "2026-01-01T01:00:00Z"


def test_a_token_is_valid_for_at_least_ten_minutes(server: BareServer):
    server.create(ACCOUNTS, "robot")
    with pytest.raises(InvalidError, match="10 minutes"):
        server.call("POST", f"{ACCOUNTS}/robot/token", {"spec": {"expirationSeconds": 599}})


def test_a_token_needs_its_account(server: BareServer):
    with pytest.raises(NotFoundError):
        server.call("POST", f"{ACCOUNTS}/missing/token", {"spec": {}})


def test_a_certificate_request_is_approved_through_its_approval_subresource(server: BareServer):
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
    # The smallest request that the server accepts.
    pem = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQgotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K"
    spec = {"request": pem, "signerName": "example.com/signer", "usages": ["client auth"]}
    server.create(path, "mine", spec=spec)
    approved = {"type": "Approved", "status": "True", "reason": "Fine"}
    changed = server.patch(f"{path}/mine/approval", {"status": {"conditions": [approved]}})
    assert [each["type"] for each in changed["status"]["conditions"]] == ["Approved"]

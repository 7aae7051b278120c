import pytest
from tests.contract.server.api import API, STRATEGIC_MERGE_PATCH, Response, Tree, causes
from tests.contract.server.samples import DEPLOYMENT, POD, TEMPLATE

APPS = "apps/v1"
SCALE = "autoscaling/v1"


@pytest.fixture
def web(api: API) -> str:
    """The path of a deployment."""
    api.create("deployments", "web", version=APPS, spec=DEPLOYMENT, metadata={"labels": {"team": "a"}})
    return api.path("deployments", "web", version=APPS)


@pytest.fixture
def pod(api: API) -> str:
    """The path of a pod."""
    api.create("pods", "web", spec=POD, metadata={"labels": {"app": "web"}})
    return api.path("pods", "web")


# --- status -----------------------------------------------------------------------------------------------------------


def test_a_status_update_changes_only_the_status(api: API, web: str):
    read = api.get(web).ok()
    sent = {**read, "spec": {**read["spec"], "replicas": 9}, "status": {"replicas": 3}}
    updated = api.put(f"{web}/status", sent).ok()
    assert updated["status"]["replicas"] == 3
    assert updated["spec"] == read["spec"]
    assert updated["metadata"]["generation"] == 1
    assert int(updated["metadata"]["resourceVersion"]) > int(read["metadata"]["resourceVersion"])
    assert api.get(web).ok() == updated == api.get(f"{web}/status").ok()


def test_the_status_is_patched(api: API, web: str):
    patched = api.patch(f"{web}/status", {"status": {"observedGeneration": 1, "replicas": 2}}).ok()
    assert patched["status"] == {"observedGeneration": 1, "replicas": 2}
    assert api.patch(f"{web}/status", {"status": {"replicas": None}}).ok()["status"] == {"observedGeneration": 1}


def test_conditions_merge_by_type(api: API, web: str):
    def condition(kind: str, status: str) -> Tree:
        found = {"type": kind, "status": status, "lastTransitionTime": "2026-01-01T00:00:00Z"}
        return {"status": {"conditions": [found]}}

    api.patch(f"{web}/status", condition("Available", "False"), STRATEGIC_MERGE_PATCH).ok()
    api.patch(f"{web}/status", condition("Progressing", "True"), STRATEGIC_MERGE_PATCH).ok()
    patched = api.patch(f"{web}/status", condition("Available", "True"), STRATEGIC_MERGE_PATCH).ok()
    found = {each["type"]: each["status"] for each in patched["status"]["conditions"]}
    assert found == {"Available": "True", "Progressing": "True"}


def test_an_outdated_status_is_a_conflict(api: API, web: str):
    read = api.get(web).ok()
    api.patch(web, {"spec": {"replicas": 2}}).ok()
    api.put(f"{web}/status", {**read, "status": {"replicas": 3}}).failed(409, "Conflict")


def test_the_status_of_a_missing_object_is_not_found(api: API):
    path = api.path("deployments", "nothing", "status", version=APPS)
    api.patch(path, {"status": {"replicas": 1}}).failed(404, "NotFound")


def test_a_resource_without_a_status_subresource_is_not_found(api: API):
    api.create("configmaps", "a")
    api.get(api.path("configmaps", "a", "status")).failed(404, "NotFound")


def test_annotations_can_change_through_the_status_of_a_pod(api: API, pod: str):
    patch = {"metadata": {"annotations": {"note": "x"}}, "status": {"phase": "Running"}}
    patched = api.patch(f"{pod}/status", patch).ok()
    assert (patched["metadata"]["annotations"], patched["status"]["phase"]) == ({"note": "x"}, "Running")


def test_labels_of_a_deployment_stay_when_its_status_changes(api: API, web: str):
    patch = {"metadata": {"labels": {"team": "b"}}, "status": {"replicas": 1}}
    assert api.patch(f"{web}/status", patch).ok()["metadata"]["labels"] == {"team": "a"}


def test_only_a_load_balancer_has_an_ingress(api: API):
    status = {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.7"}]}}}
    for kind in ("ClusterIP", "LoadBalancer"):
        api.create("services", kind.lower(), spec={"type": kind, "ports": [{"port": 80}]})
    failed = api.patch(api.path("services", "clusterip", "status"), status).failed(422, "Invalid")
    assert causes(failed) == {("FieldValueForbidden", "status.loadBalancer.ingress")}
    patched = api.patch(api.path("services", "loadbalancer", "status"), status).ok()
    assert patched["status"]["loadBalancer"]["ingress"] == [{"ip": "192.0.2.7", "ipMode": "VIP"}]
    wrong = {"status": {"loadBalancer": {"ingress": [{"ip": "x"}, {"hostname": "a b"}, {"ipMode": "VIP"}]}}}
    failed = api.patch(api.path("services", "loadbalancer", "status"), wrong).failed(422, "Invalid")
    assert causes(failed) == {
        ("FieldValueInvalid", "status.loadBalancer.ingress[0].ip"),
        ("FieldValueInvalid", "status.loadBalancer.ingress[1].hostname"),
        ("FieldValueForbidden", "status.loadBalancer.ingress[2].ipMode"),
    }


def test_a_dry_run_status_update_changes_nothing(api: API, web: str):
    before = api.get(web).ok()
    assert api.patch(f"{web}/status", {"status": {"replicas": 3}}, dryRun="All").ok()["status"]["replicas"] == 3
    assert api.get(web).ok() == before


# --- scale ------------------------------------------------------------------------------------------------------------


def test_the_scale_has_the_desired_and_the_current_replicas(api: API, web: str):
    api.patch(f"{web}/status", {"status": {"replicas": 1}}).ok()
    read = api.get(web).ok()
    scale = api.get(f"{web}/scale").ok()
    assert (scale["kind"], scale["apiVersion"]) == ("Scale", SCALE)
    names = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    assert scale["metadata"] == {name: read["metadata"][name] for name in names}
    assert scale["spec"] == {"replicas": 1}
    assert scale["status"] == {"replicas": 1, "selector": "app=web"}


def test_an_update_of_the_scale_changes_the_object(api: API, web: str):
    scale = api.get(f"{web}/scale").ok()
    scale["spec"]["replicas"] = 4
    written = api.put(f"{web}/scale", scale).ok()
    assert written["kind"] == "Scale"
    assert written["spec"] == {"replicas": 4}
    read = api.get(web).ok()
    assert read["spec"]["replicas"] == 4
    assert read["metadata"]["generation"] == 2
    assert written["metadata"]["resourceVersion"] == read["metadata"]["resourceVersion"]
    api.put(f"{web}/scale", scale).failed(409, "Conflict")


def test_the_scale_is_patched_to_zero(api: API, web: str):
    assert api.patch(f"{web}/scale", {"spec": {"replicas": 0}}).ok()["spec"] == {}
    assert api.get(web).ok()["spec"]["replicas"] == 0


def test_negative_replicas_are_rejected(api: API, web: str):
    status = api.patch(f"{web}/scale", {"spec": {"replicas": -1}}).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", "spec.replicas")}


def test_a_scale_update_with_another_kind_is_rejected(api: API, web: str):
    api.put(f"{web}/scale", api.get(web).ok()).failed(400, "BadRequest")


@pytest.mark.parametrize(
    ("plural", "version"), [("replicasets", APPS), ("statefulsets", APPS), ("replicationcontrollers", "v1")]
)
def test_other_workloads_have_a_scale_too(api: API, plural: str, version: str):
    selector: Tree = {"app": "web"} if version == "v1" else {"matchLabels": {"app": "web"}}
    api.create(plural, "web", version=version, spec={"selector": selector, "template": TEMPLATE, "replicas": 2})
    path = api.path(plural, "web", version=version)
    assert api.get(f"{path}/scale").ok()["status"]["selector"] == "app=web"
    assert api.patch(f"{path}/scale", {"spec": {"replicas": 3}}).ok()["spec"] == {"replicas": 3}
    assert api.get(path).ok()["spec"]["replicas"] == 3


# --- binding ----------------------------------------------------------------------------------------------------------


def bind(api: API, node: str) -> Response:
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    return api.post(api.path("pods", "web", "binding"), {"metadata": {"name": "web"}, "target": target})


def test_a_pod_is_bound_to_a_node_once(api: API, pod: str):
    response = bind(api, "n1").ok(201)
    assert (response["kind"], response["status"]) == ("Status", "Success")
    bound = api.get(pod).ok()
    assert bound["spec"]["nodeName"] == "n1"
    [scheduled] = [each for each in bound["status"]["conditions"] if each["type"] == "PodScheduled"]
    assert scheduled["status"] == "True"
    status = bind(api, "n2").failed(409, "Conflict")
    assert 'pod web is already assigned to node "n1"' in status["message"]
    assert status["details"]["kind"] == "pods/binding"


def test_a_binding_requires_an_existing_pod_and_a_node(api: API):
    bind(api, "n1").failed(404, "NotFound")
    api.create("pods", "web", spec=POD)
    # The real server responds with an internal error.
    assert bind(api, "").failed(500, "")["message"] == "target.name: Required value"


def test_a_pod_that_is_being_deleted_is_not_bound(api: API, pod: str):
    api.patch(pod, {"metadata": {"finalizers": ["example.com/hold"]}}).ok()
    api.delete(pod).ok()
    status = bind(api, "n1").failed(409, "Conflict")
    assert status["message"].endswith("pod web is being deleted, cannot be assigned to a host")
    api.patch(pod, {"metadata": {"finalizers": None}}).ok()


def test_the_name_of_a_binding_must_be_that_of_its_pod(api: API, pod: str):
    body = {"metadata": {"name": "other"}, "target": {"kind": "Node", "name": "n1"}}
    status = api.post(f"{pod}/binding", body).failed(400, "BadRequest")
    assert status["message"] == "name in URL does not match name in Binding object"


def test_a_pod_is_bound_through_the_bindings_resource_too(api: API, pod: str):
    body = {"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "n1"}}
    api.post(api.path("bindings"), body).ok(201)
    assert api.get(pod).ok()["spec"]["nodeName"] == "n1"


# --- eviction ---------------------------------------------------------------------------------------------------------

EVICTION = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"}}


def budget(api: API, allowed: int) -> None:
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    api.create("poddisruptionbudgets", "web", version="policy/v1", spec=spec)
    status = {"disruptionsAllowed": allowed, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2}
    path = api.path("poddisruptionbudgets", "web", "status", version="policy/v1")
    api.patch(path, {"status": {**status, "observedGeneration": 1}}).ok()


def run(api: API, pod: str) -> None:
    ready = {"type": "Ready", "status": "True"}
    api.patch(f"{pod}/status", {"status": {"phase": "Running", "conditions": [ready]}}).ok()


def test_a_pod_is_evicted(api: API, pod: str):
    response = api.post(f"{pod}/eviction", EVICTION).ok(201)
    assert (response["kind"], response["status"]) == ("Status", "Success")
    api.get(pod).failed(404, "NotFound")


def test_a_budget_can_forbid_an_eviction(api: API, pod: str):
    run(api, pod)
    budget(api, 0)
    response = api.post(f"{pod}/eviction", EVICTION)
    status = response.failed(429, "TooManyRequests")
    assert status["message"] == "Cannot evict pod as it would violate the pod's disruption budget."
    [cause] = status["details"]["causes"]
    assert cause["reason"] == "DisruptionBudget"
    assert cause["message"] == "The disruption budget web does not allow evicting pods currently"
    api.get(pod).ok()


def test_an_eviction_takes_from_the_budget(api: API, pod: str):
    run(api, pod)
    budget(api, 1)
    api.post(f"{pod}/eviction", EVICTION).ok(201)
    left = api.get(api.path("poddisruptionbudgets", "web", version="policy/v1")).ok()["status"]
    assert left["disruptionsAllowed"] == 0
    assert list(left["disruptedPods"]) == ["web"]


def test_a_dry_run_eviction_evicts_no_pod(api: API, pod: str):
    api.post(f"{pod}/eviction", EVICTION, dryRun="All").ok(201)
    api.get(pod).ok()


def test_an_eviction_of_a_missing_pod_is_not_found(api: API):
    api.post(api.path("pods", "web", "eviction"), EVICTION).failed(404, "NotFound")


def test_the_name_of_an_eviction_must_be_that_of_its_pod(api: API, pod: str):
    status = api.post(f"{pod}/eviction", {**EVICTION, "metadata": {"name": "other"}}).failed(400, "BadRequest")
    assert status["message"] == "name in URL does not match name in Eviction object"


# --- others -----------------------------------------------------------------------------------------------------------


def test_an_ephemeral_container_can_be_added_to_a_pod(api: API, pod: str):
    look = {"spec": {"ephemeralContainers": [{"name": "look", "image": "look:1"}]}}
    patched = api.patch(f"{pod}/ephemeralcontainers", look, STRATEGIC_MERGE_PATCH).ok()
    assert [each["name"] for each in patched["spec"]["ephemeralContainers"]] == ["look"]
    assert "ephemeralContainers" in api.get(pod).ok()["spec"]


def test_a_service_account_gets_a_token(api: API):
    api.create("serviceaccounts", "robot")
    token_request = {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "spec": {"expirationSeconds": 600},
    }
    response = api.post(api.path("serviceaccounts", "robot", "token"), token_request).ok(201)
    assert response["kind"] == "TokenRequest"
    assert response["spec"]["expirationSeconds"] == 600
    token = response["status"]["token"]
    review = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
    as_robot = {"Authorization": f"Bearer {token}"}
    said = api.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", review, headers=as_robot).ok(201)
    user = said["status"]["userInfo"]
    assert user["username"] == f"system:serviceaccount:{api.namespace}:robot"
    assert f"system:serviceaccounts:{api.namespace}" in user["groups"]


def test_a_namespace_is_finalized_through_its_own_subresource(api: API):
    path = f"/api/v1/namespaces/{api.namespace}"
    read = api.get(path).ok()
    same = api.put(path, {**read, "spec": {}}).ok()
    assert same["spec"] == {"finalizers": ["kubernetes"]}
    more = {**read, "spec": {"finalizers": ["kubernetes", "example.com/more"]}}
    assert api.put(f"{path}/finalize", more).ok()["spec"] == more["spec"]
    less = api.get(path).ok()
    less["spec"]["finalizers"] = ["kubernetes"]
    api.put(f"{path}/finalize", less).ok()


def test_an_unknown_subresource_is_not_found(api: API, pod: str):
    api.get(f"{pod}/gadgets").failed(404, "NotFound")


def test_a_subresource_allows_only_its_methods(api: API, pod: str):
    api.delete(f"{pod}/status").failed(405, "MethodNotAllowed")
    api.get(f"{pod}/eviction").failed(405, "MethodNotAllowed")


# --- what is reported -------------------------------------------------------------------------------------------------


def report(api: API, path: str, **status: Tree) -> Response:
    return api.patch(f"{path}/status", {"status": status})


def test_a_condition_without_times_has_null_times(api: API, web: str, pod: str):
    conditions = [{"type": "Ready", "status": "True"}]
    (found,) = report(api, pod, conditions=conditions).ok()["status"]["conditions"]
    assert found == {**conditions[0], "lastProbeTime": None, "lastTransitionTime": None}
    (found,) = report(api, web, conditions=conditions).ok()["status"]["conditions"]
    assert found == {**conditions[0], "lastUpdateTime": None, "lastTransitionTime": None}


def test_no_count_of_replicas_may_exceed_the_replicas(api: API, web: str):
    status = report(api, web, replicas=1, readyReplicas=2, availableReplicas=3).failed(422, "Invalid")
    assert causes(status) == {
        ("FieldValueInvalid", f"status.{name}") for name in ("readyReplicas", "availableReplicas")
    }
    status = report(api, web, replicas=-1).failed(422, "Invalid")
    assert ("FieldValueInvalid", "status.replicas") in causes(status)
    report(api, web, replicas=3, readyReplicas=2, availableReplicas=1).ok()


def test_conditions_of_a_budget_are_complete(api: API):
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    api.create("poddisruptionbudgets", "a", version="policy/v1", spec=spec)
    path = api.path("poddisruptionbudgets", "a", version="policy/v1")
    status = report(api, path, conditions=[{"type": "Ready"}]).failed(422, "Invalid")
    assert causes(status) == {
        ("FieldValueNotSupported", "status.conditions[0].status"),
        ("FieldValueRequired", "status.conditions[0].lastTransitionTime"),
        ("FieldValueRequired", "status.conditions[0].reason"),
    }
    status = report(api, path, disruptionsAllowed=-1).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", "status.disruptionsAllowed")}


def test_a_scale_update_of_a_recreated_object_is_a_conflict(api: API, web: str):
    body = {"metadata": {"name": "web", "uid": "other"}, "spec": {"replicas": 3}}
    status = api.put(f"{web}/scale", body).failed(409, "Conflict")
    assert "Precondition failed: UID in precondition: other" in status["message"]


def test_an_ephemeral_container_has_no_ports_resources_or_probes(api: API, pod: str):
    look = {
        "name": "look",
        "image": "look:1",
        "targetContainerName": "missing",
        "ports": [{"containerPort": 80}],
        "resources": {"limits": {"cpu": "1"}},
        "livenessProbe": {"exec": {"command": ["true"]}},
    }
    body = {"spec": {"ephemeralContainers": [look]}}
    status = api.patch(f"{pod}/ephemeralcontainers", body, STRATEGIC_MERGE_PATCH).failed(422, "Invalid")
    place = "spec.ephemeralContainers[0]"
    assert causes(status) == {
        ("FieldValueNotFound", f"{place}.targetContainerName"),
        *(("FieldValueForbidden", f"{place}.{name}") for name in ("ports", "resources", "livenessProbe")),
    }


def test_an_ephemeral_container_is_neither_changed_nor_removed(api: API, pod: str):
    path, look = f"{pod}/ephemeralcontainers", {"name": "look", "image": "look:1"}
    made = api.patch(path, {"spec": {"ephemeralContainers": [look]}}, STRATEGIC_MERGE_PATCH).ok()
    changed = {"spec": {"ephemeralContainers": [{**look, "image": "look:2"}]}}
    status = api.patch(path, changed, STRATEGIC_MERGE_PATCH).failed(422, "Invalid")
    assert 'existing ephemeral containers "look" may not be changed' in status["message"]
    made["spec"]["ephemeralContainers"] = []
    status = api.put(path, made).failed(422, "Invalid")
    assert 'existing ephemeral containers "look" may not be removed' in status["message"]


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_scale_that_changes_nothing_separates_the_manager_of_the_replicas(api: API, method: str):
    path = api.path("deployments", version="apps/v1")
    api.post(path, {"metadata": {"name": "web"}, "spec": {**DEPLOYMENT, "replicas": 3}}, fieldManager="maker").ok(201)
    scale = {"metadata": {"name": "web"}, "spec": {"replicas": 3}}
    headers = {"Content-Type": "application/merge-patch+json" if method == "PATCH" else "application/json"}
    api.request(method, f"{path}/web/scale", scale, headers=headers, fieldManager="scaler").ok()
    entries = api.get(f"{path}/web").ok()["metadata"]["managedFields"]
    owners = [(entry["manager"], "time" in entry) for entry in entries if "f:replicas" in entry["fieldsV1"]["f:spec"]]
    assert owners == [("maker", False)]
    assert len(entries) == 2

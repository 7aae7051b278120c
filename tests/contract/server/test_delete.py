import pytest
from tests.contract.server.api import API, Tree, causes
from tests.contract.server.samples import DEPLOYMENT, POD, owner

HOLD = "example.com/hold"


def release(api: API, path: str) -> None:
    api.patch(path, {"metadata": {"finalizers": None}}).ok()


def test_a_delete_removes_the_object_and_returns_its_identity(api: API):
    created = api.create("configmaps", "a")
    response = api.delete(api.path("configmaps", "a")).ok()
    assert response == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "a", "kind": "configmaps", "uid": created["metadata"]["uid"]},
    }
    api.get(api.path("configmaps", "a")).failed(404, "NotFound")


def test_the_response_names_the_group_too(api: API):
    created = api.create("deployments", "web", version="apps/v1", spec=DEPLOYMENT)
    response = api.delete(api.path("deployments", "web", version="apps/v1")).ok()
    uid = created["metadata"]["uid"]
    assert response["details"] == {"name": "web", "group": "apps", "kind": "deployments", "uid": uid}


@pytest.mark.parametrize("plural", ["serviceaccounts", "persistentvolumeclaims", "podtemplates", "resourcequotas"])
def test_a_delete_of_some_kinds_returns_the_last_state(api: API, plural: str):
    fields: dict[str, Tree] = {
        "persistentvolumeclaims": {
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        },
        "podtemplates": {"template": {"metadata": {"labels": {"a": "b"}}, "spec": POD}},
    }
    created = api.create(plural, "a", **fields.get(plural, {}))
    path = api.path(plural, "a")
    deleted = api.delete(path).ok()
    if deleted["metadata"].get("finalizers") and api.get(path).status == 200:
        # Claims have a finalizer that a controller removes, if there is one.
        release(api, path)
    assert (deleted["kind"], deleted["metadata"]["uid"]) == (created["kind"], created["metadata"]["uid"])
    assert int(deleted["metadata"]["resourceVersion"]) > int(created["metadata"]["resourceVersion"])
    api.get(path).failed(404, "NotFound")


def test_a_missing_object_cannot_be_deleted(api: API):
    status = api.delete(api.path("configmaps", "nothing")).failed(404, "NotFound")
    assert status["details"] == {"name": "nothing", "kind": "configmaps"}


def test_a_name_is_free_again_after_a_deletion(api: API):
    first = api.create("configmaps", "a")
    api.delete(api.path("configmaps", "a")).ok()
    assert api.create("configmaps", "a")["metadata"]["uid"] != first["metadata"]["uid"]


def test_a_dry_run_deletion_deletes_nothing(api: API):
    created = api.create("configmaps", "a")
    assert api.delete(api.path("configmaps", "a"), dryRun="All").ok()["status"] == "Success"
    assert api.delete(api.path("configmaps", "a"), {"dryRun": ["All"]}).ok()["status"] == "Success"
    assert api.get(api.path("configmaps", "a")).ok() == created


# --- finalizers -------------------------------------------------------------------------------------------------------


def test_an_object_with_a_finalizer_is_only_marked(api: API):
    created = api.create("configmaps", "a", metadata={"finalizers": [HOLD]})
    path = api.path("configmaps", "a")
    marked = api.delete(path).ok()
    assert marked["kind"] == "ConfigMap"
    assert marked["metadata"]["deletionTimestamp"]
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 0
    assert int(marked["metadata"]["resourceVersion"]) > int(created["metadata"]["resourceVersion"])
    assert api.get(path).ok() == marked
    release(api, path)


def test_removing_the_last_finalizer_removes_the_object(api: API):
    api.create("configmaps", "a", metadata={"finalizers": [HOLD, "example.com/other"]})
    path = api.path("configmaps", "a")
    api.delete(path).ok()
    assert api.patch(path, {"metadata": {"finalizers": [HOLD]}}).ok()["metadata"]["finalizers"] == [HOLD]
    last = api.put(path, {"metadata": {"name": "a"}}).ok()
    assert "finalizers" not in last["metadata"]
    assert last["metadata"]["deletionTimestamp"]
    api.get(path).failed(404, "NotFound")


def test_deleting_again_changes_nothing(api: API):
    api.create("configmaps", "a", metadata={"finalizers": [HOLD]})
    path = api.path("configmaps", "a")
    marked = api.delete(path).ok()
    again = api.delete(path).ok()
    assert again == marked
    release(api, path)


def test_an_object_that_is_being_deleted_can_change_but_gets_no_new_finalizer(api: API):
    api.create("configmaps", "a", metadata={"finalizers": [HOLD]})
    path = api.path("configmaps", "a")
    api.delete(path).ok()
    assert api.patch(path, {"data": {"x": "1"}}).ok()["data"] == {"x": "1"}
    status = api.patch(path, {"metadata": {"finalizers": [HOLD, "example.com/new"]}}).failed(422, "Invalid")
    assert causes(status) == {("FieldValueForbidden", "metadata.finalizers")}
    release(api, path)


def test_a_deletion_timestamp_cannot_be_removed(api: API):
    api.create("configmaps", "a", metadata={"finalizers": [HOLD]})
    path = api.path("configmaps", "a")
    marked = api.delete(path).ok()
    api.patch(path, {"metadata": {"deletionTimestamp": None}, "data": {"x": "1"}}).ok()
    assert api.get(path).ok()["metadata"]["deletionTimestamp"] == marked["metadata"]["deletionTimestamp"]
    release(api, path)


def test_a_name_is_in_use_until_the_last_finalizer_is_removed(api: API):
    api.create("configmaps", "a", metadata={"finalizers": [HOLD]})
    api.delete(api.path("configmaps", "a")).ok()
    status = api.post(api.path("configmaps"), {"metadata": {"name": "a"}}).failed(409, "AlreadyExists")
    assert status["message"] == 'object is being deleted: configmaps "a" already exists'
    release(api, api.path("configmaps", "a"))


def test_marking_an_object_increments_its_generation(api: API):
    api.create("deployments", "web", version="apps/v1", spec=DEPLOYMENT, metadata={"finalizers": [HOLD]})
    path = api.path("deployments", "web", version="apps/v1")
    assert api.delete(path).ok()["metadata"]["generation"] == 2
    release(api, path)


def test_watchers_see_the_deletion_timestamp_and_the_deletion(api: API):
    created = api.create("configmaps", "a", metadata={"finalizers": [HOLD]})
    path = api.path("configmaps", "a")
    with api.watch(api.path("configmaps"), resourceVersion=created["metadata"]["resourceVersion"]) as watch:
        marked = api.delete(path).ok()
        assert watch.next() == ("MODIFIED", marked)
        last = api.patch(path, {"metadata": {"finalizers": None}}).ok()
        type_, seen = watch.next()
    assert type_ == "DELETED"
    assert "finalizers" not in last["metadata"]
    assert last["metadata"]["resourceVersion"] == marked["metadata"]["resourceVersion"]
    # The event has the last state that was stored.
    assert seen["metadata"]["finalizers"] == [HOLD]
    assert int(seen["metadata"]["resourceVersion"]) > int(marked["metadata"]["resourceVersion"])


# --- preconditions ----------------------------------------------------------------------------------------------------


def test_a_deletion_with_another_uid_is_a_conflict(api: API):
    created = api.create("configmaps", "a")
    path = api.path("configmaps", "a")
    status = api.delete(path, {"preconditions": {"uid": "other"}}).failed(409, "Conflict")
    assert status["message"] == (
        'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID '
        f"in record ({created['metadata']['uid']}). The object might have been deleted and then recreated"
    )
    assert status["details"] == {"name": "a", "kind": "ConfigMap"}
    api.delete(path, {"preconditions": {"uid": created["metadata"]["uid"]}}).ok()


def test_a_deletion_with_another_resource_version_is_a_conflict(api: API):
    created = api.create("configmaps", "a")
    path = api.path("configmaps", "a")
    newer = api.patch(path, {"data": {"x": "1"}}).ok()
    old = {"preconditions": {"resourceVersion": created["metadata"]["resourceVersion"]}}
    status = api.delete(path, old).failed(409, "Conflict")
    assert status["message"].endswith("The object might have been modified")
    api.delete(path, {"preconditions": {"resourceVersion": newer["metadata"]["resourceVersion"]}}).ok()


@pytest.mark.parametrize("name", ["uid", "resourceVersion"])
def test_preconditions_can_be_set_in_the_query(api: API, name: str):
    created = api.create("configmaps", "a")
    path = api.path("configmaps", "a")
    api.delete(path, **{name: "1"}).failed(409, "Conflict")
    api.delete(path, **{name: created["metadata"][name]}).ok()


# --- dependents -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("policy", "finalizer"), [("Orphan", "orphan"), ("Foreground", "foregroundDeletion")])
def test_a_propagation_policy_is_stored_as_a_finalizer(api: API, policy: str, finalizer: str):
    created = api.create("configmaps", "a", metadata={"finalizers": [HOLD]})
    path = api.path("configmaps", "a")
    owners = [owner(created, blockOwnerDeletion=True)]
    api.create("configmaps", "b", metadata={"ownerReferences": owners, "finalizers": [HOLD]})
    marked = api.delete(path, {"propagationPolicy": policy}).ok()
    assert marked["metadata"]["finalizers"] == [HOLD, finalizer]
    release(api, api.path("configmaps", "b"))
    release(api, path)


def test_a_propagation_policy_can_be_set_in_the_query(api: API):
    api.create("configmaps", "a", metadata={"finalizers": [HOLD]})
    path = api.path("configmaps", "a")
    marked = api.delete(path, propagationPolicy="Foreground").ok()
    assert marked["metadata"]["finalizers"] == [HOLD, "foregroundDeletion"]
    release(api, path)


def test_with_background_propagation_an_object_is_removed_at_once(api: API):
    api.create("configmaps", "a")
    assert api.delete(api.path("configmaps", "a"), {"propagationPolicy": "Background"}).ok()["status"] == "Success"
    api.get(api.path("configmaps", "a")).failed(404, "NotFound")


def test_an_unknown_propagation_policy_is_rejected(api: API):
    api.create("configmaps", "a")
    status = api.delete(api.path("configmaps", "a"), {"propagationPolicy": "Sometimes"}).failed(422, "Invalid")
    assert causes(status) == {("FieldValueNotSupported", "propagationPolicy")}
    assert status["details"]["kind"] == "DeleteOptions"


def test_two_ways_to_set_a_propagation_policy_exclude_each_other(api: API):
    api.create("configmaps", "a")
    body = {"propagationPolicy": "Orphan", "orphanDependents": True}
    status = api.delete(api.path("configmaps", "a"), body).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", "propagationPolicy")}


# --- pods -------------------------------------------------------------------------------------------------------------


def running_pod(api: API, name: str, **spec: Tree) -> str:
    api.create("pods", name, spec={**POD, "nodeName": "n1", **spec})
    return api.path("pods", name)


def test_a_scheduled_pod_has_a_grace_period(api: API):
    path = running_pod(api, "web")
    marked = api.delete(path).ok()
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 30
    assert marked["metadata"]["deletionTimestamp"] > marked["metadata"]["creationTimestamp"]
    assert marked["metadata"]["generation"] == 2
    assert api.get(path).ok() == marked
    api.delete(path, {"gracePeriodSeconds": 0}).ok()
    api.get(path).failed(404, "NotFound")


def test_a_pod_may_set_its_grace_period(api: API):
    path = running_pod(api, "web", terminationGracePeriodSeconds=7)
    assert api.delete(path).ok()["metadata"]["deletionGracePeriodSeconds"] == 7
    api.delete(path, gracePeriodSeconds=0).ok()


def test_the_grace_period_can_be_shortened_and_not_extended(api: API):
    path = running_pod(api, "web")
    assert api.delete(path, {"gracePeriodSeconds": 20}).ok()["metadata"]["deletionGracePeriodSeconds"] == 20
    assert api.delete(path, {"gracePeriodSeconds": 25}).ok()["metadata"]["deletionGracePeriodSeconds"] == 20
    assert api.delete(path).ok()["metadata"]["deletionGracePeriodSeconds"] == 20
    assert api.delete(path, {"gracePeriodSeconds": 10}).ok()["metadata"]["deletionGracePeriodSeconds"] == 10
    api.delete(path, {"gracePeriodSeconds": 0}).ok()


def test_an_unscheduled_pod_is_removed_at_once(api: API):
    api.create("pods", "web", spec=POD)
    assert api.delete(api.path("pods", "web")).ok()["kind"] == "Pod"
    api.get(api.path("pods", "web")).failed(404, "NotFound")


def test_a_finished_pod_is_removed_at_once(api: API):
    path = running_pod(api, "web")
    api.patch(f"{path}/status", {"status": {"phase": "Succeeded"}}).ok()
    api.delete(path).ok()
    api.get(path).failed(404, "NotFound")


def test_a_pod_that_was_stopped_waits_for_its_finalizers(api: API):
    path = running_pod(api, "web")
    api.patch(path, {"metadata": {"finalizers": [HOLD]}}).ok()
    marked = api.delete(path, {"gracePeriodSeconds": 0}).ok()
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 0
    release(api, path)
    api.get(path).failed(404, "NotFound")


def test_the_deletion_of_a_pod_is_notified_twice(api: API):
    created = api.create("pods", "web", spec=POD)
    with api.watch(api.path("pods"), resourceVersion=created["metadata"]["resourceVersion"]) as watch:
        response = api.delete(api.path("pods", "web")).ok()
        (first, marked), (second, last) = watch.next(), watch.next()
    assert (first, second) == ("MODIFIED", "DELETED")
    assert last == response
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 0
    assert last["metadata"]["deletionTimestamp"] == marked["metadata"]["deletionTimestamp"]
    assert int(last["metadata"]["resourceVersion"]) > int(marked["metadata"]["resourceVersion"])


# --- collections ------------------------------------------------------------------------------------------------------


def test_a_delete_of_a_collection_returns_the_deleted_objects(api: API):
    for name in "abc":
        api.create("configmaps", name)
    response = api.delete(api.path("configmaps")).ok()
    assert response["kind"] == "ConfigMapList"
    assert [item["metadata"]["name"] for item in response["items"]] == ["a", "b", "c"]
    assert api.names(api.path("configmaps")) == []


def test_only_selected_objects_of_a_collection_are_deleted(api: API):
    for name in "abc":
        api.create("configmaps", name, metadata={"labels": {"name": name}})
    api.delete(api.path("configmaps"), labelSelector="name in (a,b)", fieldSelector="metadata.name!=b").ok()
    assert api.names(api.path("configmaps")) == ["b", "c"]


def test_the_options_of_a_deletion_apply_to_collections(api: API):
    api.create("configmaps", "a", metadata={"finalizers": [HOLD]})
    api.create("configmaps", "b")
    api.delete(api.path("configmaps"), dryRun="All").ok()
    assert api.names(api.path("configmaps")) == ["a", "b"]
    api.delete(api.path("configmaps"), {"propagationPolicy": "Background"}).ok()
    assert api.names(api.path("configmaps")) == ["a"]
    release(api, api.path("configmaps", "a"))


def test_the_resource_version_of_a_collection_is_a_precondition(api: API):
    created = api.create("configmaps", "a")
    later = api.create("configmaps", "b")["metadata"]["resourceVersion"]
    response = api.delete(api.path("configmaps"), resourceVersion=later, fieldSelector="metadata.name=a")
    assert response.failed(409, "Conflict")["message"] == (
        'Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition '
        f"({later}) does not match the ResourceVersion in record ({created['metadata']['resourceVersion']}). "
        "The object might have been modified"
    )
    assert api.get(api.path("configmaps", "a")).ok() == created


def test_the_version_of_a_collection_is_checked_after_the_options_in_the_body(api: API):
    body = {"kind": "Other", "apiVersion": "v1"}
    path = api.path("configmaps")
    assert "invalid resource version" in api.delete(path, resourceVersion="x").failed(400, "BadRequest")["message"]
    status = api.delete(path, body, resourceVersion="x").failed(400, "BadRequest")
    assert status["message"] == 'no kind "Other" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"'
    status = api.delete(path, body, labelSelector="!").failed(400, "BadRequest")
    assert "unable to parse requirement" in status["message"]


def test_a_deletion_of_any_version_of_a_collection_ignores_the_limit(api: API):
    for name in ("a", "b"):
        api.create("configmaps", name, metadata={"labels": {"app": "web"}})
    api.get(api.path("configmaps")).ok()  # the cache of a real server, which has the versions, is as new as this list
    selected = {"labelSelector": "app=web", "limit": "1", "resourceVersion": "0"}
    deleted = api.delete(api.path("configmaps"), {"propagationPolicy": "Background"}, **selected).ok()
    assert [each["metadata"]["name"] for each in deleted["items"]] == ["a", "b"]


def test_collections_in_all_namespaces_are_not_deleted_at_once(api: API):
    api.delete("/api/v1/configmaps").failed(405, "MethodNotAllowed")


def test_services_and_namespaces_are_not_deleted_by_the_collection(api: API):
    api.delete("/api/v1/namespaces").failed(405, "MethodNotAllowed")


# --- namespaces -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_the_initial_namespaces_cannot_be_deleted(api: API, name: str):
    status = api.delete(f"/api/v1/namespaces/{name}").failed(403, "Forbidden")
    assert status["message"] == f'namespaces "{name}" is forbidden: this namespace may not be deleted'


def test_a_namespace_that_is_not_empty_terminates(api: API):
    api.create("configmaps", "holds-it", metadata={"finalizers": [HOLD]})
    deleted = api.delete(f"/api/v1/namespaces/{api.namespace}").ok()
    assert deleted["status"]["phase"] == "Terminating"
    assert deleted["metadata"]["deletionTimestamp"]
    assert deleted["spec"] == {"finalizers": ["kubernetes"]}
    release(api, api.path("configmaps", "holds-it"))


# --- jobs, whose pods stay --------------------------------------------------------------------------------------------

PODS_STAY = (
    '299 - "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background '
    'to remove them or set propagationPolicy=Orphan to suppress this warning"'
)


def test_a_delete_of_jobs_without_a_policy_warns_that_their_pods_stay(api: API):
    path = api.path("jobs", version="batch/v1")
    assert api.delete(f"{path}/missing").warnings == [PODS_STAY]
    assert api.delete(path).warnings == [PODS_STAY]
    assert api.delete(f"{path}/missing", {"propagationPolicy": "Background"}).warnings == []
    assert api.delete(path, {"orphanDependents": True}).warnings == []
    assert api.delete(api.path("configmaps", "missing")).warnings == []


def test_an_invalid_selector_of_jobs_causes_no_warning(api: API):
    response = api.delete(api.path("jobs", version="batch/v1"), labelSelector="=1")
    response.failed(400, "BadRequest")
    assert response.warnings == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "couldn't get version/kind; json parse error: unexpected end of JSON input"),
        (
            b'{"gracePeriodSeconds":"x"}',
            "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
        ),
        (
            b'{"apiVersion":3}',
            "couldn't get version/kind; json parse error: "
            "json: cannot unmarshal number into Go struct field .apiVersion of type string",
        ),
    ],
)
def test_invalid_options_are_rejected_before_the_object_is_looked_up(api: API, body: bytes, message: str):
    assert api.delete(api.path("configmaps", "missing"), body).failed(400, "BadRequest")["message"] == message

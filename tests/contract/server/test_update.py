import pytest
from tests.contract.server.api import API, Tree, causes
from tests.contract.server.samples import DEPLOYMENT, POD


def test_an_update_replaces_all_but_the_identity(api: API):
    created = api.create("configmaps", "a", data={"x": "1", "y": "1"}, metadata={"labels": {"app": "web"}})
    body = {"metadata": {"name": "a", "annotations": {"note": "new"}}, "data": {"x": "2"}}
    updated = api.put(api.path("configmaps", "a"), body).ok()
    assert updated["data"] == {"x": "2"}
    assert updated["metadata"]["annotations"] == {"note": "new"}
    assert "labels" not in updated["metadata"]
    for name in ("uid", "creationTimestamp", "namespace"):
        assert updated["metadata"][name] == created["metadata"][name]
    assert int(updated["metadata"]["resourceVersion"]) > int(created["metadata"]["resourceVersion"])
    assert api.get(api.path("configmaps", "a")).ok() == updated


def test_an_update_of_an_outdated_object_is_a_conflict(api: API):
    read = api.create("configmaps", "a")
    api.patch(api.path("configmaps", "a"), {"data": {"x": "theirs"}}).ok()
    status = api.put(api.path("configmaps", "a"), {**read, "data": {"x": "mine"}}).failed(409, "Conflict")
    assert status["message"] == (
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )
    assert status["details"] == {"name": "a", "kind": "configmaps"}


def test_an_update_of_a_recreated_object_is_a_conflict(api: API):
    first = api.create("configmaps", "a")
    api.delete(api.path("configmaps", "a")).ok()
    second = api.create("configmaps", "a")
    body = {"metadata": {"name": "a", "uid": first["metadata"]["uid"]}}
    status = api.put(api.path("configmaps", "a"), body).failed(409, "Conflict")
    assert status["message"].startswith('Operation cannot be fulfilled on configmaps "a": ')
    assert status["message"].endswith(
        f"Precondition failed: UID in precondition: {first['metadata']['uid']}, "
        f"UID in object meta: {second['metadata']['uid']}"
    )


def test_an_update_of_a_deleted_object_does_not_create_it(api: API):
    path = api.path("leases", "a", version="coordination.k8s.io/v1")
    read = api.create("leases", "a", version="coordination.k8s.io/v1")
    api.delete(path).ok()
    status = api.put(path, read).failed(409, "Conflict")
    assert "Precondition failed" in status["message"]


def test_a_patch_cannot_change_the_uid(api: API):
    api.create("configmaps", "a")
    status = api.patch(api.path("configmaps", "a"), {"metadata": {"uid": "other"}}).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", "metadata.uid")}


def test_a_resource_version_of_zero_counts_as_absent(api: API):
    api.create("configmaps", "a")
    body = {"metadata": {"name": "a", "resourceVersion": "0"}, "data": {"x": "1"}}
    assert api.put(api.path("configmaps", "a"), body).ok()["data"] == {"x": "1"}


def test_an_update_that_changes_nothing_keeps_the_version(api: API):
    read = api.create("configmaps", "a", data={"x": "1"})
    assert api.put(api.path("configmaps", "a"), read).ok() == read


def test_an_update_without_a_version_overwrites_the_object(api: API):
    api.create("configmaps", "a", data={"x": "1"})
    body = {"metadata": {"name": "a"}, "data": {"x": "2"}}
    assert api.put(api.path("configmaps", "a"), body).ok()["data"] == {"x": "2"}


def test_some_kinds_require_a_version_for_an_update(api: API):
    api.create("leases", "a", version="coordination.k8s.io/v1")
    path = api.path("leases", "a", version="coordination.k8s.io/v1")
    status = api.put(path, {"metadata": {"name": "a"}}).failed(422, "Invalid")
    assert status["details"]["causes"] == [
        {
            "reason": "FieldValueInvalid",
            "message": "Invalid value: 0: must be specified for an update",
            "field": "metadata.resourceVersion",
        }
    ]


def test_an_update_of_a_missing_object_of_most_kinds_is_not_found(api: API):
    status = api.put(api.path("configmaps", "a"), {"metadata": {"name": "a"}}).failed(404, "NotFound")
    assert status["details"] == {"name": "a", "kind": "configmaps"}


@pytest.mark.parametrize(
    ("plural", "version"),
    [
        ("leases", "coordination.k8s.io/v1"),
        ("endpoints", "v1"),
        ("limitranges", "v1"),
        ("roles", "rbac.authorization.k8s.io/v1"),
    ],
)
def test_some_kinds_are_created_by_an_update(api: API, plural: str, version: str):
    body: Tree = {"metadata": {"name": "a"}}
    if plural == "limitranges":
        body["spec"] = {"limits": []}
    created = api.put(api.path(plural, "a", version=version), body).ok(201)
    assert created["metadata"]["uid"]
    assert api.get(api.path(plural, "a", version=version)).ok() == created


def test_an_update_with_an_old_version_may_create_the_object(api: API):
    body = {"metadata": {"name": "a", "resourceVersion": "5"}}
    created = api.put(api.path("leases", "a", version="coordination.k8s.io/v1"), body).ok(201)
    assert created["metadata"]["resourceVersion"] != "5"


def test_the_name_of_the_body_must_be_that_of_the_path(api: API):
    api.create("configmaps", "a")
    other = api.put(api.path("configmaps", "a"), {"metadata": {"name": "b"}}).failed(400, "BadRequest")
    assert other["message"] == "the name of the object (b) does not match the name on the URL (a)"
    none = api.put(api.path("configmaps", "a"), {"metadata": {}}).failed(400, "BadRequest")
    assert none["message"].endswith("name must be provided")


def test_the_namespace_of_the_body_must_be_that_of_the_path(api: API):
    api.create("configmaps", "a")
    body = {"metadata": {"name": "a", "namespace": "other"}}
    status = api.put(api.path("configmaps", "a"), body).failed(400, "BadRequest")
    assert status["message"] == "the namespace of the provided object does not match the namespace sent on the request"


def test_fields_that_the_server_sets_are_kept(api: API):
    created = api.create("configmaps", "a")
    metadata = {"name": "a", "creationTimestamp": "2001-01-01T00:00:00Z", "generation": 9, "selfLink": "/here"}
    updated = api.put(api.path("configmaps", "a"), {"metadata": metadata, "data": {"x": "1"}}).ok()
    assert updated["metadata"]["creationTimestamp"] == created["metadata"]["creationTimestamp"]
    assert "generation" not in updated["metadata"]


def test_an_update_does_not_delete(api: API):
    api.create("configmaps", "a")
    metadata = {"name": "a", "deletionTimestamp": "2001-01-01T00:00:00Z", "deletionGracePeriodSeconds": 3}
    status = api.put(api.path("configmaps", "a"), {"metadata": metadata}).failed(422, "Invalid")
    assert causes(status) == {
        ("FieldValueInvalid", "metadata.deletionTimestamp"),
        ("FieldValueInvalid", "metadata.deletionGracePeriodSeconds"),
    }


def test_the_generation_counts_changes_of_the_spec(api: API):
    path = api.path("deployments", "web", version="apps/v1")
    api.create("deployments", "web", version="apps/v1", spec=DEPLOYMENT)
    assert api.patch(path, {"metadata": {"labels": {"a": "b"}}}).ok()["metadata"]["generation"] == 1
    assert api.patch(path, {"spec": {"replicas": 3}}).ok()["metadata"]["generation"] == 2
    assert api.patch(path, {"spec": {"replicas": 3}}).ok()["metadata"]["generation"] == 2
    assert api.patch(path, {"metadata": {"annotations": {"a": "b"}}}).ok()["metadata"]["generation"] == 3


def test_an_update_does_not_change_the_status(api: API):
    created = api.create("deployments", "web", version="apps/v1", spec=DEPLOYMENT)
    path = api.path("deployments", "web", version="apps/v1")
    updated = api.put(path, {**created, "status": {"replicas": 3}}).ok()
    assert updated == created


def test_immutable_fields_are_named(api: API):
    created = api.create("deployments", "web", version="apps/v1", spec=DEPLOYMENT)
    created["spec"]["selector"] = {"matchLabels": {"app": "other"}}
    created["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
    path = api.path("deployments", "web", version="apps/v1")
    status = api.put(path, created).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", "spec.selector")}
    assert "field is immutable" in status["message"]


def test_most_fields_of_a_pod_are_immutable(api: API):
    created = api.create("pods", "web", spec=POD)
    created["spec"]["containers"][0]["image"] = "web:2"
    updated = api.put(api.path("pods", "web"), created).ok()
    assert updated["spec"]["containers"][0]["image"] == "web:2"
    assert updated["metadata"]["generation"] == 2
    updated["spec"]["restartPolicy"] = "Never"
    status = api.put(api.path("pods", "web"), updated).failed(422, "Invalid")
    assert causes(status) == {("FieldValueForbidden", "spec")}


def test_an_object_marked_as_immutable_cannot_change(api: API):
    created = api.create("configmaps", "a", data={"x": "1"}, immutable=True)
    status = api.put(api.path("configmaps", "a"), {**created, "data": {"x": "2"}}).failed(422, "Invalid")
    assert causes(status) == {("FieldValueForbidden", "data")}


def test_a_dry_run_update_changes_nothing(api: API):
    created = api.create("configmaps", "a", data={"x": "1"})
    tried = api.put(api.path("configmaps", "a"), {**created, "data": {"x": "2"}}, dryRun="All").ok()
    assert tried["data"] == {"x": "2"}
    assert tried["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]
    assert api.get(api.path("configmaps", "a")).ok() == created


def test_a_dry_run_update_of_an_outdated_object_is_a_conflict(api: API):
    read = api.create("configmaps", "a")
    api.patch(api.path("configmaps", "a"), {"data": {"x": "1"}}).ok()
    api.put(api.path("configmaps", "a"), read, dryRun="All").failed(409, "Conflict")


def test_a_strict_update_rejects_unknown_fields(api: API):
    created = api.create("configmaps", "a")
    path = api.path("configmaps", "a")
    assert api.put(path, {**created, "flavour": 1}).warnings == ['299 - "unknown field \\"flavour\\""']
    api.put(path, {**created, "flavour": 1}, fieldValidation="Strict").failed(400, "BadRequest")


def test_finalizers_can_be_added_and_removed_before_a_deletion(api: API):
    api.create("configmaps", "a")
    path = api.path("configmaps", "a")
    held = api.patch(path, {"metadata": {"finalizers": ["example.com/hold"]}}).ok()
    assert held["metadata"]["finalizers"] == ["example.com/hold"]
    assert "finalizers" not in api.patch(path, {"metadata": {"finalizers": None}}).ok()["metadata"]
    api.get(path).ok()


# --- what counts as a change ------------------------------------------------------------------------------------------


def test_an_update_that_omits_defaults_changes_nothing(api: API):
    created = api.create("deployments", "web", version="apps/v1", spec=DEPLOYMENT)
    path = api.path("deployments", "web", version="apps/v1")
    assert api.put(path, {"metadata": {"name": "web"}, "spec": DEPLOYMENT}).ok() == created
    assert api.patch(path, {"spec": DEPLOYMENT}).ok() == created


def test_the_labels_of_an_endpoint_slice_count_for_its_generation(api: API):
    version = "discovery.k8s.io/v1"
    fields = {"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"]}], "ports": []}
    assert api.create("endpointslices", "a", version=version, **fields)["metadata"]["generation"] == 1
    path = api.path("endpointslices", "a", version=version)
    for change, generation in (({"annotations": {"a": "b"}}, 1), ({"labels": {"a": "b"}}, 2)):
        assert api.patch(path, {"metadata": change}).ok()["metadata"]["generation"] == generation


def test_a_pod_keeps_the_tolerations_that_the_server_gave_it(api: API):
    mine = {"key": "spot", "operator": "Exists"}
    created = api.create("pods", "web", spec={**POD, "tolerations": [mine]})
    assert len(created["spec"]["tolerations"]) == 3
    updated = api.patch(api.path("pods", "web"), {"spec": {"tolerations": [mine]}}).ok()
    assert updated["spec"]["tolerations"] == created["spec"]["tolerations"]


def test_a_writer_manages_the_tolerations_that_it_sent(api: API):
    mine = {"key": "spot", "operator": "Exists"}
    api.create("pods", "web", spec={**POD, "tolerations": [mine]})
    path = api.path("pods", "web")
    labeled = api.patch(path, {"metadata": {"labels": {"a": "b"}}}, fieldManager="labeler").ok()
    assert "labeler" not in managers_of(labeled, "f:spec", "f:tolerations")
    updated = api.patch(path, {"spec": {"tolerations": [mine]}}, fieldManager="patcher").ok()
    assert managers_of(updated, "f:spec", "f:tolerations") == ["patcher"]
    assert updated["metadata"]["generation"] == labeled["metadata"]["generation"]


def managers_of(tree: Tree, *path: str) -> list[str]:
    """The managers of a field."""
    found = []
    for entry in tree["metadata"]["managedFields"]:
        fields = entry["fieldsV1"]
        for name in path:
            fields = (fields or {}).get(name)
        if fields is not None:
            found.append(entry["manager"])
    return found


@pytest.mark.parametrize("plural", ["services", "leases"])
def test_an_update_that_may_create_rejects_an_invalid_version(api: API, plural: str):
    version = {"leases": "coordination.k8s.io/v1"}.get(plural, "v1")
    fields = {"spec": {"ports": [{"port": 80}]}} if plural == "services" else {}
    path = api.path(plural, "a", version=version)
    status = api.put(path, {"metadata": {"name": "a", "resourceVersion": "x"}, **fields}).failed(500, "")
    assert status["message"] == 'strconv.ParseUint: parsing "x": invalid syntax'
    api.put(path, {"metadata": {"name": "a", "resourceVersion": "1"}, **fields}).ok(201)


def test_an_update_of_a_job_must_keep_its_generated_selector(api: API):
    spec = {"template": {"metadata": {"labels": {"app": "web"}}, "spec": {**POD, "restartPolicy": "Never"}}}
    api.create("jobs", "a", version="batch/v1", spec=spec)
    path = api.path("jobs", "a", version="batch/v1")
    status = api.put(path, {"metadata": {"name": "a"}, "spec": spec}).failed(422, "Invalid")
    assert causes(status) == {
        ("FieldValueRequired", "spec.selector"),
        ("FieldValueInvalid", "spec.selector"),
        ("FieldValueInvalid", "spec.template"),
        ("FieldValueInvalid", "spec.template.metadata.labels"),
    }


def test_a_pod_can_be_updated_with_its_original_manifest(api: API):
    created = api.create("pods", "web", spec=POD)
    assert api.put(api.path("pods", "web"), {"metadata": {"name": "web"}, "spec": POD}).ok() == created

import re
from datetime import UTC, datetime

import pytest
from tests.contract.server.api import API, Tree, causes
from tests.contract.server.samples import DEPLOYMENT, POD


def test_a_new_object_gets_an_identity_and_keeps_its_fields(api: API):
    sent = {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": "a", "labels": {"app": "web"}, "annotations": {"note": "ä ☃"}},
        "data": {"key": "value"},
        "binaryData": {"raw": "AAEC"},
    }
    created = api.post(api.path("configmaps"), sent).ok(201)
    metadata = created.pop("metadata")
    assert {**created, "metadata": sent["metadata"]} == sent
    assert metadata.items() >= {**sent["metadata"], "namespace": api.namespace}.items()
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", metadata["uid"])
    assert re.fullmatch(r"[1-9][0-9]*", metadata["resourceVersion"])
    assert "generation" not in metadata
    age = datetime.now(UTC) - datetime.strptime(metadata["creationTimestamp"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    assert -5 < age.total_seconds() < 60


def test_a_created_object_can_be_read(api: API):
    created = api.create("configmaps", "a", data={"key": "value"})
    assert api.get(api.path("configmaps", "a")).ok() == created


def test_versions_of_all_resources_come_from_one_sequence(api: API):
    made = [api.create(plural, "a") for plural in ("configmaps", "serviceaccounts", "secrets", "endpoints")]
    versions = [int(each["metadata"]["resourceVersion"]) for each in made]
    assert versions == sorted(set(versions))


def test_an_omitted_kind_and_version_are_taken_from_the_path(api: API):
    created = api.post(api.path("configmaps"), {"metadata": {"name": "a"}}).ok(201)
    assert (created["kind"], created["apiVersion"]) == ("ConfigMap", "v1")


def test_fields_that_the_server_sets_are_ignored(api: API):
    own = {
        "uid": "mine",
        "creationTimestamp": "2001-01-01T00:00:00Z",
        "deletionTimestamp": "2001-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 3,
        "selfLink": "/here",
    }
    metadata = api.create("configmaps", "a", metadata=own)["metadata"]
    assert metadata["uid"] != "mine"
    assert not metadata["creationTimestamp"].startswith("2001")
    assert not {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} & metadata.keys()


def test_a_new_object_with_a_resource_version_is_rejected(api: API):
    response = api.post(api.path("configmaps"), {"metadata": {"name": "a", "resourceVersion": "5"}})
    assert response.failed(500, "")["message"] == "resourceVersion should not be set on objects to be created"


def test_a_name_can_be_created_once(api: API):
    api.create("configmaps", "a")
    status = api.post(api.path("configmaps"), {"metadata": {"name": "a"}}).failed(409, "AlreadyExists")
    assert status["message"] == 'configmaps "a" already exists'
    assert status["details"] == {"name": "a", "kind": "configmaps"}


def test_the_same_name_is_free_in_another_resource_and_namespace(api: API):
    api.create("configmaps", "default")
    api.create("secrets", "default")


def test_the_error_for_an_existing_object_names_its_group(api: API):
    api.create("deployments", "web", version="apps/v1", spec=DEPLOYMENT)
    body = {"metadata": {"name": "web"}, "spec": DEPLOYMENT}
    status = api.post(api.path("deployments", version="apps/v1"), body).failed(409, "AlreadyExists")
    assert status["details"] == {"name": "web", "group": "apps", "kind": "deployments"}


def test_a_name_can_be_generated_by_the_server(api: API):
    made = [
        api.post(api.path("configmaps"), {"metadata": {"generateName": "job-"}}).ok(201)["metadata"] for _ in range(3)
    ]
    assert all(re.fullmatch(r"job-[a-z0-9]{5}", metadata["name"]) for metadata in made)
    assert len({metadata["name"] for metadata in made}) == 3
    assert {metadata["generateName"] for metadata in made} == {"job-"}


def test_a_name_takes_precedence_over_generate_name(api: API):
    assert api.create("configmaps", "a", metadata={"generateName": "job-"})["metadata"]["name"] == "a"


def test_a_long_generate_name_is_truncated(api: API):
    base = "x" * 60 + "-"
    made = api.post(api.path("configmaps"), {"metadata": {"generateName": base}}).ok(201)["metadata"]
    assert (len(made["name"]), made["name"][:58]) == (63, base[:58])


def test_an_object_needs_a_name(api: API):
    status = api.post(api.path("configmaps"), {"metadata": {}}).failed(422, "Invalid")
    why = "metadata.name: Required value: name or generateName is required"
    assert status["message"] == f'ConfigMap "" is invalid: {why}'
    assert status["details"] == {
        "kind": "ConfigMap",
        "causes": [
            {
                "reason": "FieldValueRequired",
                "message": "Required value: name or generateName is required",
                "field": "metadata.name",
            }
        ],
    }


@pytest.mark.parametrize("name", ["Upper", "under_score", "-dash", "dash-", "a..b", "a b", "x" * 254, "ä"])
def test_a_name_must_be_a_subdomain(api: API, name: str):
    status = api.post(api.path("configmaps"), {"metadata": {"name": name}}).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", "metadata.name")}
    assert status["details"]["name"] == name


def test_services_have_names_without_dots(api: API):
    body = {"metadata": {"name": "a.b"}, "spec": {"ports": [{"port": 80}]}}
    status = api.post(api.path("services"), body).failed(422, "Invalid")
    assert ("FieldValueInvalid", "metadata.name") in causes(status)


@pytest.mark.parametrize("name", ["system:node", "Upper_case", "a.b", "x" * 300])
def test_roles_may_have_any_name_that_is_a_path_segment(api: API, name: str):
    api.create("roles", name, version="rbac.authorization.k8s.io/v1")


def test_the_name_of_a_role_cannot_contain_a_slash(api: API):
    body = {"metadata": {"name": "a/b"}}
    status = api.post(api.path("roles", version="rbac.authorization.k8s.io/v1"), body).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", "metadata.name")}


def test_labels_and_annotations_are_validated(api: API):
    metadata = {"name": "a", "labels": {"-bad": "fine", "good": "not fine"}, "annotations": {"a/b/c": ""}}
    status = api.post(api.path("configmaps"), {"metadata": metadata}).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", "metadata.labels"), ("FieldValueInvalid", "metadata.annotations")}


def test_owner_references_must_be_complete(api: API):
    body = {"metadata": {"name": "a", "ownerReferences": [{"apiVersion": "v1"}]}}
    status = api.post(api.path("configmaps"), body).failed(422, "Invalid")
    fields = ("metadata.ownerReferences.kind", "metadata.ownerReferences.name", "metadata.ownerReferences.uid")
    assert causes(status) == {("FieldValueInvalid", field) for field in fields}


def test_a_finalizer_of_a_built_in_kind_has_a_domain(api: API):
    body = {"metadata": {"name": "a", "finalizers": ["mine"]}}
    status = api.post(api.path("configmaps"), body).failed(422, "Invalid")
    assert ("FieldValueInvalid", "metadata.finalizers[0]") in causes(status)


# --- namespaces -------------------------------------------------------------------------------------------------------


def test_the_namespace_of_the_body_must_be_that_of_the_path(api: API):
    status = api.post(api.path("configmaps"), {"metadata": {"name": "a", "namespace": "other"}}).failed(
        400, "BadRequest"
    )
    expected = "the namespace of the provided object does not match the namespace sent on the request"
    assert status["message"] == expected


def test_the_namespace_must_exist(api: API):
    status = api.post("/api/v1/namespaces/nowhere/configmaps", {"metadata": {"name": "a"}}).failed(404, "NotFound")
    assert status["message"] == 'namespaces "nowhere" not found'
    assert status["details"] == {"name": "nowhere", "kind": "namespaces"}


def test_a_terminating_namespace_rejects_new_objects(api: API):
    api.create("configmaps", "holds-it", metadata={"finalizers": ["example.com/hold"]})
    api.delete(f"/api/v1/namespaces/{api.namespace}").ok()
    status = api.post(api.path("configmaps"), {"metadata": {"name": "late"}}).failed(403, "Forbidden")
    assert status["details"]["causes"] == [
        {
            "reason": "NamespaceTerminating",
            "message": f"namespace {api.namespace} is being terminated",
            "field": "metadata.namespace",
        }
    ]
    why = f"unable to create new content in namespace {api.namespace} because it is being terminated"
    assert status["message"] == f'configmaps "late" is forbidden: {why}'
    api.patch(api.path("configmaps", "holds-it"), {"metadata": {"finalizers": None}}).ok()


def test_the_namespace_of_a_cluster_scoped_object_is_dropped(api: API):
    path, name = "/apis/rbac.authorization.k8s.io/v1/clusterroles", f"{api.namespace}-role"
    created = api.post(path, {"metadata": {"name": name, "namespace": api.namespace}}).ok(201)
    assert "namespace" not in created["metadata"]
    api.delete(f"{path}/{name}").ok()


def test_a_new_namespace_is_active_and_has_a_finalizer_and_its_name_as_a_label(api: API):
    found = api.get(f"/api/v1/namespaces/{api.namespace}").ok()
    assert found["metadata"]["labels"] == {"kubernetes.io/metadata.name": api.namespace}
    assert (found["spec"], found["status"]) == ({"finalizers": ["kubernetes"]}, {"phase": "Active"})


def test_an_object_cannot_be_created_without_a_namespace(api: API):
    status = api.post("/api/v1/configmaps", {"metadata": {"name": "a"}}).failed(405, "MethodNotAllowed")
    assert status["message"] == "the server does not allow this method on the requested resource"


def test_a_post_to_the_path_of_an_object_is_not_allowed(api: API):
    api.post(api.path("configmaps", "a"), {"metadata": {"name": "a"}}).failed(405, "MethodNotAllowed")


# --- what the server adds ---------------------------------------------------------------------------------------------


def test_a_new_deployment_has_its_defaults_a_generation_and_no_status(api: API):
    body = {"metadata": {"name": "web", "generation": 7}, "spec": DEPLOYMENT, "status": {"replicas": 3}}
    created = api.post(api.path("deployments", version="apps/v1"), body).ok(201)
    assert created["metadata"]["generation"] == 1
    assert created["status"] == {}
    assert created["spec"]["replicas"] == 1
    assert created["spec"]["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
    }
    assert created["spec"]["template"]["spec"]["restartPolicy"] == "Always"


def test_a_new_pod_is_pending_and_has_its_defaults(api: API):
    created = api.create("pods", "web", spec=POD, status={"phase": "Running", "podIP": "10.1.1.1"})
    assert created["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    spec = created["spec"]
    assert (spec["restartPolicy"], spec["dnsPolicy"], spec["terminationGracePeriodSeconds"]) == (
        "Always",
        "ClusterFirst",
        30,
    )
    assert spec["containers"][0]["imagePullPolicy"] == "IfNotPresent"


def test_a_job_selects_its_pods_by_its_uid(api: API):
    template = {"spec": {**POD, "restartPolicy": "Never"}}
    created = api.create("jobs", "once", version="batch/v1", spec={"template": template})
    uid = created["metadata"]["uid"]
    assert created["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    labels = created["spec"]["template"]["metadata"]["labels"]
    assert labels["batch.kubernetes.io/job-name"] == "once"


def test_the_string_data_of_a_secret_is_stored_as_data(api: API):
    created = api.create("secrets", "a", data={"b": "Yg=="}, stringData={"a": "plain", "b": "wins"})
    assert created["data"] == {"a": "cGxhaW4=", "b": "d2lucw=="}
    assert "stringData" not in created
    assert created["type"] == "Opaque"


def test_all_validation_errors_are_reported_at_once(api: API):
    spec = {"containers": [{"name": "Bad Name", "image": ""}], "restartPolicy": "Sometimes"}
    status = api.post(api.path("pods"), {"metadata": {"name": "p"}, "spec": spec}).failed(422, "Invalid")
    assert causes(status) >= {
        ("FieldValueInvalid", "spec.containers[0].name"),
        ("FieldValueRequired", "spec.containers[0].image"),
        ("FieldValueNotSupported", "spec.restartPolicy"),
    }
    assert status["details"]["kind"] == "Pod"


def test_a_selector_must_match_the_template(api: API):
    spec = {**DEPLOYMENT, "selector": {"matchLabels": {"app": "other"}}}
    body = {"metadata": {"name": "web"}, "spec": spec}
    status = api.post(api.path("deployments", version="apps/v1"), body).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", "spec.template.metadata.labels")}
    assert status["details"]["group"] == "apps"


# --- dry run and strictness -------------------------------------------------------------------------------------------


def test_a_dry_run_responds_as_usual_and_stores_nothing(api: API):
    body = {"metadata": {"name": "a"}, "data": {"key": "value"}}
    tried = api.post(api.path("configmaps"), body, dryRun="All").ok(201)
    assert tried["data"] == {"key": "value"}
    assert tried["metadata"]["uid"]
    assert "resourceVersion" not in tried["metadata"]
    api.get(api.path("configmaps", "a")).failed(404, "NotFound")


@pytest.mark.parametrize("version", ["5", "0", "newest"])
def test_a_dry_run_returns_the_resource_version_of_a_new_object(api: API, version: str):
    body = {"metadata": {"name": "a", "resourceVersion": version}}
    assert api.post(api.path("configmaps"), body, dryRun="All").ok(201)["metadata"]["resourceVersion"] == version
    api.get(api.path("configmaps", "a")).failed(404, "NotFound")


def test_a_dry_run_validates_the_object(api: API):
    api.create("configmaps", "a")
    api.post(api.path("configmaps"), {"metadata": {"name": "a"}}, dryRun="All").failed(409, "AlreadyExists")
    api.post(api.path("configmaps"), {"metadata": {"name": "A"}}, dryRun="All").failed(422, "Invalid")


def test_dry_run_accepts_only_the_value_all(api: API):
    status = api.post(api.path("configmaps"), {"metadata": {"name": "a"}}, dryRun="Some").failed(422, "Invalid")
    assert causes(status) == {("FieldValueNotSupported", "dryRun")}
    assert status["details"]["kind"] == "CreateOptions"
    assert status["details"]["group"] == "meta.k8s.io"


UNKNOWN = {"metadata": {"name": "a", "colour": "red"}, "data": {"key": "value"}, "flavour": 1}


def test_unknown_fields_are_dropped_with_a_warning(api: API):
    response = api.post(api.path("configmaps"), UNKNOWN)
    created = response.ok(201)
    assert "flavour" not in created
    assert "colour" not in created["metadata"]
    assert response.warnings == ['299 - "unknown field \\"metadata.colour\\""', '299 - "unknown field \\"flavour\\""']


def test_unknown_fields_can_be_rejected(api: API):
    status = api.post(api.path("configmaps"), UNKNOWN, fieldValidation="Strict").failed(400, "BadRequest")
    assert 'strict decoding error: unknown field "metadata.colour", unknown field "flavour"' in status["message"]
    api.get(api.path("configmaps", "a")).failed(404, "NotFound")


def test_unknown_fields_can_be_dropped_silently(api: API):
    response = api.post(api.path("configmaps"), UNKNOWN, fieldValidation="Ignore")
    assert "flavour" not in response.ok(201)
    assert response.warnings == []


def test_the_last_value_of_a_duplicate_field_counts_with_a_warning(api: API):
    body = b'{"metadata":{"name":"a"},"data":{"x":"first"},"data":{"x":"last"}}'
    response = api.post(api.path("configmaps"), body)
    assert response.ok(201)["data"] == {"x": "last"}
    assert response.warnings == ['299 - "duplicate field \\"data\\""']
    strict = api.post(api.path("configmaps"), body.replace(b'"a"', b'"b"'), fieldValidation="Strict")
    assert 'duplicate field "data"' in strict.failed(400, "BadRequest")["message"]


def test_an_unknown_field_validation_is_rejected(api: API):
    response = api.post(api.path("configmaps"), {"metadata": {"name": "a"}}, fieldValidation="Maybe")
    assert causes(response.failed(422, "Invalid")) == {("FieldValueNotSupported", "fieldValidation")}


def test_the_name_of_a_field_manager_is_short_and_printable(api: API):
    body = {"metadata": {"name": "a"}}
    long = api.post(api.path("configmaps"), body, fieldManager="x" * 129).failed(422, "Invalid")
    assert causes(long) == {("FieldValueTooLong", "fieldManager")}
    odd = api.post(api.path("configmaps"), body, fieldManager="a\tb").failed(422, "Invalid")
    assert causes(odd) == {("FieldValueInvalid", "fieldManager")}
    api.post(api.path("configmaps"), body, fieldManager="x" * 128).ok(201)


def test_unknown_fields_are_reported_also_with_a_failed_request(api: API):
    api.create("configmaps", "a")
    response = api.post(api.path("configmaps"), {"metadata": {"name": "a"}, "extra": 1})
    response.failed(409, "AlreadyExists")
    assert response.warnings == ['299 - "unknown field \\"extra\\""']
    missing = api.put(api.path("configmaps", "missing"), {"metadata": {"name": "missing"}, "extra": 1})
    missing.failed(404, "NotFound")
    assert missing.warnings == response.warnings


# --- jobs -------------------------------------------------------------------------------------------------------------

JOB_SPEC = {**POD, "restartPolicy": "Never"}
OWN_LABELS = {f"{domain}{name}" for domain in ("", "batch.kubernetes.io/") for name in ("controller-uid", "job-name")}


def create_job(api: API, template: Tree, **metadata: Tree) -> Tree:
    body = {"metadata": metadata, "spec": {"template": {"spec": JOB_SPEC, **template}}}
    return api.post(api.path("jobs", version="batch/v1"), body).ok(201)


def test_a_job_keeps_its_labels_and_its_pods_get_more(api: API):
    job = create_job(api, {"metadata": {"labels": {"app": "web"}}}, name="a", labels={"app": "web"})
    assert job["metadata"]["labels"] == {"app": "web"}
    assert job["spec"]["template"]["metadata"]["labels"].keys() == {"app", *OWN_LABELS}


def test_a_job_without_labels_has_those_of_its_pods(api: API):
    for name, template in (("a", {}), ("b", {"metadata": {"labels": {"app": "web"}}})):
        job = create_job(api, template, name=name)
        assert job["metadata"]["labels"] == job["spec"]["template"]["metadata"]["labels"]
        assert job["metadata"]["labels"]["job-name"] == name


def test_a_job_with_a_generated_name_has_only_the_given_labels_of_its_pods(api: API):
    job = create_job(api, {"metadata": {"labels": {"app": "web"}}}, generateName="made-up-")
    assert job["metadata"]["labels"] == {"app": "web"}
    assert job["spec"]["template"]["metadata"]["labels"]["job-name"] == job["metadata"]["name"]


# --- what is always there ---------------------------------------------------------------------------------------------


def test_a_role_without_rules_has_null_rules(api: API):
    for name, fields in (("a", {}), ("b", {"rules": []})):
        role = api.create("roles", name, version="rbac.authorization.k8s.io/v1", **fields)
        assert role["rules"] is None


def test_a_slice_without_endpoints_has_null_endpoints(api: API):
    for name, fields in (("a", {}), ("b", {"endpoints": [], "ports": []})):
        found = api.create("endpointslices", name, version="discovery.k8s.io/v1", addressType="IPv4", **fields)
        assert (found["endpoints"], found["ports"]) == (None, None)


def test_the_endpoints_of_a_slice_and_their_addresses_are_limited(api: API):
    for endpoints, field in (
        ([{"addresses": ["10.0.0.1"]}] * 1001, "endpoints"),
        ([{"addresses": [f"10.0.0.{number}" for number in range(101)]}], "endpoints[0].addresses"),
    ):
        body = {"metadata": {"name": "a"}, "addressType": "IPv4", "endpoints": endpoints}
        status = api.post(api.path("endpointslices", version="discovery.k8s.io/v1"), body).failed(422, "Invalid")
        assert causes(status) == {("FieldValueTooMany", field)}


def test_a_probe_without_a_port_is_rejected(api: API):
    probes = {"readinessProbe": {"httpGet": {"path": "/"}}, "livenessProbe": {"tcpSocket": {}}}
    body = {"metadata": {"name": "a"}, "spec": {"containers": [{**POD["containers"][0], **probes}]}}
    status = api.post(api.path("pods"), body).failed(422, "Invalid")
    assert causes(status) == {
        ("FieldValueInvalid", "spec.containers[0].livenessProbe.tcpSocket.port"),
        ("FieldValueInvalid", "spec.containers[0].readinessProbe.httpGet.port"),
    }


def test_what_pods_may_use_is_protected_from_deletion(api: API):
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"metadata": {"name": "a", "finalizers": ["example.com/own"]}, "spec": spec}
    created = api.post(api.path("persistentvolumeclaims"), claim).ok(201)
    assert created["metadata"]["finalizers"] == ["example.com/own", "kubernetes.io/pvc-protection"]
    [managed] = created["metadata"]["managedFields"]
    assert managed["fieldsV1"]["f:metadata"]["f:finalizers"] == {".": {}, 'v:"example.com/own"': {}}

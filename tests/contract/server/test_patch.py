import pytest
from tests.contract.server.api import API, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, Tree, causes
from tests.contract.server.samples import DEPLOYMENT, POD, TEMPLATE

APPS = "apps/v1"


@pytest.fixture
def a(api: API) -> str:
    """The path of a config map."""
    api.create("configmaps", "a", data={"x": "1", "y": "2"}, metadata={"labels": {"app": "web"}})
    return api.path("configmaps", "a")


@pytest.fixture
def web(api: API) -> str:
    """The path of a deployment with two containers."""
    containers = [{"name": "web", "image": "web:1", "args": ["a", "b"]}, {"name": "log", "image": "log:1"}]
    spec = {**DEPLOYMENT, "template": {**TEMPLATE, "spec": {**POD, "containers": containers}}}
    api.create("deployments", "web", version=APPS, spec=spec)
    return api.path("deployments", "web", version=APPS)


def containers(tree: Tree) -> list[tuple[str, str]]:
    return [(each["name"], each["image"]) for each in tree["spec"]["template"]["spec"]["containers"]]


def template(**spec: Tree) -> Tree:
    return {"spec": {"template": {"spec": spec}}}


# --- merge patch ------------------------------------------------------------------------------------------------------


def test_a_merge_patch_sets_merges_and_deletes(api: API, a: str):
    patched = api.patch(a, {"data": {"x": "9", "y": None, "z": "3"}, "metadata": {"labels": None}}).ok()
    assert patched["data"] == {"x": "9", "z": "3"}
    assert "labels" not in patched["metadata"]
    assert api.get(a).ok() == patched


def test_a_patch_that_changes_nothing_keeps_the_version(api: API, a: str):
    before = api.get(a).ok()
    assert api.patch(a, {"data": {"x": "1"}}).ok() == before
    assert api.patch(a, {}).ok() == before


def test_a_merge_patch_replaces_lists_as_a_whole(api: API, web: str):
    patched = api.patch(web, template(containers=[{"name": "new", "image": "new:1"}])).ok()
    assert containers(patched) == [("new", "new:1")]


@pytest.mark.parametrize(
    ("patch", "kind"),
    [
        ({"apiVersion": None}, MERGE_PATCH),
        ({"apiVersion": ""}, MERGE_PATCH),
        ({"apiVersion": None, "data": 5}, MERGE_PATCH),
        ([{"op": "remove", "path": "/apiVersion"}], JSON_PATCH),
    ],
)
def test_a_patched_object_without_version_has_no_name(api: API, a: str, patch: Tree, kind: str):
    response = api.patch(a, patch, kind)
    assert response.failed(400, "BadRequest")["message"] == (
        "the name of the object (a based on URL) was undeterminable: name must be provided"
    )


def test_a_patch_may_remove_the_kind(api: API, a: str):
    assert api.patch(a, {"kind": None, "data": {"x": "9"}}).ok()["kind"] == "ConfigMap"
    assert api.patch(a, {"apiVersion": None}, STRATEGIC_MERGE_PATCH).ok()["apiVersion"] == "v1"


def test_strict_validation_of_an_object_without_version_knows_no_field(api: API, a: str):
    status = api.patch(a, {"apiVersion": None}, fieldValidation="Strict").failed(422, "Invalid")
    assert status["message"].endswith('strict decoding error: unknown field "data", unknown field "metadata"')


def test_a_patch_with_an_outdated_version_is_a_conflict(api: API, a: str):
    version = api.get(a).ok()["metadata"]["resourceVersion"]
    api.patch(a, {"metadata": {"resourceVersion": version}, "data": {"x": "2"}}).ok()
    late = {"metadata": {"resourceVersion": version}, "data": {"x": "3"}}
    api.patch(a, late).failed(409, "Conflict")


def test_a_missing_object_cannot_be_patched(api: API):
    status = api.patch(api.path("configmaps", "nothing"), {"data": {}}).failed(404, "NotFound")
    assert status["details"] == {"name": "nothing", "kind": "configmaps"}


def test_a_patch_cannot_rename(api: API, a: str):
    status = api.patch(a, {"metadata": {"name": "b"}}).failed(400, "BadRequest")
    assert status["message"] == "the name of the object (b) does not match the name on the URL (a)"


def test_the_result_of_a_patch_is_validated(api: API, a: str):
    status = api.patch(a, {"metadata": {"labels": {"bad key": ""}}}).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", "metadata.labels")}


def test_a_patch_cannot_give_a_field_another_type(api: API, a: str):
    status = api.patch(a, {"data": {"x": 5}}).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", "patch")}
    assert status["message"].endswith(
        "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"
    )


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ({"replicas": "many"}, "unrecognized type: int32"),
        ({"replicas": 1.5}, "cannot convert float64 to int32"),
        ({"replicas": {}}, "unrecognized type: int32"),
        ({"paused": 1}, "unrecognized type: bool"),
        ({"template": "x"}, "cannot restore struct from: string"),
        ({"template": {"metadata": {"labels": {"a": 1}}}}, "cannot convert int64 to string"),
        ({"template": {"metadata": {"labels": {"a": True}}}}, "unrecognized type: string"),
    ],
)
def test_a_strategic_merge_patch_cannot_give_a_field_another_type(api: API, web: str, spec: Tree, error: str):
    status = api.patch(web, {"spec": spec}, STRATEGIC_MERGE_PATCH).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", "patch")}
    assert status["message"].endswith(f'": {error}')


def test_a_merge_patch_must_be_an_object(api: API, a: str):
    api.patch(a, b"[1]").failed(400, "BadRequest")
    api.patch(a, b'{"data":').failed(400, "BadRequest")


def test_a_dry_run_patch_changes_nothing(api: API, a: str):
    before = api.get(a).ok()
    assert api.patch(a, {"data": {"x": "9"}}, dryRun="All").ok()["data"]["x"] == "9"
    assert api.get(a).ok() == before


def test_a_patch_with_an_unknown_field_is_warned_about_or_rejected(api: API, a: str):
    assert api.patch(a, {"flavour": 1}).warnings == ['299 - "unknown field \\"flavour\\""']
    status = api.patch(a, {"flavour": 1}, fieldValidation="Strict").failed(422, "Invalid")
    assert status["message"].endswith('strict decoding error: unknown field "flavour"')


# --- JSON patch -------------------------------------------------------------------------------------------------------


def test_a_json_patch_does_one_operation_after_the_other(api: API, a: str):
    operations = [
        {"op": "test", "path": "/data/x", "value": "1"},
        {"op": "replace", "path": "/data/x", "value": "9"},
        {"op": "add", "path": "/data/new.key", "value": "v"},
        {"op": "copy", "from": "/data/x", "path": "/data/copy"},
        {"op": "move", "from": "/data/y", "path": "/data/moved"},
        {"op": "remove", "path": "/metadata/labels/app"},
    ]
    patched = api.patch(a, operations, JSON_PATCH).ok()
    assert patched["data"] == {"x": "9", "new.key": "v", "copy": "9", "moved": "2"}
    assert "labels" not in patched["metadata"]


def test_a_json_patch_can_reach_names_with_slashes(api: API, a: str):
    operations = [{"op": "add", "path": "/metadata/labels/example.com~1role", "value": "db"}]
    assert api.patch(a, operations, JSON_PATCH).ok()["metadata"]["labels"]["example.com/role"] == "db"


def test_a_json_patch_adds_to_the_end_of_lists(api: API, web: str):
    path = "/spec/template/spec/containers/-"
    operations = [{"op": "add", "path": path, "value": {"name": "last", "image": "last:1"}}]
    assert containers(api.patch(web, operations, JSON_PATCH).ok())[-1] == ("last", "last:1")


def test_a_json_patch_whose_test_fails_does_nothing(api: API, a: str):
    before = api.get(a).ok()
    operations = [
        {"op": "replace", "path": "/data/x", "value": "9"},
        {"op": "test", "path": "/data/y", "value": "other"},
    ]
    status = api.patch(a, operations, JSON_PATCH).failed(422, "Invalid")
    assert status["message"] == "the server rejected our request due to an error in our request"
    assert "details" not in status or "causes" not in status["details"]
    assert api.get(a).ok() == before


def test_a_json_patch_of_a_missing_field_is_rejected(api: API, a: str):
    api.patch(a, [{"op": "remove", "path": "/data/nothing"}], JSON_PATCH).failed(422, "Invalid")
    api.patch(a, [{"op": "replace", "path": "/nothing/there", "value": 1}], JSON_PATCH).failed(422, "Invalid")


def test_a_json_patch_must_be_a_list_of_operations(api: API, a: str):
    api.patch(a, {"op": "remove", "path": "/data"}, JSON_PATCH).failed(400, "BadRequest")
    api.patch(a, b"nonsense", JSON_PATCH).failed(400, "BadRequest")


def test_a_json_patch_with_too_many_operations_is_rejected(api: API, a: str):
    operations = [{"op": "test", "path": "/data/x", "value": "1"}] * 10_001
    status = api.patch(a, operations, JSON_PATCH).failed(413, "RequestEntityTooLarge")
    assert "10000" in status["message"]


# --- strategic merge patch --------------------------------------------------------------------------------------------


def test_a_strategic_merge_patch_merges_lists_by_their_key(api: API, web: str):
    patch = template(containers=[{"name": "log", "image": "log:2"}, {"name": "new", "image": "new:1"}])
    patched = api.patch(web, patch, STRATEGIC_MERGE_PATCH).ok()
    assert sorted(containers(patched)) == [("log", "log:2"), ("new", "new:1"), ("web", "web:1")]


def test_a_strategic_merge_patch_deletes_from_lists(api: API, web: str):
    patch = template(containers=[{"name": "log", "$patch": "delete"}])
    assert containers(api.patch(web, patch, STRATEGIC_MERGE_PATCH).ok()) == [("web", "web:1")]


def test_a_strategic_merge_patch_obeys_the_replace_directive(api: API, web: str):
    patch = template(containers=[{"$patch": "replace"}, {"name": "only", "image": "only:1"}])
    assert containers(api.patch(web, patch, STRATEGIC_MERGE_PATCH).ok()) == [("only", "only:1")]


def test_a_strategic_merge_patch_keeps_the_order_it_is_given(api: API, web: str):
    patch = template(
        **{"$setElementOrder/containers": [{"name": "log"}, {"name": "new"}, {"name": "web"}]},
        containers=[{"name": "new", "image": "new:1"}],
    )
    patched = api.patch(web, patch, STRATEGIC_MERGE_PATCH).ok()
    assert [name for name, _ in containers(patched)] == ["log", "new", "web"]


def test_a_strategic_merge_patch_replaces_lists_without_a_key(api: API, web: str):
    patch = template(containers=[{"name": "web", "args": ["c"]}])
    patched = api.patch(web, patch, STRATEGIC_MERGE_PATCH).ok()
    assert patched["spec"]["template"]["spec"]["containers"][0]["args"] == ["c"]


def test_a_strategic_merge_patch_retains_the_keys_it_names(api: API, web: str):
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    assert api.patch(web, patch, STRATEGIC_MERGE_PATCH).ok()["spec"]["strategy"] == {"type": "Recreate"}


def test_a_strategic_merge_patch_merges_and_deletes_plain_values(api: API):
    path = api.path("configmaps", "a")
    api.create("configmaps", "a", metadata={"finalizers": ["example.com/a", "example.com/b"]})
    more = {"metadata": {"finalizers": ["example.com/c"]}}
    merged = api.patch(path, more, STRATEGIC_MERGE_PATCH).ok()["metadata"]["finalizers"]
    assert sorted(merged) == ["example.com/a", "example.com/b", "example.com/c"]
    fewer = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a", "example.com/c"]}}
    assert api.patch(path, fewer, STRATEGIC_MERGE_PATCH).ok()["metadata"]["finalizers"] == ["example.com/b"]
    api.patch(path, {"metadata": {"finalizers": None}}).ok()


def test_a_strategic_merge_patch_merges_services_ports_by_number(api: API):
    ports = [{"name": "http", "port": 80}, {"name": "https", "port": 443}]
    api.create("services", "web", spec={"ports": ports, "selector": {"app": "web"}})
    patch = {"spec": {"ports": [{"port": 443, "name": "tls"}]}}
    patched = api.patch(api.path("services", "web"), patch, STRATEGIC_MERGE_PATCH).ok()
    assert sorted((port["name"], port["port"]) for port in patched["spec"]["ports"]) == [("http", 80), ("tls", 443)]


def test_an_unknown_directive_is_rejected(api: API, web: str):
    patch = template(containers=[{"name": "log", "$patch": "frobnicate"}])
    response = api.patch(web, patch, STRATEGIC_MERGE_PATCH)
    assert response.status in (400, 422, 500), response.body
    assert containers(api.get(web).ok()) == [("web", "web:1"), ("log", "log:1")]


# --- how to send them -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "application/xml"])
def test_a_patch_of_an_unknown_type_is_rejected(api: API, a: str, content_type: str):
    status = api.patch(a, {"data": {}}, content_type).failed(415, "UnsupportedMediaType")
    assert "application/merge-patch+json" in status["message"] or "415" in status["message"]


def test_a_charset_in_the_content_type_is_accepted(api: API, a: str):
    assert api.patch(a, {"data": {"x": "9"}}, f"{MERGE_PATCH}; charset=utf-8").ok()["data"]["x"] == "9"


def test_only_an_apply_can_be_forced(api: API, a: str):
    status = api.patch(a, {"data": {}}, force="true").failed(422, "Invalid")
    assert causes(status) == {("FieldValueForbidden", "force")}
    assert status["details"]["kind"] == "PatchOptions"


def test_a_collection_cannot_be_patched(api: API):
    api.patch(api.path("configmaps"), {"data": {}}).failed(405, "MethodNotAllowed")


def test_an_invalid_patch_is_rejected_before_the_object_is_looked_up(api: API):
    for path in (api.path("configmaps", "missing"), api.path("pods", "missing", "status")):
        status = api.patch(path, {}, content_type="application/json").failed(415, "UnsupportedMediaType")
        assert status["message"] == "415: Unsupported Media Type"


def test_of_two_values_of_the_wrong_type_the_first_by_name_is_reported(api: API, web: str):
    wrong = {"name": "web", "image": "web:1", "volumeMounts": ["x"], "readinessProbe": {"httpGet": {"path": 1}}}
    status = api.patch(web, template(containers=[wrong])).failed(422, "Invalid")
    assert status["message"].endswith(
        "json: cannot unmarshal number into Go struct field "
        "HTTPGetAction.spec.template.spec.containers.readinessProbe.ProbeHandler.httpGet.path of type string"
    )


SCHEME = 'scheme "pkg/runtime/scheme.go:111"'


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"kind": "Other"}, 'no kind "Other" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"'),
        (
            {"apiVersion": "v2"},
            'no kind "ConfigMap" is registered for version "v2" in scheme "pkg/runtime/scheme.go:111"',
        ),
        ({"kind": "Pod"}, "converting (v1.Pod) to (core.ConfigMap): unknown conversion"),
    ],
)
def test_a_patch_cannot_change_the_kind(api: API, change: Tree, why: str):
    api.create("configmaps", "a")
    status = api.patch(api.path("configmaps", "a"), change).failed(422, "Invalid")
    assert status["message"].endswith(f": {why}")

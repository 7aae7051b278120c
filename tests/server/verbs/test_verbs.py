"""The pipeline, beyond the contract: generated names, admission, revisions, and all built-in resources."""

import msgspec
import pytest
from tests.server.bare_server import CONFIG_MAPS, MERGE_PATCH, BareServer, Tree

from listwatch.errors import (
    AlreadyExistsError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    MethodNotAllowedError,
    NotFoundError,
)
from listwatch.meta import Resource
from listwatch.server.requests import APIRequest
from listwatch.server.schema.registry import Registry
from listwatch.server.schema.schema import builtin_schema

REGISTRY = Registry.builtin()
STORED = [resource for resource in builtin_schema().resources if REGISTRY.traits(resource).stored]


@pytest.fixture
def server() -> BareServer:
    return BareServer()


def path_of(resource: Resource, namespace: str = "default") -> str:
    root = f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.version}"
    return f"{root}/namespaces/{namespace}/{resource.plural}" if resource.namespaced else f"{root}/{resource.plural}"


# --- names that the server makes --------------------------------------------------------------------------------------


def test_a_generated_name_in_use_is_generated_again():
    server = BareServer(suffixes=["aaaaa", "aaaaa", "aaaaa", "bbbbb"])
    for expected in ("job-aaaaa", "job-bbbbb"):
        created = server.call("POST", CONFIG_MAPS, {"metadata": {"generateName": "job-"}})
        assert created["metadata"]["name"] == expected


def test_name_generation_fails_after_eight_attempts_with_retry_after():
    server = BareServer(suffixes=["aaaaa"] * 9)
    server.call("POST", CONFIG_MAPS, {"metadata": {"generateName": "job-"}})
    with pytest.raises(AlreadyExistsError, match="was not able to generate a unique name") as caught:
        server.call("POST", CONFIG_MAPS, {"metadata": {"generateName": "job-"}})
    assert caught.value.retry_after == 1
    created = server.call("POST", CONFIG_MAPS, {"metadata": {"generateName": "job-"}})
    assert created["metadata"]["name"] == "job-00000"


def test_a_job_with_a_generated_name_has_it_in_its_labels(server: BareServer):
    spec = {"template": {"spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}}}
    path = "/apis/batch/v1/namespaces/default/jobs"
    created = server.call("POST", path, {"metadata": {"generateName": "job-"}, "spec": spec})
    labels = created["spec"]["template"]["metadata"]["labels"]
    assert labels["batch.kubernetes.io/job-name"] == created["metadata"]["name"] == "job-00000"


# --- revisions --------------------------------------------------------------------------------------------------------


def test_a_write_takes_one_revision(server: BareServer):
    before = server.storage.revision
    server.create(CONFIG_MAPS, "a")
    server.patch(f"{CONFIG_MAPS}/a", {"data": {"x": "1"}})
    server.delete(f"{CONFIG_MAPS}/a")
    assert server.storage.revision == before + 3


def test_a_write_without_changes_takes_no_revision(server: BareServer):
    server.create(CONFIG_MAPS, "a", data={"x": "1"})
    before = server.storage.revision
    read = server.get(f"{CONFIG_MAPS}/a")
    server.call("PUT", f"{CONFIG_MAPS}/a", read)
    server.patch(f"{CONFIG_MAPS}/a", {"data": {"x": "1"}})
    server.patch(f"{CONFIG_MAPS}/a", {"metadata": {"labels": {}}})
    assert server.storage.revision == before
    assert server.get(f"{CONFIG_MAPS}/a") == read


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_dry_run_takes_no_revision(server: BareServer, method: str):
    server.create(CONFIG_MAPS, "a")
    before = server.storage.revision
    path = f"{CONFIG_MAPS}/a" if method != "POST" else CONFIG_MAPS
    name = "b" if method == "POST" else "a"
    body = {"metadata": {"name": name}, "data": {"x": "1"}} if method != "DELETE" else None
    content_type = MERGE_PATCH if method == "PATCH" else "application/json"
    server.call(method, f"{path}?dryRun=All", body, content_type=content_type)
    assert server.storage.revision == before
    assert server.names(CONFIG_MAPS) == ["a"]


def test_a_rejected_write_stores_nothing(server: BareServer):
    before = server.storage.revision
    with pytest.raises(InvalidError):
        server.create(CONFIG_MAPS, "Not A Name")
    with pytest.raises(NotFoundError):
        server.create("/api/v1/namespaces/nowhere/configmaps", "a")
    assert server.storage.revision == before


def test_of_two_updates_of_the_same_version_one_succeeds(server: BareServer):
    read = server.create(CONFIG_MAPS, "a")
    server.call("PUT", f"{CONFIG_MAPS}/a", {**read, "data": {"x": "first"}})
    with pytest.raises(ConflictError):
        server.call("PUT", f"{CONFIG_MAPS}/a", {**read, "data": {"x": "second"}})
    assert server.get(f"{CONFIG_MAPS}/a")["data"] == {"x": "first"}


# --- admission --------------------------------------------------------------------------------------------------------


def test_admission_receives_every_write_with_the_old_object():
    seen: list[tuple[str, str, Tree, Tree]] = []

    def look(request: APIRequest, new: Tree | None, old: Tree | None) -> None:
        seen.append((request.verb, request.subresource, (new or {}).get("data"), (old or {}).get("data")))

    server = BareServer(admission=[look])
    seen.clear()
    server.create(CONFIG_MAPS, "a", data={"x": "1"})
    server.patch(f"{CONFIG_MAPS}/a", {"data": {"x": "2"}})
    server.delete(f"{CONFIG_MAPS}/a")
    assert seen == [
        ("create", "", {"x": "1"}, None),
        ("patch", "", {"x": "2"}, {"x": "1"}),
        ("delete", "", None, {"x": "2"}),
    ]


def test_an_object_changed_by_admission_is_validated():
    def label(_request: APIRequest, new: Tree | None, _old: Tree | None) -> None:
        if new and new["kind"] == "ConfigMap":
            new["metadata"].setdefault("labels", {})["added"] = new.get("data", {}).get("label", "yes")

    server = BareServer(admission=[label])
    assert server.create(CONFIG_MAPS, "a")["metadata"]["labels"] == {"added": "yes"}
    with pytest.raises(InvalidError):
        server.create(CONFIG_MAPS, "b", data={"label": "not fine"})


def test_admission_may_reject_a_request():
    def refuse(request: APIRequest, _new: Tree | None, _old: Tree | None) -> None:
        if request.resource.kind == "ConfigMap":
            raise ForbiddenError.of("configmaps", request.name, "no more of these")

    server = BareServer(admission=[refuse])
    before = server.storage.revision
    with pytest.raises(ForbiddenError, match="no more of these"):
        server.create(CONFIG_MAPS, "a")
    assert server.storage.revision == before


# --- all resources ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("resource", STORED, ids=lambda resource: str(resource.gvr))
def test_every_resource_can_be_listed_and_read(server: BareServer, resource: Resource):
    listed = server.get(path_of(resource))
    assert (listed["kind"], listed["apiVersion"]) == (resource.list_kind, resource.api_version)
    assert [item["metadata"]["name"] for item in listed["items"]] == ["default"] * (resource.kind == "Namespace")
    with pytest.raises(NotFoundError):
        server.get(f"{path_of(resource)}/nothing")


@pytest.mark.parametrize("resource", STORED, ids=lambda resource: str(resource.gvr))
def test_every_resource_rejects_an_object_without_a_name_alike(server: BareServer, resource: Resource):
    if "create" not in resource.verbs:
        with pytest.raises(MethodNotAllowedError):
            server.call("POST", path_of(resource), {})
        return
    with pytest.raises(InvalidError) as caught:
        server.call("POST", path_of(resource), {"metadata": {}})
    assert "metadata.name" in {cause.field for cause in caught.value.causes}


@pytest.mark.parametrize(
    "resource",
    [each for each in STORED if REGISTRY.traits(each).create_on_update and each.version == "v1"],
    ids=lambda resource: str(resource.gvr),
)
def test_a_kind_that_allows_it_is_created_by_an_update(server: BareServer, resource: Resource):
    role = {"apiGroup": "rbac.authorization.k8s.io", "name": "a"}
    bodies: dict[str, Tree] = {
        "Event": {"involvedObject": {"namespace": "default"}},
        "LimitRange": {"spec": {"limits": []}},
        "RuntimeClass": {"handler": "runc"},
        "Service": {"spec": {"ports": [{"port": 80}]}},
        "RoleBinding": {"roleRef": {**role, "kind": "Role"}},
        "ClusterRoleBinding": {"roleRef": {**role, "kind": "ClusterRole"}},
    }
    body = {"metadata": {"name": "a"}, **bodies.get(resource.kind, {})}
    if resource.group == "events.k8s.io":
        time = "2026-01-01T00:00:00.000000Z"
        reporter = {"reportingController": "example.com/me", "reportingInstance": "me", "action": "Do", "reason": "Why"}
        body = {"metadata": {"name": "a"}, "eventTime": time, "type": "Normal", **reporter}
    response = server.respond("PUT", f"{path_of(resource)}/a", body)
    assert response.code == 201
    assert server.respond("PUT", f"{path_of(resource)}/a", {**msgspec.json.decode(response.body)}).code == 200


# --- versions of a kind -----------------------------------------------------------------------------------------------


def test_a_list_is_in_the_requested_version(server: BareServer):
    path = "/apis/autoscaling/{}/namespaces/default/horizontalpodautoscalers"
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    server.create(path.format("v1"), "a", spec={"scaleTargetRef": target, "maxReplicas": 3})
    for version in ("v1", "v2"):
        listed = server.get(path.format(version))
        assert listed["apiVersion"] == f"autoscaling/{version}"
        assert listed["items"][0]["spec"]["maxReplicas"] == 3
    older, newer = (server.get(f"{path.format(version)}/a") for version in ("v1", "v2"))
    assert older["metadata"] == newer["metadata"]
    # Nothing changes in the requested version, so nothing is written in either version.
    before = server.storage.revision
    server.call("PUT", f"{path.format('v1')}/a", older)
    server.call("PUT", f"{path.format('v2')}/a", newer)
    assert server.storage.revision == before

"""The content types of requests and responses."""

import gzip

import pytest
import yaml
from tests.contract.server.api import API, JSON, YAML

META = "g=meta.k8s.io;v=v1"
PARTIAL = f"{JSON};as=PartialObjectMetadata;{META}"
PARTIAL_LIST = f"{JSON};as=PartialObjectMetadataList;{META}"


def test_an_object_can_be_returned_as_yaml(api: API):
    created = api.create("configmaps", "a", data={"x": "yes", "n": "5", "text": "two\nlines"})
    response = api.get(api.path("configmaps", "a"), headers={"Accept": YAML})
    assert response.status == 200
    assert response.headers.get_content_type() == YAML
    found = yaml.load(response.body, yaml.BaseLoader)
    assert found["data"] == created["data"]
    assert found["metadata"]["uid"] == created["metadata"]["uid"]


def test_a_list_can_be_returned_as_yaml(api: API):
    api.create("configmaps", "a")
    response = api.get(api.path("configmaps"), headers={"Accept": YAML})
    assert [item["metadata"]["name"] for item in yaml.safe_load(response.body)["items"]] == ["a"]


def test_an_object_may_be_sent_as_yaml(api: API):
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: |\n    two\n    lines\n"
    created = api.post(api.path("configmaps"), body, headers={"Content-Type": YAML}).ok(201)
    assert created["data"] == {"x": "two\nlines\n"}


def test_an_error_can_be_returned_as_yaml(api: API):
    response = api.get(api.path("configmaps", "nothing"), headers={"Accept": YAML})
    assert (response.status, response.headers.get_content_type()) == (404, YAML)
    assert yaml.safe_load(response.body)["reason"] == "NotFound"


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "image/*", "application/*"])
def test_an_unknown_media_type_is_not_acceptable(api: API, accept: str):
    status = api.get(api.path("configmaps"), headers={"Accept": accept}).failed(406, "NotAcceptable")
    assert status["message"].startswith(
        "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml"
    )


@pytest.mark.parametrize(
    "accept",
    [None, "", "*/*", "text/html, */*;q=0.1", "application/json;charset=utf-8", f"{YAML};q=0.5, {JSON}"],
)
def test_json_is_the_default_format(api: API, accept: str | None):
    assert api.get(api.path("configmaps"), headers={"Accept": accept}).ok()["kind"] == "ConfigMapList"


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml", "application/x-www-form-urlencoded"])
def test_a_body_of_an_unsupported_media_type_is_rejected(api: API, content_type: str):
    response = api.post(api.path("configmaps"), {"metadata": {"name": "a"}}, headers={"Content-Type": content_type})
    status = response.failed(415, "UnsupportedMediaType")
    assert status["message"].startswith("the body of the request was in an unknown format - accepted media types")


def test_a_body_without_a_type_is_json(api: API):
    api.post(api.path("configmaps"), {"metadata": {"name": "a"}}, headers={"Content-Type": None}).ok(201)


def test_the_metadata_of_an_object_can_be_requested_alone(api: API):
    created = api.create("configmaps", "a", data={"x": "1"})
    found = api.get(api.path("configmaps", "a"), headers={"Accept": PARTIAL}).ok()
    assert found == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": created["metadata"],
    }


def test_the_metadata_of_a_list_can_be_requested_alone(api: API):
    created = api.create("configmaps", "a", data={"x": "1"})
    found = api.get(api.path("configmaps"), headers={"Accept": PARTIAL_LIST}).ok()
    assert (found["kind"], found["apiVersion"]) == ("PartialObjectMetadataList", "meta.k8s.io/v1")
    assert [item["metadata"] for item in found["items"]] == [created["metadata"]]
    assert all("data" not in item for item in found["items"])
    assert found["metadata"]["resourceVersion"]


def test_a_list_of_metadata_is_paged(api: API):
    for name in "abc":
        api.create("configmaps", name)
    page = api.get(api.path("configmaps"), headers={"Accept": PARTIAL_LIST}, limit=2).ok()
    assert page["metadata"]["remainingItemCount"] == 1
    query = {"continue": page["metadata"]["continue"]}
    rest = api.get(api.path("configmaps"), headers={"Accept": PARTIAL_LIST}, **query).ok()
    assert [item["metadata"]["name"] for item in rest["items"]] == ["c"]


def test_the_response_to_a_write_can_be_the_metadata_alone(api: API):
    body = {"metadata": {"name": "a"}, "data": {"x": "1"}}
    created = api.post(api.path("configmaps"), body, headers={"Accept": PARTIAL}).ok(201)
    assert created.keys() == {"kind", "apiVersion", "metadata"}
    assert api.get(api.path("configmaps", "a")).ok()["data"] == {"x": "1"}


def test_metadata_alone_falls_back_to_json_if_the_client_accepts_both(api: API):
    api.create("configmaps", "a")
    accept = f"{JSON};as=Frobnicated;{META}, {JSON}"
    assert api.get(api.path("configmaps", "a"), headers={"Accept": accept}).ok()["kind"] == "ConfigMap"


def test_an_unsupported_transformation_is_not_acceptable(api: API):
    api.create("configmaps", "a")
    accept = f"{JSON};as=Frobnicated;{META}"
    api.get(api.path("configmaps", "a"), headers={"Accept": accept}).failed(406, "NotAcceptable")


def test_a_large_response_is_compressed_if_the_client_accepts_it(api: API):
    api.create("configmaps", "a", data={"x": "0123456789" * 20_000})
    plain = api.get(api.path("configmaps", "a"))
    packed = api.get(api.path("configmaps", "a"), headers={"Accept-Encoding": "gzip"})
    assert plain.headers["Content-Encoding"] is None
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["Vary"] == "Accept-Encoding"
    assert gzip.decompress(packed.body) == plain.body


def test_a_small_response_is_not_compressed(api: API):
    api.create("configmaps", "a")
    response = api.get(api.path("configmaps", "a"), headers={"Accept-Encoding": "gzip"})
    assert response.headers["Content-Encoding"] is None
    assert response.ok()["kind"] == "ConfigMap"


def test_a_response_can_be_pretty_printed(api: API):
    api.create("configmaps", "a")
    assert api.get(api.path("configmaps", "a"), pretty="true").body.startswith(b'{\n  "kind": "ConfigMap",\n')
    assert api.get(api.path("configmaps", "a")).body.startswith(b'{"kind":"ConfigMap","apiVersion":"v1",')


@pytest.mark.parametrize(
    ("plural", "version", "kind"),
    [
        ("configmaps", "v1", "core.ConfigMap"),
        ("deployments", "apps/v1", "apps.Deployment"),
        ("roles", "rbac.authorization.k8s.io/v1", "rbac.Role"),
        ("events", "events.k8s.io/v1", "core.Event"),
    ],
)
def test_a_list_requested_as_one_object_is_not_acceptable(api: API, plural: str, version: str, kind: str):
    response = api.get(api.path(plural, version=version), headers={"Accept": PARTIAL})
    assert response.failed(406, "NotAcceptable")["message"] == (
        f"you requested PartialObjectMetadata, but the requested object is a list (*{kind}List)"
    )


def test_an_object_requested_as_a_list_is_not_acceptable(api: API):
    api.create("configmaps", "a")
    response = api.get(api.path("configmaps", "a"), headers={"Accept": PARTIAL_LIST})
    assert response.failed(406, "NotAcceptable")["message"] == (
        "you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)"
    )


def test_an_empty_list_of_metadata_has_null_items(api: API):
    found = api.get(api.path("configmaps"), headers={"Accept": PARTIAL_LIST}).ok()
    assert found["items"] is None

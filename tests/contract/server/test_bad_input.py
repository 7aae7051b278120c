"""The responses to invalid requests, after which the server continues."""

from collections.abc import Iterator

import pytest
from tests.contract.server.api import API, JSON_PATCH, causes
from tests.contract.server.samples import POD
from tests.contract.target import Target


@pytest.fixture(autouse=True)
def goes_on_serving(api: API) -> Iterator[None]:
    yield
    api.get("/api/v1/namespaces/default").ok()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"5",
        b'{"metadata":{"name":"a"}} trailing',
        b"\xff\xfe",
        b'{"metadata":',
        b"{'metadata': {}}",
    ],
)
def test_a_body_that_is_not_an_object_is_rejected(api: API, body: bytes):
    response = api.post(api.path("configmaps"), body)
    assert response.status in (400, 422), response.body
    assert response.json["reason"] in ("BadRequest", "Invalid")
    assert api.names(api.path("configmaps")) == []


def test_a_body_that_is_not_json_is_reported(api: API):
    status = api.post(api.path("configmaps"), b"{nonsense").failed(400, "BadRequest")
    assert "couldn't get version/kind; json parse error" in status["message"]


def test_a_deeply_nested_body_is_rejected(api: API):
    body = b'{"metadata":{"name":"a"},"data":' + b"[" * 20_000 + b"]" * 20_000 + b"}"
    api.post(api.path("configmaps"), body).failed(400, "BadRequest")


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        (rb"x\ud800y", "x\ufffdy"),
        (rb"\udc00\ud800\ud800", "\ufffd" * 3),
        (rb"\ud83d\ude00\ud83d\u0041", "\U0001f600\ufffdA"),
        (rb"\\ud800\\\ud800", "\\ud800\\\ufffd"),
        (b"x\xff\xe2\x82y", "x\ufffd\ufffd\ufffdy"),
        (b"\xed\xa0\x80", "\ufffd" * 3),
    ],
)
def test_what_is_not_unicode_in_a_string_is_replaced(api: API, written: bytes, stored: str):
    body = b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"text":"%b"}}' % written
    assert api.post(api.path("configmaps"), body).ok(201)["data"] == {"text": stored}
    assert api.get(api.path("configmaps", "a")).ok()["data"] == {"text": stored}


def test_another_kind_is_rejected(api: API):
    body = {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "a"}}
    status = api.post(api.path("configmaps"), body).failed(400, "BadRequest")
    assert 'Secret in version "v1" cannot be handled as a ConfigMap' in status["message"]


def test_an_unknown_kind_is_rejected(api: API):
    body = {"kind": "Gadget", "apiVersion": "v1", "metadata": {"name": "a"}}
    status = api.post(api.path("configmaps"), body).failed(400, "BadRequest")
    assert 'no kind "Gadget" is registered for version "v1"' in status["message"]


def test_another_version_is_rejected(api: API):
    body = {"kind": "HorizontalPodAutoscaler", "apiVersion": "autoscaling/v1", "metadata": {"name": "a"}}
    status = api.post(api.path("horizontalpodautoscalers", version="autoscaling/v2"), body).failed(400, "BadRequest")
    assert status["message"] == (
        "the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)"
    )


def test_an_invalid_version_is_rejected(api: API):
    body = {"kind": "ConfigMap", "apiVersion": "a/b/c", "metadata": {"name": "a"}}
    api.post(api.path("configmaps"), body).failed(400, "BadRequest")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"data": {"x": 5}}, "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"),
        ({"data": ["x"]}, "json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string"),
        ({"immutable": "yes"}, "json: cannot unmarshal string into Go struct field ConfigMap.immutable of type bool"),
    ],
)
def test_a_field_of_another_type_is_rejected(api: API, fields: dict[str, object], said: str):
    status = api.post(api.path("configmaps"), {"metadata": {"name": "a"}, **fields}).failed(400, "BadRequest")
    assert status["message"] == f'ConfigMap in version "v1" cannot be handled as a ConfigMap: {said}'


def test_a_null_field_counts_as_absent(api: API):
    body = {"metadata": {"name": "a", "labels": None}, "data": None}
    created = api.post(api.path("configmaps"), body).ok(201)
    assert "data" not in created


def test_a_body_of_more_than_three_megabytes_is_rejected(api: API):
    body = b'{"metadata":{"name":"a"},"data":{"x":"' + b"x" * (3 << 20) + b'"}}'
    status = api.post(api.path("configmaps"), body).failed(413, "RequestEntityTooLarge")
    assert status["message"] == "Request entity too large: limit is 3145728"


def test_a_config_map_of_more_than_a_megabyte_is_rejected(api: API):
    body = {"metadata": {"name": "a"}, "data": {"x": "x" * (1 << 20), "y": "y"}}
    status = api.post(api.path("configmaps"), body).failed(422, "Invalid")
    assert causes(status) == {("FieldValueTooLong", "[]")}


@pytest.mark.parametrize("path", ["/api/v1/namespaces/default/configmaps/..%2fx", "/api/v1/namespaces/..%2f../pods"])
def test_an_encoded_slash_is_a_slash(api: API, path: str):
    assert api.get(path).status in (400, 404)


def test_a_name_cannot_change_the_path(api: API):
    status = api.get(api.path("configmaps", "..")).failed(400, "BadRequest")
    assert status["message"] == """Name parameter invalid: "..": may not be '..'"""


def test_a_namespace_cannot_change_the_path(api: API):
    for path in ("/api/v1/namespaces/../configmaps", "/api/v1/namespaces/../configmaps/a"):
        response = api.get(path)
        assert response.status in (400, 500)
        assert ".." in response.json["message"]


@pytest.mark.parametrize(
    "path",
    [
        "//api/v1/configmaps",
        "/api//v1/configmaps",
        "/api/v1/namespaces/default/configmaps/a/b/c",
        "/apis/apps/v1/namespaces/default/configmaps",
    ],
)
def test_an_unknown_path_is_not_found(api: API, path: str):
    response = api.get(path)
    assert response.status in (301, 400, 404, 405), (response.status, response.body)


def test_a_slash_at_the_end_changes_nothing(api: API):
    assert api.get(api.path("configmaps") + "/").ok()["kind"] == "ConfigMapList"


def test_an_empty_namespace_selects_all_namespaces(api: API):
    api.create("configmaps", "a", metadata={"labels": {"case": api.namespace}})
    assert api.names("/api/v1/namespaces//configmaps", labelSelector=f"case={api.namespace}") == ["a"]
    status = api.post("/api/v1/namespaces//configmaps", {"metadata": {"name": "a"}}).failed(422, "Invalid")
    assert causes(status) == {("FieldValueRequired", "metadata.namespace")}


def test_an_invalid_escape_is_rejected(api: API):
    assert api.get("/api/v1/namespaces/default/configmaps/%zz").status == 400


def test_an_invalid_name_is_not_found(api: API):
    status = api.get(api.path("configmaps", "%E2%98%83")).failed(404, "NotFound")
    assert status["message"] == 'configmaps "☃" not found'


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_collection_cannot_be_replaced(api: API, method: str):
    api.request(method, api.path("configmaps"), {}, headers={"Content-Type": JSON_PATCH}).failed(
        405, "MethodNotAllowed"
    )


def test_an_unknown_method_is_not_allowed(api: API):
    response = api.request("FROB", api.path("configmaps"))
    assert response.status == 405


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"kind":"ConfigMap","apiVersion":"v1"}', b'{"gracePeriodSeconds":"x"}']
)
def test_invalid_options_of_a_deletion_are_rejected_and_delete_nothing(api: API, body: bytes):
    api.create("configmaps", "a")
    response = api.delete(api.path("configmaps", "a"), body)
    assert response.status in (400, 415), response.body
    api.get(api.path("configmaps", "a")).ok()


def test_a_client_that_disconnects_during_a_request_affects_no_other(api: API, target: Target):
    connection = target.connect()
    connection.putrequest("POST", api.path("configmaps"))
    connection.putheader("Authorization", f"Bearer {target.token}")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", "1000")
    connection.endheaders(b'{"metadata":{"name":"half')
    connection.close()
    assert api.names(api.path("configmaps")) == []


def test_a_watcher_that_disconnects_affects_no_other(api: API):
    with api.watch(api.path("configmaps"), resourceVersion="0"):
        pass
    api.create("configmaps", "a")
    api.create("pods", "web", spec=POD)


@pytest.mark.parametrize(("name", "value", "found"), [("apiVersion", [], "array"), ("kind", 0, "number")])
def test_a_kind_must_be_text(api: API, name: str, value: object, found: str):
    status = api.post(api.path("configmaps"), {"metadata": {"name": "a"}, name: value}).failed(400, "BadRequest")
    assert (
        f"couldn't get version/kind; json parse error: json: cannot unmarshal {found} "
        f"into Go struct field .{name} of type string"
    ) in status["message"]


@pytest.mark.parametrize(
    ("container", "message"),
    [
        (
            {"readinessProbe": {"httpGet": {"port": []}}},
            "array into Go struct field HTTPGetAction.spec.containers.readinessProbe.ProbeHandler.httpGet.port"
            " of type int32",
        ),
        (
            {"resources": {"requests": 3}},
            "number into Go struct field ResourceRequirements.spec.containers.resources.requests"
            " of type v1.ResourceList",
        ),
        (
            {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": 1}}}]},
            "number into Go struct field SecretKeySelector.spec.containers.env.valueFrom.secretKeyRef"
            ".LocalObjectReference.name of type string",
        ),
    ],
)
def test_a_value_of_the_wrong_type_is_reported_with_the_path_of_go(api: API, container: object, message: str):
    body = {"metadata": {"name": "a"}, "spec": {"containers": [{**POD["containers"][0], **container}]}}
    status = api.post(api.path("pods"), body).failed(400, "BadRequest")
    assert status["message"].endswith(f"json: cannot unmarshal {message}")


def test_bytes_may_be_sent_as_numbers(api: API):
    found = api.create("configmaps", "a", binaryData={"none": [], "some": [0, 255]})
    assert found["binaryData"] == {"none": "", "some": "AP8="}
    body = {"metadata": {"name": "b"}, "binaryData": {"some": [256]}}
    status = api.post(api.path("configmaps"), body).failed(400, "BadRequest")
    assert status["message"].endswith(
        "json: cannot unmarshal number 256 into Go struct field ConfigMap.binaryData of type uint8"
    )


@pytest.mark.parametrize("subresource", ["status", "ephemeralcontainers"])
def test_a_body_is_decoded_before_the_object_is_looked_up(api: API, subresource: str):
    path = api.path("pods", "missing", subresource)
    api.put(path, {"metadata": 3}).failed(400, "BadRequest")
    api.put(path, {"metadata": {"name": "another"}}).failed(400, "BadRequest")
    api.put(path, {"metadata": {"name": "missing"}}).failed(404, "NotFound")
    scale = api.path("deployments", "missing", "scale", version="apps/v1")
    api.put(scale, {"metadata": 3}).failed(400, "BadRequest")
    api.put(scale, {"metadata": {"name": "missing"}}).failed(404, "NotFound")


@pytest.mark.parametrize("renewed", ["2026-01-02", "2026-01-02T03:04:05Z", "2026-13-02T03:04:05.000000Z", "é"])
def test_a_time_that_cannot_be_parsed_is_explained(api: API, renewed: str):
    lease = {"metadata": {"name": "a"}, "spec": {"renewTime": renewed, "leaseDurationSeconds": "x"}}
    path = api.path("leases", version="coordination.k8s.io/v1")
    status = api.post(path, lease).failed(400, "BadRequest")
    layout = "2006-01-02T15:04:05.000000Z07:00"
    why = {
        "2026-01-02": f'parsing time "2026-01-02" as "{layout}": cannot parse "" as "T"',
        "2026-01-02T03:04:05Z": f'parsing time "2026-01-02T03:04:05Z" as "{layout}": cannot parse "Z" as ".000000"',
        "2026-13-02T03:04:05.000000Z": 'parsing time "2026-13-02T03:04:05.000000Z": month out of range',
        "é": f'parsing time "\\xc3\\xa9" as "{layout}": cannot parse "\\xc3\\xa9" as "2006"',
    }
    assert status["message"].endswith(f"cannot be handled as a Lease: {why[renewed]}")


def test_an_invalid_quantity_is_reported_before_values_of_a_wrong_type(api: API):
    container = {"name": "a", "image": "a", "resources": {"limits": {"cpu": "a b"}}}
    pod = {"metadata": {"name": "a"}, "spec": {"hostname": 1, "containers": [container]}}
    assert "quantities must match" in api.post(api.path("pods"), pod).failed(400, "BadRequest")["message"]

"""Protobuf in and out, which means the same as JSON, and is encoded as a real server does."""

import json
import secrets
from collections.abc import Iterator

import pytest
from tests.contract.server.api import API, JSON, Response, Tree
from tests.contract.server.definitions import Widgets
from tests.contract.server.kinds import CRD_SCHEMA, KINDS, Kind
from tests.contract.server.samples import create_event
from tests.contract.target import Target
from tests.protobuf.wire import field

from listwatch.protobuf import decode_message, decode_object, decode_watch_event, encode_object, open_envelope

PROTOBUF = "application/vnd.kubernetes.protobuf"
ACCEPT = {"Accept": PROTOBUF}
SEND = {"Content-Type": PROTOBUF}
META = "g=meta.k8s.io;v=v1"


@pytest.fixture
def widgets(api: API) -> Iterator[Widgets]:
    found = Widgets(api, f"g{secrets.token_hex(4)}.example.com")
    yield found
    found.remove()


def path_of(api: API, kind: Kind, name: str = "") -> str:
    return api.path(kind.plural, name, version=kind.version, everywhere=not kind.namespaced)


def sample(api: API, kind: Kind, suffix: str = "") -> Tree:
    metadata = {"name": f"{api.namespace}{suffix}", **(kind.metadata or {})}
    return {"kind": kind.kind, "apiVersion": kind.version, "metadata": metadata, **kind.fields}


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_an_object_is_the_same_in_both_media_types(api: API, kind: Kind):
    body = json.dumps(sample(api, kind), separators=(",", ":")).encode()
    path = path_of(api, kind, api.namespace)
    api.post(path_of(api, kind), body).ok(201)
    try:
        plain, response = both_forms(api, path)
    finally:
        api.patch(path, {"metadata": {"finalizers": None}})
        api.delete(path, gracePeriodSeconds=0)
    assert decode_object(response.body) == plain
    assert encode_object(plain) == response.body


def both_forms(api: API, path: str) -> tuple[Tree, Response]:
    """The same version of an object, which a controller of the server may update in between."""
    while True:
        plain = api.get(path).ok()
        response = api.get(path, headers=ACCEPT)
        assert (response.status, response.headers["Content-Type"]) == (200, PROTOBUF)
        if decode_object(response.body)["metadata"]["resourceVersion"] == plain["metadata"]["resourceVersion"]:
            return plain, response


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_an_object_that_is_sent_as_protobuf_is_created_like_one_sent_as_json(api: API, kind: Kind):
    body, path = sample(api, kind), path_of(api, kind)
    plain = api.post(path, body, dryRun="All").ok(201)
    response = api.post(path, encode_object(body), headers={**SEND, **ACCEPT}, dryRun="All")
    assert (response.status, response.headers["Content-Type"]) == (201, PROTOBUF), response.body
    assert comparable(decode_object(response.body)) == comparable(plain)


def comparable(tree: Tree) -> Tree:
    """Without what differs between two objects with the same content."""
    varying = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
    tree["metadata"] = {name: value for name, value in tree["metadata"].items() if name not in varying}
    spec = tree.get("spec", {})
    if tree["kind"] == "Service":
        spec = tree["spec"] = {name: value for name, value in spec.items() if not name.startswith("clusterIP")}
    labelled = (tree["metadata"].get("labels"), spec.get("selector", {}).get("matchLabels"))
    for labels in (*labelled, spec.get("template", {}).get("metadata", {}).get("labels")):
        for name in ("controller-uid", "batch.kubernetes.io/controller-uid"):
            (labels or {}).pop(name, None)
    return tree


def test_a_definition_is_the_same_in_both_media_types(api: API, widgets: Widgets):
    widgets.define({"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": CRD_SCHEMA}})
    plain, response = both_forms(api, widgets.definition)
    assert decode_object(response.body) == plain
    assert encode_object(plain) == response.body


def test_a_list_is_the_same_in_both_media_types(api: API):
    for name in "abc":
        api.create("configmaps", name, data={"of": name})
    path = api.path("configmaps")
    for query in ({}, {"limit": 2}, {"labelSelector": "no=thing"}):
        plain = api.get(path, **query).ok()
        response = api.get(path, headers=ACCEPT, **query)
        assert response.headers["Content-Type"] == PROTOBUF
        found = decode_object(response.body)
        found["items"] = found["items"] or []
        assert found == plain
        assert encode_object(plain) == response.body


@pytest.mark.parametrize("accept", [f"{PROTOBUF};stream=watch", f"{PROTOBUF},{JSON}"])
def test_a_watch_sends_frames(api: API, accept: str):
    plain = api.create("configmaps", "a", data={"of": "a"})
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    with api.watch(api.path("configmaps"), headers={"Accept": accept}, timeoutSeconds=1, **query) as watch:
        assert watch.headers["Content-Type"] == f"{PROTOBUF};stream=watch"
        body = watch.read().body
    events = []
    while body:
        size = int.from_bytes(body[:4], "big")
        events.append(decode_watch_event(body[4 : 4 + size]))
        body = body[4 + size :]
    assert [event_type for event_type, _ in events][:2] == ["ADDED", "BOOKMARK"]
    assert decode_object(events[0][1]) == plain
    assert events[0][1] == encode_object(plain)
    bookmark = decode_object(events[1][1])
    assert (bookmark["kind"], bookmark["apiVersion"]) == ("ConfigMap", "v1")
    assert bookmark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert int(bookmark["metadata"]["resourceVersion"]) >= int(plain["metadata"]["resourceVersion"])


def test_a_watch_that_is_too_old_ends_with_a_status(api: API, target: Target):
    version = create_event(api, "a")["metadata"]["resourceVersion"]
    api.delete(api.path("events", "a")).ok()
    create_event(api, "b")
    target.forget_history()
    headers = {"Accept": f"{PROTOBUF};stream=watch"}
    with api.watch(api.path("events"), headers=headers, resourceVersion=version) as watch:
        body = watch.read().body
    event_type, encoded = decode_watch_event(body[4:])
    assert event_type == "ERROR"
    assert decode_object(encoded)["code"] == 410


def test_an_error_is_a_status(api: API):
    response = api.get(api.path("configmaps", "nothing"), headers=ACCEPT)
    assert (response.status, response.headers["Content-Type"]) == (404, PROTOBUF)
    status = decode_object(response.body)
    assert status == api.get(api.path("configmaps", "nothing")).json
    assert encode_object(status) == response.body


def test_options_of_a_deletion_may_be_protobuf(api: API):
    plain = api.create("configmaps", "a")
    path = api.path("configmaps", "a")
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": "other"}}
    response = api.delete(path, encode_object(options), headers=SEND)
    assert response.failed(409, "Conflict")
    options["preconditions"]["uid"] = plain["metadata"]["uid"]
    options["dryRun"] = ["All"]
    response = api.delete(path, encode_object(options), headers={**SEND, **ACCEPT})
    assert decode_object(response.body)["status"] == "Success"
    assert api.get(path).ok()["metadata"]["uid"] == plain["metadata"]["uid"]


def test_an_update_and_its_status_may_be_protobuf(api: API):
    spec = {"containers": [{"name": "web", "image": "web:1"}]}
    plain = api.create("pods", "a", spec=spec)
    plain["metadata"]["labels"] = {"a": "b"}
    updated = api.put(api.path("pods", "a"), encode_object(plain), headers=SEND).ok()
    assert updated["metadata"]["labels"] == {"a": "b"}
    condition = {"type": "Ready", "status": "True", "lastProbeTime": None, "lastTransitionTime": "2026-01-01T00:00:00Z"}
    updated["status"]["conditions"] = [condition]
    found = api.put(api.path("pods", "a", "status"), encode_object(updated), headers=SEND).ok()
    assert [{**each, "observedGeneration": 1} for each in found["status"]["conditions"]] == [
        {**condition, "observedGeneration": 1}
    ]
    api.delete(api.path("pods", "a"), gracePeriodSeconds=0)


def test_a_scale_may_be_protobuf(api: API):
    spec = {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "web:1"}]},
        },
    }
    api.create("deployments", "a", version="apps/v1", spec=spec)
    path = api.path("deployments", "a", "scale", version="apps/v1")
    plain = api.get(path).ok()
    response = api.get(path, headers=ACCEPT)
    assert decode_object(response.body) == plain
    assert encode_object(plain) == response.body
    plain["spec"]["replicas"] = 5
    assert api.put(path, encode_object(plain), headers=SEND).ok()["spec"] == {"replicas": 5}


def test_a_review_may_be_protobuf(api: API):
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    body = {
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}},
    }
    response = api.post(path, encode_object(body), headers={**SEND, **ACCEPT})
    assert response.status == 201, response.body
    assert decode_object(response.body)["status"]["allowed"] is True


def test_metadata_can_be_requested_alone(api: API):
    plain = api.create("configmaps", "a", data={"x": "1"})
    one = api.get(api.path("configmaps", "a"), headers={"Accept": f"{PROTOBUF};as=PartialObjectMetadata;{META}"})
    assert decode_object(one.body) == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": plain["metadata"],
    }
    for version in ("v1", "v1beta1"):
        accept = f"{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v={version}"
        many = api.get(api.path("configmaps"), headers={"Accept": accept})
        assert many.headers["Content-Type"] == PROTOBUF
        found = decode_object(many.body)
        assert (found["kind"], found["apiVersion"]) == ("PartialObjectMetadataList", f"meta.k8s.io/{version}")
        assert [item["metadata"] for item in found["items"]] == [plain["metadata"]]


def test_a_table_is_not_acceptable_as_protobuf(api: API):
    response = api.get(api.path("configmaps"), headers={"Accept": f"{PROTOBUF};as=Table;{META}"})
    status = response.failed(406, "NotAcceptable")
    assert status["message"] == (
        "only the following media types are accepted: application/json, application/yaml, "
        "application/vnd.kubernetes.protobuf"
    )


def test_the_offered_media_types_depend_on_the_request(api: API, widgets: Widgets):
    widgets.define()
    types = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
    streams = ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
    html = {"Accept": "text/html"}
    for path, expected in [
        (api.path("configmaps", "a"), f"406: Not Acceptable\n\nAvailable representations: {types}"),
        (api.path("configmaps"), f"406: Not Acceptable\n\nAvailable representations: {types}{streams}"),
        (widgets.path(), f"only the following media types are accepted: {types}"),
    ]:
        assert api.get(path, headers=html).failed(406, "NotAcceptable")["message"] == expected


# --- Custom resources -------------------------------------------------------------------------------------------------


def test_a_custom_resource_is_not_acceptable_as_protobuf(api: API, widgets: Widgets):
    widgets.define()
    response = api.get(widgets.path(), headers=ACCEPT)
    assert (response.status, decode_object(response.body)["reason"]) == (406, "NotAcceptable")
    with api.watch(widgets.path(), headers={"Accept": f"{PROTOBUF};stream=watch"}) as watch:
        assert watch.status == 406
    both = api.get(widgets.path(), headers={"Accept": f"{PROTOBUF},{JSON}"})
    assert both.ok()["kind"] == "WidgetList"


def test_the_metadata_of_a_custom_resource_can_be_protobuf(api: API, widgets: Widgets):
    widgets.define()
    body = {"kind": "Widget", "apiVersion": f"{widgets.group}/v1", "metadata": {"name": "a"}, "spec": {"x": 1}}
    plain = api.post(widgets.path(), body).ok(201)
    response = api.get(widgets.path(), headers={"Accept": f"{PROTOBUF};as=PartialObjectMetadataList;{META}"})
    assert response.headers["Content-Type"] == PROTOBUF
    assert [item["metadata"] for item in decode_object(response.body)["items"]] == [plain["metadata"]]


def test_options_of_the_deletion_of_a_custom_resource_may_be_protobuf(api: API, widgets: Widgets):
    widgets.define()
    body = {"kind": "Widget", "apiVersion": f"{widgets.group}/v1", "metadata": {"name": "a"}}
    api.post(widgets.path(), body).ok(201)
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]}
    assert api.delete(widgets.path("a"), encode_object(options), headers=SEND).ok()["status"] == "Success"


# --- Repeated fields --------------------------------------------------------------------------------------------------


def entry(name: bytes, value: bytes) -> bytes:
    return field(1, name) + field(2, value)


def test_a_message_that_occurs_again_is_merged(api: API):
    first = field(1, b"a") + field(11, entry(b"x", b"1")) + field(11, entry(b"y", b"2")) + field(14, b"a.example.com/a")
    second = field(11, entry(b"x", b"3")) + field(12, entry(b"z", b"4")) + field(14, b"a.example.com/b")
    body = envelope(field(1, first) + field(2, entry(b"k", b"v")) + field(1, second))
    found = api.post(api.path("configmaps"), body, headers=SEND, dryRun="All").ok(201)
    metadata = found["metadata"]
    assert (metadata["name"], found["data"]) == ("a", {"k": "v"})
    assert (metadata["labels"], metadata["annotations"]) == ({"x": "3", "y": "2"}, {"z": "4"})
    assert metadata["finalizers"] == ["a.example.com/a", "a.example.com/b"]


def test_of_a_scalar_that_occurs_again_the_last_value_counts_even_if_it_is_zero(api: API):
    container = field(1, b"c") + field(2, b"old") + field(2, b"new")
    spec = field(2, container) + field(3, b"Never") + b"\x58\x01"  # hostNetwork
    body = envelope(field(1, field(1, b"a")) + field(2, spec) + field(2, field(3, b"") + b"\x58\x00"), "Pod")
    found = api.post(api.path("pods"), body, headers=SEND, dryRun="All").ok(201)["spec"]
    assert (found["containers"][0]["image"], found["restartPolicy"]) == ("new", "Always")
    assert "hostNetwork" not in found


def test_pointers_inlined_structs_and_quantities_are_merged(api: API):
    memory, limit = field(2, field(1, b"Memory")), field(2, field(2, field(1, b"1Gi")))
    volume = field(1, b"v") + field(2, memory) + field(2, limit) + field(2, field(2, field(2, b"")))
    context = field(14, b"\x10\x05\x20\x07"), field(14, b"\x30\x06\x20\x08")
    container = field(2, field(1, b"c") + field(2, b"i"))
    body = envelope(field(1, field(1, b"a")) + field(2, field(1, volume) + b"".join(context) + container), "Pod")
    found = api.post(api.path("pods"), body, headers=SEND, dryRun="All").ok(201)["spec"]
    assert found["volumes"][0] == {"name": "v", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}
    assert found["securityContext"] == {"runAsUser": 5, "runAsGroup": 6, "supplementalGroups": [7, 8]}


@pytest.mark.parametrize(
    ("ports", "expected"),
    [
        ((b"\x08\x01" + field(3, b"web"), field(3, b"other")), "other"),
        ((b"\x08\x01" + field(3, b"web"), b"\x10\x07"), "web"),
        ((b"\x10\x07", b"\x08\x00"), 7),
        ((b"\x10\x07", b"\x10\x08"), 8),
    ],
)
def test_a_port_that_occurs_again_is_merged(api: API, ports: tuple[bytes, bytes], expected: str | int):
    port = b"\x18\x50" + field(4, ports[0]) + field(4, ports[1])
    body = envelope(field(1, field(1, b"a")) + field(2, field(1, port)), "Service")
    found = api.post(api.path("services"), body, headers=SEND, dryRun="All").ok(201)
    assert found["spec"]["ports"][0]["targetPort"] == expected


# --- Bad input --------------------------------------------------------------------------------------------------------

BODY = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}, "data": {"x": "1"}}
ENCODED = encode_object(BODY)
RAW = open_envelope(ENCODED).raw


def envelope(raw: bytes, kind: str = "ConfigMap", version: str = "v1") -> bytes:
    type_meta = b"\x0a%c%b\x12%c%b" % (len(version), version.encode(), len(kind), kind.encode())
    size = len(raw)
    length = b""
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    return b"k8s\0\x0a%c%b\x12%b%b" % (len(type_meta), type_meta, length + bytes([size]), raw)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the object provided is unrecognized (must be of type ConfigMap): empty data (<empty>)"),
        (b"k8s\0", "the object provided is unrecognized (must be of type ConfigMap): empty body (6b387300)"),
        (
            b"\x0a\x00",
            "the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a "
            "protobuf message, expected prefix [107 56 115 0] (0a00)",
        ),
        (
            ENCODED[:12],
            "the object provided is unrecognized (must be of type ConfigMap): unexpected EOF "
            "(6b3873000a0f0a0276311209)",
        ),
        (envelope(RAW[:-1]), 'ConfigMap in version "v1" cannot be handled as a ConfigMap: unexpected EOF'),
        (
            envelope(b"\x08\x01"),
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
            "proto: wrong wireType = 0 for field ObjectMeta",
        ),
        (
            envelope(b"\x0a" + b"\xff" * 9 + b"\x01"),
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
            "proto: negative length found during unmarshaling",
        ),
        (
            envelope(b"\x0a" + b"\xff" * 12),
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: integer overflow',
        ),
        (
            envelope(b"\x0c"),
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
            "proto: ConfigMap: wiretype end group for non-group",
        ),
        (
            envelope(b"\x00"),
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: ConfigMap: illegal tag 0 (wire type 0)',
        ),
        (
            envelope(b"\x07"),
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: ConfigMap: illegal tag 0 (wire type 7)',
        ),
        (
            envelope(b"\x7f"),
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: illegal wireType 7',
        ),
        (
            envelope(RAW, "Nothing"),
            'Nothing in version "v1" cannot be handled as a ConfigMap: no kind "Nothing" is registered for version '
            '"v1" in scheme "pkg/runtime/scheme.go:111"',
        ),
        (
            envelope(RAW, "ConfigMap", "v9"),
            'ConfigMap in version "v9" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for '
            'version "v9" in scheme "pkg/runtime/scheme.go:111"',
        ),
    ],
)
def test_a_damaged_body_is_a_bad_request(api: API, body: bytes, message: str):
    status = api.post(api.path("configmaps"), body, headers=SEND).failed(400, "BadRequest")
    assert status["message"] == message


def test_a_body_without_a_kind_has_that_of_the_path(api: API):
    found = api.post(api.path("configmaps"), envelope(RAW, "", ""), headers=SEND).ok(201)
    assert (found["kind"], found["data"]) == ("ConfigMap", {"x": "1"})


def test_a_body_with_a_malformed_version_has_that_of_the_path(api: API):
    body = encode_object({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}})
    malformed = body.replace(b"\x0a\x0f\x0a\x02v1", b"\x0a\x12\x0a\x05a/b/c")
    assert api.post(api.path("configmaps"), malformed, headers=SEND).ok(201)["apiVersion"] == "v1"


def test_an_invalid_quantity_is_a_bad_request(api: API):
    message = decode_message(RAW, "v1", "ConfigMap")
    assert message["data"] == {"x": "1"}
    quota = {"kind": "ResourceQuota", "apiVersion": "v1", "metadata": {"name": "a"}, "spec": {"hard": {"cpu": "many"}}}
    status = api.post(api.path("resourcequotas"), encode_object(quota), headers=SEND).failed(400, "BadRequest")
    assert "quantities must match the regular expression" in status["message"]


def test_a_patch_cannot_be_protobuf(api: API):
    api.create("configmaps", "a")
    status = api.patch(api.path("configmaps", "a"), ENCODED, PROTOBUF).failed(415, "UnsupportedMediaType")
    assert status["message"] == "415: Unsupported Media Type"

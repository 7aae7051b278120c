"""Bodies in protobuf: what they decode to, and what is rejected."""

import logging
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.caller import CONFIG_MAPS, Caller

from listwatch.errors import APIError, BadRequestError
from listwatch.meta import GroupVersionKind
from listwatch.protobuf import decode_object, encode_message, encode_object
from listwatch.server.api_server import APIServer
from listwatch.server.codec.decoding import decode_body, decode_options
from listwatch.server.schema.schema import builtin_schema

PROTOBUF = "application/vnd.kubernetes.protobuf"
POD = GroupVersionKind("", "v1", "Pod")
SENT = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {"name": "a", "labels": {"x": "y"}, "creationTimestamp": "2026-01-01T00:00:00Z"},
    "spec": {
        "containers": [
            {
                "name": "a",
                "ports": [{"containerPort": 80}],
                "resources": {"limits": {"cpu": "1"}},
                "readinessProbe": {"httpGet": {"port": "http"}},
            }
        ],
        "volumes": [{"name": "v", "emptyDir": {}}],
        "hostNetwork": False,
    },
}
BODY = encode_object(SENT)


def decode(body: bytes, kind: GroupVersionKind = POD) -> Any:
    return decode_body(body, PROTOBUF, kind, builtin_schema(), field_validation="Strict")


def envelope(raw: bytes, kind: str = "Pod", version: str = "v1") -> bytes:
    size, length = len(raw), bytearray()
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    type_meta = b"\x0a%c%b\x12%c%b" % (len(version), version.encode(), len(kind), kind.encode())
    return b"k8s\0\x0a%c%b\x12%b%b" % (len(type_meta), type_meta, bytes([*length, size]), raw)


def test_a_body_is_decoded_to_the_same_object_as_json():
    as_json = decode_body(msgspec.json.encode(SENT), "application/json", POD, builtin_schema())
    assert decode(BODY) == as_json


def test_options_are_decoded_whatever_group_they_name():
    for version in ("v1", "apps/v1", "meta.k8s.io/v1"):
        body = encode_object({"kind": "DeleteOptions", "apiVersion": version, "gracePeriodSeconds": 0})
        assert decode_options(body, PROTOBUF, "DeleteOptions", builtin_schema())["gracePeriodSeconds"] == 0


def test_options_of_another_kind_are_a_bad_request():
    with pytest.raises(BadRequestError, match='no kind "Pod" is registered'):
        decode_options(BODY, PROTOBUF, "DeleteOptions", builtin_schema())


def test_an_object_with_too_many_messages_is_rejected_before_they_take_memory():
    containers = b"\x12\x00" * 300_000
    size = len(containers)
    length = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14])
    with pytest.raises(BadRequestError, match="the object has more than 200000 messages"):
        decode(envelope(b"\x12" + length + containers))


def test_json_inside_a_message_that_is_nested_too_deeply_is_rejected():
    deep = b'{"a":' * 300 + b"1" + b"}" * 300
    raw = encode_message({"metadata": {"name": "a"}}, "apps/v1", "ControllerRevision")
    for data in (deep, b'{"a":' * 100_000, b"nonsense", b"\xff"):
        size = len(data)
        length = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14 & 127])
        extension = b"\x0a" + length + data
        size = len(extension)
        length = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14 & 127])
        body = envelope(raw + b"\x12" + length + extension, "ControllerRevision", "apps/v1")
        with pytest.raises(BadRequestError, match=r"exceeded max depth|the JSON of a RawExtension is invalid"):
            decode(body, GroupVersionKind("apps", "v1", "ControllerRevision"))


@settings(max_examples=4 * settings.default.max_examples)
@given(st.data())
def test_a_damaged_body_is_decoded_or_an_error_of_the_api(data: st.DataObject):
    damaged = bytearray(BODY)
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(0, len(damaged)))
        match data.draw(st.sampled_from(["change", "cut", "insert", "repeat"])):
            case "change" if place < len(damaged):
                damaged[place] = data.draw(st.integers(0, 255))
            case "cut":
                del damaged[place : place + data.draw(st.integers(1, 9))]
            case "insert":
                damaged[place:place] = data.draw(st.binary(max_size=9))
            case "repeat":
                damaged[place:place] = damaged[place : place + 20]
    try:
        decoded = decode(bytes(damaged))
    except APIError as error:
        assert error.status_code == 400  # noqa: PT017  # any other result is a failure too
    else:
        encode_object(decoded.tree)


# --- Over HTTP --------------------------------------------------------------------------------------------------------


@pytest.fixture
async def call() -> AsyncIterator[Caller]:
    async with APIServer() as server, Caller(server) as call:
        yield call


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
@pytest.mark.parametrize(
    "body", [b"k8s\0", BODY[:20], BODY[:-9], envelope(b"\xff" * 40), envelope(b"\x0a" * 40), b"\0"]
)
async def test_a_bad_body_is_a_bad_request_and_not_logged(
    call: Caller, method: str, body: bytes, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO, "listwatch")
    await call.create("a")
    path = CONFIG_MAPS if method == "POST" else f"{CONFIG_MAPS}/a"
    reply = await call(method, path, body, Content_Type=PROTOBUF, Accept=PROTOBUF)
    assert (reply.status, decode_object(reply.body)["reason"]) == (400, "BadRequest")
    assert [record for record in caplog.records if record.name.startswith("listwatch")] == []


async def test_a_custom_object_in_protobuf_is_not_supported(call: Caller):
    definition = {
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
            ],
        },
    }
    created = await call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    assert created.status == 201, created.body
    path = "/apis/example.com/v1/namespaces/default/widgets"
    reply = await call("POST", path, BODY, Content_Type=PROTOBUF)
    assert (reply.status, reply.json["reason"]) == (415, "UnsupportedMediaType")


async def test_discovery_documents_can_be_protobuf(call: Caller):
    for path, kind in [("/api", "APIVersions"), ("/apis/apps", "APIGroup"), ("/api/v1", "APIResourceList")]:
        reply = await call("GET", path, Accept=PROTOBUF)
        assert (reply.status, reply.headers["Content-Type"]) == (200, PROTOBUF)
        assert decode_object(reply.body)["kind"] == kind

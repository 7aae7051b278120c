"""Objects as protobuf: every kind survives the way there and back, and the bytes are those of Kubernetes."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.protobuf.trees import meaning, trees
from tests.protobuf.wire import field

from listwatch.errors import DecodeError, EncodeError
from listwatch.protobuf import (
    decode_message,
    decode_object,
    decode_watch_event,
    encode_list,
    encode_message,
    encode_object,
    encode_watch_frame,
    open_envelope,
    supports,
)
from listwatch.protobuf.schema import find_kind
from listwatch.server.schema.schema import builtin_schema

KINDS = sorted(builtin_schema().kinds)
SOME = settings(max_examples=max(3, settings.default.max_examples // 12), suppress_health_check=[HealthCheck.too_slow])


def test_every_built_in_kind_has_a_message():
    assert [kind for kind in KINDS if not supports(*kind)] == []


@pytest.mark.parametrize(("api_version", "kind"), KINDS)
def test_an_object_of_every_kind_means_the_same_after_encoding_and_decoding(api_version: str, kind: str):
    name = find_kind(api_version, kind)

    @SOME
    @given(trees(name))
    def check(tree: dict[str, Any]) -> None:
        encoded = encode_object({"kind": kind, "apiVersion": api_version, **tree})
        decoded = decode_object(encoded)
        assert (decoded["kind"], decoded["apiVersion"]) == (kind, api_version)
        assert meaning(decoded, name) == meaning(tree, name)
        assert encode_object(decoded) == encoded

    check()


def test_a_custom_resource_has_no_message():
    assert not supports("example.com/v1", "Widget")
    with pytest.raises(EncodeError, match=r"Widget of .* has no protobuf encoding"):
        encode_object({"kind": "Widget", "apiVersion": "example.com/v1"})
    with pytest.raises(DecodeError, match=r"Widget of .* has no protobuf encoding"):
        decode_message(b"", "example.com/v1", "Widget")


def test_kinds_of_every_group_have_a_message_in_each():
    assert find_kind("apps/v1", "DeleteOptions") == find_kind("v1", "DeleteOptions") == "meta_v1.DeleteOptions"


# --- The bytes --------------------------------------------------------------------------------------------------------


def test_the_bytes_of_an_object_are_those_of_kubernetes():
    lease = {
        "kind": "Lease",
        "apiVersion": "coordination.k8s.io/v1",
        "metadata": {"name": "a"},
        "spec": {"leaseDurationSeconds": -1, "renewTime": "1970-01-01T00:00:01.000002Z"},
    }
    metadata = b"\x0a\x01a\x12\x00\x1a\x00\x22\x00\x2a\x00\x32\x00\x38\x00\x42\x00"
    spec = b"\x10" + b"\xff" * 9 + b"\x01" + b"\x22\x05\x08\x01\x10\xd0\x0f"
    raw = b"\x0a%c%b\x12%c%b" % (len(metadata), metadata, len(spec), spec)
    type_meta = b"\x0a\x16coordination.k8s.io/v1\x12\x05Lease"
    expected = b"k8s\0\x0a%c%b\x12%c%b\x1a\x00\x22\x00" % (len(type_meta), type_meta, len(raw), raw)
    assert encode_object(lease) == expected


def test_fields_that_are_no_pointers_are_written_when_they_are_zero():
    assert encode_message({}, "v1", "Preconditions") == b""
    assert encode_message({"uid": ""}, "v1", "Preconditions") == b"\x0a\x00"
    assert encode_message({}, "v1", "ContainerPort") == b"\x0a\x00\x10\x00\x18\x00\x22\x00\x2a\x00"


def test_entries_of_a_map_are_written_in_the_order_of_their_keys():
    encoded = encode_message({"data": {"b": "2", "a": "1"}}, "v1", "ConfigMap")
    assert encoded.endswith(b"\x12\x06\x0a\x01a\x12\x011\x12\x06\x0a\x01b\x12\x012")


def test_json_omits_zero_values_but_not_those_without_omitempty():
    [status] = decode_message(
        encode_message({"status": {"containerStatuses": [{"name": "a"}]}}, "v1", "Pod"), "v1", "Pod"
    )["status"]["containerStatuses"]
    zeros = {"state": {}, "lastState": {}, "ready": False, "restartCount": 0, "image": "", "imageID": ""}
    assert status == {"name": "a", **zeros}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("spec", []),
        ("spec", {"containers": [1]}),
        ("spec", {"containers": "x"}),
        ("spec", {"terminationGracePeriodSeconds": "x"}),
        ("metadata", {"name": 1}),
        ("metadata", {"creationTimestamp": "yesterday"}),
        ("metadata", {"labels": {"a": None}}),
    ],
)
def test_a_tree_with_another_type_than_the_schema_cannot_be_encoded(field: str, value: Any):
    with pytest.raises(EncodeError, match="does not have the types of its schema"):
        encode_message({field: value}, "v1", "Pod")


def test_a_list_is_encoded_item_by_item():
    items = [{"metadata": {"name": name}, "data": {"of": name}} for name in "ab"]
    whole = encode_object(
        {"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": items}
    )
    parts = [encode_message(item, "v1", "ConfigMap") for item in items]
    assert encode_list("v1", "ConfigMapList", {"resourceVersion": "7"}, parts) == whole


def test_a_watch_frame_has_its_length_and_an_object():
    pod = encode_object({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a" * 200}})
    frame = encode_watch_frame("ADDED", pod)
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert decode_watch_event(frame[4:]) == ("ADDED", pod)


# --- Reading what others write ----------------------------------------------------------------------------------------


def key(number: int, wire_type: int) -> bytes:
    return bytes([number << 3 | wire_type])


def test_unknown_fields_are_skipped():
    unknown = [key(15, 0) + b"\x96\x01", key(15, 1) + bytes(8), key(15, 2) + b"\x02ab", key(15, 5) + bytes(4)]
    group = key(15, 3) + key(1, 3) + key(2, 0) + b"\x01" + key(1, 4) + key(15, 4)
    raw = b"".join([*unknown, group, key(1, 2), b"\x01a"])
    assert decode_message(raw, "v1", "LocalObjectReference")["name"] == "a"


def test_lists_of_numbers_may_be_packed():
    packed = key(4, 2) + b"\x03\x01\xac\x02"
    single = key(4, 0) + b"\x01" + key(4, 0) + b"\xac\x02"
    for raw in (packed, single):
        assert decode_message(raw, "v1", "PodSecurityContext")["supplementalGroups"] == [1, 300]


SCHEMA, ID, LINK = "JSONSchemaProps", field(1, b"a"), field(2, b"b")


@pytest.mark.parametrize(
    ("raw", "name", "expected"),
    [
        (field(33, field(2, ID)) + field(33, field(2, LINK)), "additionalItems", {"id": "a", "$schema": "b"}),
        (field(33, b"\x08\x01") + field(33, b""), "additionalItems", True),
        (field(33, b"\x08\x01") + field(33, b"\x08\x00"), "additionalItems", False),
        (field(24, field(2, b"")) + field(24, field(2, ID)), "items", [{}, {"id": "a"}]),
        (field(24, field(1, ID)) + field(24, field(1, LINK)), "items", {"id": "a", "$schema": "b"}),
        (field(8, field(1, b"1")) + field(8, b""), "default", 1),
        (field(8, field(1, b"1")) + field(8, field(1, b"2")), "default", 2),
    ],
)
def test_special_messages_that_occur_again_are_merged(raw: bytes, name: str, expected: Any):
    assert decode_message(raw, "apiextensions.k8s.io/v1", SCHEMA)[name] == expected


@SOME
@given(trees("core_v1.PodSpec"), trees("core_v1.PodSpec"))
def test_two_occurrences_of_a_message_are_decoded_as_one_with_the_fields_of_both(one: Any, other: Any):
    first, second = encode_message(one, "v1", "PodSpec"), encode_message(other, "v1", "PodSpec")
    twice = decode_message(field(2, first) + field(2, second), "v1", "Pod")
    assert twice == decode_message(field(2, first + second), "v1", "Pod")


def test_bytes_that_are_not_unicode_are_replaced():
    raw = key(1, 2) + b"\x02\xff\xfe"
    assert decode_message(raw, "v1", "LocalObjectReference")["name"] == "\ufffd\ufffd"


def test_entries_of_a_map_are_read_as_kubernetes_does():
    """Its decoders ignore the wire types of key and value, and let them reach beyond their entry."""
    for entry in (b"\x08\x01a\x17\x01b", b"\x0a\x01a\x12\x01b\x7d\x00\x00\x00\x00", b"\x12\x01b\x0a\x01a"):
        raw = key(2, 2) + bytes([len(entry)]) + entry
        assert decode_message(raw, "v1", "ConfigMap")["data"] == {"a": "b"}
    raw = key(2, 2) + b"\x02\x0a\x01" + b"\x1a\x00"
    found = decode_message(raw, "v1", "ConfigMap")
    assert (found["data"], found["binaryData"]) == ({"\x1a": ""}, {"": ""})


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"\x0a", "unexpected EOF"),
        (b"\x0a\x05ab", "unexpected EOF"),
        (b"\x0a\xff\xff\xff\xff\x07ab", "unexpected EOF"),
        (b"\x0a" + b"\xff" * 9 + b"\x01", "proto: negative length found during unmarshaling"),
        (b"\x0a" + b"\xff" * 11, "proto: integer overflow"),
        (b"\x08\x01", "proto: wrong wireType = 0 for field ObjectMeta"),
        (b"\x12\x02\x08\x01", "proto: wrong wireType = 0 for field Volumes"),
        (b"\x0c", "proto: Pod: wiretype end group for non-group"),
        (b"\x00", "proto: Pod: illegal tag 0 (wire type 0)"),
        (b"\x7f", "proto: illegal wireType 7"),
        (b"\x7b\x08\x01", "unexpected EOF"),
        (b"\x7b\x7c\x7c", "proto: Pod: wiretype end group for non-group"),
        (b"\x0a\x02\x0a\x01", "unexpected EOF"),
        (b"\x0a\x02\x38\x80", "unexpected EOF"),
    ],
)
def test_damaged_messages_are_reported_as_kubernetes_does(raw: bytes, message: str):
    with pytest.raises(DecodeError) as caught:
        decode_message(raw, "v1", "Pod")
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty data"),
        (b"{}", "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"),
        (b"k8s\0", "empty body"),
        (b"k8s\0\x0a", "unexpected EOF"),
        (b"k8s\0\x0a\x02\x08\x01", "proto: wrong wireType = 0 for field APIVersion"),
        (b"k8s\0\x08\x01", "proto: wrong wireType = 0 for field TypeMeta"),
    ],
)
def test_a_damaged_envelope_is_reported_as_kubernetes_does(data: bytes, message: str):
    with pytest.raises(DecodeError) as caught:
        open_envelope(data)
    assert caught.value.message == message


def nested_schema(depth: int) -> bytes:
    raw = b""
    for _ in range(depth):
        size = len(raw)
        length = bytearray()
        while size > 127:
            length.append(size & 127 | 128)
            size >>= 7
        length.append(size)
        raw = b"\xe2\x01" + bytes(length) + raw  # field 28, `not`
    return raw


def test_messages_that_are_nested_too_deeply_are_rejected():
    decode_message(nested_schema(200), "apiextensions.k8s.io/v1", "JSONSchemaProps")
    for depth in (300, 10_000):
        with pytest.raises(DecodeError, match="exceeded max depth"):
            decode_message(nested_schema(depth), "apiextensions.k8s.io/v1", "JSONSchemaProps")


POD = encode_object(
    {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "a", "labels": {"x": "y"}, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {
            "containers": [{"name": "a", "ports": [{"containerPort": 80}], "resources": {"limits": {"cpu": "1"}}}]
        },
    }
)


@settings(max_examples=5 * settings.default.max_examples)
@given(st.data())
def test_damaged_objects_are_decoded_or_rejected(data: st.DataObject):
    damaged = bytearray(POD)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(damaged) - 1))
        match data.draw(st.sampled_from(["change", "cut", "insert", "repeat"])):
            case "change":
                damaged[place] = data.draw(st.integers(0, 255))
            case "cut":
                del damaged[place : place + data.draw(st.integers(1, 9))]
            case "insert":
                damaged[place:place] = data.draw(st.binary(max_size=9))
            case "repeat":
                damaged[place:place] = damaged[place : place + 20]
        if not damaged:
            return
    try:
        decoded = decode_object(bytes(damaged))
    except DecodeError:
        return
    encode_object(decoded)


@settings(max_examples=3 * settings.default.max_examples)
@given(st.sampled_from(KINDS), st.binary(max_size=60))
def test_any_bytes_are_decoded_or_rejected(kind: tuple[str, str], raw: bytes):
    with suppress(DecodeError):
        decode_message(raw, *kind)

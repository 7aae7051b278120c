"""One received object: its parts as JSON, damaged ones among them, and changed ones encoded again."""

from typing import Any

import msgspec
import pytest
from tests.protobuf.wire import METADATA, UNKNOWN, encoded, field, pod_with_unknown_fields

from listwatch.errors import DecodeError, EncodeError
from listwatch.protobuf import decode_object, encode_object
from listwatch.protobuf.envelope import envelope
from listwatch.protobuf.messages import MAX_DEPTH, MAX_MESSAGES, message
from listwatch.protobuf.received_object import (
    decode_part,
    decode_parts,
    drop_unknown,
    encode_json,
    find_message,
    replace_parts,
    without_managed_fields,
)
from listwatch.protobuf.unknown_fields import UNKNOWN as NAME

POD: Any = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": METADATA,
    "spec": {"containers": [{"name": "main", "image": "a:1", "resources": {}}], "nodeName": "n1"},
    "status": {"phase": "Running"},
}


def parts(raw: bytes) -> dict[str, Any]:
    return {name: msgspec.json.decode(part) for name, part in decode_parts(raw).parts.items()}


def test_the_parts_are_those_of_the_decoded_object():
    raw = encode_object(POD)
    assert parts(raw) == decode_object(raw) == POD
    for name, value in POD.items():
        assert msgspec.json.decode(decode_part(raw, name) or b"0") == value
    assert decode_part(raw, "data") is None


def test_a_part_with_several_fields_is_read_as_one():
    raw = encode_object({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {}, "data": {"a": "1", "b": "2"}})
    assert msgspec.json.decode(decode_part(raw, "data") or b"") == {"a": "1", "b": "2"}
    assert decode_part(raw, "binaryData") is None


def test_a_message_is_found_with_its_kind_in_any_form():
    raw = encode_object(POD)
    place = find_message(raw)
    assert (place.api_version, place.kind) == ("v1", "Pod")
    # The fields in another order.
    content = raw[place.start : place.end]
    odd = b"k8s\0" + field(4, b"") + field(2, content) + field(1, field(2, b"Pod") + field(1, b"v1"))
    assert decode_parts(odd) == decode_parts(raw)


@pytest.mark.parametrize(
    "size", [*range(1, 15), *range(16, 40)]
)  # without its last field it is a message without content
def test_a_truncated_object_is_an_error(size: int):
    with pytest.raises(DecodeError):
        decode_parts(encode_object(POD)[:size])


def test_a_damaged_part_does_not_hide_the_others():
    content = field(1, encoded("meta_v1.ObjectMeta", METADATA)) + field(2, b"\x0a\x7fx") + field(3, b"")
    raw = envelope("v1", "Pod", content)
    found = decode_parts(raw)
    assert [*found.failures] == ["spec"]
    assert msgspec.json.decode(found.parts["metadata"]) == METADATA
    with pytest.raises(DecodeError, match="unexpected EOF"):
        decode_part(raw, "spec")
    assert msgspec.json.decode(decode_part(raw, "status") or b"") == {}


def test_a_part_that_is_nested_too_deeply_is_an_error():
    schema = b""
    for _ in range(MAX_DEPTH + 10):
        schema = field(29, field(1, b"a") + field(2, schema))  # properties
    version = field(1, b"v1") + field(4, field(1, schema))
    raw = envelope("apiextensions.k8s.io/v1", "CustomResourceDefinition", field(1, b"") + field(2, field(7, version)))
    with pytest.raises(DecodeError, match="exceeded max depth"):
        decode_part(raw, "spec")
    assert [*decode_parts(raw).failures] == ["spec"]


def test_a_part_with_too_many_messages_is_an_error():
    raw = envelope("v1", "Pod", field(1, b"") + field(2, b"\x12\x00" * 300_000))
    with pytest.raises(DecodeError, match="more than 200000 messages"):
        decode_part(raw, "spec")


def test_unknown_fields_are_kept_in_the_parts_and_left_out_of_their_json():
    raw = pod_with_unknown_fields()
    text = decode_part(raw, "spec") or b""
    tree = msgspec.json.decode(text)
    assert tree[NAME] == tree["containers"][0][NAME] == [UNKNOWN.hex()]
    known = drop_unknown(text)
    assert known == msgspec.json.encode(msgspec.json.decode(known))
    assert b"unknown" not in known
    assert msgspec.json.decode(known) == decode_object(raw)["spec"]


def test_many_unknown_fields_are_put_together_once():
    # One by one, those of an object of 300 KB took 20 seconds.
    content = field(100, b"x") * 1000

    found = message("core_v1.PodSpec", keeps_unknown=True).decode(content, 0, len(content), 0, [MAX_MESSAGES])

    assert found[NAME] == [content.hex()]


def test_the_unknown_fields_of_a_message_in_many_pieces_are_not_copied_for_each_piece():
    # Copied each time, those of an object of 400 KB took 5 seconds.
    unknown = field(100, b"x")
    pod = message("core_v1.Pod", keeps_unknown=True)
    content = field(2, unknown) * 3

    tree: Any = pod.decode(content, 0, len(content), 0, [MAX_MESSAGES])

    assert tree["spec"][NAME] == [unknown.hex()] * 3
    assert pod.encode(tree).count(unknown * 3) == 1


def test_unknown_fields_survive_the_change_of_a_part():
    raw = pod_with_unknown_fields()
    spec = msgspec.json.decode(decode_part(raw, "spec") or b"")
    spec["containers"][0]["image"] = "b:2"
    changed = replace_parts(raw, {"spec": spec})
    assert changed.count(UNKNOWN) == raw.count(UNKNOWN) == 7
    assert decode_object(changed)["spec"]["containers"][0]["image"] == "b:2"  # type: ignore[index, call-overload]  # objects and a list
    again = replace_parts(changed, {"spec": msgspec.json.decode(decode_part(changed, "spec") or b"")})
    assert decode_parts(again) == decode_parts(changed)


def test_replacing_a_part_leaves_the_bytes_of_the_others():
    raw = encode_object(POD)
    place, metadata = find_message(raw), encoded("meta_v1.ObjectMeta", METADATA)
    changed = replace_parts(raw, {"status": {"phase": "Failed"}})
    assert changed.startswith(raw[: place.start - 2])
    assert metadata in changed
    assert decode_object(changed) == POD | {"status": {"phase": "Failed"}}
    removed: Any = replace_parts(raw, {"status": None})
    assert decode_object(removed)["status"] == {}


@pytest.mark.parametrize(
    "change",
    [
        {"spec": {"containers": [], "hostPort": 1}},  # no such field
        {"spec": {"containers": [{"name": 5}]}},
        {"spec": {"containers": "main"}},
        {"spec": {"containers": [], "hostPID": "true"}},
        {"spec": {"containers": [], "priority": 2**31}},
        {"spec": {"containers": [None]}},
        {"metadata": {"labels": {"a": None}}},
        {"metadata": {"creationTimestamp": "yesterday"}},
        {"state": {}},
    ],
)
def test_what_protobuf_cannot_represent_is_not_encoded(change: dict[str, Any]):
    with pytest.raises(EncodeError, match="without a loss"):
        replace_parts(encode_object(POD), change)
    with pytest.raises(EncodeError, match="without a loss"):
        encode_json(msgspec.json.encode(POD | change))


def test_an_object_is_encoded_as_a_server_encodes_it():
    assert encode_json(msgspec.json.encode(POD)) == encode_object(POD)


@pytest.mark.parametrize("text", [b"", b"[]", b'{"kind":"Widget","apiVersion":"example.com/v1"}', b"\xff", b"[" * 5000])
def test_what_is_no_built_in_object_is_not_encoded(text: bytes):
    with pytest.raises(EncodeError):
        encode_json(text)


def test_an_object_inside_of_another_one_may_name_its_kind():
    claim = {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": {"name": "data"}, "spec": {}}
    spec = {"serviceName": "web", "selector": {}, "template": {}, "volumeClaimTemplates": [claim]}
    tree = {"kind": "StatefulSet", "apiVersion": "apps/v1", "metadata": {"name": "web"}, "spec": spec}
    assert find_message(encode_json(msgspec.json.encode(tree))).kind == "StatefulSet"


def test_managed_fields_are_cut_and_the_rest_keeps_its_bytes():
    entry = {"manager": "kubectl", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}}
    managed = POD | {"metadata": METADATA | {"managedFields": [entry, entry], "ownerReferences": []}}
    assert without_managed_fields(encode_object(managed)) == encode_object(POD)
    raw = encode_object(POD)
    assert without_managed_fields(raw) is raw
    assert without_managed_fields(pod_with_unknown_fields()) == pod_with_unknown_fields()

"""An object that was received as protobuf behaves like one that was received as JSON."""

import copy
import pickle
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from tests.protobuf.trees import trees
from tests.protobuf.wire import METADATA, UNKNOWN, encoded, field, pod_with_unknown_fields

from listwatch import models
from listwatch.errors import DecodeError, EncodeError
from listwatch.models.apps_v1 import Deployment
from listwatch.models.core_v1 import ConfigMap, Pod, PodList
from listwatch.objects import Object, ObjectList, PartialObjectMetadata, Unstructured
from listwatch.objects.damage import observed_damage
from listwatch.protobuf import decode_object, encode_list, encode_message, encode_object
from listwatch.protobuf.envelope import envelope
from listwatch.protobuf.schema import find_kind

SOME = settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.too_slow])

POD: Any = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": METADATA
    | {"managedFields": [{"manager": "m", "time": "2026-01-02T03:04:05Z", "fieldsV1": {"f:a": {}}}]},
    "spec": {"containers": [{"name": "main", "image": "a:1", "resources": {"limits": {"cpu": "500m"}}}]},
    "status": {"phase": "Running"},
}


def both(kind: type[Any], tree: Any = POD) -> tuple[Any, Any]:
    """The same object, received as protobuf and as JSON."""
    raw = encode_object(tree)
    return kind.from_wire(raw), kind.from_wire(msgspec.json.encode(decode_object(raw)))


def test_objects_of_both_formats_are_equal_in_everything():
    protobuf, json = both(Pod)
    assert protobuf == json
    assert json == protobuf
    assert repr(protobuf) == repr(json) == "<Pod default/web-0 @1000>"
    assert (protobuf.name, protobuf.namespace, protobuf.uid) == (json.name, json.namespace, json.uid)
    assert protobuf.resource_version == json.resource_version
    assert protobuf.cache_key == json.cache_key
    assert protobuf.labels == json.labels == {"app": "web", "tier": "front"}
    for name in ("metadata", "spec", "status"):
        assert getattr(protobuf, name) == getattr(json, name)
    assert protobuf == json  # all parts are decoded now
    assert protobuf.to_dict() == json.to_dict()
    assert protobuf.to_yaml() == json.to_yaml()
    assert msgspec.json.decode(protobuf.to_json()) == msgspec.json.decode(json.to_json())
    assert {name: msgspec.json.decode(part) for name, part in protobuf.parts.items()} == json.to_dict()
    assert protobuf != both(Pod, POD | {"status": {"phase": "Failed"}})[1]


KINDS = [models.lookup(each.api_version, each.kind) for each in models.resources()]


def accessed(item: Object, part: str) -> object:
    try:
        return getattr(item, part)
    except DecodeError as error:  # JSON of any type in a field for objects
        return str(error)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not None], ids=lambda kind: str(kind.gvk))
def test_an_object_of_every_kind_is_equal_to_that_of_json(kind: type[Object]):
    assert kind.gvk is not None
    api_version, name = kind.gvk.api_version, kind.gvk.kind

    @SOME
    @given(trees(find_kind(api_version, name)))
    def check(tree: dict[str, Any]) -> None:
        protobuf, json = both(kind, {"kind": name, "apiVersion": api_version, **tree})
        assert protobuf == json
        for part in kind.lazy_fields:
            assert accessed(protobuf, part) == accessed(json, part)
        assert protobuf == json
        assert type(protobuf).from_wire(protobuf.to_protobuf()) == json

    check()


def test_only_the_accessed_part_is_decoded():
    content = field(1, encoded("meta_v1.ObjectMeta", METADATA)) + field(2, b"\x0a\x7fx") + field(3, b"")
    pod = Pod.from_wire(envelope("v1", "Pod", content))
    assert pod.status.phase is None
    assert pod.metadata.name == "web-0"
    with pytest.raises(DecodeError, match=r"Pod default/web-0: spec: unexpected EOF"):
        _ = pod.spec


class _Observer:
    def __init__(self) -> None:
        self.seen: list[tuple[object, str]] = []

    def damaged(self, item: object, error: DecodeError) -> None:
        self.seen.append((item, error.field))


def test_a_damaged_part_is_reported_and_the_object_can_still_be_used():
    content = field(1, encoded("meta_v1.ObjectMeta", METADATA)) + field(2, b"\x0a\x7fx") + field(3, b"")
    pod, observer = Pod.from_wire(envelope("v1", "Pod", content)), _Observer()
    with observed_damage(observer.damaged):
        for access in (lambda: pod.spec, pod.to_json, pod.to_dict):
            with pytest.raises(DecodeError):
                access()
    assert observer.seen == [(pod, "spec")] * 3
    assert pod._damaged_parts() == {"spec"}
    # A change of another part is sent with the bytes that were received.
    pod.metadata.labels["app"] = "other"
    again = Pod.from_wire(pod.to_protobuf())
    assert again.labels == {"app": "other", "tier": "front"}
    assert again._damaged_parts() == {"spec"}


@pytest.mark.parametrize("raw", [b"k8s\0", b"k8s\0\xff\xff", envelope("v1", "Pod", b"\x0a\x05abc"), b"k8s\0\x0a\x7f"])
def test_an_object_whose_head_cannot_be_read_is_an_error(raw: bytes):
    with pytest.raises(DecodeError, match="Pod"):
        Pod.from_wire(raw)


def test_an_unknown_kind_has_a_head_and_raises_on_access():
    content = field(1, encoded("meta_v1.ObjectMeta", METADATA))
    found = Unstructured.from_wire(envelope("example.com/v1", "Widget", content))
    assert (found.name, found.kind, found.api_version) == ("web-0", "Widget", "example.com/v1")
    with pytest.raises(DecodeError, match=r"Widget of example.com/v1 has no protobuf encoding"):
        found["spec"]


def test_unknown_fields_survive_an_update_and_are_not_part_of_the_json():
    raw = pod_with_unknown_fields()
    pod = Pod.from_wire(raw)
    assert "unknown" not in str(pod.to_dict())
    assert pod.to_protobuf() == raw
    changed = pod.copy()
    changed.metadata.labels["app"] = "other"
    changed.spec.containers[0].image = "b:2"
    changed.spec.containers[0].volume_mounts[0].read_only = True
    sent = changed.to_protobuf()
    assert sent.count(UNKNOWN) == raw.count(UNKNOWN) == 7
    again = Pod.from_wire(sent)
    assert again.spec.containers[0].image == "b:2"
    assert again.labels["app"] == "other"
    assert again.to_dict() == changed.to_dict() != pod.to_dict()
    assert b"unknown" not in changed.to_json()
    assert all(b"unknown" not in bytes(each) for each in changed.parts.values())
    assert pickle.loads(pickle.dumps(changed)).to_protobuf() == sent


def test_unknown_fields_survive_a_change_of_an_unstructured_object():
    raw = pod_with_unknown_fields()
    pod = Unstructured.from_wire(raw)
    assert "unknown" not in str(dict(pod))
    pod["spec"]["nodeName"] = "n2"
    pod.metadata.labels["app"] = "other"
    sent = pod.to_protobuf()
    assert sent.count(UNKNOWN) == raw.count(UNKNOWN)
    assert Unstructured.from_wire(sent)["spec"]["nodeName"] == "n2"


def test_a_changed_object_is_equal_to_the_same_change_of_json():
    protobuf, json = both(Pod)
    for each in (protobuf, json):
        each.spec.node_name = "n2"
        each.metadata.annotations = {"a": "b"}
        each.status = type(each.status)()
    assert protobuf == json
    assert protobuf.to_dict() == json.to_dict()
    assert Pod.from_wire(protobuf.to_protobuf()) == Pod.from_wire(json.to_protobuf())


def test_copies_are_independent_and_pickles_are_equal():
    protobuf, json = both(Deployment, {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": METADATA})
    duplicate = copy.deepcopy(protobuf)
    duplicate.metadata.labels["x"] = "y"
    assert protobuf == json != duplicate
    assert pickle.loads(pickle.dumps(protobuf)) == json
    assert pickle.loads(pickle.dumps(duplicate)) == duplicate


def test_managed_fields_are_removed_without_decoding():
    protobuf, json = both(Pod)
    reduced = protobuf.without_managed_fields()
    assert reduced == json.without_managed_fields()
    assert not reduced.metadata.managed_fields
    assert reduced.labels == protobuf.labels
    assert reduced.without_managed_fields() is reduced
    assert reduced.to_protobuf().startswith(b"k8s\0")


def test_unstructured_objects_of_both_formats_are_equal():
    protobuf, json = both(Unstructured)
    assert protobuf == json
    assert repr(protobuf) == repr(json)
    assert (protobuf.kind, protobuf.api_version, len(protobuf)) == (json.kind, json.api_version, len(json))
    assert dict(protobuf) == dict(json)
    assert sorted(protobuf) == sorted(json)
    for each in (protobuf, json):
        each["spec"]["nodeName"] = "n2"
        del each["status"]
        each["metadata"] = {"name": "other", "namespace": "default"}
    assert protobuf == json
    assert protobuf.name == json.name == "other"
    assert Unstructured.from_wire(protobuf.to_protobuf())["metadata"]["name"] == "other"
    protobuf["kind"] = "Widget"
    with pytest.raises(EncodeError):
        protobuf.to_protobuf()
    assert protobuf.to_dict() == json.to_dict() | {"kind": "Widget"}


def test_a_field_that_protobuf_does_not_have_is_sent_as_json_only():
    pod, _ = both(Unstructured)
    pod["spec"]["brandNew"] = 1
    with pytest.raises(EncodeError, match="without a loss"):
        pod.to_protobuf()
    assert pod.to_dict()["spec"]["brandNew"] == 1
    assert pickle.loads(pickle.dumps(pod)) == pod


def test_partial_metadata_of_both_formats_is_equal():
    partial = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": POD["metadata"]}
    protobuf, json = both(PartialObjectMetadata, partial)
    assert protobuf == json
    assert protobuf.check() is protobuf
    assert protobuf.to_protobuf().startswith(b"k8s\0")
    # A server that cannot reduce objects sends them whole.
    whole, reduced = both(PartialObjectMetadata)
    assert whole == reduced
    assert "spec" not in whole.to_dict()
    duplicate = pickle.loads(pickle.dumps(whole))
    assert duplicate == reduced


def test_an_object_that_was_made_here_is_encoded():
    config = ConfigMap.from_dict({"metadata": {"name": "a"}, "data": {"k": "v"}, "binaryData": {"b": "AAE="}})
    assert ConfigMap.from_wire(config.to_protobuf()) == ConfigMap.from_dict(decode_object(config.to_protobuf()))
    with pytest.raises(EncodeError):
        Unstructured({"kind": "Widget", "apiVersion": "example.com/v1"}).to_protobuf()


# --- Lists ---


def test_lists_of_both_formats_are_equal():
    items = [POD | {"metadata": METADATA | {"name": f"web-{index}"}} for index in range(50)]
    body = encode_list("v1", "PodList", {"resourceVersion": "7"}, [encode_message(each, "v1", "Pod") for each in items])
    tree = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}}
    json = msgspec.json.encode(tree | {"items": [decode_object(encode_object(each)) for each in items]})
    assert PodList.from_wire(body) == PodList.from_wire(json)
    assert PodList.from_wire(body).to_dict() == PodList.from_wire(json).to_dict()
    assert ObjectList[Unstructured].from_wire(body) == ObjectList[Unstructured].from_wire(json)
    reduced = ObjectList[PartialObjectMetadata].from_wire(body, PartialObjectMetadata)
    assert reduced == ObjectList[PartialObjectMetadata].from_wire(json, PartialObjectMetadata)


def test_a_broken_item_does_not_hide_its_neighbours():
    good = encode_message(POD, "v1", "Pod")
    page = PodList.from_wire(encode_list("v1", "PodList", {}, [good, b"\x0a\x7f", b"\xff", good]))
    assert [each.name for each in page] == ["web-0", "web-0"]
    assert [error.field for error in page.broken] == ["items[1]", "items[2]"]

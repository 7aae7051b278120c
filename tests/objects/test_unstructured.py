"""Objects of any kind, as mappings."""

import copy
import gc
import json
import pickle
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from tests.objects.widgets import JSON, MAPS, at_once, compact, widget

from listwatch.errors import BadNameError, DecodeError, EncodeError
from listwatch.meta import GroupVersionKind
from listwatch.models.core_v1 import Container, PodSpec
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.unstructured import Unstructured
from listwatch.objects.untracked import is_supported

SPEC = {"replicas": 3, "parts": [{"name": "a"}]}


def of(**parts: Any) -> Unstructured:
    return Unstructured.from_wire(widget(**parts))


# --- as a mapping ----------------------------------------------------------------------------------------------------


def test_it_is_read_as_a_mapping_of_wire_names():
    obj = of(spec=SPEC)
    assert obj["spec"]["parts"][0]["name"] == "a"
    assert obj["spec"] is obj["spec"]
    assert (obj["kind"], obj.get("status"), obj.get("status", 5)) == ("Widget", None, 5)
    assert "spec" in obj
    assert "status" not in obj
    assert list(obj) == ["apiVersion", "kind", "metadata", "spec"]
    assert len(obj) == 4
    assert isinstance(obj, Mapping)
    assert dict(obj) == json.loads(widget(spec=SPEC))
    match obj:
        case {"spec": {"replicas": 3}}:
            pass
        case _:
            pytest.fail("it does not match as a mapping does")
    with pytest.raises(KeyError, match="status"):
        obj["status"]


def test_it_has_its_kind_and_api_version():
    obj = of()
    assert (obj.api_version, obj.kind) == ("example.com/v1", "Widget")
    assert obj.group_version_kind == GroupVersionKind("example.com", "v1", "Widget")
    assert repr(obj) == "<Widget default/web @7>"
    assert repr(Unstructured()) == "<object without a name>"
    with pytest.raises(BadNameError):
        _ = Unstructured({"apiVersion": "a/b/c", "kind": "X"}).group_version_kind


def test_set_deleted_and_filled_values_are_sent():
    obj = of(spec=SPEC, status={"a": 1}, note="n")
    obj["spec"]["replicas"] = 4
    obj["status"] = {"b": None}
    del obj["note"]
    obj.setdefault("data", {})["k"] = "v"
    obj["gone"] = None
    assert obj.pop("missing", 1) == 1
    obj.update(more=[1])
    assert obj.to_dict() == {
        **json.loads(widget()),
        "spec": {**SPEC, "replicas": 4},
        "status": {"b": None},
        "data": {"k": "v"},
        "gone": None,
        "more": [1],
    }
    with pytest.raises(KeyError):
        del obj["note"]


def test_a_new_one_is_filled_part_by_part():
    obj = Unstructured()
    obj["apiVersion"], obj["kind"] = "example.com/v1", "Widget"
    obj.metadata.name = "web"
    obj["spec"] = {"replicas": 1}
    assert obj.to_dict() == {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "spec": {"replicas": 1},
        "metadata": {"name": "web"},
    }
    assert repr(obj) == "<Widget web>"


def test_the_metadata_argument_replaces_that_of_the_content():
    obj = Unstructured({"kind": "Widget", "metadata": {"name": "a"}}, metadata=ObjectMeta(name="b"))
    assert (obj.name, obj["metadata"]["name"]) == ("b", "b")
    assert obj.to_dict() == {"kind": "Widget", "metadata": {"name": "b"}}


def test_it_shares_nothing_with_its_input():
    tree = {"kind": "Widget", "metadata": {"name": "a"}, "spec": {"parts": [{"name": "a"}]}}
    made = (Unstructured(tree), Unstructured.from_dict(tree))
    tree["spec"]["parts"][0]["name"] = "changed"  # type: ignore[index]  # an object
    assert [obj["spec"]["parts"][0]["name"] for obj in made] == ["a", "a"]


def test_one_can_be_created_from_another():
    obj = of(spec=SPEC)
    assert Unstructured(obj) == Unstructured.from_dict(obj) == obj


def test_to_dict_shares_nothing_with_it():
    obj = of(spec=SPEC)
    _ = obj["spec"]
    obj.to_dict()["spec"]["parts"].clear()
    assert obj["spec"] == SPEC


# --- its metadata ----------------------------------------------------------------------------------------------------


def test_the_metadata_is_shown_as_a_mapping_and_changed_in_one_place():
    obj = of(metadata={"name": "a", "labels": {"x": "y"}, "finalizers": ["f"], "later": {"z": [1]}})
    assert obj["metadata"] == {"name": "a", "labels": {"x": "y"}, "finalizers": ["f"], "later": {"z": [1]}}
    obj.metadata.labels["x"] = "changed"
    obj.metadata.finalizers.append("g")
    assert obj["metadata"]["labels"] == {"x": "changed"}
    assert obj["metadata"]["finalizers"] == ["f", "g"]
    assert obj["metadata"]["later"] == {"z": [1]}
    assert obj.labels == {"x": "changed"}


@pytest.mark.parametrize(
    "change",
    [
        lambda shown: shown.__setitem__("name", "b"),
        lambda shown: shown.__delitem__("name"),
        lambda shown: shown.update(name="b"),
        lambda shown: shown.pop("name"),
        lambda shown: shown.popitem(),
        lambda shown: shown.clear(),
        lambda shown: shown.setdefault("x", 1),
        lambda shown: shown.__ior__({"x": 1}),
        lambda shown: shown["labels"].__setitem__("x", "z"),
        lambda shown: shown["finalizers"].append("g"),
        lambda shown: shown["finalizers"].extend(["g"]),
        lambda shown: shown["finalizers"].remove("f"),
        lambda shown: shown["finalizers"].__setitem__(0, "g"),
        lambda shown: shown["finalizers"].__iadd__(["g"]),
        lambda shown: shown["finalizers"].sort(),
        lambda shown: shown["owners"][0].__setitem__("x", "z"),
    ],
)
def test_changing_a_read_only_view_is_rejected_with_the_place_to_change(change: Callable[[Any], Any]):
    obj = of(metadata={"name": "a", "labels": {"x": "y"}, "finalizers": ["f"], "owners": [{}]})
    with pytest.raises(TypeError, match=r"is read-only; use obj.metadata, as in obj\.metadata\.labels"):
        change(obj["metadata"])


def test_the_metadata_view_can_be_copied():
    obj = of(metadata={"name": "a", "labels": {"x": "y"}, "finalizers": ["f"]})
    for taken in (copy.deepcopy(obj["metadata"]), pickle.loads(pickle.dumps(obj["metadata"]))):
        taken["labels"]["x"] = "z"
        taken["finalizers"].append("g")
        assert taken == {"name": "a", "labels": {"x": "z"}, "finalizers": ["f", "g"]}
    assert json.loads(json.dumps(obj["metadata"])) == obj["metadata"]
    other = Unstructured({"kind": "Other", "metadata": {**obj["metadata"], "name": "b"}})
    assert (other.name, other.labels) == ("b", {"x": "y"})


def test_metadata_that_is_assigned_replaces_all_of_it():
    obj = of(metadata={"name": "a", "labels": {"x": "y"}, "later": 1}, spec=SPEC)
    obj.metadata.annotations["a"] = "b"
    obj["spec"]["replicas"] = 4
    obj["metadata"] = {"name": "b", "namespace": "n", "newer": 1.5}
    assert (obj.name, obj.namespace, obj.labels) == ("b", "n", {})
    assert obj.metadata.annotations == {}
    assert obj["metadata"] == {"name": "b", "namespace": "n", "newer": 1.5}
    assert obj.to_dict()["spec"]["replicas"] == 4
    obj.metadata.labels["x"] = "z"
    assert obj.to_dict()["metadata"] == {"name": "b", "namespace": "n", "newer": 1.5, "labels": {"x": "z"}}
    untouched = of()
    untouched["metadata"] = {"name": "b"}
    assert json.loads(untouched.to_json())["metadata"] == {"name": "b"}
    assert untouched == untouched.copy() != of()


def test_metadata_cannot_be_deleted():
    with pytest.raises(TypeError, match=r"metadata cannot be deleted"):
        del of()["metadata"]
    assert "metadata" in Unstructured({})
    assert Unstructured({})["metadata"] == {}
    assert Unstructured({"metadata": None})["metadata"] == {}


def test_reading_absent_metadata_does_not_send_it():
    obj = Unstructured.from_wire(b'{"kind":"W"}')
    assert obj.metadata.labels == {}
    assert obj.to_json() == b'{"kind":"W"}'
    assert obj == Unstructured.from_wire(b'{"kind":"W"}')


def test_undecodable_metadata_is_readable_as_a_mapping():
    obj = of(metadata={"name": "a", "labels": {"x": 5}})
    with pytest.raises(DecodeError, match=r"Widget a: metadata.labels\[x\]: expected str, got int"):
        _ = obj.metadata
    assert obj["metadata"]["labels"] == {"x": 5}
    assert obj.labels == {}


# --- sending, copying, comparing -------------------------------------------------------------------------------------


@given(MAPS)
def test_reading_does_not_change_the_encoded_object(tree: dict):
    raw = compact({"kind": "W", **tree, "metadata": {"name": "a"}})
    obj = Unstructured.from_wire(raw)
    assert dict(obj) == json.loads(raw)
    _ = obj.metadata, obj.kind, repr(obj)
    assert obj.to_json() == raw
    assert obj == Unstructured.from_wire(raw)


@pytest.mark.parametrize(
    "copied", [Unstructured.copy, copy.copy, copy.deepcopy, lambda obj: pickle.loads(pickle.dumps(obj))]
)
@pytest.mark.parametrize("touched", [(), ("spec",), ("spec", "metadata", "kind")])
def test_a_copy_is_equal_and_independent_in_both_directions(copied: Callable[[Any], Any], touched: tuple[str, ...]):
    obj = of(spec=SPEC)
    for name in touched:
        _ = obj[name]
    twin = copied(obj)
    assert type(twin) is Unstructured
    assert twin == obj
    twin["spec"]["parts"].append(1)
    twin.metadata.labels["x"] = "y"
    twin["new"] = 1
    assert obj == of(spec=SPEC)
    obj["spec"]["parts"][0]["name"] = "changed"
    obj["kind"] = "Other"
    assert twin["spec"]["parts"] == [{"name": "a"}, 1]
    assert twin.kind == "Widget"
    assert twin != obj


def test_a_copy_with_models_is_encoded_like_the_original():
    spec = PodSpec(containers=[Container(name="a", image="i")], node_selector={"disk": "ssd"})
    item = Unstructured({"kind": "Widget"})
    item["spec"], item["nested"] = spec, {"templates": [spec], "since": datetime(2026, 1, 2, tzinfo=UTC)}
    assert spec.containers[0].ports == []  # which is only read
    twin = item.copy()
    assert twin == item
    assert twin.to_json() == item.to_json()
    assert b"ports" not in twin.to_json()
    twin["spec"].containers[0].image = "other"
    twin["nested"]["templates"].append(PodSpec())
    assert item["spec"].containers[0].image == "i"
    assert len(item["nested"]["templates"]) == 1


def test_a_copy_of_an_empty_one_is_independent():
    obj = Unstructured()
    assert list(obj) == ["metadata"]
    twin = obj.copy()
    twin["spec"] = 1
    assert "spec" not in obj


def test_python_values_that_json_can_represent_may_be_set():
    obj = of()
    obj["spec"] = {"at": datetime(2026, 1, 2, 3, tzinfo=UTC), "pair": (1, 2), "secret": b"hi", "port": {80: "x"}}
    assert obj.copy() == obj
    assert obj.to_dict()["spec"] == {
        "at": "2026-01-02T03:00:00Z",
        "pair": [1, 2],
        "secret": "aGk=",
        "port": {"80": "x"},
    }


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"a": [float("inf")]}, r"spec.a\[0\]: JSON cannot represent inf"),
        ({"a": datetime(2026, 1, 2)}, "spec.a: a time needs a time zone"),  # noqa: DTZ001  # that is the mistake
        ({"a": object()}, "spec: a object cannot be part of an API object"),
        ("\ud800", "lone surrogate"),
        ({None: 1}, "spec: "),
    ],
)
def test_other_values_are_rejected_when_they_are_sent(value: Any, reason: str):
    for obj in (of(), of(spec=SPEC)):
        obj["spec"] = value
        with pytest.raises(EncodeError, match=f"Widget default/web: .*{reason}"):
            obj.to_json()


def test_a_number_replaced_by_a_boolean_is_a_change():
    obj = of(spec={"a": 1, "b": 0})
    obj["spec"]["a"] = True
    assert obj.to_dict()["spec"]["a"] is True


# --- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [b'"\xff"', b"1e400", b'{"a":[1e400]}', b"9" * 5000])
def test_an_undecodable_part_is_named_and_does_not_affect_others(part: bytes):
    raw = widget(spec=0, status={"a": 1}).replace(b'"spec":0', b'"spec":%s' % part)
    obj = Unstructured.from_wire(raw)
    for _ in range(2):
        with pytest.raises(DecodeError, match=r"Widget default/web: spec"):
            _ = obj["spec"]
    assert obj["status"] == {"a": 1}
    assert obj.copy() == obj == Unstructured.from_wire(raw)
    assert obj.to_json() == raw
    obj["status"]["a"] = 2
    assert b'"spec":%s' % part in obj.to_json()
    obj["spec"] = None
    assert obj.to_dict()["spec"] is None


@pytest.mark.parametrize("kind", [b"5", b"null", b"{}", b'"\xff"', b'""'])
def test_a_kind_that_is_not_a_string_is_ignored(kind: bytes):
    obj = Unstructured.from_wire(b'{"kind":%s,"metadata":{"name":"a"},"spec":"\xff"}' % kind)
    assert (obj.kind, repr(obj)) == ("object", "<object a>")
    with pytest.raises(DecodeError, match="object a: spec: it is not UTF-8"):
        _ = obj["spec"]


def test_a_key_that_cannot_be_decoded_is_reported_and_does_not_stop_a_stream():
    obj = Unstructured.from_wire(b'{"\xff":1,"metadata":{"name":"a"}}')
    assert repr(obj) == "<object a>"
    assert obj.name == "a"
    with pytest.raises(DecodeError, match="Unstructured a: it is not UTF-8"):
        _ = obj["spec"]


@given(JSON)
def test_any_json_can_be_a_part(value: Any):
    obj = Unstructured({"metadata": {"name": "a"}, "x": value})
    assert obj["x"] == value
    obj["y"] = value
    assert Unstructured.from_json(obj.to_json())["y"] == value


def test_concurrent_reads_are_safe():
    raw = widget(spec=SPEC, status={"a": 1})
    objects = [Unstructured.from_wire(raw) for _ in range(200)]

    def read(names: list[str]) -> None:
        for obj in objects:
            assert [obj[name] for name in names] == [json.loads(raw)[name] for name in names]
            assert obj.metadata.name == "web"
            assert obj.copy() == obj
            assert obj.to_json() == raw

    names = ["spec", "status", "metadata", "kind"]
    at_once([partial(read, names[first:] + names[:first]) for first in range(4)])


@pytest.mark.skipif(not is_supported, reason="this interpreter does not track changed dicts again")
def test_accessed_parts_are_untracked_and_can_be_changed():
    widget = Unstructured.from_wire(b'{"metadata":{"name":"a"},"spec":{"sizes":[{"x":[1]},{"y":{"z":[{}]}}],"n":1}}')
    left, seen = [widget["spec"]], []
    while left:
        inside = left.pop()
        if isinstance(inside, dict | list):
            seen.append(inside)
            left += inside.values() if isinstance(inside, dict) else inside
    assert len(seen) == 8
    assert not any(map(gc.is_tracked, seen))

    widget["spec"]["sizes"].append({"x": [2]})
    assert widget.to_dict()["spec"]["sizes"][-1] == {"x": [2]}

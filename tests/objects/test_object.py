"""One object: lazy decoding, encoding, copying and errors."""

import copy
import gc
import json
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.objects.widgets import (
    JSON,
    MAPS,
    TEXTS,
    Part,
    Widget,
    WidgetSpec,
    WidgetStatus,
    at_once,
    compact,
    failure,
    widget,
)

from listwatch.errors import DecodeError, EncodeError, ListWatchError
from listwatch.meta import GroupVersionKind, ObjectKey
from listwatch.objects.metadata import ObjectMeta, OwnerReference
from listwatch.objects.object import Object, lazy
from listwatch.objects.unstructured import Unstructured
from listwatch.objects.untracked import is_supported

SPEC = {"replicas": 3, "parts": [{"name": "a", "image": "x:1"}]}


def of(**parts: Any) -> Widget:
    return Widget.from_wire(widget(**parts))


# --- touching --------------------------------------------------------------------------------------------------------


def test_only_the_head_is_decoded_on_arrival():
    obj = Widget.from_wire(widget(metadata={"name": "a", "namespace": "n", "uid": "u", "labels": {"app": "w"}}, spec=5))
    assert (obj.name, obj.namespace, obj.uid, obj.resource_version) == ("a", "n", "u", "")
    assert obj.key == ObjectKey("n", "a")
    assert obj.labels == {"app": "w"}
    assert repr(obj) == "<Widget n/a>"
    assert vars(obj) == {}


def test_a_part_is_decoded_on_first_access_and_only_once():
    obj = of(spec=SPEC, status={"ready": 2})
    first = obj.spec
    assert vars(obj).keys() == {"_parts", "spec"}
    assert obj.spec is first
    assert first.replicas == 3
    assert first.parts[0].image == "x:1"
    assert (obj.status.ready, obj.metadata.uid) == (2, "u-1")
    assert obj.spec is first


@given(st.permutations(list(Widget.lazy_fields)), st.booleans())
def test_parts_may_be_accessed_in_any_order(order: list[str], split_first: bool):
    obj = of(spec=SPEC, data={"k": "aGk="}, note="n", madeAt="2026-01-02T03:04:05Z", rank=5)
    if split_first:
        obj.part("spec")
    found = {name: getattr(obj, name) for name in order}
    assert found["spec"] == WidgetSpec(replicas=3, parts=[Part(name="a", image="x:1")])
    assert found["status"] == WidgetStatus()
    assert (found["data"], found["note"], found["rank"]) == ({"k": b"hi"}, "n", "5")
    assert found["made_at"] == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert found["metadata"].name == "web"


def test_a_deleted_part_is_decoded_again_from_the_received_bytes():
    obj = of(spec=SPEC)
    obj.spec.replicas = 9
    del obj.spec
    assert obj.spec.replicas == 3


def test_absent_parts_read_as_empty_or_none_and_reading_does_not_send_them():
    obj = of()
    assert (obj.spec, obj.data, obj.note, obj.made_at, obj.rank) == (WidgetSpec(), {}, None, None, "")
    assert obj.to_json() == widget()


def test_absent_parts_can_be_filled():
    obj = of()
    obj.spec.replicas = 1
    obj.data["k"] = b"hi"
    assert obj.to_dict()["spec"] == {"replicas": 1, "parts": [], "main": {"name": ""}}
    assert obj.to_dict()["data"] == {"k": "aGk="}


def test_concurrent_accesses_return_the_same_value():
    objects = [of(spec=SPEC, status={"ready": 1}) for _ in range(300)]
    found = []

    def read(names: list[str]) -> None:
        for obj in objects:
            values = [(name, getattr(obj, name)) for name in names]
            found.append((obj, values, obj.copy(), obj.to_json(), obj == of(), repr(obj)))

    orders = (["spec", "metadata", "status"], ["status", "spec"], ["metadata", "data"], ["note", "spec", "metadata"])
    at_once([partial(read, names) for names in orders])
    for obj, values, twin, sent, *_ in found:
        assert all(getattr(obj, name) is value for name, value in values)
        assert twin == obj
        assert sent == widget(spec=SPEC, status={"ready": 1})


FIRST_TOUCH = """
import threading
from listwatch.models.apps_v1 import Deployment, StatefulSet
from listwatch.models.batch_v1 import CronJob, Job
from listwatch.models.core_v1 import Pod, PodSpec

RAW = b'{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}],"template":{"spec":{"volumes":[{"name":"v"}]}}}}'
barrier = threading.Barrier(8)

def touch(kind):
    barrier.wait()
    obj = kind.from_wire(RAW)
    obj.spec, obj.metadata, obj.copy().to_dict()

def read():
    barrier.wait()
    PodSpec.from_dict({"containers": [{"name": "c"}], "volumes": [{"name": "v"}]}).copy()

threads = [threading.Thread(target=touch, args=[kind]) for kind in (Pod, Pod, Deployment, StatefulSet, Job, CronJob)]
threads += [threading.Thread(target=read) for _ in range(2)]
for each in threads:
    each.start()
for each in threads:
    each.join()
print("done")
"""


def test_concurrent_first_accesses_of_a_kind_are_safe():
    done = subprocess.run([sys.executable, "-c", FIRST_TOUCH], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


class Restless(Widget):
    """Between any two reads, another thread locates the parts again."""

    @property
    def _parts(self) -> Any:
        found = Widget.lazy_fields["note"].opener(Widget).decode(self._raw)
        found.note = msgspec.UNSET
        states = (None, found, msgspec.json.decode(self._raw, type=dict[str, msgspec.Raw]))
        self.__dict__["_looks"] = self.__dict__.get("_looks", -1) + 1
        return states[self.__dict__["_looks"] % 3]

    @_parts.setter
    def _parts(self, found: Any) -> None:
        pass


@pytest.mark.parametrize("first", range(3))
def test_concurrent_decoding_in_another_thread_is_harmless(first: int):
    obj = Restless.from_wire(widget(spec=SPEC, note="n"))
    obj.__dict__["_looks"] = first
    for _ in range(3):
        assert (obj.spec.replicas, obj.note, obj.part("note")) == (3, "n", msgspec.Raw(b'"n"'))
        assert obj.to_json() == widget(spec=SPEC, note="n")
        vars(obj).pop("spec")
        vars(obj).pop("note")


def test_labels_are_read_only():
    for obj in (of(), Widget.from_wire(widget(metadata={"name": "a", "labels": {"app": "w"}}))):
        with pytest.raises(TypeError):
            obj.labels["app"] = "other"  # type: ignore[index]  # the mistake
    obj.metadata.labels["app"] = "other"
    assert obj.labels == {"app": "other"}
    assert of().labels == {}


def test_peeking_at_a_part_does_not_cache_it():
    obj = of(spec=SPEC, zzz=1)
    assert (bytes(obj.peek("spec")), obj.peek("zzz"), obj.peek("note")) == (compact(SPEC), msgspec.Raw(b"1"), None)
    assert (vars(obj), obj._parts) == ({}, None)
    assert obj.peek("spec") != obj.spec
    assert obj.peek("spec") is obj.spec
    with pytest.raises(DecodeError, match="Widget a: it is not UTF-8"):
        Widget.from_wire(b'{"\xff":1,"metadata":{"name":"a"}}').peek("spec")


# --- sending back ----------------------------------------------------------------------------------------------------

ODD = (
    b'{"kind":"Widget" , "spec":{"unknown":1.50,"replicas":1e2,"parts":[],"size":"\\u0031"},"metadata":'
    b'{"labels":null,"name":"\\u0061","later":{"x":1E+2}},"apiVersion":"example.com/v1","zzz":[ 1.0,{"a":1,"a":2}]}'
)


def test_an_unaccessed_object_is_sent_as_the_received_bytes():
    assert Widget.from_wire(ODD).to_json() == ODD


def test_undecodable_parts_and_parts_that_were_only_read_are_sent_as_received():
    obj = Widget.from_wire(ODD)
    assert obj.metadata.name == "a"
    assert obj.status == WidgetStatus()
    with pytest.raises(DecodeError, match=r"Widget a: spec\.replicas: expected int \| null, got float"):
        _ = obj.spec
    assert obj.to_json() == ODD


def test_a_change_in_one_part_keeps_the_bytes_of_the_others():
    obj = Widget.from_wire(ODD)
    obj.metadata.annotations["a"] = "b"
    sent = obj.to_json()
    for untouched in (
        b'"spec":{"unknown":1.50,"replicas":1e2,"parts":[],"size":"\\u0031"}',
        b'"zzz":[ 1.0,{"a":1,"a":2}]',
    ):
        assert untouched in sent
    assert list(json.loads(sent)) == list(json.loads(ODD))
    assert sent.count(b'"name":"\\u0061","later":{"x":1E+2},"annotations":{"a":"b"}') == 1


def test_values_that_are_equal_only_in_python_are_changes():
    obj = of(spec={"replicas": 1, "anything": [1, 0]})
    obj.spec.anything = [True, 0.0]
    assert b'"anything":[true,0.0]' in obj.to_json()
    obj.spec.replicas = True
    with pytest.raises(EncodeError, match=r"spec\.replicas: expected int \| null, got bool"):
        obj.to_json()


def test_an_item_of_a_list_is_sent_with_its_kind():
    obj = Widget.from_wire(b'{"metadata":{"name":"a"},"spec":{"x":1.50}}')
    sent = b'{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"x":1.50}}'
    assert obj.to_json() == sent
    assert Widget.from_wire(b'{"kind":"","apiVersion":null,"metadata":{"name":"a"}}').to_dict() == {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "a"},
    }


def test_unknown_parts_and_unknown_fields_of_the_metadata_survive_a_change():
    obj = Widget.from_wire(
        widget(
            metadata={"name": "a", "later": [1], "ownerReferences": [{"uid": "u", "name": "o", "later": 1}]},
            more={"x": None},
        )
    )
    obj.metadata.labels = {"app": "w"}
    obj.metadata.owner_references.insert(0, OwnerReference(uid="v"))
    obj.metadata.owner_references[1].controller = True
    assert obj.to_dict()["more"] == {"x": None}
    sent = obj.to_dict()["metadata"]
    assert (sent["later"], sent["labels"]) == ([1], {"app": "w"})
    assert sent["ownerReferences"][1] == {"uid": "u", "name": "o", "later": 1, "controller": True}


def test_a_part_can_be_replaced_emptied_and_removed():
    obj = of(spec={**SPEC, "later": 1}, status={"ready": 1}, note="n")
    obj.spec = WidgetSpec(replicas=5)
    obj.status.ready = 0
    obj.note = None
    sent = obj.to_dict()
    assert sent["spec"] == {"replicas": 5, "parts": [], "later": 1}
    assert sent["status"] == {"ready": 0}
    assert "note" not in sent


@given(MAPS, MAPS, MAPS)
def test_json_dict_and_object_have_the_same_content(spec: dict, metadata: dict, more: dict):
    tree = {**more, "apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, "spec": spec}
    obj = Widget.from_dict(tree)
    assert obj.to_dict() == tree
    assert Widget.from_json(compact(tree)).to_dict() == tree
    assert Widget.from_json(compact(tree).decode()) == obj == Widget.from_json(obj.to_json())


def test_from_dict_keeps_nothing_of_its_input():
    tree = json.loads(widget(spec=SPEC))
    obj = Widget.from_dict(tree)
    tree["spec"]["parts"][0]["image"] = "changed"
    tree["metadata"]["name"] = "changed"
    assert (obj.name, obj.spec.parts[0].image) == ("web", "x:1")


def test_from_dict_takes_models_objects_mappings_and_times():
    tree = {
        "metadata": ObjectMeta(name="a", labels=of(metadata={"labels": {"x": "y"}}).labels),  # type: ignore[arg-type]  # read-only
        "spec": {"claims": [Unstructured({"spec": {"name": "c"}})], "since": datetime(2026, 1, 2, tzinfo=UTC)},
    }
    obj = Widget.from_dict(tree)
    assert obj.labels == {"x": "y"}
    assert obj.spec.claims[0].spec.name == "c"
    assert obj.spec.since == datetime(2026, 1, 2, tzinfo=UTC)


def test_an_indented_document_is_stored_on_one_line_and_otherwise_unchanged():
    pretty = (
        b'{\n  "apiVersion": "example.com/v1",\n "kind": "Widget", "metadata": {"name": "\\u0061\\n"}, "x": 1.50\n}\n'
    )
    assert Widget.from_json(pretty).to_json() == (
        b'{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"\\u0061\\n"},"x":1.50}'
    )


def test_the_received_parts_are_available():
    obj = Widget.from_wire(ODD)
    obj.metadata.name = "changed"
    assert bytes(obj.parts["zzz"]) == b'[ 1.0,{"a":1,"a":2}]'
    assert list(obj.parts) == ["kind", "spec", "metadata", "apiVersion", "zzz"]
    assert obj.part("metadata") == obj.parts["metadata"]
    assert obj.part("nothing") is None
    with pytest.raises(TypeError):
        obj.parts["zzz"] = msgspec.Raw(b"1")  # type: ignore[index]  # the mistake


# --- a new object ----------------------------------------------------------------------------------------------------


def test_a_new_object_is_created_from_its_parts():
    obj = Widget(metadata=ObjectMeta(name="a", namespace="n"), spec=WidgetSpec(replicas=2), rank="5")
    assert obj.to_dict() == {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "a", "namespace": "n"},
        "spec": {"replicas": 2, "parts": [], "main": {"name": ""}},
        "rank": "5",
    }
    assert repr(obj) == "<Widget n/a>"
    assert repr(Widget()) == "<Widget without a name>"


def test_an_unknown_part_is_rejected():
    with pytest.raises(TypeError, match=r"Widget has no field stauts; did you mean status\?"):
        Widget(stauts=WidgetStatus())  # type: ignore[call-arg]  # the mistake


@pytest.mark.parametrize("kind", [Widget, Unstructured])
def test_an_unknown_attribute_is_rejected_when_it_is_assigned(kind: type[Object]):
    obj: Any = kind.from_wire(widget())
    with pytest.raises(AttributeError, match=f"{kind.__name__} has no field stauts; "):
        obj.stauts = WidgetStatus()
    assert obj.to_json() == widget()


def test_a_kind_may_have_methods_cached_properties_and_private_attributes():
    class Counting(Widget):
        @cached_property
        def total(self) -> int:
            return sum(len(part.ports) for part in self.spec.parts)

    obj = Counting.from_wire(widget(spec=SPEC))
    assert obj.total == 0
    assert obj.to_json() == widget(spec=SPEC)
    twin = obj.copy()
    twin.spec.parts = []
    assert "total" not in vars(twin)


def test_a_class_without_a_kind_accepts_any_kind():
    class Bare(Object):
        spec: WidgetSpec = lazy(WidgetSpec)

    assert Bare.from_json(b'{"kind":"Other","metadata":{"name":"a"}}').to_dict()["kind"] == "Other"
    assert Bare(metadata=ObjectMeta(name="a")).to_dict() == {"metadata": {"name": "a"}}
    assert repr(Bare(metadata=ObjectMeta(name="a"))) == "<Bare a>"


def test_a_kind_inherits_the_parts_of_another():
    class More(Widget, gvk=GroupVersionKind("example.com", "v2", "More")):
        extra: str = lazy(str)

    obj = More.from_json(b'{"metadata":{"name":"a"},"extra":"x","spec":{"replicas":1}}')
    assert (obj.extra, obj.spec.replicas, obj.api_version, obj.kind) == ("x", 1, "example.com/v2", "More")
    assert "extra" not in Widget.lazy_fields


# --- copies and equality ---------------------------------------------------------------------------------------------

COPIES: list[Callable[[Any], Any]] = [
    lambda obj: obj.copy(),
    copy.copy,
    copy.deepcopy,
    lambda obj: pickle.loads(pickle.dumps(obj)),
    lambda obj: type(obj).from_json(obj.to_json()),
    lambda obj: type(obj).from_dict(obj.to_dict()),
]


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("touched", [(), ("spec",), ("metadata", "spec", "data")])
def test_a_copy_is_equal_and_independent_in_both_directions(copied: Callable[[Any], Any], touched: tuple[str, ...]):
    obj = of(spec={**SPEC, "later": {"x": 1}}, data={"k": "aGk="})
    for name in touched:
        getattr(obj, name)
    twin = copied(obj)
    assert type(twin) is Widget
    assert twin == obj
    before = obj.to_json()
    twin.metadata.labels["x"] = "y"
    twin.spec.parts[0].image = "changed"
    twin.data["k"] = b"changed"
    assert obj.to_json() == before
    assert obj.spec.parts[0].image == "x:1"
    assert obj.labels == {}
    obj.spec.parts.clear()
    obj.metadata.name = "other"
    assert twin.spec.parts[0].image == "changed"
    assert twin.name == "web"
    assert twin.to_dict()["spec"]["later"] == {"x": 1}
    assert twin != obj


def test_a_copy_carries_the_changes():
    obj = of(spec=SPEC)
    obj.spec.replicas = 9
    obj.metadata.annotations["a"] = "b"
    assert obj.copy() == obj
    assert obj.copy().spec.replicas == 9


def test_invalid_values_can_be_copied_but_not_sent():
    obj: Any = of(spec=SPEC)
    obj.spec.replicas = "three"
    obj.spec.selector = {"a": object}
    twin = obj.copy()
    assert twin.spec.replicas == "three"
    twin.spec.selector["b"] = 1
    assert obj.spec.selector == {"a": object}
    with pytest.raises(EncodeError, match="Widget default/web: spec"):
        twin.to_json()


@pytest.mark.parametrize("touched", [(), ("spec",), ("metadata", "status", "data", "note", "made_at", "rank")])
def test_equality_ignores_accesses_and_the_order_of_keys(touched: tuple[str, ...]):
    one = of(spec={"a": 1, "parts": [], "replicas": 1}, note="n")
    other = Widget.from_wire(widget(note="n", spec={"replicas": 1, "a": 1, "parts": []}).replace(b":1", b": 1"))
    for name in touched:
        getattr(one, name)
    assert one == other
    other.spec.replicas = 2
    assert one != other


def test_objects_of_different_kinds_or_contents_are_not_equal():
    assert of() != of(note="n")
    assert of(note="n") != of()
    assert of() != Unstructured.from_wire(widget())
    assert of() != widget()
    assert of(spec=SPEC) != of(spec={**SPEC, "later": 1})


def test_hashing_an_object_raises_with_the_reason():
    with pytest.raises(TypeError, match="Widget is mutable and not hashable; use its key or uid"):
        hash(of())


# --- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("spec", {"parts": [{"name": "a"}, {"image": 5}]}, "spec.parts[1].image: expected str | null, got int"),
        ("spec", {"selector": {"a": "b", "app.io/x": 5, "c": "d"}}, "spec.selector[app.io/x]: expected str, got int"),
        (
            "spec",
            {"byName": {"a": {}, "b": {"ports": [{"target": []}]}}},
            "spec.byName[b].ports[0].target: expected int",
        ),
        ("spec", {"byName": {"a": {"limits": {"cpu": "1", "mem": True}}}}, "spec.byName[a].limits[mem]: expected str"),
        ("spec", {"since": "yesterday"}, "spec.since: invalid RFC3339 encoded datetime"),
        ("spec", {"parts": {}}, "spec.parts: expected array, got object"),
        ("spec", [], "spec: expected object, got array"),
        ("spec", "x", "spec: expected object, got str"),
        ("spec", {"claims": [{"kind": "Other"}]}, "spec.claims[0]: Claim without a name: kind: expected 'Claim', got"),
        ("spec", {"claims": [5]}, "spec.claims[0]: Claim: expected a mapping, got int"),
        ("data", {"a": "aGk=", "b": "###"}, "data[b]: invalid base64 encoded string"),
        ("note", 5, "note: expected str | null, got int"),
        ("metadata", {"name": "web", "namespace": "default", "labels": {"a": 5}}, "metadata.labels[a]: expected str"),
        ("metadata", {"name": "web", "namespace": "default", "finalizers": 5}, "metadata.finalizers: expected array"),
    ],
)
def test_an_undecodable_field_is_named_and_does_not_affect_others(part: str, value: Any, message: str):
    raw = widget(**{"status": {"ready": 1}, part: value})
    obj, other = Widget.from_wire(raw), Widget.from_wire(raw)
    for _ in range(2):
        with pytest.raises(DecodeError) as caught:
            getattr(obj, part)
        assert str(caught.value).startswith(f"Widget default/web: {message}")
    assert obj.status.ready == 1
    assert repr(obj).startswith("<Widget default/web")
    assert obj == other
    assert obj.to_json() == raw
    assert obj.copy().to_json() == raw
    assert copy.deepcopy(obj) == pickle.loads(pickle.dumps(obj)) == obj
    obj.status.ready = 2
    assert json.loads(obj.to_json()) == {**json.loads(raw), "status": {"ready": 2}}
    assert obj != other


UNREADABLE_PARTS = {
    b'{"anything":"\xff"}': "it is not UTF-8",
    b'{"\xff":1,"replicas":1,"selector":{"a":"\xff"}}': "it is not UTF-8",
    b'{"anything":1e400}': "number out of range",
    b'{"anything":%s}' % (b"9" * 5000): "integer value out of range",
}


@pytest.mark.parametrize(("part", "reason"), UNREADABLE_PARTS.items())
def test_json_that_python_cannot_represent_is_an_error_of_its_field_only(part: bytes, reason: str):
    raw = widget(spec=0, status={"ready": 1}).replace(b'"spec":0', b'"spec":%s' % part)
    obj, other = Widget.from_wire(raw), Widget.from_wire(raw)
    with pytest.raises(DecodeError, match=f"Widget default/web: spec.*{reason}"):
        _ = obj.spec
    assert obj.status.ready == 1
    assert obj == other
    obj.status.ready = 2
    assert obj != other
    assert b'"spec":%s' % part in obj.to_json()
    assert obj.copy() == obj
    with pytest.raises(DecodeError, match="Widget default/web: "):
        obj.to_dict()


def test_unread_fields_may_have_any_value_and_survive():
    raw = widget(spec=0).replace(b'"spec":0', b'"spec":{"later":["\xff",1e400],"replicas":1}')
    obj = Widget.from_wire(raw)
    assert obj.spec.replicas == 1
    assert obj.to_json() == raw
    obj.spec.replicas = 2
    assert obj.to_json() == raw.replace(b'"replicas":1', b'"replicas":2')


def test_an_undecodable_field_can_be_replaced():
    obj = of(spec={"replicas": "three", "later": 1})
    obj.spec = WidgetSpec(replicas=3)
    assert obj.to_dict()["spec"] == {"replicas": 3, "parts": [], "main": {"name": ""}}


def test_an_invalid_field_of_one_object_does_not_affect_others():
    good, bad = of(spec=SPEC), of(spec=5)
    with pytest.raises(DecodeError):
        _ = bad.spec
    assert good.spec.replicas == 3


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        {},
        {"name": None, "labels": None},
        {"name": "a", "uid": 5},
        {"name": "a", "labels": {"x": "y", "bad": 5}},
        {"name": "a", "labels": []},
        {"name": 5},
        5,
        "x",
    ],
)
def test_an_object_with_invalid_metadata_does_not_end_its_stream(metadata: Any):
    raw = widget(metadata=metadata, spec=SPEC)
    obj = Widget.from_wire(raw)
    known = metadata if isinstance(metadata, dict) else {}
    assert obj.name == (known.get("name") if isinstance(known.get("name"), str) else "")
    assert obj.labels == ({"x": "y"} if isinstance(known.get("labels"), dict) else {})
    assert obj.spec.replicas == 3
    assert obj.to_json() == raw
    repr(obj)


def test_an_object_without_metadata_has_empty_metadata():
    obj = Widget.from_wire(b'{"apiVersion":"example.com/v1","kind":"Widget"}')
    assert obj.metadata == ObjectMeta()
    assert obj.to_json() == b'{"apiVersion":"example.com/v1","kind":"Widget"}'


DOCUMENTS: dict[str | bytes, str] = {
    b"": "truncated",
    b'{"metadata":': "truncated",
    widget()[:-1]: "truncated",
    b"[]": "expected object, got array",
    b"5": "expected object, got int",
    b'"x"': "expected object, got str",
    b"null": "expected object, got null",
    b"{} {}": "trailing characters",
    b"\xef\xbb\xbf{}": "malformed",
    b"\xff": "malformed",
    "{'a': 1}": "malformed",
    b'{"a":NaN}': "malformed",
    b'{"a":01}': "malformed",
    b'{"a":"\x01"}': "malformed",
    b'{"a":' + b"[" * 100_000: "nested too deeply",
    b'{"metadata":{"name":"a"},"x":"\\ud800"}': "surrogate",
    b'{"metadata":{"name":"a"},"x":"\\ud800 and more"}': "surrogate",
    b'{"metadata":{"name":"a"},"x":"\\udc00 and more"}': "surrogate",
    '{"metadata":{"name":"\ud800"}}': "surrogate",
    b'{"a":1,"a":2}': "duplicate key 'a'",
    b'{"metadata":{"name":"a"},"x":[{"\\u0062":1,"c":{},"b":2}]}': "Widget a: duplicate key 'b'",
    b'{"x":{"a" : "\\u0022:", "a" : 1}}': "duplicate key 'a'",
    b'{"x":1e400,"y":{"a":1,"a":2}}': "duplicate key 'a'",
    b'{"a":1,"a":2,"x":"\\u0022:"}': "duplicate key 'a'",
    b'{"a":1,"a":2,"x":"\\"\\u003a"}': "duplicate key 'a'",
    compact({str(n): 1 for n in range(50_000)})[:-1] + b',"49999":2}': "duplicate key '49999'",
    b'{"kind":"Other"}': "kind: expected 'Widget', got 'Other'",
    b'{"kind":5}': "kind: expected 'Widget', got '5'",
    b'{"apiVersion":"v1","metadata":{"name":"a"}}': "Widget a: apiVersion: expected 'example.com/v1', got 'v1'",
}


@pytest.mark.parametrize(("document", "reason"), DOCUMENTS.items(), ids=range(len(DOCUMENTS)))
def test_an_invalid_document_is_rejected_with_the_reason(document: bytes | str, reason: str):
    with pytest.raises(DecodeError, match=reason):
        Widget.from_json(document)


@pytest.mark.parametrize(
    "document", [b'{"x":"\\":"}', b'{"x":"\\u0022:"}', b'{"a" :1, "b": "x\\\\", "c":{"a":1}}', b'{"\\":":1}']
)
def test_a_document_with_different_keys_is_not_reported_as_having_duplicates(document: bytes):
    assert Widget.from_json(document).to_dict().items() >= json.loads(document).items()


def test_a_kind_that_looks_like_a_path_does_not_change_the_reported_path():
    claims = [{}, {"kind": "x - at `$.nowhere[...]`"}]
    with pytest.raises(DecodeError) as caught:
        _ = of(spec={"claims": claims}).spec
    assert caught.value.field == "spec.claims[1]"


@pytest.mark.parametrize("document", [5, None, {}, 1.5])
def test_a_document_that_is_not_text_is_a_type_error(document: Any):
    with pytest.raises(TypeError):
        Widget.from_json(document)


class Strange:
    pass


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        (5, "Widget: expected a mapping, got int"),
        (None, "Widget: expected a mapping, got NoneType"),
        ([], "Widget: expected a mapping, got list"),
        ({"a": float("nan")}, "Widget: a: JSON cannot represent nan"),
        ({"a": [{"b": float("-inf")}]}, r"Widget: a\[0\].b: JSON cannot represent -inf"),
        ({"a": {"b": datetime(2026, 1, 2)}}, "Widget: a.b: a time needs a time zone"),  # noqa: DTZ001  # that is the mistake
        ({"a": Strange()}, "Widget: a Strange cannot be part of an API object"),
        ({"a": "\ud800"}, "Widget: .*lone surrogate"),
        ({"\ud800": 1}, "Widget: .*lone surrogate"),
        ({True: 1}, "Widget: "),
        ({None: 1}, "Widget: "),
        ({"a": 10**5000}, "Widget: "),
    ],
)
def test_a_value_without_a_json_form_is_rejected_with_its_path(tree: Any, reason: str):
    with pytest.raises(ListWatchError, match=reason):
        Widget.from_dict(tree)


def test_a_mapping_that_is_too_deep_or_contains_itself_is_rejected():
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    ring: dict[str, Any] = {}
    ring["a"] = ring
    for tree in (deep, ring):
        with pytest.raises(EncodeError, match="nested too deeply"):
            Widget.from_dict(tree)


ACTS: list[Callable[[Any], Any]] = [
    lambda obj: obj.spec if isinstance(obj, Widget) else obj["spec"],
    lambda obj: obj.metadata.labels.update(a="b"),
    lambda obj: obj.copy(),
    lambda obj: obj.to_json(),
    lambda obj: obj.to_dict(),
    lambda obj: obj.to_yaml(),
    lambda obj: obj == obj.copy(),
    repr,
]


@pytest.mark.parametrize("kind", [Widget, Unstructured])
@pytest.mark.parametrize("depth", [200, 400, 600, 900, 990])
def test_an_object_of_any_depth_is_handled_or_rejected(depth: int, kind: type[Object]):
    raw = widget(spec=0).replace(b'"spec":0', b'"spec":{"anything":%s}' % (b"[" * depth + b"]" * depth))
    failures = [failure(kind.from_wire, raw), failure(kind.from_json, raw)]
    for start in range(len(ACTS)) if failures[0] is None else ():
        obj = kind.from_wire(raw)
        failures += [failure(act, obj) for act in (*ACTS[start:], *ACTS[:start])]
    assert all("nested too deeply" in str(each) for each in failures if each)


def test_numbers_of_any_length_are_kept():
    number = 10**400 + 1
    obj = of(spec={"anything": number})
    assert obj.spec.anything == number
    obj.spec.replicas = 1
    assert obj.to_dict()["spec"]["anything"] == number


SETTINGS: list[tuple[Callable[[Widget], None], str]] = [
    (lambda obj: obj.metadata.labels.update(a=5), "metadata.labels[a]: expected str, got int"),
    (lambda obj: obj.spec.parts.append(5), "spec.parts[1]: expected object, got int"),
    (lambda obj: obj.spec.parts[0].limits.update(cpu=[1]), "spec.parts[0].limits[cpu]: expected str, got array"),
    (
        lambda obj: setattr(obj.spec, "anything", {"x": [float("nan")]}),
        "spec.anything.x[0]: JSON cannot represent nan",
    ),
    (lambda obj: setattr(obj.spec, "anything", Strange()), "spec: a Strange cannot be part of an API object"),
    (lambda obj: setattr(obj.spec, "since", datetime(2026, 1, 2)), "spec.since: a time needs a time zone"),  # noqa: DTZ001  # the mistake
    (lambda obj: setattr(obj, "made_at", datetime(2026, 1, 2)), "madeAt: a time needs a time zone"),  # noqa: DTZ001  # the mistake
    (lambda obj: setattr(obj, "spec", 5), "spec: expected object, got int"),
    (lambda obj: setattr(obj.spec.parts[0], "name", "\ud800"), "surrogate"),
]


@pytest.mark.parametrize(("change", "reason"), SETTINGS)
def test_a_value_of_the_wrong_type_is_rejected_when_it_is_sent(change: Callable[[Any], None], reason: str):
    obj = of(spec=SPEC)
    change(obj)
    for send in (obj.to_json, obj.to_dict, obj.to_yaml):
        with pytest.raises(EncodeError) as caught:
            send()
        assert str(caught.value).startswith("Widget default/web: ")
        assert reason in str(caught.value)
    repr(obj)


@given(JSON | MAPS)
def test_any_json_is_an_object_or_one_of_our_errors(thing: Any):
    for kind in (Widget, Unstructured):
        for tree in (thing, {"spec": thing, "metadata": thing}, {"metadata": {"name": "a", "labels": thing}}):
            if failure(kind.from_json, compact(tree)) or failure(kind.from_dict, tree):
                continue
            obj = kind.from_json(compact(tree))
            assert obj == kind.from_dict(tree) == obj.copy() == kind.from_json(obj.to_json())
            for name in Widget.lazy_fields:
                error = failure(getattr, obj, name, None)
                assert error is None or error.object_name == obj.describe()  # type: ignore[attr-defined]  # a DecodeError


@given(st.binary(max_size=60) | TEXTS.map(str.encode))
def test_any_bytes_are_an_object_or_one_of_our_errors(text: bytes):
    for kind in (Widget, Unstructured):
        for raw in (text, b'{"metadata":%s}' % text, b'{"%s":1}' % text, b'{"spec":"%s"}' % text):
            if not failure(kind.from_wire, raw):
                obj = kind.from_wire(raw)
                repr(obj)
                failure(obj.to_dict)
                failure(obj.copy)
                failure(getattr, obj, "metadata")
            failure(kind.from_json, raw)


# --- Work that is avoided ---------------------------------------------------------------------------------------------


@pytest.mark.skipif(not is_supported, reason="this interpreter does not track changed dicts again")
def test_an_unaccessed_object_has_no_tracked_containers():
    obj = of(metadata={"name": "a"}, spec=SPEC)
    held = [each for each in gc.get_referents(obj) if gc.is_tracked(each) and not isinstance(each, type)]
    assert [each for each in held if each != {}] == []
    assert not gc.is_tracked(obj._head)
    assert isinstance(obj._raw, bytes)
    assert msgspec.json.decode(obj._raw)["spec"] == SPEC


def test_a_dict_for_metadata_is_rejected_with_advice():
    with pytest.raises(TypeError, match=r"must be an ObjectMeta; use Widget.from_dict\(\) to read a manifest"):
        Widget(metadata={"name": "x"})


@pytest.mark.parametrize("metadata", [{"name": "a"}, None, "a"], ids=str)
@pytest.mark.parametrize("kind", [Widget, Unstructured])
def test_metadata_must_be_an_object_meta(kind: type[Object], metadata: Any):
    item = kind.from_dict({"metadata": {"name": "a"}})
    with pytest.raises(TypeError, match=f"{kind.__name__}.metadata must be an ObjectMeta"):
        item.metadata = metadata
    assert item.name == "a"


@pytest.mark.skipif(not is_supported, reason="this interpreter does not track changed dicts again")
def test_objects_of_a_server_are_untracked_and_freed_with_their_last_reference():
    came = Widget.from_wire(b'{"metadata":{"name":"a"},"spec":{"size":1}}')
    gone = weakref.ref(came)
    assert not gc.is_tracked(came)
    assert came.spec.size == "1"
    del came
    assert gone() is None


def test_objects_with_equal_labels_share_them_immutably():
    one, other = (Widget.from_wire(compact({"metadata": {"name": name, "labels": {"app": "web"}}})) for name in "ab")
    assert one.labels is other.labels
    with pytest.raises(TypeError):
        one.labels["app"] = "api"  # type: ignore[index]  # the mistake
    one.metadata.labels["app"] = "api"
    assert (one.labels["app"], other.labels["app"]) == ("api", "web")


def test_a_label_that_is_not_text_is_skipped_until_the_metadata_is_read():
    item = Widget.from_wire(compact({"metadata": {"name": "a", "labels": {"app": "web", "size": 3}}}))
    assert dict(item.labels) == {"app": "web"}
    with pytest.raises(DecodeError):
        _ = item.metadata


def test_a_copy_has_an_independent_head():
    item = Widget.from_wire(compact({"metadata": {"name": "a"}}))
    _ = item.metadata
    twin = item.copy()
    twin.metadata.name = "b"
    assert (item.name, twin.name) == ("a", "b")

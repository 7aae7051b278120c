"""Objects that cannot be decoded as a whole: they hide no others, and raise only on access."""

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from tests.objects.widgets import Widget, compact, failure, widget

from listwatch.cache.field_values import field_text
from listwatch.errors import DecodeError
from listwatch.models.apps_v1 import ControllerRevision
from listwatch.objects.caching.transforms import keep_fields, strip_managed_fields
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList
from listwatch.objects.partial_object import PartialObjectMetadata
from listwatch.objects.unstructured import Unstructured

KINDS = [Widget, Unstructured, PartialObjectMetadata]


TOO_DEEP = 50_000
"""Levels that no supported interpreter decodes, also after mypy has raised the recursion limit of the process."""


def deep(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


# Values that msgspec refuses, of which json reads some.
ODD_VALUES = {
    "deep objects": deep(TOO_DEEP),
    "deep arrays": b"[" * TOO_DEEP + b"]" * TOO_DEEP,
    "lone surrogate": b'{"anything":"\\ud800"}',
    "lone low surrogate": b'{"anything":"\\udc00 x"}',
    "not UTF-8": b'{"anything":"\xff"}',
    "key not UTF-8": b'{"\xff":1,"selector":{"\xff":"a"}}',
    "invalid number": b'{"replicas":01}',
    "number out of range": b'{"anything":1e400}',
    "NaN": b'{"anything":NaN}',
    "invalid escape": b'{"anything":"\\x"}',
    "control character": b'{"anything":"\x01"}',
}
ALL_VALUES = pytest.mark.parametrize("value", ODD_VALUES.values(), ids=ODD_VALUES)
ALL_KINDS = pytest.mark.parametrize("kind", KINDS)


def odd(value: bytes, *, name: str = "odd", more: str = "x") -> bytes:
    """A widget whose spec has this value. Its managedFields are as deep as its spec, as on a server."""
    metadata = {"name": name, "namespace": "n", "uid": "u", "resourceVersion": "5", "labels": {"app": "web"}}
    raw = widget(metadata={**metadata, "annotations": {"more": more}}, spec=0, status={"ready": 1})
    managed = b'"managedFields":[{"manager":"m","fieldsV1":%b}],"name":' % (
        value if value.startswith(b'{"a":{') else b"{}"
    )
    return raw.replace(b'"spec":0', b'"spec":%b' % value).replace(b'"name":', managed, 1)


def page(*items: bytes, between: bytes = b",") -> bytes:
    head = b'{"kind":"WidgetList","apiVersion":"example.com/v1","metadata":{"resourceVersion":"9"},"items":['
    return head + between.join(items) + b"]}"


def read(body: bytes, kind: type[Object], size: int = 50_000) -> ObjectList[Any]:
    reading = ObjectList[Any].reading([body[start : start + size] for start in range(0, len(body), size)], kind)
    while True:
        try:
            next(reading)
        except StopIteration as done:
            found: ObjectList[Any] = done.value
            return found


def both(body: bytes, kind: type[Object]) -> list[ObjectList[Any]]:
    """The same list, read at once and in slices."""
    return [ObjectList[Any].from_json(body, kind), read(body, kind)]


# --- lists ------------------------------------------------------------------------------------------------------------


@ALL_KINDS
@ALL_VALUES
def test_an_odd_object_hides_no_other_in_its_list(value: bytes, kind: type[Object]):
    for listed in both(page(widget(), odd(value), widget(spec={"replicas": 2})), kind):
        assert [each.name for each in listed] == ["web", "odd", "web"]
        assert listed.broken == ()
        assert listed.resource_version == "9"
        assert listed[0].to_dict()["metadata"]["name"] == "web"
        assert (listed[1].namespace, listed[1].uid, listed[1].resource_version) == ("n", "u", "5")
        assert listed[1].labels == {"app": "web"}
        assert listed[1].cache_key == "n/odd"


@ALL_VALUES
@pytest.mark.parametrize("place", [0, 1, 150, 299])
def test_an_odd_object_hides_no_other_in_a_long_list(value: bytes, place: int):
    items = [widget(metadata={"name": f"w-{number}"}, note="x" * 10_000) for number in range(300)]
    items[place] = odd(value)
    listed = read(page(*items), Widget)
    assert [each.name for each in listed] == ["odd" if number == place else f"w-{number}" for number in range(300)]
    assert listed.broken == ()


@ALL_VALUES
def test_an_odd_object_hides_no_other_in_a_pretty_list(value: bytes):
    pretty = json.dumps(json.loads(page(widget(), widget())), indent=2).encode()
    body = pretty.replace(b'"name": "web"', b'"name": "odd", "x": %b' % value, 1)
    for listed in both(body, Widget):
        assert [each.name for each in listed] == ["odd", "web"]
        assert listed[1].to_json() == widget()


NO_HEADS = {
    b"5": "Widget: expected object, got int",
    b"null": "Widget: expected object, got null",
    b"NaN": "Widget: JSON is malformed",
    b'"\\ud800"': "Widget: .*",
    deep(TOO_DEEP): "Widget without a name: .*nested too deeply",
    b'{"metadata":5,"spec":%b}' % deep(TOO_DEEP): "Widget without a name: metadata: .*nested too deeply",
    b'{"metadata":01}': "Widget without a name: metadata: ",
    b'{"metadata":{"uid":"u"},"spec":"\\ud800"}': "Widget without a name: .*lone surrogate",
    b'{"metadata":{"namespace":"n","name":"we\xffb"}}': "Widget n/we\ufffdb: metadata.name: it is not UTF-8",
    b'{"metadata":{"namespace":"n","name":"we\\ud800b"}}': r"Widget n/we\\ud800b: metadata.name: .*surrogate",
    b'{"metadata":{"namespace":"\xff","name":"web"}}': "Widget \ufffd/web: metadata.namespace: it is not UTF-8",
    b'{"metadata":{"namespace":5,"name":"web"}}': "Widget web: metadata.namespace: expected str",
}


@pytest.mark.parametrize(("item", "reason"), NO_HEADS.items(), ids=range(len(NO_HEADS)))
def test_an_object_with_an_undecodable_key_is_reported_with_the_readable_part(item: bytes, reason: str):
    for listed in both(page(widget(), item, widget(note="n")), Widget):
        assert [each.note for each in listed] == [None, "n"]
        [error] = listed.broken
        assert error.field == "items[1]"
        with pytest.raises(DecodeError, match=rf"WidgetList: items\[1\]: {reason}"):
            raise error


def test_other_fields_of_a_list_may_be_odd():
    body = b'{"x":%b,"\\ud800":1,"metadata":{"y":%b,"continue":"c"},"items":[{}],"z":"\xff"}' % (
        deep(TOO_DEEP),
        deep(TOO_DEEP),
    )
    for listed in both(body, Widget):
        assert (len(listed), listed.continue_token) == (1, "c")


@pytest.mark.parametrize("kind", [Widget, Unstructured])
def test_a_list_in_a_string_may_contain_lone_surrogates(kind: type[Object]):
    listed = ObjectList[Any].from_json(
        '{"items":[{"metadata":{"name":"a"},"x":"\ud800"},{"metadata":{"name":"b"}}]}', kind
    )
    assert [each.name for each in listed] == ["a", "b"]
    with pytest.raises(DecodeError, match=r"a: it is not UTF-8"):
        listed[0].to_dict()


# --- one object -------------------------------------------------------------------------------------------------------


@ALL_VALUES
def test_only_the_damaged_part_raises(value: bytes):
    obj = Widget.from_wire(odd(value))
    for _ in range(2):
        if value != ODD_VALUES["key not UTF-8"]:
            with pytest.raises(DecodeError, match="Widget n/odd: spec"):
                _ = obj.spec
        assert obj.status.ready == 1
        assert obj.metadata.annotations == {"more": "x"}
        assert obj.metadata.managed_fields[0].manager == "m"
        assert (obj.name, obj.kind) == ("odd", "Widget")
    with pytest.raises(DecodeError, match="Widget n/odd: "):
        obj.to_dict()


@ALL_VALUES
def test_only_the_damaged_field_of_a_mapping_raises(value: bytes):
    obj = Unstructured.from_wire(odd(value))
    assert obj["status"] == {"ready": 1}
    assert (obj.kind, obj.api_version, "spec" in obj, len(obj)) == ("Widget", "example.com/v1", True, 5)
    with pytest.raises(DecodeError, match="Widget n/odd: spec"):
        _ = obj["spec"]
    assert obj["status"] == {"ready": 1}


@pytest.mark.parametrize("more", ["x", "x" * 2000])
@ALL_KINDS
@ALL_VALUES
def test_an_odd_object_is_encoded_as_received(value: bytes, kind: type[Object], more: str):
    raw = odd(value, more=more)
    obj = kind.from_wire(raw)
    sent = obj.to_json()
    if kind is not PartialObjectMetadata:
        assert sent == raw
        assert failure(obj.to_dict)
        assert value in sent
    assert obj.copy().to_json() == copy.deepcopy(obj).to_json() == sent
    assert pickle.loads(pickle.dumps(obj)).to_json() == sent
    assert obj == kind.from_wire(raw) == obj.copy()
    assert obj != kind.from_wire(widget())


@ALL_VALUES
def test_a_change_is_sent_with_the_rest_as_received(value: bytes):
    obj = Widget.from_wire(odd(value))
    obj.status.ready = 2
    obj.metadata.labels["app"] = "api"
    sent = obj.to_json()
    assert b'"spec":%b' % value in sent
    again = Widget.from_wire(sent)
    assert (again.status.ready, again.labels, again.metadata.annotations) == (2, {"app": "api"}, {"more": "x"})
    assert again.metadata.managed_fields[0].fields_v1 == obj.metadata.managed_fields[0].fields_v1


@ALL_VALUES
def test_a_damaged_part_can_be_replaced(value: bytes):
    obj = Unstructured.from_wire(odd(value))
    obj["spec"] = {"replicas": 1}
    again = Unstructured.from_wire(obj.to_json())
    assert again["spec"] == {"replicas": 1}
    assert again["status"] == {"ready": 1}


SHORT_ODD_VALUES = [value for value in ODD_VALUES.values() if len(value) < TOO_DEEP]

ACTS: list[Callable[[Any], Any]] = [
    lambda obj: obj.to_dict(),
    lambda obj: obj.to_yaml(),
    lambda obj: obj.to_json(),
    lambda obj: obj.copy(),
    lambda obj: obj == obj.copy(),
    lambda obj: obj.peek("spec"),
    lambda obj: obj.parts,
    lambda obj: obj.metadata,
    lambda obj: obj["metadata"] if isinstance(obj, Unstructured) else None,
    lambda obj: obj["spec"] if isinstance(obj, Unstructured) else getattr(obj, "spec", None),
    lambda obj: obj.metadata.managed_fields[0].fields,
    lambda obj: obj.without_managed_fields(),
    lambda obj: pickle.loads(pickle.dumps(obj)),
    lambda obj: field_text(obj, "metadata.uid"),
    lambda obj: type(obj).from_json(obj.to_json()),
    lambda obj: ObjectList([obj]).to_json(),
    lambda obj: ObjectList([obj]).to_dict(),
    keep_fields("status"),
    strip_managed_fields,
    repr,
]


@ALL_KINDS
@pytest.mark.parametrize(
    "value", [*SHORT_ODD_VALUES, *map(deep, (100, 400, 985, 995, 5_000))], ids=lambda value: len(value)
)
def test_whatever_is_done_with_an_odd_object_fails_with_our_error(value: bytes, kind: type[Object]):
    for start in range(0, len(ACTS), 5):
        obj = kind.from_wire(odd(value))
        for act in (*ACTS[start:], *ACTS[:start]):
            error = failure(act, obj)
            assert error is None or any(each in str(error) for each in ("odd", "managedFields of m", "YAML"))


def test_managed_fields_are_removed_from_a_deep_object():
    obj = Widget.from_wire(odd(deep(TOO_DEEP))).without_managed_fields()
    assert b"managedFields" not in obj.to_json()
    assert json.loads(obj.to_json().replace(deep(TOO_DEEP), b"1")) == {
        **json.loads(odd(b"1").replace(b'"managedFields":[{"manager":"m","fieldsV1":{}}],', b"")),
        "spec": 1,
    }
    assert obj.metadata.managed_fields == []
    assert obj.name == "odd"


def test_the_managed_fields_of_a_deep_object_fail_when_they_are_read():
    [entry] = Widget.from_wire(odd(deep(TOO_DEEP))).metadata.managed_fields
    with pytest.raises(DecodeError, match="managedFields of m: fieldsV1: it is nested too deeply"):
        _ = entry.fields


def test_a_field_beside_a_damaged_one_can_be_selected():
    raw = widget(metadata={"name": "odd"}, spec=0).replace(
        b'"spec":0', b'"spec":{"x":%b,"replicas":3}' % deep(TOO_DEEP)
    )
    assert field_text(Widget.from_wire(raw), "spec.replicas") == "3"
    assert field_text(Unstructured.from_wire(raw), "spec.replicas") == "3"
    assert field_text(Unstructured.from_wire(raw), "spec.x") == ""


def test_labels_beside_a_damaged_one_can_be_selected():
    obj = Widget.from_wire(b'{"metadata":{"name":"a","labels":{"x":"\\ud800","app":"web","\\ud800":"y"}}}')
    assert dict(obj.labels) == {"app": "web"}
    with pytest.raises(
        DecodeError, match=r"Widget a: metadata.labels.*lone surrogate|Widget a: metadata: .*lone surrogate"
    ):
        _ = obj.metadata


def test_the_metadata_of_a_deep_object_is_reduced_to_that():
    obj = PartialObjectMetadata.from_wire(odd(deep(100_000)).replace(b"managedFields", b"more"))
    assert b'"spec"' not in obj.to_json()
    assert obj.labels == {"app": "web"}


def test_a_revision_with_a_lone_surrogate_fails_only_when_its_data_is_read():
    raw = compact({"metadata": {"name": "r", "namespace": "n"}, "data": 0, "revision": 3})
    obj = ControllerRevision.from_wire(raw.replace(b'"data":0', b'"data":{"a":"\\ud800"}'))
    assert (obj.name, obj.revision) == ("r", 3)
    with pytest.raises(DecodeError, match=r"ControllerRevision n/r: data: .*lone surrogate"):
        _ = obj.data


@pytest.mark.parametrize(
    "document", [odd(value) for name, value in ODD_VALUES.items() if "UTF" not in name and "range" not in name]
)
def test_an_odd_document_is_rejected(document: bytes):
    for kind in (Widget, Unstructured):
        with pytest.raises(DecodeError, match="n/odd: "):
            kind.from_json(document)

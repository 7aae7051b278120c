"""A page of objects."""

import json
from typing import Any

import pytest
from tests.objects.widgets import Claim, Widget, WidgetList, compact, widget

from listwatch.errors import DecodeError, EncodeError
from listwatch.meta import GroupVersionKind, Resource
from listwatch.objects.metadata import ListMeta, ObjectMeta
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList
from listwatch.objects.unstructured import Unstructured


def page(*items: Any, **more: Any) -> bytes:
    head = {"kind": "WidgetList", "apiVersion": "example.com/v1", "metadata": {"resourceVersion": "9", "continue": "c"}}
    return compact({**head, **more, "items": list(items)})


def test_a_page_is_a_sequence_of_objects_with_a_continue_token():
    listed = WidgetList.from_json(page({"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}))
    assert [obj.name for obj in listed] == ["a", "b"]
    assert (len(listed), listed[1].name, [obj.name for obj in listed[:1]]) == (2, "b", ["a"])
    assert all(type(obj) is Widget for obj in listed)
    assert (listed.resource_version, listed.continue_token, listed.remaining) == ("9", "c", None)
    assert (listed.kind, listed.api_version) == ("WidgetList", "example.com/v1")
    assert repr(listed) == "<WidgetList of 2 @9>"
    assert listed
    assert not WidgetList()


def test_objects_are_copied_out_of_the_page():
    body = page({"metadata": {"name": "a"}, "note": "x" * 100})
    [obj] = WidgetList.from_json(body)
    assert type(obj._raw) is bytes
    assert len(obj._raw) < len(body)


def test_an_element_that_is_not_an_object_is_reported_and_the_others_are_kept():
    listed = WidgetList.from_json(
        page({"metadata": {"name": "a"}}, 5, [], {"metadata": {"name": "b"}, "spec": 5}, None)
    )
    assert [obj.name for obj in listed] == ["a", "b"]
    assert [str(error) for error in listed.broken] == [
        "WidgetList: items[1]: Widget: expected object, got int",
        "WidgetList: items[2]: Widget: expected object, got array",
        "WidgetList: items[4]: Widget: expected object, got null",
    ]
    with pytest.raises(DecodeError, match="Widget b: spec"):
        _ = listed[1].spec


def test_a_page_can_be_read_as_any_kind():
    body = page({"metadata": {"name": "a"}})
    assert type(ObjectList.from_json(body, Widget)[0]) is Widget
    assert type(ObjectList.from_json(body)[0]) is Unstructured
    assert ObjectList.from_json(body, Widget).kind == ObjectList.from_json(body).kind == "WidgetList"
    assert ObjectList.from_json(b'{"items":[]}', Widget).kind == "WidgetList"
    assert ObjectList.from_json(b'{"items":[]}').kind == "List"


def test_objects_without_a_model_get_their_kind_from_their_list():
    body = page({"metadata": {"name": "a"}, "x": 1}, {"kind": "Own", "apiVersion": "v7", "metadata": {"name": "b"}}, {})
    first, second, third = ObjectList[Unstructured].from_json(body)
    assert first == Unstructured.from_wire(compact({"kind": "Widget", "apiVersion": "example.com/v1", **first}))
    assert (first.kind, first.api_version, first["x"]) == ("Widget", "example.com/v1", 1)
    assert (second.kind, second.api_version, third.kind) == ("Own", "v7", "object")
    [late] = ObjectList[Unstructured].from_json(page({"metadata": {"name": "c"}, "kind": "Own", "apiVersion": "v7"}))
    assert (late.kind, late.api_version) == ("Own", "v7")
    [anything] = ObjectList[Unstructured].from_json(page({"metadata": {"name": "a"}}, kind="List", apiVersion="v1"))
    assert anything.kind == "object"


def test_an_unchanged_list_is_encoded_as_received():
    body = page(json.loads(widget()), json.loads(widget(note="n")))
    listed = WidgetList.from_json(body)
    assert json.loads(listed.to_json()) == json.loads(body)
    assert listed.to_dict() == json.loads(body)
    listed[0].metadata.labels["x"] = "y"
    assert listed.to_dict()["items"][0]["metadata"]["labels"] == {"x": "y"}
    assert widget(note="n") in listed.to_json()


def test_a_list_can_be_created_from_objects():
    listed = WidgetList([Widget(metadata=ObjectMeta(name="a"))], metadata=ListMeta(resource_version="5"))
    listed.items.append(Widget(metadata=ObjectMeta(name="b")))
    assert WidgetList.from_json(listed.to_json()) == listed
    assert WidgetList.from_dict(listed.to_dict()) == listed
    assert listed.to_dict()["kind"] == "WidgetList"
    assert ObjectList([Claim()]).to_dict()["kind"] == "List"


def test_a_kind_may_have_another_name_for_its_lists():
    class Goose(Object, resource=Resource("example.com", "v1", "Goose", "geese", list_kind="Geese")):
        pass

    assert ObjectList.from_json(b'{"items":[]}', Goose).kind == "Geese"
    assert GroupVersionKind("example.com", "v1", "Goose") == Goose.gvk


def test_lists_are_equal_if_their_contents_are():
    body = page({"metadata": {"name": "a"}})
    assert WidgetList.from_json(body) == WidgetList.from_json(body)
    assert WidgetList.from_json(body) != WidgetList.from_json(page({"metadata": {"name": "b"}}))
    assert WidgetList.from_json(body) != 5
    with pytest.raises(TypeError, match="unhashable"):
        hash(WidgetList())


@pytest.mark.parametrize(
    ("tree", "reason"), [({"items": [float("nan")]}, r"items\[0\]"), ({"items": object()}, "cannot be part of")]
)
def test_a_mapping_that_is_not_json_is_rejected(tree: Any, reason: str):
    with pytest.raises(EncodeError, match=reason):
        WidgetList.from_dict(tree)

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.errors import DecodeError
from listwatch.models.core_v1 import Pod
from listwatch.objects.head import cut_managed_fields
from listwatch.objects.unstructured import Unstructured

MANAGED = [{"manager": "x", "fieldsV1": {"f:spec": {'k:{"type":"]}"}': {".": {}}}}}]
POD = Pod.from_dict(
    {
        "metadata": {"name": "a", "labels": {"app": "web"}, "managedFields": MANAGED},
        "spec": {"nodeName": "n1"},
        "status": {"phase": "Running"},
    }
)


@pytest.mark.parametrize(
    "metadata",
    [
        {"managedFields": MANAGED},
        {"managedFields": MANAGED, "name": "a"},
        {"labels": {}, "managedFields": MANAGED, "name": "a"},
        {"name": "a", "managedFields": MANAGED},
        {"name": "a", "managedFields": []},
        {"name": "a", "managedFields": None},
    ],
)
@pytest.mark.parametrize("rest", [{}, {"spec": {"template": {"metadata": {"managedFields": MANAGED}}}}])
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (", ", ":"), (" ,", ":"), (" , ", ":"), (",", " :")])
def test_managed_fields_are_cut_out_at_any_position_and_nothing_else_is(metadata, rest, separators):
    kept = {name: value for name, value in metadata.items() if name != "managedFields"}
    for before, behind in ((rest, {}), ({}, rest)):
        raw = json.dumps({**before, "metadata": metadata, **behind}, separators=separators).encode()
        assert list(json.loads(cut_managed_fields(raw)).items()) == [
            *before.items(),
            ("metadata", kept),
            *behind.items(),
        ]


BLANKS = st.text(" \t\r\n", max_size=2)


@given(st.data(), st.permutations([("name", "a"), ("managedFields", []), ("uid", "b")]), st.integers(0, 3))
def test_managed_fields_are_cut_out_with_any_white_space(data: st.DataObject, pairs: list[tuple[str, Any]], count: int):
    def spread(text: str) -> str:
        return data.draw(BLANKS) + text + data.draw(BLANKS)

    written = ",".join(spread(f'"{name}":{spread(json.dumps(value))}') for name, value in pairs[:count])
    raw = f'{{"metadata":{{{written}}},"spec":{{}}}}'.encode()
    expected = {name: value for name, value in pairs[:count] if name != "managedFields"}
    assert json.loads(cut_managed_fields(raw)) == {"metadata": expected, "spec": {}}


@pytest.mark.parametrize("raw", [b"{}", b'{"metadata":null}', b'{"metadata":{"name":"a"},"spec":{"managedFields":[]}}'])
def test_bytes_without_managed_fields_are_unchanged(raw: bytes):
    assert cut_managed_fields(raw) is raw


def test_another_field_of_the_same_name_is_kept():
    raw = b'{"spec":{"managedFields":[1]},"metadata":{"name":"a","managedFields" :[1]}}'
    assert json.loads(cut_managed_fields(raw)) == {"spec": {"managedFields": [1]}, "metadata": {"name": "a"}}


def test_an_object_without_managed_fields_has_all_other_fields():
    item = POD.without_managed_fields()
    assert item.metadata.managed_fields == []
    assert (item.name, item.labels, item.spec.node_name, item.status.phase) == ("a", {"app": "web"}, "n1", "Running")
    assert b"managedFields" not in item.to_json()
    assert POD.metadata.managed_fields[0].manager == "x"


def test_an_object_that_has_no_managed_fields_is_returned_itself():
    item = Pod.from_dict({"metadata": {"name": "a"}})
    assert item.without_managed_fields() is item


def test_changes_are_kept_without_managed_fields():
    changed = POD.copy()
    changed.metadata.labels["app"] = "db"
    changed.spec.node_name = "n2"
    item = changed.without_managed_fields()
    assert (item.labels, item.spec.node_name, item.metadata.managed_fields) == ({"app": "db"}, "n2", [])
    assert changed.metadata.managed_fields != []
    assert b"managedFields" not in item.to_json()


def test_managed_fields_are_removed_from_objects_of_any_kind():
    found = Unstructured({"apiVersion": "example.com/v1", "kind": "Widget", "spec": {"size": 1}, "metadata": {}})
    found.metadata.name = "w"
    came = Unstructured.from_wire(found.to_json().replace(b'"name"', b'"managedFields":[{"manager":"x"}],"name"'))
    item = came.without_managed_fields()
    assert item == found
    assert item["spec"] == {"size": 1}


def test_the_original_bytes_are_freed():
    raw = POD.to_json()
    known = sys.getrefcount(raw)
    item = Pod.from_wire(raw).without_managed_fields()
    assert sys.getrefcount(raw) == known
    assert item.labels == {"app": "web"}


def test_invalid_managed_fields_are_kept_and_raise_on_access():
    head = b'"name":"a","namespace":"b","uid":"%s","resourceVersion":"1","labels":{}' % (b"c" * 80)  # as long as usual
    broken = Pod.from_wire(b'{"metadata":{%s,"managedFields":[{]}}%s' % (head, b" " * 1024))
    assert broken.without_managed_fields() is broken
    with pytest.raises(DecodeError):
        _ = broken.metadata

"""Lists that are cut in groups, because all at once would take long: what comes of them is the same."""

import json
import random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from listwatch.errors import DecodeError
from listwatch.objects.list_splitter import ListSplitter, WireList, split_list
from listwatch.objects.object_list import ObjectList

LOOKALIKE = {"metadata": {"name": "inside"}}
SIZES = [random.Random(number).randrange(2_000, 80_000) for number in range(150)]
# What looks like the place between two objects, in texts and for real.
NOTE = '},{"metadata": \\" },{\\"metadata\\": ] } é'


def item(number: int, size: int, templates: int) -> dict[str, Any]:
    return {
        "metadata": {"name": f"widget-{number}"},
        "templates": [LOOKALIKE] * templates,
        "note": (NOTE * (size // len(NOTE) + 1))[:size],
        "more": [LOOKALIKE] * templates,
    }


def written(items: list[Any], *, is_sorted: bool = False) -> bytes:
    head = {"kind": "WidgetList", "apiVersion": "example.com/v1", "metadata": {"resourceVersion": "5"}}
    tree = dict(sorted({**head, "items": items}.items())) if is_sorted else {**head, "items": items}
    return json.dumps(tree, separators=(",", ":")).encode()


def read(body: bytes) -> ObjectList[Any]:
    reading = ObjectList.reading([body])
    while True:
        try:
            next(reading)
        except StopIteration as done:
            found: ObjectList[Any] = done.value
            return found


def cut(body: bytes, size: int) -> tuple[list[list[bytes]], WireList]:
    """The groups, and what the list says of itself."""
    splitter = ListSplitter(body[start : start + size] for start in range(0, len(body), size))
    groups = [[bytes(raw) for raw in group] for group in splitter.groups() if group]
    return groups, splitter.head


def both_ways(body: bytes, size: int = 100_000) -> tuple[Any, Any]:
    """What cutting in groups and cutting at once give: the objects and what the list says of itself; or an error."""
    results: list[Any] = []
    for in_groups in (True, False):
        try:
            groups, wire = cut(body, size) if in_groups else ([split_list(body).items or []], split_list(body))
            raws = [bytes(raw) for group in groups for raw in group]
            results.append((raws, wire.kind, wire.api_version, wire.metadata))
        except DecodeError:
            results.append(DecodeError)
    return results[0], results[1]


@pytest.mark.parametrize("is_sorted", [False, True])
@pytest.mark.parametrize("templates", [0, 1, 3])
@pytest.mark.parametrize("size", [100_000, 1_000_003, 1 << 30])
def test_they_are_cut_in_groups_as_they_would_be_at_once(size: int, templates: int, is_sorted: bool):
    items = [item(number, SIZES[number], templates) for number in range(150)]
    # Those of custom kinds name themselves, and their list does so at the end.
    named = [{"apiVersion": "example.com/v1", "kind": "Widget", **each} for each in items]
    body = written(named if is_sorted else items, is_sorted=is_sorted)
    in_groups, at_once = both_ways(body, size)
    assert in_groups == at_once
    assert len(in_groups[0]) == 150
    groups, _ = cut(body, size)
    assert len(groups) > 8


def test_objects_wait_for_a_list_whose_kind_comes_last():
    body = written([item(number, SIZES[number], 0) for number in range(150)], is_sorted=True)
    groups, wire = cut(body, 100_000)
    assert len(groups) > 8
    assert wire.kind == "WidgetList"
    assert {each.kind for each in ObjectList.from_json(body)} == {"Widget"}
    assert {each.kind for each in read(body)} == {"Widget"}
    assert read(body) == ObjectList.from_json(body)


def test_one_object_may_be_longer_than_any_group():
    in_groups, at_once = both_ways(written([item(0, 3_000_000, 0), item(1, 10, 0), item(2, 2_000_000, 2)]))
    assert in_groups == at_once
    assert len(in_groups[0]) == 3


def test_an_object_full_of_what_looks_like_others_is_one_object():
    in_groups, at_once = both_ways(written([item(0, 300_000, 50_000), item(1, 10, 0)]))
    assert in_groups == at_once
    assert len(in_groups[0]) == 2


@pytest.mark.parametrize(
    "items", [[7] * 600_000, [{}] * 600_000, [{"metadata": {}}, 7, None, {"a": "x" * 2_000_000}, []], ["x" * 2_000_000]]
)
def test_what_is_in_them_may_be_anything(items: list[Any]):
    in_groups, at_once = both_ways(written(items))
    assert in_groups == at_once
    assert len(in_groups[0]) == len(items)


BODY = written([item(number, SIZES[number], 1) for number in range(40)])


@settings(max_examples=60)
@given(st.floats(0, 1), st.sampled_from([b"}", b"]", b'"', b"\x80", b"{", b",", b"\\"]))
@example(1.0, b" ")
@example(0.0, b"[")
def test_damage_anywhere_gives_what_it_would_give_at_once(place: float, damage: bytes):
    at = int(place * (len(BODY) - 1))
    in_groups, at_once = both_ways(BODY[:at] + damage + BODY[at + 1 :])
    assert in_groups == at_once


@pytest.mark.parametrize("body", [b'{"items":[{"metadata":{"name":"a"}}]}', b'{\n  "items": []\n}', b'{"items":null}'])
def test_short_lists_are_read_too(body: bytes):
    assert read(body) == ObjectList.from_json(body)


def test_objects_that_are_none_are_named_by_their_place():
    items = [item(number, 50_000, 0) for number in range(40)]
    items[3], items[31] = 5, "x"
    listed = read(written(items))
    assert [error.field for error in listed.broken] == ["items[3]", "items[31]"]
    assert [each.name for each in listed] == [f"widget-{number}" for number in range(40) if number not in (3, 31)]
    assert (listed.kind, listed.resource_version) == ("WidgetList", "5")

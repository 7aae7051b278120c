"""JSON patches between two values."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.json_value import JSON, JSONObject
from listwatch.server.patch.json_patch import apply_json_patch
from listwatch.webhooks.reviews.json_patch import make_json_patch

scalars = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a", "~1", "a/b", "~"])
keys = st.sampled_from(["a", "name", "a/b", "m~n", "", "0", "-"])
trees = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(keys, inner, max_size=5), max_leaves=25
)
objects = st.dictionaries(keys, trees, max_size=5)


def applied(patch: list[JSONObject], before: JSONObject) -> str:
    """As text, in which true is not 1."""
    return msgspec.json.encode(apply_json_patch(patch, before), order="sorted").decode()


@given(objects, objects)
def test_the_patch_of_two_objects_turns_one_into_the_other(before: JSONObject, after: JSONObject):
    patch = make_json_patch(before, after)
    assert applied(patch, before) == msgspec.json.encode(after, order="sorted").decode()
    assert (patch == []) == (msgspec.json.encode(before, order="sorted") == msgspec.json.encode(after, order="sorted"))


A: JSONObject = {"name": "a", "image": "one", "env": [1]}
B: JSONObject = {"name": "b", "image": "two"}


@pytest.mark.parametrize(
    ("before", "after", "operations"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, [{"op": "replace", "path": "/b", "value": 3}]),
        ({"a": 1}, {"a": True}, [{"op": "replace", "path": "/a", "value": True}]),
        ({"a": {}}, {"a": {"x/y~z": None}}, [{"op": "add", "path": "/a/x~1y~0z", "value": None}]),
        ({"a": {"b": 1}}, {"a": {}}, [{"op": "remove", "path": "/a/b"}]),
        ({"a": {"b": 1}}, {"a": None}, [{"op": "replace", "path": "/a", "value": None}]),
        ([1, 2, 3], [1, 3], [{"op": "remove", "path": "/1"}]),
        ([1, 3], [1, 2, 3], [{"op": "add", "path": "/1", "value": 2}]),
        ([A, B], [B], [{"op": "remove", "path": "/0"}]),
        ([A, B], [B, A], [{"op": "remove", "path": "/0"}, {"op": "add", "path": "/1", "value": A}]),
        ([A, B], [A, {**B, "image": "new"}], [{"op": "replace", "path": "/1/image", "value": "new"}]),
        # A sidecar in front, and a change of the first container: both stay recognizable.
        (
            [A, B],
            [{"name": "c"}, {**A, "image": "new"}, B],
            [
                {"op": "add", "path": "/0", "value": {"name": "c"}},
                {"op": "replace", "path": "/1/image", "value": "new"},
            ],
        ),
        ([A], [B], [{"op": "replace", "path": "/0", "value": B}]),
    ],
)
def test_a_patch_has_the_fewest_operations(before: JSON, after: JSON, operations: list[JSONObject]):
    assert make_json_patch(before, after) == operations


def test_long_lists_are_compared_by_position():
    before, after = list[JSON](range(1000)), list[JSON](range(1, 1200))
    patch = make_json_patch({"a": before}, {"a": after})
    assert len(patch) == 1199
    assert apply_json_patch(patch, {"a": before}) == {"a": after}

"""JSON merge patches: the examples of RFC 7386, and a naive model over random trees."""

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.server.patch.merge_patches import merge_patch

NAMES = st.sampled_from("abc")
TREES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from("xy"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(NAMES, TREES, max_size=3)


def has_null_in_a_list(tree):
    """Whether an object in a list has a null, which the RFC keeps and the API server mostly drops."""
    match tree:
        case dict():
            return any(map(has_null_in_a_list, tree.values()))
        case list():
            return any(contains_null(item) for item in tree)
        case _:
            return False


def contains_null(tree):
    inside = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return any((item is None and isinstance(tree, dict)) or contains_null(item) for item in inside)


PATCHES = OBJECTS.filter(lambda patch: not has_null_in_a_list(patch))


def model(target, patch):
    """The algorithm of the RFC."""
    if not isinstance(patch, dict):
        return patch
    target = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            target.pop(name, None)
        else:
            target[name] = model(target.get(name), value)
    return target


@pytest.mark.parametrize(
    ("tree", "patch", "expected"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": [1, 2]}, {"a": {"b": 1, "c": None}}, {"a": {"b": 1}}),
        ({}, {"a": [{"b": None}]}, {"a": [{}]}),
    ],
)
def test_examples_of_the_rfc_are_applied(tree, patch, expected):
    assert merge_patch(patch, tree) == expected


def test_members_keep_their_order():
    assert list(merge_patch({"b": 2, "z": 1}, {"a": 1, "b": 1, "c": 1})) == ["a", "b", "c", "z"]


@given(OBJECTS, PATCHES)
def test_results_equal_those_of_the_algorithm_in_the_rfc(tree, patch):
    before = deepcopy((tree, patch))
    assert merge_patch(patch, tree) == model(tree, patch)
    assert (tree, patch) == before


@given(OBJECTS, PATCHES)
def test_a_second_application_changes_nothing(tree, patch):
    once = merge_patch(patch, tree)
    assert merge_patch(patch, once) == once


@given(OBJECTS, OBJECTS)
def test_the_result_shares_no_containers_with_its_arguments(tree, patch):
    before = deepcopy((tree, patch))
    overwrite(merge_patch(patch, tree))
    assert (tree, patch) == before


def overwrite(tree):
    for item in list(tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()):
        overwrite(item)
    if isinstance(tree, dict | list):
        tree.clear()

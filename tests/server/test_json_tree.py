"""Typed access to JSON values, copies and comparisons."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.server.json_tree import (
    copied,
    ensure_object,
    flag_at,
    integer_at,
    list_at,
    object_at,
    objects_at,
    same,
    text_at,
    texts_at,
    value_at,
)

TREE: Any = {"spec": {"replicas": 3, "paused": True, "items": [{"name": "a"}, "b", None], "text": "x"}}


def test_a_value_is_found_by_its_path():
    assert value_at(TREE, "spec", "replicas") == 3
    assert value_at(TREE, "spec", "text", "deeper") is None
    assert value_at(TREE, "status", "replicas") is None


def test_a_value_of_another_type_reads_as_the_zero_value():
    assert object_at(TREE, "spec", "text") == {}
    assert list_at(TREE, "spec", "text") == []
    assert text_at(TREE, "spec", "replicas") == ""
    assert integer_at(TREE, "spec", "paused") == 0
    assert integer_at(TREE, "spec", "text", default=1) == 1
    assert flag_at(TREE, "spec", "replicas") is False
    assert flag_at(TREE, "spec", "paused") is True


def test_lists_are_read_without_elements_of_another_type():
    assert objects_at(TREE, "spec", "items") == [{"name": "a"}]
    assert texts_at(TREE, "spec", "items") == ["b"]


def test_an_object_for_writing_is_part_of_the_tree():
    tree: Any = {"metadata": None}
    ensure_object(tree, "metadata", "labels")["app"] = "web"
    assert tree == {"metadata": {"labels": {"app": "web"}}}


def test_a_copy_shares_no_containers():
    copy = copied(TREE)
    assert copy == TREE
    copy["spec"]["items"][0]["name"] = "changed"
    assert TREE["spec"]["items"][0]["name"] == "a"


@pytest.mark.parametrize(("left", "right"), [(1, 1.0), (1, True), ([1], [True]), ({"a": 0}, {"a": False})])
def test_numbers_and_booleans_of_different_json_types_are_not_the_same(left: Any, right: Any):
    assert left == right
    assert not same(left, right)

"""Properties of server-side apply over random objects: the merged object, and the managers of its fields."""

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from listwatch.errors import ConflictError
from listwatch.server.apply.field_sets import (
    applied_fields,
    compare,
    created_fields,
    difference,
    intersection,
    paths,
    union,
)
from listwatch.server.apply.managed_fields import (
    ApplyConfiguration,
    ManagedFields,
    Manager,
    after_apply,
    after_update,
    decode_managed,
    encode_managed,
    manager_name,
)
from listwatch.server.apply.merge_shapes import builtin_shapes, custom_shape, empty_object
from listwatch.server.apply.merging import merge, remove_fields
from listwatch.server.json_tree import copied
from listwatch.server.schema.schema import builtin_schema

Tree = Any

NOW, LATER = "2024-01-01T00:00:00Z", "2024-01-01T00:00:01Z"
TEXT = {"type": "string"}
PART = {"type": "object", "required": ["name"], "properties": {"name": TEXT, "size": TEXT, "more": TEXT}}
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "text": TEXT,
                "map": {"type": "object", "additionalProperties": TEXT},
                "whole": {"type": "array", "items": TEXT},
                "names": {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
                "parts": {
                    "type": "array",
                    "items": PART,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                },
            },
        }
    },
}
SHAPE = custom_shape(SCHEMA, builtin_schema())

words = st.sampled_from(["a", "b", "c", "d"])
parts = st.lists(
    st.fixed_dictionaries({"name": words}, optional={"size": words, "more": words}), min_size=1, max_size=3
)
specs = st.fixed_dictionaries(
    {},
    optional={
        "text": words,
        "map": st.dictionaries(words, words, min_size=1, max_size=3),
        "whole": st.lists(words, min_size=1, max_size=2),
        "names": st.lists(words, min_size=1, max_size=3, unique=True),
        "parts": parts.filter(lambda found: len({each["name"] for each in found}) == len(found)),
    },
)
objects = specs.map(lambda spec: {"metadata": {"name": "x"}, "spec": spec} if spec else {"metadata": {"name": "x"}})


def apply(
    live: Tree, tree: Tree, managed: ManagedFields, name: str = "me", *, force: bool = False
) -> tuple[Tree, ManagedFields]:
    applied = ApplyConfiguration(tree, Manager(name, "Apply"), "v1", is_forced=force)
    return after_apply(live, applied, managed, SHAPE, now=NOW)


def empty_object_tree() -> Tree:
    return {"metadata": {"name": "x"}}


def without_nulls(tree: Tree) -> Tree:
    if not isinstance(tree, dict):
        return tree
    return {name: without_nulls(value) for name, value in tree.items() if value is not None}


# --- Field sets -------------------------------------------------------------------------------------------------------


@given(objects, objects)
def test_set_operations_agree_with_sets_of_paths(one: Tree, other: Tree):
    left, right = applied_fields(one, SHAPE), applied_fields(other, SHAPE)
    assert set(paths(union(left, right))) == {*paths(left), *paths(right)}
    assert set(paths(difference(left, right))) == {*paths(left)} - {*paths(right)}
    assert set(paths(intersection(left, right))) == {*paths(left)} & {*paths(right)}


@given(objects, objects)
def test_comparing_in_either_direction_finds_the_same_fields(old: Tree, new: Tree):
    changed, gone = compare(old, new, SHAPE)
    assert compare(old, old, SHAPE) == ({}, {})
    back_changed, back_gone = compare(new, old, SHAPE)
    assert not set(paths(changed)) & set(paths(gone))
    # Added in one direction is removed in the other, and changed fields are changed in both.
    assert {*paths(changed), *paths(gone)} == {*paths(back_changed), *paths(back_gone)}


@given(objects)
def test_the_fields_of_a_new_object_are_its_differences_from_an_empty_one(new: Tree):
    empty: Tree = {"metadata": {}}
    assert created_fields(new, empty, SHAPE) == compare(empty, new, SHAPE)[0]


@pytest.mark.parametrize("kind", ["core.v1.Pod", "apps.v1.Deployment", "core.v1.Service", "batch.v1.CronJob"])
def test_the_fields_of_a_new_built_in_object_are_its_differences_from_an_empty_one(kind: str):
    schema = builtin_schema()
    shape, empty = builtin_shapes(schema)(kind), empty_object(kind, schema)
    container = {"name": "a", "image": "b", "ports": [{"containerPort": 1}], "resources": {}}
    pod = {"containers": [container], "nodeSelector": {"a": "b"}}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod}
    spec = pod if kind.endswith("Pod") else {"template": template, "selector": {"matchLabels": {}}}
    new = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    assert created_fields(new, empty, shape) == compare(empty, new, shape)[0]


# --- Applying ---------------------------------------------------------------------------------------------------------


@given(objects, objects)
def test_applying_twice_equals_applying_once(live: Tree, tree: Tree):
    once, managed = apply(live, tree, {})
    assert apply(once, tree, managed) == (once, managed)


@given(objects, objects)
def test_applied_fields_are_written_and_others_are_kept(live: Tree, tree: Tree):
    new, _ = apply(live, tree, {})
    assert not set(paths(applied_fields(tree, SHAPE))) - set(paths(applied_fields(new, SHAPE)))
    gone = compare(live, new, SHAPE)[1]
    assert gone == {}


@given(objects, objects)
def test_managers_of_different_fields_never_conflict(one: Tree, other: Tree):
    mine, yours = applied_fields(one, SHAPE), applied_fields(other, SHAPE)
    shared = intersection(mine, yours)
    # The fields that only one of them applies.
    theirs = {**without_nulls(remove_fields(other, shared, SHAPE) or {}), **empty_object_tree()}
    live, managed = apply(empty_object_tree(), one, {}, "me")
    new, managed = apply(live, theirs, managed, "you")
    assert compare(live, new, SHAPE)[1] == {}


@given(objects)
def test_a_field_that_its_only_manager_no_longer_applies_is_removed(tree: Tree):
    live, managed = apply(empty_object_tree(), tree, {})
    left, managed = apply(live, empty_object_tree(), managed)
    assert (left, managed) == (empty_object_tree(), {})


@given(objects, objects)
def test_another_value_is_a_conflict_and_force_takes_the_field(one: Tree, other: Tree):
    live, managed = apply(empty_object_tree(), one, {}, "me")
    try:
        new, after = apply(live, other, managed, "you")
    except ConflictError as error:
        fields = {cause.field for cause in error.causes}
        assert fields <= set(paths(applied_fields(one, SHAPE)))
        new, after = apply(live, other, managed, "you", force=True)
        left = after.get(Manager("me", "Apply"))
        assert not fields & set(paths(left.fields if left else {}))
    assert set(paths(after[Manager("you", "Apply")].fields) if Manager("you", "Apply") in after else ()) <= set(
        paths(applied_fields(new, SHAPE))
    )


@given(objects, objects, objects)
def test_every_applied_field_has_a_manager_as_long_as_it_exists(a: Tree, b: Tree, c: Tree):
    live, managed = apply(empty_object_tree(), a, {}, "me")
    live, managed = apply(live, b, managed, "you", force=True)
    live, managed = apply(live, c, managed, "me", force=True)
    present = set(paths(compare({"metadata": {}}, live, SHAPE)[0]))
    for holding in managed.values():
        assert set(paths(holding.fields)) <= present | set(paths(applied_fields(live, SHAPE)))


@given(objects, objects)
def test_an_updater_becomes_the_only_manager_of_changed_fields(old: Tree, new: Tree):
    _, managed = apply(empty_object_tree(), old, {}, "me")
    after = after_update(old, new, managed, Manager("you", "Update", "v1"), SHAPE, now=LATER)
    changed, gone = compare(old, new, SHAPE)
    mine, yours = (after.get(manager) for manager in (Manager("me", "Apply"), Manager("you", "Update", "v1")))
    assert (yours.fields if yours else {}) == changed
    assert not set(paths(mine.fields if mine else {})) & {*paths(changed), *paths(gone)}


def test_applying_changes_neither_argument():
    live = {"metadata": {"name": "x"}, "spec": {"parts": [{"name": "a"}], "map": {"a": "b"}}}
    tree = {"metadata": {"name": "x"}, "spec": {"parts": [{"name": "a", "size": "1"}], "map": {"c": "d"}}}
    before = copied([live, tree])
    apply(live, tree, {})
    assert [live, tree] == before


@pytest.mark.parametrize(
    ("live", "applied", "found"),
    [
        (["a", "b"], ["c"], ["a", "b", "c"]),
        (["a", "b", "c"], ["c", "a"], ["b", "c", "a"]),
        (["a", "x", "b"], ["b", "y", "a"], ["x", "b", "y", "a"]),
        ([], ["a"], ["a"]),
        (["a"], [], ["a"]),
    ],
)
def test_elements_have_the_order_of_the_applied_list(live: list[str], applied: list[str], found: list[str]):
    assert merge({"spec": {"names": live}}, {"spec": {"names": applied}}, SHAPE) == {"spec": {"names": found}}


# --- Encoding ---------------------------------------------------------------------------------------------------------


@given(objects, objects)
def test_encoded_managed_fields_decode_to_the_same(one: Tree, other: Tree):
    live, managed = apply(empty_object_tree(), one, {}, "me")
    managed = after_update(live, other, managed, Manager("you", "Update", "v1", "status"), SHAPE, now=LATER)
    assert decode_managed(encode_managed(managed)) == managed


@pytest.mark.parametrize("entries", [[{}], [{"operation": "Guess"}], [{"operation": "Update", "fieldsV1": []}], [1]])
def test_invalid_entries_are_not_decoded(entries: list[Tree]):
    assert decode_managed(entries) is None


def test_the_oldest_updaters_are_merged():
    live, managed = empty_object_tree(), {}
    for number in range(15):
        new = {"metadata": {"name": "x"}, "spec": {"map": {str(each): "x" for each in range(number + 1)}}}
        managed = after_update(
            live, new, managed, Manager(f"m{number:02}", "Update", "v1"), SHAPE, now=f"2024-01-01T00:00:{number:02}Z"
        )
        live = new
    entries = encode_managed(managed)
    assert len(entries) == 10
    assert "ancient-changes" in {entry["manager"] for entry in entries}
    everything: Tree = {}
    for entry in entries:
        everything = union(everything, entry["fieldsV1"])
    assert everything["f:spec"] == compare({"metadata": {}}, live, SHAPE)[0]["f:spec"]


@pytest.mark.parametrize(
    ("requested", "agent", "found"),
    [("me", "tool/1", "me"), ("", "tool/1 (x)", "tool"), ("", "", "unknown"), ("", "x" * 200, "x" * 128)],
)
def test_a_manager_is_named_by_the_request_or_its_user_agent(requested: str, agent: str, found: str):
    assert manager_name(requested, agent) == found

"""What holds of the schemas of custom resources whatever an object looks like."""

from typing import Any

import hypothesis.strategies as st
from hypothesis import given

from listwatch.server.codec.typed_decoding import StrictErrors
from listwatch.server.crd.structural_schema import apply_structural_defaults, drop_nulls, prune
from listwatch.server.json_tree import copied
from listwatch.server.rules.structural_validation import structural_problems

Tree = Any

TEXT = {"type": "string"}
NESTED = {
    "type": "object",
    "required": ["a"],
    "properties": {"a": {"type": "integer", "minimum": 0, "default": 3}, "b": {"type": "string", "nullable": True}},
}
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "maxLength": 2},
                "nested": NESTED,
                "items": {"type": "array", "items": NESTED},
                "map": {"type": "object", "additionalProperties": NESTED},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        }
    },
}

scalars = st.none() | st.booleans() | st.integers(-2, 5) | st.sampled_from(["", "a", "abc"])
names = st.sampled_from(["a", "b", "text", "nested", "items", "map", "free", "other"])
trees = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4), max_leaves=20
)
objects = st.builds(lambda spec, more: {"metadata": {"name": "x"}, "spec": spec, **more}, trees, st.just({}))


def read(tree: Tree) -> Tree:
    found = copied(tree)
    prune(found, SCHEMA)
    apply_structural_defaults(found, SCHEMA)
    drop_nulls(found, SCHEMA)
    return found


@given(objects)
def test_to_read_an_object_twice_is_to_read_it_once(tree: Tree):
    once = read(tree)
    assert read(once) == once


@given(objects)
def test_what_is_dropped_is_reported_and_nothing_else_is(tree: Tree):
    found, problems = copied(tree), StrictErrors()
    prune(found, SCHEMA, problems)
    assert bool(problems) == (found != tree)
    again = StrictErrors()
    prune(found, SCHEMA, again)
    assert again == []


@given(objects)
def test_an_object_without_a_map_where_none_is_asked_for_keeps_all_that_is_free(tree: Tree):
    spec = tree["spec"]
    free = spec.get("free") if isinstance(spec, dict) else None
    if isinstance(free, dict):
        assert read(tree)["spec"]["free"] == free


@given(objects)
def test_what_has_not_changed_is_not_judged_again(tree: Tree):
    assert list(structural_problems(tree, SCHEMA, copied(tree))) == []


@given(objects)
def test_every_object_gets_a_verdict_with_places_that_are_in_it(tree: Tree):
    for cause in structural_problems(read(tree), SCHEMA):
        assert cause.field.startswith("spec")
        assert cause.message


def test_a_problem_in_one_element_leaves_the_others_alone():
    tree = {"spec": {"items": [{"a": 1}, {"a": -1}, {"a": "x"}, {}]}}
    found = {(cause.reason, cause.field) for cause in structural_problems(tree, SCHEMA)}
    assert found == {
        ("FieldValueInvalid", "spec.items[1].a"),
        ("FieldValueTypeInvalid", "spec.items[2].a"),
        ("FieldValueRequired", "spec.items[3].a"),
    }

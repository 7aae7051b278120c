"""Properties of structural schemas over random objects."""

from typing import Any

import hypothesis.strategies as st
from hypothesis import given

from listwatch.server.codec.typed_decoding import StrictErrors
from listwatch.server.crd.structural_schema import apply_structural_defaults, drop_nulls, prune
from listwatch.server.json_tree import copied
from listwatch.server.rules.custom_objects import structural_problems

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


def normalized(tree: Tree) -> Tree:
    found = copied(tree)
    prune(found, SCHEMA)
    apply_structural_defaults(found, SCHEMA)
    drop_nulls(found, SCHEMA)
    return found


@given(objects)
def test_normalizing_twice_equals_normalizing_once(tree: Tree):
    once = normalized(tree)
    assert normalized(once) == once


@given(objects)
def test_exactly_the_pruned_fields_are_reported(tree: Tree):
    found, problems = copied(tree), StrictErrors()
    prune(found, SCHEMA, problems)
    assert bool(problems) == (found != tree)
    again = StrictErrors()
    prune(found, SCHEMA, again)
    assert again == []


@given(objects)
def test_preserved_unknown_fields_are_kept(tree: Tree):
    spec = tree["spec"]
    free = spec.get("free") if isinstance(spec, dict) else None
    if isinstance(free, dict):
        assert normalized(tree)["spec"]["free"] == free


@given(objects)
def test_an_unchanged_object_is_not_validated_again(tree: Tree):
    assert list(structural_problems(tree, SCHEMA, copied(tree))) == []


@given(objects)
def test_every_error_names_a_path_of_the_object(tree: Tree):
    for cause in structural_problems(normalized(tree), SCHEMA):
        assert cause.field.startswith("spec")
        assert cause.message


def test_an_error_in_one_element_is_reported_only_for_it():
    tree = {"spec": {"items": [{"a": 1}, {"a": -1}, {"a": "x"}, {}]}}
    found = {(cause.reason, cause.field) for cause in structural_problems(tree, SCHEMA)}
    assert found == {
        ("FieldValueInvalid", "spec.items[1].a"),
        ("FieldValueTypeInvalid", "spec.items[2].a"),
        ("FieldValueRequired", "spec.items[3].a"),
    }

"""Strategic merge patches: examples of each directive, errors of the real server, and properties over random trees."""

from contextlib import suppress
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.errors import APIError, BadRequestError, InvalidError
from listwatch.server.patch.merge_patches import StrategicMerge
from listwatch.server.schema.schema import Shape, builtin_schema

POD = Shape(type="ref", ref="core.v1.Pod")
SPEC = Shape(type="ref", ref="core.v1.PodSpec")
META = Shape(type="ref", ref="meta.v1.ObjectMeta")


def merge(patch, tree, shape=SPEC):
    before = deepcopy((patch, tree))
    merged = StrategicMerge(builtin_schema()).merge(patch, tree, shape)
    assert (patch, tree) == before
    return merged


def containers(*names, **fields):
    return {"containers": [{"name": name, **fields} for name in names]}


def names(spec, where="containers"):
    return [element["name"] for element in spec[where]]


def test_scalars_replace_maps_merge_and_null_deletes():
    tree = {"metadata": {"name": "p", "labels": {"a": "1", "b": "2"}}, "spec": {"nodeName": "n"}}
    patch = {"metadata": {"labels": {"a": None, "c": "3"}}, "spec": {"nodeName": "m", "hostname": None}}
    assert merge(patch, tree, POD) == {
        "metadata": {"name": "p", "labels": {"b": "2", "c": "3"}},
        "spec": {"nodeName": "m"},
    }


def test_a_list_with_a_merge_key_merges_element_by_element():
    tree = {"containers": [{"name": "a", "image": "old", "args": ["x"]}, {"name": "b", "image": "b"}]}
    patch = {"containers": [{"name": "a", "image": "new"}]}
    assert merge(patch, tree) == {
        "containers": [{"name": "a", "image": "new", "args": ["x"]}, {"name": "b", "image": "b"}]
    }


def test_a_new_element_is_placed_before_the_others():
    assert names(merge(containers("n"), containers("a", "b"))) == ["n", "a", "b"]


def test_elements_merge_recursively():
    tree = {"containers": [{"name": "a", "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}]}]}
    patch = {"containers": [{"name": "a", "env": [{"name": "Y", "value": "3"}]}]}
    assert merge(patch, tree)["containers"][0]["env"] == [{"name": "X", "value": "1"}, {"name": "Y", "value": "3"}]


def test_a_merge_key_may_be_a_number():
    tree = {"containers": [{"name": "a", "ports": [{"containerPort": 80, "name": "web"}]}]}
    patch = {"containers": [{"name": "a", "ports": [{"containerPort": 80, "name": "http"}, {"containerPort": 443}]}]}
    assert merge(patch, tree)["containers"][0]["ports"] == [
        {"containerPort": 80, "name": "http"},
        {"containerPort": 443},
    ]


@pytest.mark.parametrize("field", ["tolerations", "readinessGates"])
def test_a_list_without_a_strategy_is_replaced(field):
    assert merge({field: [{"key": "b"}]}, {field: [{"key": "a"}]}) == {field: [{"key": "b"}]}


def test_a_list_of_scalars_is_replaced_unless_its_strategy_is_merge():
    tree = {"containers": [{"name": "a", "args": ["1"]}]}
    assert merge({"containers": [{"name": "a", "args": ["2"]}]}, tree)["containers"][0]["args"] == ["2"]
    assert merge({"finalizers": ["b", "c"]}, {"finalizers": ["a", "b"]}, META) == {"finalizers": ["a", "b", "c"]}


def test_a_null_is_not_written_to_a_new_map():
    assert merge({"securityContext": {"runAsUser": None, "fsGroup": 1}}, {}) == {"securityContext": {"fsGroup": 1}}


def test_an_unknown_field_is_taken_unchanged():
    assert merge({"new": {"a": 1}, "other": [1]}, {}) == {"new": {"a": 1}, "other": [1]}


# --- $patch -----------------------------------------------------------------------------------------------------------


def test_a_map_can_be_replaced():
    tree = {"securityContext": {"runAsUser": 1, "fsGroup": 2}}
    assert merge({"securityContext": {"$patch": "replace", "fsGroup": 3}}, tree) == {"securityContext": {"fsGroup": 3}}


def test_a_map_can_be_emptied():
    assert merge({"securityContext": {"$patch": "delete"}}, {"securityContext": {"runAsUser": 1}}) == {
        "securityContext": {}
    }


def test_an_element_can_be_deleted():
    patch = {"containers": [{"name": "b", "$patch": "delete"}, {"name": "a", "image": "new"}]}
    assert merge(patch, containers("a", "b", "c")) == {
        "containers": [{"name": "a", "image": "new"}, {"name": "c"}],
    }


def test_deleting_a_missing_element_changes_nothing():
    assert merge({"containers": [{"name": "z", "$patch": "delete"}]}, containers("a")) == containers("a")


def test_a_list_can_be_replaced():
    patch = {"containers": [{"$patch": "replace"}, {"name": "n"}]}
    assert merge(patch, containers("a", "b")) == containers("n")


def test_a_directive_in_a_new_field_is_not_written():
    patch = {"volumes": [{"name": "v", "$patch": "delete"}, {"name": "w"}], "securityContext": {"$patch": "delete"}}
    assert merge(patch, {}) == {"volumes": [{"name": "w"}]}


# --- $retainKeys ------------------------------------------------------------------------------------------------------


def test_only_retained_keys_are_kept():
    tree = {"volumes": [{"name": "v", "emptyDir": {}}]}
    patch = {"volumes": [{"name": "v", "hostPath": {"path": "/x"}, "$retainKeys": ["name", "hostPath"]}]}
    assert merge(patch, tree) == {"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]}


def test_a_null_need_not_be_retained():
    assert merge({"$retainKeys": ["nodeName"], "hostname": None}, {"nodeName": "n", "hostname": "h"}) == {
        "nodeName": "n"
    }


# --- $setElementOrder and $deleteFromPrimitiveList --------------------------------------------------------------------


def test_elements_can_be_reordered():
    order = {"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}, {"name": "b"}]}
    assert names(merge(order, containers("a", "b", "c"))) == ["c", "a", "b"]


def test_elements_outside_of_the_order_keep_their_relative_place():
    order = {"$setElementOrder/containers": [{"name": "n"}, {"name": "c"}, {"name": "a"}], **containers("n")}
    assert names(merge(order, containers("a", "b", "c"))) == ["n", "b", "c", "a"]


def test_order_deletion_and_change_combine():
    patch = {
        "$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
        "containers": [{"name": "b", "image": "new"}, {"name": "c", "$patch": "delete"}],
    }
    assert merge(patch, containers("a", "b", "c")) == {"containers": [{"name": "b", "image": "new"}, {"name": "a"}]}


def test_scalars_can_be_reordered_and_removed():
    patch = {"$setElementOrder/finalizers": ["c", "a"], "$deleteFromPrimitiveList/finalizers": ["b"]}
    assert merge(patch, {"finalizers": ["a", "b", "c"]}, META) == {"finalizers": ["c", "a"]}


def test_removing_from_a_missing_list_changes_nothing():
    assert merge({"$deleteFromPrimitiveList/finalizers": ["b"]}, {"name": "x"}, META) == {"name": "x"}


def test_an_order_for_a_missing_list_is_ignored():
    assert merge({"$setElementOrder/containers": [{"name": "a"}]}, {}) == {}


# --- Errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patch", "error_class", "code", "message"),
    [
        (
            {"containers": [{"image": "y"}]},
            APIError,
            500,
            "map: map[image:y] does not contain declared merge key: name",
        ),
        ({"$patch": "foo"}, APIError, 500, "unknown patch type: foo in map: map[$patch:foo]"),
        (
            {"containers": [{"name": "a", "$patch": "foo"}]},
            APIError,
            500,
            "unknown patch type: foo in map: map[$patch:foo name:a]",
        ),
        (
            {"containers": [{"name": "a", "$patch": "merge"}]},
            APIError,
            500,
            "merging lists cannot yet be specified in the patch",
        ),
        ({"containers": ["a"]}, APIError, 500, "list element types are not identical: [[map[name:a]] [a]]"),
        ({"containers": [None]}, APIError, 500, "list element types are not identical: [[map[name:a]] [<nil>]]"),
        ({"$retainKeys": 1}, BadRequestError, 400, "invalid patch format of retainKeys"),
        ({"$retainKeys": [], "hostname": "x"}, BadRequestError, 400, "invalid patch format of retainKeys"),
        ({"$setElementOrder": []}, BadRequestError, 400, "invalid patch format of setElementOrder list"),
        ({"$setElementOrders/containers": []}, BadRequestError, 400, "invalid patch format of setElementOrder list"),
        ({"$deleteFromPrimitiveList": []}, BadRequestError, 400, "invalid patch format of primitive list"),
        ({"$setElementOrder/containers": 1}, APIError, 500, "expected a []interface {}, but received a int64"),
        (
            {"$setElementOrder/containers": ["a"]},
            APIError,
            500,
            "expected a map[string]interface {}, but received a string",
        ),
        (
            {"$setElementOrder/containers": [{"name": "b"}], "containers": [{"name": "a"}]},
            APIError,
            500,
            "The order in patch list:\n[map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n",
        ),
        (
            {"$setElementOrder/nothing": [1]},
            APIError,
            500,
            'unable to find api field in struct PodSpec for the json field "nothing"',
        ),
        ({"$setElementOrder/hostname": [1]}, APIError, 500, "expected slice or array type, but got: struct"),
    ],
)
def test_an_invalid_patch_gets_the_error_of_the_real_server(patch, error_class, code, message):
    with pytest.raises(error_class) as error:
        merge(patch, containers("a"))
    assert (error.value.status_code, error.value.message) == (code, message)
    if code == 500:
        assert error.value.reason == ""


def test_lists_of_lists_are_not_merged():
    with pytest.raises(InvalidError):
        merge({"finalizers": [["a"]]}, {"finalizers": []}, META)


# --- Properties -------------------------------------------------------------------------------------------------------

KEYS = st.sampled_from("abcd")
ELEMENTS = st.lists(
    st.fixed_dictionaries(
        {"name": KEYS},
        optional={
            "image": st.sampled_from("xy"),
            "args": st.lists(KEYS, max_size=2),
            "ports": st.lists(
                st.fixed_dictionaries({"containerPort": st.integers(1, 3)}, optional={"name": KEYS}),
                max_size=3,
                unique_by=lambda port: port["containerPort"],
            ),
        },
    ),
    max_size=4,
    unique_by=lambda element: element["name"],
)
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "containers": ELEMENTS,
        "nodeSelector": st.dictionaries(KEYS, KEYS, max_size=3),
        "hostname": KEYS,
        "volumes": st.lists(
            st.fixed_dictionaries({"name": KEYS}, optional={"emptyDir": st.just({})}),
            max_size=3,
            unique_by=lambda volume: volume["name"],
        ),
    },
)
DIRECTIVES = st.sampled_from(["replace", "delete", "merge", 1, None])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | KEYS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["name", "containers", "env", "ports", "$patch", "$retainKeys", "$setElementOrder/containers"]
            )
            | st.sampled_from(["$deleteFromPrimitiveList/args", "args", "metadata", "spec", "finalizers", "labels"]),
            inner | DIRECTIVES,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(SPECS, SPECS)
def test_a_second_application_changes_nothing(tree, patch):
    once = merge(patch, tree)
    assert merge(patch, once) == once


@given(SPECS, SPECS)
def test_elements_are_neither_lost_nor_duplicated(tree, patch):
    merged = merge(patch, tree)
    for where in ("containers", "volumes"):
        both = [element["name"] for spec in (tree, patch) for element in spec.get(where, ())]
        assert sorted(names({where: merged.get(where, [])}, where)) == sorted(set(both))


@given(ELEMENTS.flatmap(lambda elements: st.tuples(st.just(elements), st.permutations(elements))))
def test_an_order_of_all_elements_is_the_resulting_order(elements_and_order):
    elements, order = elements_and_order
    patch = {"$setElementOrder/containers": [{"name": element["name"]} for element in order]}
    merged = merge(patch, {"containers": elements}) if elements else {"containers": []}
    assert merged["containers"] == order


@given(st.dictionaries(st.sampled_from(["metadata", "spec"]), ANYTHING, max_size=2), SPECS)
def test_random_patches_are_applied_or_rejected(patch, spec):
    with suppress(APIError):
        merge(patch, {"metadata": {"name": "x", "finalizers": ["a"]}, "spec": spec}, POD)

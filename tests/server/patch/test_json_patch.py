"""JSON patches: the examples of RFC 6902, deviations of the API server, and properties over random trees."""

from contextlib import suppress
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.server.patch.json_patch import JSONPatchError, apply_json_patch

NAMES = st.sampled_from(["a", "b", "x/y", "m~n", "~1", "0", "-"])
TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(0, 2) | st.text("ab~/", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(NAMES, TREES, max_size=4)
POINTERS = st.lists(st.sampled_from(["a", "b", "x~1y", "m~0n", "0", "1", "-1", "-", "01", "é", ""]), max_size=3).map(
    lambda tokens: "".join(f"/{token}" for token in tokens)
)
OPERATIONS = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "jump", None]), "path": POINTERS},
    optional={"from": POINTERS, "value": TREES},
)


def escaped(name):
    return name.replace("~", "~0").replace("/", "~1")


def difference(old, new, path=""):
    """Return operations that turn the old tree into the new one, by members and whole values only."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        if old != new or type(old) is not type(new):
            yield {"op": "replace", "path": path, "value": new}
        return
    for name in old.keys() - new.keys():
        yield {"op": "remove", "path": f"{path}/{escaped(name)}"}
    for name, value in new.items():
        if name in old:
            yield from difference(old[name], value, f"{path}/{escaped(name)}")
        else:
            yield {"op": "add", "path": f"{path}/{escaped(name)}", "value": value}


@pytest.mark.parametrize(
    ("tree", "operations", "expected"),
    [
        ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"foo": "bar", "baz": "qux"}),
        ({"foo": ["bar", "baz"]}, [{"op": "add", "path": "/foo/1", "value": "qux"}], {"foo": ["bar", "qux", "baz"]}),
        ({"foo": ["bar"]}, [{"op": "add", "path": "/foo/-", "value": ["abc"]}], {"foo": ["bar", ["abc"]]}),
        ({"baz": "qux", "foo": "bar"}, [{"op": "remove", "path": "/baz"}], {"foo": "bar"}),
        ({"foo": ["bar", "qux", "baz"]}, [{"op": "remove", "path": "/foo/1"}], {"foo": ["bar", "baz"]}),
        ({"baz": "qux"}, [{"op": "replace", "path": "/baz", "value": "boo"}], {"baz": "boo"}),
        ({"a": [1, 2]}, [{"op": "replace", "path": "/a/0", "value": 3}], {"a": [3, 2]}),
        (
            {"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
            [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}],
            {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}},
        ),
        (
            {"foo": ["all", "grass", "cows", "eat"]},
            [{"op": "move", "from": "/foo/1", "path": "/foo/3"}],
            {"foo": ["all", "cows", "eat", "grass"]},
        ),
        ({"a": {"b": 1}}, [{"op": "copy", "from": "/a", "path": "/c"}], {"a": {"b": 1}, "c": {"b": 1}}),
        ({"a": ["x", 2]}, [{"op": "test", "path": "/a/1", "value": 2}], {"a": ["x", 2]}),
        ({"a": [1, {"b": []}]}, [{"op": "test", "path": "/a", "value": [1, {"b": []}]}], {"a": [1, {"b": []}]}),
        ({"foo": "bar"}, [{"op": "add", "path": "/child", "value": {"g": {}}}], {"foo": "bar", "child": {"g": {}}}),
        ({"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}),
        ({"a/b": 1, "m~n": 2}, [{"op": "remove", "path": "/a~1b"}, {"op": "remove", "path": "/m~0n"}], {}),
        ({"": 1}, [{"op": "replace", "path": "/", "value": 2}], {"": 2}),
        ({"a": 1}, [{"op": "replace", "path": "", "value": {"b": 2}}], {"b": 2}),
        ({"a": 1}, [{"op": "test", "path": "", "value": {"a": 1}}], {"a": 1}),
        ({"a": None}, [{"op": "test", "path": "/a", "value": None}], {"a": None}),
    ],
)
def test_examples_of_the_rfc_are_applied(tree, operations, expected):
    assert apply_json_patch(operations, tree) == expected


@pytest.mark.parametrize(
    ("tree", "operations", "expected"),
    [
        ({}, [{"op": "replace", "path": "/a", "value": 1}], {"a": 1}),
        ({}, [{"op": "test", "path": "/a", "value": None}], {}),
        ({}, [{"op": "test", "path": "/a"}], {}),
        ({}, [{"op": "copy", "from": "/a", "path": "/b"}], {"b": None}),
        ({}, [{"op": "add", "path": "/a"}], {"a": None}),
        ({"a": [1, 2, 3]}, [{"op": "remove", "path": "/a/-1"}], {"a": [1, 2]}),
        ({"a": [1, 2]}, [{"op": "add", "path": "/a/-1", "value": 3}], {"a": [1, 2, 3]}),
        ({"a": [1]}, [{"op": "replace", "path": "/a/00", "value": 2}], {"a": [2]}),
    ],
)
def test_deviations_of_the_api_server_from_the_rfc_are_applied(tree, operations, expected):
    assert apply_json_patch(operations, tree) == expected


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        ({"op": "test", "path": "/a", "value": 2}, "testing value /a failed: test failed"),
        ({"op": "test", "path": "/a", "value": 1.0}, "testing value /a failed: test failed"),
        ({"op": "test", "path": "/a", "value": True}, "testing value /a failed: test failed"),
        ({"op": "test", "path": "", "value": {}}, "testing value  failed: test failed"),
        ({"op": "test", "path": "/l", "value": [1, 2]}, "testing value /l failed: test failed"),
        ({"op": "test", "path": "/l", "value": [1, 2, True]}, "testing value /l failed: test failed"),
        ({"op": "test", "path": "/z/z"}, "test operation does not apply: is missing path: /z/z: missing value"),
        (
            {"op": "remove", "path": "/z"},
            "error in remove for path: '/z': Unable to remove nonexistent key: z: missing value",
        ),
        ({"op": "remove", "path": ""}, 'remove operation does not apply: doc is missing path: "": missing value'),
        (
            {"op": "add", "path": "", "value": {}},
            'add operation does not apply: doc is missing path: "": missing value',
        ),
        (
            {"op": "add", "path": "/z/z", "value": 1},
            'add operation does not apply: doc is missing path: "/z/z": missing value',
        ),
        (
            {"op": "add", "path": "/a/z", "value": 1},
            'add operation does not apply: doc is missing path: "/a/z": missing value',
        ),
        (
            {"op": "add", "path": "/l/4", "value": 1},
            "error in add for path: '/l/4': Unable to access invalid index: 4: invalid index referenced",
        ),
        (
            {"op": "add", "path": "/l/x", "value": 1},
            "error in add for path: '/l/x': value was not a proper array index: 'x': "
            'strconv.Atoi: parsing "x": invalid syntax',
        ),
        (
            {"op": "add", "path": "/l/²", "value": 1},
            "error in add for path: '/l/²': value was not a proper array index: '²': "
            'strconv.Atoi: parsing "²": invalid syntax',
        ),
        (
            {"op": "remove", "path": "/l/" + "9" * 5000},
            f"error in remove for path: '/l/{'9' * 5000}': strconv.Atoi: parsing \"{'9' * 5000}\": value out of range",
        ),
        (
            {"op": "remove", "path": "/l/3"},
            "error in remove for path: '/l/3': Unable to access invalid index: 3: invalid index referenced",
        ),
        (
            {"op": "remove", "path": "/l/-4"},
            "error in remove for path: '/l/-4': Unable to access invalid index: -4: invalid index referenced",
        ),
        (
            {"op": "replace", "path": "/l/-", "value": 1},
            "replace operation does not apply: doc is missing key: /l/-: missing value",
        ),
        ({"op": "replace", "path": "", "value": 1}, "replace operation value must be object or array: %!w(<nil>)"),
        (
            {"op": "move", "from": "/o", "path": "/o/x"},
            "move operation does not apply: doc is missing destination path: /o/x: missing value",
        ),
        (
            {"op": "move", "from": "/z", "path": "/y"},
            "error in move for path: 'z': Unable to remove nonexistent key: z: missing value",
        ),
        (
            {"op": "move", "path": "/y"},
            "move operation failed to decode from: operation, missing from field: missing value",
        ),
        ({"op": "add", "value": 1}, "add operation failed to decode path: missing value"),
        ({"op": "jump", "path": "/a"}, "Unexpected kind: jump"),
        ({"path": "/a"}, "Unexpected kind: unknown"),
    ],
)
def test_an_operation_that_does_not_apply_is_rejected(operation, why):
    with pytest.raises(JSONPatchError) as error:
        apply_json_patch([operation], {"a": 1, "l": [1, 2, 3], "o": {}})
    assert str(error.value) == why
    assert error.value.is_failed_test == why.endswith("test failed")


def test_the_size_of_copied_values_is_limited():
    doubling = [{"op": "copy", "from": "/a", "path": "/a/-"}] * 40
    with pytest.raises(JSONPatchError, match="exceeding the limit 3145728"):
        apply_json_patch(doubling, {"a": ["x" * 100]})


def test_a_copied_value_is_not_shared():
    operations = [{"op": "copy", "from": "/a", "path": "/b"}, {"op": "add", "path": "/b/x", "value": 1}]
    assert apply_json_patch(operations, {"a": {}}) == {"a": {}, "b": {"x": 1}}


def test_a_patch_can_be_applied_twice():
    operations = [{"op": "add", "path": "/a", "value": {}}, {"op": "add", "path": "/a/x", "value": 1}]
    assert apply_json_patch(operations, {}) == apply_json_patch(operations, {}) == {"a": {"x": 1}}


@given(OBJECTS, OBJECTS)
def test_a_patch_of_the_differences_gives_the_new_document(old, new):
    operations, before = list(difference(old, new)), deepcopy(old)
    assert apply_json_patch(operations, old) == new
    assert old == before


@given(st.lists(OPERATIONS, max_size=4), OBJECTS)
def test_random_operations_are_applied_or_rejected(operations, tree):
    before = deepcopy((operations, tree))
    with suppress(JSONPatchError):
        apply_json_patch(operations, tree)
    assert (operations, tree) == before

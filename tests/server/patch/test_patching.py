"""Patches of all media types: which are supported, field validation, and the decoding of results."""

import json
from contextlib import suppress
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.errors import (
    APIError,
    BadRequestError,
    InvalidError,
    RequestEntityTooLargeError,
    UnsupportedMediaTypeError,
)
from listwatch.server.patch.patching import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
    apply_patch,
)
from listwatch.server.schema.schema import builtin_schema

KINDS = [JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH]
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"k": "v"}}
WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"list": [1]}}


def patch(kind, change, tree=CONFIG, **options):
    before = deepcopy(tree)
    data = change if isinstance(change, bytes) else json.dumps(change).encode()
    try:
        return apply_patch(kind, data, tree, builtin_schema(), **options)
    finally:
        assert tree == before


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (JSON_PATCH, [{"op": "add", "path": "/data/n", "value": "w"}]),
        (MERGE_PATCH, {"data": {"n": "w"}}),
        (STRATEGIC_MERGE_PATCH, {"data": {"n": "w"}}),
        (f"{MERGE_PATCH}; charset=utf-8", {"data": {"n": "w"}}),
    ],
)
def test_each_kind_of_patch_is_applied(kind, change):
    decoded = patch(kind, change)
    assert decoded.tree["data"] == {"k": "v", "n": "w"}
    assert decoded.warnings == ()


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (JSON_PATCH, None),
        (JSON_PATCH, []),
        (MERGE_PATCH, {}),
        (STRATEGIC_MERGE_PATCH, {}),
        (STRATEGIC_MERGE_PATCH, None),
    ],
)
def test_an_empty_patch_changes_nothing(kind, change):
    assert patch(kind, change).tree == CONFIG


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "", APPLY_PATCH])
def test_an_unknown_media_type_is_rejected_with_the_supported_ones(kind):
    with pytest.raises(UnsupportedMediaTypeError) as error:
        patch(kind, {})
    assert error.value.message.endswith(
        f"accepted media types include: {', '.join(KINDS)}, application/apply-patch+yaml"
    )


def test_a_custom_resource_does_not_support_strategic_merge_patches():
    with pytest.raises(UnsupportedMediaTypeError) as error:
        patch(STRATEGIC_MERGE_PATCH, {}, WIDGET)
    assert STRATEGIC_MERGE_PATCH not in error.value.message
    assert patch(MERGE_PATCH, {"spec": {"list": [2]}}, WIDGET).tree["spec"] == {"list": [2]}


# --- Errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("data", [b"", b"{", b"nope", b"\xff"])
def test_invalid_json_is_rejected(kind, data):
    with pytest.raises(BadRequestError, match="error decoding patch: "):
        patch(kind, data)


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        (JSON_PATCH, {}, "cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        (JSON_PATCH, ["x"], "cannot unmarshal string into Go value of type handlers.jsonPatchOp"),
        (JSON_PATCH, [{"op": 1}], "cannot unmarshal number into Go struct field jsonPatchOp.op of type string"),
        (JSON_PATCH, [{"op": "add", "path": []}], "cannot unmarshal array into Go struct field jsonPatchOp.path"),
        (MERGE_PATCH, [1], "cannot unmarshal array into Go value of type map[string]interface {}"),
        (MERGE_PATCH, None, "Invalid JSON Patch"),
        (STRATEGIC_MERGE_PATCH, [], "cannot unmarshal array into Go value of type map[string]interface {}"),
        (STRATEGIC_MERGE_PATCH, 0, "cannot unmarshal number into Go value of type map[string]interface {}"),
        (STRATEGIC_MERGE_PATCH, [1], "cannot unmarshal array into Go value of type map[string]interface {}"),
        (MERGE_PATCH, b'{"a":' * 5000 + b"1" + b"}" * 5000, "exceeded max depth"),
        (MERGE_PATCH, b'{"a":' * 700 + b"1" + b"}" * 700, "exceeded max depth"),
    ],
)
def test_a_patch_of_the_wrong_json_type_is_rejected(kind, change, message):
    with pytest.raises(BadRequestError) as error:
        patch(kind, change, WIDGET if isinstance(change, bytes) else CONFIG)
    assert message in error.value.message


def test_too_many_operations_are_rejected():
    operations = [{"op": "test", "path": "/data/k", "value": "v"}] * 10_001
    with pytest.raises(RequestEntityTooLargeError) as error:
        patch(JSON_PATCH, operations)
    assert error.value.message == (
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
    )
    assert patch(JSON_PATCH, operations[1:]).tree == CONFIG


WRONG_TYPE = "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"


@pytest.mark.parametrize(
    ("kind", "change", "shown", "why"),
    [
        (JSON_PATCH, [{"op": "add", "path": "/data/n", "value": 1}], r"\"n\":1", WRONG_TYPE),
        (MERGE_PATCH, {"data": {"n": 1}}, r"\"n\":1", WRONG_TYPE),
        (STRATEGIC_MERGE_PATCH, {"data": {"n": 1}}, '"map[data:map[n:1]]"', "cannot convert int64 to string"),
        (STRATEGIC_MERGE_PATCH, {"data": "x"}, '"map[data:x]"', "cannot restore map from string"),
        (STRATEGIC_MERGE_PATCH, {"immutable": []}, '"map[immutable:[]]"', "unrecognized type: bool"),
    ],
)
def test_a_result_with_wrong_types_is_invalid(kind, change, shown, why):
    with pytest.raises(InvalidError) as error:
        patch(kind, change)
    [cause] = error.value.causes
    assert (cause.reason, cause.field) == ("FieldValueInvalid", "patch")
    assert shown in cause.message
    assert cause.message.endswith(f": {why}")
    assert error.value.message == f' "" is invalid: patch: {cause.message}'


@pytest.mark.parametrize(
    "change",
    [
        [{"op": "replace", "path": "", "value": [1]}],
        [{"op": "replace", "path": "/kind", "value": "Secret"}],
        [{"op": "replace", "path": "/apiVersion", "value": "apps/v1"}],
        [{"op": "replace", "path": "/kind", "value": 1}],
    ],
)
def test_a_patch_cannot_change_the_kind(change):
    with pytest.raises(InvalidError):
        patch(JSON_PATCH, change)


def test_a_patch_may_remove_the_kind():
    assert patch(JSON_PATCH, [{"op": "remove", "path": "/kind"}]).tree == CONFIG
    assert patch(STRATEGIC_MERGE_PATCH, {"kind": "Secret", "apiVersion": "x/y"}).tree == CONFIG


def test_an_error_does_not_contain_the_data_of_a_secret():
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"k": "aHVzaA=="}}
    for kind, change in ((MERGE_PATCH, {"data": {"n": "not base64"}}), (STRATEGIC_MERGE_PATCH, {"data": {"n": "aHU"}})):
        with pytest.raises(InvalidError) as error:
            patch(kind, change, secret)
        assert "aHU" not in str(error.value)
        assert "not base64" not in str(error.value)


# --- Field validation -------------------------------------------------------------------------------------------------

UNKNOWN = [
    (JSON_PATCH, [{"op": "add", "path": "/foo", "value": 1}], 'unknown field "foo"'),
    (JSON_PATCH, [{"op": "test", "path": "/data/k", "value": "v", "x": 1}], 'json patch unknown field "[0].x"'),
    (JSON_PATCH, b'[{"op":"test","op":"test","path":"/foo"}]', 'json patch duplicate field "[0].op"'),
    (MERGE_PATCH, {"foo": 1}, 'unknown field "foo"'),
    (MERGE_PATCH, b'{"data":{"a":"1","a":"2"}}', 'duplicate field "data.a"'),
    (STRATEGIC_MERGE_PATCH, {"foo": 1}, 'unknown field "foo"'),
    (STRATEGIC_MERGE_PATCH, b'{"data":{"a":"1","a":"2"}}', 'duplicate field "data.a"'),
]


@pytest.mark.parametrize(("kind", "change", "problem"), UNKNOWN)
def test_field_validation_decides_about_unknown_and_duplicate_fields(kind, change, problem):
    warned = patch(kind, change)
    assert warned.warnings == (problem,)
    assert "foo" not in warned.tree
    assert patch(kind, change, field_validation="Ignore").warnings == ()
    with pytest.raises(InvalidError) as error:
        patch(kind, change, field_validation="Strict")
    assert error.value.message.endswith(f"strict decoding error: {problem}")


def test_a_map_with_duplicate_members_is_merged():
    for kind in (MERGE_PATCH, STRATEGIC_MERGE_PATCH):
        assert patch(kind, b'{"data":{"a":"1","a":"2"}}').tree["data"] == {"k": "v", "a": "2"}
    test = b'[{"op":"test","path":"/data","value":{"k":"x","k":"v"}}]'
    assert patch(JSON_PATCH, test).tree == CONFIG


# --- Random patches ---------------------------------------------------------------------------------------------------

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["a", "x", "/data/k", "test", "remove"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["op", "path", "from", "value", "data", "metadata", "labels", "$patch", "kind", "k"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.sampled_from(KINDS), ANYTHING, st.sampled_from(["Strict", "Warn", "Ignore"]))
def test_random_patches_are_applied_or_rejected(kind, change, strictness):
    with suppress(APIError):
        decoded = patch(kind, change, field_validation=strictness)
        assert (decoded.tree["apiVersion"], decoded.tree["kind"]) == ("v1", "ConfigMap")

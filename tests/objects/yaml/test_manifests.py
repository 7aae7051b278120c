"""YAML manifests: common forms, and documents that must be rejected."""

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.objects.widgets import MAPS, TEXTS, Widget, compact, failure, widget

from listwatch.errors import DecodeError, EncodeError, FieldError
from listwatch.objects.unstructured import Unstructured
from listwatch.objects.yaml.manifests import read_all, read_one, write

MANIFEST = """\
# A comment.
apiVersion: example.com/v1
kind: Widget
metadata:
  name: web
  creationTimestamp: 2026-01-02T03:04:05Z
  labels: {app: web, version: "1.0"}
spec:
  replicas: 3
  since: 2026-01-02T03:04:05.123456789Z
data:
  k: aGk=
"""


def test_one_document_is_one_object():
    obj = Widget.from_yaml(MANIFEST)
    assert (obj.name, obj.labels, obj.spec.replicas, obj.data) == (
        "web",
        {"app": "web", "version": "1.0"},
        3,
        {"k": b"hi"},
    )
    assert Widget.from_yaml(MANIFEST.encode()) == obj
    assert Unstructured.from_yaml(MANIFEST)["spec"]["replicas"] == 3


def test_many_documents_are_many_objects_and_empty_ones_none():
    text = f"---\n---\n{MANIFEST}---\n# nothing\n---\n{MANIFEST.replace('web', 'api')}...\n"
    assert [obj.name for obj in Widget.all_from_yaml(text)] == ["web", "api"]
    assert Widget.all_from_yaml("") == Widget.all_from_yaml("---\n") == []


@pytest.mark.parametrize(("text", "count"), [("", 0), ("---\n---\n", 0), (MANIFEST + "---\n" + MANIFEST, 2)])
def test_reading_one_document_rejects_none_and_several(text: str, count: int):
    with pytest.raises(DecodeError, match=f"YAML: expected one object, found {count}; use all_from_yaml for several"):
        Widget.from_yaml(text)


def test_a_list_is_the_objects_in_it():
    listed = "kind: List\napiVersion: v1\nitems:\n- {kind: Widget, metadata: {name: a}}\n- {kind: Claim}\n"
    assert [obj.kind for obj in Unstructured.all_from_yaml(listed)] == ["Widget", "Claim"]
    typed = "kind: WidgetList\napiVersion: example.com/v1\nitems:\n- metadata: {name: a}\n- {kind: Own}\n"
    assert list(read_all(typed)) == [
        {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}},
        {"kind": "Own"},
    ]
    assert [obj.name for obj in Widget.all_from_yaml(f"{MANIFEST}---\n{typed.replace('Own', 'Widget')}")] == [
        "web",
        "a",
        "",
    ]
    assert list(read_all("kind: List\nitems: 5")) == [{"kind": "List", "items": 5}]


def test_times_are_kept_as_strings():
    spec = Unstructured.from_yaml(MANIFEST)["spec"]
    assert spec["since"] == "2026-01-02T03:04:05.123456789Z"
    assert read_one("a: 2026-01-02") == {"a": "2026-01-02"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("22:22", "22:22"),
        ("1:30.5", "1:30.5"),
        ("010", 8),
        ("0x1f", 31),
        ("1.50", 1.5),
        ("1e3", "1e3"),
        ("yes", True),
        ("'yes'", "yes"),
        ("~", None),
        ("", None),
        ("=x", "=x"),
        ("!!str 5", "5"),
        ("!!binary aGk=", b"hi"),
        ("12345678901234567890123", 12345678901234567890123),
    ],
)
def test_plain_values_are_read_as_kubernetes_reads_them(text: str, value: Any):
    assert read_one(f"a: {text}") == {"a": value}


# --- keys ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2", "duplicate key 'a' at line 2, column 1"),
        ("x:\n  a: 1\n  b: 1\n  'a': 2", "duplicate key 'a' at line 4, column 3"),
        ("{a: {b: 1, b: 2}}", "duplicate key 'b' at line 1, column 12"),
        ("1: x\n'1': y", "duplicate key '1' at line 2, column 1"),
        ("- &x {a: 1, a: 2}\n- {<<: *x}", "duplicate key 'a' at line 1, column 13"),
        ("x: &x {a: 1}\ny: {b: 1, <<: *x, b: 2}", "duplicate key 'b' at line 2, column 19"),
        ("on: 1", "the key 'on' at line 1, column 1 is not a string; quote it"),
        ("a: {true: 1}", "the key 'true' at line 1, column 5 is not a string; quote it"),
        ("~: 1", "the key '~' at line 1, column 1 is not a string; quote it"),
        ("? [a]\n: b", "found unhashable key at line 1, column 3"),
    ],
)
def test_a_duplicate_key_and_a_key_that_is_not_a_string_are_errors(text: str, message: str):
    with pytest.raises(DecodeError) as caught:
        list(read_all(text))
    assert str(caught.value) == f"YAML: {message}"


def test_keys_that_look_like_numbers_are_strings():
    assert read_one("8080: a\n1.50: b\n0x10: c") == {"8080": "a", "1.50": "b", "0x10": "c"}


def test_anchors_aliases_and_merges_work():
    text = """
    base: &base {image: x, ports: [80]}
    more: &more {image: y, extra: 1}
    same: *base
    merged: {<<: *base, image: z}
    both: {<<: [*base, *more], own: 1}
    twice: {<<: *base, <<: *more}
    nested: &nested {<<: *base, image: n, deep: {<<: *more}}
    again: {<<: *nested}
    named anew: [&base 5, *base]
    """
    found = read_one(text)
    assert found["same"] == found["base"] == {"image": "x", "ports": [80]}
    assert found["merged"] == {"image": "z", "ports": [80]}
    assert found["both"] == {"image": "x", "ports": [80], "extra": 1, "own": 1}
    assert found["twice"] == {"image": "y", "ports": [80], "extra": 1}
    assert found["named anew"] == [5, 5]
    assert found["nested"] == found["again"] == {"image": "n", "ports": [80], "deep": {"image": "y", "extra": 1}}


def test_objects_of_one_anchor_share_nothing():
    one, other = Widget.all_from_yaml("kind: List\nitems:\n- &a {kind: Widget, spec: {parts: [{name: a}]}}\n- *a\n")
    one.spec.parts.clear()
    assert len(other.spec.parts) == 1


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a:\n\t- b", "cannot start any token at line 2, column 1"),
        ("a: [", " at line "),
        ("a: b: c", "mapping values are not allowed"),
        ("a: *b", "found undefined alias 'b' at line 1, column 4"),
        ("a: !foo b", "could not determine a constructor for the tag '!foo'"),
        ("!!python/object/apply:os.system [ls]", "could not determine a constructor for the tag"),
        ("a: !!int x", "the value at line 1, column 4 does not match its tag"),
        ("a: !!bool x", "the value at line 1, column 4 does not match its tag"),
        ("a: !!timestamp x", "the value at line 1, column 4 does not match its tag"),
        ("a: 0b_", "the value at line 1, column 4 does not match its tag"),
        ("a: " + "9" * 5000, "the value at line 1, column 4 does not match its tag"),
        ("a: \x00", "character"),
        (b"a: \xff", "character"),
        ("a: &a [*a]", "the alias at line 1, column 4 is recursive"),
        ("a: &a {<<: *a}", "is recursive"),
        ("a: {<<: 5}", "expected a mapping or list of mappings for merging"),
        ("%YAML 9.9\n--- a", "found incompatible YAML document"),
        ("- a", "Widget: expected a mapping, got list"),
        ("just text", "Widget: expected a mapping, got str"),
        ("kind: List\nitems: [5]", "Widget: expected a mapping, got int"),
        ("kind: Other", "kind: expected 'Widget', got 'Other'"),
    ],
)
def test_an_invalid_manifest_is_an_error_with_its_place_and_reason(text: str | bytes, reason: str):
    for read in (Widget.from_yaml, Widget.all_from_yaml):
        with pytest.raises(DecodeError) as caught:
            read(text)
        assert reason in str(caught.value)


@pytest.mark.parametrize("text", ["a: \ud800", 'a: "\\ud800"', "\ud800: 1"])
def test_a_lone_surrogate_is_rejected(text: str):
    # Which of the two raises it depends on how PyYAML was built.
    with pytest.raises(FieldError, match=r"surrogate|character"):
        Widget.from_yaml(text)


@pytest.mark.parametrize(("text", "reason"), [("a: .nan", "a: JSON cannot represent nan"), ("a: [-.inf]", "-inf")])
def test_numbers_that_json_does_not_have_are_rejected(text: str, reason: str):
    with pytest.raises(EncodeError) as caught:
        Widget.from_yaml(text)
    assert reason in str(caught.value)


def test_no_error_repeats_a_value():
    for text in ("password: !!int hunter2", "password: hunter2\n  x: y", "password: 'hunter2", "a: [hunter2"):
        with pytest.raises(DecodeError) as caught:
            Widget.from_yaml(text)
        assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? ", "[&a "])
def test_a_deeply_nested_text_is_rejected_without_a_crash(opening: str):
    with pytest.raises(DecodeError, match="nested too deeply"):
        read_one(opening * 100_000)


LAUGHS = {
    "lists": "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)),
    "maps": "a0: &a0 {x: 1}\n"
    + "".join(f"a{n}: &a{n} {{{', '.join(f'k{k}: *a{n - 1}' for k in range(9))}}}\n" for n in range(1, 12)),
    "merges": "a0: &a0 {x: 1}\n"
    + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 12)),
    "texts": f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 1000)}]",
    "many keys": f"a: &a {{{', '.join(f'k{n}: 1' for n in range(5000))}}}\nb: {{<<: [{', '.join(['*a'] * 2000)}]}}",
}


@pytest.mark.parametrize("name", LAUGHS)
def test_the_expansion_of_aliases_is_bounded(name: str):
    tracemalloc.start()
    try:
        with pytest.raises(DecodeError, match="YAML: its aliases expand to too much data"):
            Unstructured.from_yaml(LAUGHS[name])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 50_000_000


def test_a_text_without_aliases_may_have_any_size():
    assert len(read_one("a: [" + "x, " * 20_000 + "]")["a"]) == 20_000
    assert len(read_one(f"a: {'x' * 3_000_000}")["a"]) == 3_000_000


@given(st.text(max_size=60) | st.binary(max_size=60) | MAPS.map(compact))
def test_any_text_is_yaml_or_one_of_our_errors(text: str | bytes):
    for kind in (Widget, Unstructured):
        failure(kind.all_from_yaml, text)


WORDS = [
    "a:",
    "b",
    "[",
    "]",
    "{",
    "}",
    "-",
    "?",
    "&",
    "*",
    "!",
    "|",
    ">",
    "'",
    '"',
    "#",
    "%",
    "@",
    "<<",
    "1",
    "on",
    "~",
    "&a",
    "*a",
    "---",
    "...",
    ":",
    ",",
    "0x",
    "!!int",
]


@given(st.lists(st.sampled_from([*WORDS, "\n", "\t"])))
def test_any_mix_of_yaml_tokens_is_yaml_or_one_of_our_errors(words: list[str]):
    failure(Unstructured.all_from_yaml, " ".join(words))


# --- writing ---------------------------------------------------------------------------------------------------------


@given(MAPS)
def test_a_written_tree_is_read_back_unchanged(tree: dict):
    assert read_one(write({"a": tree})) == {"a": tree}


@given(st.dictionaries(TEXTS | st.sampled_from(["on", "<<", "=", "1", "1.5", "~", "22:22", "", "2026-01-02"]), TEXTS))
def test_strings_that_look_like_other_types_stay_strings(tree: dict):
    assert read_one(write({**tree, "x": list(tree)})) == {**tree, "x": list(tree)}


def test_an_object_is_written_as_people_write_it():
    obj = Widget.from_wire(widget(note="one\ntwo\n", spec={"replicas": 1, "parts": [{"name": "é" + " x" * 100}]}))
    assert obj.to_yaml() == (
        "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: web\n  namespace: default\n  uid: u-1\n"
        "  resourceVersion: '7'\nnote: |\n  one\n  two\nspec:\n  replicas: 1\n  parts:\n  - name: é" + " x" * 100 + "\n"
    )
    assert Widget.from_yaml(obj.to_yaml()) == obj
    assert json.loads(obj.to_json())["note"] == "one\ntwo\n"


def test_several_trees_are_several_documents():
    assert list(read_all(write({"a": 1}, {"b": 2}))) == [{"a": 1}, {"b": 2}]
    assert write({"a": 1}) == "a: 1\n"


def test_a_plain_equals_sign_is_a_string():
    # PyYAML takes it for a tag of YAML 1.1; operators of matchers are written so.
    assert Unstructured.from_yaml("kind: A\nspec: {operators: [=, '!=', =~]}").to_dict()["spec"] == {
        "operators": ["=", "!=", "=~"]
    }

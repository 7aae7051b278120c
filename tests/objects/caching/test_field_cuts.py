"""Fields are cut out of the bytes of objects, exactly and nothing else."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.errors import UsageError
from listwatch.models.core_v1 import Pod
from listwatch.objects.caching.field_cuts import FieldCuts

NOTE = "kubectl.kubernetes.io/last-applied-configuration"
PATHS = ["metadata.managedFields", f"metadata.annotations['{NOTE}']", "status.conditions", "spec"]
NAMES = [("metadata", "managedFields"), ("metadata", "annotations", NOTE), ("status", "conditions"), ("spec",)]


def without(tree: dict[str, Any], path: tuple[str, ...]) -> None:
    for name in path[:-1]:
        tree = tree.get(name) or {}
    tree.pop(path[-1], None)


def encoded(tree: object, *, spaces: bool = False) -> bytes:
    return json.dumps(tree, separators=None if spaces else (",", ":")).encode()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["managedFields", "conditions", "spec", NOTE, "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
annotations = st.dictionaries(st.sampled_from([NOTE, "y"]), values)
metadata = st.fixed_dictionaries({"name": st.just("a")}, optional={"managedFields": values, "annotations": annotations})
status = st.fixed_dictionaries({}, optional={"conditions": values, "spec": values})
trees = st.fixed_dictionaries({"metadata": metadata}, optional={"spec": values, "status": status})


@given(trees, st.sets(st.sampled_from(range(4)), min_size=1), st.booleans())
def test_exactly_the_named_fields_are_missing(tree: dict[str, Any], chosen: set[int], spaces: bool) -> None:
    expected = copy.deepcopy(tree)
    for number in chosen:
        without(expected, NAMES[number])

    cut = FieldCuts([PATHS[number] for number in sorted(chosen)]).cut(encoded(tree, spaces=spaces))

    assert json.loads(cut) == expected


def test_the_head_of_the_object_is_kept() -> None:
    raw = encoded(
        {
            "metadata": {
                "name": "a",
                "namespace": "b",
                "uid": "u",
                "resourceVersion": "7",
                "labels": {"app": "x"},
                "managedFields": [{"manager": "m" * 2000}],
            },
            "spec": {"nodeName": "n"},
        }
    )

    cut = FieldCuts(["metadata.managedFields"]).apply(Pod.from_wire(raw))

    assert (cut.cache_key, cut.uid, cut.resource_version, dict(cut.labels)) == ("b/a", "u", "7", {"app": "x"})
    assert (cut.metadata.managed_fields, cut.spec.node_name) == ([], "n")
    assert len(cut._raw) < 200


def test_changes_of_the_object_are_kept() -> None:
    item = Pod.from_wire(encoded({"metadata": {"name": "a", "managedFields": [{}]}, "spec": {"nodeName": "n"}}))
    item.spec.node_name = "m"

    cut = FieldCuts(["metadata.managedFields"]).apply(item)

    assert (cut.spec.node_name, cut.metadata.managed_fields) == ("m", [])


def test_an_object_without_the_field_or_with_invalid_json_stays_as_it_is() -> None:
    cuts, plain, damaged = FieldCuts(["spec"]), b'{"metadata":{"name":"a"}}', b'{"metadata":{"name":"a"},"spec":\x01}'

    assert cuts.cut(plain) is plain
    assert cuts.cut(damaged) is damaged
    item = Pod.from_wire(plain)
    assert cuts.apply(item) is item


@pytest.mark.parametrize("path", ["", "a..b", "spec.containers[0].env", "metadata annotations", "a[b]", ".", "a."])
def test_other_paths_are_rejected(path: str) -> None:
    with pytest.raises(UsageError, match="not a path"):
        FieldCuts([path])


@pytest.mark.parametrize("path", ["metadata", "metadata.name", "metadata['uid']", "metadata.labels", "kind"])
def test_what_caches_need_cannot_be_dropped(path: str) -> None:
    with pytest.raises(UsageError, match="caches need it"):
        FieldCuts([path])


def test_a_single_path_has_to_be_in_a_list() -> None:
    with pytest.raises(UsageError, match=r"pass \['spec'\]"):
        FieldCuts("spec")

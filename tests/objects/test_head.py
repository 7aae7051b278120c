"""The head of an object, which is often read without reading the rest."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.errors import DecodeError
from listwatch.models.core_v1 import Pod

LARGE = "x" * 1100
METADATA = {
    "name": "web",
    "namespace": "team-1",
    "uid": "3f0c",
    "resourceVersion": "42",
    "labels": {"app": "web"},
    "annotations": {"note": ',"managedFields":[', "long": LARGE},
    "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}],
}


def head_of(raw: bytes) -> tuple[object, ...]:
    pod = Pod.from_wire(raw)
    return pod.name, pod.namespace, pod.uid, pod.resource_version, dict(pod.labels), pod.cache_key


def written(tree: dict[str, object]) -> bytes:
    return json.dumps(tree, separators=(",", ":")).encode()


@settings(max_examples=5 * settings.default.max_examples)
@given(
    keys=st.permutations(list(METADATA)),
    left_out=st.sets(st.sampled_from([key for key in METADATA if key != "name"]), max_size=1),
    parts=st.permutations(["kind", "metadata", "spec", "data"]),
)
def test_the_head_does_not_depend_on_the_order_of_fields(keys, left_out, parts):
    metadata = {key: METADATA[key] for key in keys if key not in left_out}
    whole = {
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"a": LARGE, "managedFields": [{"labels": {"no": "label"}}]},
        "data": {"labels": {}, "managedFields": []},
    }

    found = head_of(written({part: whole[part] for part in parts}))

    namespace = metadata.get("namespace", "")
    assert found == (
        "web",
        namespace,
        metadata.get("uid", ""),
        metadata.get("resourceVersion", ""),
        metadata.get("labels", {}),
        f"{namespace}/web" if namespace else "web",
    )


def test_the_head_is_decoded_although_the_rest_is_invalid_and_raises_on_access():
    pod = Pod.from_wire(written({"metadata": METADATA, "spec": {}})[:-2] + b"?}")

    assert (pod.name, pod.labels) == ("web", {"app": "web"})
    with pytest.raises(DecodeError, match="Pod team-1/web"):
        _ = pod.spec


def test_equal_labels_are_stored_once():
    pods = [Pod.from_wire(written({"metadata": METADATA | {"name": name}})) for name in ("a", "b")]

    assert pods[0].labels is pods[1].labels

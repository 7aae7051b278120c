"""Tables of cached objects: equal to plain Python, and without decoding the other fields."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.cache.arrow_table import FieldReader, make_table
from listwatch.cache.indexer import Indexer
from listwatch.cache.lister import Lister
from listwatch.errors import DecodeError, UsageError
from listwatch.keyed import Keyed
from listwatch.meta import GroupResource
from listwatch.models.core_v1 import Pod
from listwatch.objects.unstructured import Unstructured

TREE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a", "namespace": "default", "labels": {"app": "web", "app.kubernetes.io/name": "x"}},
    "spec": {"nodeName": "n1", "priority": 5, "containers": [{"name": "c", "image": "i"}, {"name": "d"}]},
    "status": {"phase": "Running"},
}


def pod(name: str, **parts: Any) -> Pod:
    return Pod.from_wire(json.dumps(TREE | {"metadata": {**TREE["metadata"], "name": name}} | parts).encode())


class Observed:
    """Records the parts that cannot be decoded."""

    def __init__(self) -> None:
        self.errors: list[DecodeError] = []

    def note(self, _item: object, error: DecodeError) -> None:
        self.errors.append(error)


def lister(*pods: Pod) -> Lister[Pod]:
    indexer: Indexer[Pod] = Indexer()
    for each in pods:
        indexer.add(each)
    return Lister(indexer, GroupResource("", "pods"))


def test_each_path_is_a_column():
    paths = ["metadata.name", "spec.nodeName", "spec.priority", "status.phase", "spec.containers[0].image"]
    table = lister(pod("a"), pod("b", spec={"containers": []})).to_arrow(paths)
    assert table.column_names == paths
    assert sorted(table.to_pylist(), key=str) == [
        dict(zip(paths, ["a", "n1", 5, "Running", "i"], strict=True)),
        dict(zip(paths, ["b", None, None, "Running", None], strict=True)),
    ]


def test_columns_are_named_by_a_mapping():
    table = lister(pod("a")).to_arrow({"name": "metadata.name", "app": 'metadata.labels["app.kubernetes.io/name"]'})
    assert table.to_pylist() == [{"name": "a", "app": "x"}]


def test_every_item_of_a_list_is_a_list_column():
    [row] = lister(pod("a")).to_arrow(["spec.containers[*].name", "spec.containers[*].image"]).to_pylist()
    assert row == {"spec.containers[*].name": ["c", "d"], "spec.containers[*].image": ["i", None]}


def test_objects_and_mixed_values_are_json():
    pods = [Unstructured.from_dict(TREE | {"x": value}) for value in (1, "a", None, [1], {"b": 2})]
    assert make_table(pods, ["x"])["x"].to_pylist() == ["1", "a", None, "[1]", '{"b":2}']
    assert json.loads(make_table(pods[:1], ["metadata.labels"])["metadata.labels"][0].as_py()) == {
        "app": "web",
        "app.kubernetes.io/name": "x",
    }


def test_a_path_and_a_path_below_it_can_both_be_columns():
    reader = FieldReader(["metadata.labels.app", "metadata.labels", "metadata.labels.no.deeper"])
    assert reader.read(pod("a")) == ["web", TREE["metadata"]["labels"], None]


def test_selected_objects_become_rows():
    table = lister(pod("a"), pod("b", status={"phase": "Failed"})).to_arrow(
        ["metadata.name"], "app=web", field_selector="status.phase=Failed"
    )
    assert table["metadata.name"].to_pylist() == ["b"]


def test_an_object_that_was_changed_is_read_with_its_changes():
    changed = pod("a")
    changed.spec.node_name = "n2"
    assert FieldReader(["spec.nodeName"]).read(changed) == ["n2"]


def test_reading_decodes_no_part_of_the_object():
    item = pod("a", status={"phase": "Running", "podIP": 5})  # of a wrong type, which decoding reports
    observed = Observed()
    with Pod._observed_damage(observed.note):
        assert FieldReader(["spec.nodeName", "status.podIP"]).read(item) == ["n1", 5]
        assert observed.errors == []
        with pytest.raises(DecodeError):
            _ = item.status.pod_ip
        assert len(observed.errors) == 1


def test_a_path_through_a_value_that_is_no_object_is_null():
    items = [Unstructured.from_dict(TREE | {"spec": spec}) for spec in (5, None, [], {"a": 1}, {"a": {"b": 2}})]
    assert [FieldReader(["spec.a.b"]).read(each) for each in items] == [[None], [None], [None], [None], [2]]


@dataclass
class Entry(Keyed):
    name: str
    values: dict[str, int] = field(default_factory=dict)


def test_other_objects_are_read_by_attributes():
    assert FieldReader(["name", "values.a", "missing"]).read(Entry("x", {"a": 1})) == ["x", 1, None]


@pytest.mark.parametrize("path", ["", "[0].a", "a..b", "a[", "a[x]", "a[-1]", None, 5])
def test_other_texts_are_no_paths(path: Any):
    with pytest.raises(UsageError, match="is not the path of a field"):
        FieldReader([path])


@pytest.mark.parametrize("paths", [[], "metadata.name", {}])
def test_paths_are_required(paths: Any):
    with pytest.raises(UsageError, match="needs the paths of fields"):
        FieldReader(paths)


def test_bytes_that_are_no_json_are_an_error():
    with pytest.raises(DecodeError, match="not valid JSON"):
        FieldReader(["spec.a"]).read(Pod.from_wire(b'{"metadata":{"name":"a"},"spec":{"a":tru}}'))


TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)
PATHS = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(".".join), min_size=1, unique=True)


@given(tree=TREES, paths=PATHS)
def test_values_are_those_of_plain_python(tree: Any, paths: list[str]):
    def plain(value: Any, names: list[str]) -> Any:
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return value

    content = TREE | {"spec": tree}
    found = FieldReader([f"spec.{each}" for each in paths]).read(Unstructured.from_dict(content))
    assert found == [plain(tree, each.split(".")) for each in paths]

"""The fields that the server sets or preserves on a write."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.bare_server import Tree

from listwatch.errors import APIError, BadRequestError, ConflictError, InvalidError
from listwatch.meta import Resource
from listwatch.server.json_tree import copied, same
from listwatch.server.lifecycle.strategy import (
    check_name,
    check_namespace,
    check_resource_version,
    check_uid,
    immutable_metadata_problems,
    prepare_for_create,
    prepare_for_status_update,
    prepare_for_update,
)
from listwatch.server.requests import APIRequest
from listwatch.server.schema.registry import CUSTOM_RESOURCE, Registry, Traits
from listwatch.server.schema.schema import builtin_schema

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
REGISTRY = Registry.builtin()


def resource(plural: str, group: str = "", version: str = "v1") -> Resource:
    found = REGISTRY.lookup(group, version, plural)
    assert found is not None
    return found


CONFIG_MAPS, PODS, NAMESPACES = resource("configmaps"), resource("pods"), resource("namespaces")
DEPLOYMENTS, NODES = resource("deployments", "apps"), resource("nodes")
LEASES = resource("leases", "coordination.k8s.io")


def new(kind: str, **fields: Tree) -> Tree:
    return {"kind": kind, "apiVersion": "v1", "metadata": {"name": "a"}, **fields}


def existing(kind: str, **fields: Tree) -> Tree:
    metadata = {
        "name": "a",
        "namespace": "default",
        "uid": "uid-1",
        "resourceVersion": "7",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        **fields.pop("metadata", {}),
    }
    return {"kind": kind, "apiVersion": "v1", "metadata": metadata, **fields}


def begin(tree: Tree, about: Resource) -> Tree:
    prepare_for_create(tree, about, REGISTRY.traits(about), builtin_schema(), uid="uid-9", now=NOW)
    return tree


# --- identity ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("said", "kept"), [({}, "default"), ({"namespace": "default"}, "default")])
def test_a_namespace_is_taken_from_the_path(said: Tree, kept: str):
    tree = {"metadata": dict(said)}
    check_namespace(APIRequest("create", CONFIG_MAPS, "default"), tree)
    assert tree["metadata"] == {"namespace": kept}


def test_another_namespace_is_rejected_and_that_of_a_cluster_resource_is_dropped():
    with pytest.raises(BadRequestError, match="does not match"):
        check_namespace(APIRequest("create", CONFIG_MAPS, "default"), {"metadata": {"namespace": "other"}})
    tree = {"metadata": {"namespace": "other"}}
    check_namespace(APIRequest("create", NODES), tree)
    assert tree == {"metadata": {}}


def test_a_name_is_that_of_the_path():
    request = APIRequest("update", CONFIG_MAPS, "default", "a")
    check_name(request, {"metadata": {"name": "a"}})
    for metadata in ({}, {"name": ""}, {"name": "b"}):
        with pytest.raises(BadRequestError):
            check_name(request, {"metadata": metadata})


def test_an_update_with_another_uid_conflicts():
    tree = {"metadata": {"name": "a", "uid": "uid-1"}}
    check_uid(tree, "uid-1", CONFIG_MAPS)
    check_uid({"metadata": {"name": "a"}}, "uid-1", CONFIG_MAPS)
    for found in ("uid-2", ""):
        with pytest.raises(ConflictError, match="UID in precondition: uid-1"):
            check_uid(tree, found, CONFIG_MAPS)


@pytest.mark.parametrize(
    ("version", "traits", "refusal"),
    [
        ("7", Traits(), None),
        ("", Traits(), None),
        ("0", Traits(), None),
        ("6", Traits(), ConflictError),
        ("8", Traits(), ConflictError),
        ("", CUSTOM_RESOURCE, InvalidError),
        ("0", CUSTOM_RESOURCE, InvalidError),
        ("7", CUSTOM_RESOURCE, None),
        ("seven", Traits(), APIError),
    ],
)
def test_an_update_of_another_version_conflicts(version: str, traits: Traits, refusal: type[APIError] | None):
    tree = {"metadata": {"name": "a", "resourceVersion": version}}
    if refusal is None:
        check_resource_version(tree, existing("ConfigMap"), CONFIG_MAPS, traits)
    else:
        with pytest.raises(refusal):
            check_resource_version(tree, existing("ConfigMap"), CONFIG_MAPS, traits)


# --- being made -------------------------------------------------------------------------------------------------------


def test_a_new_object_gets_its_identity_and_its_time_in_whole_seconds():
    metadata = begin(new("ConfigMap"), CONFIG_MAPS)["metadata"]
    assert metadata == {"name": "a", "uid": "uid-9", "creationTimestamp": "2026-01-02T03:04:05Z"}


@pytest.mark.parametrize("version", ["0", "", "x"])
def test_an_invalid_resource_version_of_a_new_object_is_ignored(version: str):
    tree = new("ConfigMap")
    tree["metadata"]["resourceVersion"] = version
    assert "resourceVersion" not in begin(tree, CONFIG_MAPS)["metadata"]


def test_a_new_object_with_a_resource_version_is_rejected():
    tree = new("ConfigMap")
    tree["metadata"]["resourceVersion"] = "7"
    with pytest.raises(APIError, match="should not be set") as caught:
        begin(tree, CONFIG_MAPS)
    assert caught.value.status_code == 500


def test_the_status_of_a_new_object_is_dropped_except_for_a_node():
    assert begin(new("Deployment", status={"replicas": 3}), DEPLOYMENTS)["status"] == {}
    assert begin(new("Pod", status={"phase": "Running"}), PODS)["status"] == {}
    assert begin(new("Namespace", status={"phase": "Terminating"}), NAMESPACES)["status"] == {}
    assert begin(new("Node", status={"phase": "Running"}), NODES)["status"] == {"phase": "Running"}


def test_initial_statuses_are_not_shared_between_objects():
    first = begin(new("Namespace"), NAMESPACES)
    first["status"]["phase"] = "Terminating"
    assert begin(new("Namespace"), NAMESPACES)["status"] == {}


def test_a_new_volume_has_a_phase_transition_time():
    volume = begin(new("PersistentVolume"), resource("persistentvolumes"))
    assert volume["status"] == {"lastPhaseTransitionTime": "2026-01-02T03:04:05Z"}


@pytest.mark.parametrize(("about", "generation"), [(DEPLOYMENTS, 1), (PODS, 1), (CONFIG_MAPS, None), (LEASES, None)])
def test_the_generation_of_some_kinds_starts_at_one(about: Resource, generation: int | None):
    assert begin(new(about.kind), about)["metadata"].get("generation") == generation


# --- being changed ----------------------------------------------------------------------------------------------------

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
CLIENTS_WISHES = ("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "generation", "labels")
METADATA = st.fixed_dictionaries(
    {"name": st.just("a"), "namespace": st.just("default")}, optional=dict.fromkeys(CLIENTS_WISHES, ANYTHING)
)


@given(METADATA, ANYTHING, ANYTHING)
def test_an_update_cannot_change_server_metadata(metadata: Tree, spec: Tree, status: Tree):
    old = existing("Deployment", spec={"replicas": 1}, status={"replicas": 1}, metadata={"generation": 4})
    tree = {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": metadata, "spec": spec, "status": status}
    prepare_for_update(tree, old, DEPLOYMENTS, REGISTRY.traits(DEPLOYMENTS))
    for name in ("uid", "resourceVersion", "creationTimestamp"):
        assert tree["metadata"][name] == old["metadata"][name]
    assert "deletionTimestamp" not in tree["metadata"]
    assert tree["status"] == old["status"]
    assert tree["metadata"]["generation"] == (4 if same(spec, old["spec"]) else 5)


@given(METADATA, ANYTHING, ANYTHING)
def test_a_status_update_changes_nothing_else(metadata: Tree, spec: Tree, status: Tree):
    old = existing("Widget", spec={"size": 1}, status={"size": 0}, metadata={"generation": 4, "labels": {"a": "b"}})
    tree = {"kind": "Widget", "apiVersion": "v1", "metadata": metadata, "spec": spec, "status": status}
    kept = prepare_for_status_update(copied(tree), old, CONFIG_MAPS, CUSTOM_RESOURCE)
    assert kept == {**old, "status": status}


def test_a_status_update_can_remove_the_status():
    old = existing("Deployment", spec={}, status={"replicas": 1})
    kept = prepare_for_status_update(new("Deployment"), old, DEPLOYMENTS, REGISTRY.traits(DEPLOYMENTS))
    assert "status" not in kept


@pytest.mark.parametrize(
    ("about", "kept"),
    [(PODS, ("ownerReferences",)), (DEPLOYMENTS, ("labels",)), (NODES, ())],
    ids=["pods", "deployments", "nodes"],
)
def test_a_status_update_of_built_in_kinds_can_change_most_metadata(about: Resource, kept: tuple[str, ...]):
    names = ("labels", "annotations", "ownerReferences")
    old = existing(about.kind, metadata=dict.fromkeys(names, "old"), status={})
    tree = new(about.kind, status={"x": 1})
    tree["metadata"].update(dict.fromkeys(names, "new"))
    result = prepare_for_status_update(tree, old, about, REGISTRY.traits(about))
    assert {name for name in names if result["metadata"][name] == "old"} == set(kept)


def test_a_changed_annotation_increments_the_generation_of_a_deployment():
    old = existing("Deployment", spec={}, metadata={"generation": 1})
    for metadata, generation in (({"labels": {"a": "b"}}, 1), ({"annotations": {"a": "b"}}, 2)):
        tree = {"metadata": {"name": "a", **metadata}, "spec": {}, "kind": "Deployment"}
        prepare_for_update(tree, old, DEPLOYMENTS, REGISTRY.traits(DEPLOYMENTS))
        assert tree["metadata"]["generation"] == generation


def test_an_update_can_set_neither_deletion_marks_nor_another_uid():
    old = existing("ConfigMap")
    marked = existing("ConfigMap", metadata={"deletionTimestamp": "x", "deletionGracePeriodSeconds": 1, "uid": "other"})
    fields = [cause.field for cause in immutable_metadata_problems(marked, old)]
    assert fields == ["metadata.uid", "metadata.deletionTimestamp", "metadata.deletionGracePeriodSeconds"]
    assert immutable_metadata_problems(marked, marked) == []
    assert immutable_metadata_problems(new("ConfigMap"), marked) == []


@pytest.mark.parametrize(("left", "right"), [(1, True), (1, 1.0), (0, False), ("", None), ([], {})])
def test_values_that_are_equal_only_in_python_are_changes(left: Tree, right: Tree):
    assert not same({"x": left}, {"x": right})
    assert same({"x": left}, {"x": left})

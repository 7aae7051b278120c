"""The garbage collector: dependents are deleted with their owners, the contents of a namespace with it."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.bare_server import CONFIG_MAPS, PODS, BareServer, Tree, owner

from listwatch.client import ClientSet
from listwatch.controller import set_owner
from listwatch.errors import ForbiddenError, NotFoundError
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects import ObjectMeta
from listwatch.server import APIServer
from listwatch.server.controllers.garbage_collector import GarbageCollector
from listwatch.server.requests import APIRequest
from listwatch.server.storage.storage import Storage

SECRETS = "/api/v1/namespaces/default/secrets"
CLUSTER_ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
HOLD = "example.com/hold"


@pytest.fixture
def server() -> BareServer:
    return BareServer(namespaces=("default", "other"))


def dependent(server: BareServer, name: str, *owners: Tree, path: str = CONFIG_MAPS, **metadata: Tree) -> Tree:
    return server.create(path, name, metadata={"ownerReferences": list(owners), **metadata})


def release(server: BareServer, name: str) -> None:
    server.patch(f"{CONFIG_MAPS}/{name}", {"metadata": {"finalizers": None}})


def owners_of(server: BareServer, name: str) -> list[str]:
    return [each["name"] for each in server.get(f"{CONFIG_MAPS}/{name}")["metadata"].get("ownerReferences", [])]


# --- in the background ------------------------------------------------------------------------------------------------


def test_dependents_are_deleted_after_their_owner_at_any_depth(server: BareServer):
    root = server.create(CONFIG_MAPS, "root")
    child = dependent(server, "child", owner(root))
    dependent(server, "grandchild", owner(child))
    dependent(server, "secret", owner(child), path=SECRETS)
    server.create(CONFIG_MAPS, "unrelated")
    server.published()
    server.delete(f"{CONFIG_MAPS}/root")
    assert server.published() == [
        ("DELETED", "root"),
        ("DELETED", "child"),
        ("DELETED", "grandchild"),
        ("DELETED", "secret"),
    ]
    assert server.names(CONFIG_MAPS) == ["unrelated"]


def test_a_dependent_with_another_owner_stays_and_loses_the_first_reference(server: BareServer):
    first, second = server.create(CONFIG_MAPS, "first"), server.create(CONFIG_MAPS, "second")
    dependent(server, "child", owner(first), owner(second))
    server.delete(f"{CONFIG_MAPS}/first")
    assert owners_of(server, "child") == ["second"]
    server.delete(f"{CONFIG_MAPS}/second")
    assert server.names(CONFIG_MAPS) == []


def test_a_dependent_with_a_finalizer_is_only_marked(server: BareServer):
    root = server.create(CONFIG_MAPS, "root")
    dependent(server, "child", owner(root), finalizers=[HOLD])
    server.delete(f"{CONFIG_MAPS}/root")
    assert server.get(f"{CONFIG_MAPS}/child")["metadata"]["deletionTimestamp"]
    release(server, "child")
    assert server.names(CONFIG_MAPS) == []


def test_an_owner_that_never_existed_counts_as_deleted(server: BareServer):
    missing = {"apiVersion": "v1", "kind": "ConfigMap", "name": "missing", "uid": "none"}
    dependent(server, "orphan", missing)
    assert server.names(CONFIG_MAPS) == []


def test_another_object_of_the_same_name_is_not_the_owner(server: BareServer):
    first = server.create(CONFIG_MAPS, "root")
    server.delete(f"{CONFIG_MAPS}/root")
    server.create(CONFIG_MAPS, "root")
    dependent(server, "child", owner(first))
    assert server.names(CONFIG_MAPS) == ["root"]


def test_an_owner_in_another_namespace_does_not_count(server: BareServer):
    root = server.create("/api/v1/namespaces/other/configmaps", "root")
    dependent(server, "child", owner(root))
    assert server.names(CONFIG_MAPS) == []


def test_a_namespaced_object_can_have_a_cluster_scoped_owner(server: BareServer):
    role = server.create(CLUSTER_ROLES, "role")
    dependent(server, "child", owner(role))
    assert server.names(CONFIG_MAPS) == ["child"]
    server.delete(f"{CLUSTER_ROLES}/role")
    assert server.names(CONFIG_MAPS) == []


def test_a_cluster_scoped_object_with_a_namespaced_owner_is_not_deleted(server: BareServer):
    root = server.create(CONFIG_MAPS, "root")
    dependent(server, "role", owner(root), path=CLUSTER_ROLES)
    server.delete(f"{CONFIG_MAPS}/root")
    assert server.names(CLUSTER_ROLES) == ["role"]


@pytest.mark.parametrize("version", ["example.com/v1", "a/b/c"])
def test_an_owner_of_an_unknown_kind_counts_as_present(server: BareServer, version: str):
    unknown = {"apiVersion": "example.com/v1", "kind": "Widget", "name": "w", "uid": "none"}
    dependent(server, "child", unknown)
    assert server.names(CONFIG_MAPS) == ["child"]


def test_an_owner_that_is_only_marked_still_counts_as_present(server: BareServer):
    root = server.create(CONFIG_MAPS, "root", metadata={"finalizers": [HOLD]})
    dependent(server, "child", owner(root))
    server.delete(f"{CONFIG_MAPS}/root")
    assert server.names(CONFIG_MAPS) == ["child", "root"]
    release(server, "root")
    assert server.names(CONFIG_MAPS) == []


def test_a_dependent_that_gets_another_owner_first_is_kept(server: BareServer):
    first, second = server.create(CONFIG_MAPS, "first"), server.create(CONFIG_MAPS, "second")
    dependent(server, "child", owner(first))
    server.patch(f"{CONFIG_MAPS}/child", {"metadata": {"ownerReferences": [owner(second)]}})
    server.delete(f"{CONFIG_MAPS}/first")
    assert server.names(CONFIG_MAPS) == ["child", "second"]


def test_a_pod_of_a_deleted_owner_has_a_grace_period(server: BareServer):
    root = server.create(CONFIG_MAPS, "root")
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": "n1"}
    server.create(PODS, "pod", spec=spec, metadata={"ownerReferences": [owner(root)]})
    server.delete(f"{CONFIG_MAPS}/root")
    assert server.get(f"{PODS}/pod")["metadata"]["deletionGracePeriodSeconds"] == 30


# --- in the foreground ------------------------------------------------------------------------------------------------


def test_a_foreground_deletion_deletes_dependents_first(server: BareServer):
    root = server.create(CONFIG_MAPS, "root")
    child = dependent(server, "child", owner(root, blockOwnerDeletion=True))
    dependent(server, "grandchild", owner(child, blockOwnerDeletion=True))
    server.published()
    server.delete(f"{CONFIG_MAPS}/root", propagationPolicy="Foreground")
    assert [event for event in server.published() if event[0] == "DELETED"] == [
        ("DELETED", "grandchild"),
        ("DELETED", "child"),
        ("DELETED", "root"),
    ]


def test_a_foreground_deletion_waits_for_blocking_dependents(server: BareServer):
    root = server.create(CONFIG_MAPS, "root")
    dependent(server, "blocks", owner(root, blockOwnerDeletion=True), finalizers=[HOLD])
    dependent(server, "does-not", owner(root), finalizers=[HOLD])
    server.delete(f"{CONFIG_MAPS}/root", propagationPolicy="Foreground")
    assert server.get(f"{CONFIG_MAPS}/root")["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert server.get(f"{CONFIG_MAPS}/does-not")["metadata"]["deletionTimestamp"]
    release(server, "blocks")
    assert server.names(CONFIG_MAPS) == ["does-not"]


def test_a_foreground_deletion_keeps_a_dependent_with_another_owner(server: BareServer):
    root, second = server.create(CONFIG_MAPS, "root"), server.create(CONFIG_MAPS, "second")
    dependent(server, "child", owner(root, blockOwnerDeletion=True), owner(second))
    server.delete(f"{CONFIG_MAPS}/root", propagationPolicy="Foreground")
    assert server.names(CONFIG_MAPS) == ["child", "second"]
    assert owners_of(server, "child") == ["second"]


def test_a_foreground_deletion_continues_when_the_finalizer_of_its_dependent_is_removed(server: BareServer):
    root = server.create(CONFIG_MAPS, "root")
    dependent(server, "child", owner(root, blockOwnerDeletion=True), finalizers=[HOLD])
    server.delete(f"{CONFIG_MAPS}/root", propagationPolicy="Foreground")
    server.patch(f"{CONFIG_MAPS}/child", {"metadata": {"ownerReferences": None}})
    assert server.names(CONFIG_MAPS) == ["child"]


def test_objects_that_own_each_other_do_not_wait_forever(server: BareServer):
    a = server.create(CONFIG_MAPS, "a")
    b = dependent(server, "b", owner(a, blockOwnerDeletion=True))
    server.patch(f"{CONFIG_MAPS}/a", {"metadata": {"ownerReferences": [owner(b, blockOwnerDeletion=True)]}})
    server.delete(f"{CONFIG_MAPS}/a", propagationPolicy="Foreground")
    assert server.names(CONFIG_MAPS) == []


# --- orphans ----------------------------------------------------------------------------------------------------------


def test_orphans_lose_their_owner_reference_and_are_kept(server: BareServer):
    root, other = server.create(CONFIG_MAPS, "root"), server.create(CONFIG_MAPS, "other")
    dependent(server, "child", owner(root))
    dependent(server, "shared", owner(root), owner(other))
    server.delete(f"{CONFIG_MAPS}/root", propagationPolicy="Orphan")
    assert server.names(CONFIG_MAPS) == ["child", "other", "shared"]
    assert owners_of(server, "child") == []
    assert owners_of(server, "shared") == ["other"]


def test_a_former_dependent_is_not_deleted(server: BareServer):
    root = server.create(CONFIG_MAPS, "root")
    dependent(server, "child", owner(root))
    before = server.patch(f"{CONFIG_MAPS}/child", {"metadata": {"ownerReferences": None}})
    server.delete(f"{CONFIG_MAPS}/root", propagationPolicy="Orphan")
    assert server.get(f"{CONFIG_MAPS}/child") == before


# --- namespaces -------------------------------------------------------------------------------------------------------


def test_the_contents_of_a_namespace_are_deleted_with_it(server: BareServer):
    for name in "ab":
        server.create("/api/v1/namespaces/other/configmaps", name)
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": "n1"}
    server.create("/api/v1/namespaces/other/pods", "pod", spec=spec)
    server.create(CONFIG_MAPS, "elsewhere")
    server.published()
    response = server.delete("/api/v1/namespaces/other")
    assert response["status"] == {"phase": "Terminating"}
    gone = [name for kind, name in server.published() if kind == "DELETED"]
    assert sorted(gone) == ["a", "b", "other", "pod"]
    assert gone[-1] == "other"
    assert server.names("/api/v1/configmaps") == ["elsewhere"]
    assert server.names("/api/v1/namespaces") == ["default"]


def test_a_namespace_waits_for_objects_with_finalizers(server: BareServer):
    path = "/api/v1/namespaces/other/configmaps"
    server.create(path, "held", metadata={"finalizers": [HOLD]})
    server.create(path, "free")
    server.delete("/api/v1/namespaces/other")
    assert server.names(path) == ["held"]
    with pytest.raises(ForbiddenError, match="because it is being terminated"):
        server.create(path, "late")
    server.patch(f"{path}/held", {"metadata": {"finalizers": None}})
    with pytest.raises(NotFoundError):
        server.get("/api/v1/namespaces/other")


def test_the_conditions_of_a_namespace_name_what_is_left_after_its_pods(server: BareServer):
    configmaps, pods = "/api/v1/namespaces/other/configmaps", "/api/v1/namespaces/other/pods"
    spec = {"containers": [{"name": "c", "image": "i"}]}
    server.create(pods, "pod", spec=spec, metadata={"finalizers": ["example.com/pod"]})
    server.create(configmaps, "kept", metadata={"finalizers": ["example.com/keep"]})
    server.delete("/api/v1/namespaces/other")

    def conditions() -> dict[str, str]:
        namespace = server.get("/api/v1/namespaces/other")
        return {each["type"]: each["message"] for each in namespace["status"]["conditions"] if each["status"] == "True"}

    assert conditions() == {}
    assert "deletionTimestamp" not in server.get(f"{configmaps}/kept")["metadata"]
    server.patch(f"{pods}/pod", {"metadata": {"finalizers": None}})
    assert conditions() == {
        "NamespaceContentRemaining": "Some resources are remaining: configmaps. has 1 resource instances",
        "NamespaceFinalizersRemaining": (
            "Some content in the namespace has finalizers remaining: example.com/keep in 1 resource instances"
        ),
    }


def test_a_deleted_namespace_can_be_created_again(server: BareServer):
    first = server.get("/api/v1/namespaces/other")
    server.delete("/api/v1/namespaces/other")
    again = server.create("/api/v1/namespaces", "other")
    assert again["metadata"]["uid"] != first["metadata"]["uid"]
    server.create("/api/v1/namespaces/other/configmaps", "a")


def test_an_empty_namespace_with_a_finalizer_is_kept(server: BareServer):
    path = "/api/v1/namespaces/other"
    server.patch(path, {"metadata": {"finalizers": [HOLD]}})
    server.delete(path)
    assert server.get(path)["spec"] == {}
    server.patch(path, {"metadata": {"finalizers": None}})
    assert server.names("/api/v1/namespaces") == ["default"]


# --- when it does not go smoothly -------------------------------------------------------------------------------------


def test_a_rejected_deletion_is_retried_after_the_next_write():
    refusing = True

    def refuse(request: APIRequest, new: Tree | None, _old: Tree | None) -> None:
        if refusing and new is None and request.name == "child":
            assert request.user.name == "system:serviceaccount:kube-system:generic-garbage-collector"
            raise ForbiddenError.of("configmaps", request.name, "not now")

    server = BareServer(admission=[refuse])
    root = server.create(CONFIG_MAPS, "root")
    dependent(server, "child", owner(root))
    server.delete(f"{CONFIG_MAPS}/root")
    assert server.names(CONFIG_MAPS) == ["child"]
    refusing = False
    server.create(CONFIG_MAPS, "something-else")
    assert server.names(CONFIG_MAPS) == ["something-else"]


async def test_an_object_whose_deletion_is_rejected_is_logged_once(caplog: pytest.LogCaptureFixture):
    def refuse(request: APIRequest, new: Tree | None, _old: Tree | None) -> None:
        if new is None and request.name == "child":
            raise ForbiddenError.of("configmaps", request.name, "not now")

    async with APIServer(admission=[refuse]) as server, ClientSet(server.config) as client:
        config_maps = client.core_v1.configmaps("default")
        root = await config_maps.create(ConfigMap(metadata=ObjectMeta(name="root")))
        child = ConfigMap(metadata=ObjectMeta(name="child", namespace="default"))
        set_owner(child, root)
        await config_maps.create(child)
        with caplog.at_level(logging.WARNING):
            await config_maps.delete("root")
            await config_maps.create(ConfigMap(metadata=ObjectMeta(name="another-write")))
    [record] = [each for each in caplog.records if "garbage collector" in each.message]
    assert record.message == (
        "The garbage collector cannot process configmaps default/child and retries it after each write: "
        'configmaps "child" is forbidden: not now (Forbidden, 403)'
    )
    assert record.__dict__["key"] == "default/child"


def test_pending_deletions_are_completed_after_a_restart():
    server = BareServer()
    root = server.create(CONFIG_MAPS, "root")
    dependent(server, "child", owner(root))
    server.garbage_collector.close()
    server.respond("DELETE", f"{CONFIG_MAPS}/root")
    assert server.names(CONFIG_MAPS) == ["child"]
    again = GarbageCollector(
        server.objects, server.pipeline.deleter, now=lambda: server.now, on_rejected=lambda *_: None
    )
    again.recover()
    again.run_pending()
    assert server.names(CONFIG_MAPS) == []


def test_all_writes_of_one_commit_are_processed():
    server = BareServer(storage=Storage(group_commit=True))
    root = server.create(CONFIG_MAPS, "root")
    dependent(server, "child", owner(root))
    server.respond("DELETE", f"{CONFIG_MAPS}/root")
    for _ in range(2):
        # The events of these writes are published by the next sync.
        server.garbage_collector.run_pending()
        server.storage.sync()
    assert server.names(CONFIG_MAPS) == []


def test_a_closed_garbage_collector_ignores_events(server: BareServer):
    root = server.create(CONFIG_MAPS, "root")
    dependent(server, "child", owner(root))
    server.garbage_collector.close()
    server.delete(f"{CONFIG_MAPS}/root")
    assert server.names(CONFIG_MAPS) == ["child"]


# --- any graph --------------------------------------------------------------------------------------------------------

NAMES = "abcdef"
POLICIES = st.sampled_from(["Background", "Foreground", "Orphan"])
EDGES = st.dictionaries(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), st.booleans(), max_size=12)


DELETIONS = st.lists(st.tuples(st.sampled_from(NAMES), POLICIES), max_size=4)


@given(EDGES, st.sets(st.sampled_from(NAMES), max_size=2), DELETIONS)
def test_any_graph_of_owners_ends_without_orphaned_dependents(
    edges: dict[tuple[str, str], bool], held: set[str], deletions: list[tuple[str, str]]
):
    server = BareServer()
    made = {name: server.create(CONFIG_MAPS, name, metadata={"finalizers": [HOLD] * (name in held)}) for name in NAMES}
    for name in NAMES:
        owners = [owner(made[of], blockOwnerDeletion=blocks) for (child, of), blocks in edges.items() if child == name]
        server.patch(f"{CONFIG_MAPS}/{name}", {"metadata": {"ownerReferences": owners}})
    for name, policy in deletions:
        if name in server.names(CONFIG_MAPS):
            server.delete(f"{CONFIG_MAPS}/{name}", propagationPolicy=policy)
    while waiting := [each for each in contents(server) if "deletionTimestamp" in each and HOLD in each["finalizers"]]:
        finalizers = [each for each in waiting[0]["finalizers"] if each != HOLD]
        server.patch(f"{CONFIG_MAPS}/{waiting[0]['name']}", {"metadata": {"finalizers": finalizers}})

    left = {metadata["uid"]: metadata for metadata in contents(server)}
    assert not [metadata["name"] for metadata in left.values() if "deletionTimestamp" in metadata]
    for metadata in left.values():
        assert all(each["uid"] in left for each in metadata.get("ownerReferences", []))


def contents(server: BareServer) -> list[Tree]:
    return [item["metadata"] for item in server.get(CONFIG_MAPS)["items"]]


def test_the_pods_of_a_namespace_are_deleted_before_its_other_objects(server: BareServer):
    pods, maps = "/api/v1/namespaces/other/pods", "/api/v1/namespaces/other/configmaps"
    spec = {"containers": [{"name": "a", "image": "a"}]}
    pod = server.create(pods, "last", spec=spec, metadata={"finalizers": [HOLD]})
    server.create(maps, "used")
    server.delete("/api/v1/namespaces/other")
    assert "deletionTimestamp" in server.get(f"{pods}/last")["metadata"]
    assert "deletionTimestamp" not in server.get(f"{maps}/used")["metadata"]
    server.patch(f"{pods}/{pod['metadata']['name']}", {"metadata": {"finalizers": None}})
    assert server.names("/api/v1/namespaces") == ["default"]

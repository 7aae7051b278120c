"""Whether a deletion keeps, marks or removes an object."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.bare_server import CONFIG_MAPS, PODS, BareServer, Tree

from listwatch.errors import ConflictError
from listwatch.meta import Resource
from listwatch.server.json_tree import copied
from listwatch.server.lifecycle.deletion import (
    FOREGROUND,
    ORPHAN,
    Keep,
    Mark,
    Remove,
    check_preconditions,
    plan_deletion,
)
from listwatch.server.lifecycle.object_store import is_deletion_complete
from listwatch.server.lifecycle.strategy import timestamp
from listwatch.server.protocol.write_options import DeleteOptions
from listwatch.server.schema.registry import Registry

NO_OPTIONS = DeleteOptions()
NOW = datetime(2026, 1, 1, tzinfo=UTC)
REGISTRY = Registry.builtin()
HOLD = "example.com/hold"
POD_SPEC = {"containers": [{"name": "c", "image": "i"}], "nodeName": "n1", "terminationGracePeriodSeconds": 30}


def resource(plural: str, group: str = "") -> Resource:
    found = REGISTRY.lookup(group, "v1", plural)
    assert found is not None
    return found


def thing(kind: str = "ConfigMap", *, spec: Tree = None, **metadata: Tree) -> Tree:
    tree = {"kind": kind, "apiVersion": "v1", "metadata": {"name": "a", "uid": "u", "resourceVersion": "7", **metadata}}
    return tree if spec is None else {**tree, "spec": spec}


def plan(
    tree: Tree, options: DeleteOptions = NO_OPTIONS, *, of: str = "configmaps", group: str = "", now: datetime = NOW
) -> Keep | Mark | Remove:
    about = resource(of, group)
    before = copied(tree)
    planned = plan_deletion(tree, options, about, REGISTRY.traits(about), now)
    assert tree == before, "a plan changes nothing by itself"
    return planned


def marked(planned: Keep | Mark | Remove) -> Tree:
    assert isinstance(planned, Mark)
    return planned.tree["metadata"]


# --- finalizers -------------------------------------------------------------------------------------------------------


def test_an_object_without_finalizers_is_removed():
    assert plan(thing()) == Remove()


def test_an_object_with_finalizers_is_marked():
    metadata = marked(plan(thing(finalizers=[HOLD])))
    assert metadata["deletionTimestamp"] == "2026-01-01T00:00:00Z"
    assert metadata["deletionGracePeriodSeconds"] == 0
    assert metadata["finalizers"] == [HOLD]


def test_marking_an_object_increments_its_generation_once():
    tree = thing(finalizers=[HOLD], generation=3)
    first = plan(tree)
    assert marked(first)["generation"] == 4
    assert marked(plan(first.tree))["generation"] == 4


def test_a_second_deletion_keeps_the_deletion_timestamp():
    first = plan(thing(finalizers=[HOLD]))
    assert plan(first.tree, now=NOW + timedelta(hours=1)) == first


@pytest.mark.parametrize(
    ("options", "present", "expected"),
    [
        (DeleteOptions(policy="Orphan"), [], [ORPHAN]),
        (DeleteOptions(policy="Foreground"), [], [FOREGROUND]),
        (DeleteOptions(policy="Orphan"), [HOLD, FOREGROUND], [HOLD, ORPHAN]),
        (DeleteOptions(policy="Background"), [HOLD, ORPHAN], [HOLD]),
        (DeleteOptions(orphan=True), [HOLD], [HOLD, ORPHAN]),
        (DeleteOptions(orphan=False), [HOLD, ORPHAN], [HOLD]),
        (DeleteOptions(), [ORPHAN, HOLD], [ORPHAN, HOLD]),
        (DeleteOptions(), [FOREGROUND], [FOREGROUND]),
    ],
)
def test_the_policy_is_a_finalizer(options: DeleteOptions, present: list[str], expected: list[str]):
    assert marked(plan(thing(finalizers=present), options))["finalizers"] == expected


@pytest.mark.parametrize("policy", ["Background", ""])
def test_a_background_deletion_removes_the_object_at_once(policy: str):
    assert plan(thing(), DeleteOptions(policy=policy)) == Remove()
    assert plan(thing(finalizers=[FOREGROUND]), DeleteOptions(policy="Background")) == Remove()


@pytest.mark.parametrize(("of", "group"), [("replicationcontrollers", ""), ("jobs", "batch")])
def test_the_oldest_owners_of_pods_orphan_them_by_default(of: str, group: str):
    assert marked(plan(thing(), of=of, group=group))["finalizers"] == [ORPHAN]
    assert plan(thing(), DeleteOptions(policy="Background"), of=of, group=group) == Remove()


def test_events_own_nothing():
    assert plan(thing("Event"), DeleteOptions(policy="Foreground"), of="events") == Remove()


# --- pods -------------------------------------------------------------------------------------------------------------


def test_a_running_pod_has_a_grace_period():
    metadata = marked(plan(thing("Pod", spec=POD_SPEC, generation=1), of="pods"))
    assert metadata["deletionTimestamp"] == "2026-01-01T00:00:30Z"
    assert (metadata["deletionGracePeriodSeconds"], metadata["generation"]) == (30, 2)


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        ({**POD_SPEC, "nodeName": ""}, {}),
        (POD_SPEC, {"phase": "Failed"}),
        (POD_SPEC, {"phase": "Succeeded"}),
        ({**POD_SPEC, "terminationGracePeriodSeconds": 0}, {}),
    ],
)
def test_a_pod_that_does_not_run_is_marked_and_removed(spec: Tree, status: Tree):
    planned = plan({**thing("Pod", spec=spec), "status": status}, of="pods")
    assert isinstance(planned, Remove)
    assert planned.mark["metadata"]["deletionGracePeriodSeconds"] == 0


def test_a_pod_with_a_finalizer_is_marked_even_if_it_does_not_run():
    tree = thing("Pod", spec={**POD_SPEC, "nodeName": ""}, finalizers=[HOLD])
    assert marked(plan(tree, of="pods"))["deletionGracePeriodSeconds"] == 0


def test_a_stopped_pod_is_removed():
    stopped = thing("Pod", spec=POD_SPEC, deletionTimestamp="2026-01-01T00:00:00Z", deletionGracePeriodSeconds=0)
    assert plan(stopped, of="pods") == Remove()


def test_a_negative_grace_period_is_one_second():
    metadata = marked(plan(thing("Pod", spec=POD_SPEC), DeleteOptions(grace=-5), of="pods"))
    assert metadata["deletionGracePeriodSeconds"] == 1


def test_an_elapsed_grace_period_is_shortened_to_at_most_a_second():
    running = plan(thing("Pod", spec=POD_SPEC), of="pods").tree
    late = NOW + timedelta(seconds=25)
    metadata = marked(plan(running, DeleteOptions(grace=10), of="pods", now=late))
    assert metadata["deletionTimestamp"] == "2026-01-01T00:00:25Z"
    assert metadata["deletionGracePeriodSeconds"] == 1


@given(st.lists(st.none() | st.integers(-2, 60), max_size=6), st.lists(st.integers(0, 40), min_size=6, max_size=6))
def test_the_grace_period_never_grows(graces: list[int | None], pauses: list[int]):
    tree, now, left, due = thing("Pod", spec=POD_SPEC), NOW, 60, "9999"
    for grace, pause in zip(graces, pauses, strict=False):
        now += timedelta(seconds=pause)
        match plan(tree, DeleteOptions(grace=grace), of="pods", now=now):
            case Mark(changed):
                metadata = changed["metadata"]
                assert 0 < metadata["deletionGracePeriodSeconds"] <= left
                assert metadata["deletionTimestamp"] <= max(due, timestamp(now))
                tree, left, due = changed, metadata["deletionGracePeriodSeconds"], metadata["deletionTimestamp"]
            case Remove():
                assert grace == 0
                return
            case Keep():
                assert grace is None or grace < 0 or grace >= left


# --- namespaces -------------------------------------------------------------------------------------------------------


def test_even_an_empty_namespace_is_marked_first():
    planned = plan({**thing("Namespace", spec={}), "status": {"phase": "Active"}}, of="namespaces")
    assert marked(planned)["deletionTimestamp"] == "2026-01-01T00:00:00Z"
    assert "deletionGracePeriodSeconds" not in planned.tree["metadata"]
    assert planned.tree["status"] == {"phase": "Terminating"}


def test_a_namespace_waits_until_it_is_empty():
    ending = thing("Namespace", spec={"finalizers": ["kubernetes"]}, deletionTimestamp="2026-01-01T00:00:00Z")
    assert plan(ending, of="namespaces") == Keep()
    assert not is_deletion_complete(ending)
    empty = {**ending, "spec": {}}
    assert plan(empty, of="namespaces") == Remove()
    assert is_deletion_complete(empty)


# --- the end ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metadata", "finished"),
    [
        ({}, False),
        ({"finalizers": [HOLD]}, False),
        ({"deletionTimestamp": "x"}, True),
        ({"deletionTimestamp": "x", "deletionGracePeriodSeconds": 0}, True),
        ({"deletionTimestamp": "x", "deletionGracePeriodSeconds": 5}, False),
        ({"deletionTimestamp": "x", "finalizers": [HOLD]}, False),
    ],
)
def test_a_deletion_is_complete_without_finalizers_and_grace_period(metadata: Tree, finished: bool):
    assert is_deletion_complete(thing(**metadata)) is finished


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (DeleteOptions(uid="other"), "the UID in the precondition (other) does not match the UID in record (u)"),
        (DeleteOptions(resource_version="6"), "the ResourceVersion in the precondition (6) does not match"),
    ],
)
def test_only_an_object_that_meets_the_preconditions_is_deleted(options: DeleteOptions, said: str):
    with pytest.raises(ConflictError) as caught:
        check_preconditions(thing(), options, resource("configmaps"))
    assert said in caught.value.message
    check_preconditions(thing(), DeleteOptions(uid="u", resource_version="7"), resource("configmaps"))


# --- as it is done ----------------------------------------------------------------------------------------------------


def test_a_dry_run_deletion_of_a_running_pod_returns_the_mark_and_stores_none():
    server = BareServer()
    server.create(PODS, "a", spec=POD_SPEC)
    before = server.get(f"{PODS}/a")
    tried = server.delete(f"{PODS}/a", dryRun=["All"])
    assert tried["metadata"]["deletionGracePeriodSeconds"] == 30
    assert server.get(f"{PODS}/a") == before


@pytest.mark.parametrize(
    ("options", "code"), [({"orphanDependents": False}, 202), ({"propagationPolicy": "Background"}, 200)]
)
def test_only_orphan_dependents_gets_a_202_for_an_incomplete_deletion(options: Tree, code: int):
    server = BareServer()
    server.create(CONFIG_MAPS, "a", metadata={"finalizers": [HOLD]})
    assert server.respond("DELETE", f"{CONFIG_MAPS}/a", options).code == code


def test_a_collection_is_deleted_one_by_one_in_order():
    server = BareServer()
    for name in ("b", "a", "c"):
        server.create(CONFIG_MAPS, name)
    server.published()
    listed = server.delete(CONFIG_MAPS)
    assert [item["metadata"]["name"] for item in listed["items"]] == ["a", "b", "c"]
    assert server.published() == [("DELETED", "a"), ("DELETED", "b"), ("DELETED", "c")]


def test_a_collection_is_deleted_up_to_the_limit():
    server = BareServer()
    for name in "abc":
        server.create(CONFIG_MAPS, name)
    page = server.call("DELETE", f"{CONFIG_MAPS}?limit=2")
    assert page["metadata"]["continue"]
    assert server.names(CONFIG_MAPS) == ["c"]

"""Owner references, finalizers, conditions and predicates."""

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import field
from tests.controller.worlds import config_map, deployment, pod, world

from listwatch.client.resources.resource_client import ResourceClient
from listwatch.controller.object_fields.conditions import (
    HasConditions,
    find_condition,
    is_condition_true,
    remove_condition,
    set_condition,
)
from listwatch.controller.object_fields.finalizers import (
    add_finalizer,
    finalize,
    has_finalizer,
    is_being_deleted,
    remove_finalizer,
)
from listwatch.controller.object_fields.owners import (
    controller_of,
    is_controlled_by,
    owner_reference,
    set_controller,
    set_owner,
)
from listwatch.controller.watching.predicates import (
    Predicate,
    annotations_changed,
    generation_changed,
    has_label,
    labels_changed,
    predicate,
    resource_version_changed,
)
from listwatch.errors import ConflictError, NotFoundError, UsageError
from listwatch.models.core_v1 import ConfigMap, Pod, PodCondition, PodStatus
from listwatch.models.meta_v1 import Condition
from listwatch.objects.declarations.custom_resource import CustomResource
from listwatch.objects.declarations.model import Model
from listwatch.objects.unstructured import Unstructured
from listwatch.testing.clocks import InstantClock

HOLD = "example.com/hold"


def made(**metadata: Any) -> ConfigMap:
    return ConfigMap.from_dict({"metadata": {"name": "a", "namespace": "default", **metadata}})


# --- predicates -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matches", "change"),
    [
        (generation_changed, {"generation": 2}),
        (labels_changed, {"labels": {"a": "1"}}),
        (annotations_changed, {"annotations": {"a": "1"}}),
        (resource_version_changed, {"resourceVersion": "2"}),
    ],
)
def test_a_predicate_sees_its_own_change_and_no_other(matches: Predicate, change: dict[str, Any]):
    old = made(generation=1, resourceVersion="1")
    assert matches(old, made(**{"generation": 1, "resourceVersion": "1", **change}))
    assert not matches(old, made(generation=1, resourceVersion="1", finalizers=[HOLD]))
    assert matches(None, old)
    assert matches(old, None)


@pytest.mark.parametrize("matches", [generation_changed, labels_changed, annotations_changed, resource_version_changed])
def test_the_start_of_a_deletion_matches_every_predicate_of_a_change(matches: Predicate):
    old, deleted = made(), made(deletionTimestamp="2026-01-01T00:00:00Z")
    assert matches(old, deleted)
    assert not matches(deleted, deleted)


def test_predicates_can_be_combined():
    yes, no = Predicate(lambda *_: True, name="yes"), Predicate(lambda *_: False, name="no")
    assert (yes | no)(None, None)
    assert not (yes & no)(None, None)
    assert (~no & (lambda old, new: True))(None, None)
    assert repr(yes & ~no | yes) == "((yes & ~no) | yes)"
    assert predicate(yes) is yes
    with pytest.raises(UsageError, match="function of the old and the new"):
        Predicate(5)


def test_a_label_of_the_old_or_the_new_object_matches():
    labelled, plain = made(labels={"app": "web"}), made()
    assert has_label("app")(None, labelled)
    assert has_label("app", "web")(labelled, plain)
    assert not has_label("app", "api")(labelled, labelled)
    assert not has_label("app")(plain, None)


# --- owners -----------------------------------------------------------------------------------------------------------


async def test_an_owned_object_is_deleted_with_its_owner():
    async with world() as (_, client):
        deployments, pods = client.apps_v1.deployments("default"), client.core_v1.pods("default")
        owner = await deployments.create(deployment("web"))
        owned = pod("web-0")
        set_controller(owned, owner)
        set_controller(owned, owner)
        owned = await pods.create(owned)
        assert len(owned.metadata.owner_references) == 1
        assert is_controlled_by(owned, owner)
        assert controller_of(owned) == owner_reference(owner)
        await deployments.delete("web", propagation_policy="Background")
        with pytest.raises(NotFoundError):
            await pods.get("web-0")


def test_an_object_has_one_controller_and_any_number_of_owners():
    first, second = made(uid="1"), ConfigMap.from_dict({"metadata": {"name": "b", "namespace": "default", "uid": "2"}})
    owned = pod("p")
    set_controller(owned, first)
    set_owner(owned, second)
    with pytest.raises(UsageError, match="is already managed by ConfigMap a"):
        set_controller(owned, second)
    assert [each.name for each in owned.metadata.owner_references] == ["a", "b"]
    assert controller_of(owned).name == "a"
    assert controller_of(pod("p")) is None


def test_an_owner_needs_a_uid_and_the_same_namespace():
    with pytest.raises(UsageError, match="no uid"):
        set_controller(pod("p"), made())
    with pytest.raises(UsageError, match="must be in the same namespace"):
        set_controller(pod("p"), made(uid="1", namespace="other"))


# --- finalizers -------------------------------------------------------------------------------------------------------


async def test_the_finalizer_is_added_before_apply_and_removed_after_cleanup():
    async with world() as (_, client):
        maps = client.core_v1.configmaps("default")
        called: list[str] = []

        async def apply(item: ConfigMap) -> str:
            called.append("apply")
            assert has_finalizer(await maps.get("a"), HOLD)
            return item.resource_version

        async def cleanup(item: ConfigMap) -> None:
            called.append("cleanup")
            assert is_being_deleted(await maps.get("a"))

        item = await maps.create(config_map("a"))
        version = await finalize(maps, item, HOLD, apply=apply, cleanup=cleanup)
        item = await maps.get("a")
        assert item.resource_version == version != ""
        await finalize(maps, item, HOLD, apply=apply, cleanup=cleanup)
        assert (await maps.get("a")).resource_version == version
        item = await maps.delete("a")
        await finalize(maps, item, HOLD, apply=apply, cleanup=cleanup)
        assert called == ["apply", "apply", "cleanup"]
        with pytest.raises(NotFoundError):
            await maps.get("a")


async def test_a_cleanup_that_fails_keeps_the_object():
    def fail(item: ConfigMap) -> None:
        raise OSError("not now")

    async with world() as (_, client):
        maps = client.core_v1.configmaps("default")
        await add_finalizer(maps, await maps.create(config_map("a")), HOLD)
        item = await maps.delete("a")
        with pytest.raises(OSError, match="not now"):
            await finalize(maps, item, HOLD, apply=fail, cleanup=fail)
        assert has_finalizer(await maps.get("a"), HOLD)
        await finalize(maps, item, HOLD, apply=fail, cleanup=lambda _: None)


async def test_an_object_with_other_finalizers_only_is_ignored():
    async with world() as (_, client):
        maps = client.core_v1.configmaps("default")
        await add_finalizer(maps, await maps.create(config_map("a")), "example.com/other")
        item = await maps.delete("a")
        called: list[ConfigMap] = []
        await finalize(maps, item, HOLD, apply=called.append, cleanup=called.append)
        assert called == []
        with pytest.raises(UsageError, match="being deleted"):
            await add_finalizer(maps, item, HOLD)
        await remove_finalizer(maps, item, "example.com/other")


async def test_concurrent_changes_of_finalizers_are_never_overwritten():
    async with world() as (_, client):
        maps: ResourceClient[ConfigMap] = client.core_v1.configmaps("default")
        item = await maps.create(config_map("a"))
        await add_finalizer(maps, item, "example.com/other")
        with pytest.raises(ConflictError):
            await add_finalizer(maps, item, HOLD)
        both = await add_finalizer(client.core_v1.configmaps(), await maps.get("a"), HOLD)
        assert both.metadata.finalizers == ["example.com/other", HOLD]
        await remove_finalizer(maps, both, HOLD)
        await remove_finalizer(maps, await maps.get("a"), HOLD)
        assert (await maps.get("a")).metadata.finalizers == ["example.com/other"]


async def test_a_finalizer_needs_a_domain_and_its_removal_from_a_deleted_object_succeeds():
    async with world() as (_, client):
        maps = client.core_v1.configmaps("default")
        item = await maps.create(config_map("a"))
        with pytest.raises(UsageError, match=r"your\.domain/name"):
            await add_finalizer(maps, item, "hold")
        held = await add_finalizer(maps, item, HOLD)
        await remove_finalizer(maps, held, HOLD)
        await maps.delete("a")
        await remove_finalizer(maps, held, HOLD)


# --- conditions -------------------------------------------------------------------------------------------------------


def test_the_transition_time_changes_only_with_the_status():
    clock, status = InstantClock(start=datetime(2026, 1, 1, tzinfo=UTC)), {}
    assert set_condition(status, "Ready", False, reason="Waiting", generation=1, clock=clock)
    conditions = status["conditions"]
    later = InstantClock(start=datetime(2026, 1, 2, tzinfo=UTC))
    assert not set_condition(conditions, "Ready", False, reason="Waiting", generation=1, clock=later)
    assert set_condition(conditions, "Ready", False, reason="Waiting", message="for b", generation=2, clock=later)
    assert conditions == [
        {
            "type": "Ready",
            "status": "False",
            "reason": "Waiting",
            "message": "for b",
            "observedGeneration": 2,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
    ]
    assert set_condition(conditions, "Ready", "True", reason="Done", clock=later)
    assert conditions[0]["lastTransitionTime"] == "2026-01-02T00:00:00Z"
    assert is_condition_true(conditions, "Ready")
    assert is_condition_true(conditions, "Ready", generation=2)
    assert not is_condition_true(conditions, "Ready", generation=3)


@pytest.mark.parametrize("kind", [Condition, PodCondition])
def test_conditions_of_typed_objects_are_models(kind: Any):
    conditions: list[Any] = []
    assert set_condition(conditions, "Ready", None, reason="Unsure", kind=kind)
    assert set_condition(conditions, "Live", True, reason="Seen", generation=4)
    assert [type(each) for each in conditions] == [kind, kind]
    assert find_condition(conditions, "Ready").status == "Unknown"
    assert find_condition(conditions, "Live").last_transition_time.tzinfo is UTC
    assert remove_condition(conditions, "Ready")
    assert not remove_condition(conditions, "Ready")
    assert not is_condition_true(conditions, "Ready")


class FleetStatus(Model):
    conditions: list[Condition] = field(default_factory=list)


class Fleet(CustomResource, group="example.com", version="v1", kind="Fleet"):
    status: FleetStatus = FleetStatus()


class NullableStatus(Model):
    conditions: list[Condition] | None = None


class UntypedStatus(Model):
    conditions: list[dict[str, Any]] = field(default_factory=list)


@pytest.mark.parametrize(
    ("on", "kind"),
    [
        (Fleet(), Condition),
        (FleetStatus(), Condition),
        (NullableStatus(), Condition),
        (Pod(), PodCondition),
        (PodStatus(), PodCondition),
        (UntypedStatus(), dict),
        (Unstructured({"kind": "Fleet"}), dict),
        ({}, dict),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_condition_is_of_the_type_that_the_status_declares(on: HasConditions, kind: type[Any]):
    assert not is_condition_true(on, "Ready")
    assert find_condition(on, "Ready") is None
    assert not remove_condition(on, "Ready")
    assert set_condition(on, "Ready", True, reason="AllSet", generation=3)
    assert not set_condition(on, "Ready", True, reason="AllSet", generation=3)
    assert type(find_condition(on, "Ready")) is kind
    assert is_condition_true(on, "Ready")
    assert remove_condition(on, "Ready")


def test_a_typed_condition_is_sent_as_the_api_reads_it():
    fleet = Fleet.from_dict({"metadata": {"name": "a"}})
    set_condition(fleet, "Ready", True, reason="AllSet", clock=InstantClock(start=datetime(2026, 1, 1, tzinfo=UTC)))
    assert fleet.to_dict()["status"]["conditions"] == [
        {
            "type": "Ready",
            "status": "True",
            "reason": "AllSet",
            "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
    ]


def test_reading_conditions_changes_no_object():
    item = Unstructured({"apiVersion": "example.com/v1", "kind": "Fleet"})
    assert not is_condition_true(item, "Ready")
    assert "status" not in item


def test_an_empty_list_whose_element_type_is_unknown_is_refused():
    with pytest.raises(UsageError, match="pass the object or its status in place of the list, or kind="):
        set_condition(FleetStatus().conditions, "Ready", True, reason="AllSet")
    with pytest.raises(UsageError, match="has no conditions"):
        set_condition(config_map("a"), "Ready", True, reason="AllSet")


@pytest.mark.parametrize("bad", [("", True, "r"), ("Ready", "Maybe", "r"), ("Ready", 5, "r"), ("Ready", True, "")])
def test_an_incomplete_condition_is_refused(bad: tuple[str, Any, str]):
    with pytest.raises(UsageError, match="a condition needs"):
        set_condition([], bad[0], bad[1], reason=bad[2])

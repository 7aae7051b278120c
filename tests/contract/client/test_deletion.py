"""Deletion: finalizers, preconditions, propagation policies, collections."""

import pytest
from tests.contract.client.samples import HOLD, RELEASE, config_map, pod

from listwatch.client.resources.resource_client import ResourceClient
from listwatch.errors import ConflictError, NotFoundError
from listwatch.models.core_v1 import ConfigMap, Pod


async def test_a_deleted_object_is_not_found(config_maps: ResourceClient[ConfigMap]):
    await config_maps.create(config_map("a"))
    assert await config_maps.delete("a") is None
    with pytest.raises(NotFoundError):
        await config_maps.get("a")
    with pytest.raises(NotFoundError):
        await config_maps.delete("a")


async def test_a_finalizer_delays_the_deletion(config_maps: ResourceClient[ConfigMap]):
    await config_maps.create(config_map("a", finalizers=[HOLD]))
    marked = await config_maps.delete("a")
    assert marked is not None
    assert marked.metadata.deletion_timestamp is not None
    assert (await config_maps.get("a")).to_dict() == marked.to_dict()
    await config_maps.patch("a", RELEASE)
    with pytest.raises(NotFoundError):
        await config_maps.get("a")


async def test_a_dry_run_of_a_deletion_deletes_nothing(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.create(config_map("a"))
    await config_maps.delete("a", dry_run=True)
    assert (await config_maps.get("a")).uid == made.uid


async def test_preconditions_are_checked(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.create(config_map("a"))
    changed = await config_maps.patch("a", {"data": {"x": "1"}})
    with pytest.raises(ConflictError, match=r"(?i)uid"):
        await config_maps.delete("a", uid="00000000-0000-0000-0000-000000000000")
    with pytest.raises(ConflictError):
        await config_maps.delete("a", resource_version=made.resource_version)
    assert await config_maps.delete("a", uid=made.uid, resource_version=changed.resource_version) is None


@pytest.mark.parametrize(("policy", "finalizer"), [("Orphan", "orphan"), ("Foreground", "foregroundDeletion")])
async def test_a_propagation_policy_is_a_finalizer_for_the_garbage_collector(
    config_maps: ResourceClient[ConfigMap], policy: str, finalizer: str
):
    await config_maps.create(config_map("a", finalizers=[HOLD]))
    marked = await config_maps.delete("a", propagation_policy=policy)
    assert marked is not None
    assert marked.metadata.finalizers == [HOLD, finalizer]
    await config_maps.patch("a", RELEASE, type="merge")


async def test_with_background_propagation_an_object_is_deleted_at_once(config_maps: ResourceClient[ConfigMap]):
    await config_maps.create(config_map("a"))
    assert await config_maps.delete("a", propagation_policy="Background") is None


async def test_a_scheduled_pod_has_a_grace_period(pods: ResourceClient[Pod]):
    await pods.create(pod("web", node="n1"))
    marked = await pods.delete("web", grace_period_seconds=20)
    assert marked is not None
    assert marked.metadata.deletion_grace_period_seconds == 20
    await pods.delete("web", grace_period_seconds=0)
    with pytest.raises(NotFoundError):
        await pods.get("web")


async def test_a_collection_is_deleted_by_selection(config_maps: ResourceClient[ConfigMap]):
    for name in ("a1", "a2", "b1"):
        await config_maps.create(config_map(name, labels={"letter": name[0]}))
    chosen = config_maps.selecting(label_selector={"letter": "a"})
    assert await names(chosen) == {"a1", "a2"}
    await chosen.delete_collection(dry_run=True)
    assert await names(chosen) == {"a1", "a2"}
    gone = await chosen.delete_collection()
    assert {each.name for each in gone} == {"a1", "a2"}
    await config_maps.delete_collection(field_selector={"metadata.name": "other"})
    await config_maps.delete_collection(label_selector="letter=c")
    assert "b1" in await names(config_maps)
    await config_maps.delete_collection(field_selector={"metadata.name": "b1"}, propagation_policy="Background")
    assert not await names(config_maps) & {"a1", "a2", "b1"}


async def names(config_maps: ResourceClient[ConfigMap]) -> set[str]:
    return {each.name for each in await config_maps.list()}

"""Patches of each type."""

from typing import Any

import pytest
from tests.contract.client.samples import config_map, deployment

from listwatch.client.resources.resource_client import ResourceClient
from listwatch.errors import BadRequestError, ConflictError, InvalidError, NotFoundError
from listwatch.models.apps_v1 import Deployment
from listwatch.models.core_v1 import ConfigMap


@pytest.mark.parametrize(
    ("type", "patch"),
    [
        ("json", [{"op": "replace", "path": "/data/x", "value": "2"}, {"op": "remove", "path": "/data/y"}]),
        ("merge", {"data": {"x": "2", "y": None}}),
        ("strategic", {"data": {"x": "2", "y": None}}),
        (None, [{"op": "replace", "path": "/data/x", "value": "2"}, {"op": "remove", "path": "/data/y"}]),
        (None, {"data": {"x": "2", "y": None}}),
    ],
)
async def test_each_patch_type_is_applied(config_maps: ResourceClient[ConfigMap], type: str | None, patch: Any):
    await config_maps.create(config_map("a", x="1", y="1", z="1"))
    patched = await config_maps.patch("a", patch, type=type)
    assert patched.data == {"x": "2", "z": "1"}
    assert (await config_maps.get("a")).to_dict() == patched.to_dict()


SIDECAR = {"spec": {"template": {"spec": {"containers": [{"name": "sidecar", "image": "sidecar:1"}]}}}}


@pytest.mark.parametrize(
    ("type", "names"),
    [("merge", ["sidecar"]), ("strategic", ["sidecar", "web"]), (None, ["sidecar", "web"])],
)
async def test_a_merge_patch_replaces_lists_and_a_strategic_one_merges_them(
    deployments: ResourceClient[Deployment], type: str | None, names: list[str]
):
    await deployments.create(deployment("web"))
    patched = await deployments.patch("web", SIDECAR, type=type)
    assert sorted(each.name for each in patched.spec.template.spec.containers) == names


async def test_a_patch_with_an_outdated_version_is_a_conflict(config_maps: ResourceClient[ConfigMap]):
    older = await config_maps.create(config_map("a", x="1"))
    await config_maps.patch("a", {"data": {"x": "2"}})
    with pytest.raises(ConflictError):
        await config_maps.patch("a", {"metadata": {"resourceVersion": older.resource_version}, "data": {"x": "3"}})


async def test_a_json_patch_can_test_a_value(config_maps: ResourceClient[ConfigMap]):
    await config_maps.create(config_map("a", x="1"))
    change = {"op": "replace", "path": "/data/x", "value": "3"}
    with pytest.raises(InvalidError):
        await config_maps.patch("a", [{"op": "test", "path": "/data/x", "value": "2"}, change])
    patched = await config_maps.patch("a", [{"op": "test", "path": "/data/x", "value": "1"}, change])
    assert patched.data == {"x": "3"}


async def test_a_dry_run_of_a_patch_changes_nothing(config_maps: ResourceClient[ConfigMap]):
    await config_maps.create(config_map("a", x="1"))
    assert (await config_maps.patch("a", {"data": {"x": "2"}}, dry_run=True)).data == {"x": "2"}
    assert (await config_maps.get("a")).data == {"x": "1"}


async def test_patching_a_missing_object_is_an_error(config_maps: ResourceClient[ConfigMap]):
    with pytest.raises(NotFoundError):
        await config_maps.patch("a", {"data": {"x": "2"}})


async def test_a_patch_can_be_checked_for_unknown_fields(config_maps: ResourceClient[ConfigMap]):
    await config_maps.create(config_map("a"))
    with pytest.raises((BadRequestError, InvalidError), match='unknown field "colour"'):
        await config_maps.patch("a", {"colour": "red"}, type="merge", field_validation="Strict")


async def test_the_status_is_patched_through_its_subresource(deployments: ResourceClient[Deployment]):
    await deployments.create(deployment("web"))
    both = {"spec": {"replicas": 9}, "status": {"replicas": 2}}
    patched = await deployments.patch("web", both, type="merge", subresource="status")
    assert (patched.spec.replicas, patched.status.replicas) == (1, 2)

"""Server-side apply: fields and their managers, conflicts, custom kinds."""

from typing import Any

import pytest
from tests.contract.client.samples import config_map, deployment

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.errors import ConflictError
from listwatch.models.apps_v1 import Deployment, DeploymentStatus
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ObjectMeta


def entries(obj: ConfigMap) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = obj.to_dict()["metadata"]["managedFields"]
    return found


async def test_apply_creates_and_then_updates(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.apply(config_map("a", x="1", y="2"), field_manager="me")
    assert made.data == {"x": "1", "y": "2"}
    again = await config_maps.apply(config_map("a", x="1", y="2"), field_manager="me")
    assert again.resource_version == made.resource_version
    left = await config_maps.apply(config_map("a", x="3"), field_manager="me")
    assert left.data == {"x": "3"}


async def test_a_conflict_names_the_fields_and_their_managers(config_maps: ResourceClient[ConfigMap]):
    await config_maps.apply(config_map("a", x="1", y="1"), field_manager="me")
    with pytest.raises(ConflictError) as caught:
        await config_maps.apply(config_map("a", x="2"), field_manager="you")
    (cause,) = caught.value.causes
    assert (cause.reason, cause.field) == ("FieldManagerConflict", ".data.x")
    assert cause.message == 'conflict with "me"'
    assert 'Apply failed with 1 conflict: conflict with "me": .data.x' in str(caught.value)


async def test_force_takes_over_fields(config_maps: ResourceClient[ConfigMap]):
    await config_maps.apply(config_map("a", x="1", y="1"), field_manager="me")
    forced = await config_maps.apply(config_map("a", x="2"), field_manager="you", force=True)
    assert forced.data == {"x": "2", "y": "1"}
    managed = {entry["manager"]: entry["fieldsV1"] for entry in entries(forced)}
    assert managed == {"me": {"f:data": {"f:y": {}}}, "you": {"f:data": {"f:x": {}}}}


async def test_a_dry_run_returns_the_result_without_storing_it(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.apply(config_map("a", x="1"), field_manager="me")
    tried = await config_maps.apply(config_map("a", x="2"), field_manager="me", dry_run=True)
    assert tried.data == {"x": "2"}
    assert await config_maps.get("a") == made


async def test_a_status_is_applied(deployments: ResourceClient[Deployment]):
    await deployments.apply(deployment("web", replicas=2), field_manager="me")
    wanted = Deployment(metadata=ObjectMeta(name="web"), status=DeploymentStatus(replicas=2))
    applied = await deployments.apply_status(wanted, field_manager="you")
    assert (applied.status.replicas, applied.spec.replicas) == (2, 2)
    managers = {(entry.manager, entry.subresource or "") for entry in applied.metadata.managed_fields}
    assert managers == {("me", ""), ("you", "status")}


async def test_an_untyped_object_is_applied_as_a_typed_one(client: ClientSet, namespace: str):
    config_maps = client.dynamic.resource("v1", "ConfigMap", namespace=namespace)
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "1"}}
    assert (await config_maps.apply(body, field_manager="me"))["data"] == {"x": "1"}
    with pytest.raises(ConflictError):
        await config_maps.apply({**body, "data": {"x": "2"}}, field_manager="you")


async def test_create_records_the_field_manager(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.create(config_map("a", x="1"), field_manager="me")
    (entry,) = entries(made)
    assert (entry["manager"], entry["operation"]) == ("me", "Update")
    assert entry["fieldsV1"] == {"f:data": {".": {}, "f:x": {}}}

"""Create, get and update of one object, and their errors."""

import pytest
from tests.contract.client.samples import config_map, deployment, pod

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.wait.retry_on_conflict import retry_on_conflict
from listwatch.errors import AlreadyExistsError, BadRequestError, ConflictError, InvalidError, NotFoundError
from listwatch.meta import is_newer
from listwatch.models.apps_v1 import Deployment, DeploymentStatus
from listwatch.models.core_v1 import ConfigMap, Pod

# --- created and read ------------------------------------------------------------------------------------------------


async def test_a_created_object_is_read_back(config_maps: ResourceClient[ConfigMap], namespace: str):
    made = await config_maps.create(config_map("a", labels={"x": "y"}, text="ä\n"))
    assert (made.name, made.namespace, made.labels, made.data) == ("a", namespace, {"x": "y"}, {"text": "ä\n"})
    assert made.uid
    assert made.metadata.creation_timestamp is not None
    assert (await config_maps.get("a")).to_dict() == made.to_dict()


async def test_a_dict_may_omit_its_kind(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.create({"metadata": {"name": "a"}, "data": {"x": "1"}})
    assert (made.api_version, made.kind, made.data) == ("v1", "ConfigMap", {"x": "1"})


async def test_the_namespace_of_the_object_is_used_if_the_client_has_none(client: ClientSet, namespace: str):
    given = {"metadata": {"name": "a", "namespace": namespace}}
    assert (await client.core_v1.configmaps().create(given)).namespace == namespace


async def test_the_server_completes_a_name(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.create({"metadata": {"generateName": "job-"}})
    assert made.name.startswith("job-")
    assert len(made.name) > len("job-")


async def test_a_cluster_scoped_object_is_read(client: ClientSet, namespace: str):
    found = await client.core_v1.namespaces().get(namespace)
    assert (found.name, found.namespace) == (namespace, "")


async def test_a_get_may_require_a_minimum_version(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.create(config_map("a"))
    found = await config_maps.get("a", resource_version=made.resource_version)
    assert found.resource_version == made.resource_version


async def test_a_missing_object_is_not_found(config_maps: ResourceClient[ConfigMap]):
    with pytest.raises(NotFoundError, match='configmaps "a" not found') as caught:
        await config_maps.get("a")
    assert (caught.value.code, caught.value.reason) == (404, "NotFound")
    details = caught.value.details
    assert details is not None
    assert (details.kind, details.name) == ("configmaps", "a")


async def test_a_name_can_be_created_once(config_maps: ResourceClient[ConfigMap]):
    await config_maps.create(config_map("a"))
    with pytest.raises(AlreadyExistsError, match='configmaps "a" already exists') as caught:
        await config_maps.create(config_map("a"))
    assert caught.value.code == 409
    assert not isinstance(caught.value, ConflictError)


async def test_an_invalid_object_is_reported_field_by_field(pods: ResourceClient[Pod]):
    with pytest.raises(InvalidError) as caught:
        await pods.create({"metadata": {"name": "web"}, "spec": {"containers": [{"name": "NO", "image": "web:1"}]}})
    [cause] = caught.value.causes
    assert (cause.reason, cause.field) == ("FieldValueInvalid", "spec.containers[0].name")
    assert caught.value.code == 422


async def test_a_dry_run_creates_nothing(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.create(config_map("a", x="1"), dry_run=True)
    assert (made.data, bool(made.uid)) == ({"x": "1"}, True)
    with pytest.raises(NotFoundError):
        await config_maps.get("a")


ODD = {"metadata": {"name": "a"}, "data": {"x": "1"}, "colour": "red"}


async def test_unknown_fields_are_rejected_with_strict_validation(client: ClientSet, namespace: str):
    config_maps = client.dynamic.resource("v1", "ConfigMap", namespace=namespace)
    with pytest.raises(BadRequestError, match='unknown field "colour"'):
        await config_maps.create(ODD, field_validation="Strict")
    made = await config_maps.create(ODD, field_validation="Ignore")
    assert "colour" not in made.to_dict()


# --- replaced --------------------------------------------------------------------------------------------------------


async def test_an_update_replaces_the_object(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.create(config_map("a", x="1", y="1"))
    made.data = {"x": "2"}
    updated = await config_maps.update(made)
    assert updated.data == {"x": "2"}
    assert updated.uid == made.uid
    assert is_newer(updated.resource_version, made.resource_version)
    assert (await config_maps.get("a")).to_dict() == updated.to_dict()


async def test_an_update_without_changes_keeps_the_version(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.create(config_map("a", x="1"))
    assert (await config_maps.update(made)).resource_version == made.resource_version


async def test_a_dry_run_of_an_update_changes_nothing(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.create(config_map("a", x="1"))
    made.data = {"x": "2"}
    assert (await config_maps.update(made, dry_run=True)).data == {"x": "2"}
    assert (await config_maps.get("a")).data == {"x": "1"}


async def test_an_update_of_an_older_state_is_a_conflict(config_maps: ResourceClient[ConfigMap]):
    older = await config_maps.create(config_map("a", x="1"))
    await config_maps.patch("a", {"data": {"x": "2"}})
    older.data = {"x": "3"}
    with pytest.raises(ConflictError, match="the object has been modified") as caught:
        await config_maps.update(older)
    assert caught.value.code == 409
    assert (await config_maps.get("a")).data == {"x": "2"}


async def test_an_update_without_a_version_wins(config_maps: ResourceClient[ConfigMap]):
    await config_maps.create(config_map("a", x="1"))
    assert (await config_maps.update(config_map("a", x="2"))).data == {"x": "2"}


async def test_updating_a_missing_object_is_an_error(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.create(config_map("a"))
    await config_maps.delete("a")
    with pytest.raises(NotFoundError):
        await config_maps.update(made)


async def test_a_conflict_is_resolved_by_a_retry(config_maps: ResourceClient[ConfigMap]):
    await config_maps.create(config_map("a", count="0"))
    interruptions = iter(["other", "another"])

    async def count_up() -> ConfigMap:
        read = await config_maps.get("a")
        if interruption := next(interruptions, None):
            await config_maps.patch("a", {"data": {interruption: "1"}})
        read.data["count"] = str(int(read.data["count"]) + 1)
        return await config_maps.update(read)

    counted = await retry_on_conflict(count_up)
    assert counted.data == {"count": "1", "other": "1", "another": "1"}


# --- status ----------------------------------------------------------------------------------------------------------


async def test_a_status_is_replaced_and_nothing_else(deployments: ResourceClient[Deployment]):
    made = await deployments.create(deployment("web"))
    made.spec.replicas = 9
    made.status = DeploymentStatus(replicas=3, observed_generation=1)
    updated = await deployments.update_status(made)
    assert (updated.status.replicas, updated.spec.replicas, updated.metadata.generation) == (3, 1, 1)


async def test_an_update_leaves_the_status_as_it_is(deployments: ResourceClient[Deployment]):
    made = await deployments.create(deployment("web"))
    made.spec.replicas = 2
    made.status = DeploymentStatus(replicas=3)
    updated = await deployments.update(made)
    assert (updated.status.replicas or 0, updated.spec.replicas, updated.metadata.generation) == (0, 2, 2)


async def test_an_outdated_status_is_a_conflict_and_a_dry_run_changes_nothing(deployments: ResourceClient[Deployment]):
    older = await deployments.create(deployment("web"))
    older.status = DeploymentStatus(replicas=3)
    assert (await deployments.update_status(older, dry_run=True)).status.replicas == 3
    newer = await deployments.patch("web", {"spec": {"replicas": 2}})
    assert not newer.status.replicas
    with pytest.raises(ConflictError):
        await deployments.update_status(older)


async def test_a_pod_in_a_missing_namespace_is_not_found(client: ClientSet):
    with pytest.raises(NotFoundError, match='namespaces "there-is-none" not found'):
        await client.core_v1.pods("there-is-none").create(pod("web"))


async def test_an_update_records_the_field_manager(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.create(config_map("a"), field_manager="me")
    await config_maps.update(made, field_manager="me")
    await config_maps.patch("a", {"data": {"x": "1"}}, field_manager="me")
    with pytest.raises(InvalidError, match="fieldManager"):
        await config_maps.patch("a", {"data": {"x": "2"}}, field_manager="m" * 129)
    assert (await config_maps.get("a")).data == {"x": "1"}

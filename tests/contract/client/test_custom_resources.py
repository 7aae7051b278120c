"""Custom resources, typed and untyped."""

import secrets
from collections.abc import AsyncIterator

import pytest

from listwatch import CustomResource, Model
from listwatch.api.watch_events import AddedEvent, DeletedEvent, ModifiedEvent
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.wait.wait_for import wait_for
from listwatch.errors import InvalidError, NoMatchError, NotFoundError
from listwatch.factory.factory import SharedInformerFactory
from listwatch.models.apiextensions_v1 import CustomResourceDefinition
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.unstructured import Unstructured

_TRIES = 20_000
# One group for this run, because the type below names it.
GROUP = f"g{secrets.token_hex(4)}.example.com"
NAME = f"backups.{GROUP}"


class BackupSpec(Model):
    schedule: str | None = None
    keep: int | None = None


class BackupStatus(Model):
    done: int | None = None


class Backup(CustomResource, group=GROUP, version="v1", kind="Backup"):
    spec: BackupSpec
    status: BackupStatus = BackupStatus()


def definition() -> CustomResourceDefinition:
    spec = {"schedule": {"type": "string"}, "keep": {"type": "integer", "minimum": 1, "default": 7}}
    properties = {
        "spec": {"type": "object", "required": ["schedule"], "properties": spec},
        "status": {"type": "object", "properties": {"done": {"type": "integer"}}},
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
        "subresources": {"status": {}},
    }
    names = {"plural": "backups", "kind": "Backup", "shortNames": ["bk"]}
    return CustomResourceDefinition.from_dict(
        {
            "metadata": {"name": NAME},
            "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
        }
    )


@pytest.fixture
async def defined(client: ClientSet, namespace: str) -> AsyncIterator[CustomResourceDefinition]:
    """Yield when objects can be created; then delete the definition and wait."""
    definitions = client.apiextensions_v1.customresourcedefinitions()
    yield await definitions.create(definition())
    await definitions.delete(NAME)
    await wait_for(definitions, NAME, "deleted", timeout=60)


@pytest.fixture
async def backups(client: ClientSet, namespace: str, defined: CustomResourceDefinition) -> ResourceClient[Backup]:
    found = client.resource(Backup, namespace=namespace)
    await wait_until_served(found)
    return found


async def wait_until_served(found: ResourceClient[Backup] | ResourceClient[Unstructured]) -> None:
    for _ in range(_TRIES):
        try:
            await found.list()
        except (NotFoundError, NoMatchError):
            continue
        return
    raise AssertionError("what was defined was never served")


def backup(name: str, **spec: object) -> Backup:
    return Backup(metadata=ObjectMeta(name=name), spec=BackupSpec.from_dict(spec))


async def test_custom_objects_are_created_updated_and_deleted(backups: ResourceClient[Backup]):
    made = await backups.create(backup("a", schedule="0 0 * * *"))
    assert (type(made), made.spec.keep, made.metadata.generation) == (Backup, 7, 1)
    made.spec.keep = 3
    changed = await backups.update(made)
    assert (changed.spec.keep, changed.metadata.generation) == (3, 2)
    changed.status = BackupStatus(done=5)
    updated = await backups.update_status(changed)
    assert (updated.status.done, updated.metadata.generation) == (5, 2)
    assert [each.name for each in await backups.list()] == ["a"]
    await backups.delete("a")
    with pytest.raises(NotFoundError):
        await backups.get("a")


async def test_a_schema_violation_is_reported_in_the_error(backups: ResourceClient[Backup]):
    with pytest.raises(InvalidError) as caught:
        await backups.create(backup("a", keep=0))
    assert {cause.field for cause in caught.value.causes} == {"spec.schedule", "spec.keep"}


async def test_custom_objects_are_watched_with_their_types(backups: ResourceClient[Backup]):
    listed = await backups.list()
    async with backups.watch(resource_version=listed.resource_version) as watch:
        await backups.create(backup("a", schedule="x"))
        await backups.patch("a", {"spec": {"schedule": "y"}})
        await backups.delete("a")
        events = [await anext(watch) for _ in range(3)]
    assert [type(event) for event in events] == [AddedEvent, ModifiedEvent, DeletedEvent]
    assert [event.object.spec.schedule for event in events] == ["x", "y", "y"]


@pytest.mark.parametrize("of", [(f"{GROUP}/v1", "Backup"), ("bk", ""), (f"backups.{GROUP}", "")])
async def test_a_dynamic_client_finds_a_kind_defined_after_its_discovery(
    config: ClientConfig, client: ClientSet, namespace: str, of: tuple[str, str]
):
    async with DynamicClient(config) as dynamic:
        with pytest.raises(NoMatchError):
            await dynamic.resource(*of, namespace=namespace).list()
        definitions = client.apiextensions_v1.customresourcedefinitions()
        await definitions.create(definition())
        try:
            found = dynamic.resource(*of, namespace=namespace)
            await wait_until_served(found)
            kind = {"apiVersion": f"{GROUP}/v1", "kind": "Backup"}
            body = {**kind, "metadata": {"name": "a"}, "spec": {"schedule": "x", "more": 1}}
            made = await found.create(Unstructured(body))
            assert (made.kind, made["spec"]) == ("Backup", {"schedule": "x", "keep": 7})
        finally:
            await definitions.delete(NAME)
            await wait_for(definitions, NAME, "deleted", timeout=60)


async def test_an_informer_syncs_custom_objects(backups: ResourceClient[Backup], client: ClientSet):
    await backups.create(backup("a", schedule="x"))
    async with SharedInformerFactory(client) as factory:
        handle = factory.informer(Backup)
        await factory.wait_for_sync(timeout=30)
        assert [each.spec.schedule for each in handle.lister.list()] == ["x"]
        changed = await backups.patch("a", {"spec": {"schedule": "y"}})
        await handle.informer.wait_until(changed.resource_version)
        assert [each.spec.schedule for each in handle.lister.list()] == ["y"]

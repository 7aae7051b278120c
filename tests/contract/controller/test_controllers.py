"""Controllers on the embedded server, and on a real one."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.contract.target import Target

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.wait.wait_for import wait_for
from listwatch.controller.controller import Controller
from listwatch.controller.manager import Manager
from listwatch.controller.object_fields.conditions import is_condition_true, set_condition
from listwatch.controller.object_fields.finalizers import finalize
from listwatch.controller.object_fields.owners import set_controller
from listwatch.controller.watching.predicates import generation_changed
from listwatch.controller.watching.watches import Watch
from listwatch.meta import ObjectKey
from listwatch.models.apps_v1 import Deployment, DeploymentSpec
from listwatch.models.core_v1 import ConfigMap, Container, PodSpec, PodTemplateSpec
from listwatch.models.meta_v1 import LabelSelector
from listwatch.objects.metadata import ObjectMeta

HOLD = "example.com/hold"


@pytest.fixture
async def client(target: Target) -> AsyncIterator[ClientSet]:
    config = ClientConfig(
        host=target.url, token=target.token, ca_file=target.ca_file, insecure_skip_tls_verify=target.insecure
    )
    async with ClientSet(config) as client:
        yield client


def a_deployment(name: str, replicas: int) -> Deployment:
    labels = {"app": name}
    template = PodTemplateSpec(
        metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[Container(name="web", image="web:1")])
    )
    spec = DeploymentSpec(replicas=replicas, selector=LabelSelector(match_labels=labels), template=template)
    return Deployment(metadata=ObjectMeta(name=name), spec=spec)


async def test_a_deleted_owned_object_is_created_again(client: ClientSet, namespace: str):
    deployments, maps = client.apps_v1.deployments(namespace), client.core_v1.configmaps(namespace)

    async def reconcile(key: ObjectKey) -> None:
        owner = controller.get(key)
        if owner is None or key in controller.indexer(ConfigMap):
            return
        settings = ConfigMap(metadata=ObjectMeta(name=key.name, namespace=namespace), data={"for": key.name})
        set_controller(settings, owner)
        await maps.create(settings)

    controller = Controller(reconcile, for_=Deployment, owns=[ConfigMap], client=client, namespace=namespace)
    async with controller:
        await deployments.create(a_deployment("web", 0))
        first = await wait_for(maps, "web", lambda found: found is not None, timeout=30)
        await maps.delete("web")
        second = await wait_for(maps, "web", lambda found: found is not None and found.uid != first.uid, timeout=30)
        assert second.metadata.owner_references[0].name == "web"
    assert controller.statistics().failed == 0


async def test_each_reconcile_reads_the_writes_of_the_one_before(client: ClientSet, namespace: str):
    maps = client.core_v1.configmaps(namespace)
    done = asyncio.Event()

    async def reconcile(key: ObjectKey) -> float | None:
        counter = controller.get(key).copy()
        if counter.data["count"] == "20":
            done.set()
            return None
        counter.data["count"] = str(int(counter.data["count"]) + 1)
        await maps.update(counter)
        return 0.0

    watch = Watch(ConfigMap, field_selector="metadata.name=counter")
    await maps.create(ConfigMap(metadata=ObjectMeta(name="counter"), data={"count": "0"}))
    controller = Controller(reconcile, for_=watch, client=client, namespace=namespace)
    async with controller:
        await done.wait()
    now = controller.statistics()
    assert (now.failed, now.stale) == (0, 0)


async def test_a_finalizer_keeps_an_object_until_its_cleanup(client: ClientSet, namespace: str):
    maps = client.core_v1.configmaps(namespace)
    called: list[str] = []

    async def reconcile(key: ObjectKey) -> None:
        item = controller.get(key)
        if item is not None:
            apply, cleanup = lambda _: called.append("apply"), lambda _: called.append("cleanup")
            await finalize(maps, item, HOLD, apply=apply, cleanup=cleanup)

    watch = Watch(ConfigMap, label_selector="held=yes")
    manager = Manager(client, namespace=namespace)
    controller = manager.add(Controller(reconcile, for_=watch))
    async with manager:
        await maps.create(ConfigMap(metadata=ObjectMeta(name="a", labels={"held": "yes"})))
        held = await wait_for(
            maps, "a", lambda found: found is not None and HOLD in found.metadata.finalizers, timeout=30
        )
        assert held.metadata.deletion_timestamp is None
        await maps.delete("a")
        await wait_for(maps, "a", "deleted", timeout=30)
    assert called[0] == "apply"
    assert called[-1] == "cleanup"


async def test_a_status_update_is_not_reconciled_again(client: ClientSet, namespace: str):
    deployments = client.apps_v1.deployments(namespace)
    seen: list[int] = []
    twice = asyncio.Event()

    async def reconcile(key: ObjectKey) -> None:
        item = controller.get(key)
        if item is None:
            return
        item = item.copy()
        seen.append(item.metadata.generation)
        if len(seen) == 2:
            twice.set()
        if set_condition(item, "Available", True, reason="Seen", message=str(seen)):
            await deployments.update_status(item)

    watch = Watch(Deployment, when=generation_changed)
    controller = Controller(reconcile, for_=watch, client=client, namespace=namespace)
    async with controller:
        await deployments.create(a_deployment("web", 0))
        ready = await wait_for(deployments, "web", "condition=Available", timeout=30)
        assert is_condition_true(ready, "Available")
        await controller.informer(Deployment).wait_until(ready.resource_version, 30)
        await deployments.patch("web", {"spec": {"replicas": 3}})
        await wait_for(
            deployments, "web", lambda found: found is not None and found.metadata.generation == 2, timeout=30
        )
        await twice.wait()
    assert seen == [1, 2]

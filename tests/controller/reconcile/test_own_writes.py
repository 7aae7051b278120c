"""A reconcile reads the writes of the last one from the caches, however late the watch is."""

import asyncio

import pytest
from tests.controller.worlds import Failures, config_map, key, pod, turns_until, world

from listwatch import blocking, models
from listwatch.api.request_paths import parse_path
from listwatch.client.resources.client_set import ClientSet
from listwatch.controller.controller import Controller
from listwatch.controller.watching.watches import Watch
from listwatch.meta import ObjectKey, Resource
from listwatch.models.core_v1 import ConfigMap, Pod
from listwatch.server import Fault, HoldEvents


async def count_up(client: ClientSet, controller: Controller[ConfigMap], key: ObjectKey) -> int:
    item = controller.get(key).copy()
    item.data["count"] = str(int(item.data["count"]) + 1)
    await client.core_v1.configmaps(key.namespace).update(item)
    return int(item.data["count"])


async def test_the_next_reconcile_waits_for_the_writes_of_the_last_one():
    async with world() as (server, client):
        await client.core_v1.configmaps("default").create(config_map("a", count="0"))
        seen: list[int] = []
        reached = asyncio.Event()

        async def reconcile(key: ObjectKey) -> float | None:
            held = server.faults.add(Fault(HoldEvents(), verb="watch", resource="configmaps"))
            seen.append(await count_up(client, controller, key))
            if len(seen) == 5:
                reached.set()
                server.faults.remove(held)
                return None
            # The watch is behind until long after the key is due again.
            asyncio.get_running_loop().call_later(0.02, server.faults.remove, held)
            return 0.0

        failures = Failures()
        controller = Controller(reconcile, for_=ConfigMap, client=client, on_failure=failures)
        async with controller:
            await reached.wait()
        assert seen[:5] == [1, 2, 3, 4, 5]
        assert failures.seen == []


async def test_a_key_that_waits_for_its_writes_is_not_reconciled_after_the_stop():
    async with world() as (server, client):
        await client.core_v1.configmaps("default").create(config_map("a", count="0"))
        held = []

        async def reconcile(key: ObjectKey) -> float:
            held.append(server.faults.add(Fault(HoldEvents(), verb="watch", resource="configmaps")))
            await count_up(client, controller, key)
            return 0.0

        controller = Controller(reconcile, for_=ConfigMap, client=client)
        async with controller:
            await turns_until(lambda: controller.statistics().succeeded and controller.statistics().queue.processing)
            stopping = asyncio.create_task(controller.stop())
            await turns_until(lambda: "stopping" in repr(controller))
            server.faults.remove(*held)
            await stopping
        assert (controller.statistics().queue.taken, controller.statistics().succeeded) == (2, 1)


async def test_writes_through_blocking_clients_are_waited_for():
    async with world() as (server, client):
        await client.core_v1.configmaps("default").create(config_map("a", count="0"))
        seen: list[str] = []
        reached = asyncio.Event()
        loop = asyncio.get_running_loop()
        other = await asyncio.to_thread(blocking.ClientSet, server.config)

        def reconcile(key: ObjectKey) -> float | None:
            item = controller.get(key).copy()
            item.data["count"] += "1"
            other.core_v1.configmaps("default").update(item)
            seen.append(item.data["count"])
            if len(seen) == 3:
                loop.call_soon_threadsafe(reached.set)
                return None
            return 0.0

        failures = Failures()
        controller = Controller(reconcile, for_=ConfigMap, client=client, on_failure=failures)
        async with controller:
            await reached.wait()
        await asyncio.to_thread(other.close)
        assert seen[:3] == ["01", "011", "0111"]
        assert failures.seen == []


async def test_a_deleted_object_is_not_in_the_cache_of_the_next_reconcile():
    async with world() as (server, client):
        maps = client.core_v1.configmaps("default")
        await maps.create(config_map("m"))
        found: list[bool] = []
        ended = asyncio.Event()

        async def reconcile(_: ObjectKey) -> float | None:
            found.append("default/m" in controller.indexer(ConfigMap))
            if len(found) > 1:
                ended.set()
                return None
            held = server.faults.add(Fault(HoldEvents(), verb="watch", resource="configmaps"))
            await maps.delete("m")
            asyncio.get_running_loop().call_later(0.02, server.faults.remove, held)
            return 0.0

        watch = Watch(ConfigMap, keys=lambda _: [])
        controller = Controller(reconcile, for_=Pod, watches=[watch], client=client)
        async with controller:
            await controller.wait_for_sync()
            controller.enqueue("default/a")
            await ended.wait()
        assert found == [True, False]


async def test_writes_that_are_not_watched_delay_nothing():
    async with world() as (_, client):
        runs: list[ObjectKey] = []
        ended = asyncio.Event()

        async def reconcile(key: ObjectKey) -> float | None:
            runs.append(key)
            if len(runs) > 1:
                ended.set()
                return None
            maps = client.core_v1.configmaps("default")
            await maps.create(config_map("unselected"))
            await client.core_v1.namespaces().create({"metadata": {"name": "other"}})
            await client.core_v1.configmaps("other").create({"metadata": {"name": "elsewhere"}})
            await client.core_v1.pods("default").create(pod("unwatched"))
            return 0.0

        selected = Watch(ConfigMap, namespace="default", label_selector="app=web")
        async with Controller(reconcile, for_=selected, client=client) as controller:
            controller.enqueue("default/a")
            await ended.wait()
        assert controller.statistics().stale == 0


async def test_cached_writes_are_pruned():
    async with world() as (_, client):
        maps = client.core_v1.configmaps("default")

        async def reconcile(key: ObjectKey) -> None:
            await maps.create(config_map(key.name))

        watch = Watch(ConfigMap, keys=lambda _: [])
        async with Controller(reconcile, for_=Pod, watches=[watch], client=client, concurrency=16) as controller:
            for number in range(350):
                controller.enqueue(f"default/m-{number}")
            await turns_until(lambda: controller.statistics().succeeded == 350)
            assert 0 < controller.statistics().keys_with_writes < 250


@pytest.mark.parametrize("resource", models.resources(), ids=lambda resource: str(resource.gvr))
def test_the_path_of_a_request_names_the_written_object(resource: Resource):
    namespace = "default" if resource.namespaced else ""
    expected = (resource.group, resource.plural, namespace, "a", "")
    below = "/namespaces/{namespace}" if namespace else ""
    template = f"{resource.path().removesuffix(f'/{resource.plural}')}{below}/{resource.plural}"
    assert parse_path(resource.path(namespace, "a")) == (template + "/{name}", *expected)
    assert parse_path(resource.path(namespace, "a", "status")) == (template + "/{name}/status", *expected[:4], "status")
    assert parse_path(resource.path(namespace)) == (template, *expected[:3], "", "")


@pytest.mark.parametrize("path", ["", "/", "/api", "/apis", "/healthz", "/apis/apps", "/api/v1"])
def test_other_paths_name_no_object(path: str):
    assert parse_path(path).name == ""


async def test_a_stale_cache_is_reported_and_delays_a_reconcile_only_until_the_timeout():
    async with world() as (server, client):
        await client.core_v1.configmaps("default").create(config_map("a", count="0"))
        runs: list[ObjectKey] = []

        async def reconcile(key: ObjectKey) -> float | None:
            runs.append(key)
            if len(runs) == 1:
                server.faults.add(Fault(HoldEvents(), verb="watch", resource="configmaps"))
                await count_up(client, controller, key)
                return 0.0
            return None

        failures = Failures()
        controller = Controller(reconcile, for_=ConfigMap, client=client, on_failure=failures, own_writes_timeout=0.02)
        async with controller:
            failure = await failures.wait()
            await turns_until(lambda: len(runs) == 2)
        assert failure.key == key("a")
        assert "does not contain the last writes" in str(failure)
        assert controller.statistics().stale == 1

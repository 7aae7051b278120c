"""Managers of several clusters, on two or three servers: keys, caches, events, and clusters that come and go."""

import asyncio
import logging
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import pytest
from tests.controller.worlds import Calls, Failures, HastyClock, config_map, pod, turns_until
from tests.inspector.served import served_at

from listwatch.client import ClientConfig, ClientSet, DynamicClient
from listwatch.controller import ClusterChange, Controller, Every, Manager, ReconcileContext, Watch, set_controller
from listwatch.controller.clusters import cluster_view
from listwatch.errors import BadKeyError, ClusterNotFoundError, InformerStoppedError, SyncTimeoutError, UsageError
from listwatch.meta import ClusterKey, ObjectKey
from listwatch.models.core_v1 import ConfigMap, Pod, Secret
from listwatch.server import APIServer, CutStream, Fault, HoldEvents, Refuse
from listwatch.workqueue import ExponentialLimiter


@asynccontextmanager
async def worlds(*names: str) -> AsyncIterator[tuple[dict[str, APIServer], dict[str, ClientSet]]]:
    async with AsyncExitStack() as stack:
        servers = {name: await stack.enter_async_context(APIServer()) for name in names}
        clients = {name: await stack.enter_async_context(ClientSet(each.config)) for name, each in servers.items()}
        yield servers, clients


def key(name: str, cluster: str) -> ClusterKey:
    return ClusterKey("default", name, cluster)


async def create(client: ClientSet, *names: str, **data: str) -> None:
    for name in names:
        await client.core_v1.configmaps("default").create(config_map(name, **data))


def unused_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _equals(counts: dict[str, int], name: str, count: int) -> bool:
    return counts.get(name) == count


def _has(calls: Calls, count: int) -> bool:
    return len(calls.seen) >= count


# --- keys and caches --------------------------------------------------------------------------------------------------


async def test_equal_names_in_two_clusters_are_two_keys():
    async with worlds("eu", "us") as (_, clients):
        await create(clients["eu"], "a", place="eu")
        await create(clients["us"], "a", place="us")
        found: dict[ObjectKey, str] = {}
        calls = Calls()

        async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            item = context.get()
            assert item is not None
            assert context.indexer(ConfigMap).get(key) is item
            assert context.lister(ConfigMap).namespace(key.namespace).get(key.name) is item
            read = await context.client.core_v1.configmaps(key.namespace).get(key.name)
            found[key] = f"{key.cluster} {item.data['place']} {read.data['place']}"
            await calls(key)

        manager = Manager(clients)
        controller = manager.add(Controller(reconcile, for_=ConfigMap))
        async with manager:
            await calls.wait_until(lambda: len(found) == 2)
            assert found == {key("a", "eu"): "eu eu eu", key("a", "us"): "us us us"}
            cached = controller.get(key("a", "us"))
            assert cached is not None
            assert cached.data["place"] == "us"
            assert len(controller.lister(ConfigMap, cluster="eu").list()) == 1
            assert [each.name for each in manager.clusters] == ["eu", "us"]


async def test_owned_objects_reconcile_their_owner_in_the_same_cluster():
    async with worlds("eu", "us") as (_, clients):
        calls = Calls()
        manager = Manager(clients)
        manager.add(Controller(calls, for_=ConfigMap, owns=[Pod]))
        for client in clients.values():
            await create(client, "a")
        async with manager:
            await calls.wait_for(key("a", "eu"))
            await calls.wait_for(key("a", "us"))
            owned = pod("p")
            set_controller(owned, await clients["us"].core_v1.configmaps("default").get("a"))
            await clients["us"].core_v1.pods("default").create(owned)
            await calls.wait_for(key("a", "us"), 2)
            assert calls.seen.count(key("a", "eu")) == 1


async def test_a_key_function_names_keys_in_other_clusters():
    async with worlds("hub", "eu", "us") as (_, clients):
        await create(clients["hub"], "app")
        calls, seen = Calls(), dict[str, int]()

        async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            for name in context.clusters:
                if name != "hub":
                    seen[name] = len(context.in_cluster(name).lister(Pod).list())
            await calls(key)

        def app_of(item: Pod, cluster: str) -> ObjectKey:
            assert cluster in ("eu", "us")
            return key("app", "hub")

        members = Watch(Pod, cluster_keys=app_of, clusters=lambda name: name != "hub")
        manager = Manager(clients, home="hub")
        manager.add(Controller(reconcile, for_=Watch(ConfigMap, clusters=["hub"]), watches=[members]))
        async with manager:
            await manager.wait_ready(timeout=30)
            for name in ("eu", "us"):
                await clients[name].core_v1.pods("default").create(pod("p"))
                await calls.wait_until(partial(_equals, seen, name, 1))
            assert set(calls.seen) == {key("app", "hub")}


async def test_a_controller_watches_only_the_clusters_that_it_selects():
    async with worlds("eu", "us") as (servers, clients):
        for client in clients.values():
            await create(client, "a")
        calls = Calls()
        manager = Manager(clients)
        controller = manager.add(Controller(calls, for_=ConfigMap, clusters=["us"]))
        async with manager:
            await calls.wait_for(key("a", "us"))
            assert servers["eu"].statistics().watches == 0
            with pytest.raises(UsageError, match="does not watch ConfigMap in the cluster eu"):
                controller.get(key("a", "eu"))
        assert calls.seen == [key("a", "us")]


@pytest.mark.parametrize("written", ["eu", "us"])
async def test_a_key_is_reconciled_again_when_the_cache_of_the_written_cluster_contains_the_write(written: str):
    """The versions of that server are far ahead, so the other one would never reach them."""
    async with worlds("eu", "us") as (servers, clients):
        await create(clients[written], *(f"ahead-{number}" for number in range(30)))
        seen: list[bool] = []
        calls = Calls()

        async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            if key.name == "a":
                target = context.in_cluster(written)
                seen.append(ObjectKey("default", "new") in target.indexer(ConfigMap))
                if len(seen) == 1:
                    servers[written].faults.add(Fault(HoldEvents(), verb="watch"))
                    await create(target.client, "new")
            await calls(key)

        manager = Manager(clients)
        controller = manager.add(Controller(reconcile, for_=ConfigMap, own_writes_timeout=600.0))
        async with manager:
            await manager.wait_ready(timeout=30)
            await create(clients["eu"], "a")
            await calls.wait_for(key("a", "eu"))
            controller.enqueue(key("a", "eu"))
            controller.enqueue(key("other", "eu"))
            await calls.wait_for(key("other", "eu"))
            assert calls.seen.count(key("a", "eu")) == 1
            servers[written].faults.clear()
            await calls.wait_for(key("a", "eu"), 2)
        assert seen == [False, True]
        assert controller.statistics().stale == 0


async def test_a_removed_cluster_does_not_end_the_wait_for_writes_to_another_one():
    async with worlds("hub", "eu", "us") as (servers, clients):
        seen: list[bool] = []
        calls = Calls()

        async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            if key.name == "a":
                seen.append(ObjectKey("default", "new") in context.in_cluster("us").indexer(ConfigMap))
                for name in ("eu", "us") if len(seen) == 1 else ():
                    servers[name].faults.add(Fault(HoldEvents(), verb="watch"))
                    await create(clients[name], "new")
            await calls(key)

        manager = Manager(clients)
        watches = [Watch(ConfigMap, keys=lambda _: None, clusters=["eu", "us"])]
        controller = manager.add(
            Controller(reconcile, for_=Watch(ConfigMap, clusters=["hub"]), watches=watches, own_writes_timeout=600.0)
        )
        async with manager:
            await manager.wait_ready(timeout=30)
            controller.enqueue(key("a", "hub"))
            await calls.wait_for(key("a", "hub"))
            await manager.remove_cluster("eu")
            controller.enqueue(key("a", "hub"))
            controller.enqueue(key("other", "hub"))
            await calls.wait_for(key("other", "hub"))
            assert calls.seen.count(key("a", "hub")) == 1
            servers["us"].faults.clear()
            await calls.wait_for(key("a", "hub"), 2)
        assert seen == [False, True]


async def test_keys_of_other_clusters_wait_until_the_cluster_that_names_them_has_synced():
    async with worlds("hub", "eu") as (servers, clients):
        servers["eu"].faults.add(Fault(HoldEvents(), verb="watch", resource="secrets"))
        await clients["eu"].core_v1.pods("default").create(pod("p"))
        calls, seen = Calls(), dict[str, tuple[str, ...]]()

        async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            seen[key.name] = context.clusters
            await calls(key)

        watches = [
            Watch(Pod, keys=lambda _: key("named", "hub"), clusters=["eu"]),
            Watch(Secret, keys=lambda _: None, clusters=["eu"]),
        ]
        manager = Manager(clients)
        controller = manager.add(Controller(reconcile, for_=Watch(ConfigMap, clusters=["hub"]), watches=watches))
        async with manager:
            await manager.cluster("hub").wait_for_sync(timeout=30)
            await controller.informer(Pod, cluster="eu").wait_for_sync(30)
            controller.enqueue(key("marker", "hub"))
            await calls.wait_for(key("marker", "hub"))
            assert calls.seen == [key("marker", "hub")]
            servers["eu"].faults.clear()
            await calls.wait_for(key("named", "hub"))
        assert seen == {"marker": ("hub",), "named": ("hub", "eu")}


async def test_events_are_recorded_in_the_cluster_of_the_object():
    async with worlds("eu", "us") as (_, clients):
        for client in clients.values():
            await create(client, "a")
        calls = Calls()

        async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            context.record_event(context.get(), "Normal", "Seen", f"in {key.cluster}")
            await calls(key)

        manager = Manager(clients)
        controller = manager.add(Controller(reconcile, for_=ConfigMap))
        async with manager:
            await calls.wait_until(lambda: len(calls.seen) == 2)
            await manager.remove_cluster("eu")
        for name, client in clients.items():
            events = await client.core_v1.events("default").list()
            assert [event.message for event in events] == [f"in {name}"]
        events = controller.statistics().events
        assert events is not None
        assert events.created == 2


async def test_keys_without_a_cluster_are_rejected():
    async with worlds("eu") as (_, clients):
        failures, calls = Failures(), Calls()
        manager = Manager(clients)
        controller = manager.add(
            Controller(
                calls,
                for_=ConfigMap,
                watches=[Every(0.01, keys=lambda: ["default/a"])],
                on_failure=failures,
                clock=HastyClock(),
            )
        )
        async with manager:
            with pytest.raises(BadKeyError, match=r"'default/a' has no cluster.*key\.in_cluster"):
                controller.enqueue("default/a")
            assert isinstance((await failures.wait()).error, BadKeyError)
            controller.enqueue(key("a", "eu"))
            await calls.wait_for(key("a", "eu"))


async def test_a_timer_enqueues_the_objects_of_all_clusters():
    async with worlds("eu", "us") as (_, clients):
        for client in clients.values():
            await create(client, "a")
        calls = Calls()
        manager = Manager(clients)
        manager.add(Controller(calls, for_=ConfigMap, watches=[Every(0.01)]))
        async with manager:
            await calls.wait_for(key("a", "eu"), 3)
            await calls.wait_for(key("a", "us"), 3)


async def test_a_dynamic_client_is_a_cluster():
    async with worlds("eu") as (servers, clients):
        await create(clients["eu"], "a")
        calls = Calls()
        async with DynamicClient(servers["eu"].config) as dynamic:
            manager = Manager({"arn:aws:eks:eu:1:cluster/prod": dynamic})
            manager.add(Controller(calls, for_=("v1", "ConfigMap")))
            async with manager:
                await calls.wait_for(key("a", "arn:aws:eks:eu:1:cluster/prod"))


# --- one cluster fails ------------------------------------------------------------------------------------------------


async def test_a_cluster_that_is_down_delays_no_other_and_is_reconciled_once_it_is_up():
    port = unused_port()
    async with worlds("eu") as (_, clients):
        await create(clients["eu"], "a")
        calls, failures = Calls(), Failures()
        down = ClientSet(ClientConfig(host=f"http://127.0.0.1:{port}", token="secret"))
        async with down:
            manager = Manager({**clients, "us": down}, health_port=0)
            manager.add(Controller(calls, for_=ConfigMap, sync_timeout=0.05, on_failure=failures, clock=HastyClock()))
            async with manager:
                await calls.wait_for(key("a", "eu"))
                count = 1
                while "the cluster us is not reconciled yet" not in str(failure := await failures.wait(count)):
                    count += 1
                assert isinstance(failure.error, SyncTimeoutError)
                assert manager.is_ready  # without the cluster that is late
                text = (await manager._readyz()).text
                assert "[+] cluster eu" in text
                assert "[!] cluster us: us/configmaps: " in text
                assert key("a", "us") not in calls.seen
                async with APIServer(port=port, token="secret") as server, ClientSet(server.config) as client:
                    await create(client, "b")
                    await calls.wait_for(key("b", "us"))
                    assert manager.cluster("us").is_synced
                    assert "[+] cluster us" in (await manager._readyz()).text


async def test_reconciles_that_hang_in_one_cluster_delay_no_other():
    async with worlds("eu", "us") as (_, clients):
        for client in clients.values():
            await create(client, *(f"n{number}" for number in range(10)))
        hanging = asyncio.Event()
        calls = Calls()

        async def reconcile(key: ObjectKey) -> None:
            if key.cluster == "us":
                await hanging.wait()
            await calls(key)

        manager = Manager(clients)
        controller = manager.add(Controller(reconcile, for_=ConfigMap, concurrency=2))
        async with manager:
            await turns_until(lambda: controller.statistics().running == 2)  # those of us
            for number in range(10):
                await calls.wait_for(key(f"n{number}", "eu"))
            hanging.set()
            for number in range(10):
                await calls.wait_for(key(f"n{number}", "us"))


async def test_keys_that_are_enqueued_before_the_start_are_reconciled():
    async with worlds("eu") as (_, clients):
        calls = Calls()
        manager = Manager(clients)
        controller = manager.add(Controller(calls, for_=ConfigMap))
        controller.enqueue(key("early", "eu"))
        async with manager:
            await calls.wait_for(key("early", "eu"))


async def test_a_controller_is_ready_when_all_clusters_have_synced():
    async with worlds("eu", "us") as (servers, clients):
        held = servers["us"].faults.add(Fault(HoldEvents(), verb="watch"))
        manager = Manager(clients)
        controller = manager.add(Controller(Calls(), for_=ConfigMap))
        assert not controller.is_ready
        assert controller.why_not_ready() == "ConfigMap: the controller was not started"
        async with manager:
            await manager.cluster("eu").wait_for_sync(timeout=30)
            assert not controller.is_ready
            with pytest.raises(SyncTimeoutError, match="us/configmaps: no response yet"):
                await controller.wait_for_sync(0.01)
            servers["us"].faults.remove(held)
            await controller.wait_for_sync(30)
            assert controller.is_ready
            assert controller.why_not_ready() is None
        with pytest.raises(InformerStoppedError):
            await controller.wait_for_sync(30)


async def test_readiness_waits_for_the_clusters_that_are_there_at_the_start():
    async with worlds("eu", "us") as (servers, clients):
        servers["us"].faults.add(Fault(HoldEvents(), verb="watch"))
        manager = Manager(clients)
        manager.add(Controller(Calls(), for_=ConfigMap))
        async with manager:
            await manager.cluster("eu").wait_for_sync(timeout=30)
            assert not manager.is_ready
            with pytest.raises(SyncTimeoutError, match=r"\[-\] cluster us: us/configmaps: no response yet"):
                await manager.wait_ready(timeout=0.1)
            with pytest.raises(SyncTimeoutError, match="the cluster us has not synced within"):
                await manager.cluster("us").wait_for_sync(timeout=0.01)


async def test_a_cluster_that_is_added_at_run_time_does_not_make_the_manager_unready():
    async with worlds("eu", "us") as (servers, clients):
        servers["us"].faults.add(Fault(HoldEvents(), verb="watch"))
        manager = Manager({"eu": clients["eu"]})
        manager.add(Controller(Calls(), for_=ConfigMap))
        async with manager:
            await manager.wait_ready(timeout=30)
            await manager.add_cluster("us", clients["us"])
            assert manager.is_ready
            assert "[!] cluster us: us/configmaps: no response yet" in (await manager._readyz()).text
            servers["us"].faults.clear()
            await manager.cluster("us").wait_for_sync(timeout=30)
            assert "[+] cluster us" in (await manager._readyz()).text


async def test_the_home_cluster_is_required_even_if_it_is_late():
    async with worlds("hub", "eu") as (servers, clients):
        servers["hub"].faults.add(Fault(HoldEvents(), verb="watch"))
        failures = Failures()
        manager = Manager(clients, home="hub")
        manager.add(Controller(Calls(), for_=ConfigMap, sync_timeout=0.02, on_failure=failures))
        async with manager:
            await failures.wait()
            await manager.cluster("eu").wait_for_sync(timeout=30)
            assert not manager.is_ready


async def test_faults_of_one_watch_do_not_delay_the_other_cluster():
    async with worlds("eu", "us") as (servers, clients):
        await create(clients["eu"], "first")
        calls = Calls()
        manager = Manager(clients)
        manager.add(Controller(calls, for_=ConfigMap))
        async with manager:
            await manager.wait_ready(timeout=30)
            for fault in (Fault(CutStream(), verb="watch"), Fault(Refuse(), verb="list")):
                servers["us"].faults.add(fault)
            for number in range(20):
                await create(clients["eu"], f"n{number}")
                await calls.wait_for(key(f"n{number}", "eu"))


# --- clusters come and go ---------------------------------------------------------------------------------------------


async def test_a_cluster_is_added_and_removed_while_the_manager_runs():
    async with worlds("eu", "us") as (servers, clients):
        for client in clients.values():
            await create(client, "a")
        calls = Calls()
        manager = Manager({"eu": clients["eu"]})
        controller = manager.add(Controller(calls, for_=ConfigMap, owns=[Pod]))
        async with manager:
            await manager.wait_ready(timeout=30)
            cluster = await manager.add_cluster("us", clients["us"])
            await cluster.wait_for_sync(timeout=30)
            await calls.wait_for(key("a", "us"))
            taken = controller.statistics().queue.taken
            await manager.remove_cluster("us")
            assert controller.statistics().queue.taken >= taken == 2  # a counter never decreases
            await turns_until(lambda: servers["us"].statistics().watches == 0)
            assert [each.name for each in manager.clusters] == ["eu"]
            with pytest.raises(ClusterNotFoundError, match="'us'; clusters: 'eu'"):
                manager.cluster("us")
            with pytest.raises(ClusterNotFoundError):
                controller.get(key("a", "us"))
            await create(clients["eu"], "b")
            await calls.wait_for(key("b", "eu"))
            again = await manager.add_cluster("us", clients["us"])
            await again.wait_for_sync(timeout=30)
            await calls.wait_for(key("a", "us"), 2)
        await turns_until(lambda: servers["eu"].statistics().watches + servers["us"].statistics().watches == 0)


async def test_waiting_and_delayed_keys_of_a_removed_cluster_are_dropped():
    async with worlds("eu", "us") as (_, clients):
        for client in clients.values():
            await create(client, *(f"n{number}" for number in range(30)))
        started, released = asyncio.Event(), asyncio.Event()
        seen: list[ObjectKey] = []

        async def reconcile(key: ObjectKey) -> float | None:
            seen.append(key)
            started.set()
            await released.wait()
            return 3600.0

        manager = Manager(clients)
        controller = manager.add(Controller(reconcile, for_=ConfigMap, concurrency=1))
        async with manager:
            await manager.wait_ready(timeout=30)
            await started.wait()
            controller.enqueue(key("later", "us"), after=3600.0)
            removing = asyncio.create_task(manager.remove_cluster("us"))
            await turns_until(lambda: controller.statistics().queue.depth <= 30)
            released.set()
            await removing
            await turns_until(lambda: {each for each in seen if each.cluster == "eu"} >= _keys("eu"))
            await turns_until(lambda: controller.statistics().queue.delayed == 30)
            assert len([each for each in seen if each.cluster == "us"]) <= 1


def _keys(cluster: str) -> set[ObjectKey]:
    return {key(f"n{number}", cluster) for number in range(30)}


async def test_a_removal_cancels_reconciles_after_the_grace_period():
    async with worlds("eu", "us") as (_, clients):
        await create(clients["us"], "a")
        started, cancelled = asyncio.Event(), asyncio.Event()

        async def reconcile(key: ObjectKey) -> None:
            started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                raise

        failures = Failures()
        manager = Manager(clients, grace_period=0.01)
        controller = manager.add(Controller(reconcile, for_=ConfigMap, on_failure=failures))
        async with manager:
            await started.wait()
            await manager.remove_cluster("us")
            assert cancelled.is_set()
            await turns_until(lambda: controller.statistics().running == 0)
            assert controller.statistics().interrupted == 1
            assert controller.statistics().queue.delayed == 0
        assert failures.seen == []


async def test_a_removal_names_a_reconcile_in_a_thread_that_does_not_end(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cluster_view, "_CANCELLATION_TIMEOUT", 0.01)
    async with worlds("eu", "us") as (_, clients):
        await create(clients["us"], "a")
        started, released = threading.Event(), threading.Event()

        def reconcile(key: ObjectKey) -> None:
            started.set()
            released.wait()

        manager = Manager(clients, grace_period=0.01)
        manager.add(Controller(reconcile, for_=ConfigMap))
        try:
            async with manager:
                await turns_until(started.is_set)
                await manager.remove_cluster("us")
                assert "these reconciles have not ended: us/default/a" in caplog.text
                assert [each.name for each in manager.clusters] == ["eu"]
                released.set()
        finally:
            released.set()


async def test_a_key_waits_for_its_reconcile_that_outlives_the_removal_of_its_cluster(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cluster_view, "_CANCELLATION_TIMEOUT", 0.01)
    async with worlds("eu", "us") as (_, clients):
        await create(clients["us"], "a")
        released = threading.Event()
        started: list[ObjectKey] = []

        def reconcile(key: ObjectKey) -> None:
            started.append(key)
            if key.name == "a":
                released.wait()

        manager = Manager({"eu": clients["eu"], "us": clients["us"]}, grace_period=0.01)
        manager.add(Controller(reconcile, for_=ConfigMap, concurrency=1))
        try:
            async with manager:
                await turns_until(lambda: started == [key("a", "us")])
                await manager.remove_cluster("us")
                await manager.add_cluster("us", clients["us"])
                await create(clients["us"], "b")
                await turns_until(lambda: len(started) > 1)
                assert started == [key("a", "us"), key("b", "us")]  # only the first one waits
                released.set()
                await turns_until(lambda: started.count(key("a", "us")) == 2)
        finally:
            released.set()


async def test_a_removal_under_load_leaves_nothing_behind():
    async with worlds("eu", "us") as (servers, clients):
        calls, failures = Calls(), Failures()

        async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            await calls(key)
            if (item := context.get()) is not None:
                context.record_event(item, "Normal", "Seen", "x")
            await context.client.core_v1.configmaps(key.namespace).get(key.name)

        manager = Manager(clients)
        manager.add(Controller(reconcile, for_=ConfigMap, concurrency=8, on_failure=failures))
        async with manager:
            await manager.wait_ready(timeout=30)

            async def write(client: ClientSet) -> None:
                for number in range(60):
                    await create(client, f"w{number}")

            writing = [asyncio.create_task(write(client)) for client in clients.values()]
            for turn in range(1, 4):
                await calls.wait_until(partial(_has, calls, 10 * turn))
                await manager.remove_cluster("us")
                await turns_until(lambda: servers["us"].statistics().watches == 0)
                before = sum(each.cluster == "us" for each in calls.seen)
                await asyncio.sleep(0)
                assert sum(each.cluster == "us" for each in calls.seen) == before
                await manager.add_cluster("us", clients["us"])
            await asyncio.gather(*writing)
            for name in clients:
                for number in range(60):
                    await calls.wait_for(key(f"w{number}", name))
        assert [failure for failure in failures.seen if failure.key is None] == []


async def test_keys_of_other_clusters_that_depend_on_a_removed_one_are_reconciled():
    async with worlds("hub", "eu") as (_, clients):
        await create(clients["hub"], "app")
        await clients["eu"].core_v1.pods("default").create(pod("p"))
        calls, members = Calls(), list[tuple[str, ...]]()

        async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            members.append(context.clusters)
            await calls(key)

        pods = Watch(Pod, keys=lambda _: key("app", "hub"), clusters=["eu"])
        manager = Manager(clients, home="hub")
        manager.add(Controller(reconcile, for_=Watch(ConfigMap, clusters=["hub"]), watches=[pods]))
        async with manager:
            await manager.wait_ready(timeout=30)
            await calls.wait_until(lambda: ("hub", "eu") in members)
            await manager.remove_cluster("eu")
            await calls.wait_until(lambda: members[-1] == ("hub",))
            with pytest.raises(UsageError, match="home cluster"):
                await manager.remove_cluster("hub")


async def test_objects_of_the_hub_are_reconciled_when_a_cluster_comes_or_goes():
    async with worlds("hub", "eu") as (_, clients):
        await create(clients["hub"], "app", "other")
        calls, members = Calls(), dict[str, tuple[str, ...]]()

        async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            members[key.name] = context.clusters
            await calls(key)

        manager = Manager({"hub": clients["hub"]})
        manager.add(Controller(reconcile, for_=Watch(ConfigMap, clusters=["hub"]), watches=[ClusterChange()]))
        chosen = ClusterChange(keys=lambda name: [key(name, "hub")])
        manager.add(Controller(calls, name="chosen", watches=[chosen]))
        async with manager:
            await calls.wait_until(lambda: members == {"app": ("hub",), "other": ("hub",)})
            await manager.add_cluster("eu", clients["eu"])
            await calls.wait_until(lambda: members == {"app": ("hub", "eu"), "other": ("hub", "eu")})
            await calls.wait_for(key("eu", "hub"))
            await manager.remove_cluster("eu")
            await calls.wait_until(lambda: members == {"app": ("hub",), "other": ("hub",)})
            await calls.wait_for(key("eu", "hub"), 2)


async def test_a_reconcile_may_add_and_remove_other_clusters_but_not_remove_its_own():
    async with worlds("hub", "eu") as (_, clients):
        await create(clients["hub"], "eu")
        await create(clients["eu"], "x")
        calls, errors = Calls(), list[Exception]()
        manager = Manager({"hub": clients["hub"]})

        async def reconcile(key: ObjectKey) -> None:
            if key.cluster == "hub":
                await manager.add_cluster(key.name, clients[key.name])
            else:
                try:
                    await manager.remove_cluster(key.cluster)
                except UsageError as error:
                    errors.append(error)
            await calls(key)

        manager.add(Controller(reconcile, for_=ConfigMap))
        async with manager:
            await calls.wait_for(key("x", "eu"))
        assert "for its own cluster" in str(errors[0])


async def test_a_removal_continues_if_its_caller_is_cancelled():
    async with worlds("hub", "eu") as (_, clients):
        await create(clients["eu"], "x")
        started, ending, removed = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def reconcile(key: ObjectKey) -> None:
            started.set()
            await ending.wait()

        def note_change(name: str) -> list[ObjectKey]:
            if name == "eu" and ending.is_set():
                removed.set()
            return []

        manager = Manager(clients, grace_period=600.0)
        manager.add(Controller(reconcile, for_=ConfigMap, watches=[ClusterChange(note_change)]))
        async with manager:
            await started.wait()
            removal = asyncio.create_task(manager.remove_cluster("eu"))
            await turns_until(lambda: manager.cluster("eu")._removal)
            removal.cancel()
            with pytest.raises(asyncio.CancelledError):
                await removal
            with pytest.raises(ClusterNotFoundError, match="is being removed already"):
                await manager.remove_cluster("eu")
            ending.set()
            await removed.wait()
            added = await manager.add_cluster("eu", clients["eu"])
            await added.wait_for_sync(timeout=30)


async def test_a_reconcile_that_removes_its_own_cluster_in_another_task_is_cancelled_and_the_cluster_removed():
    async with worlds("hub", "eu") as (_, clients):
        await create(clients["eu"], "x")
        removed = asyncio.Event()
        manager = Manager(clients, grace_period=0.01)

        async def reconcile(key: ObjectKey) -> None:
            await asyncio.gather(manager.remove_cluster("eu"))

        def note_change(_: str) -> list[ObjectKey]:
            if len(manager.clusters) == 1:
                removed.set()
            return []

        manager.add(Controller(reconcile, for_=ConfigMap, watches=[ClusterChange(note_change)]))
        async with manager:
            await removed.wait()
            assert [each.name for each in manager.clusters] == ["hub"]


async def test_waiting_for_the_sync_of_a_controller_ends_when_the_missing_cluster_is_removed():
    async with worlds("eu", "us") as (servers, clients):
        servers["us"].faults.add(Fault(HoldEvents(), verb="watch"))
        manager = Manager(clients)
        controller = manager.add(Controller(Calls(), for_=ConfigMap))
        async with manager:
            us = manager.cluster("us")
            waiting = asyncio.create_task(controller.wait_for_sync())
            await manager.cluster("eu").wait_for_sync(timeout=30)
            assert not waiting.done()
            await manager.remove_cluster("us")
            await waiting
            assert not us.is_synced
            await manager.add_cluster("us", clients["us"])
            waiting = asyncio.create_task(controller.wait_for_sync())
            await asyncio.sleep(0)
        with pytest.raises(InformerStoppedError):
            await waiting


@pytest.mark.parametrize("is_running", [False, True])
async def test_a_cluster_that_is_removed_and_added_again_has_no_failed_attempts(is_running: bool):
    """Also with a limiter that all clusters share, for a key that waits for its retry and for one that fails later."""
    async with worlds("eu") as (_, clients):
        await create(clients["eu"], "x")
        limiter: ExponentialLimiter[ObjectKey] = ExponentialLimiter(initial=600.0)
        failures, started, ending, attempts = Failures(), asyncio.Event(), asyncio.Event(), list[int]()

        async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            attempts.append(context.attempt)
            if context.attempt == 2:
                started.set()
                await ending.wait()
            raise RuntimeError("fails")

        manager = Manager({})
        controller = manager.add(Controller(reconcile, for_=ConfigMap, limiter=limiter, on_failure=failures))
        async with manager:
            await manager.add_cluster("eu", clients["eu"])
            await failures.wait()
            if is_running:
                controller.enqueue(key("x", "eu"))
                await started.wait()
            removal = asyncio.create_task(manager.remove_cluster("eu"))
            await turns_until(lambda: removal.done() or manager.cluster("eu")._removal)
            ending.set()
            await removal
            assert limiter.requeues(key("x", "eu")) == 0
            await manager.add_cluster("eu", clients["eu"])
            await failures.wait(3 if is_running else 2)
        assert attempts == ([1, 2, 1] if is_running else [1, 1])


async def test_a_cluster_that_cannot_be_added_leaves_nothing_behind(caplog: pytest.LogCaptureFixture):
    async with worlds("eu", "us") as (_, clients):

        def select(name: str) -> bool:
            if name == "us":
                raise RuntimeError("cannot select")
            return True

        manager = Manager({"eu": clients["eu"]})
        first = manager.add(Controller(Calls(), for_=ConfigMap, name="first"))
        manager.add(Controller(Calls(), for_=ConfigMap, name="second", clusters=select))
        async with manager:
            await manager.wait_ready(timeout=30)
            with pytest.raises(RuntimeError, match="cannot select"):
                await manager.add_cluster("us", clients["us"])
            assert [each.name for each in manager.clusters] == ["eu"]
            first.enqueue(key("a", "us"))
        assert "us/default/a was dropped, because the manager has no cluster us" in caplog.text


async def test_a_cluster_cannot_be_added_to_a_manager_that_has_stopped():
    async with worlds("eu") as (_, clients):
        async with Manager({}) as manager:
            await manager.wait_ready(timeout=30)
        with pytest.raises(UsageError, match="the manager has stopped"):
            await manager.add_cluster("eu", clients["eu"])


async def test_a_key_of_an_unknown_cluster_is_dropped_with_a_warning(caplog: pytest.LogCaptureFixture):
    async with worlds("eu") as (_, clients):
        calls = Calls()
        manager = Manager(clients)
        controller = manager.add(Controller(calls, for_=ConfigMap))
        async with manager:
            await manager.wait_ready(timeout=30)
            controller.enqueue(key("a", "ue"))
            controller.enqueue(key("b", "eu"))
            await calls.wait_for(key("b", "eu"))
            await turns_until(lambda: controller.statistics().queue.processing == 0)
    assert calls.seen == [key("b", "eu")]
    assert "ue/default/a was dropped, because the manager has no cluster ue" in caplog.text


# --- reports ----------------------------------------------------------------------------------------------------------


async def test_metrics_and_logs_name_the_cluster(caplog: pytest.LogCaptureFixture):
    async with worlds("eu", "us") as (_, clients):
        for client in clients.values():
            await create(client, "a")
        calls = Calls()

        async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            context.logger.warning("seen")
            await calls(key)
            if key.cluster == "us" and context.attempt == 1:
                raise ValueError("no")

        manager = Manager(clients)
        manager.add(Controller(reconcile, for_=ConfigMap))
        with caplog.at_level(logging.DEBUG, logger="listwatch.controller"):
            async with manager:
                await calls.wait_for(key("a", "us"), 2)
                await calls.wait_for(key("a", "eu"))
                await turns_until(lambda: manager.statistics().controllers[0].succeeded == 2)
                text = (await manager._metrics()).text
        for name in ("eu", "us"):
            assert f'listwatch_cluster_synced{{cluster="{name}"}} 1' in text
            assert f'listwatch_cluster_queue_depth{{cluster="{name}",controller="ConfigMap"}} 0' in text
            assert f'listwatch_informer_objects{{cluster="{name}",name="configmaps",' in text
            assert f'rest_client_requests_total{{cluster="{name}",code="200"' in text
        records = {(each.levelname, getattr(each, "cluster", ""), getattr(each, "key", "")) for each in caplog.records}
        assert ("WARNING", "us", "us/default/a") in records
        assert ("DEBUG", "eu", "eu/default/a") in records
        failed = next(each for each in caplog.records if "failed" in each.getMessage() and each.levelname == "WARNING")
        assert "us/default/a" in failed.getMessage()


async def test_the_inspector_shows_objects_events_and_reconciles_of_each_cluster():
    async with worlds("eu", "us") as (_, clients):
        for name, client in clients.items():
            await create(client, "a", place=name)
        calls = Calls()

        async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            context.record_event(context.get(), "Normal", "Seen", f"in {key.cluster}")
            await calls(key)

        manager = Manager(clients, inspect="127.0.0.1:0")
        controller = manager.add(Controller(reconcile, for_=ConfigMap))
        async with manager:
            await calls.wait_until(lambda: len(calls.seen) == 2)
            await turns_until(lambda: _created(controller) == 2)
            async with served_at(manager.inspector_url) as page:
                snapshot = await page.snapshot()
                assert [each["cluster"] for each in snapshot["informers"]] == ["eu", "us"]
                assert len(snapshot["clients"]) == 2
                view = await page.object("us/configmaps", "default/a")
                assert "place: us" in view["yaml"]
                assert (view["reconcile_key"], view["controllers"]) == ("us/default/a", ["ConfigMap"])
                [event] = (await page.read("/api/events", informer=view["informer"], key="default/a"))["events"]
                assert event["message"] == "in us"
                found = await page.read("/api/reconciles", controller="ConfigMap", key="us/default/a")
                assert [each["key"] for each in found["reconciles"]] == ["us/default/a"]
                assert sorted(found["keys"]) == ["eu/default/a", "us/default/a"]


def _created(controller: Controller) -> int:
    events = controller.statistics().events
    return 0 if events is None else events.created


# --- options ----------------------------------------------------------------------------------------------------------


async def test_the_lease_is_in_the_home_cluster():
    async with worlds("hub", "eu") as (_, clients):
        await create(clients["eu"], "a")
        calls = Calls()
        manager = Manager(clients, home="hub", leader_election="op", lease_namespace="default")
        manager.add(Controller(calls, for_=ConfigMap))
        async with manager:
            await calls.wait_for(key("a", "eu"))
            assert manager.is_leading
            assert await clients["hub"].coordination_v1.leases("default").list()
            assert not [
                each for each in await clients["eu"].coordination_v1.leases("default").list() if each.name == "op"
            ]


async def test_options_that_do_not_fit_several_clusters_are_rejected():
    async with worlds("eu") as (_, clients):
        many: Any = clients
        for options, message in [
            ({"leader_election": "op"}, "needs home="),
            ({"home": "us"}, "home='us' is not one of the clusters"),
            ({"shards": 8, "shard_group": "g"}, "cannot be sharded"),
        ]:
            with pytest.raises(UsageError, match=message):
                Manager(many, **options)
        with pytest.raises(UsageError, match="home='eu' needs several clusters"):
            Manager(clients["eu"], home="eu")
        with pytest.raises(UsageError, match="expected a ClientSet or a DynamicClient"):
            Manager({"eu": many})
        with pytest.raises(BadKeyError, match="is not the name of a cluster"):
            Manager({"": clients["eu"]})
        with pytest.raises(UsageError, match="has one client"):
            await Manager(clients["eu"]).add_cluster("us", clients["eu"])
        with pytest.raises(UsageError, match="already"):
            await Manager(clients).add_cluster("eu", clients["eu"])
        with pytest.raises(UsageError, match=r"manager\.cluster\(name\)\.factory"):
            _ = Manager(clients).factory
        with pytest.raises(UsageError, match="has client="):
            Manager(clients).add(Controller(Calls(), for_=ConfigMap, client=clients["eu"]))
        with pytest.raises(UsageError, match="expected a list of names"):
            Controller(Calls(), for_=ConfigMap, clusters="eu")
        with pytest.raises(UsageError, match="selects clusters, but has only one"):
            await Controller(Calls(), for_=ConfigMap, clusters=["eu"], client=clients["eu"]).run()


async def test_a_program_of_one_cluster_has_keys_without_cluster():
    async with worlds("eu") as (_, clients):
        await create(clients["eu"], "a")
        calls = Calls()
        manager = Manager(clients["eu"])
        manager.add(Controller(calls, for_=ConfigMap))
        async with manager:
            await calls.wait_for(ObjectKey("default", "a"))
        assert type(calls.seen[0]) is ObjectKey
        assert calls.seen[0].cluster == ""
        assert repr(calls.seen[0]) == "ObjectKey(namespace='default', name='a')"
        assert manager.clusters == ()

"""Managers: leader election, probes, and graceful shutdown."""

import asyncio
import signal
import threading
from dataclasses import replace
from typing import Any

import pytest
from tests.controller.worlds import Calls, HastyClock, config_map, key, pod, turns_until, world

from listwatch.client import ClientConfig, DiscoveryClient
from listwatch.client.resources.client_set import ClientSet
from listwatch.controller.controller import Controller
from listwatch.controller.manager import Manager
from listwatch.controller.process.signals import handling_stop_signals
from listwatch.errors import ForbiddenError, LeadershipLostError, SyncTimeoutError, UsageError
from listwatch.leaderelection.elector import LeaderElector
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import ConfigMap, Node, Pod
from listwatch.server import Delay, Fail, Fault


async def get(manager: Manager, path: str, method: str = "GET") -> tuple[int, str]:
    reader, writer = await asyncio.open_connection("127.0.0.1", manager.health_port)
    writer.write(f"{method} {path} HTTP/1.1\r\nHost: probe\r\n\r\n".encode())
    response = (await reader.read()).decode()
    writer.close()
    await writer.wait_closed()
    head, _, body = response.partition("\r\n\r\n")
    return int(head.split(" ")[1]), body


async def held_by(client: ClientSet) -> str:
    lease = await client.coordination_v1.leases("default").get("op")
    return lease.spec.holder_identity or ""


def elector(
    client: ClientSet, identity: str, *, lease_duration: float = 15.0, renew_deadline: float = 10.0
) -> LeaderElector:
    return LeaderElector(
        client,
        name="op",
        namespace="default",
        identity=identity,
        lease_duration=lease_duration,
        renew_deadline=renew_deadline,
        retry_period=0.02,
    )


async def test_controllers_share_their_informers():
    async with world() as (server, client):
        await client.core_v1.configmaps("default").create(config_map("a"))
        await client.core_v1.pods("default").create(pod("p"))
        first, second = Calls(), Calls()
        manager = Manager(client)
        manager.add(Controller(first, for_=ConfigMap))
        manager.add(Controller(second, for_=Pod, owns=[ConfigMap]))
        async with manager:
            await first.wait_for(key("a"))
            await second.wait_for(key("p"))
            assert manager.is_leading
            assert manager.is_ready
            statistics = manager.statistics()
            assert [each.name for each in statistics.controllers] == ["ConfigMap", "Pod"]
            assert sorted(each.name for each in statistics.informers) == ["configmaps", "pods"]
        assert server.statistics().watches == 0


async def test_a_manager_with_a_namespace_watches_only_that():
    async with world() as (_, client):
        await client.core_v1.namespaces().create({"metadata": {"name": "other"}})
        await client.core_v1.configmaps("other").create({"metadata": {"name": "x"}})
        await client.core_v1.configmaps("default").create(config_map("a"))
        calls = Calls()
        manager = Manager(client, namespace="default")
        controller = manager.add(Controller(calls, for_=ConfigMap))
        async with manager:
            await calls.wait_for(key("a"))
            assert controller.indexer(ConfigMap).keys() == ["default/a"]


async def test_the_lease_is_in_its_own_namespace_and_not_in_the_watched_one():
    async with world() as (_, client):
        for name in ("watched", "system"):
            await client.core_v1.namespaces().create({"metadata": {"name": name}})
        await client.core_v1.configmaps("watched").create({"metadata": {"name": "a"}})
        calls = Calls()
        manager = Manager(client, namespace="watched", leader_election="op", lease_namespace="system")
        manager.add(Controller(calls, for_=ConfigMap))
        async with manager:
            await calls.wait_for(key("a", "watched"))
        assert [each.key for each in await client.coordination_v1.leases().list()] == [key("op", "system")]
        assert {each.namespace for each in calls.seen} == {"watched"}


async def test_without_a_lease_namespace_the_lease_is_in_the_namespace_of_the_configuration():
    async with world() as (server, _), ClientSet(replace(server.config, namespace="kube-system")) as client:
        manager = Manager(client, namespace="default", leader_election="op")
        async with manager:
            await turns_until(lambda: manager.is_leading)
        assert [each.key for each in await client.coordination_v1.leases().list()] == [key("op", "kube-system")]


async def test_cluster_scoped_objects_are_watched_by_a_manager_with_namespaces():
    async with world() as (_, client):
        await client.core_v1.nodes().create({"metadata": {"name": "n1"}})
        calls = Calls()
        manager = Manager(client, namespaces=["default", "kube-system"])
        manager.add(Controller(calls, for_=Node, owns=[ConfigMap]))
        async with manager:
            await calls.wait_for(ObjectKey("", "n1"))


async def test_a_replica_that_does_not_lead_is_ready_and_takes_over_at_once():
    async with world() as (_, client):
        await client.core_v1.configmaps("default").create(config_map("a"))
        one, two = Calls(), Calls()
        first = Manager(client, leader_elector=elector(client, "one"))
        first.add(Controller(one, for_=ConfigMap))
        second = Manager(client, leader_elector=elector(client, "two"))
        standby = second.add(Controller(two, for_=ConfigMap))
        always = Calls()
        second.add(Controller(always, for_=ConfigMap, name="everywhere", needs_leader=False))
        async with second_after(first, one, second):
            await standby.wait_for_sync()
            assert second.is_ready
            assert not second.is_leading
            await always.wait_for(key("a"))
            assert standby.statistics().queue.depth == 1
            assert two.seen == []
            await first.stop()
            await two.wait_for(key("a"))
            assert await held_by(client) == "two"
        assert await held_by(client) == ""


class second_after:  # noqa: N801  # reads as a step of the test above
    def __init__(self, first: Manager, calls: Calls, second: Manager) -> None:
        self.first, self.calls, self.second = first, calls, second

    async def __aenter__(self) -> None:
        self.first.start()
        await self.calls.wait_for(key("a"))
        self.second.start()

    async def __aexit__(self, *_: object) -> None:
        await self.second.stop()


async def test_losing_leadership_ends_the_manager_with_an_error_and_its_workers():
    async with world() as (server, client):
        calls = Calls(lambda *_: asyncio.Event().wait())
        manager = Manager(client, leader_elector=elector(client, "one", lease_duration=1.0, renew_deadline=0.5))
        controller = manager.add(Controller(calls, for_=ConfigMap))
        controller.enqueue("default/a")
        running = asyncio.create_task(manager.run(handle_signals=False))
        await calls.wait_for(key("a"))
        server.faults.add(Fault(Fail(ForbiddenError("not any more")), resource="leases"))
        with pytest.raises(LeadershipLostError):
            await running
        assert controller.statistics().interrupted == 1
        assert not manager.is_leading


async def test_the_lease_is_released_after_running_reconciles_have_ended():
    async with world() as (_, client):
        gate, holders = asyncio.Event(), []

        async def reconcile(_: ObjectKey) -> None:
            started.set()
            await gate.wait()
            holders.append(await held_by(client))

        started = asyncio.Event()
        manager = Manager(client, leader_elector=elector(client, "one"))
        controller = manager.add(Controller(reconcile, for_=ConfigMap))
        controller.enqueue("default/a")
        manager.start()
        await started.wait()
        stopping = asyncio.create_task(manager.stop())
        await asyncio.sleep(0)
        gate.set()
        await stopping
        assert holders == ["one"]
        assert await held_by(client) == ""
        assert controller.statistics().succeeded == 1


@pytest.mark.parametrize("delay", [0.001, 0.01, 0.1])
async def test_the_lease_is_released_however_long_that_takes(delay: float):
    async with world() as (server, client):
        calls = Calls()
        manager = Manager(client, leader_elector=elector(client, "one"))
        manager.add(Controller(calls, for_=ConfigMap)).enqueue("default/a")
        async with manager:
            await calls.wait_for(key("a"))
            slow = server.faults.add(Fault(Delay(delay), resource="leases"))
        server.faults.remove(slow)
        assert await held_by(client) == ""


async def test_a_slow_controller_without_leadership_does_not_disturb_the_release():
    async with world() as (server, client):
        started, gate = asyncio.Event(), asyncio.Event()

        async def reconcile(_: ObjectKey) -> None:
            started.set()
            await gate.wait()

        calls = Calls()
        manager = Manager(client, leader_elector=elector(client, "one"))
        manager.add(Controller(calls, for_=ConfigMap)).enqueue("default/a")
        manager.add(Controller(reconcile, for_=ConfigMap, name="late", needs_leader=False)).enqueue("default/a")
        manager.start()
        await calls.wait_for(key("a"))
        await started.wait()
        held = server.faults.add(Fault(Delay(0.05), resource="leases"))
        manager.stop_soon()
        await turns_until(lambda: not manager.is_leading)
        gate.set()
        await manager.wait_stopped()
        server.faults.remove(held)
        assert await held_by(client) == ""


async def test_a_leader_whose_caches_have_not_synced_can_be_stopped():
    async with world() as (server, client):
        server.faults.add(Fault(Fail(ForbiddenError("no")), resource="configmaps"))
        manager = Manager(client, leader_elector=elector(client, "one"))
        manager.add(Controller(Calls(), for_=ConfigMap, sync_timeout=None))
        async with manager:
            await turns_until(lambda: manager.is_leading)
        assert await held_by(client) == ""


async def test_a_reconcile_that_exceeds_the_grace_period_of_the_manager_is_cancelled():
    async with world() as (_, client):
        calls = Calls(lambda *_: asyncio.Event().wait())
        manager = Manager(client, grace_period=0.01)
        controller = manager.add(Controller(calls, for_=ConfigMap))
        controller.enqueue("default/a")
        async with manager:
            await calls.wait_for(key("a"))
        assert controller.statistics().interrupted == 1


async def test_the_lease_is_left_to_expire_if_a_reconcile_runs_on_in_a_thread():
    begun, may_end, has_ended = (threading.Event() for _ in range(3))

    def reconcile(_: ObjectKey) -> None:
        begun.set()
        may_end.wait()
        has_ended.set()

    async with world() as (_, client):
        await client.core_v1.configmaps("default").create(config_map("a"))
        manager = Manager(client, leader_elector=elector(client, "me"), grace_period=0.01)
        manager.add(Controller(reconcile, for_=ConfigMap))
        try:
            async with manager:
                await asyncio.to_thread(begun.wait)
            assert not has_ended.is_set()
            assert await held_by(client) == "me"
        finally:
            may_end.set()
        await asyncio.to_thread(has_ended.wait)


async def test_a_second_stop_request_ends_the_grace_period():
    async with world() as (_, client):
        calls = Calls(lambda *_: asyncio.Event().wait())
        manager = Manager(client, grace_period=10_000.0)
        controller = manager.add(Controller(calls, for_=ConfigMap))
        controller.enqueue("default/a")
        running = asyncio.create_task(manager.run(handle_signals=False))
        await calls.wait_for(key("a"))
        manager.stop_soon()
        manager.stop_soon()
        await running


async def test_a_signal_stops_the_manager():
    async with world() as (_, client):
        calls = Calls()
        manager = Manager(client)
        manager.add(Controller(calls, for_=ConfigMap)).enqueue("default/a")
        before = signal.getsignal(signal.SIGTERM)
        running = asyncio.create_task(manager.run())
        await calls.wait_for(key("a"))
        signal.raise_signal(signal.SIGTERM)
        await running
        assert signal.getsignal(signal.SIGTERM) is before


async def test_signals_are_not_handled_outside_the_main_thread():
    async def enter() -> bool:
        with handling_stop_signals(lambda: None):
            return True

    assert await asyncio.to_thread(lambda: asyncio.run(enter()))


@pytest.mark.parametrize("delay", range(0, 40, 3))
async def test_a_manager_can_be_cancelled_at_any_moment(delay: int):
    async with world() as (server, client):
        await client.core_v1.configmaps("default").create(config_map("a"))
        manager = Manager(client, leader_elector=elector(client, "one"), health_port=0)
        manager.add(Controller(Calls(), for_=ConfigMap))
        running = asyncio.create_task(manager.run(handle_signals=False))
        for _ in range(delay):
            await asyncio.sleep(0.002 if delay > 20 else 0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert server.statistics().watches == 0


async def test_a_controller_that_fails_ends_the_manager():
    async with world() as (_, client):
        manager = Manager(client)
        manager.add(Controller(Calls(), for_=ConfigMap))
        manager.add(Controller(Calls(), for_=("example.com/v1", "Nothing"), sync_timeout=0.05))
        with pytest.raises(SyncTimeoutError):
            await manager.run(handle_signals=False)


async def test_a_reconcile_that_blocks_the_event_loop_is_reported():
    reported = threading.Event()

    async def waits_as_if_alone(_: ObjectKey) -> None:
        reported.wait()

    async with world() as (_, client):
        manager = Manager(client, loop_stall_threshold=0.05)
        controller = manager.add(
            Controller(waits_as_if_alone, for_=ConfigMap, on_failure=lambda failure: reported.set())
        )
        controller.enqueue("default/a")
        async with manager:
            await turns_until(lambda: controller.statistics().succeeded)
        assert controller.statistics().loop_stalls == 1


async def test_probes_and_metrics_are_served():
    async with world() as (server, client):
        held = server.faults.add(Fault(Fail(ForbiddenError("no")), resource="configmaps"))
        calls = Calls()
        manager = Manager(client, health_port=0, leader_elector=elector(client, "one"), clock=HastyClock())
        manager.add(Controller(calls, for_=ConfigMap)).enqueue("default/a")
        broken: list[str] = []
        manager.add_health_check("database", lambda: 1 / len(broken) if broken == [""] else None)
        manager.add_ready_check("mine", lambda: None)
        async with manager:
            await turns_until(lambda: manager.health_port)
            status, text = await get(manager, "/readyz")
            assert status == 503
            assert "configmaps" in text
            assert (await get(manager, "/healthz?verbose"))[0] == 200
            server.faults.remove(held)
            await calls.wait_for(key("a"))
            assert (await get(manager, "/readyz")) == (200, "[+] mine\n[+] caches\n[+] running\nok\n")
            assert (await get(manager, "/readyz", "HEAD")) == (200, "")
            status, text = await get(manager, "/metrics")
            assert status == 200
            assert 'workqueue_adds_total{name="ConfigMap"} 1' in text
            assert 'controller_runtime_reconcile_total{controller="ConfigMap",result="success"} 1' in text
            assert 'leader_election_master_status{name="default/op"} 1\n' in text
            assert 'informer_queued_items{name="configmaps",group="",version="v1",resource="configmaps"} 0\n' in text
            assert 'rest_client_requests_total{code="201",method="POST",host="' in text
            assert (await get(manager, "/else"))[0] == 404
            assert (await get(manager, "/healthz", "POST"))[0] == 405


async def test_a_failing_check_fails_its_probe_and_an_open_connection_does_not_delay_the_stop():
    async with world() as (_, client):
        manager = Manager(client, health_port=0)
        manager.add_health_check("database", lambda: 1 / 0)
        async with manager:
            await turns_until(lambda: manager.health_port)
            status, text = await get(manager, "/healthz")
            assert (status, text) == (503, "[-] database: division by zero\nfailed\n")
            _, idle = await asyncio.open_connection("127.0.0.1", manager.health_port)
        idle.close()


@pytest.mark.parametrize("is_wrapped", [False, True])
async def test_a_check_may_be_async(is_wrapped: bool):
    troubles = ["is away"]

    async def check() -> None:
        await asyncio.sleep(0)
        if troubles:
            raise ConnectionError(troubles.pop())

    async with world() as (_, client):
        manager = Manager(client, health_port=0)
        manager.add_health_check("database", (lambda: check()) if is_wrapped else check)
        async with manager:
            await turns_until(lambda: manager.health_port)
            assert await get(manager, "/healthz") == (503, "[-] database: is away\nfailed\n")
            assert await get(manager, "/healthz") == (200, "[+] database\nok\n")


async def test_a_port_that_is_taken_is_an_error():
    async with world() as (server, client):
        port = int(server.url.rpartition(":")[2])
        with pytest.raises(UsageError, match=str(port)):
            await Manager(client, health_port=port).run(handle_signals=False)


@pytest.mark.parametrize("client", [5, DiscoveryClient(ClientConfig(host="http://127.0.0.1:1"))])
async def test_a_manager_needs_a_client_set_or_a_dynamic_client(client: Any):
    with pytest.raises(UsageError, match=r"Manager\(.*\): expected a ClientSet or a DynamicClient"):
        Manager(client)


async def test_a_manager_without_controllers_is_warned_of(caplog: pytest.LogCaptureFixture):
    async with world() as (_, client), Manager(client) as manager:
        await turns_until(lambda: manager.is_leading)
    assert "The manager has no controllers" in caplog.text


async def test_invalid_options_of_a_manager_are_refused():
    async with world() as (_, client):
        with pytest.raises(UsageError, match="not both"):
            Manager(client, leader_election="a", leader_elector=elector(client, "x"))
        with pytest.raises(UsageError, match="only one of"):
            Manager(client, namespace="a", namespaces=["b"])
        with pytest.raises(UsageError, match="lease_namespace='a' has no effect without leader_election="):
            Manager(client, lease_namespace="a")
        with pytest.raises(UsageError, match="has no effect without leader_election="):
            Manager(client, lease_namespace="a", leader_elector=elector(client, "x"))
        with pytest.raises(UsageError, match="pass an elector as leader_elector="):
            Manager(client, leader_election=elector(client, "x"))
        for port in ("x", "8080", -1, 65536, True):
            with pytest.raises(UsageError, match=f"health_port={port!r}: expected a port from 0 to 65535"):
                Manager(client, health_port=port)
        manager = Manager(client)
        manager.add(Controller(Calls(), for_=ConfigMap))
        with pytest.raises(UsageError, match="another name"):
            manager.add(Controller(Calls(), for_=ConfigMap))
        async with manager:
            await asyncio.sleep(0)
            with pytest.raises(UsageError, match="was started already"):
                manager.add(Controller(Calls(), for_=Pod))
            with pytest.raises(UsageError, match="runs only once"):
                await manager.run()


async def test_a_wait_for_readiness_ends_with_the_reasons_or_the_error_of_the_run():
    async with world() as (server, client):
        manager = Manager(client, namespace="default")
        manager.add(Controller(Calls(), for_=ConfigMap))
        async with manager:
            await manager.wait_ready(timeout=30)
            assert manager.is_ready
        with pytest.raises(UsageError, match="has stopped, and will not become ready"):
            await manager.wait_ready(timeout=30)
        server.faults.add(Fault(Fail(ForbiddenError("no")), resource="configmaps"))
        refused = Manager(client, namespace="default")
        refused.add(Controller(Calls(), for_=ConfigMap))
        async with refused:
            with pytest.raises(SyncTimeoutError, match=r"was not ready within 0.2 s: \[-\] caches: "):
                await refused.wait_ready(timeout=0.2)

"""The inspector over HTTP: what it shows of informers, queues, controllers and clients."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import msgspec
import pytest
from tests.controller.worlds import Calls, HastyClock, config_map, deployment, key, pod, turns_until, world
from tests.inspector.served import TOKEN, Served, served, served_at
from tests.leaderelection.memory_lock import MemoryLock, RecordStore

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.resources.metadata_client import MetadataClient
from listwatch.controller import Every, Watch, set_controller
from listwatch.controller.controller import Controller
from listwatch.controller.manager import Manager
from listwatch.errors import PermanentError, UsageError
from listwatch.factory.factory import SharedInformerFactory
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.inspector import Inspector, InspectorOptions, object_search
from listwatch.inspector.options import options_from
from listwatch.leaderelection.elector import LeaderElector
from listwatch.meta import ObjectKey
from listwatch.models.apps_v1 import Deployment
from listwatch.models.core_v1 import ConfigMap, Pod, Secret
from listwatch.objects import ObjectMeta, Unstructured
from listwatch.sources.list_watch import ListWatch
from listwatch.tasks.cooperative import TimeSlice
from listwatch.testing import ScriptedSource
from listwatch.workqueue.queue import WorkQueue

PASSWORD = "correct-horse"


async def until(read: Any, is_so: Any) -> Any:
    """Read over HTTP until the condition holds."""
    while not is_so(found := await read()):  # noqa: ASYNC110  # there is no event to wait for
        await asyncio.sleep(0)
    return found


# --- informers --------------------------------------------------------------------------------------------------------


async def test_an_informer_is_shown_with_its_state_version_objects_and_handlers():
    async with world() as (_, client), SharedInformerFactory(client) as factory, served(factory, client) as page:
        await client.core_v1.configmaps("default").create(config_map("a"))
        informer = factory.informer(ConfigMap).informer
        informer.add_handler(on_add=lambda item: None)
        await informer.wait_for_sync()
        found = await until(lambda: page.informer("configmaps"), lambda found: found["state"] == "watching")
        assert found["kind"] == "ConfigMap"
        assert found["read_by"] == "stream"
        assert found["objects"] == len(informer.indexer)
        assert found["resource_version"] == informer.indexer.resource_version
        assert found["last_contact"] > 0
        assert found["last_error"] == ""
        [source], [handler] = found["sources"], found["handlers"]
        assert source["watches"] == 1
        assert (handler["handled"], handler["pending"], handler["has_synced"]) == (found["objects"], 0, True)
        [requests] = (await page.snapshot())["clients"]
        assert ["POST", "201", 1] in requests["attempts"]


async def test_an_informer_that_was_not_started_differs_from_one_that_has_stopped():
    async with world() as (_, client):
        informer = SharedIndexInformer(client.core_v1.pods(), Pod)
        async with served(informer) as page:
            assert (await page.informer("pods"))["state"] == "not started"
            async with informer:
                await until(lambda: page.informer("pods"), lambda found: found["state"] == "watching")
            assert (await page.informer("pods"))["state"] == "stopped"


async def test_a_lost_server_and_the_recovery_are_shown_and_the_last_error_stays():
    async with world() as (server, client):
        informer = SharedIndexInformer(client.core_v1.pods(), Pod, clock=HastyClock())
        async with informer, served(informer) as page:
            await until(lambda: page.informer("pods"), lambda found: found["state"] == "watching")
            await server.stop()
            lost = await until(lambda: page.informer("pods"), lambda found: found["state"] == "retrying")
            assert lost["failures_in_a_row"] > 0
            assert lost["last_error_at"] > 0
            await server.start()
            found = await until(lambda: page.informer("pods"), lambda found: found["state"] == "watching")
            assert found["last_error"]


async def test_an_informer_that_a_factory_creates_later_is_shown_and_keeps_its_id():
    async with world() as (_, client), SharedInformerFactory(client) as factory, served(factory) as page:
        assert (await page.snapshot())["informers"] == []
        factory.informer(Pod)
        first = (await page.informer("pods"))["id"]
        factory.informer(ConfigMap)
        assert (await page.informer("pods"))["id"] == first
        assert (await page.informer("configmaps"))["id"] != first


async def test_the_bytes_of_a_store_are_those_of_its_objects():
    async with world() as (_, client), SharedInformerFactory(client) as factory, served(factory) as page:
        informer = factory.informer(ConfigMap).informer
        await informer.wait_for_sync()
        async with page.request("/api/stream") as response:
            while True:
                snapshot = await next_snapshot(response)
                if snapshot["informers"][0]["bytes"] is not None:
                    break
        assert snapshot["informers"][0]["bytes"] == sum(len(item.to_json()) for item in informer.indexer)


# --- the stream -------------------------------------------------------------------------------------------------------


async def next_snapshot(response: Any) -> Any:
    assert await response.content.readuntil(b"\n") == b"event: snapshot\n"
    data = await response.content.readuntil(b"\n")
    assert await response.content.readuntil(b"\n") == b"\n"
    return msgspec.json.decode(data.removeprefix(b"data: "))


async def test_the_stream_sends_a_snapshot_at_once_and_then_one_per_interval():
    queue: WorkQueue[str] = WorkQueue(name="keys")
    async with served(queue, interval=0.001) as page, page.request("/api/stream") as response:
        assert response.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert (await next_snapshot(response))["queues"][0]["depth"] == 0
        queue.add("a")
        while (await next_snapshot(response))["queues"][0]["depth"] != 1:
            pass


async def test_the_number_of_streams_is_bounded_and_a_closed_one_makes_place():
    async with served(WorkQueue(name="keys"), max_streams=2, interval=0.001) as page:
        async with page.request("/api/stream") as one:
            await next_snapshot(one)
            async with page.request("/api/stream") as two:
                await next_snapshot(two)
                async with page.request("/api/stream") as three:
                    assert three.status == 503
                    assert "2 pages are open" in await three.text()
        while await page.status("/api/stream") == 503:
            pass


async def test_stopping_the_inspector_ends_the_streams():
    async with AsyncExitStack() as requests:
        session = await requests.enter_async_context(aiohttp.ClientSession())
        async with Inspector(WorkQueue(name="keys")) as inspector:
            page = Served(session, inspector.url)
            response = await requests.enter_async_context(page.request("/api/stream"))
            await next_snapshot(response)
        assert await response.content.read() == b""


async def test_a_page_that_does_not_read_is_disconnected(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("listwatch.inspector.http_server._SEND_TIMEOUT", 0.01)
    queues = [WorkQueue[str](name=f"queue {number}") for number in range(2_000)]
    async with Inspector(*queues, options=InspectorOptions(token=TOKEN, interval=1e-6)) as inspector:
        assert inspector._server is not None
        _, writer = await asyncio.open_connection("127.0.0.1", inspector._server.port, limit=1)
        request = f"GET /api/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        writer.write(request.encode())
        await turns_until(lambda: inspector._server._streams == 1)
        await turns_until(lambda: inspector._server._streams == 0)
        writer.transport.abort()


async def test_no_snapshot_is_made_while_no_page_is_open():
    made = []

    class Counting:
        def _inspected(self) -> Any:
            made.append(1)
            return iter(())

    options = InspectorOptions(interval=1e-6)
    async with Inspector(Counting(), options=options) as inspector, served_at(inspector.url) as page:
        assert inspector._server is not None
        feed = inspector._server._feed
        async with page.request("/api/stream") as response:
            await next_snapshot(response)
            await next_snapshot(response)
        await turns_until(lambda: feed._task is None)
        before = len(made)
        for _ in range(100):
            await asyncio.sleep(0)
        assert len(made) == before


# --- controllers ------------------------------------------------------------------------------------------------------


async def reconciles_of(page: Served, controller: str, of: str) -> Any:
    return (await page.read("/api/reconciles", controller=controller, key=of))["reconciles"]


async def test_the_reconciles_of_a_key_are_shown_with_trigger_result_error_and_next_try():
    async with world() as (_, client):
        created = await client.core_v1.configmaps("default").create(config_map("a"))

        def outcome(_: ObjectKey, call: int) -> Any:
            if call == 1:
                raise ValueError("broken; password=correct-horse")
            if call == 2:
                return 3600.0
            raise PermanentError("never")

        calls = Calls(outcome)
        manager = Manager(client, inspect=True)
        manager.add(Controller(calls, for_=Watch(ConfigMap, field_selector="metadata.name=a"), name="copier"))
        async with manager, served_at_once(manager) as page:
            await calls.wait_for(key("a"), 2)
            done = await until(lambda: reconciles_of(page, "copier", "default/a"), lambda found: len(found) == 2)
            again, first = done
            assert first["trigger"] == f"ConfigMap default/a @{created.resource_version} listed"
            assert (first["result"], first["attempt"]) == ("failed", 1)
            assert first["error"] == "ValueError: broken; password=<hidden>"
            assert first["next_try"] >= first["started"]
            assert (again["trigger"], again["result"], again["attempt"]) == ("retry", "requeued", 2)
            assert again["next_try"] - again["started"] > 3000
            await client.core_v1.configmaps("default").patch("a", {"data": {"x": "1"}})
            await calls.wait_for(key("a"), 3)
            last = (await until(lambda: reconciles_of(page, "copier", "default/a"), lambda found: len(found) == 3))[0]
            assert last["trigger"].endswith("updated")
            assert (last["result"], last["error"]) == ("gave up", "PermanentError: never")
            [controller] = (await page.snapshot())["controllers"]
            assert controller["is_working"]
            assert [each["result"] for each in controller["recent"]] == ["gave up", "requeued", "failed"]
            assert (controller["failed"], controller["gave_up"], controller["queue"]["retries"]) == (1, 1, 2)
            assert PASSWORD not in await page.text("/api/snapshot")


def served_at_once(manager: Manager) -> Any:
    class Waiting:
        async def __aenter__(self) -> Served:
            await turns_until(lambda: manager.inspector_url)
            self._page = served_at(manager.inspector_url)
            return await self._page.__aenter__()

        async def __aexit__(self, *error: Any) -> None:
            await self._page.__aexit__(*error)

    return Waiting()


async def test_a_running_reconcile_and_an_interrupted_one_are_shown():
    async with world() as (_, client):
        await client.core_v1.configmaps("default").create(config_map("a"))

        async def hang(_: ObjectKey) -> None:
            await asyncio.Event().wait()

        controller = Controller(hang, for_=Watch(ConfigMap, field_selector="metadata.name=a"), client=client)
        async with served(controller) as page:
            async with controller:
                [record] = await until(lambda: reconciles_of(page, "ConfigMap", "default/a"), len)
                assert (record["result"], record["duration"]) == ("running", None)
                controller._grace_period = 0.0
            [record] = await reconciles_of(page, "ConfigMap", "default/a")
            assert record["result"] == "interrupted"


async def test_owned_objects_timers_and_calls_of_enqueue_are_named_as_triggers():
    async with world() as (_, client):
        owner = await client.apps_v1.deployments("default").create(deployment("web"))
        calls = Calls()
        controller = Controller(calls, for_=Deployment, owns=[Pod], client=client)
        timed = Controller(calls, for_=Deployment, watches=[Every(0.05)], name="timed", client=client)

        async def triggers(of: str = "Deployment") -> list[str]:
            return [each["trigger"] for each in await reconciles_of(page, of, "default/web")]

        async with served(controller, timed) as page, controller, timed:
            await until(lambda: triggers("timed"), lambda found: "timer of 0.05 s" in found)
            child = pod("web-0")
            set_controller(child, owner)
            created = await client.core_v1.pods("default").create(child)
            await until(triggers, lambda found: f"Pod default/web-0 @{created.resource_version} added" in found)
            while True:
                controller.enqueue("default/web")
                if "enqueue()" in await triggers():
                    break


async def test_nothing_is_recorded_without_an_inspector():
    async with world() as (_, client):
        await client.core_v1.configmaps("default").create(config_map("a"))
        calls = Calls()
        manager = Manager(client)
        controller = manager.add(Controller(calls, for_=ConfigMap))
        async with manager:
            await calls.wait_for(key("a"))
            assert controller._workers.history is None
            assert manager.inspector_url is None


# --- managers, leadership, queues -------------------------------------------------------------------------------------


async def test_a_manager_logs_its_url_once_and_the_token_never_again(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    async with world() as (_, client):
        manager = Manager(client, inspect="127.0.0.1:0", leader_elector=elector("one"))
        manager.add(Controller(Calls(), for_=ConfigMap))
        async with manager, served_at_once(manager) as page:
            snapshot = await until(page.snapshot, lambda found: found["manager"]["is_ready"])
            assert snapshot["manager"]["name"] == "ConfigMap"
            [leadership] = snapshot["leadership"]
            assert leadership["identity"] == "one"
            assert await page.status("/api/nothing") == 404
            async with page.request(f"/api/search?token={page.token}", labels=page.token + "=(") as response:
                assert response.status == 400
                assert page.token not in await response.text()
            token = page.token
    logged = [record.getMessage() for record in caplog.records if token in record.getMessage()]
    assert len(logged) == 1
    assert logged[0].endswith(f"/#token={token}")
    assert token not in repr(manager)


def elector(identity: str) -> LeaderElector:
    return LeaderElector(MemoryLock(RecordStore()), identity=identity)


async def test_a_token_of_the_user_is_not_logged(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    async with world() as (_, client):
        manager = Manager(client, inspect=InspectorOptions(token=TOKEN))
        async with manager:
            await turns_until(lambda: manager.inspector_url)
    assert "The inspector serves" in caplog.text
    assert TOKEN not in caplog.text
    assert TOKEN not in repr(InspectorOptions(token=TOKEN))


async def test_a_port_in_use_is_an_error_that_names_it():
    async with served(WorkQueue(name="keys")) as page:
        port = int(page.address.rstrip("/").rpartition(":")[2])
        async with world() as (_, client):
            with pytest.raises(UsageError, match=f"cannot serve the inspector at 127.0.0.1:{port}"):
                await Manager(client, inspect=f"127.0.0.1:{port}").run(handle_signals=False)


@pytest.mark.parametrize("address", ["8090", "localhost", "::1:80", "host:port", "host:-1", "host:99999"])
def test_a_wrong_address_is_rejected_when_the_manager_is_created(address: str):
    with pytest.raises(UsageError, match="expected"):
        options_from(address)


@pytest.mark.parametrize("options", [{"port": "80"}, {"port": -1}, {"max_streams": 0}, {"allowed_hosts": "a"}])
def test_wrong_options_are_rejected(options: Any):
    with pytest.raises(UsageError, match="InspectorOptions"):
        InspectorOptions(**options)


def test_addresses_are_host_and_port():
    assert options_from("[::1]:80") == InspectorOptions(host="::1", port=80)
    assert options_from(":8090") == InspectorOptions(port=8090)
    assert options_from(False) is None
    assert options_from(True) == InspectorOptions(host="127.0.0.1", port=0)
    with pytest.raises(UsageError, match="too short"):
        InspectorOptions(token="short")


def test_what_cannot_be_inspected_is_rejected():
    with pytest.raises(UsageError, match="cannot inspect 'pods'"):
        Inspector("pods")


async def test_a_queue_is_shown_with_its_delayed_items():
    queue: WorkQueue[str] = WorkQueue(name="keys")
    queue.add("a")
    queue.add_after("b", 60.0)
    async with served(queue) as page, queue.take():
        [found] = (await page.snapshot())["queues"]
        assert (found["depth"], found["processing"], found["delayed"], found["retries"]) == (0, 1, 1, 1)


# --- search and objects -----------------------------------------------------------------------------------------------


@pytest.fixture
async def filled() -> AsyncIterator[tuple[Served, ClientSet]]:
    """An inspector of pods and config maps."""
    async with world() as (_, client), SharedInformerFactory(client) as factory:
        for number in range(3):
            labels = {"app": "web", "number": str(number)}
            await client.core_v1.configmaps("default").create(config_map(f"web-{number}", labels=labels))
        await client.core_v1.configmaps("kube-system").create({"metadata": {"name": "web"}})
        await client.core_v1.pods("default").create(pod("my-web"))
        factory.informer(ConfigMap)
        factory.informer(Pod)
        await factory.wait_for_sync()
        async with served(factory, client) as page:
            yield page, client


async def names(page: Served, **query: str) -> list[str]:
    return [each["key"] for each in (await page.read("/api/search", **query))["objects"]]


async def test_objects_are_found_by_name_namespace_and_labels(filled: tuple[Served, ClientSet]):
    page, _ = filled
    # The exact name first, then those that begin with it.
    found = ["kube-system/web", "default/web-0", "default/web-1", "default/web-2", "default/my-web"]
    assert await names(page, name="WEB") == found
    assert await names(page, name="web", namespace="kube-system") == ["kube-system/web"]
    assert await names(page, labels="app=web,number!=1") == ["default/web-0", "default/web-2"]
    assert await names(page, name="default/my-web") == ["default/my-web"]
    pods = (await page.informer("pods"))["id"]
    assert await names(page, name="web", informer=pods) == ["default/my-web"]
    assert await names(page, name="nothing") == []


async def test_search_results_are_bounded_and_counted(filled: tuple[Served, ClientSet]):
    page, _ = filled
    found = await page.read("/api/search", name="web", limit="2")
    assert (len(found["objects"]), found["total"]) == (2, 5)
    found = await page.read("/api/search", limit="999999")
    assert len(found["objects"]) == found["total"] == found["searched"]
    assert (await page.read("/api/search", limit="x"))["error"] == "limit is not a number"
    assert "label selector" in (await page.read("/api/search", labels="app in (web"))["error"]


async def test_a_search_lets_other_tasks_run():
    informer = SharedIndexInformer(ScriptedSource(ConfigMap), ConfigMap)
    informer.indexer.replace([config_map(f"c{number}") for number in range(5_000)], "1")
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count_turns())
    query = object_search.ObjectQuery(name="c49", limit=3)
    found = await object_search.search({"1": informer}, query, time_slice=TimeSlice(-1.0))  # used up at once
    counting.cancel()
    assert (len(found.objects), found.total) == (3, 111)
    assert turns >= 5_000 / object_search._SLICE


async def test_an_object_is_shown_as_yaml_with_its_owners_and_events():
    async with world() as (_, client), SharedInformerFactory(client) as factory:
        owner = await client.apps_v1.deployments("default").create(deployment("web"))
        middle = ConfigMap(metadata=ObjectMeta(name="middle", namespace="default"))
        set_controller(middle, owner)
        middle = await client.core_v1.configmaps("default").create(middle)
        child = pod("web-0")
        set_controller(child, middle)
        child = await client.core_v1.pods("default").create(child)
        regarding = {"kind": "Pod", "namespace": "default", "name": "web-0", "uid": child.uid}
        event = {"metadata": {"name": "e"}, "involvedObject": regarding, "type": "Warning", "reason": "BackOff"}
        await client.core_v1.events("default").create({**event, "message": "token=hidden-token", "count": 3})
        for kind in (Pod, ConfigMap):
            factory.informer(kind)
        await factory.wait_for_sync()
        async with served(factory, client) as page:
            view = await page.object("pods", "default/web-0")
            assert "name: web-0" in view["yaml"]
            assert view["yaml"].startswith("apiVersion: v1\nkind: Pod\n")
            assert "managedFields" not in view["yaml"]
            assert [(each["depth"], each["kind"], each["key"]) for each in view["owners"]] == [
                (0, "ConfigMap", "default/middle"),
                (1, "Deployment", ""),  # not cached
            ]
            [found] = (await page.read("/api/events", informer=view["informer"], key="default/web-0"))["events"]
            assert (found["reason"], found["count"], found["message"]) == ("BackOff", 3, "token=<hidden>")
            middle_view = await page.object("configmaps", "default/middle")
            owned = await page.read("/api/owned", informer=middle_view["informer"], key="default/middle")
            assert [each["key"] for each in owned["objects"]] == ["default/web-0"]
            assert (await page.read("/api/owned", informer=view["informer"], key="default/web-0"))["total"] == 0
            gone = await page.read("/api/object", informer=view["informer"], key="default/gone")
            assert "default/gone is not in the cache" in gone["error"]


async def test_events_that_cannot_be_read_are_explained():
    async with world() as (server, client), SharedInformerFactory(client) as factory:
        await client.core_v1.configmaps("default").create(config_map("a"))
        informer = factory.informer(ConfigMap).informer
        await factory.wait_for_sync()
        async with served(informer) as page:
            one = (await page.informer("configmaps"))["id"]
            assert "has none" in (await page.read("/api/events", informer=one, key="default/a"))["error"]
        async with served(informer, client) as page:
            one = (await page.informer("configmaps"))["id"]
            await server.stop()
            assert "events" in (await page.read("/api/events", informer=one, key="default/a"))["error"]


# --- secrets ----------------------------------------------------------------------------------------------------------


async def test_the_data_of_secrets_is_shown_nowhere():
    async with world() as (_, client), DynamicClient(client.rest) as dynamic, MetadataClient(client.rest) as metadata:
        applied = {"kubectl.kubernetes.io/last-applied-configuration": f'{{"stringData": "{PASSWORD}"}}'}
        secret = Secret(
            metadata=ObjectMeta(
                name="s", namespace="default", labels={"app": "web", "copy": PASSWORD}, annotations=applied
            ),
            string_data={"password": PASSWORD},
        )
        owner = await client.core_v1.secrets("default").create(secret, field_manager="tests")
        [encoded] = owner.to_dict()["data"].values()
        child = config_map("child")
        set_controller(child, owner)
        await client.core_v1.configmaps("default").create(child)
        factories = [SharedInformerFactory(each) for each in (client, dynamic, metadata)]
        factories[0].informer(ConfigMap)
        for factory in factories:
            factory.informer(("v1", "Secret") if factory is not factories[0] else Secret)
            factory.start()
            await factory.wait_for_sync()
        async with served(*factories, client) as page:
            texts = [await page.text("/api/snapshot")]
            secrets = [each for each in (await page.snapshot())["informers"] if each["name"] == "secrets"]
            assert len(secrets) == 3
            for each in secrets:
                view = await page.read("/api/object", informer=each["id"], key="default/s")
                assert view["hides_data"], each
                texts.append(view["yaml"])
            texts.append(await page.text("/api/search", name="s"))
            assert '"key":"default/s"' in texts[-1]
            texts.append(await page.text("/api/search", labels="app=web"))
            view = await page.object("configmaps", "default/child")
            assert view["owners"][0]["kind"] == "Secret"
            texts.append(msgspec.json.encode(view).decode())
            assert (await page.read("/api/search", name=PASSWORD))["total"] == 0
        for factory in factories:
            await factory.stop()
        assert "password: <hidden>" in texts[1]
        assert not [text for text in texts if PASSWORD in text or encoded in text]


@pytest.mark.parametrize("streaming", [True, False])
async def test_secrets_in_a_cache_without_a_known_kind_are_hidden(streaming: bool):
    async with world() as (_, client):
        secret = {"metadata": {"name": "s"}, "stringData": {"password": PASSWORD}}
        created = await client.core_v1.secrets("default").create(secret)
        source = ListWatch.from_client(client.rest, "secrets", namespace="default")
        informer = SharedIndexInformer(source, Unstructured, name="any", streaming=streaming)
        async with informer, served(informer) as page:
            await informer.wait_for_sync()
            yaml = (await page.object("any", "default/s"))["yaml"]
            assert "password: <hidden>" in yaml
            assert created.to_dict()["data"]["password"] not in yaml


async def test_the_token_of_the_client_is_not_shown_in_an_object_or_an_error():
    async with world(token="token-of-the-client") as (_, client), SharedInformerFactory(client) as factory:
        await client.core_v1.configmaps("default").create(config_map("a", copy="see token-of-the-client"))
        informer = factory.informer(ConfigMap).informer
        await factory.wait_for_sync()
        informer._cache.report(RuntimeError("sent token-of-the-client"))
        async with served(informer, client) as page:
            assert (await page.informer("configmaps"))["last_error"] == "sent <hidden>"
            assert "copy: see <hidden>" in (await page.object("configmaps", "default/a"))["yaml"]

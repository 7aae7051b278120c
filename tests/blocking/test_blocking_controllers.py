"""Blocking controllers on the embedded server: plain functions, in threads, with blocking clients."""

import gc
import threading
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any
from urllib.request import Request, urlopen

import msgspec
import pytest

from listwatch import blocking
from listwatch.blocking.runtime.background import LoopThread
from listwatch.controller.object_fields.owners import set_controller
from listwatch.controller.watching.watches import Watch
from listwatch.errors import LeadershipLostError, UsageError
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import ConfigMap, Secret
from listwatch.objects.metadata import ObjectMeta
from listwatch.testing.api_server_thread import APIServerThread

TIMEOUT = 30.0


@pytest.fixture
def client(api_server: APIServerThread) -> Iterator[blocking.ClientSet]:
    with blocking.ClientSet(api_server.config) as client:
        yield client
    gc.collect()
    assert [thread for thread in threading.enumerate() if isinstance(thread, LoopThread)] == []


def a_config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


class Copying:
    """Keeps a Secret for every ConfigMap."""

    def __init__(self, client: blocking.ClientSet) -> None:
        self.controller: Any = None
        self.done: SimpleQueue[str] = SimpleQueue()
        self.threads: set[threading.Thread] = set()
        self._client = client

    def __call__(self, key: ObjectKey) -> None:
        self.threads.add(threading.current_thread())
        item = self.controller.get(key)
        if item is not None and key not in self.controller.indexer(Secret):
            copy = Secret(metadata=ObjectMeta(name=key.name, namespace=key.namespace), string_data=dict(item.data))
            set_controller(copy, item)
            self._client.core_v1.secrets("default").create(copy)
            self.done.put(key.name)


def test_a_plain_function_reconciles_in_threads(client: blocking.ClientSet):
    maps, secrets = client.core_v1.configmaps("default"), client.core_v1.secrets("default")
    maps.create(a_config_map("old", a="1"))
    copying = Copying(client)
    with blocking.Controller(copying, for_=ConfigMap, owns=[Secret], client=client) as controller:
        copying.controller = controller
        controller.enqueue("default/old")  # the first call may have come before the line above
        assert copying.done.get(timeout=TIMEOUT) == "old"
        controller.wait_for_sync(TIMEOUT)
        maps.create(a_config_map("new", a="2"))
        assert copying.done.get(timeout=TIMEOUT) == "new"
        secrets.delete("old")
        assert copying.done.get(timeout=TIMEOUT) == "old"
        assert controller.lister(ConfigMap).namespace("default").get("new").data == {"a": "2"}
        assert controller.statistics().succeeded >= 3
    assert threading.current_thread() not in copying.threads


def test_an_existing_informer_can_be_watched(client: blocking.ClientSet):
    maps, secrets = client.core_v1.configmaps("default"), client.core_v1.secrets("default")
    seen: SimpleQueue[tuple[str, bool]] = SimpleQueue()

    def reconcile(key: ObjectKey) -> float | None:
        is_there = key in informer.indexer
        seen.put((key.name, is_there))
        if not is_there:
            return None
        maps.delete(key.name)
        return 0.0

    with blocking.SharedInformerFactory(client, namespace="default") as factory:
        informer = factory.core_v1.configmaps.informer
        with blocking.Controller(reconcile, for_=informer, owns=[Secret], client=client) as controller:
            controller.wait_for_sync(TIMEOUT)
            maps.create(a_config_map("a"))
            assert seen.get(timeout=TIMEOUT) == ("a", True)
            assert seen.get(timeout=TIMEOUT) == ("a", False)
            secrets.create({"metadata": {"name": "stray"}})
        assert not informer.is_stopped


@pytest.mark.parametrize("several", [list, tuple])
def test_informers_can_be_watched_in_a_watch_and_in_a_list(client: blocking.ClientSet, several: type[Any]):
    seen: SimpleQueue[str] = SimpleQueue()
    with blocking.SharedInformerFactory(client, namespace="default") as factory:
        maps, secrets = factory.core_v1.configmaps.informer, factory.core_v1.secrets.informer
        for_secrets = Watch(secrets, keys=lambda item: f"default/of-{item.name}")
        controller = blocking.Controller(
            lambda key: seen.put(key.name), for_=Watch(maps), owns=several([secrets]), watches=several([for_secrets])
        )
        with controller:
            controller.wait_for_sync(TIMEOUT)
            client.core_v1.configmaps("default").create(a_config_map("a"))
            assert seen.get(timeout=TIMEOUT) == "a"
            client.core_v1.secrets("default").create({"metadata": {"name": "b"}})
            assert seen.get(timeout=TIMEOUT) == "of-b"


def test_a_manager_keeps_its_controllers_alive(client: blocking.ClientSet):
    seen: SimpleQueue[ObjectKey] = SimpleQueue()
    manager = blocking.Manager(client, namespace="default")
    manager.add(blocking.Controller(seen.put, for_=ConfigMap))
    gc.collect()
    with manager:
        client.core_v1.configmaps("default").create(a_config_map("a"))
        assert seen.get(timeout=TIMEOUT) == ObjectKey("default", "a")
        assert manager.is_leading
        assert manager.statistics().controllers[0].name == "ConfigMap"


def test_a_context_has_the_blocking_client_the_caches_and_events(client: blocking.ClientSet):
    done: SimpleQueue[tuple[str, int]] = SimpleQueue()

    class Copier:
        def reconcile(self, key: ObjectKey, context: blocking.ReconcileContext[ConfigMap]) -> None:
            item = context.get()
            if item is None or context.indexer(Secret).get(key) is not None:
                return
            secret = Secret(metadata=ObjectMeta(name=key.name, namespace=key.namespace), string_data=dict(item.data))
            context.client.core_v1.secrets(key.namespace).create(secret)
            context.record_event(item, "Normal", "Copied", "the secret was created")
            done.put((key.name, context.attempt))

    manager = blocking.Manager(client, namespace="default")
    manager.add(blocking.Controller(Copier(), for_=ConfigMap, owns=[Secret]))
    with manager:
        client.core_v1.configmaps("default").create(a_config_map("a", b="1"))
        assert done.get(timeout=TIMEOUT) == ("a", 1)
        assert client.core_v1.secrets("default").get("a").name == "a"
    assert [event.reason for event in client.core_v1.events("default").list()] == ["Copied"]


def test_an_async_reconcile_function_gets_the_asynchronous_context(client: blocking.ClientSet):
    done: SimpleQueue[str] = SimpleQueue()

    async def reconcile(key: ObjectKey, context: Any) -> None:
        done.put((await context.client.core_v1.configmaps(key.namespace).get(key.name)).name)

    client.core_v1.configmaps("default").create(a_config_map("a"))
    with blocking.Controller(reconcile, for_=ConfigMap, client=client):  # type: ignore[arg-type]  # not documented
        assert done.get(timeout=TIMEOUT) == "a"


def test_run_ends_after_stop_soon_in_another_thread(client: blocking.ClientSet):
    manager = blocking.Manager(client)
    controller = manager.add(blocking.Controller(lambda _: manager.stop_soon(), for_=ConfigMap))
    controller.enqueue("default/a")
    manager.run()
    assert manager.statistics().is_stopping
    assert controller.statistics().succeeded == 1


def test_lost_leadership_ends_the_manager_with_an_error(api_server: APIServerThread, client: blocking.ClientSet):
    started = threading.Event()

    def reconcile(_: ObjectKey) -> None:
        started.set()

    elector = blocking.LeaderElector(
        client, name="op", namespace="default", lease_duration=15.0, renew_deadline=10.0, retry_period=0.02
    )
    manager = blocking.Manager(client, leader_elector=elector)
    manager.add(blocking.Controller(reconcile, for_=ConfigMap)).enqueue("default/a")
    manager.start()
    assert started.wait(TIMEOUT)
    # A patch has no resourceVersion, so that it does not conflict with a renewal at the same time.
    taken = {"spec": {"holderIdentity": "another", "leaseDurationSeconds": 3600}}
    client.coordination_v1.leases("default").patch("op", taken)
    with pytest.raises(LeadershipLostError):
        manager.wait_stopped()
    with pytest.raises(LeadershipLostError):
        manager.stop()


def test_a_controller_cannot_be_started_in_an_event_loop(client: blocking.ClientSet):
    async def start() -> None:
        blocking.Controller(print, for_=ConfigMap, client=client).start()

    import asyncio

    with pytest.raises(UsageError, match="would block the event loop"):
        asyncio.run(start())


def test_a_kind_that_cannot_be_watched_is_named_in_the_error(client: blocking.ClientSet):
    controller = blocking.Controller(print, for_=("example.com/v1", "Nothing"), client=client, sync_timeout=0.05)
    with pytest.raises(TimeoutError, match="Nothing"):
        controller.run()


def test_finalize_calls_apply_and_cleanup_in_the_caller_s_thread(client: blocking.ClientSet):
    maps, name = client.core_v1.configmaps("default"), "example.com/bucket"
    calls: list[str] = []

    def apply(item: ConfigMap) -> str:
        calls.append(f"apply with {maps.get(item.name).metadata.finalizers}")  # a blocking call
        return threading.current_thread().name

    def cleanup(item: ConfigMap) -> None:
        calls.append(f"cleanup with {maps.get(item.name).metadata.finalizers}")

    item = maps.create(a_config_map("a"))
    here = threading.current_thread().name
    assert blocking.finalize(maps, item, name, apply=apply, cleanup=cleanup) == here
    maps.delete("a")
    blocking.finalize(maps, maps.get("a"), name, apply=apply, cleanup=cleanup)
    assert calls == [f"apply with ['{name}']", f"cleanup with ['{name}']"]
    assert list(maps.list(field_selector="metadata.name=a")) == []


def test_a_cleanup_that_fails_keeps_the_finalizer(client: blocking.ClientSet):
    def cleanup(item: ConfigMap) -> None:
        raise ZeroDivisionError

    maps, name = client.core_v1.configmaps("default"), "example.com/bucket"
    blocking.add_finalizer(maps, maps.create(a_config_map("a")), name)
    maps.delete("a")
    with pytest.raises(ZeroDivisionError):
        blocking.finalize(maps, maps.get("a"), name, apply=print, cleanup=cleanup)
    assert maps.get("a").metadata.finalizers == [name]
    blocking.remove_finalizer(maps, maps.get("a"), name)


def test_finalize_refuses_async_functions(client: blocking.ClientSet):
    async def apply(item: ConfigMap) -> None: ...

    maps = client.core_v1.configmaps("default")
    with pytest.raises(UsageError, match=r"calls plain functions; .*apply is async"):
        blocking.finalize(maps, maps.create(a_config_map("a")), "example.com/a", apply=apply, cleanup=print)


def test_a_manager_serves_the_inspector_page(client: blocking.ClientSet):
    manager = blocking.Manager(client, inspect=True)
    controller = manager.add(blocking.Controller(lambda key: None, for_=ConfigMap))
    assert manager.inspector_url is None
    with manager:
        controller.wait_for_sync(timeout=TIMEOUT)
        assert manager.inspector_url is not None
        address, _, token = manager.inspector_url.partition("#token=")
        request = Request(f"{address}api/snapshot", headers={"Authorization": f"Bearer {token}"})
        with urlopen(request, timeout=TIMEOUT) as response:
            snapshot = msgspec.json.decode(response.read())
    assert [each["name"] for each in snapshot["informers"]] == ["configmaps"]
    assert snapshot["controllers"][0]["name"] == "ConfigMap"

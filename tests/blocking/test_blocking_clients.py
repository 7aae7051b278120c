"""Blocking clients on the embedded server: calls, streams that stop at once, threads, and cleanup."""

import asyncio
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from listwatch import blocking
from listwatch.blocking.runtime.background import LoopThread
from listwatch.errors import ConfigError, ConflictError, ExpiredError, NotFoundError, UsageError, WaitTimeoutError
from listwatch.models.core_v1 import ConfigMap, Pod
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.partial_object import PartialObjectMetadata
from listwatch.testing.api_server_thread import APIServerThread


@pytest.fixture
def client(api_server: APIServerThread) -> Iterator[blocking.ClientSet]:
    with blocking.ClientSet(api_server.config) as client:
        yield client
    assert loop_threads() == []


def loop_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if isinstance(thread, LoopThread)]


def a_config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name), data=data)


def a_pod(name: str) -> Pod:
    return Pod.from_dict({"metadata": {"name": name}, "spec": {"containers": [{"name": "web", "image": "nginx"}]}})


# --- calls


def test_an_object_is_created_read_changed_and_deleted(client: blocking.ClientSet):
    config_maps = client.core_v1.configmaps("default")
    made = config_maps.create(a_config_map("settings", a="1"))
    made.data["a"] = "2"
    config_maps.update(made)
    assert config_maps.get("settings").data == {"a": "2"}
    with pytest.raises(ConflictError):
        config_maps.update(made)
    assert config_maps.delete("settings") is None
    with pytest.raises(NotFoundError):
        config_maps.get("settings")


def test_a_list_can_be_read_page_by_page(client: blocking.ClientSet):
    config_maps = client.core_v1.configmaps("default")
    for name in "abc":
        config_maps.create(a_config_map(name))
    pages = list(config_maps.pages(page_size=2))
    assert [[each.name for each in page] for page in pages] == [["a", "b"], ["c"]]


def test_pages_need_not_be_read_to_the_end(client: blocking.ClientSet):
    config_maps = client.core_v1.configmaps("default")
    for name in "abcd":
        config_maps.create(a_config_map(name))
    for page in config_maps.pages(page_size=1):
        assert page[0].name == "a"
        break


def test_requests_are_built_step_by_step(client: blocking.ClientSet):
    client.core_v1.configmaps("default").create(a_config_map("settings"))
    request = client.rest.get().namespace("default").resource("configmaps").name("settings")
    assert isinstance(request, blocking.Request)
    assert request.do().into(ConfigMap).name == "settings"


def test_the_other_clients_share_the_connections_of_a_client_set(client: blocking.ClientSet):
    client.core_v1.configmaps("default").create(a_config_map("settings"))
    assert [each.name for each in client.dynamic.resource("cm").namespace("default").list()] == ["settings"]
    found = client.metadata.resource("v1", "ConfigMap", namespace="default").get("settings")
    assert type(found) is PartialObjectMetadata
    assert client.discovery.server_version() == client.version() == client.dynamic.version()
    assert client.mapper.resource_for("deploy").kind == "Deployment"


def test_clients_are_made_from_a_configuration_or_over_another_client(api_server: APIServerThread):
    with blocking.RESTClient(api_server.config) as rest:
        with blocking.DynamicClient(rest) as dynamic:
            assert dynamic.resource("po").list().items == []
        with blocking.MetadataClient(rest) as metadata:
            assert metadata.resource("po").list().items == []
        assert blocking.DiscoveryClient(rest).server_version().major == "1"
    assert loop_threads() == []


def test_a_client_without_a_configuration_loads_it(
    api_server: APIServerThread, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    api_server.kubeconfig(tmp_path / "config")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    with blocking.ClientSet() as client:
        assert client.core_v1.pods().list().items == []
    discovery = blocking.DiscoveryClient()
    assert discovery.server_version().major == "1"
    discovery.close()
    with blocking.RESTMapper() as mapper:
        assert mapper.resource_for("deploy").kind == "Deployment"
    with blocking.DiscoveryCache(api_server.config) as cache:
        assert blocking.RESTMapper(cache).resource_for("po").kind == "Pod"
    assert loop_threads() == []


def test_a_client_that_cannot_be_entered_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    client = blocking.ClientSet()
    with pytest.raises(ConfigError, match="missing"), client:
        pass
    assert loop_threads() == []


def test_a_condition_can_be_waited_for(client: blocking.ClientSet):
    pods = client.core_v1.pods("default")
    pods.create(a_pod("web"))
    found = blocking.wait_for(pods, "web", lambda pod: pod is not None)
    assert found is not None
    assert found.name == "web"
    with pytest.raises(WaitTimeoutError):
        blocking.wait_for(pods, "other", lambda pod: pod is not None, timeout=0.01)


# --- streams


def test_a_watch_is_a_plain_iterator(client: blocking.ClientSet):
    config_maps = client.core_v1.configmaps("default")
    with config_maps.watch() as watch:
        config_maps.create(a_config_map("a"))
        assert (next(watch).type, config_maps.delete("a")) == ("ADDED", None)
        assert next(watch).type == "DELETED"
    assert list(watch) == []


def test_events_of_one_network_read_come_in_one_batch(client: blocking.ClientSet, api_server: APIServerThread):
    config_maps = client.core_v1.configmaps("default")
    names = [f"settings-{number:03}" for number in range(50)]
    for name in names:
        config_maps.create(a_config_map(name))
    with config_maps.watch() as watch:
        batches = iter(watch.batches())
        batch = next(batches)
        assert len(batch) > 1


def test_leaving_the_loop_closes_the_watch(client: blocking.ClientSet):
    config_maps = client.core_v1.configmaps("default")
    config_maps.create(a_config_map("a"))
    watch = config_maps.watch()
    for event in watch:
        assert event.object.name == "a"
        break
    assert next(watch, None) is None
    assert watch.is_closed
    assert client.rest.statistics().open_watches == 0


def test_another_thread_can_close_a_watch_that_waits(client: blocking.ClientSet, api_server: APIServerThread):
    watch = client.core_v1.configmaps("default").watch()
    with ThreadPoolExecutor() as threads:
        reading = threads.submit(list, watch)
        api_server.wait_for_requests(verb="watch", resource="configmaps", timeout=30)
        watch.close()
        assert reading.result(timeout=30) == []


def test_an_error_event_is_raised(client: blocking.ClientSet, api_server: APIServerThread):
    config_maps = client.core_v1.configmaps("default")
    old = config_maps.create(a_config_map("a"))
    config_maps.create(a_config_map("b"))
    config_maps.create(a_config_map("c"))
    api_server.compact()
    with pytest.raises(ExpiredError):
        list(config_maps.watch(resource_version=old.resource_version))


def test_closing_the_client_ends_the_calls_of_other_threads(api_server: APIServerThread):
    client = blocking.ClientSet(api_server.config)
    with ThreadPoolExecutor() as threads:
        watch = client.core_v1.configmaps("default").watch()
        reading = threads.submit(lambda: list(watch))
        api_server.wait_for_requests(verb="watch", resource="configmaps", timeout=30)
        client.close()
        reading.exception(timeout=30)  # it ends, with or without an error
    assert loop_threads() == []


# --- threads, loops and processes


def test_many_threads_share_one_client_and_one_loop(client: blocking.ClientSet):
    config_maps = client.core_v1.configmaps("default")
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda number: config_maps.create(a_config_map(f"c{number}")), range(24)))
    assert len({each.uid for each in made}) == len(config_maps.list()) == 24
    assert len(loop_threads()) == 1


def test_the_loop_starts_with_the_first_call_and_ends_with_the_last_client(api_server: APIServerThread):
    first, second = blocking.ClientSet(api_server.config), blocking.ClientSet(api_server.config)
    assert loop_threads() == []
    first.core_v1.pods().list()
    second.core_v1.pods().list()
    assert len(loop_threads()) == 1
    first.close()
    assert len(loop_threads()) == 1
    second.close()
    second.close()
    assert loop_threads() == []


def test_a_call_of_a_closed_client_raises_usage_error(api_server: APIServerThread):
    client = blocking.ClientSet(api_server.config)
    pods = client.core_v1.pods("default")
    client.close()
    with pytest.raises(UsageError, match=r"ResourceClient\.list failed: this ClientSet is closed"):
        pods.list()


def test_a_client_that_is_garbage_collected_is_closed(api_server: APIServerThread):
    client = blocking.ClientSet(api_server.config)
    client.core_v1.pods().list()
    [thread] = loop_threads()
    del client
    gc.collect()
    thread.join(30)
    assert not thread.is_alive()


async def test_a_blocking_call_in_an_event_loop_names_the_asynchronous_class(api_server: APIServerThread):
    client = blocking.ClientSet(api_server.config)
    with pytest.raises(UsageError, match=r"use listwatch\.ResourceClient with `await` instead"):
        client.core_v1.pods().list()
    in_thread = asyncio.to_thread(client.core_v1.pods().list)
    assert (await in_thread).items == []
    await asyncio.to_thread(client.close)


async def test_blocking_calls_work_in_a_notebook(api_server: APIServerThread, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    with blocking.ClientSet(api_server.config) as client:
        assert client.core_v1.pods().list().items == []


def test_ctrl_c_ends_a_call_and_cancels_its_request(client: blocking.ClientSet, api_server: APIServerThread):
    def interrupt() -> None:
        api_server.wait_for_requests(verb="watch", resource="configmaps", timeout=30)
        os.kill(os.getpid(), signal.SIGINT)

    watch = client.core_v1.configmaps("default").watch()
    with ThreadPoolExecutor() as threads:
        threads.submit(interrupt)
        with pytest.raises(KeyboardInterrupt):
            next(watch)
    assert next(watch, None) is None
    assert client.rest.statistics().open_watches == 0


def test_a_client_cannot_be_used_in_a_forked_process(client: blocking.ClientSet):
    client.core_v1.pods().list()
    child = os.fork()
    if child == 0:
        try:
            client.core_v1.pods().list()
        except UsageError as error:
            os._exit(0 if "forked" in str(error) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

"""Blocking informers on the embedded server: stores for any thread, handlers in threads of their own."""

import asyncio
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import pytest

from listwatch import blocking
from listwatch.blocking.runtime.background import LoopThread
from listwatch.blocking.runtime.handler_thread import HandlerThread
from listwatch.client.config.client_config import ClientConfig
from listwatch.errors import ConnectionLostError, InformerStoppedError, SyncTimeoutError, UsageError
from listwatch.informer.handlers import HandlerFunctions
from listwatch.informer.reflector.problems import Problem
from listwatch.models.core_v1 import ConfigMap, Pod
from listwatch.objects.metadata import ObjectMeta
from listwatch.testing.api_server_thread import APIServerThread
from listwatch.testing.scripted_server import CLOSE, HANG, ScriptedServer, respond
from listwatch.testing.server_thread import ServerThread

TIMEOUT = 30.0


@pytest.fixture
def client(api_server: APIServerThread) -> Iterator[blocking.ClientSet]:
    with blocking.ClientSet(api_server.config) as client:
        yield client
    assert our_threads() == []


@pytest.fixture
def config_maps(client: blocking.ClientSet) -> Any:
    return client.core_v1.configmaps("default")


def our_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if isinstance(thread, LoopThread)]


def a_config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name), data=data)


class Recorder:
    """A handler that records its calls and their threads."""

    def __init__(self) -> None:
        self.changes: SimpleQueue[str] = SimpleQueue()
        self.threads: set[threading.Thread] = set()

    def on_add(self, item: ConfigMap) -> None:
        self._record("added", item)

    def on_update(self, old: ConfigMap, new: ConfigMap) -> None:
        self._record("updated", new)

    def on_delete(self, item: ConfigMap) -> None:
        self._record("deleted", item)

    def _record(self, what: str, item: ConfigMap) -> None:
        self.threads.add(threading.current_thread())
        self.changes.put(f"{what} {item.name}")

    def next(self) -> str:
        return self.changes.get(timeout=TIMEOUT)


def test_a_handler_receives_all_changes_in_order_in_one_thread(config_maps: Any):
    config_maps.create(a_config_map("old"))
    recorder = Recorder()
    with blocking.SharedIndexInformer(config_maps, ConfigMap) as informer:
        informer.add_handler(recorder)
        informer.wait_for_sync(timeout=TIMEOUT)
        assert recorder.next() == "added old"
        made = config_maps.create(a_config_map("new"))
        made.data["a"] = "1"
        config_maps.update(made)
        config_maps.delete("new")
        assert [recorder.next() for _ in range(3)] == ["added new", "updated new", "deleted new"]
    [thread] = recorder.threads
    assert isinstance(thread, HandlerThread)
    thread.join(TIMEOUT)
    assert not thread.is_alive()


def test_a_slow_handler_delays_neither_other_handlers_nor_the_store(config_maps: Any):
    may_continue = threading.Event()
    recorder = Recorder()
    with blocking.SharedIndexInformer(config_maps, ConfigMap) as informer:
        informer.add_handler(on_add=lambda _: may_continue.wait(TIMEOUT))
        informer.add_handler(recorder)
        for name in "abc":
            written = config_maps.create(a_config_map(name))
        assert [recorder.next() for _ in range(3)] == ["added a", "added b", "added c"]
        informer.wait_until(written.resource_version, timeout=TIMEOUT)
        assert len(informer.lister.list()) == 3
        may_continue.set()


def test_a_handler_may_use_the_client(config_maps: Any):
    copied = threading.Event()

    def on_add(item: ConfigMap) -> None:
        if item.name == "original":
            config_maps.create(a_config_map("copy", **item.data))
        else:
            copied.set()

    with blocking.SharedIndexInformer(config_maps, ConfigMap) as informer:
        informer.add_handler(on_add=on_add)
        config_maps.create(a_config_map("original", a="1"))
        assert copied.wait(TIMEOUT)
        assert config_maps.get("copy").data == {"a": "1"}


def test_an_error_of_a_handler_is_reported_and_the_next_change_is_handled(config_maps: Any):
    failures: SimpleQueue[Exception] = SimpleQueue()
    names: SimpleQueue[str] = SimpleQueue()

    def on_add(item: ConfigMap) -> None:
        if item.name == "bad":
            raise ValueError(item.name)
        names.put(item.name)

    with blocking.SharedIndexInformer(config_maps, ConfigMap) as informer:
        registration = informer.add_handler(on_add=on_add, on_failure=lambda _name, _change, error: failures.put(error))
        config_maps.create(a_config_map("bad"))
        config_maps.create(a_config_map("good"))
        assert names.get(timeout=TIMEOUT) == "good"
        assert str(failures.get(timeout=TIMEOUT)) == "bad"
        registration.wait_removed()
        assert registration.statistics().failed == 1


def test_an_async_handler_is_awaited(config_maps: Any):
    names: SimpleQueue[str] = SimpleQueue()

    async def on_add(item: ConfigMap) -> None:
        names.put(item.name)

    with blocking.SharedIndexInformer(config_maps, ConfigMap) as informer:
        informer.add_handler(on_add=on_add)
        config_maps.create(a_config_map("a"))
        assert names.get(timeout=TIMEOUT) == "a"


def test_waiting_for_sync_waits_for_handlers(config_maps: Any):
    for name in "abc":
        last = config_maps.create(a_config_map(name))
    may_continue = threading.Event()
    handled: list[str] = []

    def on_add(item: ConfigMap) -> None:
        may_continue.wait(TIMEOUT)
        handled.append(item.name)

    with blocking.SharedIndexInformer(config_maps, ConfigMap) as informer:
        registration = informer.add_handler(on_add=on_add)
        informer.wait_until(last.resource_version, timeout=TIMEOUT)
        with pytest.raises(SyncTimeoutError, match="these handlers have not"):
            informer.wait_for_sync(timeout=0.01)
        may_continue.set()
        informer.wait_for_sync(timeout=TIMEOUT, handlers=[registration])
        assert sorted(handled) == ["a", "b", "c"]
        assert registration.has_synced


def test_a_handler_can_stop_its_own_informer(config_maps: Any):
    informer = blocking.SharedIndexInformer(config_maps, ConfigMap)
    informer.add_handler(on_add=lambda _: informer.stop())
    config_maps.create(a_config_map("a"))
    informer.run()
    assert informer.is_stopped


def test_a_handler_can_stop_the_factory(client: blocking.ClientSet, config_maps: Any):
    def stop_at_b(item: ConfigMap) -> None:
        if item.name == "b":
            factory.stop()

    factory = blocking.SharedInformerFactory(client)
    informer = factory.core_v1.configmaps.informer
    informer.add_handler(on_add=stop_at_b)
    factory.start()
    config_maps.create(a_config_map("a"))
    changes = informer.changes()
    assert next(changes).object.name == "a"
    config_maps.create(a_config_map("b"))
    assert [change.object.name for change in changes] in (["b"], [])  # it ends after the informer has stopped


def test_another_thread_can_stop_a_running_informer(config_maps: Any, api_server: APIServerThread):
    informer = blocking.SharedIndexInformer(config_maps, ConfigMap)
    with ThreadPoolExecutor() as threads:
        running = threads.submit(informer.run)
        api_server.wait_for_requests(resource="configmaps", timeout=TIMEOUT)
        informer.stop()
        running.result(TIMEOUT)
    with pytest.raises(InformerStoppedError):
        informer.add_handler(on_add=print)


def test_ctrl_c_stops_a_running_informer(config_maps: Any, api_server: APIServerThread):
    def interrupt() -> None:
        api_server.wait_for_requests(resource="configmaps", timeout=TIMEOUT)
        os.kill(os.getpid(), signal.SIGINT)

    informer = blocking.SharedIndexInformer(config_maps, ConfigMap)
    with ThreadPoolExecutor() as threads:
        threads.submit(interrupt)
        with pytest.raises(KeyboardInterrupt):
            informer.run()
    informer.stop()
    assert informer.is_stopped


def test_changes_ends_when_the_informer_stops(config_maps: Any):
    config_maps.create(a_config_map("a"))
    with blocking.SharedIndexInformer(config_maps, ConfigMap) as informer:
        for change in informer.changes():
            assert (change.type, change.object.name) == ("ADDED", "a")
            break
        seen = []
        for change in informer.changes():
            seen.append(change.object.name)
            informer.stop()
    assert seen == ["a"]


def test_a_factory_shares_informers_and_waits_for_all_of_them(client: blocking.ClientSet, config_maps: Any):
    config_maps.create(a_config_map("a"))
    with blocking.SharedInformerFactory(client, namespace="default") as factory:
        assert factory.core_v1.configmaps == factory.core_v1.configmaps
        assert factory.informer(ConfigMap).informer == factory.core_v1.configmaps.informer
        recorder = Recorder()
        factory.core_v1.configmaps.informer.add_handler(recorder)
        factory.wait_for_sync(timeout=TIMEOUT)
        assert factory.core_v1.configmaps.lister.namespace("default").get("a").name == "a"
        assert recorder.next() == "added a"
        [statistics] = factory.statistics()
        assert statistics.has_synced
    for thread in recorder.threads:
        thread.join(TIMEOUT)
        assert not thread.is_alive()


def test_dir_of_a_factory_shows_its_methods_and_resources(client: blocking.ClientSet):
    factory = blocking.SharedInformerFactory(client)
    public = {name for name in dir(factory) if not name.startswith("_")}
    assert {"core_v1", "apps_v1"} <= public
    methods = {name for name in public if not name[-1].isdigit()}
    assert methods == {"informer", "start", "statistics", "stop", "wait_for_sync"}
    assert "pods" in dir(factory.core_v1)
    with pytest.raises(AttributeError, match="did you mean core_v1"):
        factory.corev1  # type: ignore[attr-defined]  # noqa: B018  # the error under test


def test_any_thread_may_read_the_cache(client: blocking.ClientSet, config_maps: Any):
    with blocking.SharedInformerFactory(client) as factory, ThreadPoolExecutor(4) as threads:
        handle = factory.informer(ConfigMap, indexers={"a": lambda item: [item.data.get("a", "")]})
        factory.wait_for_sync(timeout=TIMEOUT)
        for number in range(20):
            written = config_maps.create(a_config_map(f"c{number}", a=str(number % 2)))
        handle.informer.wait_until(written.resource_version, timeout=TIMEOUT)
        counts = threads.map(lambda value: len(handle.informer.indexer.by_index("a", value)), ["0", "1"] * 10)
        assert set(counts) == {10}
        handle.release()
        assert handle.informer.is_stopped


def test_several_sources_may_fill_one_store(config_maps: Any):
    config_maps.create(a_config_map("a"))
    with blocking.SharedIndexInformer({"default": config_maps}, ConfigMap) as informer:
        informer.wait_for_sync(timeout=TIMEOUT)
        assert [each.name for each in informer.lister.list()] == ["a"]


def test_a_started_informer_runs_until_it_is_stopped_even_after_its_client_is_closed(api_server: APIServerThread):
    recorder = Recorder()
    with blocking.ClientSet(api_server.config) as client:
        config_maps = client.core_v1.configmaps("default")
        factory = blocking.SharedInformerFactory(client)
        handle = factory.core_v1.configmaps
        handle.informer.add_handler(recorder)
        factory.start()
        del handle
        gc.collect()
        config_maps.create(a_config_map("a"))
        assert recorder.next() == "added a"
    assert len(our_threads()) == 1
    factory.stop()
    assert our_threads() == []


@pytest.mark.parametrize("is_async", [False, True])
def test_system_exit_in_a_handler_is_reported_and_the_informer_continues(config_maps: Any, is_async: bool):
    config_maps.create(a_config_map("old"))
    failures: SimpleQueue[Exception] = SimpleQueue()

    def leave(_: ConfigMap) -> None:
        sys.exit(3)

    async def leave_later(_: ConfigMap) -> None:
        sys.exit(3)

    recorder = Recorder()
    with blocking.SharedIndexInformer(config_maps, ConfigMap) as informer:
        informer.add_handler(
            on_add=leave_later if is_async else leave, on_failure=lambda _, __, error: failures.put(error)
        )
        informer.add_handler(recorder)
        informer.wait_for_sync(timeout=TIMEOUT)
        assert "notify the main thread instead" in str(failures.get(timeout=TIMEOUT))
        config_maps.create(a_config_map("new"))
        assert [recorder.next(), recorder.next()] == ["added old", "added new"]
        assert "notify the main thread instead" in str(failures.get(timeout=TIMEOUT))


def test_cancelled_error_in_a_handler_is_reported_and_the_informer_continues(config_maps: Any):
    failures: SimpleQueue[Exception] = SimpleQueue()

    def cancel(_: ConfigMap) -> None:
        raise asyncio.CancelledError

    with blocking.SharedIndexInformer(config_maps, ConfigMap) as informer:
        registration = informer.add_handler(on_add=cancel, on_failure=lambda _, __, error: failures.put(error))
        for name in "ab":
            config_maps.create(a_config_map(name))
            assert isinstance(failures.get(timeout=TIMEOUT).__cause__, asyncio.CancelledError)
        registration.wait_removed()
        assert registration.statistics().handled == 2


def test_an_index_is_built_in_the_loop_s_thread(client: blocking.ClientSet, config_maps: Any):
    config_maps.create(a_config_map("a"))
    threads: list[threading.Thread] = []

    def by_name(item: ConfigMap) -> list[str]:
        threads.append(threading.current_thread())
        return [item.name]

    def check_index(informer: Any) -> None:
        informer.wait_for_sync(timeout=TIMEOUT)
        informer.indexer.add_indexers({"name": by_name})
        assert informer.indexer.index_keys("name", "a") == ["default/a"]

    with blocking.SharedIndexInformer(config_maps, ConfigMap) as informer:
        check_index(informer)
    with blocking.SharedInformerFactory(client, namespace="default") as factory:
        check_index(factory.core_v1.configmaps.informer)
    assert [type(each) for each in threads] == [LoopThread] * 2
    informer.indexer.add_indexers({"later": by_name})
    assert informer.indexer.index_keys("later", "a") == ["default/a"]


def test_system_exit_in_a_condition_is_raised_by_the_call_and_the_loop_continues(config_maps: Any):
    config_maps.create(a_config_map("old"))

    def leave(_: object) -> bool:
        sys.exit(3)

    with pytest.raises(SystemExit):
        blocking.wait_for(config_maps, "old", leave, timeout=TIMEOUT)
    assert [each.name for each in config_maps.list()] == ["old"]


# --- the plain informer


def test_a_plain_informer_calls_its_handler_in_one_thread_in_order(config_maps: Any):
    config_maps.create(a_config_map("old"))
    recorder = Recorder()
    with blocking.Informer(config_maps, ConfigMap, recorder) as informer:
        informer.wait_for_sync(timeout=TIMEOUT)
        assert recorder.next() == "added old"
        config_maps.create(a_config_map("new"))
        config_maps.patch("new", {"data": {"a": "1"}})
        config_maps.delete("new")
        assert [recorder.next() for _ in range(3)] == ["added new", "updated new", "deleted new"]
        assert informer.has_synced
        assert informer.indexer.keys() == ["default/old"]
    [thread] = recorder.threads
    assert isinstance(thread, HandlerThread)
    thread.join(TIMEOUT)
    assert not thread.is_alive()


def test_the_store_of_a_plain_informer_waits_for_its_handler_which_may_use_the_client(config_maps: Any):
    seen: SimpleQueue[tuple[str, list[str]]] = SimpleQueue()

    def on_add(item: ConfigMap) -> None:
        config_maps.patch(item.name, {"metadata": {"labels": {"seen": "yes"}}})
        seen.put((item.name, informer.indexer.keys()))

    with blocking.Informer(config_maps, ConfigMap, HandlerFunctions(on_add=on_add)) as informer:
        config_maps.create(a_config_map("a"))
        assert seen.get(timeout=TIMEOUT) == ("a", ["default/a"])


def test_an_error_of_a_plain_informer_s_handler_is_a_problem(config_maps: Any):
    problems: SimpleQueue[Exception] = SimpleQueue()

    def on_add(item: ConfigMap) -> None:
        raise ValueError(item.name) if item.name == "a" else SystemExit(3)

    handler: HandlerFunctions[ConfigMap] = HandlerFunctions(on_add=on_add)
    with blocking.Informer(config_maps, ConfigMap, handler, on_problem=lambda each: problems.put(each.error)):
        config_maps.create(a_config_map("a"))
        assert str(problems.get(timeout=TIMEOUT)) == "a"
        config_maps.create(a_config_map("b"))
        assert "notify the main thread instead" in str(problems.get(timeout=TIMEOUT))


def test_ctrl_c_ends_the_run_of_a_plain_informer(config_maps: Any, api_server: APIServerThread):
    def interrupt() -> None:
        api_server.wait_for_requests(resource="configmaps", timeout=TIMEOUT)
        os.kill(os.getpid(), signal.SIGINT)

    informer = blocking.Informer(config_maps, ConfigMap, HandlerFunctions(on_add=print))
    with ThreadPoolExecutor() as threads:
        threads.submit(interrupt)
        with pytest.raises(KeyboardInterrupt):
            informer.run()


# --- sources


@pytest.mark.parametrize("functions", [{"list": list, "watch": None}, {"list": 3, "watch": iter}])
def test_a_source_is_made_of_two_functions(functions: dict[str, Any]):
    with pytest.raises(UsageError, match="needs two functions"):
        blocking.ListWatch(**functions)


@pytest.mark.parametrize("functions", [{}, {"list": list}, {"watch": iter}])
def test_a_source_needs_both_functions(functions: dict[str, Any]):
    with pytest.raises(TypeError, match=r"missing .* required keyword-only argument"):
        blocking.ListWatch(**functions)


NO_PODS = respond(body=b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[]}')


def test_failed_attempts_of_requests_in_a_function_are_problems_of_the_informer():
    with (
        ServerThread(ScriptedServer(CLOSE, CLOSE, NO_PODS, otherwise=HANG)) as server,
        blocking.RESTClient(ClientConfig(host=server.call(lambda each: each.url))) as rest,
    ):
        source = blocking.ListWatch(
            list=lambda: rest.get().resource("pods").do().into_list(Pod), watch=lambda: iter(())
        )
        problems: SimpleQueue[Problem] = SimpleQueue()
        with blocking.SharedIndexInformer(source, Pod, streaming=False, on_problem=problems.put) as informer:
            informer.wait_for_sync(timeout=TIMEOUT)
            first, second = problems.get(timeout=TIMEOUT), problems.get(timeout=TIMEOUT)
    assert (first.attempt, second.attempt) == (1, 2)
    assert isinstance(first.error, ConnectionLostError)


def test_what_a_handler_reads_does_not_stay_decoded(config_maps: Any):
    handled: SimpleQueue[str] = SimpleQueue()
    with blocking.SharedIndexInformer(config_maps, ConfigMap) as informer:
        informer.add_handler(
            on_add=lambda item: handled.put(item.data["value"]),
            on_update=lambda _, new: handled.put(new.data["value"]),
        )
        config_maps.create(a_config_map("a", value="0"))
        assert handled.get(timeout=TIMEOUT) == "0"
        for value in "123":
            changed = config_maps.get("a")
            changed.data["value"] = value
            config_maps.update(changed)
            assert handled.get(timeout=TIMEOUT) == value
        config_maps.create(a_config_map("b", value="4"))  # handled after the last update
        assert handled.get(timeout=TIMEOUT) == "4"
        (cached,) = [each for each in informer.indexer.list() if each.name == "a"]
        assert not cached._has_decoded_parts()
        assert cached.data == {"value": "3"}


def test_what_a_handler_reads_of_several_states_of_an_object_does_not_stay_decoded(config_maps: Any):
    may_read = threading.Event()
    values: SimpleQueue[str] = SimpleQueue()

    def read(item: ConfigMap) -> None:
        may_read.wait(TIMEOUT)
        values.put(item.data["value"])

    created = config_maps.create(a_config_map("a", value="0"))
    with blocking.SharedIndexInformer(config_maps, ConfigMap) as informer:
        informer.add_handler(on_add=read, on_update=lambda _, new: read(new))
        informer.wait_until(created.resource_version, timeout=TIMEOUT)  # listed before the first change
        for value in "123":
            written = config_maps.patch("a", {"data": {"value": value}})
            informer.wait_until(written.resource_version, timeout=TIMEOUT)
        may_read.set()
        assert [values.get(timeout=TIMEOUT) for _ in "0123"] == ["0", "1", "2", "3"]
        config_maps.create(a_config_map("b", value="4"))  # handled after the others were released
        assert values.get(timeout=TIMEOUT) == "4"
        assert not informer.indexer.get("default/a")._has_decoded_parts()


def test_changes_that_a_handler_thread_has_taken_are_pending_until_they_are_handled(config_maps: Any):
    is_called, may_return = threading.Event(), threading.Event()

    def handle(_: ConfigMap) -> None:
        is_called.set()
        may_return.wait(TIMEOUT)

    for name in "abc":
        config_maps.create(a_config_map(name))
    with blocking.SharedIndexInformer(config_maps, ConfigMap) as informer:
        registration = informer.add_handler(on_add=handle)
        assert is_called.wait(TIMEOUT)
        assert registration.statistics().pending == 2
        may_return.set()
        registration.wait_for_sync(timeout=TIMEOUT)
        assert registration.statistics().pending == 0

"""Retried watches, waiting for events, retries on conflict and sources of plain functions in blocking programs."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from listwatch import blocking
from listwatch.api.watch_events import AddedEvent, ModifiedEvent, WatchEvent
from listwatch.backoff import Backoff
from listwatch.blocking.runtime.background import LoopThread
from listwatch.client.resources.client_set import ClientSet
from listwatch.errors import ConflictError, ExpiredError, UsageError, WaitTimeoutError
from listwatch.informer.handlers import ObjectDeleted
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ListMeta, ObjectMeta
from listwatch.objects.object_list import ObjectList
from listwatch.server import CutStream, Fault
from listwatch.testing.api_server_thread import APIServerThread
from listwatch.testing.clocks import InstantClock


@pytest.fixture
def client(api_server: APIServerThread) -> Iterator[blocking.ClientSet]:
    with blocking.ClientSet(api_server.config) as client:
        yield client
    assert loop_threads() == []


@pytest.fixture
def config_maps(client: blocking.ClientSet) -> blocking.ResourceClient[ConfigMap]:
    return client.core_v1.configmaps("default")


def loop_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if isinstance(thread, LoopThread)]


def a_config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name), data=data)


# --- retried watches


def test_a_retry_watcher_loses_no_event_when_connections_break(
    config_maps: blocking.ResourceClient[ConfigMap], api_server: APIServerThread
):
    version = config_maps.list().resource_version
    api_server.faults.add(Fault(CutStream(after_events=1), verb="watch", times=2))
    for name in "abc":
        config_maps.create(a_config_map(name))
    seen = []
    with blocking.RetryWatcher(config_maps, version, clock=InstantClock()) as watcher:
        for event in watcher:
            seen.append(event.object.name)
            if len(seen) == 3:
                break
    assert seen == ["a", "b", "c"]
    assert watcher.resource_version == config_maps.get("c").resource_version


def test_a_retry_watcher_raises_errors_that_a_retry_cannot_fix(
    config_maps: blocking.ResourceClient[ConfigMap], api_server: APIServerThread
):
    version = config_maps.list().resource_version
    config_maps.create(a_config_map("a"))
    api_server.compact()
    with pytest.raises(ExpiredError):
        next(blocking.RetryWatcher(config_maps, version))


def test_another_thread_can_close_a_waiting_retry_watcher(
    config_maps: blocking.ResourceClient[ConfigMap], api_server: APIServerThread, client: blocking.ClientSet
):
    watcher = blocking.RetryWatcher(config_maps, config_maps.list().resource_version)
    seen: list[Any] = []
    reader = threading.Thread(target=lambda: seen.extend(watcher))
    reader.start()
    api_server.wait_for_requests(verb="watch")
    watcher.close()
    reader.join()
    assert seen == []
    assert client.rest.statistics().open_watches == 0
    watcher.close()
    assert list(watcher) == []


def test_closing_with_events_unread_closes_the_watch(
    config_maps: blocking.ResourceClient[ConfigMap], client: blocking.ClientSet
):
    version = config_maps.list().resource_version
    config_maps.create(a_config_map("a"))
    config_maps.create(a_config_map("b"))
    watcher = blocking.RetryWatcher(config_maps, version)
    assert next(watcher).object.name == "a"
    watcher.close()
    config_maps.get("a")  # the loop has executed the close
    assert client.rest.statistics().open_watches == 0


def test_a_retry_watcher_refuses_version_zero(config_maps: blocking.ResourceClient[ConfigMap]):
    with pytest.raises(UsageError, match="cannot start from resource version '0'"):
        blocking.RetryWatcher(config_maps, "0")


# --- waiting for events


def test_events_can_be_waited_for(config_maps: blocking.ResourceClient[ConfigMap]):
    version = config_maps.list().resource_version
    config_maps.create(a_config_map("a"))
    config_maps.patch("a", {"data": {"ready": "yes"}})
    last = blocking.until(
        config_maps,
        version,
        lambda event: isinstance(event, AddedEvent),
        lambda event: event.object.data.get("ready") == "yes",
    )
    assert isinstance(last, ModifiedEvent)


def test_waiting_for_events_ends_after_the_timeout(config_maps: blocking.ResourceClient[ConfigMap]):
    with pytest.raises(WaitTimeoutError, match="there was no event"):
        blocking.until(config_maps, config_maps.list().resource_version, lambda _: True, timeout=0.01)


def test_changes_can_be_waited_for_through_an_informer(config_maps: blocking.ResourceClient[ConfigMap]):
    config_maps.create(a_config_map("a"))
    found = blocking.until_with_sync(config_maps, ConfigMap, lambda change: change.object.name == "a")
    assert found is not None
    assert found.type == "ADDED"
    there = blocking.until_with_sync(config_maps, ConfigMap, lambda _: False, precondition=lambda store: len(store) > 0)
    assert there is None


# --- retries


def test_a_change_is_retried_after_a_conflict_in_the_caller_s_thread(
    config_maps: blocking.ResourceClient[ConfigMap],
):
    config_maps.create(a_config_map("counter", value="0"))
    attempts = []

    def count() -> ConfigMap:
        attempts.append(threading.current_thread())
        mine = config_maps.get("counter")
        if len(attempts) == 1:
            config_maps.patch("counter", {"data": {"other": "faster"}})
        mine.data["value"] = "1"
        return config_maps.update(mine)

    assert blocking.retry_on_conflict(count).data == {"value": "1", "other": "faster"}
    assert attempts == [threading.current_thread()] * 2


def test_the_last_conflict_is_raised_after_the_steps_of_the_backoff():
    def conflict() -> None:
        raise ConflictError("the object was changed")

    clock = InstantClock()
    with pytest.raises(ConflictError):
        blocking.retry_on_conflict(conflict, backoff=Backoff(initial=1.0, factor=2.0, jitter=0.0, steps=3), clock=clock)
    assert clock.slept == [1.0, 2.0]
    assert loop_threads() == []


# --- sources


def test_a_source_made_of_plain_functions_fills_an_informer():
    more = threading.Event()

    def list_all() -> ObjectList[ConfigMap]:
        return ObjectList([version_of("a", "1")], metadata=ListMeta(resource_version="1"))

    def watch(resource_version: str) -> Iterator[WatchEvent[ConfigMap]]:
        assert resource_version == "1"
        more.wait()
        yield AddedEvent(version_of("b", "2"))
        threading.Event().wait()  # a function that never returns does not prevent a stop

    source = blocking.ListWatch(list=list_all, watch=watch)
    with blocking.SharedIndexInformer(source, ConfigMap, streaming=False) as informer:
        informer.wait_for_sync(timeout=30)
        assert informer.indexer.keys() == ["a"]
        more.set()
        informer.wait_until("2", timeout=30)
        assert sorted(informer.indexer.keys()) == ["a", "b"]
    assert loop_threads() == []


def version_of(name: str, version: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, resource_version=version))


def test_the_functions_of_a_source_may_be_those_of_a_client(config_maps: blocking.ResourceClient[ConfigMap]):
    source = blocking.ListWatch(list=config_maps.list, watch=config_maps.watch)
    config_maps.create(a_config_map("a"))
    config_maps.delete("a")
    config_maps.create(a_config_map("b"))
    gone = blocking.until(source, "1", lambda event: event.type == "DELETED")
    assert gone.object.name == "a"


def test_a_source_can_be_created_from_a_rest_client(client: blocking.ClientSet):
    client.core_v1.configmaps("default").create(a_config_map("a"))
    client.core_v1.configmaps("default").create(a_config_map("b"))
    source = blocking.ListWatch.from_client(client.rest, "configmaps", "default", field_selector="metadata.name=b")
    with blocking.SharedIndexInformer(source, ConfigMap) as informer:
        informer.wait_for_sync(timeout=30)
        assert [each.name for each in informer.lister.list()] == ["b"]
        client.core_v1.configmaps("default").delete("b")
        gone = blocking.until_with_sync(
            source,
            ConfigMap,
            lambda change: isinstance(change, ObjectDeleted),
            precondition=lambda store: not len(store),
        )
        assert gone is None


# --- invalid arguments


async def test_an_asynchronous_client_is_refused(api_server: APIServerThread):
    async with ClientSet(api_server.config) as client:
        with pytest.raises(
            UsageError, match=r"<ResourceClient of pods> is asynchronous; pass a blocking ResourceClient"
        ):
            blocking.until(client.core_v1.pods(), "1", lambda _: True)  # type: ignore[arg-type]  # the error under test


def test_an_object_that_cannot_be_watched_is_refused():
    with pytest.raises(UsageError, match="'pods' cannot be watched: pass a ResourceClient"):
        blocking.until("pods", "1", lambda _: True)  # type: ignore[arg-type]  # the error under test
    assert loop_threads() == []


def test_dir_shows_the_public_methods_only(client: blocking.ClientSet):
    assert [name for name in dir(client.mapper) if not name.startswith("_")] == [
        "close",
        "in_category",
        "invalidate",
        "kind_for",
        "resource_for",
        "resources",
    ]

"""A thread of a handler, reconcile or worker that waits for its own end gets an error instead of waiting forever."""

import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any

import pytest

from listwatch import blocking
from listwatch.blocking.runtime.background import LoopThread
from listwatch.errors import UsageError
from listwatch.informer.handlers import HandlerFunctions
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ObjectMeta
from listwatch.server import APIServer
from listwatch.testing.api_server_thread import APIServerThread

TIMEOUT = 30.0


@pytest.fixture
def client(api_server: APIServerThread) -> Iterator[blocking.ClientSet]:
    with blocking.ClientSet(api_server.config) as client:
        yield client
    assert [thread for thread in threading.enumerate() if isinstance(thread, LoopThread)] == []


@pytest.fixture
def config_maps(client: blocking.ClientSet) -> Any:
    found = client.core_v1.configmaps("default")
    found.create(ConfigMap(metadata=ObjectMeta(name="a")))
    return found


class Waiting:
    """Makes a call, and records the error; the call must not end otherwise."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self.errors: SimpleQueue[str] = SimpleQueue()

    def __call__(self, _: object) -> None:
        try:
            result = self._call()
        except UsageError as error:
            self.errors.put(str(error))
        else:
            self.errors.put(f"no error, but {result!r}")

    def error(self) -> str:
        return self.errors.get(timeout=TIMEOUT)


@pytest.mark.parametrize("of", ["the registration", "the informer"])
def test_a_handler_that_waits_for_its_own_sync_gets_an_error(config_maps: Any, of: str):
    informer = blocking.SharedIndexInformer(config_maps, ConfigMap)
    wait = Waiting(lambda: (registration if of == "the registration" else informer).wait_for_sync())
    registration = informer.add_handler(on_add=wait)
    with informer:
        assert "which waits until" in wait.error()
        informer.wait_for_sync(timeout=TIMEOUT)


def test_a_handler_that_waits_for_its_own_removal_gets_an_error(config_maps: Any):
    informer = blocking.SharedIndexInformer(config_maps, ConfigMap)
    wait = Waiting(lambda: registration.wait_removed())
    registration = informer.add_handler(on_add=wait)
    with informer:
        assert "call remove(), or wait in another task or thread" in wait.error()


def test_a_thread_that_a_handler_starts_can_wait_for_its_removal(config_maps: Any):
    informer = blocking.SharedIndexInformer(config_maps, ConfigMap)
    done = threading.Event()

    def remove() -> None:
        registration.wait_removed()
        done.set()

    registration = informer.add_handler(on_add=lambda _: threading.Thread(target=remove).start())
    with informer:
        assert done.wait(TIMEOUT)


def test_a_handler_that_waits_for_the_sync_of_the_factory_gets_an_error(client: blocking.ClientSet, config_maps: Any):
    factory = blocking.SharedInformerFactory(client)
    wait = Waiting(lambda: factory.wait_for_sync())
    factory.core_v1.configmaps.informer.add_handler(on_add=wait)
    with factory:
        assert "called wait_for_sync(), which waits until" in wait.error()
        factory.wait_for_sync(timeout=TIMEOUT)


def test_waiting_for_a_factory_that_was_not_started_is_an_error(client: blocking.ClientSet):
    factory = blocking.SharedInformerFactory(client)
    _ = factory.core_v1.configmaps
    with pytest.raises(UsageError, match=r"call `factory.start\(\)`"):
        factory.wait_for_sync()
    factory.stop()


def test_a_handler_that_releases_the_last_handle_of_its_informer_gets_an_error(
    client: blocking.ClientSet, config_maps: Any
):
    factory = blocking.SharedInformerFactory(client)
    handle = factory.informer(ConfigMap)
    wait = Waiting(lambda: handle.release())
    handle.informer.add_handler(on_add=wait)
    with factory:
        assert "stop it in another thread" in wait.error()
        assert not handle.informer.is_stopped
        handle.release()
        assert handle.informer.is_stopped


def test_the_handler_of_a_plain_informer_that_waits_for_its_sync_gets_an_error(config_maps: Any):
    wait = Waiting(lambda: informer.wait_for_sync())
    handler: HandlerFunctions[ConfigMap] = HandlerFunctions(on_add=wait)
    informer = blocking.Informer(config_maps, ConfigMap, handler)
    with informer:
        assert "which waits for the handler" in wait.error()
        informer.wait_for_sync(timeout=TIMEOUT)


def test_a_loop_over_changes_that_waits_for_its_own_sync_gets_an_error(config_maps: Any):
    with blocking.SharedIndexInformer(config_maps, ConfigMap) as informer:
        for _ in informer.changes():
            with pytest.raises(UsageError, match=r"changes\(\) called wait_for_sync"):
                informer.wait_for_sync()
            break
        informer.wait_for_sync(timeout=TIMEOUT)


def test_a_handler_that_makes_a_blocking_call_in_the_loop_gets_an_error(config_maps: Any):
    errors: SimpleQueue[str] = SimpleQueue()

    async def on_add(_: ConfigMap) -> None:
        try:
            registration.wait_removed()
        except UsageError as error:
            errors.put(str(error))

    informer = blocking.SharedIndexInformer(config_maps, ConfigMap)
    registration = informer.add_handler(on_add=on_add)
    with informer:
        assert "would block the event loop" in errors.get(timeout=TIMEOUT)


# --- controllers


def test_a_reconcile_that_stops_its_controller_gets_an_error(client: blocking.ClientSet, config_maps: Any):
    wait = Waiting(lambda: controller.stop())

    def reconcile(key: ObjectKey) -> None:
        wait(key)

    with blocking.Controller(reconcile, for_=ConfigMap, client=client) as controller:
        assert "which waits until the reconcile ends" in wait.error()
        assert controller.is_working


@pytest.mark.parametrize("method", ["stop", "wait_stopped"])
def test_a_reconcile_that_waits_for_its_manager_gets_an_error(
    client: blocking.ClientSet, config_maps: Any, method: str
):
    wait = Waiting(lambda: getattr(manager, method)())

    def reconcile(key: ObjectKey) -> None:
        wait(key)

    manager = blocking.Manager(client)
    manager.add(blocking.Controller(reconcile, for_=ConfigMap))
    with manager:
        assert f"called {method}() of its manager" in wait.error()


# --- queues, electors, servers


def test_a_worker_that_drains_its_queue_gets_an_error():
    queue: blocking.WorkQueue[str] = blocking.WorkQueue(name="keys")
    queue.add("one")
    with queue.take():
        with pytest.raises(UsageError, match=r"inside take\(\) and would wait for the item taken"):
            queue.drain()
        assert not queue.is_shut_down
    queue.drain()


def test_on_stopped_leading_that_waits_for_the_end_of_its_leadership_gets_an_error(client: blocking.ClientSet):
    class EnoughError(Exception):
        """Ends the run."""

    def on_started_leading() -> None:
        raise EnoughError

    wait = Waiting(lambda: elector.wait_lost())
    elector = blocking.LeaderElector(
        client,
        name="one",
        namespace="default",
        on_started_leading=on_started_leading,
        on_stopped_leading=lambda: wait(None),
    )
    with pytest.raises(EnoughError):
        elector.run()
    assert "on_stopped_leading called wait_lost() for the lease default/one" in wait.error()


def test_a_call_of_a_server_s_thread_from_that_thread_is_an_error():
    errors: list[Any] = []

    def admit(*_: object) -> None:
        try:
            thread.issue_token("alice")
        except UsageError as error:
            errors.append(str(error))

    thread = APIServerThread(APIServer(admission=[admit]))
    with thread, blocking.ClientSet(thread.config) as client:
        errors.clear()  # of the objects that a new server creates
        client.core_v1.configmaps("default").create(ConfigMap(metadata=ObjectMeta(name="a")))
    assert ["was called in its own thread" in each for each in errors] == [True]

"""A handler that waits for its own end, or for its own sync, gets an error instead of waiting forever."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import pytest
from tests.factory.test_factory import ScriptedClient, respond
from tests.informer.settings import RecordingHandler, Setting, pod

from listwatch.errors import UsageError
from listwatch.factory.factory import SharedInformerFactory
from listwatch.informer.handlers import HandlerFunctions
from listwatch.informer.informer import Informer
from listwatch.models.core_v1 import Pod
from listwatch.testing.clocks import VirtualClock
from listwatch.testing.scripted_source import ScriptedSource


class Waiting:
    """A handler that makes one call, and records how it ended."""

    def __init__(self, call: Callable[[], Awaitable[object]]) -> None:
        self._call = call
        self.outcomes: list[object] = []

    async def on_add(self, item: Pod) -> None:
        try:
            self.outcomes.append(await self._call())
        except UsageError as error:
            self.outcomes.append(str(error))

    async def on_update(self, old: Pod, new: Pod) -> None:
        await self.on_add(new)


async def test_a_handler_that_waits_for_its_own_removal_gets_an_error_and_stays() -> None:
    setting = Setting(pod("a"))
    handler = Waiting(lambda: registration.wait_removed())
    registration = setting.informer.add_handler(handler)
    async with setting.running():
        setting.watch.add(pod("b", "11"))
        await setting.settle()
    [first, second] = handler.outcomes
    assert first == second
    assert first == (
        "Waiting called wait_removed() of its own registration, which waits until Waiting returns: "
        "call remove(), or wait in another task or thread"
    )


async def test_a_handler_can_wait_for_the_removal_of_another_one() -> None:
    setting, recorder = Setting(pod("a")), RecordingHandler()
    other = setting.informer.add_handler(recorder)
    handler = Waiting(other.wait_removed)
    setting.informer.add_handler(handler)
    async with setting.running():
        setting.watch.add(pod("b", "11"))
        await setting.settle()
    assert handler.outcomes == [None, None]
    assert recorder.calls == [("add", "a", True)]


async def test_a_task_that_a_handler_starts_can_wait_for_its_removal() -> None:
    setting = Setting(pod("a"))
    tasks: list[asyncio.Task[None]] = []

    async def on_add(_: Pod) -> None:
        tasks.append(asyncio.create_task(registration.wait_removed()))
        await asyncio.sleep(0)

    registration = setting.informer.add_handler(on_add=on_add)
    async with setting.running():
        await setting.settle()
        assert [task.done() for task in tasks] == [True]
        await tasks[0]


@pytest.mark.parametrize("of", ["the registration", "the informer", "the informer, with a timeout"])
async def test_a_handler_of_initial_objects_that_waits_for_its_own_sync_gets_an_error(of: str) -> None:
    setting = Setting(pod("a"), pod("b"))
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "the registration": lambda: registration.wait_for_sync(),
        "the informer": lambda: setting.informer.wait_for_sync(),
        "the informer, with a timeout": lambda: setting.informer.wait_for_sync(timeout=5),
    }
    handler = Waiting(calls[of])
    registration = setting.informer.add_handler(handler)
    async with setting.running() as informer:
        await informer.wait_for_sync(timeout=5)
        assert len(handler.outcomes) == 2
        assert handler.outcomes[0] == (
            "Waiting called wait_for_sync(), which waits until Waiting has handled all initial objects: "
            "return from it first, or wait in another task or thread"
        )
        # From now on there is nothing to wait for.
        setting.watch.add(pod("c", "11"))
        await setting.settle()
        assert handler.outcomes[2:] == [None]


async def test_a_handler_can_wait_for_the_sync_of_another_one() -> None:
    setting, recorder = Setting(pod("a")), RecordingHandler()
    other = setting.informer.add_handler(recorder)
    handler = Waiting(lambda: setting.informer.wait_for_sync(handlers=[other]))
    setting.informer.add_handler(handler)
    async with setting.running() as informer:
        await informer.wait_for_sync(timeout=5)
    assert handler.outcomes == [None]


async def test_a_loop_over_changes_that_waits_for_its_own_sync_gets_an_error() -> None:
    setting = Setting(pod("a"), pod("b"))
    async with setting.running() as informer, aclosing(informer.changes()) as changes:
        async for _ in changes:
            with pytest.raises(UsageError, match=r"^changes\(\) called wait_for_sync"):
                await informer.wait_for_sync()
            break


async def test_after_a_loop_over_changes_was_left_its_task_can_wait_for_sync() -> None:
    setting = Setting(pod("a"), pod("b"))
    async with setting.running() as informer:
        async for _ in informer.changes():
            break
        await informer.wait_for_sync(timeout=5)


async def test_a_handler_can_stop_its_informer_and_is_cancelled_by_that() -> None:
    setting = Setting(pod("a"))
    handler = Waiting(lambda: setting.informer.stop())
    setting.informer.add_handler(handler)
    async with setting.running() as informer:
        await setting.settle()
        assert informer.is_stopped
    assert handler.outcomes == []


async def test_the_handler_of_a_plain_informer_that_waits_for_its_sync_gets_an_error() -> None:
    clock, source = VirtualClock(), ScriptedSource(Pod)
    source.will_list([pod("a")], resource_version="10")
    watch = source.will_watch()
    handler = Waiting(lambda: informer.wait_for_sync())
    functions: HandlerFunctions[Pod] = HandlerFunctions(on_add=handler.on_add)
    informer = Informer(source, Pod, functions, clock=clock)
    async with informer:
        await informer.wait_for_sync(timeout=5)
        watch.add(pod("b", "11"))
        await clock.advance(0)
    [first, second] = handler.outcomes
    assert str(first).startswith(
        "the handler of the informer of Pod called wait_for_sync(), which waits for the handler"
    )
    assert second is None


# --- factories


async def test_a_handler_that_waits_for_the_sync_of_the_factory_gets_an_error() -> None:
    client, clock = ScriptedClient(), VirtualClock()
    factory = SharedInformerFactory(client, clock=clock)
    handler = Waiting(lambda: factory.wait_for_sync())
    factory.core_v1.pods.informer.add_handler(handler)
    respond(client, pod("a"))
    async with factory:
        await factory.wait_for_sync(timeout=5)
    [outcome] = handler.outcomes
    assert "Waiting called wait_for_sync(), which waits until Waiting has handled" in str(outcome)


async def test_waiting_for_a_factory_that_was_not_started_is_an_error() -> None:
    client, clock = ScriptedClient(), VirtualClock()
    factory = SharedInformerFactory(client, clock=clock)
    await factory.wait_for_sync()  # there is nothing to wait for
    pods = factory.core_v1.pods
    respond(client, pod("a"))
    for timeout in (None, 5.0):
        with pytest.raises(UsageError, match=r"the informers of pods were not started; .*call `factory.start\(\)`"):
            await factory.wait_for_sync(timeout)
    pods.informer.start()
    await factory.wait_for_sync(timeout=5)
    await factory.stop()


async def test_an_informer_that_a_task_runs_later_can_be_waited_for() -> None:
    setting = Setting(pod("a"))
    running = asyncio.create_task(setting.informer.run())
    await setting.informer.wait_for_sync(timeout=5)
    running.cancel()
    await asyncio.wait([running])

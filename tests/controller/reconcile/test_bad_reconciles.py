"""Failures of user functions are reported, and do not affect other keys."""

import asyncio
import threading
from typing import Any

import pytest
from tests.controller.worlds import Calls, Failures, config_map, key, turns_until, world

from listwatch.controller.controller import Controller
from listwatch.controller.watching.sources import keys_from
from listwatch.controller.watching.watches import Watch
from listwatch.errors import BadKeyError, PermanentError, ReconcileTimeoutError
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import ConfigMap, Pod
from listwatch.testing.clocks import VirtualClock
from listwatch.workqueue.rate_limiters import ExponentialLimiter


def fast() -> ExponentialLimiter[ObjectKey]:
    return ExponentialLimiter(initial=0.001, cap=0.01)


class Leaving(BaseException):
    pass


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), Leaving("now"), StopAsyncIteration(), GeneratorExit()]
)
@pytest.mark.parametrize("is_plain", [False, True])
async def test_no_exception_of_a_reconcile_ends_the_program(error: BaseException, is_plain: bool):
    async def reconcile(key: ObjectKey) -> None:
        if key.name == "bad":
            raise error

    def plain(key: ObjectKey) -> None:
        if key.name == "bad":
            raise error

    async with world() as (_, client):
        failures = Failures()
        function = plain if is_plain else reconcile
        controller = Controller(function, for_=ConfigMap, client=client, limiter=fast(), on_failure=failures)
        async with controller:
            controller.enqueue("default/bad")
            failure = await failures.wait()
            assert failure.error is error
            assert failure.key == key("bad")
            assert function.__qualname__ in str(failure)
            controller.enqueue("default/good")
            await failures.wait(3)
        assert controller.statistics().succeeded == 1


@pytest.mark.parametrize("is_wrapped", [False, True])
async def test_a_reconcile_that_never_ends_is_cancelled_at_its_timeout(is_wrapped: bool):
    clock = VirtualClock()
    begun, ended = asyncio.Event(), asyncio.Event()

    async def reconcile(key: ObjectKey) -> None:
        if key.name == "bad" and not ended.is_set():
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

    async with world() as (_, client):
        failures = Failures()
        function = (lambda key: reconcile(key)) if is_wrapped else reconcile
        controller = Controller(
            function, for_=ConfigMap, client=client, clock=clock, timeout=20.0, on_failure=failures, concurrency=1
        )
        async with controller:
            await controller.wait_for_sync()
            controller.enqueue("default/bad")
            await begun.wait()
            await clock.advance(21.0)
            failure = await failures.wait()
            await ended.wait()
            assert isinstance(failure.error, ReconcileTimeoutError)
            assert "default/bad" in str(failure)
            while controller.statistics().succeeded < 1:
                await clock.advance(0.01)
        assert len(failures.seen) == 1
        assert controller.statistics().timed_out == 1


async def test_a_limiter_that_fails_loses_no_key_and_ends_no_worker():
    class Broken(ExponentialLimiter[ObjectKey]):
        def next_delay(self, item: ObjectKey, *, now: float) -> float:
            raise ZeroDivisionError("no delay")

        def forget(self, item: ObjectKey) -> None:
            raise ZeroDivisionError("no memory")

    def fail_once(key: ObjectKey, count: int) -> None:
        if count == 1:
            raise OSError("not yet")

    clock = VirtualClock()
    async with world() as (_, client):
        calls, failures = Calls(fail_once), Failures()
        limiter = Broken(initial=1.0, cap=1.0)
        controller = Controller(
            calls, for_=ConfigMap, client=client, clock=clock, limiter=limiter, on_failure=failures, concurrency=1
        )
        async with controller:
            await controller.wait_for_sync()
            controller.enqueue("default/a")
            await failures.wait(2)
            while controller.statistics().succeeded < 1:
                await clock.advance(1.0)
            await failures.wait(3)
        assert calls.seen == [key("a")] * 2
        assert [str(each.error) for each in failures.seen] == ["no delay", "not yet", "no memory"]
        assert "the limiter failed for default/a" in str(failures.seen[0])


async def test_a_thread_that_does_not_end_keeps_its_key_and_delays_no_other():
    release, calls = threading.Event(), []

    def reconcile(key: ObjectKey) -> None:
        calls.append(key)
        if key.name == "bad":
            release.wait()

    async with world() as (_, client):
        failures = Failures()
        controller = Controller(
            reconcile, for_=ConfigMap, client=client, timeout=0.02, on_failure=failures, concurrency=2, limiter=fast()
        )
        async with controller:
            controller.enqueue("default/bad")
            assert isinstance((await failures.wait()).error, ReconcileTimeoutError)
            controller.enqueue("default/bad")
            for number in range(10):
                controller.enqueue(f"default/{number}")
            await turns_until(lambda: controller.statistics().succeeded == 10)
            assert calls.count(key("bad")) == 1
            release.set()
            await turns_until(lambda: calls.count(key("bad")) == 2)


async def test_a_reconcile_that_blocks_the_event_loop_is_reported_meanwhile():
    reported = threading.Event()
    failures: list[Any] = []

    def on_failure(failure: Any) -> None:
        failures.append((failure, threading.current_thread()))
        reported.set()

    async def waits_as_if_alone(key: ObjectKey) -> None:
        reported.wait()  # nothing in this loop can run now

    async with world() as (_, client):
        controller = Controller(
            waits_as_if_alone, for_=ConfigMap, client=client, on_failure=on_failure, loop_stall_threshold=0.05
        )
        async with controller:
            controller.enqueue("default/a")
            await turns_until(lambda: controller.statistics().succeeded)
    failure, thread = failures[0]
    assert thread is not threading.current_thread()
    assert failure.key == key("a")
    assert "waits_as_if_alone of default/a blocks the event loop at" in str(failure)
    assert controller.statistics().loop_stalls == 1


@pytest.mark.parametrize("error", [ZeroDivisionError("by nothing"), SystemExit(3), asyncio.CancelledError()])
async def test_a_key_function_that_fails_is_reported_and_other_changes_are_reconciled(error: BaseException):
    def lead(item: ConfigMap) -> list[str]:
        if item.name == "bad":
            raise error
        return [f"default/{item.name}"]

    async with world() as (_, client):
        maps = client.core_v1.configmaps("default")
        calls, failures = Calls(), Failures()
        watch = Watch(ConfigMap, keys=lead)
        controller = Controller(calls, for_=Pod, watches=[watch], client=client, on_failure=failures)
        async with controller:
            await maps.create(config_map("bad"))
            failure = await failures.wait()
            assert "lead failed on ConfigMap default/bad" in str(failure)
            await maps.create(config_map("good"))
            await calls.wait_for(key("good"))
        assert controller.statistics().trigger_failures == 1


async def test_a_predicate_that_fails_lets_the_change_through():
    def when(old: object, new: object) -> bool:
        raise ZeroDivisionError

    async with world() as (_, client):
        calls, failures = Calls(), Failures()
        controller = Controller(calls, for_=Watch(ConfigMap, when=when), client=client, on_failure=failures)
        async with controller:
            await client.core_v1.configmaps("default").create(config_map("a"))
            await calls.wait_for(key("a"))
        assert "predicate" in str(failures.seen[0])


@pytest.mark.parametrize("given", [[["unhashable"]], [{"name": "a"}], 7, [None], ["a/b/c"], "", object()])
def test_values_that_are_not_keys_are_refused(given: object):
    with pytest.raises(BadKeyError, match="key"):
        keys_from(given)


async def test_an_unhashable_key_is_reported_and_other_changes_are_reconciled():
    async with world() as (_, client):
        calls, failures = Calls(), Failures()
        watch = Watch(ConfigMap, keys=lambda item: [["default", item.name]] if item.name == "bad" else item)
        controller = Controller(calls, for_=Pod, watches=[watch], client=client, on_failure=failures)
        async with controller:
            maps = client.core_v1.configmaps("default")
            await maps.create(config_map("bad"))
            assert isinstance((await failures.wait()).error, BadKeyError)
            await maps.create(config_map("good"))
            await calls.wait_for(key("good"))
            with pytest.raises(BadKeyError):
                controller.enqueue(["default", "a"])


async def test_a_reconcile_that_cancels_itself_has_failed():
    async def reconcile(key: ObjectKey) -> None:
        raise asyncio.CancelledError

    async with world() as (_, client):
        failures = Failures()
        controller = Controller(reconcile, for_=ConfigMap, client=client, limiter=fast(), on_failure=failures)
        async with controller:
            controller.enqueue("default/a")
            assert "cancelled itself" in str(await failures.wait())
            await failures.wait(2)


async def test_an_on_failure_that_fails_is_logged_with_the_original_failure(caplog: pytest.LogCaptureFixture):
    def on_failure(failure: object) -> None:
        raise ZeroDivisionError("in on_failure")

    def fail(*_: object) -> None:
        raise PermanentError("the first reason")

    async with world() as (_, client):
        calls = Calls(fail)
        async with Controller(calls, for_=ConfigMap, client=client, on_failure=on_failure) as controller:
            controller.enqueue("default/a")
            await turns_until(lambda: controller.statistics().gave_up)
    assert "the first reason" in caplog.text
    assert "in on_failure" in caplog.text


@pytest.mark.parametrize("turns", range(10))
async def test_workers_that_were_cancelled_twice_have_finished(turns: int):
    async def reconcile(key: ObjectKey) -> None:
        begun.set()
        await asyncio.Event().wait()

    begun = asyncio.Event()
    workers = Controller(reconcile, watches=[], timeout=30.0, clock=VirtualClock())._workers
    workers.enqueue([key("a")], 0)
    running = asyncio.create_task(workers.run())
    await begun.wait()
    running.cancel()
    for _ in range(turns):
        await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait([running])
    assert not workers.is_running

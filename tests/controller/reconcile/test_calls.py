"""Calls of a reconcile function: their outcomes, and their timeouts, which share one timer."""

import asyncio
from collections.abc import Awaitable, Callable

from tests.controller.worlds import key

from listwatch.controller.reconcile.calls import Calls
from listwatch.controller.reconcile.context import ReconcileForm
from listwatch.controller.reconcile.own_writes import OwnWrites
from listwatch.meta import ObjectKey
from listwatch.testing.clocks import VirtualClock


def calls_of(reconcile: Callable[[ObjectKey], Awaitable[float | None]], clock: VirtualClock) -> Calls:
    def no_context(key: ObjectKey) -> None:
        raise AssertionError(key)

    writes = OwnWrites(lambda server: [], timeout=1.0, clock=clock, on_stale=print)
    return Calls(ReconcileForm.of(reconcile), no_context, writes, timeout=20.0, clock=clock)


async def forever(key: ObjectKey) -> None:
    await asyncio.Event().wait()


async def test_each_call_reaches_its_own_timeout():
    clock = VirtualClock()
    calls = calls_of(forever, clock)
    first, first_ended = calls.start(key("first"), clock.monotonic())
    await clock.advance(15.0)
    second, second_ended = calls.start(key("second"), clock.monotonic())
    await clock.advance(5.5)
    assert (first_ended.done(), second_ended.done()) == (True, False)
    await clock.advance(14.0)
    assert not second_ended.done()
    await clock.advance(1.0)
    assert second_ended.result() is None
    assert calls.keys == [key("first"), key("second")]  # a call is in progress until it returns
    for call in (first, second):
        call.cancel()
    await asyncio.wait([first, second])


async def test_a_call_after_a_pause_reaches_its_timeout():
    clock = VirtualClock()
    hangs = False

    async def reconcile(key: ObjectKey) -> None:
        if hangs:
            await forever(key)

    calls = calls_of(reconcile, clock)
    _, ended = calls.start(key("a"), clock.monotonic())
    assert await ended is not None
    await clock.advance(50.0)
    assert clock.sleeping == 0
    hangs = True
    call, ended = calls.start(key("b"), clock.monotonic())
    await clock.advance(21.0)
    assert ended.result() is None
    call.cancel()
    await asyncio.wait([call])


async def test_a_thousand_calls_start_one_timer():
    clock = VirtualClock()

    async def reconcile(key: ObjectKey) -> float:
        return 3.0

    calls = calls_of(reconcile, clock)
    for number in range(1_000):
        _, ended = calls.start(key(f"{number}"), clock.monotonic())
        outcome = await ended
        assert outcome is not None
        assert outcome.requeue_after == 3.0
        assert clock.sleeping <= 1
    assert len(calls) <= 1
    await calls.stop_timer()
    assert clock.sleeping == 0


async def test_a_call_that_is_cancelled_before_it_begins_has_no_outcome():
    calls = calls_of(forever, VirtualClock())
    call, ended = calls.start(key("a"), 0.0)
    call.cancel()
    assert await ended is None
    assert len(calls) == 0
    await calls.stop_timer()


async def test_a_call_that_blocks_the_loop_first_reaches_its_timeout_no_later():
    clock = VirtualClock()

    async def reconcile(key: ObjectKey) -> None:
        clock.jump(15.0)  # no other task has a turn meanwhile
        await forever(key)

    calls = calls_of(reconcile, clock)
    call, ended = calls.start(key("a"), clock.monotonic())
    await clock.advance(0.0)
    assert clock.monotonic() == 15.0
    await clock.advance(5.5)
    assert ended.done()
    call.cancel()
    await asyncio.wait([call])


async def test_calls_after_a_timer_that_never_began_reach_their_timeout():
    clock = VirtualClock()
    calls = calls_of(forever, clock)
    first, _ = calls.start(key("a"), clock.monotonic())
    await calls.stop_timer()  # before its first step
    second, ended = calls.start(key("b"), clock.monotonic())
    await clock.advance(20.5)
    assert ended.done()
    for call in (first, second):
        call.cancel()
    await asyncio.wait([first, second])

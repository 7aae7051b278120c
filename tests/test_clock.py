"""The system clock, clocks for tests, and deadlines on any clock."""

import asyncio
import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.testing.clocks import START, InstantClock, SkewedClock, VirtualClock


async def for_ever() -> None:
    await asyncio.Event().wait()


# --- Telling the time ------------------------------------------------------------------------------------------------


async def test_the_system_clock_returns_the_current_time():
    clock: Clock = SystemClock()
    assert clock.now().utcoffset() == timedelta(0)
    before = clock.monotonic()
    await clock.sleep(0)
    assert clock.monotonic() >= before


@pytest.mark.parametrize("clock", [SystemClock(), InstantClock(), VirtualClock()], ids=lambda each: type(each).__name__)
async def test_a_sleep_of_zero_seconds_yields_to_other_tasks(clock: Clock):
    turns = []
    other = asyncio.create_task(turn(turns))
    await clock.sleep(0)
    await clock.sleep(-1)
    assert turns == ["taken"]
    await other


async def turn(turns: list[str]) -> None:
    turns.append("taken")


async def test_an_instant_clock_records_its_sleeps_as_if_their_time_had_passed():
    clock = InstantClock()
    for delay in (0.8, 1.6, 3.2):
        await clock.sleep(delay)
    assert clock.slept == [0.8, 1.6, 3.2]
    assert clock.monotonic() == 5.6
    assert clock.now() == START + timedelta(seconds=clock.monotonic())


def test_the_day_on_which_a_stand_in_begins_can_be_chosen():
    day = datetime(1999, 12, 31, tzinfo=UTC)
    assert InstantClock(start=day).now() == VirtualClock(start=day).now() == day


# --- Virtual time ----------------------------------------------------------------------------------------------------


async def sleep_and_note(clock: VirtualClock, delay: float, woken: list[tuple[float, float]]) -> None:
    await clock.sleep(delay)
    woken.append((delay, clock.monotonic()))


@settings(deadline=None)  # the duration depends on the machine
@given(st.lists(st.integers(1, 20), max_size=5))
async def test_sleepers_wake_in_order_and_each_at_its_own_deadline(delays: list[int]):
    clock, woken = VirtualClock(), []
    async with asyncio.TaskGroup() as tasks:
        for delay in delays:
            tasks.create_task(sleep_and_note(clock, delay, woken))
        await clock.advance(20)
    assert woken == [(delay, delay) for delay in sorted(delays)]
    assert clock.monotonic() == 20


async def test_time_does_not_advance_by_itself():
    clock, woken = VirtualClock(), []
    task = asyncio.create_task(sleep_and_note(clock, 5, woken))
    await clock.advance(4.5)
    assert woken == []
    assert clock.sleeping == 1
    assert clock.next_deadline == 5
    await clock.advance(0.5)
    assert woken == [(5, 5)]
    assert clock.next_deadline is None
    await task


async def test_many_small_steps_are_as_far_as_one():
    clock = VirtualClock()
    task = asyncio.create_task(clock.sleep(1))
    for _ in range(10):
        await clock.advance(0.1)
    assert clock.monotonic() == 1
    assert task.done()


async def test_an_infinite_sleep_is_never_woken():
    clock = VirtualClock()
    task = asyncio.create_task(clock.sleep(math.inf))
    await clock.advance(1e9)
    assert clock.sleeping == 1
    task.cancel()


async def test_a_task_that_sleeps_repeatedly_wakes_repeatedly_while_time_advances():
    clock, rounds = VirtualClock(), []

    async def tick() -> None:
        while True:
            await clock.sleep(1)
            rounds.append(clock.monotonic())

    task = asyncio.create_task(tick())
    await clock.advance(3.5)
    task.cancel()
    assert rounds == [1, 2, 3]


async def test_a_jump_wakes_overdue_sleepers_late():
    clock, woken = VirtualClock(), []
    async with asyncio.TaskGroup() as tasks:
        for delay in (3, 1, 2):
            tasks.create_task(sleep_and_note(clock, delay, woken))
        await clock.wait_asleep(3)
        clock.jump(2)
        await clock.advance(0)
        assert woken == [(1, 2), (2, 2)]
        await clock.advance(1)
    assert woken == [(1, 2), (2, 2), (3, 3)]


async def test_waking_the_next_sleeper_returns_whether_there_was_one():
    clock, woken = VirtualClock(), []
    assert clock.wake_next() is False
    task = asyncio.create_task(sleep_and_note(clock, 5, woken))
    await clock.wait_asleep()
    assert clock.wake_next() is True
    await task
    assert woken == [(5, 5)]


async def test_a_cancelled_sleeper_is_forgotten():
    clock = VirtualClock()
    task = asyncio.create_task(clock.sleep(1))
    await clock.wait_asleep()
    task.cancel()
    await asyncio.wait([task])
    assert clock.sleeping == 0
    assert clock.next_deadline is None
    await clock.advance(2)
    assert task.cancelled()


async def test_one_can_wait_for_others_to_fall_asleep():
    clock, order = VirtualClock(), []

    async def sleep_soon() -> None:
        await asyncio.sleep(0)
        order.append("asleep")
        await clock.sleep(1)

    sleepers = [asyncio.create_task(sleep_soon()) for _ in range(2)]
    await clock.wait_asleep(2)
    order.append("noticed")
    assert order == ["asleep", "asleep", "noticed"]
    await clock.advance(1)
    await asyncio.gather(*sleepers)


async def test_a_clock_shows_its_state():
    clock = VirtualClock()
    task = asyncio.create_task(clock.sleep(1))
    await clock.wait_asleep()
    assert repr(clock) == "VirtualClock(monotonic=0.0, sleeping=1)"
    await clock.advance(1)
    await task
    assert repr(InstantClock()) == "InstantClock(monotonic=0.0, slept=[])"


# --- Time that moves by itself ---------------------------------------------------------------------------------------


def test_in_run_time_moves_whenever_all_are_asleep():
    clock, woken = VirtualClock(), []

    async def main() -> str:
        async with asyncio.TaskGroup() as tasks:
            for hours in (3, 1, 2):
                tasks.create_task(sleep_and_note(clock, hours * 3600, woken))
        return "done"

    assert clock.run(main()) == "done"
    assert woken == [(3600, 3600), (7200, 7200), (10800, 10800)]


def test_in_run_time_does_not_advance_while_a_task_is_ready():
    clock = VirtualClock()

    async def main() -> float:
        sleeper = asyncio.create_task(clock.sleep(1))
        for _ in range(1000):
            await asyncio.sleep(0)
        busy_until = clock.monotonic()
        await sleeper
        return busy_until

    assert clock.run(main()) == 0
    assert clock.monotonic() == 1


def test_in_run_a_thread_is_waited_for_as_long_as_patience_lasts():
    clock = VirtualClock()

    async def main() -> float:
        sleeper = asyncio.create_task(clock.sleep(1))
        await asyncio.to_thread(lambda: None)
        after_the_thread = clock.monotonic()
        sleeper.cancel()
        return after_the_thread

    assert clock.run(main(), patience=30) == 0


def test_in_run_real_timers_still_fire_without_sleepers():
    async def main() -> None:
        await asyncio.sleep(0.001)

    VirtualClock().run(main())


# --- Deadlines -------------------------------------------------------------------------------------------------------


async def stop_after(clock: Clock, delay: float | None) -> None:
    async with time_limit(clock, delay):
        await for_ever()


async def test_a_block_is_stopped_at_its_deadline_and_not_before():
    clock = VirtualClock()
    task = asyncio.create_task(stop_after(clock, 30))
    await clock.advance(29.9)
    assert not task.done()
    await clock.advance(0.1)
    with pytest.raises(TimeoutError):
        await task


async def test_a_limit_counts_from_the_moment_the_block_begins():
    clock = VirtualClock()
    with pytest.raises(TimeoutError):
        await suspended(clock)
    assert clock.monotonic() == 40


async def suspended(clock: VirtualClock) -> None:
    async with time_limit(clock, 30):
        clock.jump(40)
        await for_ever()


async def test_the_system_clock_keeps_deadlines_too():
    with pytest.raises(TimeoutError):
        await stop_after(SystemClock(), 0.001)


@pytest.mark.parametrize("delay", [0, -1])
async def test_a_deadline_in_the_past_stops_a_block_when_it_first_waits(delay: float):
    reached = []

    async def note_and_wait() -> None:
        async with time_limit(VirtualClock(), delay):
            reached.append("inside")
            await for_ever()

    with pytest.raises(TimeoutError):
        await note_and_wait()
    assert reached == ["inside"]


async def test_without_a_deadline_a_block_is_never_stopped():
    clock = VirtualClock()
    task = asyncio.create_task(stop_after(clock, None))
    await clock.advance(1e9)
    assert not task.done()
    task.cancel()


@pytest.mark.parametrize("delay", [30, None])
async def test_a_block_that_ends_before_its_deadline_leaks_nothing(delay: float | None):
    clock = VirtualClock()
    async with time_limit(clock, delay):
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert clock.sleeping == 0
    await clock.advance(60)


async def test_an_error_of_the_block_is_passed_on():
    with pytest.raises(KeyError):
        async with time_limit(VirtualClock(), 30):
            raise KeyError


async def test_a_cancellation_from_outside_stays_one():
    clock = VirtualClock()
    task = asyncio.create_task(stop_after(clock, 30))
    await clock.wait_asleep()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    await asyncio.sleep(0)
    assert clock.sleeping == 0


async def test_a_task_whose_block_was_stopped_is_not_being_cancelled():
    clock = VirtualClock()

    async def go_on_after_the_timeout() -> int:
        with pytest.raises(TimeoutError):
            await stop_after(clock, 1)
        await asyncio.sleep(0)
        return task.cancelling()

    task = asyncio.create_task(go_on_after_the_timeout())
    await clock.advance(1)
    assert await task == 0


@pytest.mark.parametrize(("outer", "inner", "stopped"), [(1, 2, ["outer"]), (2, 1, ["inner", "outer"])])
async def test_of_two_deadlines_each_stops_its_own_block(outer: float, inner: float, stopped: list[str]):
    clock, seen = VirtualClock(), []

    async def nested() -> None:
        try:
            async with time_limit(clock, outer):
                try:
                    await stop_after(clock, inner)
                except TimeoutError:
                    seen.append("inner")
                await for_ever()
        except TimeoutError:
            seen.append("outer")

    task = asyncio.create_task(nested())
    await clock.advance(3)
    assert seen == stopped
    await task


def test_a_deadline_works_where_time_moves_by_itself():
    clock = VirtualClock()

    async def main() -> float:
        with pytest.raises(TimeoutError):
            await stop_after(clock, 3600)
        return clock.monotonic()

    assert clock.run(main()) == 3600


# --- Another computer's clock -----------------------------------------------------------------------------------------


async def test_a_skewed_clock_runs_at_its_own_speed_and_shows_its_own_time():
    clock = VirtualClock()
    await clock.advance(100)
    skewed: Clock = SkewedClock(clock, rate=2.0, ahead=3600.0)
    assert skewed.monotonic() == 0
    assert skewed.now() == clock.now() + timedelta(hours=1)
    await clock.advance(10)
    assert skewed.monotonic() == 20
    assert skewed.now() == START + timedelta(seconds=100 + 20 + 3600)


async def test_a_sleep_on_a_skewed_clock_ends_by_that_clock():
    clock = VirtualClock()
    skewed = SkewedClock(clock, rate=0.5)
    sleeper = asyncio.create_task(skewed.sleep(10))
    await clock.advance(19.9)
    assert not sleeper.done()
    await clock.advance(0.1)
    assert sleeper.done()
    assert skewed.monotonic() == 10

"""The work queue as its users see it: what is given out, when, to whom, and how it ends."""

import asyncio
import gc
import math
import weakref
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

import listwatch as lw
from listwatch.errors import QueueShutDownError, UsageError, WaitTimeoutError
from listwatch.testing.clocks import InstantClock, VirtualClock
from listwatch.workqueue.queue import LOW_PRIORITY, WorkQueue
from listwatch.workqueue.queue_state import QueueState
from listwatch.workqueue.rate_limiters import ExponentialLimiter


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def queue(clock: VirtualClock) -> WorkQueue[str]:
    return WorkQueue(name="pods", clock=clock, limiter=ExponentialLimiter(initial=1.0, cap=8.0))


async def take_now(queue: WorkQueue[str]) -> str:
    """What can be had without waiting."""
    async with asyncio.timeout(0), queue.take() as item:
        return item


async def take_all(queue: WorkQueue[str]) -> list[str]:
    return [await take_now(queue) for _ in range(len(queue))]


# --- One after another ------------------------------------------------------------------------------------------------


async def test_items_are_given_out_in_the_order_in_which_they_came(queue: WorkQueue[str]):
    for item in ("one", "two", "three"):
        queue.add(item)
    assert await take_all(queue) == ["one", "two", "three"]


async def test_an_item_that_waits_is_not_added_again(queue: WorkQueue[str]):
    for item in ("one", "two", "one", "one"):
        queue.add(item)
    assert len(queue) == 2
    assert await take_all(queue) == ["one", "two"]
    assert len(queue) == 0


async def test_many_adds_while_an_item_is_in_work_make_one_more_turn(queue: WorkQueue[str]):
    queue.add("one")
    async with queue.take() as item:
        for _ in range(3):
            queue.add(item)
        assert len(queue) == 0
        assert queue.statistics().readded == 1
    assert await take_all(queue) == ["one"]
    assert queue.statistics().adds == 2


async def test_no_item_is_in_work_twice_at_once(queue: WorkQueue[str]):
    queue.add("one")
    await queue.get()
    queue.add("one")
    second = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    assert not second.done()
    queue.done("one")
    assert await second == "one"


async def test_an_item_is_done_whatever_happens_in_its_work(queue: WorkQueue[str]):
    async def fail() -> None:
        async with queue.take() as item:
            queue.add(item)
            raise ZeroDivisionError

    queue.add("one")
    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await take_all(queue) == ["one"]
    assert queue.statistics().processing == 0


async def test_an_item_can_come_back_after_it_is_done(queue: WorkQueue[str]):
    for _ in range(2):
        queue.add("one")
        assert await take_all(queue) == ["one"]


async def test_done_for_an_item_that_is_not_in_work_changes_nothing(queue: WorkQueue[str]):
    queue.add("one")
    queue.done("one")
    queue.done("stranger")
    assert await take_all(queue) == ["one"]


async def test_fifty_producers_and_ten_workers_lose_nothing_and_double_nothing(queue: WorkQueue[str]):
    in_work: set[str] = set()
    seen: list[str] = []

    async def produce(number: int) -> None:
        for each in range(50):
            queue.add(f"{number}-{each}")
            await asyncio.sleep(0)

    async def work() -> None:
        while True:
            async with queue.take() as item:
                assert item not in in_work
                in_work.add(item)
                await asyncio.sleep(0)
                seen.append(item)
                in_work.remove(item)

    workers = [asyncio.create_task(work()) for _ in range(10)]
    await asyncio.gather(*(produce(number) for number in range(50)))
    await queue.drain()
    ended = await asyncio.gather(*workers, return_exceptions=True)
    assert {type(each) for each in ended} == {QueueShutDownError}
    assert len(seen) == len(set(seen)) == 2500


async def test_the_queue_keeps_nothing_that_was_taken_and_done(clock: VirtualClock):
    class Key:
        pass

    queue: WorkQueue[Key] = WorkQueue(clock=clock)
    for priority in (LOW_PRIORITY, 0):
        key = Key()
        queue.add(key, priority=LOW_PRIORITY)
        queue.add(key, priority=priority)
        async with queue.take():
            queue.add(key)
        async with queue.take():
            pass
        kept = weakref.ref(key)
        del key
        gc.collect()
        assert kept() is None


# --- Those who wait ---------------------------------------------------------------------------------------------------


async def test_who_waits_is_given_what_comes(queue: WorkQueue[str]):
    takers = [asyncio.create_task(queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    for item in ("one", "two", "three"):
        queue.add(item)
    assert await asyncio.gather(*takers) == ["one", "two", "three"]


async def test_who_stops_waiting_takes_no_item_with_it(queue: WorkQueue[str]):
    gone, other = asyncio.create_task(queue.get()), asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.add("one")
    gone.cancel()  # it has been woken for the item, and has not run yet
    assert await other == "one"
    assert gone.cancelled()


async def test_who_is_late_to_an_item_waits_for_the_next(queue: WorkQueue[str]):
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.add("one")
    assert await take_now(queue) == "one"
    await asyncio.sleep(0)
    queue.add("two")
    assert await waiting == "two"


async def test_a_queue_has_no_task_of_its_own(queue: WorkQueue[str], clock: VirtualClock):
    queue.add_after("later", 5)
    queue.add("one")
    await take_now(queue)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert clock.sleeping == 0


async def test_only_one_of_many_takers_watches_the_clock(queue: WorkQueue[str], clock: VirtualClock):
    takers = [asyncio.create_task(queue.get()) for _ in range(5)]
    await asyncio.sleep(0)
    for number in range(5):
        queue.add_after(str(number), 1.0 + number)
    await clock.advance(0.5)
    assert clock.sleeping == 1
    await clock.advance(5)
    assert {taker.result() for taker in takers} == {"0", "1", "2", "3", "4"}


async def test_when_the_one_who_watches_the_clock_leaves_another_does(queue: WorkQueue[str], clock: VirtualClock):
    queue.add_after("later", 5)
    first, second = asyncio.create_task(queue.get()), asyncio.create_task(queue.get())
    await clock.advance(1)
    first.cancel()
    await clock.advance(4)
    assert second.result() == "later"


# --- Later ------------------------------------------------------------------------------------------------------------


async def test_a_delayed_item_comes_when_its_time_has_come_and_not_before(queue: WorkQueue[str], clock: VirtualClock):
    queue.add_after("one", 50)
    taker = asyncio.create_task(queue.get())
    await clock.advance(49.999)
    assert not taker.done()
    assert (len(queue), queue.statistics().delayed) == (0, 1)
    await clock.advance(0.001)
    assert taker.result() == "one"
    assert queue.statistics().delayed == 0


async def test_the_earlier_of_two_times_holds(queue: WorkQueue[str], clock: VirtualClock):
    for delay in (50, 30, 70):
        queue.add_after("one", delay)
    await clock.advance(30)
    assert await take_all(queue) == ["one"]
    await clock.advance(1000)
    assert len(queue) == 0


async def test_an_earlier_time_wakes_who_waits_for_a_later_one(queue: WorkQueue[str], clock: VirtualClock):
    queue.add_after("slow", 50)
    taker = asyncio.create_task(queue.get())
    await clock.advance(1)
    queue.add_after("quick", 1)
    await clock.advance(1)
    assert taker.result() == "quick"


async def test_items_that_are_ready_at_once_come_in_the_order_of_their_times(
    queue: WorkQueue[str], clock: VirtualClock
):
    for item, delay in (("first", 1.0), ("second", 0.5), ("third", 0.25)):
        queue.add_after(item, delay)
    clock.jump(2)
    queue.add("fresh")
    assert await take_all(queue) == ["third", "second", "first", "fresh"]


async def test_an_item_may_wait_now_and_be_delayed_as_well(queue: WorkQueue[str], clock: VirtualClock):
    queue.add_after("one", 5)
    queue.add("one")
    assert await take_all(queue) == ["one"]
    await clock.advance(5)
    assert await take_all(queue) == ["one"]


async def test_an_item_whose_time_comes_while_it_is_in_work_has_another_turn(
    queue: WorkQueue[str], clock: VirtualClock
):
    queue.add("one")
    async with queue.take() as item:
        queue.add_after(item, 5)
        await clock.advance(6)
        assert queue.statistics().readded == 1
    assert await take_all(queue) == ["one"]


async def test_a_time_that_has_come_does_not_stand_for_a_later_one(queue: WorkQueue[str], clock: VirtualClock):
    queue.add_after("one", 1)
    clock.jump(2)  # nobody looked when the time came
    queue.add_after("one", 5)
    assert await take_all(queue) == ["one"]
    await clock.advance(5)
    assert await take_all(queue) == ["one"]


@pytest.mark.parametrize("delay", [0, 0.0, -3])
async def test_no_delay_is_an_add(queue: WorkQueue[str], delay: float):
    queue.add_after("one", delay)
    assert await take_all(queue) == ["one"]


async def test_a_delay_is_not_cut_short_by_a_clock_that_counts_in_steps(queue: WorkQueue[str], clock: VirtualClock):
    queue.add_after("one", 1 / 3)
    taker = asyncio.create_task(queue.get())
    await clock.advance(1)
    assert taker.result() == "one"
    assert queue.statistics().queue_duration.longest <= 1e-5


async def test_moving_a_time_forward_often_does_not_fill_the_memory(queue: WorkQueue[str]):
    for step in range(100_000, 0, -1):
        queue.add_after("one", float(step))
    assert len(queue._state._ready_times) < 200
    assert queue._state.next_ready() == 1.0


async def test_who_waits_with_a_clock_that_never_sleeps_is_served_at_once():
    clock = InstantClock()
    queue: WorkQueue[str] = WorkQueue(clock=clock)
    queue.add_after("one", 60)
    assert await queue.get() == "one"
    assert clock.monotonic() == 60


# --- Again ------------------------------------------------------------------------------------------------------------


async def test_a_failing_item_waits_longer_each_time_until_it_is_forgotten(queue: WorkQueue[str], clock: VirtualClock):
    for delay in (1.0, 2.0, 4.0, 8.0, 8.0):
        queue.add_rate_limited("one")
        await clock.advance(delay - 0.5)
        assert len(queue) == 0
        await clock.advance(0.5)
        assert await take_all(queue) == ["one"]
    assert queue.requeues("one") == 5
    queue.forget("one")
    assert queue.requeues("one") == 0
    queue.add_rate_limited("one")
    await clock.advance(1)
    assert await take_all(queue) == ["one"]
    assert queue.statistics().retries == 6


async def test_forgetting_an_item_leaves_it_in_the_queue(queue: WorkQueue[str], clock: VirtualClock):
    queue.add_rate_limited("one")
    queue.add("two")
    queue.forget("one")
    queue.forget("two")
    await clock.advance(1)
    assert await take_all(queue) == ["two", "one"]


async def test_the_default_limiter_begins_at_five_milliseconds(clock: VirtualClock):
    queue: WorkQueue[str] = WorkQueue(clock=clock)
    queue.add_rate_limited("one")
    assert queue._state.next_ready() == 0.005


# --- Priorities -------------------------------------------------------------------------------------------------------


async def test_what_matters_more_goes_first(queue: WorkQueue[str]):
    queue.add("listed", priority=LOW_PRIORITY)
    queue.add("changed")
    queue.add("urgent", priority=10)
    assert await take_all(queue) == ["urgent", "changed", "listed"]


async def test_an_item_that_is_wanted_more_moves_forward_and_never_back(queue: WorkQueue[str]):
    for item in ("one", "two", "three"):
        queue.add(item, priority=LOW_PRIORITY)
    queue.add("three")
    queue.add("three", priority=LOW_PRIORITY)
    assert await take_all(queue) == ["three", "one", "two"]


async def test_an_item_that_moved_forward_is_given_out_once(queue: WorkQueue[str]):
    for item in ("one", "two"):
        queue.add(item, priority=LOW_PRIORITY)
    queue.add("one")
    assert await take_all(queue) == ["one", "two"]
    assert queue.statistics().taken == 2


async def test_the_priority_of_an_item_in_work_counts_for_its_next_turn(queue: WorkQueue[str]):
    queue.add("one")
    async with queue.take() as item:
        queue.add(item, priority=LOW_PRIORITY)
        queue.add(item, priority=5)
        queue.add("two")
    assert await take_all(queue) == ["one", "two"]


async def test_the_priority_of_a_delayed_item_is_the_highest_it_was_given(queue: WorkQueue[str], clock: VirtualClock):
    queue.add_after("one", 5, priority=LOW_PRIORITY)
    queue.add_after("one", 9, priority=3)
    queue.add_after("one", 4)
    await clock.advance(4)
    queue.add("two", priority=2)
    assert await take_all(queue) == ["one", "two"]


async def test_every_eighth_item_is_the_one_that_waited_longest(queue: WorkQueue[str]):
    for item in ("old", "older"):
        queue.add(item, priority=LOW_PRIORITY)
    taken = []
    for number in range(20):
        queue.add(f"new {number}")
        queue.add(f"newer {number}")
        taken.append(await take_now(queue))
    assert [taken.index(item) for item in ("old", "older")] == [7, 15]


async def test_a_list_of_many_does_not_hold_up_what_changes_meanwhile(queue: WorkQueue[str]):
    for number in range(10_000):
        queue.add(f"listed {number}", priority=LOW_PRIORITY)
    for number in range(100):
        queue.add(f"changed {number}")
        assert f"changed {number}" in [await take_now(queue), await take_now(queue)]


# --- The end ----------------------------------------------------------------------------------------------------------


async def test_a_shut_down_queue_takes_nothing_and_gives_out_what_is_left(queue: WorkQueue[str], clock: VirtualClock):
    queue.add("one")
    queue.add_after("never", 5)
    queue.add_after("ready", 1)
    clock.jump(1)
    queue.shut_down()
    queue.add("two")
    queue.add_after("three", 1)
    assert await take_all(queue) == ["one", "ready"]
    with pytest.raises(QueueShutDownError, match="work queue 'pods' was shut down"):
        await queue.get()
    await clock.advance(10)
    assert len(queue) == 0
    statistics = queue.statistics()
    assert (statistics.rejected, statistics.retries, statistics.delayed) == (2, 2, 0)


async def test_those_who_wait_are_told_of_the_end(queue: WorkQueue[str]):
    queue.add_after("never", 5)
    takers = [asyncio.create_task(queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    queue.shut_down()
    queue.shut_down()
    ended = await asyncio.gather(*takers, return_exceptions=True)
    assert [type(each) for each in ended] == [QueueShutDownError] * 3
    assert queue.is_shut_down


async def test_a_drain_waits_for_what_is_in_work(queue: WorkQueue[str]):
    queue.add("one")
    queue.add("two")
    held = [await queue.get(), await queue.get()]
    draining = asyncio.create_task(queue.drain())
    for item in held:
        await asyncio.sleep(0)
        assert not draining.done()
        queue.done(item)
    await draining


async def test_a_drain_waits_for_what_nobody_has_taken_yet(queue: WorkQueue[str]):
    queue.add("one")
    draining = asyncio.create_task(queue.drain())
    await asyncio.sleep(0)
    assert not draining.done()
    assert await take_all(queue) == ["one"]
    await draining


async def test_a_drain_waits_for_another_turn_of_what_is_in_work(queue: WorkQueue[str]):
    queue.add("one")
    item = await queue.get()
    queue.add(item)
    draining = asyncio.create_task(queue.drain())
    await asyncio.sleep(0)
    queue.done(item)
    await asyncio.sleep(0)
    assert not draining.done()
    assert await take_all(queue) == ["one"]
    await draining


async def test_a_shut_down_does_not_wait_and_ends_a_drain(queue: WorkQueue[str]):
    queue.add("one")
    await queue.get()
    draining = asyncio.create_task(queue.drain())
    await asyncio.sleep(0)
    queue.shut_down()
    await draining
    assert queue.statistics().processing == 1


async def test_a_drain_after_a_shut_down_still_waits(queue: WorkQueue[str]):
    queue.add("one")
    item = await queue.get()
    queue.shut_down()
    draining = asyncio.create_task(queue.drain())
    await asyncio.sleep(0)
    assert not draining.done()
    queue.done(item)
    await draining


async def test_a_drain_that_takes_too_long_says_what_is_left(queue: WorkQueue[str], clock: VirtualClock):
    queue.add("one")
    draining = asyncio.create_task(queue.drain(timeout=30))
    await clock.advance(30)
    with pytest.raises(WaitTimeoutError, match=r"'pods': 1 waiting, 0 in process, .* not drained within 30 s"):
        await draining


async def test_an_empty_queue_is_drained_at_once(queue: WorkQueue[str]):
    queue.add_after("never", 5)
    await queue.drain()
    assert queue.is_shut_down


# --- Numbers ----------------------------------------------------------------------------------------------------------


async def test_the_statistics_tell_what_client_go_measures(queue: WorkQueue[str], clock: VirtualClock):
    queue.add("one")
    await clock.advance(0.05)
    await queue.get()
    queue.add("one")
    await clock.advance(0.02)
    now = queue.statistics()
    assert (now.name, now.depth, now.processing, now.readded, now.adds, now.taken) == ("pods", 0, 1, 1, 2, 1)
    assert (now.longest_running, now.unfinished) == pytest.approx((0.02, 0.02))
    assert now.queue_duration.total == pytest.approx(0.05)
    assert now.work_duration.count == 0
    queue.done("one")
    await clock.advance(0.01)
    await queue.get()
    now = queue.statistics()
    assert (now.queue_duration.count, now.queue_duration.longest) == (2, 0.05)
    assert (now.work_duration.count, now.work_duration.mean) == (1, pytest.approx(0.02))
    assert now.queue_duration.buckets == (0, 0, 0, 0, 0, 0, 0, 2, 2, 2)
    assert (now.longest_running, now.unfinished) == (0.0, 0.0)


async def test_several_at_work_are_unfinished_together(queue: WorkQueue[str], clock: VirtualClock):
    for item in ("one", "two"):
        queue.add(item)
        await queue.get()
        await clock.advance(1)
    assert (queue.statistics().longest_running, queue.statistics().unfinished) == (2, 3)


async def test_a_queue_shows_its_state(queue: WorkQueue[str]):
    queue.add("one")
    queue.add("two")
    queue.add_after("three", 5)
    await queue.get()
    assert repr(queue) == "<WorkQueue 'pods': 1 waiting, 1 in process, 1 delayed>"
    queue.shut_down()
    assert repr(queue) == "<WorkQueue 'pods': 1 waiting, 1 in process, 0 delayed, shut down>"


MOMENTS = st.sampled_from([0.0, 0.5, 1.0, 2.0])
STEPS = st.tuples(st.sampled_from(["add", "add_after", "take", "done"]), st.sampled_from("abcd"), MOMENTS)


@given(st.lists(STEPS, max_size=20), st.sampled_from([2.0, 2.5, 9.0]))
def test_who_reads_the_numbers_changes_nothing_and_counts_what_is_ready_by_now(
    steps: list[tuple[str, str, float]], now: float
):
    state: QueueState[str] = QueueState()
    for step, item, moment in sorted(steps, key=lambda each: each[2]):
        match step:
            case "add":
                state.add(item, priority=0, now=moment)
            case "add_after":
                state.add_after(item, 0.25 + moment, priority=0, now=moment)
            case "take":
                state.take(moment)
            case "done":
                state.done(item, now=moment)
    untouched = deepcopy(state)
    read, depth = state.statistics(name="", now=now), state.depth(now)
    assert (state.next_ready(), len(state)) == (untouched.next_ready(), len(untouched))
    untouched.catch_up(now)
    assert read == untouched.statistics(name="", now=now)
    assert depth == read.depth == len(untouched)


# --- What cannot be ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["add", "add_after", "add_rate_limited", "forget", "requeues"])
async def test_an_item_that_cannot_be_hashed_is_refused_with_the_way_out(clock: VirtualClock, way: str):
    queue: WorkQueue[list[str]] = WorkQueue(clock=clock)
    arguments = {"add_after": (["web"], 5)}.get(way, (["web"],))
    with pytest.raises(UsageError, match=r"cannot add \['web'\] to a work queue: a list is not hashable; add a key"):
        getattr(queue, way)(*arguments)
    assert queue.statistics().adds == queue.statistics().delayed == 0


async def test_an_error_in_the_equality_of_items_is_not_taken_for_another(clock: VirtualClock):
    class Odd:
        def __hash__(self) -> int:
            return 1

        def __eq__(self, other: object) -> bool:
            raise TypeError("cannot be compared")

    queue: WorkQueue[Odd] = WorkQueue(clock=clock)
    queue.add(Odd())
    with pytest.raises(TypeError, match="cannot be compared"):
        queue.add(Odd())


@pytest.mark.parametrize("delay", [math.nan, math.inf, -math.inf, "5", None])
async def test_a_delay_that_never_ends_is_refused(queue: WorkQueue[str], delay: float):
    with pytest.raises(UsageError, match="cannot add 'one' to a work queue after"):
        queue.add_after("one", delay)


async def test_a_priority_that_cannot_be_compared_is_refused_before_it_stands_among_others(queue: WorkQueue[str]):
    queue.add("one")
    with pytest.raises(UsageError, match="cannot add 'two' to a work queue with priority='high'"):
        queue.add("two", priority="high")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(UsageError, match="cannot add 'two' to a work queue with priority=None"):
        queue.add_after("two", 5, priority=None)  # type: ignore[arg-type]  # on purpose
    async with queue.take() as item:
        assert item == "one"


def test_it_is_a_public_name():
    assert lw.WorkQueue is WorkQueue

"""The work queue: deduplication, waiting workers, delays, rate limits, priorities, shutdown, statistics."""

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


async def test_items_are_taken_in_the_order_in_which_they_were_added(queue: WorkQueue[str]):
    for item in ("one", "two", "three"):
        queue.add(item)
    assert await take_all(queue) == ["one", "two", "three"]


async def test_a_waiting_item_is_not_added_twice(queue: WorkQueue[str]):
    for item in ("one", "two", "one", "one"):
        queue.add(item)
    assert len(queue) == 2
    assert await take_all(queue) == ["one", "two"]
    assert len(queue) == 0


async def test_many_adds_of_an_item_in_process_requeue_it_once(queue: WorkQueue[str]):
    queue.add("one")
    async with queue.take() as item:
        for _ in range(3):
            queue.add(item)
        assert len(queue) == 0
        assert queue.statistics().readded == 1
    assert await take_all(queue) == ["one"]
    assert queue.statistics().adds == 2


async def test_no_item_is_processed_concurrently(queue: WorkQueue[str]):
    queue.add("one")
    await queue.get()
    queue.add("one")
    second = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    assert not second.done()
    queue.done("one")
    assert await second == "one"


async def test_an_item_is_done_even_if_its_processing_fails(queue: WorkQueue[str]):
    async def fail() -> None:
        async with queue.take() as item:
            queue.add(item)
            raise ZeroDivisionError

    queue.add("one")
    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await take_all(queue) == ["one"]
    assert queue.statistics().processing == 0


async def test_an_item_can_be_added_again_after_it_is_done(queue: WorkQueue[str]):
    for _ in range(2):
        queue.add("one")
        assert await take_all(queue) == ["one"]


async def test_done_for_an_item_that_is_not_in_process_changes_nothing(queue: WorkQueue[str]):
    queue.add("one")
    queue.done("one")
    queue.done("unknown")
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


# --- Waiting workers --------------------------------------------------------------------------------------------------


async def test_a_waiting_worker_gets_an_added_item(queue: WorkQueue[str]):
    takers = [asyncio.create_task(queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    for item in ("one", "two", "three"):
        queue.add(item)
    assert await asyncio.gather(*takers) == ["one", "two", "three"]


async def test_a_cancelled_worker_loses_no_item(queue: WorkQueue[str]):
    gone, other = asyncio.create_task(queue.get()), asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.add("one")
    gone.cancel()  # it has been woken for the item, and has not run yet
    assert await other == "one"
    assert gone.cancelled()


async def test_a_worker_that_finds_its_item_taken_waits_for_the_next(queue: WorkQueue[str]):
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


async def test_only_one_waiting_worker_sets_a_timer(queue: WorkQueue[str], clock: VirtualClock):
    takers = [asyncio.create_task(queue.get()) for _ in range(5)]
    await asyncio.sleep(0)
    for number in range(5):
        queue.add_after(str(number), 1.0 + number)
    await clock.advance(0.5)
    assert clock.sleeping == 1
    await clock.advance(5)
    assert {taker.result() for taker in takers} == {"0", "1", "2", "3", "4"}


async def test_another_worker_takes_over_the_timer_of_a_cancelled_one(queue: WorkQueue[str], clock: VirtualClock):
    queue.add_after("later", 5)
    first, second = asyncio.create_task(queue.get()), asyncio.create_task(queue.get())
    await clock.advance(1)
    first.cancel()
    await clock.advance(4)
    assert second.result() == "later"


# --- Later ------------------------------------------------------------------------------------------------------------


async def test_a_delayed_item_is_added_after_its_delay_and_not_before(queue: WorkQueue[str], clock: VirtualClock):
    queue.add_after("one", 50)
    taker = asyncio.create_task(queue.get())
    await clock.advance(49.999)
    assert not taker.done()
    assert (len(queue), queue.statistics().delayed) == (0, 1)
    await clock.advance(0.001)
    assert taker.result() == "one"
    assert queue.statistics().delayed == 0


async def test_the_earlier_of_two_delays_counts(queue: WorkQueue[str], clock: VirtualClock):
    for delay in (50, 30, 70):
        queue.add_after("one", delay)
    await clock.advance(30)
    assert await take_all(queue) == ["one"]
    await clock.advance(1000)
    assert len(queue) == 0


async def test_a_shorter_delay_wakes_a_worker_that_waits_for_a_longer_one(queue: WorkQueue[str], clock: VirtualClock):
    queue.add_after("slow", 50)
    taker = asyncio.create_task(queue.get())
    await clock.advance(1)
    queue.add_after("quick", 1)
    await clock.advance(1)
    assert taker.result() == "quick"


async def test_items_that_became_ready_are_added_in_the_order_of_their_times(
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


async def test_an_item_whose_delay_ends_while_it_is_in_process_is_requeued(queue: WorkQueue[str], clock: VirtualClock):
    queue.add("one")
    async with queue.take() as item:
        queue.add_after(item, 5)
        await clock.advance(6)
        assert queue.statistics().readded == 1
    assert await take_all(queue) == ["one"]


async def test_a_delay_that_ended_does_not_replace_a_later_one(queue: WorkQueue[str], clock: VirtualClock):
    queue.add_after("one", 1)
    clock.jump(2)  # no call happened when the delay ended
    queue.add_after("one", 5)
    assert await take_all(queue) == ["one"]
    await clock.advance(5)
    assert await take_all(queue) == ["one"]


@pytest.mark.parametrize("delay", [0, 0.0, -3])
async def test_a_delay_of_zero_adds_at_once(queue: WorkQueue[str], delay: float):
    queue.add_after("one", delay)
    assert await take_all(queue) == ["one"]


async def test_a_coarse_clock_does_not_shorten_a_delay(queue: WorkQueue[str], clock: VirtualClock):
    queue.add_after("one", 1 / 3)
    taker = asyncio.create_task(queue.get())
    await clock.advance(1)
    assert taker.result() == "one"
    assert queue.statistics().queue_duration.largest <= 1e-5


async def test_shortening_a_delay_often_does_not_grow_the_heap(queue: WorkQueue[str]):
    for step in range(100_000, 0, -1):
        queue.add_after("one", float(step))
    assert len(queue._state._ready_times) < 200
    assert queue._state.next_ready() == 1.0


async def test_a_clock_that_never_sleeps_delivers_delayed_items_at_once():
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


async def test_the_default_limiter_starts_at_five_milliseconds(clock: VirtualClock):
    queue: WorkQueue[str] = WorkQueue(clock=clock)
    queue.add_rate_limited("one")
    assert queue._state.next_ready() == 0.005


# --- Priorities -------------------------------------------------------------------------------------------------------


async def test_items_of_higher_priority_come_first(queue: WorkQueue[str]):
    queue.add("listed", priority=LOW_PRIORITY)
    queue.add("changed")
    queue.add("urgent", priority=10)
    assert await take_all(queue) == ["urgent", "changed", "listed"]


async def test_the_priority_of_a_waiting_item_is_raised_and_never_lowered(queue: WorkQueue[str]):
    for item in ("one", "two", "three"):
        queue.add(item, priority=LOW_PRIORITY)
    queue.add("three")
    queue.add("three", priority=LOW_PRIORITY)
    assert await take_all(queue) == ["three", "one", "two"]


async def test_an_item_whose_priority_was_raised_is_taken_once(queue: WorkQueue[str]):
    for item in ("one", "two"):
        queue.add(item, priority=LOW_PRIORITY)
    queue.add("one")
    assert await take_all(queue) == ["one", "two"]
    assert queue.statistics().taken == 2


async def test_the_priority_of_an_item_added_while_in_process_counts_when_it_is_requeued(queue: WorkQueue[str]):
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


async def test_every_eighth_item_is_the_oldest(queue: WorkQueue[str]):
    for item in ("old", "older"):
        queue.add(item, priority=LOW_PRIORITY)
    taken = []
    for number in range(20):
        queue.add(f"new {number}")
        queue.add(f"newer {number}")
        taken.append(await take_now(queue))
    assert [taken.index(item) for item in ("old", "older")] == [7, 15]


async def test_a_long_initial_list_does_not_delay_changes(queue: WorkQueue[str]):
    for number in range(10_000):
        queue.add(f"listed {number}", priority=LOW_PRIORITY)
    for number in range(100):
        queue.add(f"changed {number}")
        assert f"changed {number}" in [await take_now(queue), await take_now(queue)]


# --- The end ----------------------------------------------------------------------------------------------------------


async def test_a_shut_down_queue_rejects_items_and_delivers_waiting_ones(queue: WorkQueue[str], clock: VirtualClock):
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


async def test_waiting_workers_are_woken_by_the_shutdown(queue: WorkQueue[str]):
    queue.add_after("never", 5)
    takers = [asyncio.create_task(queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    queue.shut_down()
    queue.shut_down()
    ended = await asyncio.gather(*takers, return_exceptions=True)
    assert [type(each) for each in ended] == [QueueShutDownError] * 3
    assert queue.is_shut_down


async def test_a_drain_waits_for_items_in_process(queue: WorkQueue[str]):
    queue.add("one")
    queue.add("two")
    held = [await queue.get(), await queue.get()]
    draining = asyncio.create_task(queue.drain())
    for item in held:
        await asyncio.sleep(0)
        assert not draining.done()
        queue.done(item)
    await draining


async def test_a_worker_that_drains_its_queue_gets_an_error(queue: WorkQueue[str]):
    queue.add("one")
    async with queue.take():
        with pytest.raises(UsageError, match=r"inside take\(\) and would wait for the item taken"):
            await queue.drain(timeout=5)
        assert not queue.is_shut_down
        draining = asyncio.create_task(queue.drain())
        await asyncio.sleep(0)
        assert not draining.done()
    await draining


async def test_a_drain_waits_for_items_that_were_not_taken_yet(queue: WorkQueue[str]):
    queue.add("one")
    draining = asyncio.create_task(queue.drain())
    await asyncio.sleep(0)
    assert not draining.done()
    assert await take_all(queue) == ["one"]
    await draining


async def test_a_drain_waits_for_items_that_were_added_again_while_in_process(queue: WorkQueue[str]):
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


async def test_a_drain_that_times_out_names_the_remaining_items(queue: WorkQueue[str], clock: VirtualClock):
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


async def test_the_statistics_contain_what_client_go_measures(queue: WorkQueue[str], clock: VirtualClock):
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
    assert (now.queue_duration.count, now.queue_duration.largest) == (2, 0.05)
    assert (now.work_duration.count, now.work_duration.mean) == (1, pytest.approx(0.02))
    assert now.queue_duration.buckets == (0, 0, 0, 0, 0, 0, 0, 2, 2, 2)
    assert (now.longest_running, now.unfinished) == (0.0, 0.0)


async def test_unfinished_work_is_the_sum_over_items_in_process(queue: WorkQueue[str], clock: VirtualClock):
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
def test_statistics_change_nothing_and_include_items_that_became_ready(steps: list[tuple[str, str, float]], now: float):
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
async def test_an_unhashable_item_is_refused_with_advice(clock: VirtualClock, way: str):
    queue: WorkQueue[list[str]] = WorkQueue(clock=clock)
    arguments = {"add_after": (["web"], 5)}.get(way, (["web"],))
    with pytest.raises(UsageError, match=r"cannot add \['web'\] to a work queue: a list is not hashable; add a key"):
        getattr(queue, way)(*arguments)
    assert queue.statistics().adds == queue.statistics().delayed == 0


async def test_a_type_error_in_the_equality_of_items_is_raised_as_it_is(clock: VirtualClock):
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
async def test_a_delay_that_is_not_finite_is_refused(queue: WorkQueue[str], delay: float):
    with pytest.raises(UsageError, match="cannot add 'one' to a work queue after"):
        queue.add_after("one", delay)


async def test_an_invalid_priority_is_refused_and_leaves_the_queue_usable(queue: WorkQueue[str]):
    queue.add("one")
    with pytest.raises(UsageError, match="cannot add 'two' to a work queue with priority='high'"):
        queue.add("two", priority="high")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(UsageError, match="cannot add 'two' to a work queue with priority=None"):
        queue.add_after("two", 5, priority=None)  # type: ignore[arg-type]  # on purpose
    async with queue.take() as item:
        assert item == "one"


def test_the_work_queue_is_a_public_name():
    assert lw.WorkQueue is WorkQueue


async def test_all_matching_items_are_removed_although_the_limiter_fails():
    class Broken(ExponentialLimiter[str]):
        def forget(self, item: str) -> None:
            raise OSError(item)

    queue: WorkQueue[str] = WorkQueue(limiter=Broken())
    queue.add("a")
    queue.add("b")
    assert queue._discard(lambda _: True) == ["a", "b"]
    assert len(queue) == 0

"""The blocking work queue."""

import asyncio
import signal
import threading
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch import blocking
from listwatch.errors import QueueShutDownError, UsageError, WaitTimeoutError
from listwatch.workqueue.queue import LOW_PRIORITY, WorkQueue
from listwatch.workqueue.rate_limiters import ExponentialLimiter, FastSlowLimiter


def in_thread(function, *arguments) -> threading.Thread:
    thread = threading.Thread(target=function, args=arguments)
    thread.start()
    return thread


def test_no_two_threads_have_the_same_item():
    queue: blocking.WorkQueue[str] = blocking.WorkQueue(name="keys")
    lock, in_work, done = threading.Lock(), set(), Counter()

    def work() -> None:
        while True:
            try:
                with queue.take() as item:
                    with lock:
                        assert item not in in_work
                        in_work.add(item)
                    with lock:
                        in_work.remove(item)
                        done[item] += 1
            except QueueShutDownError:
                return

    workers = [in_thread(work) for _ in range(4)]
    for number in range(200):
        queue.add(f"key {number % 50}")
    queue.drain()
    for worker in workers:
        worker.join()
    assert set(done) == {f"key {number}" for number in range(50)}
    assert queue.statistics().taken == done.total()
    assert len(queue) == 0


def test_a_delayed_item_reaches_a_waiting_thread():
    queue: blocking.WorkQueue[str] = blocking.WorkQueue(limiter=ExponentialLimiter(initial=0.001))
    taken: list[str] = []

    def work() -> None:
        with queue.take() as item:
            taken.append(item)

    worker = in_thread(work)
    queue.add_rate_limited("one")
    worker.join()
    assert taken == ["one"]
    assert queue.requeues("one") == 1
    queue.forget("one")
    assert queue.requeues("one") == 0


def test_an_item_is_done_when_its_work_fails():
    queue: blocking.WorkQueue[str] = blocking.WorkQueue(name="keys")

    def fail() -> None:
        with queue.take():
            raise ZeroDivisionError

    queue.add("one")
    with pytest.raises(ZeroDivisionError):
        fail()
    assert queue.statistics().processing == 0
    assert repr(queue) == "<blocking WorkQueue 'keys': 0 waiting, 0 in process, 0 delayed>"


def test_an_interrupted_get_takes_no_item():
    queue: blocking.WorkQueue[str] = blocking.WorkQueue()
    before = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    try:
        with pytest.raises(KeyboardInterrupt):
            queue.get()
    finally:
        signal.signal(signal.SIGALRM, before)
    queue.add("one")
    assert queue.get() == "one"


def test_drain_waits_until_items_in_work_are_done():
    queue: blocking.WorkQueue[str] = blocking.WorkQueue(name="keys")
    queue.add("one")
    queue.get()
    with pytest.raises(WaitTimeoutError, match=r"'keys': 0 waiting, 1 in process, .* not drained within 0.001 s"):
        queue.drain(timeout=0.001)
    draining = in_thread(queue.drain)
    queue.done("one")
    draining.join()
    queue.shut_down()
    queue.drain()


def test_shut_down_ends_a_drain():
    queue: blocking.WorkQueue[str] = blocking.WorkQueue()
    queue.add("one")
    draining = in_thread(queue.drain)
    while not queue.is_shut_down:
        pass
    queue.shut_down()
    draining.join()
    assert len(queue) == 1


def test_shut_down_ends_a_waiting_get():
    queue: blocking.WorkQueue[str] = blocking.WorkQueue()
    ended = threading.Event()

    def work() -> None:
        try:
            queue.get()
        except QueueShutDownError:
            ended.set()

    worker = in_thread(work)
    queue.shut_down()
    worker.join()
    assert ended.is_set()
    assert queue.is_shut_down


def test_an_unhashable_item_is_refused():
    with pytest.raises(UsageError, match="a list is not hashable"):
        blocking.WorkQueue().add([])


async def test_get_refuses_to_block_an_event_loop():
    with pytest.raises(UsageError, match=r"use listwatch.WorkQueue with `await`"):
        blocking.WorkQueue().get()


STEPS = st.one_of(
    st.tuples(st.just("add"), st.sampled_from("abcd"), st.sampled_from([LOW_PRIORITY, 0, 5])),
    st.tuples(st.sampled_from(["take", "done", "fail", "forget", "shut_down"]), st.sampled_from("abcd"), st.just(0)),
)


@given(st.lists(STEPS, max_size=40))
async def test_the_blocking_and_the_asynchronous_queue_return_the_same_items(steps: list[tuple[str, str, int]]):
    at_once = {"fast": 0.0, "slow": 0.0, "fast_tries": 0}
    theirs: WorkQueue[str] = WorkQueue(name="same", limiter=FastSlowLimiter(**at_once))
    ours: blocking.WorkQueue[str] = blocking.WorkQueue(name="same", limiter=FastSlowLimiter(**at_once))
    for step, item, priority in steps:
        match step:
            case "add":
                theirs.add(item, priority=priority)
                ours.add(item, priority=priority)
            case "take" if len(theirs):
                assert await theirs.get() == await asyncio.to_thread(ours.get)
            case "fail":
                for queue in (theirs, ours):
                    queue.add_rate_limited(item)
                    queue.done(item)
            case "done" | "forget":
                for queue in (theirs, ours):
                    getattr(queue, step)(item)
            case "shut_down" if len(theirs) > 3:
                theirs.shut_down()
                ours.shut_down()
        assert repr(ours) == repr(theirs).replace("<", "<blocking ")
        assert ours.requeues(item) == theirs.requeues(item)
        assert len(ours) == len(theirs)

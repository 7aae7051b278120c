"""`WorkQueue` handles the usual case without `QueueState`, which decides the same for the same operations."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.clocks import VirtualClock
from listwatch.workqueue.queue import LOW_PRIORITY, WorkQueue
from listwatch.workqueue.queue_state import NOTHING, Nothing, QueueState

ITEMS = st.sampled_from("abcdef")
PRIORITIES = st.sampled_from([0, 0, 0, LOW_PRIORITY, 1_000])
OPERATIONS = st.one_of(
    st.tuples(st.just("add"), ITEMS, PRIORITIES),
    st.tuples(st.just("add"), ITEMS, st.just(0)),
    st.tuples(st.just("add_after"), ITEMS, PRIORITIES, st.sampled_from([0.0, 0.5, 1.0, 3.0])),
    st.tuples(st.just("take")),
    st.tuples(st.just("take and be done")),
    st.tuples(st.just("done"), ITEMS),
    st.tuples(st.just("discard"), ITEMS),
    st.tuples(st.just("wait"), st.sampled_from([0.25, 1.0])),
)


def take_from(queue: WorkQueue[str]) -> str | Nothing:
    if not len(queue):
        return NOTHING
    getting = queue.get()
    try:
        getting.send(None)
    except StopIteration as returned:
        item: str = returned.value
        return item
    finally:
        getting.close()
    raise AssertionError("get() waits although an item waits")


@given(st.lists(OPERATIONS, min_size=20, max_size=60), st.integers(0, 60))
def test_a_queue_decides_like_its_state_machine(operations: list[tuple[Any, ...]], shut_down_after: int):
    clock = VirtualClock()
    queue: WorkQueue[str] = WorkQueue(name="queue", clock=clock)
    state: QueueState[str] = QueueState()
    for number, operation in enumerate(operations):
        now = clock.monotonic()
        if number == shut_down_after:
            queue.shut_down()
            state.shut_down(now=now)
        match operation:
            case ("add", item, priority):
                queue.add(item, priority=priority)
                state.add(item, priority, now)
            case ("add_after", item, priority, delay):
                queue.add_after(item, delay, priority=priority)
                state.add_after(item, delay, priority=priority, now=now)
            case ("take",):
                assert take_from(queue) == state.take(now)
            case ("done", item):
                queue.done(item)
                state.done(item, now)
            case ("take and be done",):
                taken = take_from(queue)
                assert taken == state.take(now)
                if taken is not NOTHING:
                    queue.done(taken)
                    state.done(taken, now)
            case ("discard", item):
                assert queue._discard(item.__eq__) == state.discard(item.__eq__, now)
            case ("wait", delay):
                clock.jump(delay)
        assert queue.statistics() == state.statistics(name="queue", now=clock.monotonic())

"""Any sequence of operations on a work queue, over virtual time, compared with a simple model."""

import asyncio
import math
from dataclasses import dataclass, field
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from listwatch.errors import QueueShutDownError
from listwatch.testing.clocks import VirtualClock
from listwatch.workqueue.queue import LOW_PRIORITY, WorkQueue
from listwatch.workqueue.rate_limiters import ExponentialLimiter

ITEMS = st.sampled_from("abcd")
PRIORITIES = st.sampled_from([LOW_PRIORITY, 0, 0, 7])
DELAYS = st.sampled_from([0.0, 0.1, 0.25, 1.0, 1 / 3, 5.0])
SLACK = 1e-5  # a clock with a resolution of nanoseconds wakes slightly early, and the sleeper waits a microsecond more


@dataclass
class Model:
    """What is known of each item; the queue must agree whenever nothing is on its way."""

    waiting: dict[str, int] = field(default_factory=dict)  # how many items may go before it
    processing: set[str] = field(default_factory=set)
    readded: set[str] = field(default_factory=set)
    delayed: dict[str, float] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    is_shut_down: bool = False

    def add(self, item: str) -> None:
        if self.is_shut_down:
            return
        if item in self.processing:
            self.readded.add(item)
        elif item not in self.waiting:
            # Each eighth item is the oldest, and at most all that wait are older: so many turns, and then it is this.
            self.waiting[item] = 8 * (len(self.waiting) + 1)

    def delay(self, item: str, ready_at: float) -> None:
        if not self.is_shut_down:
            self.delayed[item] = min(self.delayed.get(item, ready_at), ready_at)

    def catch_up(self, now: float) -> None:
        before = dict(self.waiting)
        for item in [each for each, ready_at in self.delayed.items() if ready_at <= now]:
            del self.delayed[item]
            self.add(item)
        # Of those that became ready together, each may be the last one.
        self.waiting |= {item: 8 * len(self.waiting) for item in self.waiting if item not in before}

    def taken(self, item: str) -> None:
        assert item not in self.processing, f"{item} is in work twice"
        assert item in self.waiting, f"{item} was given out, and was not due"
        del self.waiting[item]
        self.processing.add(item)
        self.waiting = {other: turns - 1 for other, turns in self.waiting.items()}
        assert all(turns > 0 for turns in self.waiting.values()), f"an item starves: {self.waiting}"

    def done(self, item: str) -> None:
        if item in self.processing:
            self.processing.remove(item)
            if item in self.readded:
                self.readded.remove(item)
                self.add_back(item)

    def add_back(self, item: str) -> None:
        self.waiting[item] = 8 * (len(self.waiting) + 1)


class AnyInterleaving(RuleBasedStateMachine):
    """Workers come, wait, are cancelled, succeed and fail while items are added at once and later."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = VirtualClock()
        self.queue: WorkQueue[str] = WorkQueue(
            name="model", clock=self.clock, limiter=ExponentialLimiter(initial=0.25, cap=2.0)
        )
        self.model = Model()
        self.takers: list[asyncio.Task[str]] = []
        self.runner = asyncio.Runner()

    @initialize()
    def begin(self) -> None:
        self.settle()

    # --- in

    @rule(item=ITEMS, priority=PRIORITIES)
    def add(self, item: str, priority: int) -> None:
        self.queue.add(item, priority=priority)
        self.model.add(item)

    @rule(item=ITEMS, delay=DELAYS, priority=PRIORITIES)
    def add_after(self, item: str, delay: float, priority: int) -> None:
        self.queue.add_after(item, delay, priority=priority)
        if delay:
            self.model.delay(item, self.clock.monotonic() + delay)
        else:
            self.model.add(item)

    @rule(data=st.data())
    @precondition(lambda self: self.model.processing)
    def fail(self, data: st.DataObject) -> None:
        item = data.draw(st.sampled_from(sorted(self.model.processing)))
        failures = self.model.failures.get(item, 0)
        self.queue.add_rate_limited(item)
        self.queue.done(item)
        self.model.delay(item, self.clock.monotonic() + min(0.25 * 2**failures, 2.0))
        self.model.done(item)
        self.model.failures[item] = failures + 1

    @rule(item=ITEMS)
    def forget(self, item: str) -> None:
        self.queue.forget(item)
        self.model.failures.pop(item, None)

    @rule(items=st.sets(ITEMS, min_size=1, max_size=3))
    def discard(self, items: set[str]) -> None:
        self.settle()
        self.model.catch_up(self.clock.monotonic())
        model, adds = self.model, self.queue.statistics().adds
        removed = self.queue._discard(items.__contains__)
        assert sorted(removed) == sorted(items & {*model.waiting, *model.readded, *model.delayed})
        assert self.queue.statistics().adds == adds
        for item in removed:
            for contents in (model.waiting, model.delayed, model.failures):
                contents.pop(item, None)
            model.readded.discard(item)

    # --- out

    @rule(data=st.data())
    @precondition(lambda self: self.model.processing)
    def succeed(self, data: st.DataObject) -> None:
        item = data.draw(st.sampled_from(sorted(self.model.processing)))
        self.queue.done(item)
        self.model.done(item)

    @rule(item=ITEMS)
    def be_done_without_having_begun(self, item: str) -> None:
        if item not in self.model.processing:
            self.queue.done(item)

    @rule(count=st.integers(1, 3))
    @precondition(lambda self: len(self.takers) < 4)
    def come_to_take(self, count: int) -> None:
        self.takers += [self.runner.get_loop().create_task(self.queue.get()) for _ in range(count)]

    @rule(data=st.data())
    @precondition(lambda self: self.takers)
    def stop_waiting(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from(self.takers)).cancel()

    @rule(item=ITEMS)
    @precondition(lambda self: len(self.takers) > 1)
    def stop_waiting_just_when_something_comes(self, item: str) -> None:
        self.settle()
        self.add(item, 0)
        for taker in self.takers[:1]:
            taker.cancel()

    @rule(turns=st.sampled_from([3, 30]))
    @precondition(lambda self: not self.model.is_shut_down)
    def be_busy_with_urgent_work(self, turns: int) -> None:
        self.settle()
        for number in range(turns):
            self.add(f"urgent {number % 2}", 9)
            self.come_to_take(1)
            self.settle()
            for item in sorted(self.model.processing):
                self.queue.done(item)
                self.model.done(item)

    # --- time

    @rule(item=ITEMS)
    def delay_what_became_ready_meanwhile(self, item: str) -> None:
        self.add_after(item, 0.1, 0)
        self.let_time_pass(0.25)
        self.add_after(item, 1.0, 0)

    @rule(delay=st.sampled_from([0.1, 0.25, 0.5, 1.0, 3.0]))
    def let_time_pass(self, delay: float) -> None:
        self.settle()
        self.runner.run(self.pass_on_in_steps(delay))

    async def pass_on_in_steps(self, delay: float) -> None:
        end = self.clock.monotonic() + delay
        while (ready_at := min(self.model.delayed.values(), default=math.inf)) <= end:
            await self.clock.advance(max(ready_at - self.clock.monotonic(), 0.0) + SLACK)
            self.model.catch_up(self.clock.monotonic())
            self.see_who_took_what()
        await self.clock.advance(max(end - self.clock.monotonic(), 0.0))

    @rule()
    def let_everything_settle_and_count(self) -> None:
        self.settle()
        self.check_numbers()

    @rule()
    @precondition(lambda self: not self.model.is_shut_down and len(self.model.waiting) > 2)
    def shut_down(self) -> None:
        self.queue.shut_down()
        self.model.delayed.clear()
        self.model.is_shut_down = True

    # --- what must hold

    def settle(self) -> None:
        self.runner.run(self.clock.advance(0.0))
        self.see_who_took_what()

    def see_who_took_what(self) -> None:
        ended = [taker for taker in self.takers if taker.done()]
        self.takers = [taker for taker in self.takers if not taker.done()]
        for taker in sorted(ended, key=lambda each: each.cancelled()):
            if taker.cancelled():
                continue
            if isinstance(taker.exception(), QueueShutDownError):
                assert self.model.is_shut_down
            else:
                self.model.taken(taker.result())
        # No worker waits while an item waits: no wake-up was lost.
        assert not (self.takers and self.model.waiting), f"{self.takers} sleep beside {self.model.waiting}"
        assert not (self.takers and self.model.is_shut_down)

    def check_numbers(self) -> None:
        now: Any = self.queue.statistics()
        assert len(self.queue) == now.depth == len(self.model.waiting)
        assert (now.processing, now.readded) == (len(self.model.processing), len(self.model.readded))
        assert now.delayed == len(self.model.delayed)
        assert {item: self.queue.requeues(item) for item in self.model.failures} == self.model.failures

    def teardown(self) -> None:
        """Whatever was added and not worked on is still to be had."""
        try:
            self.let_time_pass(10.0)
            for item in sorted(self.model.processing):
                self.queue.done(item)
                self.model.done(item)
            self.settle()
            for _ in range(len(self.model.waiting)):
                self.takers.append(self.runner.get_loop().create_task(self.queue.get()))
                self.settle()
            assert not self.model.delayed
            self.check_numbers()
            assert len(self.queue) == len(self.model.waiting) == 0
        finally:
            self.runner.run(self.leave())
            self.runner.close()

    async def leave(self) -> None:
        for taker in self.takers:
            taker.cancel()
        await asyncio.gather(*self.takers, return_exceptions=True)


AnyInterleaving.TestCase.settings = settings(stateful_step_count=30)
TestAnyInterleaving = AnyInterleaving.TestCase

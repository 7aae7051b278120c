"""An event loop for simulations that does not depend on real time: a seed always gives the same run."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Coroutine
from random import Random
from typing import TypeVar

from listwatch.tasks.cooperative import TIME_SLICE
from listwatch.testing.clocks import VirtualClock

T = TypeVar("T")

YIELDS = (0.0, 0.02, 0.1, 0.3, 0.7, 1.0)
"""The probabilities, one for each run, that a reading of the time finds a time slice used up."""
DURATIONS = (0.0, 0.0, 0.01, 1.0, 5.0)
"""The longest times, one for each run, that a function takes in a thread."""


def run_seeded(coroutine: Coroutine[object, object, T], clock: VirtualClock, seed: int) -> T:
    """Run a coroutine in virtual time.

    The seed decides when work yields because its time slice is used up, and how long functions take in threads, of
    which there are none: a function is called by the event loop at a random time.
    """
    with asyncio.Runner(loop_factory=lambda: _new_event_loop(clock, Random(f"yields of {seed}"))) as runner:
        return runner.run(coroutine)


def _new_event_loop(clock: VirtualClock, rng: Random) -> asyncio.AbstractEventLoop:
    loop, probability, duration, time = clock.new_event_loop(), rng.choice(YIELDS), rng.choice(DURATIONS), 0.0
    threads: defaultdict[object, asyncio.Lock] = defaultdict(asyncio.Lock)

    def read_time() -> float:
        """The time of the clock, or later if work has taken time: each drawn reading takes more than a time slice."""
        nonlocal time
        taken = 2 * TIME_SLICE if rng.random() < probability else 0.0
        time = max(time + taken, clock.monotonic())
        return time

    def run_in_executor(executor: object, work: Callable[[], T]) -> asyncio.Future[T]:
        return loop.create_task(run_later(threads[executor], work), name="work of a thread")

    async def run_later(thread: asyncio.Lock, work: Callable[[], T]) -> T:
        async with thread:  # one function after another
            await clock.sleep(rng.random() * duration)
            result = work()
            await clock.sleep(rng.choice([0.0, rng.random() * duration]))
            return result

    loop.time = read_time  # type: ignore[method-assign]  # of this loop only
    loop.run_in_executor = run_in_executor  # type: ignore[method-assign,assignment]  # of this loop only
    return loop

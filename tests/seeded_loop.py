"""An event loop for simulations that does not depend on real time: a seed always gives the same run."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from random import Random
from typing import TypeVar

from listwatch.tasks.cooperative import TIME_SLICE
from listwatch.testing.clocks import VirtualClock

T = TypeVar("T")

YIELDS = (0.0, 0.02, 0.1, 0.3, 0.7, 1.0)
"""The probabilities, one for each run, that a reading of the time finds a time slice used up."""


def run_seeded(coroutine: Coroutine[object, object, T], clock: VirtualClock, seed: int) -> T:
    """Run a coroutine in virtual time. The seed decides when work yields because its time slice is used up."""
    with asyncio.Runner(loop_factory=lambda: _new_event_loop(clock, Random(f"yields of {seed}"))) as runner:
        return runner.run(coroutine)


def _new_event_loop(clock: VirtualClock, rng: Random) -> asyncio.AbstractEventLoop:
    probability, time = rng.choice(YIELDS), 0.0

    def read_time() -> float:
        """The time of the clock, or later if work has taken time: each drawn reading takes more than a time slice."""
        nonlocal time
        taken = 2 * TIME_SLICE if rng.random() < probability else 0.0
        time = max(time + taken, clock.monotonic())
        return time

    loop = clock.new_event_loop()
    loop.time = read_time  # type: ignore[method-assign]  # of this loop only
    return loop

"""Long work on the event loop is done in pieces, between which other tasks run."""

import asyncio
import gc
from collections.abc import Generator
from weakref import ref

import pytest

from listwatch.tasks.cooperative import TimeSlice, give_way, run_sliced


def long_work(pieces: int) -> Generator[None, None, str]:
    now = asyncio.get_running_loop().time
    for _ in range(pieces):
        began = now()
        while now() < began + 0.006:  # longer than one time slice
            pass
        yield
    return "done"


async def test_other_tasks_run_between_long_pieces_of_work():
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    others = asyncio.create_task(other())
    assert await run_sliced(long_work(5)) == "done"
    others.cancel()
    assert turns >= 5


async def test_an_exception_of_the_work_is_raised():
    def broken() -> Generator[None, None, None]:
        yield
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await run_sliced(broken())


async def test_many_busy_tasks_share_an_iteration_of_the_event_loop():
    lengths: list[float] = []

    async def busy() -> None:
        time_slice = TimeSlice()
        for _ in range(5):
            while time_slice.now() <= time_slice.end:
                pass
            await time_slice.checkpoint()
        lengths.append(time_slice.end - time_slice.now())

    await asyncio.gather(*(busy() for _ in range(30)))
    alone = TimeSlice()
    while alone.now() <= alone.end:
        pass
    await alone.checkpoint()
    assert max(lengths) < 0.001
    assert alone._load.length > 0.002


def test_an_event_loop_is_released_after_its_end():
    async def use_up_a_slice() -> "ref[asyncio.AbstractEventLoop]":
        await run_sliced(long_work(1))
        return ref(asyncio.get_running_loop())

    loop = asyncio.run(use_up_a_slice())
    gc.collect()
    assert loop() is None


class Work:
    """Pending work, of which a task does one piece per iteration of the event loop."""

    def __init__(self, pieces: int, *, done_per_iteration: int = 1, seconds: float = 0.0) -> None:
        self.left = pieces
        self._done_per_iteration = done_per_iteration
        self._seconds = seconds

    async def run(self) -> None:
        now = asyncio.get_running_loop().time
        while self.left:
            end = now() + self._seconds
            while now() < end:
                pass
            self.left -= self._done_per_iteration
            await asyncio.sleep(0)


async def left_after_giving_way(work: Work) -> int:
    task = asyncio.create_task(work.run())
    await give_way(lambda: work.left, limit=10)
    task.cancel()
    return work.left


async def test_a_task_gives_way_to_others_until_these_have_caught_up():
    assert await left_after_giving_way(Work(30)) == 10


async def test_a_task_does_not_give_way_to_tasks_that_make_no_progress():
    assert await left_after_giving_way(Work(30, done_per_iteration=0)) == 30


async def test_a_task_gives_way_to_others_for_a_limited_time():
    assert await left_after_giving_way(Work(1000, seconds=0.005)) > 900

"""Long work on the event loop is done in pieces, between which other tasks run."""

import asyncio
import gc
from collections.abc import Generator
from weakref import ref

import pytest

from listwatch.tasks.cooperative import TimeSlice, run_sliced


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

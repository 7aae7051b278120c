"""Long work on the event loop is done in pieces, between which other tasks run."""

import asyncio
from collections.abc import Generator

import pytest

from listwatch.tasks.cooperative import run_sliced


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

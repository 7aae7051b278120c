"""A controller under trouble for a moment; `make soak` takes longer, and more objects."""

import asyncio

from soak.controllers import ControllerRound


async def test_all_objects_get_what_they_want():
    asyncio.get_running_loop().set_debug(False)  # with it, three quarters of the time go into stack traces
    outcome = await ControllerRound(8, seconds=1.0, objects=150).run()
    assert outcome.wrong == []
    assert outcome.told > 150

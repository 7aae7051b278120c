"""The controllers' soak test for a second; `make soak` runs it longer and with more objects."""

import asyncio

from soak.controllers import ControllerRound


async def test_all_objects_converge_after_faults():
    asyncio.get_running_loop().set_debug(False)  # it would spend three quarters of the time on stack traces
    outcome = await ControllerRound(8, seconds=1.0, objects=150).run()
    assert outcome.failures == []
    assert outcome.notifications > 150

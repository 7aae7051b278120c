"""The controllers' soak test for a second; `make soak` runs it longer and with more objects."""

from soak.controllers import ControllerRound


async def test_all_objects_converge_after_faults():
    outcome = await ControllerRound(8, seconds=1.0, objects=150).run()
    assert outcome.failures == []
    assert outcome.notifications > 150

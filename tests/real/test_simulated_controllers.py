"""The simulated controllers leave the same objects as the real ones, over the same simulated kubelets."""

import asyncio
from typing import Any

import pytest
from tests.real.cluster_end_state import end_state

from listwatch.errors import ConfigError
from listwatch.testing import ControlPlaneBinaries


@pytest.fixture(autouse=True)
def _binaries() -> None:
    try:
        ControlPlaneBinaries.find()
    except ConfigError as error:
        pytest.skip(str(error))


async def test_simulated_and_real_controllers_end_in_the_same_objects():
    simulated, real = await asyncio.gather(end_state(real=False), end_state(real=True))
    assert [name for name in real if len(simulated[name]) != len(real[name])] == []
    different: list[Any] = []
    for name, objects in real.items():
        different += [
            (name, ours, theirs) for ours, theirs in zip(simulated[name], objects, strict=True) if ours != theirs
        ]
    assert different == []

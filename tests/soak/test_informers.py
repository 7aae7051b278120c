"""The informers' soak, for a few seconds: `make soak` runs the same for minutes."""

import asyncio

import pytest
from soak.informers import InformerRound

SECONDS = 2.5


@pytest.mark.parametrize("seed", [1, 2])
async def test_informers_come_into_step_after_bad_weather(seed: int):
    asyncio.get_running_loop().set_debug(False)  # with it, three quarters of the time go into stack traces
    outcome = await InformerRound(seed, seconds=SECONDS, with_silence=False).run()
    assert outcome.wrong == [], f"run it again with: python -m soak informers --seed {seed}"
    assert outcome.writes > 10
    assert outcome.told > 100

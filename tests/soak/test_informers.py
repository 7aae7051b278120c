"""The informers' soak test for a few seconds; `make soak` runs it for minutes."""

import pytest
from soak.informers import InformerRound

SECONDS = 2.5


@pytest.mark.parametrize("seed", [1, 2])
async def test_informers_sync_after_faults(seed: int):
    outcome = await InformerRound(seed, seconds=SECONDS, with_dropped_bookmarks=False).run()
    assert outcome.failures == [], f"reproduce with: python -m soak informers --seed {seed}"
    assert outcome.writes > 10
    assert outcome.notifications > 100

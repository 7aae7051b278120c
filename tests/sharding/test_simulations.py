"""Under random failures no two replicas reconcile one key at once, and every key has an owner again in time."""

from __future__ import annotations

import os

import pytest
from tests.sharding.broken import VARIANTS
from tests.sharding.simulation import Simulation

RUNS = int(os.environ.get("LISTWATCH_SIMULATIONS", "4"))
FIRST_SEED = int(os.environ.get("LISTWATCH_SEED", "0"))


@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + RUNS))
def test_shards_move_without_overlaps_and_without_gaps(seed: int):
    simulation = Simulation(seed)
    try:
        simulation.run()
    except BaseException as error:
        error.add_note(f"seed {seed}:\n" + "\n".join(simulation.world.history[-80:]))
        raise


@pytest.mark.parametrize("name", VARIANTS)
def test_the_simulation_notices_a_protocol_that_is_broken(name: str):
    assert any(is_noticed(seed, name) for seed in range(60)), f"not noticed: {name}"


def is_noticed(seed: int, name: str) -> bool:
    try:
        Simulation(seed, **VARIANTS[name]).run()
    except AssertionError:
        return True
    return False

"""Under random network failures no two candidates lead at once, and leadership changes."""

from __future__ import annotations

import os

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.leaderelection.simulation import Simulation

RUNS = int(os.environ.get("LISTWATCH_SIMULATIONS", "40"))


@given(st.integers(min_value=0, max_value=2**32))
@settings(max_examples=RUNS, deadline=None)
def test_one_candidate_leads_at_a_time_and_leadership_changes(seed: int) -> None:
    simulation = Simulation(seed)
    try:
        simulation.run()
    except BaseException as error:
        error.add_note(f"seed {seed}:\n" + "\n".join(simulation.server.history[-60:]))
        raise


def test_clocks_that_run_too_differently_let_two_lead_at_once() -> None:
    assert any(two_lead_at_once(seed) for seed in range(100))


def two_lead_at_once(seed: int) -> bool:
    try:
        Simulation(seed, slowest=0.4, fastest=1.6).run()
    except AssertionError as error:
        return "two lead at once" in str(error)
    return False

"""Runs one of the soaks: `python -m soak informers --minutes 3`, or with `--seed`, one round of it again."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from random import SystemRandom

from soak.controllers import ControllerRound
from soak.informers import InformerRound
from soak.leftovers import resident_megabytes

ROUND = 15.0
"""Seconds of bad weather in one round."""
GROWTH = 40.0
"""Megabytes that a process may have more in the end than after its first rounds: allocators give back late."""
SOAKS = {"controllers": ControllerRound, "informers": InformerRound}


def main(arguments: list[str] | None = None) -> int:
    """Run as a command."""
    parser = argparse.ArgumentParser(prog="python -m soak", description="Long runs under trouble.")
    parser.add_argument("soak", choices=sorted(SOAKS))
    parser.add_argument("--minutes", type=float, default=3.0, help="how long, in all (default: %(default)s)")
    parser.add_argument("--seed", type=int, help="run the one round of this seed")
    options = parser.parse_args(arguments)
    return asyncio.run(_run(options.soak, options.minutes * 60, options.seed))


async def _run(soak: str, seconds: float, seed: int | None) -> int:
    ends, level, rounds, told, wrong = time.monotonic() + seconds, 0.0, 0, 0, list[str]()
    while not wrong and (rounds == 0 or (seed is None and time.monotonic() + ROUND < ends)):
        chosen = SystemRandom().randrange(1_000_000) if seed is None else seed
        running = asyncio.create_task(SOAKS[soak](chosen, seconds=min(ROUND, seconds)).run())
        await _show_progress(running, rounds, chosen)
        outcome = await running
        rounds, told, memory = rounds + 1, told + outcome.told, resident_megabytes()
        level = level if rounds > 2 else memory
        print(f"round {rounds}: {outcome.writes} writes, {outcome.told} changes told, {memory:.0f} MB")
        wrong = outcome.wrong
        if memory > level + GROWTH:
            wrong = [*wrong, f"the process grew from {level:.0f} to {memory:.0f} MB"]
        if wrong:
            _explain(soak, chosen, outcome.weather, wrong)
    print(f"{'FAILED' if wrong else 'passed'}: {rounds} rounds, {told} changes told, {resident_megabytes():.0f} MB")
    return 1 if wrong else 0


async def _show_progress(running: asyncio.Task[object], rounds: int, seed: int) -> None:
    started = time.monotonic()
    while not running.done():
        print(f"  round {rounds + 1}, seed {seed}: {time.monotonic() - started:.0f} s", flush=True)
        await asyncio.wait([running], timeout=5)


def _explain(soak: str, seed: int, weather: list[str], wrong: list[str]) -> None:
    print(f"\nseed {seed} failed:", *wrong[:20], sep="\n  ")
    print("\nthe weather was:", *weather[-20:], sep="\n  ")
    print(f"\nrun it again with: python -m soak {soak} --seed {seed}")


if __name__ == "__main__":
    sys.exit(main())

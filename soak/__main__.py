"""Runs a soak test: `python -m soak informers --minutes 3`, or one round of it again with `--seed`."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from random import SystemRandom

from soak.controllers import ControllerRound
from soak.informers import InformerRound
from soak.leak_check import resident_megabytes
from soak.protobuf_bodies import ProtobufRound
from soak.sharding import ShardingOptionsOfSoak, ShardingRound
from soak.splitter import SplitterRound

ROUND = 15.0
"""Seconds of faults in one round."""
GROWTH = 40.0
"""Megabytes by which the process may grow after its first rounds: allocators return memory late."""
SOAKS = {
    "controllers": ControllerRound,
    "informers": InformerRound,
    "protobuf": ProtobufRound,
    "splitter": SplitterRound,
}


def main(arguments: list[str] | None = None) -> int:
    """Run as a command."""
    parser = argparse.ArgumentParser(
        prog="python -m soak",
        description="Run informers, controllers or shards under faults, or read damaged lists, streams and bodies.",
    )
    parser.add_argument("soak", choices=sorted({*SOAKS, "sharding"}))
    parser.add_argument("--minutes", type=float, default=3.0, help="total duration (default: %(default)s)")
    parser.add_argument("--seed", type=int, help="run one round with this seed")
    sharding = parser.add_argument_group("sharding")
    sharding.add_argument("--objects", type=int, default=500, help="number of objects (default: %(default)s)")
    sharding.add_argument("--replicas", type=int, default=4, help="number of processes at first (default: %(default)s)")
    sharding.add_argument("--no-selectors", action="store_true", help="a server that ignores shard selectors")
    sharding.add_argument("--real", action="store_true", help="a real kube-apiserver, built by `make real`")
    sharding.add_argument("--no-faults", action="store_true", help="only fill the caches and compare them")
    text = "how long each reconcile waits (default: %(default)s)"
    sharding.add_argument("--reconcile-seconds", type=float, default=0.002, help=text)
    options = parser.parse_args(arguments)
    if options.soak == "sharding":
        return asyncio.run(_run_sharding(options))
    return asyncio.run(_run(options.soak, options.minutes * 60, options.seed))


async def _run_sharding(options: argparse.Namespace) -> int:
    """One round, as long as all faults together."""
    size = ShardingOptionsOfSoak(
        objects=options.objects,
        replicas=options.replicas,
        shard_selectors=not options.no_selectors,
        real=options.real,
        faults=not options.no_faults,
        reconcile_seconds=options.reconcile_seconds,
    )
    seed = SystemRandom().randrange(1_000_000) if options.seed is None else options.seed
    outcome = await ShardingRound(seed, seconds=options.minutes * 60, options=size).run()
    print(f"{outcome.writes} writes, {outcome.notifications} reconciles, {len(outcome.faults)} faults")
    if outcome.failures:
        _explain("sharding", seed, outcome.faults, outcome.failures[:20])
    print("FAILED" if outcome.failures else "passed")
    return 1 if outcome.failures else 0


async def _run(soak: str, seconds: float, seed: int | None) -> int:
    ends, level, rounds, notifications, failures = time.monotonic() + seconds, 0.0, 0, 0, list[str]()
    while not failures and (rounds == 0 or (seed is None and time.monotonic() + ROUND < ends)):
        chosen = SystemRandom().randrange(1_000_000) if seed is None else seed
        running = asyncio.create_task(SOAKS[soak](chosen, seconds=min(ROUND, seconds)).run())
        await _show_progress(running, rounds, chosen)
        outcome = await running
        rounds, notifications, memory = rounds + 1, notifications + outcome.notifications, resident_megabytes()
        level = level if rounds > 2 else memory
        print(f"round {rounds}: {outcome.writes} writes, {outcome.notifications} notifications, {memory:.0f} MB")
        failures = outcome.failures
        if memory > level + GROWTH:
            failures = [*failures, f"the process grew from {level:.0f} to {memory:.0f} MB"]
        if failures:
            _explain(soak, chosen, outcome.faults, failures)
    verdict = "FAILED" if failures else "passed"
    print(f"{verdict}: {rounds} rounds, {notifications} notifications, {resident_megabytes():.0f} MB")
    return 1 if failures else 0


async def _show_progress(running: asyncio.Task[object], rounds: int, seed: int) -> None:
    started = time.monotonic()
    while not running.done():
        print(f"  round {rounds + 1}, seed {seed}: {time.monotonic() - started:.0f} s", flush=True)
        await asyncio.wait([running], timeout=5)


def _explain(soak: str, seed: int, faults: list[str], failures: list[str]) -> None:
    print(f"\nseed {seed} failed:", *failures[:20], sep="\n  ")
    print("\nfaults, in order:", *faults[-20:], sep="\n  ")
    print(f"\nreproduce with: python -m soak {soak} --seed {seed}")


if __name__ == "__main__":
    sys.exit(main())

"""`python -m bench [part …]`: measures the parts named, or all. `--help` says how to measure more, or less.

A promise that is not kept is said, and is no error; exits with 1 if something did not run.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

from bench import clients, informers, objects, other_kinds, queues, real, server
from bench.charts import draw
from bench.environments import make_all
from bench.results import FOLDER, Report, machine, write
from bench.runner import Effort

Part = Callable[[Effort], Report]

PARTS: dict[str, Part] = {
    "informers": informers.report,
    "kinds": other_kinds.report,
    "real": real.report,
    "queues": queues.report,
    "clients": clients.report,
    "objects": objects.report,
    "server": server.report,
}
TIME = 360.0
"""Seconds after which only what has no figures yet is measured, so that eight minutes are enough on a slow machine."""


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    print(", ".join(machine().values()))
    make_all()
    deadline = math.inf if options.full else time.monotonic() + TIME
    effort = Effort(options.full, most_rounds=options.rounds, most_objects=options.objects, deadline=deadline)
    folder = options.results or (FOLDER / "full" if options.full else FOLDER)
    return measure({name: PARTS[name] for name in options.parts or PARTS}, effort, folder)


def measure(parts: Mapping[str, Part], effort: Effort, folder: Path) -> int:
    """Measure these, keep what came of it in a folder, and return what to exit with."""
    started = time.monotonic()
    reports = [_run(name, part, effort, folder) for name, part in parts.items()]
    if drawn := draw(folder):
        print(f"\ndrawn in {folder}: {', '.join(drawn)}")
    _conclude([made for made in reports if made])
    print(f"\n(all took {time.monotonic() - started:.0f} s)")
    return 0 if all(made and not made.failed() for made in reports) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure listwatch beside its peers.")
    # No part at all is a choice too, which argparse wants to be told.
    parser.add_argument("parts", nargs="*", metavar="part", choices=[*PARTS, []], help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--full", action="store_true", help="all contenders, sizes and measures; takes an hour")
    parser.add_argument("--rounds", type=int, default=sys.maxsize, help="at most so many rounds")
    parser.add_argument("--objects", type=int, default=sys.maxsize, help="no more than so many objects")
    parser.add_argument("--results", type=Path, help="the folder for tables and charts")
    return parser


def _run(name: str, part: Part, effort: Effort, folder: Path) -> Report | None:
    """The report of a part; none if it broke, which is said and does not keep others from being measured."""
    started = time.monotonic()
    print(f"\n=== {name} ===", flush=True)
    try:
        made = part(effort)
    except Exception:  # noqa: BLE001  # whatever it is, it is shown, and the other parts can be measured
        traceback.print_exc()
        return None
    made.conclude()
    write(made, effort.command, folder)
    print(f"\n  ({name} took {time.monotonic() - started:.0f} s)", flush=True)
    return made


def _conclude(reports: list[Report]) -> None:
    promises = [(made.name, promise) for made in reports for promise in made.promises]
    broken = [(name, promise) for name, promise in promises if not promise.is_kept]
    if promises:
        print(f"\n{len(promises) - len(broken)} of {len(promises)} promises are kept{'; not:' if broken else '.'}")
    for name, promise in broken:
        print(f"  {name}: {promise}")
    for made in reports:
        for name, reason in made.failed().items():
            print(f"  {made.name}: {name} did not run: {reason}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`python -m bench [part …]`: runs the named parts, or all of them. `--help` lists the options.

A missed target is reported but is not an error. The exit code is 1 if a part or a contender failed.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

from bench import arrow, objects
from bench.clients import comparison as clients
from bench.etcd import comparison as etcd
from bench.harness.environments import make_all
from bench.harness.runner import Effort
from bench.informers import (
    million_pods,
    mixed_program,
    other_resources,
    pod_informers,
    real_api_server,
    restarts,
    stored_memory,
)
from bench.queues import comparison as queues
from bench.report.charts import draw
from bench.report.report import FOLDER, Report, machine, write
from bench.server import comparison as server

Part = Callable[[Effort], Report]

PARTS: dict[str, Part] = {
    "informers": pod_informers.measure,
    "memory": stored_memory.measure,
    "restarts": restarts.measure,
    "mixed": mixed_program.measure,
    "kinds": other_resources.measure,
    "real": real_api_server.measure,
    "queues": queues.measure,
    "clients": clients.measure,
    "objects": objects.measure,
    "arrow": arrow.measure,
    "server": server.measure,
    "etcd": etcd.measure,
}
LONG_PARTS: dict[str, Part] = {"million": million_pods.measure}
"""Parts that run if they are named, and with `--full`."""
TIME_BUDGET, FULL_TIME_BUDGET = 360.0, 2400.0
"""Seconds after which no further rounds start: a run takes about a quarter of an hour, or an hour with `--full`."""


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    print(", ".join(machine().values()))
    make_all()
    deadline = time.monotonic() + (FULL_TIME_BUDGET if options.full else TIME_BUDGET)
    effort = Effort(options.full, max_rounds=options.rounds, max_objects=options.objects, deadline=deadline)
    folder = options.results or (FOLDER / "full" if options.full else FOLDER)
    known = PARTS | LONG_PARTS
    names = options.parts or (known if options.full else PARTS)
    return run_parts({name: known[name] for name in names}, effort, folder)


def run_parts(parts: Mapping[str, Part], effort: Effort, folder: Path) -> int:
    """Run the parts, write the results to a folder, and return the exit code."""
    started = time.monotonic()
    reports = [_run(name, part, effort, folder) for name, part in parts.items()]
    if charts := draw(folder):
        print(f"\ncharts in {folder}: {', '.join(charts)}")
    _print_summary([report for report in reports if report])
    print(f"\n(total: {time.monotonic() - started:.0f} s)")
    return 0 if all(report and not report.failed() for report in reports) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure listwatch beside its peers.")
    # With nargs="*", argparse checks the default, an empty list, against the choices.
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="part",
        choices=[*PARTS, *LONG_PARTS, []],
        help=f"parts to run: {', '.join(PARTS)}; only if named, or with --full: {', '.join(LONG_PARTS)}",
    )
    parser.add_argument("--full", action="store_true", help="all measurements, with more rounds; takes about an hour")
    parser.add_argument("--rounds", type=int, default=sys.maxsize, help="maximum number of rounds")
    parser.add_argument("--objects", type=int, default=sys.maxsize, help="maximum number of objects")
    parser.add_argument("--results", type=Path, help="folder for tables and charts")
    return parser


def _run(name: str, part: Part, effort: Effort, folder: Path) -> Report | None:
    """Run one part and write its report; return None if it raised. The other parts still run."""
    started = time.monotonic()
    print(f"\n=== {name} ===", flush=True)
    try:
        report = part(effort)
    except Exception:  # noqa: BLE001  # printed; the other parts still run
        traceback.print_exc()
        return None
    report.print_notes_and_targets()
    write(report, effort.command, folder)
    print(f"\n  ({name} took {time.monotonic() - started:.0f} s)", flush=True)
    return report


def _print_summary(reports: list[Report]) -> None:
    targets = [(report.name, target) for report in reports for target in report.targets]
    missed = [(name, target) for name, target in targets if not target.is_met]
    if targets:
        print(f"\n{len(targets) - len(missed)} of {len(targets)} targets are met{'; missed:' if missed else '.'}")
    for name, target in missed:
        print(f"  {name}: {target}")
    for report in reports:
        for name, reason in report.failed().items():
            print(f"  {report.name}: {name} failed: {reason}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

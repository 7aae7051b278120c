"""`python -m bench [--full] [part …]`: the parts named, or all. Exits with 1 if a promise does not hold."""

from __future__ import annotations

import sys
import time

from bench import clients, informers, objects, queues, real, server
from bench.charts import draw
from bench.environments import make_all
from bench.results import machine, write

PARTS = {"objects": objects.report, "server": server.report}
"""What prints its own tables and says whether its promises hold."""
REPORTS = {
    "clients": clients.report,
    "informers": informers.report,
    "queues": queues.report,
    "real": real.report,
}
"""What gives a report, which is kept in `bench/results/`."""


def main(arguments: list[str]) -> int:
    full = "--full" in arguments
    names = [name for name in arguments if name != "--full"] or [*PARTS, *REPORTS]
    if unknown := set(names) - PARTS.keys() - REPORTS.keys():
        print(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join([*PARTS, *REPORTS])}", file=sys.stderr)
        return 2
    print(", ".join(machine().values()))
    make_all()
    held = [_run(name, full=full) for name in names]
    if drawn := draw():
        print(f"\ndrawn in bench/results: {', '.join(drawn)}")
    return 0 if all(held) else 1


def _run(name: str, *, full: bool) -> bool:
    started = time.monotonic()
    print(f"\n=== {name} ===", flush=True)
    if name in PARTS:
        held = PARTS[name]()
    else:
        made = REPORTS[name](full=full)
        held = made.conclude()
        write([made], f"make {'bench-full' if full else 'bench'}")
    print(f"\n  ({name} took {time.monotonic() - started:.0f} s)", flush=True)
    return held


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

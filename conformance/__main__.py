"""Runs tests of other projects on the embedded server, and compares it with the real kube-apiserver.

    python -m conformance                 all parts
    python -m conformance kubectl         some of them
    python -m conformance --keep FOLDER   keep the logs of servers and programs
    python -m conformance --focus REGEX   only these of Kubernetes' own specs; the stored results of others are kept.
                                          Those of the part kubernetes, or with `simulated` before it, of that part

Missing programs are built first. The results are stored in conformance/results and written into docs/conformance.md.
The exit code is 1 if a test has failed without a known reason.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from conformance import controller_runtime, kubectl, kubernetes, simulated, workloads
from conformance.report import PARTS, write_report
from conformance.results import Suite, write_suites
from tools import build_realcluster

_RUN: Mapping[str, Callable[[Path], Awaitable[list[Suite]]]] = {
    "kubectl": kubectl.run,
    "controller-runtime": controller_runtime.run,
    "workloads": workloads.run,
    "kubernetes": kubernetes.run,
    "simulated": simulated.run,
}

_FOCUSED: Mapping[str, Callable[[Path, str], Awaitable[list[Suite]]]] = {
    "kubernetes": kubernetes.run_focused,
    "simulated": simulated.run_focused,
}


def main(arguments: list[str] | None = None) -> int:
    """Run as a command."""
    parser = argparse.ArgumentParser(prog="python -m conformance", description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help=f"some of: {', '.join(PARTS)}; default: all")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the logs in this new folder")
    parser.add_argument("--focus", metavar="REGEX", help="run only these of Kubernetes' own specs")
    options = parser.parse_args(arguments)
    if options.focus and options.parts != ["simulated"]:
        options.parts = ["kubernetes"]
    if failed := build_realcluster.main(build_realcluster.CONFORMANCE_PROJECTS):
        return failed
    with ExitStack() as stack:
        folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="listwatch-")))
        suites = asyncio.run(_run(options.parts or list(_RUN), folder.absolute(), options.focus))
    write_report()
    return _conclude(suites)


async def _run(parts: list[str], folder: Path, focus: str | None) -> list[Suite]:
    suites = []
    for part in parts:
        began = time.monotonic()
        print(f"\n--- {part}", flush=True)
        (own := folder / part).mkdir(parents=True)
        found = await (_FOCUSED[part](own, focus) if focus else _RUN[part](own))
        write_suites(part, found)
        print(f"--- {part}: {time.monotonic() - began:.0f} s", flush=True)
        suites += found
    return suites


def _conclude(suites: list[Suite]) -> int:
    print("\nmake conformance:")
    for suite in suites:
        print(f"  {suite}")
    unexpected = [(suite, result) for suite in suites for result in suite.unexpected]
    for suite, result in unexpected:
        print(f"\nUNEXPECTED: {result.name} ({suite.title}) {result.outcome}\n{result.details}")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())

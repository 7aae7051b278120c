"""Runs a test program that was written with Ginkgo, and reads its report."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from listwatch.testing.real.child_process import ChildProcess

__all__ = ["Spec", "run_specs"]

_PROGRESS_INTERVAL = 20.0


@dataclass(frozen=True)
class Spec:
    """The outcome of one spec."""

    name: str
    state: str
    """`passed`, `failed`, `skipped`, `pending`, and other words for failures: `panicked`, `timedout`, `interrupted`."""
    message: str = ""

    @property
    def ran(self) -> bool:
        return self.state not in ("skipped", "pending")

    @property
    def passed(self) -> bool:
        return self.state == "passed"


async def run_specs(
    program: Path,
    arguments: Sequence[str],
    *,
    title: str,
    folder: Path,
    working_directory: Path,
    environment: Mapping[str, str],
    timeout: float,
) -> list[Spec]:
    """Run the program and return its specs; its output is written to a file of `folder`."""
    report, log = folder / "report.json", folder / "output.log"
    report.unlink(missing_ok=True)
    command = [
        str(program),
        f"-ginkgo.json-report={report}",
        "-ginkgo.no-color",
        f"-ginkgo.timeout={timeout:.0f}s",
        "-test.timeout=0",
        *arguments,
    ]
    process = ChildProcess(command, log=log, working_directory=working_directory, environment=environment)
    await process.start()
    try:
        await _wait(process, title, log)
    finally:
        await process.kill()
    if not report.exists():
        raise RuntimeError(f"{title}: {program.name} ended without a report:\n{_tail(log)}")
    return _read(report)


async def _wait(process: ChildProcess, title: str, log: Path) -> None:
    began = time.monotonic()
    waiting = asyncio.ensure_future(process.wait())
    while not (await asyncio.wait([waiting], timeout=_PROGRESS_INTERVAL))[0]:
        print(f"  {title}: {time.monotonic() - began:.0f} s, {_finished(log)} specs", flush=True)


def _finished(log: Path) -> int:
    return log.read_text(errors="replace").count("•")


def _read(report: Path) -> list[Spec]:
    return [
        Spec(
            " ".join([*(spec["ContainerHierarchyTexts"] or ()), spec["LeafNodeText"]]),
            spec["State"],
            spec.get("Failure", {}).get("Message", ""),
        )
        for suite in json.loads(report.read_text())
        for spec in suite["SpecReports"]
        if spec["LeafNodeType"] == "It" or spec["State"] not in ("passed", "skipped")
    ]


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-30:])

"""Kubernetes' own specs of workloads, pods, scheduling and networks, on the embedded server and its simulation."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from conformance.e2e import VERSION, run_matching
from conformance.expectations import SIMULATED, judged, skip_pattern, skipped
from conformance.ginkgo import Spec
from conformance.results import Result, Suite, read_suites
from conformance.servers import EMBEDDED, Server
from listwatch.testing.real.child_process import ChildProcess

__all__ = ["run", "run_focused"]

_TOPICS = (
    r"(\[sig-(apps|network|node|scheduling)\]"
    r"|\[sig-api-machinery\] (Garbage collector|Namespaces|OrderedNamespaceDeletion|ResourceQuota))"
)
_STARTUP_TIMEOUT = 60.0


async def run(folder: Path, *, focus: str = "") -> list[Suite]:
    """Run the specs, or those that match; specs that need a container's output or network do not apply.

    Serial specs change nodes, so they have a server of their own, and run at the same time as the others.
    """
    pattern = rf"{_TOPICS}.*({focus}).*\[Conformance\]" if focus else rf"{_TOPICS}.*\[Conformance\]"
    async with _server(folder / "parallel") as parallel, _server(folder / "serial") as serial:
        specs = await run_matching(parallel, pattern, skip=skip_pattern(SIMULATED), serial=serial)
    return [Suite("Kubernetes, simulated cluster", VERSION, tuple(map(_result, specs)))]


async def run_focused(folder: Path, focus: str) -> list[Suite]:
    """Run only the specs that match, and return them with the stored results of the others."""
    [new] = await run(folder, focus=focus)
    names = {result.name for result in new.results}
    kept = [result for suite in read_suites("simulated") for result in suite.results if result.name not in names]
    return [replace(new, results=(*kept, *new.results))]


@asynccontextmanager
async def _server(folder: Path) -> AsyncIterator[Server]:
    server = Server(EMBEDDED, folder / EMBEDDED)
    server.folder.mkdir(parents=True)
    command = [sys.executable, "-m", "conformance.simulated_server", str(server.kubeconfig_file)]
    process = ChildProcess(command, log=server.folder / "server.log")

    async def is_ready() -> bool:
        return server.kubeconfig_file.exists()

    await process.start()
    try:
        await process.wait_until(is_ready, timeout=_STARTUP_TIMEOUT)
        yield server
    finally:
        await process.stop()


def _result(spec: Spec) -> Result:
    if not spec.ran:
        return skipped(spec.name, SIMULATED, spec.message)
    return judged(spec.name, passed=spec.passed, expectations=SIMULATED, details=spec.message)

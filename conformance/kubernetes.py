"""Kubernetes' own conformance specs of its API machinery, on both servers with the real controllers beside them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import listwatch as lw
from conformance.e2e import VERSION, run_matching
from conformance.expectations import KUBERNETES, judged, skip_pattern, skipped
from conformance.ginkgo import Spec
from conformance.results import Result, Suite, read_suites
from conformance.servers import EMBEDDED, REAL, ServerName, running
from conformance.simulated_nodes import NODE_FLAGS, SimulatedNodes
from conformance.webhook_pods import WebhookPods
from listwatch.testing import ControlPlane

__all__ = ["run", "run_focused"]

_FOCUS = r"\[sig-api-machinery\].*\[Conformance\]"
_NODES = 3


async def run(folder: Path, *, focus: str = _FOCUS) -> list[Suite]:
    """Run the specs on both servers at the same time; specs that fail on the real server do not apply."""
    real, embedded = await asyncio.gather(run_on(REAL, folder, focus), run_on(EMBEDDED, folder, focus))
    passed_on_real = {spec.name for spec in real if spec.passed}
    results = [_result(spec, passed_on_real=spec.name in passed_on_real) for spec in embedded]
    counts = {"passed": len(passed_on_real), "failed": sum(spec.ran and not spec.passed for spec in real)}
    return [Suite("Kubernetes, API machinery", VERSION, tuple(results), counts)]


async def run_focused(folder: Path, focus: str) -> list[Suite]:
    """Run only the specs that match, and return them with the stored results of the others."""
    [new] = await run(folder, focus=rf"\[sig-api-machinery\].*({focus}).*\[Conformance\]")
    stored = read_suites("kubernetes")
    if not stored:
        return [new]
    names = {result.name for result in new.results}
    kept = [result for result in stored[0].results if result.name not in names]
    # Those that passed here before had passed on the real server.
    before = sum(result.name in names and result.outcome == "passed" for result in stored[0].results)
    passed = stored[0].on_real_server["passed"] - before + new.on_real_server["passed"]
    counts = {"passed": passed, "failed": new.on_real_server["failed"]}
    return [replace(new, results=(*kept, *new.results), on_real_server=counts)]


async def run_on(name: ServerName, folder: Path, focus: str = _FOCUS) -> list[Spec]:
    """Run the specs on one server."""
    async with (
        WebhookPods(folder / f"{name}-webhooks") as webhooks,
        running(name, folder, flags=webhooks.real_flags if name == REAL else webhooks.embedded_flags) as server,
        lw.ClientSet(server.config) as client,
        webhooks.follow(client),
        SimulatedNodes(client, count=_NODES),
        ControlPlane(server, log_dir=server.folder, flags=NODE_FLAGS),
    ):
        return await run_matching(server, focus, skip=skip_pattern(KUBERNETES, on_real_server=name == REAL))


def _result(spec: Spec, *, passed_on_real: bool) -> Result:
    if not spec.ran:
        return skipped(spec.name, KUBERNETES, spec.message)
    if not spec.passed and not passed_on_real:
        return Result(spec.name, "not applicable", "fails on the real server as well")
    return judged(spec.name, passed=spec.passed, expectations=KUBERNETES, details=spec.message)

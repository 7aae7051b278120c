"""kubectl on both servers: the same commands, and a comparison of what they print."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import listwatch as lw
from conformance.kubectl.commands import Scenario, read_scenarios
from conformance.kubectl.comparison import Comparison, run_scenario
from conformance.results import Result, Suite
from conformance.servers import EMBEDDED, REAL, running
from conformance.simulated_nodes import NODE_FLAGS, SimulatedNodes
from listwatch.testing import ControlPlane, RealBinaries
from tools.build_realcluster import KUBERNETES

__all__ = ["run"]


async def run(folder: Path) -> list[Suite]:
    """Run each scenario on new servers."""
    kubectl = RealBinaries.find().kubectl
    assert kubectl is not None
    return [await _run(scenario, folder, kubectl) for scenario in read_scenarios()]


async def _run(scenario: Scenario, folder: Path, kubectl: Path) -> Suite:
    results = []
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(running(name, folder / scenario.name)) for name in (REAL, EMBEDDED)]
        if scenario.with_controllers:
            for server in servers:
                client = await stack.enter_async_context(lw.ClientSet(server.config))
                await stack.enter_async_context(SimulatedNodes(client, count=2))
                await stack.enter_async_context(ControlPlane(server, log_dir=server.folder, flags=NODE_FLAGS))
        async for comparison in run_scenario(scenario, *servers, kubectl):
            results.append(_result(comparison))
    suite = Suite(f"kubectl, {scenario.name.replace('-', ' ')}", KUBERNETES.version, tuple(results))
    print(f"  {suite}", flush=True)
    return suite


def _result(comparison: Comparison) -> Result:
    command = comparison.command
    name = f"{command.section}: kubectl {command.text}"
    if not comparison.equal:
        expected = bool(command.fails)
        return Result(name, "failed", command.fails, expected=expected, details=comparison.difference())
    if reason := command.differs or command.unlike:
        return Result(name, "not applicable", reason)
    return Result(name, "passed")

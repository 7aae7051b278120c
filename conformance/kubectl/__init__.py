"""kubectl and helm on both servers: the same commands, and a comparison of what they print."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import listwatch as lw
from conformance.kubectl.commands import Program, Scenario, read_scenarios
from conformance.kubectl.comparison import Comparison, run_scenario
from conformance.results import Result, Suite
from conformance.servers import EMBEDDED, REAL, running
from conformance.simulated_nodes import NODE_FLAGS, SimulatedNodes
from listwatch.server.controllers.enabled_controllers import CONTROLLERS
from listwatch.testing import ControlPlane, RealBinaries
from listwatch.testing.real.real_binaries import BinaryCache
from tools.build_realcluster import HELM, KUBERNETES

__all__ = ["run"]

_BUILT_IN_CONTROLLERS = [
    f"--controllers={','.join(sorted(CONTROLLERS))}",
    # Nothing renews the leases of the nodes.
    "--node-monitor-grace-period=1h",
    "--node-startup-grace-period=1h",
]
"""Flags of kube-controller-manager: it does what the embedded server does itself."""


async def run(folder: Path) -> list[Suite]:
    """Run each scenario on new servers."""
    programs = find_programs()
    return [await run_one(scenario, folder, programs) for scenario in read_scenarios()]


def find_programs() -> dict[Program, Path]:
    """The programs that scenarios use."""
    kubectl = RealBinaries.find().kubectl
    assert kubectl is not None
    return {"kubectl": kubectl, "helm": BinaryCache.of_user().place(HELM.name, HELM.version, "helm")}


async def run_one(scenario: Scenario, folder: Path, programs: Mapping[Program, Path]) -> Suite:
    """Run one scenario."""
    results = []
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(running(name, folder / scenario.name)) for name in (REAL, EMBEDDED)]
        if scenario.with_controllers:
            for server in servers:
                client = await stack.enter_async_context(lw.ClientSet(server.config))
                await stack.enter_async_context(SimulatedNodes(client, count=2))
                await stack.enter_async_context(ControlPlane(server, log_dir=server.folder, flags=NODE_FLAGS))
        else:
            real, _ = servers
            built_in = ControlPlane(real, scheduler=False, log_dir=real.folder, flags=_BUILT_IN_CONTROLLERS)
            await stack.enter_async_context(built_in)
        async for comparison in run_scenario(scenario, *servers, programs):
            results.append(_result(comparison))
    title, version = f"kubectl, {scenario.name.replace('-', ' ')}", KUBERNETES.version
    if scenario.program == "helm":
        title, version = "helm", HELM.version
    suite = Suite(title, version, tuple(results))
    print(f"  {suite}", flush=True)
    return suite


def _result(comparison: Comparison) -> Result:
    command = comparison.command
    name = f"{command.section}: {command.program} {command.text}"
    if not comparison.equal:
        expected = bool(command.fails)
        return Result(name, "failed", command.fails, expected=expected, details=comparison.difference())
    if reason := command.differs or command.unlike:
        return Result(name, "not applicable", reason)
    return Result(name, "passed")

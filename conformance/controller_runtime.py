"""The test suites of controller-runtime on the embedded server."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

from conformance.expectations import CONTROLLER_RUNTIME, judged, skip_pattern, skipped
from conformance.ginkgo import Spec, run_specs
from conformance.results import Result, Suite
from conformance.servers import EMBEDDED, running
from listwatch.testing.real.real_binaries import BinaryCache
from tools.build_realcluster import CONTROLLER_RUNTIME as PROJECT

__all__ = ["run"]

_TIMEOUT = 900.0
# The suites are written for an API server without kube-controller-manager.
_NO_CONTROLLERS = "--controllers="


async def run(folder: Path) -> list[Suite]:
    """Run each suite on a new server."""
    return [await _run(program, package, folder / program) for program, package in PROJECT.programs.items()]


async def _run(program: str, package: str, folder: Path) -> Suite:
    title = f"controller-runtime {package.removeprefix(PROJECT.module + '/')}"
    print(f"{title} {PROJECT.version}", flush=True)
    await asyncio.to_thread(folder.mkdir)
    async with running(EMBEDDED, folder, flags=[_NO_CONTROLLERS]) as server:
        specs = await run_specs(
            BinaryCache.of_user().place(PROJECT.name, PROJECT.version, program),
            [f"-ginkgo.skip={pattern}"] if (pattern := skip_pattern(CONTROLLER_RUNTIME)) else [],
            title=title,
            folder=folder,
            working_directory=_source(package),
            environment={"KUBECONFIG": str(server.kubeconfig_file), "USE_EXISTING_CLUSTER": "true"},
            timeout=_TIMEOUT,
        )
    return Suite(title, PROJECT.version, tuple(result for spec in specs if (result := _result(spec))))


def _result(spec: Spec) -> Result | None:
    if spec.state == "pending":  # its authors have switched it off
        return None
    if not spec.ran:
        return skipped(spec.name, CONTROLLER_RUNTIME, spec.message)
    return judged(spec.name, passed=spec.passed, expectations=CONTROLLER_RUNTIME, details=spec.message)


def _source(package: str) -> Path:
    """The folder of the package, in which its tests find their data."""
    command = ["go", "list", "-json=Dir", package]
    found = subprocess.run(command, cwd=PROJECT.folder, check=True, capture_output=True, text=True)
    return Path(json.loads(found.stdout)["Dir"])

"""Kubernetes' own conformance specs of its API machinery, on both servers with the real controllers beside them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import listwatch as lw
from conformance.expectations import KUBERNETES, judged, skip_pattern, skipped
from conformance.ginkgo import Spec, run_specs
from conformance.results import Result, Suite, read_suites
from conformance.servers import EMBEDDED, REAL, Server, ServerName, running
from conformance.simulated_nodes import NODE_FLAGS, SimulatedNodes
from conformance.webhook_pods import WebhookPods
from listwatch.testing import ControlPlane
from listwatch.testing.real.real_binaries import BinaryCache
from tools.build_realcluster import E2E
from tools.build_realcluster import KUBERNETES as KUBERNETES_PROJECT

__all__ = ["run", "run_focused"]

_TIMEOUT = 3600.0
_FOCUS = r"\[sig-api-machinery\].*\[Conformance\]"
_SERIAL = "[Serial]"
# Specs mostly wait, so several processes run them.
_PROCESSES = 4
_NODES = 3


async def run(folder: Path, *, focus: str = _FOCUS) -> list[Suite]:
    """Run the specs on both servers at the same time; specs that fail on the real server do not apply."""
    real, embedded = await asyncio.gather(run_on(REAL, folder, focus), run_on(EMBEDDED, folder, focus))
    passed_on_real = {spec.name for spec in real if spec.passed}
    results = [_result(spec, passed_on_real=spec.name in passed_on_real) for spec in embedded]
    counts = {"passed": len(passed_on_real), "failed": sum(spec.ran and not spec.passed for spec in real)}
    return [Suite("Kubernetes, API machinery", E2E.version, tuple(results), counts)]


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
        plan = await _run(server, "plan", ["-ginkgo.dry-run", f"-ginkgo.focus={focus}", *_skipped(name)])
        planned = [spec.name for spec in plan if spec.ran]
        parallel = [each for each in planned if _SERIAL not in each]
        shares = [parallel[number::_PROCESSES] for number in range(_PROCESSES)]
        ran = await asyncio.gather(
            *(_run(server, f"share-{number}", _only(share)) for number, share in enumerate(shares) if share)
        )
        serial = [each for each in planned if _SERIAL in each]
        last = await _run(server, "serial", _only(serial)) if serial else []
    outcomes = {spec.name: spec for specs in (*ran, last) for spec in specs if spec.ran}
    return [
        outcomes.get(spec.name, Spec(spec.name, "failed", "it did not run")) if spec.ran else spec
        for spec in plan
        if re.search(focus, spec.name)
    ]


async def _run(server: Server, title: str, arguments: Sequence[str]) -> list[Spec]:
    [program] = E2E.programs
    (folder := server.folder / title).mkdir()
    return await run_specs(
        BinaryCache.of_user().place(E2E.name, E2E.version, program),
        [f"-kubeconfig={server.kubeconfig_file}", f"-kubectl-path={_kubectl()}", "-provider=skeleton", *arguments],
        title=f"Kubernetes' specs on the {server.name} server, {title}",
        folder=folder,
        working_directory=folder,
        environment={},
        timeout=_TIMEOUT,
    )


def _kubectl() -> Path:
    return BinaryCache.of_user().place(KUBERNETES_PROJECT.name, KUBERNETES_PROJECT.version, "kubectl")


def _skipped(server: ServerName) -> list[str]:
    return [f"-ginkgo.skip={skip_pattern(KUBERNETES, on_real_server=server == REAL)}"]


def _only(names: Sequence[str]) -> list[str]:
    # The names that Ginkgo matches begin with the description of the suite.
    return ["-ginkgo.focus=" + "|".join(f"{_escaped(name)}$" for name in names)]


def _escaped(text: str) -> str:
    """As re.escape, but Go rejects the escapes of characters without a meaning."""
    return re.sub(r"[.^$*+?()\[\]{}|\\]", r"\\\g<0>", text)


def _result(spec: Spec, *, passed_on_real: bool) -> Result:
    if not spec.ran:
        return skipped(spec.name, KUBERNETES, spec.message)
    if not spec.passed and not passed_on_real:
        return Result(spec.name, "not applicable", "fails on the real server as well")
    return judged(spec.name, passed=spec.passed, expectations=KUBERNETES, details=spec.message)

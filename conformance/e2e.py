"""Runs Kubernetes' own specs on a server: several at a time, then the serial ones."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

from conformance.ginkgo import Spec, run_specs
from conformance.servers import Server
from listwatch.testing.real.real_binaries import BinaryCache
from tools.build_realcluster import E2E, KUBERNETES

__all__ = ["VERSION", "run_matching"]

VERSION = E2E.version
_TIMEOUT = 3600.0
_SERIAL = "[Serial]"
# Specs mostly wait, so several processes run them.
_PROCESSES = 6


async def run_matching(server: Server, focus: str, *, skip: str, serial: Server | None = None) -> list[Spec]:
    """Run the specs whose names match `focus`, and return them with those that match `skip`, which are not run.

    Serial specs run after the others, or at the same time on a server of their own.
    """
    plan = await _run(server, "plan", ["-ginkgo.dry-run", f"-ginkgo.focus={focus}", f"-ginkgo.skip={skip}"])
    planned = [spec.name for spec in plan if spec.ran]
    parallel = [each for each in planned if _SERIAL not in each]
    shares = [parallel[number::_PROCESSES] for number in range(_PROCESSES)]
    runs = [_run(server, f"share-{number}", _only(share)) for number, share in enumerate(shares) if share]
    alone = [each for each in planned if _SERIAL in each]
    if serial is not None and alone:
        runs.append(_run(serial, "serial", _only(alone)))
    ran = await asyncio.gather(*runs)
    if serial is None and alone:
        ran.append(await _run(server, "serial", _only(alone)))
    outcomes = {spec.name: spec for specs in ran for spec in specs if spec.ran}
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
    return BinaryCache.of_user().place(KUBERNETES.name, KUBERNETES.version, "kubectl")


def _only(names: Sequence[str]) -> list[str]:
    # The names that Ginkgo matches begin with the description of the suite.
    return ["-ginkgo.focus=" + "|".join(f"{_escaped(name)}$" for name in names)]


def _escaped(text: str) -> str:
    """As re.escape, but Go rejects the escapes of characters without a meaning."""
    return re.sub(r"[.^$*+?()\[\]{}|\\]", r"\\\g<0>", text)

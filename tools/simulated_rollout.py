"""Rolls out a large Deployment on a simulated cluster with kubectl, and measures the process of the server.

    python -m tools.simulated_rollout                      5,000 pods
    python -m tools.simulated_rollout --pods 500 --real    also with the real controllers and scheduler, and compares

Steps: create, wait for the rollout, scale to 0, wait until the pods are gone. With `--real`, kube-controller-manager
and kube-scheduler do the same over the same simulated kubelets, and the Deployments, ReplicaSets and pods after the
rollout are compared, without times, uids, addresses and generated names. The exit code is 1 if they differ.
`make conformance` builds the programs.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import listwatch as lw
from listwatch.server import APIServer
from listwatch.simulation import SimulationOptions
from listwatch.testing import ControlPlane
from listwatch.testing.real.child_process import ChildProcess
from listwatch.testing.real.real_binaries import BinaryCache
from tools.build_realcluster import KUBERNETES
from tools.normalized_objects import normalized, sort_key

_PODS_PER_NODE = 100
_TIMEOUT = 3600
_NAME = "web"


def main() -> int:
    """Run as a command."""
    parser = argparse.ArgumentParser(prog="python -m tools.simulated_rollout", description=__doc__.splitlines()[0])
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--real", action="store_true", help="also with the real controllers, and compare the objects")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(_serve(options.serve, options.pods, real=options.real))
        return 0
    return asyncio.run(_run(options.pods, compare=options.real))


async def _run(pods: int, *, compare: bool) -> int:
    simulated = await _roll_out(pods, real=False)
    if not compare:
        return 0
    real = await _roll_out(pods, real=True)
    different = [name for name in real if simulated[name] != real[name]]
    for name in different:
        pairs = zip(simulated[name], real[name], strict=False)
        ours, theirs = next((pair for pair in pairs if pair[0] != pair[1]), (simulated[name][-1:], real[name][-1:]))
        print(f"{name} differ ({len(simulated[name])} and {len(real[name])}):\n  {ours}\n  {theirs}")
    if not different:
        print(f"equal: {', '.join(f'{len(items)} {name}' for name, items in real.items())}")
    return 1 if different else 0


async def _roll_out(pods: int, *, real: bool) -> dict[str, list[Any]]:
    print(f"--- {pods} pods, {'real' if real else 'simulated'} controllers", flush=True)
    with tempfile.TemporaryDirectory(prefix="listwatch-") as folder:
        kubeconfig = Path(folder, "kubeconfig")
        command = [sys.executable, "-m", "tools.simulated_rollout", "--serve", str(kubeconfig), "--pods", str(pods)]
        server = ChildProcess([*command, *(["--real"] if real else [])], log=Path(folder, "server.log"))

        async def is_ready() -> bool:
            return await asyncio.to_thread(kubeconfig.exists)

        await server.start()
        try:
            await server.wait_until(is_ready, timeout=300.0)
            async with lw.ClientSet(lw.load_config(kubeconfig)) as client:
                run = _Run(server.pid, kubeconfig, client)
                create = ("create", "deployment", _NAME, "--image=web:1", f"--replicas={pods}")
                await run.step(
                    "rollout", create, ("rollout", "status", f"deployment/{_NAME}", f"--timeout={_TIMEOUT}s")
                )
                found = await _objects(client)
                await run.step("scale-down", ("scale", f"deployment/{_NAME}", "--replicas=0"), until=_is_gone)
                return found
        finally:
            await server.stop()


class _Run:
    """Runs kubectl, and prints what each step takes in the process of the server."""

    def __init__(self, pid: int, kubeconfig: Path, client: lw.ClientSet) -> None:
        self._pid = pid
        self._client = client
        self._kubeconfig = kubeconfig

    async def step(self, title: str, *commands: tuple[str, ...], until: Callable[[Any], bool] | None = None) -> None:
        began, cpu, requests = time.monotonic(), self._cpu(), await self._requests()
        for command in commands:
            await self._kubectl(*command)
        if until:
            # `kubectl wait --for=delete` would get each pod, and limit the rate of these requests.
            await lw.wait_for(self._client.apps_v1.deployments("default"), _NAME, until, timeout=_TIMEOUT)
        seconds, used = time.monotonic() - began, self._cpu() - cpu
        count = await self._requests() - requests
        print(
            f"{title}: {seconds:.0f} s, CPU {used:.0f} s, {count} requests, peak memory {self._peak()} MB", flush=True
        )

    async def _kubectl(self, *arguments: str) -> str:
        program = BinaryCache.of_user().place(KUBERNETES.name, KUBERNETES.version, "kubectl")
        process = await asyncio.create_subprocess_exec(
            program, "--kubeconfig", self._kubeconfig, *arguments, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
        if process.returncode:
            raise SystemExit(f"kubectl {' '.join(arguments)} failed with {process.returncode}")
        return output.decode()

    async def _requests(self) -> int:
        text = await self._kubectl("get", "--raw", "/metrics")
        [line] = [each for each in text.splitlines() if each.startswith("listwatch_server_requests_total")]
        return int(float(line.split()[-1]))

    def _cpu(self) -> float:
        fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _peak(self) -> int:
        lines = Path(f"/proc/{self._pid}/status").read_text().splitlines()
        return next(int(each.split()[1]) // 1000 for each in lines if each.startswith("VmHWM"))


def _is_gone(deployment: Any) -> bool:
    return not deployment.status.replicas and not deployment.status.terminating_replicas


async def _objects(client: lw.ClientSet) -> dict[str, list[Any]]:
    kinds: dict[str, Any] = {
        "deployments": client.apps_v1.deployments("default"),
        "replicasets": client.apps_v1.replicasets("default"),
        "pods": client.core_v1.pods("default"),
    }
    found = {}
    for name, resource in kinds.items():
        trees = [normalized(each.to_dict()) for each in await resource.list()]
        found[name] = sorted(trees, key=sort_key)
    return found


async def _serve(kubeconfig: Path, pods: int, *, real: bool) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    nodes = -(-pods // _PODS_PER_NODE)
    options = SimulationOptions(nodes=nodes, controllers=not real, scheduler=not real)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(APIServer(simulate=options, tls=True))
        if real:
            client = await stack.enter_async_context(lw.ClientSet(server.config))
            # Without these, the controllers create 20 pods a second.
            fast = ("--kube-api-qps=1000", "--kube-api-burst=1000")
            await stack.enter_async_context(ControlPlane(server, flags=fast, scheduler_flags=fast))
            accounts = client.core_v1.serviceaccounts("default")
            await lw.wait_for(accounts, "default", "created", timeout=120.0)
        server.kubeconfig(kubeconfig)
        await stopped.wait()


if __name__ == "__main__":
    sys.exit(main())

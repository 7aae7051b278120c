"""An embedded server with a simulated cluster, as a program: `python -m conformance.simulated_server KUBECONFIG`."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import listwatch as lw
from conformance.spec_kubelet import STAGES, SpecKubelet
from conformance.spec_programs import SpecPrograms
from listwatch.server import APIServer
from listwatch.simulation import SimulationOptions

_NODES = 3


async def main(kubeconfig: Path) -> None:
    """Serve until SIGTERM; the kubeconfig file is written when the server is ready."""
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    options = SimulationOptions(nodes=_NODES, program=SpecPrograms(), stages=STAGES)
    kubelet = SpecKubelet()
    server = APIServer(simulate=options, kubelet=kubelet, tls=True, authorization="rbac")
    async with server, lw.ClientSet(server.config) as client:
        kubelet.client = client
        server.kubeconfig(kubeconfig)
        await stopped.wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))

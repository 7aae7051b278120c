"""The two API servers: the real kube-apiserver, and the embedded one in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from listwatch.client import ClientConfig, load_config
from listwatch.testing import RealAPIServer
from listwatch.testing.real.child_process import ChildProcess

__all__ = ["EMBEDDED", "REAL", "SERVERS", "Server", "ServerName", "running"]

ServerName = Literal["real", "embedded"]
REAL: ServerName = "real"
EMBEDDED: ServerName = "embedded"
SERVERS: tuple[ServerName, ...] = (REAL, EMBEDDED)

_STARTUP_TIMEOUT = 60.0
# That of the embedded server.
_SERVICE_RANGE = "--service-cluster-ip-range=10.96.0.0/16"


@dataclass(frozen=True)
class Server:
    """A running API server, as programs see it: by its kubeconfig."""

    name: ServerName
    folder: Path
    """For files of the run: logs, and what the programs write."""

    @property
    def kubeconfig_file(self) -> Path:
        return self.folder / "kubeconfig"

    @property
    def config(self) -> ClientConfig:
        return load_config(kubeconfig=str(self.kubeconfig_file))

    def kubeconfig(self, path: Path) -> None:
        path.write_bytes(self.kubeconfig_file.read_bytes())


@asynccontextmanager
async def running(name: ServerName, folder: Path, *, flags: Sequence[str] = ()) -> AsyncIterator[Server]:
    """Run one of the servers with additional flags, which are those of the server."""
    server = Server(name, folder / name)
    server.folder.mkdir(parents=True)
    if name == REAL:
        async with RealAPIServer(data_dir=server.folder, flags=[_SERVICE_RANGE, *flags]) as real:
            real.kubeconfig(server.kubeconfig_file)
            yield server
    else:
        async with _embedded(server, flags):
            yield server


@asynccontextmanager
async def _embedded(server: Server, flags: Sequence[str]) -> AsyncIterator[None]:
    command = [sys.executable, "-m", "listwatch.server", "--write-kubeconfig", str(server.kubeconfig_file)]
    command += ["--authorization-mode=RBAC", *flags]
    process = ChildProcess(command, log=server.folder / "server.log")

    async def is_ready() -> bool:
        return server.kubeconfig_file.exists()

    await process.start()
    try:
        await process.wait_until(is_ready, timeout=_STARTUP_TIMEOUT)
        yield
    finally:
        await process.stop()

"""A kubelet whose containers are this machine: commands run as child processes, ports are ports of loopback."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from listwatch.client import ClientSet, ResourceClient
from listwatch.errors import InternalServerError
from listwatch.models.core_v1 import Pod
from listwatch.server import APIServer, ExecSession, Kubelet, PortConnection


class LocalKubelet(Kubelet):
    """Runs commands in a folder; their environment has only PATH."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.commands: list[tuple[str, ...]] = []

    async def exec(self, session: ExecSession) -> int:
        self.commands.append(session.command)
        pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE}
        try:
            process = await asyncio.create_subprocess_exec(
                *session.command, **pipes, cwd=self.folder, env={"PATH": os.environ["PATH"], "LC_ALL": "C"}
            )
        except FileNotFoundError:
            raise InternalServerError(
                f"Internal error occurred: exec failed: {session.command[0]!r}: executable file not found in $PATH"
            ) from None
        try:
            async with asyncio.TaskGroup() as group:
                feeding = group.create_task(self._feed(session, process))
                outputs = [
                    group.create_task(self._pump(process.stdout, session.stdout)),
                    group.create_task(self._pump(process.stderr, session.stderr)),
                ]
                await asyncio.wait(outputs)
                code = await process.wait()
                feeding.cancel()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return code if code >= 0 else 128 - code

    async def port_forward(self, connection: PortConnection) -> None:
        await connection.forward_to("127.0.0.1", connection.port)

    @staticmethod
    async def _feed(session: ExecSession, process: asyncio.subprocess.Process) -> None:
        assert process.stdin
        with suppress(ConnectionError):
            async for piece in session.stdin:
                process.stdin.write(piece)
                await process.stdin.drain()
        process.stdin.close()

    @staticmethod
    async def _pump(reader: asyncio.StreamReader | None, output: Any) -> None:
        assert reader
        while data := await reader.read(2**16):
            await output.write(data)


def pod_tree(name: str, *containers: str, **labels: str) -> dict[str, Any]:
    """A pod that runs, with its containers ready."""
    names = containers or ("main",)
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"nodeName": "n1", "containers": [{"name": each, "image": "x"} for each in names]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


@asynccontextmanager
async def served_pods(kubelet: Kubelet | None, *trees: dict[str, Any]) -> AsyncIterator[ResourceClient[Pod]]:
    """A server with a kubelet and pods in the namespace default, and the client of the pods."""
    async with APIServer(kubelet=kubelet) as server, ClientSet(server.config) as client:
        pods = client.core_v1.pods("default")
        for tree in trees or (pod_tree("web-0"),):
            created = await pods.create(tree)
            created.status = Pod.from_dict(tree).status
            await pods.update_status(created)
        yield pods

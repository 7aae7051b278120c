"""Runs the scenarios on both servers and compares exit codes and outputs."""

from __future__ import annotations

import asyncio
import difflib
import os
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.kubectl.commands import MANIFESTS, Command, Scenario
from conformance.kubectl.normalize import normalized
from conformance.servers import Server

__all__ = ["Comparison", "Output", "run_scenario"]

TIMEOUT = 30.0
_RETRIES = 40
_RETRY_INTERVAL = 0.5
_CHANGES = (
    's/port: "80"/port: "81"/',
    "s/memory: 1Gi/memory: 2Gi/",
    "s/replicas: 5/replicas: 6/",
    "s/size: 20/size: 30/",
)
_EDITOR = f"""#!/bin/sh
exec sed -i '{"; ".join(_CHANGES)}' "$1"
"""


@dataclass(frozen=True)
class Output:
    """What a command printed."""

    exit_code: int
    stdout: str
    stderr: str

    def lines(self) -> list[str]:
        errors = [f"! {line}" for line in self.stderr.splitlines()]
        return [f"exit code {self.exit_code}", *self.stdout.splitlines(), *errors]


@dataclass(frozen=True)
class Comparison:
    """The outputs of one command on the two servers."""

    scenario: str
    command: Command
    real: Output
    embedded: Output

    @property
    def equal(self) -> bool:
        if self.command.unlike:
            return True
        if self.command.differs:
            return (self.real.exit_code == 0) == (self.embedded.exit_code == 0)
        if self.command.more:
            return not Counter(self.real.lines()) - Counter(self.embedded.lines())
        return self.real == self.embedded

    def difference(self) -> str:
        """The lines that differ, of the real server with `-`, of the embedded one with `+`."""
        lines = difflib.unified_diff(self.real.lines(), self.embedded.lines(), "real", "embedded", n=2, lineterm="")
        return "\n".join(lines)


async def run_scenario(scenario: Scenario, real: Server, embedded: Server, kubectl: Path) -> AsyncIterator[Comparison]:
    """Run each command on both servers at the same time."""
    users = [_User(server, scenario, kubectl) for server in (real, embedded)]
    for user in users:
        user.prepare()
    await asyncio.gather(*(user.create_namespace() for user in users))
    for command in scenario.commands:
        of_real, of_embedded = await asyncio.gather(*(user.run(command) for user in users))
        yield Comparison(scenario.name, command, of_real, of_embedded)


class _User:
    """A user of kubectl, with a folder of manifests."""

    def __init__(self, server: Server, scenario: Scenario, kubectl: Path) -> None:
        self._server = server
        self._namespace = scenario.namespace
        self._kubectl = kubectl
        self._folder = server.folder / scenario.name

    def prepare(self) -> None:
        self._folder.mkdir()
        for path in MANIFESTS.iterdir():
            (self._folder / path.name).write_text(path.read_text().replace("{namespace}", self._namespace))
        editor = self._folder / "editor"
        editor.write_text(_EDITOR)
        editor.chmod(0o755)

    async def create_namespace(self) -> None:
        output = await self._execute(["create", "namespace", self._namespace], 0)
        assert output.exit_code == 0, output

    async def run(self, command: Command) -> Output:
        arguments = ["--namespace", self._namespace, *command.arguments(self._namespace)]
        output = await self._execute(arguments, command.lines)
        for _ in range(_RETRIES if command.until_it_succeeds else 0):
            if output.exit_code == 0:
                break
            await asyncio.sleep(_RETRY_INTERVAL)
            output = await self._execute(arguments, command.lines)
        return output

    async def _execute(self, arguments: Sequence[str], lines: int) -> Output:
        process = await asyncio.create_subprocess_exec(
            self._kubectl,
            *arguments,
            cwd=self._folder,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self._server.folder),
                "KUBECONFIG": str(self._server.kubeconfig_file),
                "KUBE_EDITOR": str(self._folder / "editor"),
            },
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(TIMEOUT):
                stdout, stderr = await (_first_lines(process, lines) if lines else process.communicate())
        except TimeoutError:
            process.kill()
            stdout, stderr = await process.communicate()
            stderr += f"\nkubectl did not end within {TIMEOUT:g} s".encode()
        folder = str(self._server.folder)
        exit_code = 0 if lines else await process.wait()
        return Output(exit_code, normalized(stdout.decode(), folder), normalized(stderr.decode(), folder))


async def _first_lines(process: asyncio.subprocess.Process, count: int) -> tuple[bytes, bytes]:
    assert process.stdout is not None
    lines = [await process.stdout.readline() for _ in range(count)]
    process.terminate()
    _, stderr = await process.communicate()
    return b"".join(lines), stderr

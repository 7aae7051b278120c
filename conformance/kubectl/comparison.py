"""Runs the scenarios on both servers and compares exit codes and outputs."""

from __future__ import annotations

import asyncio
import difflib
import os
import re
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from conformance.kubectl.commands import MANIFESTS, Command, Program, Scenario
from conformance.kubectl.normalize import normalized
from conformance.servers import Server
from listwatch.server.access.certificates import CertificateAuthority, KeyPair

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
_FIELD = re.compile(r"^(?:[A-Z]+:.*| *\w+\s+<[\w\[\].]+>)", re.MULTILINE)
_KEY = re.compile(r'^ *("\w+"):', re.MULTILINE)
# What the controllers of a cluster add to a new namespace.
_NAMESPACE_CONTENTS = ("serviceaccount/default", "configmap/kube-root-ca.crt")
_PLAIN = Command("", "")
_EDITOR = f"""#!/bin/sh
exec sed -i '{"; ".join(_CHANGES)}' "$1"
"""


class Output(NamedTuple):
    """What a command printed."""

    exit_code: int
    stdout: str
    stderr: str

    def lines(self) -> list[str]:
        errors = [f"! {line}" for line in self.stderr.splitlines()]
        return [f"exit code {self.exit_code}", *self.stdout.splitlines(), *errors]

    def last_line(self) -> Output:
        return Output(self.exit_code, self.stdout.rpartition("\n")[2], self.stderr)

    def unordered(self) -> Output:
        return Output(self.exit_code, *("\n".join(sorted(re.split(r"[\s,]+", text))) for text in self[1:]))

    def keys(self) -> Output:
        return Output(self.exit_code, "\n".join(_KEY.findall(self.stdout)), self.stderr)

    def fields(self) -> Output:
        """The fields that `explain` shows, without descriptions and whether they are required."""
        return Output(self.exit_code, "\n".join(_FIELD.findall(self.stdout)), self.stderr)


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
        real, embedded = self._compared(self.real), self._compared(self.embedded)
        if self.command.more or self.command.fields:
            return not Counter(real.lines()) - Counter(embedded.lines())
        return real == embedded

    def _compared(self, output: Output) -> Output:
        """The part of an output that has to be equal."""
        if self.command.last:
            return output.last_line()
        if self.command.unordered:
            return output.unordered()
        if self.command.keys:
            return output.keys()
        return output.fields() if self.command.fields else output

    def difference(self) -> str:
        """The lines that differ, of the real server with `-`, of the embedded one with `+`."""
        real, embedded = self._compared(self.real).lines(), self._compared(self.embedded).lines()
        lines = difflib.unified_diff(real, embedded, "real", "embedded", n=2, lineterm="")
        return "\n".join(lines)


async def run_scenario(
    scenario: Scenario, real: Server, embedded: Server, programs: Mapping[Program, Path]
) -> AsyncIterator[Comparison]:
    """Run each command on both servers at the same time."""
    users = [_User(server, scenario, programs) for server in (real, embedded)]
    certificate = CertificateAuthority.create().issue("example.com")
    for user in users:
        user.prepare(certificate)
    await asyncio.gather(*(user.create_namespace() for user in users))
    for command in scenario.commands:
        of_real, of_embedded = await asyncio.gather(*(user.run(command) for user in users))
        yield Comparison(scenario.name, command, of_real, of_embedded)


class _User:
    """A user of the programs, with a folder of manifests."""

    def __init__(self, server: Server, scenario: Scenario, programs: Mapping[Program, Path]) -> None:
        self._server = server
        self._namespace = scenario.namespace
        self._programs = programs
        self._folder = server.folder / scenario.name

    def prepare(self, certificate: KeyPair) -> None:
        self._folder.mkdir()
        (self._folder / "tls.crt").write_bytes(certificate.certificate)
        (self._folder / "tls.key").write_bytes(certificate.key)
        for path in MANIFESTS.rglob("*.*"):
            copy = self._folder / path.relative_to(MANIFESTS)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(path.read_text().replace("{namespace}", self._namespace))
        editor = self._folder / "editor"
        editor.write_text(_EDITOR)
        editor.chmod(0o755)

    async def create_namespace(self) -> None:
        output = await self._execute(["create", "namespace", self._namespace])
        assert output.exit_code == 0, output
        for each in _NAMESPACE_CONTENTS:
            wait = ["--namespace", self._namespace, "wait", "--for=create", each, "--timeout=25s"]
            output = await self._execute(wait)
            assert output.exit_code == 0, output

    async def run(self, command: Command) -> Output:
        arguments = command.arguments(self._namespace)
        output = await self._execute(arguments, command)
        for _ in range(_RETRIES if command.until_it_succeeds else 0):
            if output.exit_code == 0:
                break
            await asyncio.sleep(_RETRY_INTERVAL)
            output = await self._execute(arguments, command)
        return output

    async def _execute(self, arguments: Sequence[str], command: Command = _PLAIN) -> Output:
        lines = command.lines
        process = await asyncio.create_subprocess_exec(
            self._programs[command.program],
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
                stdout, stderr = await (self._watch(process, command) if lines else process.communicate())
        except TimeoutError:
            process.kill()
            stdout, stderr = await process.communicate()
            stderr += f"\n{command.program} did not end within {TIMEOUT:g} s".encode()
        folder = str(self._server.folder)
        exit_code = 0 if lines else await process.wait()
        return Output(exit_code, normalized(stdout.decode(), folder), normalized(stderr.decode(), folder))

    async def _watch(self, process: asyncio.subprocess.Process, command: Command) -> tuple[bytes, bytes]:
        """Read the first lines of a process that does not end by itself."""
        assert process.stdout is not None
        found = [await process.stdout.readline()]
        if then := command.arguments_of_next(self._namespace):
            await self._execute(then)
        found += [await process.stdout.readline() for _ in range(command.lines - 1)]
        process.terminate()
        _, stderr = await process.communicate()
        return b"".join(found), stderr

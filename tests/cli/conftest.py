"""The command line against an embedded server: in a thread of this process, or as a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from listwatch.cli.__main__ import main
from listwatch.client import ClientSet
from listwatch.server import APIServer


class Done(NamedTuple):
    code: int
    out: str
    errors: str

    @property
    def rows(self) -> list[list[str]]:
        """The words of each line."""
        return [line.split() for line in self.out.splitlines()]


Run = Callable[..., Awaitable[Done]]


@pytest.fixture
async def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[APIServer]:
    """An embedded server, which the kubeconfig of the environment selects."""
    async with APIServer(tls=True, bootstrap=False) as running:
        running.kubeconfig(tmp_path / "kubeconfig")
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
        monkeypatch.setenv("HOME", str(tmp_path))
        yield running


@pytest.fixture
async def client(server: APIServer) -> AsyncIterator[ClientSet]:
    async with ClientSet(server.config) as connected:
        yield connected


@pytest.fixture
def run() -> Run:
    """Runs a command in a thread, and returns its exit code and output."""

    def call(arguments: tuple[str, ...]) -> Done:
        out, errors = io.StringIO(), io.StringIO()
        handlers = logging.getLogger().handlers[:]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code = main(arguments)
        logging.getLogger().handlers[:] = handlers
        return Done(code, out.getvalue(), errors.getvalue())

    async def run_in_thread(*arguments: str) -> Done:
        return await asyncio.to_thread(call, arguments)

    return run_in_thread


class Process:
    """`python -m listwatch` as a process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def line(self) -> str:
        assert self.process.stdout is not None
        return (await self.process.stdout.readline()).decode().rstrip("\n")

    async def error_line(self) -> str:
        assert self.process.stderr is not None
        return (await self.process.stderr.readline()).decode().rstrip("\n")

    async def end(self, text: str = "") -> Done:
        out, errors = await self.process.communicate(text.encode())
        return Done(self.process.returncode or 0, (out or b"").decode(), errors.decode())


@pytest.fixture
async def start() -> AsyncIterator[Callable[..., Awaitable[Process]]]:
    """Starts a command as a process."""
    started: list[asyncio.subprocess.Process] = []

    async def start_process(*arguments: str, stdout: Any = asyncio.subprocess.PIPE, **environment: str) -> Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "listwatch",
            *arguments,
            env={**os.environ, **environment},
            stdin=asyncio.subprocess.PIPE,
            stdout=stdout,
            stderr=asyncio.subprocess.PIPE,
        )
        started.append(process)
        return Process(process)

    yield start_process
    for process in started:
        if process.returncode is None:
            process.kill()
        await process.communicate()

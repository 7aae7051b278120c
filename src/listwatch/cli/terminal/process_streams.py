"""Connects a remote process with the standard streams of this one."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import nullcontext, suppress
from typing import TextIO

from listwatch.cli.terminal.raw_terminal import is_terminal, raw_terminal, terminal_size
from listwatch.client.pods.remote_process import RemoteProcess
from listwatch.errors import ConnectionLostError

__all__ = ["run_process", "wants_terminal"]

_STDIN, _STDOUT = 0, 1
_READ_SIZE = 2**15


def wants_terminal(*, tty: bool, stdin: bool) -> bool:
    """Whether to request a terminal; reports why not if there is none here."""
    if not tty:
        return False
    if stdin and not is_terminal(_STDIN):
        print("no terminal is used: the standard input is not a terminal", file=sys.stderr)
        return False
    return True


async def run_process(process: RemoteProcess, *, stdin: bool, tty: bool) -> int:
    """Copy the input and the output until the process ends, and return its exit code.

    With `tty`, this terminal becomes a raw one, and its size is passed on.
    """
    async with process:
        resizing = _Resizing(process)
        is_raw = tty and stdin and is_terminal(_STDIN)
        with raw_terminal(_STDIN, resizing.start) if is_raw else nullcontext():
            if tty:
                resizing.start()
            sending = asyncio.create_task(_send_input(process)) if stdin else None
            try:
                async for stream, data in process:
                    _write(sys.stderr if stream == "stderr" else sys.stdout, data)
            finally:
                await resizing.stop()
                if sending is not None:
                    sending.cancel()
                    await asyncio.wait([sending])
            code = process.exit_code
    return 0 if code is None else code


def _write(file: TextIO, data: bytes) -> None:
    """Write bytes as they are; as text if a program has replaced the stream by one for text."""
    buffer = getattr(file, "buffer", None)
    if buffer is None:
        file.write(data.decode(errors="replace"))
    else:
        buffer.write(data)
        buffer.flush()


async def _send_input(process: RemoteProcess) -> None:
    with suppress(ConnectionLostError):  # reading the output reports it
        async for data in _read_input():
            await process.write(data)
        if process.can_close_stdin:
            await process.close_stdin()


async def _read_input() -> AsyncIterator[bytes]:
    """Yield what arrives at the standard input. Nothing is read ahead of what was sent."""
    while data := await _read_some():
        yield data


async def _read_some() -> bytes:
    loop = asyncio.get_running_loop()
    readable = loop.create_future()

    def set_readable() -> None:
        if not readable.done():
            readable.set_result(None)

    try:
        loop.add_reader(_STDIN, set_readable)
    except PermissionError:
        return await asyncio.to_thread(os.read, _STDIN, _READ_SIZE)  # a file, which never blocks for long
    try:
        await readable
    finally:
        loop.remove_reader(_STDIN)
    try:
        return os.read(_STDIN, _READ_SIZE)
    except OSError:
        return b""  # the terminal was closed


class _Resizing:
    """Sends the size of the terminal, one message at a time; a change meanwhile is sent after it."""

    def __init__(self, process: RemoteProcess) -> None:
        self._process = process
        self._is_pending = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._is_pending = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._send())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _send(self) -> None:
        with suppress(ConnectionLostError, OSError):
            while self._is_pending:
                self._is_pending = False
                await self._process.resize(*terminal_size(_STDOUT if is_terminal(_STDOUT) else _STDIN))

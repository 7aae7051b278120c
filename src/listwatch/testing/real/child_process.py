"""A program that runs beside this one and never outlives it. `real_etcd` and `real_api_server` are made of these."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from listwatch.errors import ProgramError, UsageError

__all__ = ["ChildProcess", "overridden"]

_POLL_INTERVAL = 0.1
_LINES_SHOWN = 15

# Becomes the program itself after having asked the kernel to be killed along with the thread that started it, in which
# the event loop runs. Done between fork and exec by Python itself, this could hang in a program with threads.
_DIES_WITH_ITS_PARENT = """
import ctypes, os, signal, sys
PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


class ChildProcess:
    """A program that writes into a log, may be started again once it has ended, and ends when this process does."""

    def __init__(self, command: Sequence[str | os.PathLike[str]], *, log: Path) -> None:
        self._command = [os.fspath(each) for each in command]
        self._name = Path(self._command[0]).name
        self._log = log
        self._process: asyncio.subprocess.Process | None = None

    def __repr__(self) -> str:
        return f"<{self._name}, {f'process {self.pid}' if self.is_running else 'not running'}>"

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def pid(self) -> int:
        if self._process is None:
            raise UsageError(f"{self._name} was not started")
        return self._process.pid

    async def start(self) -> None:
        if self.is_running:
            raise UsageError(f"{self._name} runs already")
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *_guarded(self._command),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # What is typed at the terminal is for us; we say when it ends.
                start_new_session=True,
            )

    async def wait_until(self, is_ready: Callable[[], Awaitable[bool]], *, timeout: float) -> None:
        """Ask again and again until it is ready; raises with the end of its log if that does not come to pass."""
        try:
            async with asyncio.timeout(timeout):
                while not await is_ready():
                    if not self.is_running:
                        raise ProgramError(f"{self._name} ended instead of getting ready; {self._last_words()}")
                    await asyncio.sleep(_POLL_INTERVAL)
        except TimeoutError:
            raise ProgramError(f"{self._name} was not ready after {timeout:g} s; {self._last_words()}") from None

    async def kill(self) -> None:
        """End it as a power failure would; returns when it is gone."""
        if self._process is not None:
            self._signal(self._process.kill)
            await self._process.wait()

    async def stop(self, *, patience: float = 10.0) -> None:
        """Ask it to end, and end it if it takes too long, or if nobody waits for it any more."""
        if self._process is None:
            return
        self._signal(self._process.terminate)
        try:
            await asyncio.wait_for(self._process.wait(), patience)
        except TimeoutError:
            await self.kill()
        except asyncio.CancelledError:
            self._signal(self._process.kill)
            raise

    def _signal(self, send: Callable[[], None]) -> None:
        if self.is_running:
            send()

    def _last_words(self) -> str:
        with self._log.open(errors="replace") as log:
            lines = deque((line.rstrip() for line in log), maxlen=_LINES_SHOWN)
        return "it said last:\n  " + "\n  ".join(lines) if lines else "it said nothing"


def overridden(flags: Sequence[str], by: Sequence[str]) -> list[str]:
    """Flags, as `--name=value`, less those that others name too, and the others: given twice, some flags mean both."""
    names = {flag.partition("=")[0] for flag in by}
    return [*(flag for flag in flags if flag.partition("=")[0] not in names), *by]


def _guarded(command: list[str]) -> list[str]:
    if sys.platform != "linux":
        return command
    return [sys.executable, "-I", "-S", "-c", _DIES_WITH_ITS_PARENT, str(os.getpid()), *command]

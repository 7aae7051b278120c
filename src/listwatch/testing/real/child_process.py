"""Child processes that never outlive this process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from listwatch.errors import ProgramError, UsageError

__all__ = ["ChildProcess", "overridden"]

_POLL_INTERVAL = 0.1
_LINES_SHOWN = 15

# Sets the signal that the kernel sends when the parent thread ends, then executes the program. A preexec_fn could
# deadlock in a process with threads.
_DIE_WITH_PARENT = """
import ctypes, os, signal, sys
PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


class ChildProcess:
    """A child process that writes to a log file, can be restarted, and ends with this process."""

    def __init__(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        log: Path,
        working_directory: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._command = [os.fspath(each) for each in command]
        self._name = Path(self._command[0]).name
        self._log = log
        self._working_directory = working_directory
        self._environment = environment
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
            raise UsageError(f"{self._name} is already running")
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *_guarded(self._command),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._working_directory,
                env=None if self._environment is None else {**os.environ, **self._environment},
                # Signals of the terminal, such as Ctrl-C, must not reach it.
                start_new_session=True,
            )

    async def wait_until(self, is_ready: Callable[[], Awaitable[bool]], *, timeout: float) -> None:
        """Poll until it is ready; raise ProgramError with the end of its log if it exits or the timeout passes."""
        try:
            async with asyncio.timeout(timeout):
                while not await is_ready():
                    if not self.is_running:
                        raise ProgramError(f"{self._name} exited before it was ready; {self._log_tail()}")
                    await asyncio.sleep(_POLL_INTERVAL)
        except TimeoutError:
            raise ProgramError(f"{self._name} was not ready after {timeout:g} s; {self._log_tail()}") from None

    async def wait(self) -> int:
        """Wait for the process to end; returns its exit code."""
        if self._process is None:
            raise UsageError(f"{self._name} was not started")
        return await self._process.wait()

    async def kill(self) -> None:
        """Send SIGKILL and wait for the process to end."""
        if self._process is not None:
            self._signal(self._process.kill)
            await self._process.wait()

    def pause(self) -> None:
        """Send SIGSTOP."""
        self._send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Send SIGCONT."""
        self._send_signal(signal.SIGCONT)

    def _send_signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            process = self._process
            self._signal(lambda: process.send_signal(number))

    async def stop(self, *, patience: float = 10.0) -> None:
        """Send SIGTERM and wait; send SIGKILL after `patience` seconds, or if this call is cancelled."""
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

    def _log_tail(self) -> str:
        with self._log.open(errors="replace") as log:
            lines = deque((line.rstrip() for line in log), maxlen=_LINES_SHOWN)
        return "the end of its log:\n  " + "\n  ".join(lines) if lines else "its log is empty"


def overridden(flags: Sequence[str], by: Sequence[str]) -> list[str]:
    """`flags`, with those of the same name replaced by `by`. Some flags accumulate if they are given twice."""
    names = {flag.partition("=")[0] for flag in by}
    return [*(flag for flag in flags if flag.partition("=")[0] not in names), *by]


def _guarded(command: list[str]) -> list[str]:
    if sys.platform != "linux":
        return command
    return [sys.executable, "-I", "-S", "-c", _DIE_WITH_PARENT, str(os.getpid()), *command]

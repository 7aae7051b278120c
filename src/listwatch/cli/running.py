"""Runs the coroutine of a command: Ctrl-C ends it at once, and so does the end of the program that reads its output."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from typing import NoReturn, TypeVar

from listwatch.cli.exit_codes import ExitCode
from listwatch.errors import ConnectionLostError

__all__ = ["RetryReporter", "run_async"]

T = TypeVar("T")

_MAX_LOST = 3
"""How many lost connections a command tolerates."""


class RetryReporter:
    """Reports on stderr why a command takes long. A server that drops every connection is an error after 3 s."""

    def __init__(self) -> None:
        self._lost = 0

    def __call__(self, error: Exception, delay: float) -> float:
        self._lost += isinstance(error, ConnectionLostError)
        if self._lost > _MAX_LOST:
            raise error
        print(f"{error}; retrying in {delay:.0f} s", file=sys.stderr, flush=True)
        return delay


def run_async(main: Coroutine[object, object, T]) -> T:
    """Run a coroutine until it ends, the reader of stdout closes its pipe (BrokenPipeError), or Ctrl-C (exit 130)."""
    runner = asyncio.Runner()
    try:
        return runner.run(_until_output_closes(main))
    except KeyboardInterrupt:
        _exit_at_once()
    finally:
        runner.close()


def _exit_at_once() -> NoReturn:
    # A normal exit would wait for threads, such as one that resolves the name of a host.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(ExitCode.INTERRUPTED)


async def _until_output_closes(main: Awaitable[T]) -> T:
    """Await `main`; BrokenPipeError as soon as stdout has no reader, because the next write may be hours away."""
    loop = asyncio.get_running_loop()
    pipe = _pipe_of_stdout()
    if pipe is None:
        return await main
    try:
        async with asyncio.timeout(None) as scope:
            # The write end of a pipe becomes readable when its read end is closed.
            loop.add_reader(pipe, _expire, scope, loop, pipe)
            try:
                return await main
            finally:
                loop.remove_reader(pipe)
    except TimeoutError:
        if not scope.expired():
            raise
    raise BrokenPipeError


def _expire(scope: asyncio.Timeout, loop: asyncio.AbstractEventLoop, pipe: int) -> None:
    loop.remove_reader(pipe)
    scope.reschedule(loop.time())


def _pipe_of_stdout() -> int | None:
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return None  # a program that calls `main` has replaced it
    return descriptor if stat.S_ISFIFO(os.fstat(descriptor).st_mode) else None

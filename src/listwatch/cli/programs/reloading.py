"""Runs a command as a child process, and restarts it when a Python file below a folder changes.

The child gets SIGTERM and time to stop, then SIGKILL. A child that ends by itself, for example because its file cannot
be imported, is started again after the next change. At most one child runs at a time.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from listwatch.cli.programs.managing import PARENT_PIPE
from listwatch.clock import Clock
from listwatch.controller.process.signals import handling_stop_signals

__all__ = ["SourceFiles", "run_with_reload"]

_INTERVAL = 0.3
"""Seconds between two checks of the files."""
_SETTLED = 0.15
"""Seconds for which the files must not change: editors and version control write several files."""
_MAX_FILES = 2000
_MAX_DEPTH = 8

Stamp = tuple[int, int]


class SourceFiles:
    """The Python files below a folder, without hidden folders and virtual environments; at most 2,000."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._seen = self._stamps()

    async def wait_changed(self) -> list[str]:
        """Wait until files were changed, added or removed since the last call; returns their names."""
        while (now := await asyncio.to_thread(self._stamps)) == self._seen:
            await self._clock.sleep(_INTERVAL)
        while True:
            await self._clock.sleep(_SETTLED)
            before, now = now, await asyncio.to_thread(self._stamps)
            if before == now:
                break
        changed = sorted({path for path, _ in self._seen.items() ^ now.items()})
        self._seen = now
        return [str(Path(path).relative_to(self._folder)) for path in changed]

    def _stamps(self) -> dict[str, Stamp]:
        found: dict[str, Stamp] = {}
        for entry in _python_files(str(self._folder), _MAX_DEPTH):
            try:
                status = entry.stat()
            except OSError:
                continue  # removed meanwhile
            found[entry.path] = (status.st_mtime_ns, status.st_size)
            if len(found) == _MAX_FILES:
                break
        return found


def _python_files(folder: str, depth: int) -> Iterator[os.DirEntry[str]]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return  # removed meanwhile, or not readable
    if any(entry.name == "pyvenv.cfg" for entry in entries):
        return
    yield from (entry for entry in entries if entry.name.endswith(".py") and entry.is_file())
    if depth:
        for entry in entries:
            if not entry.name.startswith((".", "__pycache__")) and entry.is_dir(follow_symlinks=False):
                yield from _python_files(entry.path, depth - 1)


async def run_with_reload(
    command: Sequence[str],
    files: SourceFiles,
    *,
    environment: Mapping[str, str],
    grace_period: float,
    report: Callable[[str], None],
) -> None:
    """Run the command, again after each change, until SIGINT or SIGTERM; `report` receives a line for each restart."""
    stop_requested = asyncio.Event()
    with handling_stop_signals(stop_requested.set):
        stopping = asyncio.create_task(stop_requested.wait())
        changing = asyncio.create_task(files.wait_changed())
        try:
            while not stopping.done():
                async with _Child(command, environment, grace_period) as child:
                    ended = asyncio.create_task(child.wait())
                    await asyncio.wait([ended, stopping, changing], return_when=asyncio.FIRST_COMPLETED)
                    if not stopping.done() and not changing.done():
                        report(f"the program ended with exit code {ended.result()}; waiting for a change of its files")
                        await asyncio.wait([stopping, changing], return_when=asyncio.FIRST_COMPLETED)
                    if stopping.done():
                        child.grace_period = min(child.grace_period, 2.0)
                    elif changing.done():
                        report(f"{_listed(changing.result())} changed; restarting")
                        changing = asyncio.create_task(files.wait_changed())
                    ended.cancel()
        finally:
            for task in (stopping, changing):
                task.cancel()
            await asyncio.wait([stopping, changing])


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown


class _Child:
    """The child process within a block; at the end of the block it is stopped."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], grace_period: float) -> None:
        self.grace_period = grace_period
        self._command = command
        self._environment = environment

    async def __aenter__(self) -> _Child:
        inherited, self._pipe = os.pipe()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command, env={**self._environment, PARENT_PIPE: str(inherited)}, pass_fds=[inherited]
            )
        except BaseException:
            os.close(self._pipe)
            raise
        finally:
            os.close(inherited)
        return self

    async def wait(self) -> int:
        return await self._process.wait()

    async def __aexit__(self, *_: object) -> None:
        try:
            await self._stop()
        finally:
            os.close(self._pipe)

    async def _stop(self) -> None:
        if self._process.returncode is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(self.grace_period):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        except asyncio.CancelledError:
            self._process.kill()
            raise

"""Detects leaked tasks, sockets, threads and objects, and measures memory."""

from __future__ import annotations

import asyncio
import gc
import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

from listwatch.objects.object import Object

__all__ = ["LeakCheck", "resident_megabytes"]


class LeakCheck:
    """Compares the resources of the process with those at construction; needs a running event loop."""

    def __init__(self) -> None:
        self._sockets = _sockets()
        self._threads = set(threading.enumerate())
        self._tasks = asyncio.all_tasks()
        self._objects = _objects()

    def leaks(self) -> list[str]:
        """A description of each leaked resource."""
        tasks = [f"a task: {task.get_name()}" for task in asyncio.all_tasks() - self._tasks]
        threads = [f"a thread: {thread.name}" for thread in threading.enumerate() if thread not in self._threads]
        sockets = [f"a socket: {number}" for number in sorted(_sockets() - self._sockets)]
        objects = _objects() - self._objects
        return [*tasks, *threads, *sockets, *([f"{objects} objects"] if objects > 0 else [])]


def resident_megabytes() -> float:
    """The resident memory of this process on Linux; 0 on other systems."""
    with suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    return 0.0


def _objects() -> int:
    gc.collect()
    return sum(isinstance(each, Object) for each in gc.get_objects())


def _sockets() -> set[tuple[int, int]]:
    found = set()
    for number in map(int, os.listdir("/dev/fd")):
        with suppress(OSError):  # the listing's own descriptor is closed by now
            status = os.fstat(number)
            if stat.S_ISSOCK(status.st_mode):
                found.add((number, status.st_ino))
    return found

"""Runs the work of packers and of cache files: in a thread, or at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Protocol, TypeVar

__all__ = ["PACKING", "InlineWorker", "SharedThread", "ThreadWorker", "Worker"]

R = TypeVar("R")


class Worker(Protocol):
    """Runs one function after another."""

    async def run(self, work: Callable[[], R], /) -> R: ...
    async def close(self) -> None:
        """Wait for the current function; no other is run."""


class SharedThread:
    """A thread of several workers. It exists while one of them uses it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._changing = Lock()
        self._users = 0
        self._executor: ThreadPoolExecutor | None = None

    def use(self) -> ThreadPoolExecutor:
        with self._changing:
            self._users += 1
            if self._executor is None:
                self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=self._name)
            return self._executor

    def release(self) -> None:
        with self._changing:
            self._users -= 1
            unused, self._executor = (None, self._executor) if self._users else (self._executor, None)
        if unused is not None:
            unused.shutdown()  # the thread is idle, so this does not block


PACKING = SharedThread("packer")
"""The thread of all packers of the process. It competes with event loops for the interpreter's lock, and so would each
further thread; its memory is that of one thread."""


class ThreadWorker:
    """Runs functions in a thread, which it uses from the first of them on."""

    def __init__(self, thread: SharedThread) -> None:
        self._thread = thread
        self._executor: ThreadPoolExecutor | None = None
        self._current: asyncio.Future[Any] | None = None

    async def run(self, work: Callable[[], R]) -> R:
        if self._executor is None:
            self._executor = self._thread.use()
        running = asyncio.get_running_loop().run_in_executor(self._executor, work)
        self._current = running
        try:
            return await asyncio.shield(running)
        finally:
            if running.done():
                self._current = None  # its result may be large

    async def close(self) -> None:
        if self._current is not None and not self._current.done():
            await asyncio.wait([self._current])
        if self._executor is not None:
            self._executor = None
            self._thread.release()


class InlineWorker:
    """Runs functions at once: for programs without threads, and for tests with a virtual clock."""

    async def run(self, work: Callable[[], R]) -> R:
        return work()

    async def close(self) -> None:
        pass

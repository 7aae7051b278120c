"""Runs the work of a packer: in a thread of its own, or at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

__all__ = ["InlineWorker", "ThreadWorker", "Worker"]

R = TypeVar("R")


class Worker(Protocol):
    """Runs one function after another."""

    async def run(self, work: Callable[[], R], /) -> R: ...
    async def close(self) -> None:
        """Wait for the current function; no other is run."""


class ThreadWorker:
    """Runs functions in one thread, which is started with the first of them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._executor: ThreadPoolExecutor | None = None
        self._current: asyncio.Future[Any] | None = None

    async def run(self, work: Callable[[], R]) -> R:
        if self._executor is None:
            self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=self._name)
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
            self._executor.shutdown()  # the thread is idle, so this does not block


class InlineWorker:
    """Runs functions at once: for programs without threads, and for tests with a virtual clock."""

    async def run(self, work: Callable[[], R]) -> R:
        return work()

    async def close(self) -> None:
        pass

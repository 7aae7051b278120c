"""A server for programs without an event loop: a thread of its own runs one for it.

`api_server_thread` and `real_api_server_thread` say what the servers in it can do.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from typing import Any, Generic, Self, TypeVar

__all__ = ["ServerThread"]

S = TypeVar("S", bound=AbstractAsyncContextManager[Any])
T = TypeVar("T")


class ServerThread(Generic[S]):
    """A server that any thread can use, with an event loop or without, between `start` and `stop`."""

    def __init__(self, server: S) -> None:
        self._server = server
        self._thread = threading.Thread(target=self._run, name=f"listwatch {type(server).__name__}", daemon=True)
        self._started: Future[asyncio.AbstractEventLoop] = Future()
        self._stopping = asyncio.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<{self._server!r} in a thread>"

    def start(self) -> None:
        """Return when it listens; raises what keeps it from that."""
        self._thread.start()
        self._started.result()

    def stop(self) -> None:
        """Return when it is gone."""
        if self._thread.is_alive():
            self._started.result().call_soon_threadsafe(self._stopping.set)
            self._thread.join()

    def call(self, function: Callable[[S], T]) -> T:
        """Run a function in the server's thread, which does nothing else meanwhile, and return what it returns."""

        async def run() -> T:
            return function(self._server)

        return self._finished(run())

    def await_call(self, function: Callable[[S], Awaitable[T]]) -> T:
        """Run an async function in the server's thread, and return what it returns."""

        async def run() -> T:
            return await function(self._server)

        return self._finished(run())

    def _finished(self, coroutine: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._started.result()).result(timeout)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001  # it is raised where the server was started
            if not self._started.done():
                self._started.set_exception(error)

    async def _serve(self) -> None:
        async with self._server:
            self._started.set_result(asyncio.get_running_loop())
            await self._stopping.wait()

"""Runs an asynchronous server in a thread with its own event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

from listwatch.errors import UsageError

if TYPE_CHECKING:
    from listwatch.client.config.client_config import ClientConfig

__all__ = ["ClusterThread", "ServerThread"]

S = TypeVar("S", bound=AbstractAsyncContextManager[object])
T = TypeVar("T")


class ServerThread(Generic[S]):
    """A server in its own thread, usable from any thread between `start` and `stop`."""

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
        """Start the thread and return when the server is ready; raise the error if it cannot start."""
        self._thread.start()
        self._started.result()

    def stop(self) -> None:
        """Stop the server and return when its thread has ended."""
        if not self._thread.is_alive():
            return
        if self._started.exception() is None:
            self._started.result().call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    def call(self, function: Callable[[S], T]) -> T:
        """Call a function in the thread of the server and return its result."""

        async def run() -> T:
            return function(self._server)

        return self._result_of(run())

    def await_call(self, function: Callable[[S], Awaitable[T]]) -> T:
        """Call an async function in the thread of the server and return its result."""

        async def run() -> T:
            return await function(self._server)

        return self._result_of(run())

    def _result_of(self, coroutine: Coroutine[object, object, T], timeout: float | None = None) -> T:
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise UsageError(
                f"{self!r} was called in its own thread, for example by an admission function, and would wait for "
                "itself; call the server directly there"
            )
        return asyncio.run_coroutine_threadsafe(coroutine, self._started.result()).result(timeout)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001  # raised by `start`
            if not self._started.done():
                self._started.set_exception(error)

    async def _serve(self) -> None:
        async with self._server:
            self._started.set_result(asyncio.get_running_loop())
            await self._stopping.wait()


class _ClusterServer(AbstractAsyncContextManager["_ClusterServer"], Protocol):
    @property
    def url(self) -> str: ...

    @property
    def token(self) -> str: ...

    @property
    def ca_certificate(self) -> bytes: ...

    @property
    def config(self) -> ClientConfig: ...


C = TypeVar("C", bound=_ClusterServer)


class ClusterThread(ServerThread[C]):
    """A Kubernetes API server in its own thread."""

    @property
    def url(self) -> str:
        """The URL of the running server."""
        return self._server.url

    @property
    def token(self) -> str:
        """The bearer token of the administrator."""
        return self._server.token

    @property
    def ca_certificate(self) -> bytes:
        """The certificate that clients have to trust, in PEM; empty without TLS."""
        return self._server.ca_certificate

    @property
    def config(self) -> ClientConfig:
        """The configuration of the administrator, for listwatch clients."""
        return self._server.config

"""An API server for programs without an event loop: it runs in a thread of its own. `plugin` makes fixtures of it."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from listwatch.server.api_server import APIServer, Statistics
from listwatch.server.faults import Faults
from listwatch.server.request_log import Criteria, LoggedRequest, RequestLog, Stage

if TYPE_CHECKING:
    from listwatch.client.config import ClientConfig

__all__ = ["APIServerThread"]

T = TypeVar("T")


class APIServerThread:
    """An APIServer that any thread can use, with an event loop or without, between `start` and `stop`."""

    def __init__(self, server: APIServer | None = None) -> None:
        self._server = server or APIServer()
        self._thread = threading.Thread(target=self._run, name="listwatch API server", daemon=True)
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

    def call(self, function: Callable[[APIServer], T]) -> T:
        """Run a function in the server's thread, which does nothing else meanwhile, and return what it returns."""

        async def run() -> T:
            return function(self._server)

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

    # --- What an APIServer has

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def token(self) -> str:
        return self._server.token

    @property
    def ca_certificate(self) -> bytes:
        return self._server.ca_certificate

    @property
    def config(self) -> ClientConfig:
        return self._server.config

    @property
    def faults(self) -> Faults:
        return self._server.faults

    @property
    def requests(self) -> RequestLog:
        return self._server.requests

    @property
    def revision(self) -> int:
        return self._server.revision

    def kubeconfig(self, path: str | os.PathLike[str]) -> None:
        self._server.kubeconfig(path)

    def issue_token(self, name: str, *, groups: Sequence[str] = ()) -> str:
        return self.call(lambda server: server.issue_token(name, groups=groups))

    def config_for_token(self, token: str) -> ClientConfig:
        return self._server.config_for_token(token)

    def compact(self, revision: int | None = None) -> None:
        self.call(lambda server: server.compact(revision))

    def statistics(self) -> Statistics:
        return self.call(lambda server: server.statistics())

    def wait_for_requests(
        self, count: int = 1, *, until: Stage = "answered", timeout: float | None = None, **criteria: Unpack[Criteria]
    ) -> list[LoggedRequest]:
        """As `APIServer.wait_for_requests`; raises TimeoutError after so many seconds."""
        return self._finished(self._server.wait_for_requests(count, until=until, **criteria), timeout)

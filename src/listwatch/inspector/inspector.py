"""Serves the inspector page for informers, queues, controllers and clients of this process.

    async with Inspector(factory, client) as inspector:
        print(inspector.url)

A manager does this itself with `inspect=True`.
"""

from __future__ import annotations

import secrets
from typing import Self

from listwatch.clock import Clock, SystemClock
from listwatch.errors import UsageError
from listwatch.inspector.components import Components
from listwatch.inspector.http_server import InspectorServer
from listwatch.inspector.options import InspectorOptions

__all__ = ["Inspector"]

_ALL_ADDRESSES = ("0.0.0.0", "::", "")


class Inspector:
    """Serves one read-only page between entering and leaving, which shows the given components while they run.

    `components` are informers, informer factories, managers, controllers, work queues, leader electors and clients.
    Pass controllers before they are started, so that their reconciles are recorded. A client is used to read the
    events of the object that is shown. The page needs the token in `url`; it never shows the data of Secrets.
    """

    def __init__(
        self, *components: object, options: InspectorOptions | None = None, clock: Clock | None = None
    ) -> None:
        self._options = options or InspectorOptions()
        self._clock = clock or SystemClock()
        self._token = self._options.token or secrets.token_urlsafe(24)
        self._components = Components(components, clock=self._clock, token=self._token)
        self._server: InspectorServer | None = None

    def __repr__(self) -> str:
        return f"<Inspector at {self.address}>" if self._server else "<Inspector, not started>"

    @property
    def address(self) -> str:
        """The URL of the page without the token, for logs."""
        if self._server is None:
            raise UsageError("the inspector is not started: enter it with `async with`")
        host = "127.0.0.1" if self._options.host in _ALL_ADDRESSES else self._options.host
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self._server.port}/"

    @property
    def url(self) -> str:
        """The URL of the page with the token. Browsers do not send the part after `#` to any server."""
        return f"{self.address}#token={self._token}"

    async def __aenter__(self) -> Self:
        if self._server is not None:
            raise UsageError("the inspector was started already")
        server = InspectorServer(self._components, self._options, token=self._token, clock=self._clock)
        await server.start()
        self._server = server
        return self

    async def __aexit__(self, *_: object) -> None:
        server, self._server = self._server, None
        if server is not None:
            await server.stop()

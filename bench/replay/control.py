"""Control of the replay server from the processes that measure."""

from __future__ import annotations

import asyncio
from http.client import HTTPConnection
from urllib.parse import urlsplit

__all__ = ["ReplayControl"]


class ReplayControl:
    """Sends commands to the replay server, which responds before it sends the first event."""

    def __init__(self, url: str) -> None:
        self._host = urlsplit(url).netloc

    async def send(self, command: str) -> None:
        """Send a command once a watch is open. Blocks the event loop while the server prepares it, on purpose."""
        await asyncio.to_thread(self._request, "ready")
        self._request(command)

    def _request(self, command: str) -> None:
        connection = HTTPConnection(self._host)
        connection.request("GET", f"/bench/{command}")
        connection.getresponse().read()
        connection.close()

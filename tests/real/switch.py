"""A proxy for API servers or etcd that can be switched to another server, frozen, and disconnected."""

import asyncio
from urllib.parse import urlsplit

from tests.client.forwarders import Forwarder


class Switch(Forwarder):
    """Forwards every new connection to the current server."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._scheme, self._port = _scheme_and_port(url)
        self.has_new_connection = asyncio.Event()
        """Set by the first connection after a switch."""

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self.port}"

    def switch_to(self, url: str) -> None:
        """Close all connections; new ones are forwarded to the URL."""
        self.has_new_connection.clear()
        self._scheme, self._port = _scheme_and_port(url)
        self._cut()

    def freeze(self) -> None:
        """Stop forwarding data without closing connections."""
        self.is_frozen = True

    def thaw(self) -> None:
        """Close the frozen connections, so that requests are sent again."""
        self.is_frozen = False
        self._cut()

    def _cut(self) -> None:
        for talk in self._talks:
            talk.cancel()

    async def _agree(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int]:
        self.has_new_connection.set()
        return "127.0.0.1", self._port


def _scheme_and_port(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.port or 0

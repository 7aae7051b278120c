"""A proxy in front of API servers, or of etcd, that can be turned from one to another, frozen, and cut."""

import asyncio
from urllib.parse import urlsplit

from tests.client.forwarders import Forwarder


class Switch(Forwarder):
    """Passes every connection on to the server it is turned to at that time."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._scheme, self._port = _scheme_and_port(url)
        self.has_new_connection = asyncio.Event()
        """Set when somebody comes after the last turn."""

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self.port}"

    def turn_to(self, url: str) -> None:
        """Break all connections; new ones go there."""
        self.has_new_connection.clear()
        self._scheme, self._port = _scheme_and_port(url)
        self._cut()

    def freeze(self) -> None:
        """Let nothing through, and break nothing."""
        self.is_frozen = True

    def thaw(self) -> None:
        """Break what was frozen, so that all is asked again."""
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

"""HTTP and SOCKS5 proxies for tests. After the handshake they forward bytes in both directions."""

import asyncio
import socket
from typing import Self


class Forwarder:
    """Listens on 127.0.0.1. `targets` lists the hosts and ports of all connection requests."""

    def __init__(self) -> None:
        self.targets: list[tuple[str, int]] = []
        self.port = 0
        self.is_frozen = False  # forwards nothing and closes nothing, like a lost network
        self._talks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._welcome, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for talk in self._talks:
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def open_connections(self) -> int:
        return sum(not talk.done() for talk in self._talks)

    def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._talks.add(asyncio.create_task(self._talk(reader, writer)))

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            target = await self._agree(reader, writer)
            if target:
                await self._forward(target, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort()

    async def _agree(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int] | None:
        raise AssertionError

    async def _forward(
        self, target: tuple[str, int], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.targets.append(target)
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", target[1])
        try:
            async with asyncio.TaskGroup() as ways:
                ways.create_task(self._pass_on(reader, far_writer))
                ways.create_task(self._pass_on(far_reader, writer))
        finally:
            far_writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(2**16):
            if not self.is_frozen:
                writer.write(data)
                await writer.drain()
        raise ConnectionResetError


class TunnelProxy(Forwarder):
    """An HTTP proxy with CONNECT. It responds with `refusal` if that is set."""

    def __init__(self, *, refusal: bytes = b"") -> None:
        super().__init__()
        self.refusal = refusal
        self.heads: list[str] = []

    async def _agree(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int] | None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        writer.write(self.refusal or b"HTTP/1.1 200 Connection established\r\n\r\n")
        host, _, port = head.split()[1].rpartition(":")
        return None if self.refusal else (host, int(port))


class SocksProxyServer(Forwarder):
    """A SOCKS5 proxy. It replies with `code`, and requires a password if that is set."""

    def __init__(self, *, code: int = 0, password: str = "") -> None:
        super().__init__()
        self.code = code
        self.password = password

    async def _agree(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int] | None:
        version, count = await reader.readexactly(2)
        assert version == 5
        methods = await reader.readexactly(count)
        method = 2 if self.password else 0
        if method not in methods:
            writer.write(b"\x05\xff")
            return None
        writer.write(bytes([5, method]))
        if self.password and not await self._checks(reader, writer):
            return None
        target = await self._target(reader)
        # The address of its own socket, once as a name and once as a number. Clients ignore it.
        own = b"\x03\x04here\x00\x00" if target[0].startswith("name") else b"\x01\x7f\x00\x00\x01\x00\x00"
        writer.write(bytes([5, self.code, 0]) + own)
        return None if self.code else target

    async def _checks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        _, length = await reader.readexactly(2)
        user = await reader.readexactly(length)
        [length] = await reader.readexactly(1)
        is_right = (user, await reader.readexactly(length)) == (b"jane", self.password.encode())
        writer.write(bytes([1, 0 if is_right else 1]))
        return is_right

    async def _target(self, reader: asyncio.StreamReader) -> tuple[str, int]:
        _, command, _, kind = await reader.readexactly(4)
        assert command == 1
        if kind == 3:
            [length] = await reader.readexactly(1)
            host = (await reader.readexactly(length)).decode()
        else:
            family, length = (socket.AF_INET, 4) if kind == 1 else (socket.AF_INET6, 16)
            host = socket.inet_ntop(family, await reader.readexactly(length))
        return host, int.from_bytes(await reader.readexactly(2), "big")

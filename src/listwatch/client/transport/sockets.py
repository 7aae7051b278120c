"""Sockets that notice when the other side is gone, and the way through a SOCKS5 proxy (RFC 1928 and 1929).

`connections` hands them to the HTTP library.
"""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from listwatch.errors import ConnectError

__all__ = ["SocksProxy", "open_socket"]

# A silent peer is asked after 30 seconds, three times, and given up after 45: the same as client-go does for HTTP/2.
_KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPALIVE": 30, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 45_000}

_VERSION = 5
_WITHOUT_PASSWORD, _WITH_PASSWORD = 0, 2
_CONNECT = 1
_IPV4, _NAME, _IPV6 = 1, 3, 4
_REFUSALS = {
    1: "it failed",
    2: "its rules do not allow it",
    3: "the network is unreachable",
    4: "the host is unreachable",
    5: "the connection was refused",
    6: "it took too long",
    7: "it does not support connections",
    8: "it does not support this kind of address",
}


def open_socket(address: Any) -> socket.socket:
    """A socket for an address as `getaddrinfo` gives it, not connected yet."""
    family, kind, protocol = address[:3]
    opened = socket.socket(family, kind, protocol)
    opened.setblocking(False)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):  # each system has its own of these
            opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return opened


@dataclass(frozen=True, slots=True)
class SocksProxy:
    """A SOCKS5 proxy, which also looks up the names of hosts."""

    host: str
    port: int
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @classmethod
    def from_url(cls, url: str) -> SocksProxy:
        parts = urlsplit(url)
        username, password = unquote(parts.username or ""), unquote(parts.password or "")
        return cls(parts.hostname or "", parts.port or 1080, username, password)

    async def connect(self, host: str, port: int) -> socket.socket:
        """A socket that is connected to that host and port by way of the proxy."""
        opened = await self._reach()
        try:
            await self._introduce(opened)
            await self._ask(opened, host, port)
        except BaseException:
            opened.close()
            raise
        return opened

    async def _reach(self) -> socket.socket:
        problem: OSError | None = None
        try:
            for address in await asyncio.get_running_loop().getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM):
                try:
                    return await _connected(address)
                except OSError as error:
                    problem = error
        except socket.gaierror as error:
            problem = error
        raise ConnectError(f"the SOCKS proxy {self} cannot be reached: {problem}") from problem

    async def _introduce(self, opened: socket.socket) -> None:
        methods = [_WITHOUT_PASSWORD, _WITH_PASSWORD] if self.username else [_WITHOUT_PASSWORD]
        version, method = await self._exchange(opened, bytes([_VERSION, len(methods), *methods]), 2)
        if version != _VERSION:
            raise ConnectError(f"the SOCKS proxy {self} does not speak SOCKS5")
        if method not in methods:
            raise ConnectError(f"the SOCKS proxy {self} wants us to log in; give user and password in its URL")
        if method == _WITH_PASSWORD:
            await self._log_in(opened)

    async def _log_in(self, opened: socket.socket) -> None:
        username, password = self.username.encode()[:255], self.password.encode()[:255]
        message = bytes([1, len(username)]) + username + bytes([len(password)]) + password
        _, refused = await self._exchange(opened, message, 2)
        if refused:
            raise ConnectError(f"the SOCKS proxy {self} refuses the user and password in its URL")

    async def _ask(self, opened: socket.socket, host: str, port: int) -> None:
        request = bytes([_VERSION, _CONNECT, 0]) + _written(host) + port.to_bytes(2, "big")
        _, refusal, _, kind = await self._exchange(opened, request, 4)
        if refusal:
            reason = _REFUSALS.get(refusal, f"code {refusal}")
            raise ConnectError(f"the SOCKS proxy {self} does not connect us to {host}:{port}: {reason}")
        length = {_IPV4: 4, _IPV6: 16}.get(kind)
        if length is None:
            [length] = await self._exchange(opened, b"", 1)
        await self._exchange(opened, b"", length + 2)  # the address that it uses, which nobody needs

    async def _exchange(self, opened: socket.socket, message: bytes, length: int) -> bytes:
        loop = asyncio.get_running_loop()
        answer = b""
        try:
            await loop.sock_sendall(opened, message)
            while len(answer) < length:
                piece = await loop.sock_recv(opened, length - len(answer))
                if not piece:
                    raise ConnectionResetError
                answer += piece
        except OSError as error:
            raise ConnectError(f"the SOCKS proxy {self} hung up") from error
        return answer

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


async def _connected(address: Any) -> socket.socket:
    opened = open_socket(address)
    try:
        await asyncio.get_running_loop().sock_connect(opened, address[4])
    except BaseException:
        opened.close()
        raise
    return opened


def _written(host: str) -> bytes:
    for kind, family in ((_IPV4, socket.AF_INET), (_IPV6, socket.AF_INET6)):
        try:
            return bytes([kind]) + socket.inet_pton(family, host)
        except OSError:
            continue
    name = host.encode("idna") if not host.isascii() else host.encode()
    return bytes([_NAME, len(name)]) + name

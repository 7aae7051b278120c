"""Sockets with TCP keepalive, coalesced reads, and connections through a SOCKS5 proxy (RFC 1928 and 1929)."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from listwatch.errors import ConnectError

__all__ = ["ReceiveCoalescer", "SocksProxy", "open_socket"]

# The first probe after 30 idle seconds, three probes, closed after 45 seconds: client-go's values for HTTP/2 pings.
_KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPALIVE": 30, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 45_000}

_VERSION = 5
_WITHOUT_PASSWORD, _WITH_PASSWORD = 0, 2
_CONNECT = 1
_IPV4, _NAME, _IPV6 = 1, 3, 4
_REPLIES = {
    1: "general failure",
    2: "not allowed by its rules",
    3: "network unreachable",
    4: "host unreachable",
    5: "connection refused",
    6: "timed out",
    7: "command not supported",
    8: "address type not supported",
}


# What `getaddrinfo` returns: family, type, protocol, canonical name, and the address of the family.
_AddressInfo = tuple[int, int, int, str, tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]]


def open_socket(address: _AddressInfo) -> socket.socket:
    """Open a non-blocking socket with keepalive for an address of `getaddrinfo`. It is not connected."""
    family, kind, protocol = address[:3]
    opened = socket.socket(family, kind, protocol)
    opened.setblocking(False)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):  # not every system has all of them
            opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return opened


@dataclass(frozen=True, slots=True)
class SocksProxy:
    """A SOCKS5 proxy. It also resolves host names."""

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
        """Return a socket that is connected to the host and port through the proxy."""
        opened = await self._connect_to_proxy()
        try:
            await self._negotiate_method(opened)
            await self._request_connection(opened, host, port)
        except BaseException:
            opened.close()
            raise
        return opened

    async def _connect_to_proxy(self) -> socket.socket:
        problem: OSError | None = None
        try:
            for address in await asyncio.get_running_loop().getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM):
                try:
                    return await _connect(address)
                except OSError as error:
                    problem = error
        except socket.gaierror as error:
            problem = error
        raise ConnectError(f"the SOCKS proxy {self} cannot be reached: {problem}") from problem

    async def _negotiate_method(self, opened: socket.socket) -> None:
        methods = [_WITHOUT_PASSWORD, _WITH_PASSWORD] if self.username else [_WITHOUT_PASSWORD]
        version, method = await self._exchange(opened, bytes([_VERSION, len(methods), *methods]), 2)
        if version != _VERSION:
            raise ConnectError(f"the SOCKS proxy {self} does not support SOCKS5")
        if method not in methods:
            raise ConnectError(f"the SOCKS proxy {self} requires authentication; set user and password in its URL")
        if method == _WITH_PASSWORD:
            await self._authenticate(opened)

    async def _authenticate(self, opened: socket.socket) -> None:
        username, password = self.username.encode()[:255], self.password.encode()[:255]
        message = bytes([1, len(username)]) + username + bytes([len(password)]) + password
        _, status = await self._exchange(opened, message, 2)
        if status:
            raise ConnectError(f"the SOCKS proxy {self} rejected the user and password in its URL")

    async def _request_connection(self, opened: socket.socket, host: str, port: int) -> None:
        request = bytes([_VERSION, _CONNECT, 0]) + _encode_host(host) + port.to_bytes(2, "big")
        _, reply, _, kind = await self._exchange(opened, request, 4)
        if reply:
            reason = _REPLIES.get(reply, f"code {reply}")
            raise ConnectError(f"the SOCKS proxy {self} cannot connect to {host}:{port}: {reason}")
        length = {_IPV4: 4, _IPV6: 16}.get(kind)
        if length is None:
            [length] = await self._exchange(opened, b"", 1)
        await self._exchange(opened, b"", length + 2)  # the bound address of the proxy, which is not used

    async def _exchange(self, opened: socket.socket, message: bytes, length: int) -> bytes:
        loop = asyncio.get_running_loop()
        response = b""
        try:
            await loop.sock_sendall(opened, message)
            while len(response) < length:
                piece = await loop.sock_recv(opened, length - len(response))
                if not piece:
                    raise ConnectionResetError
                response += piece
        except OSError as error:
            raise ConnectError(f"the SOCKS proxy {self} closed the connection") from error
        return response

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


async def _connect(address: _AddressInfo) -> socket.socket:
    opened = open_socket(address)
    try:
        await asyncio.get_running_loop().sock_connect(opened, address[4])
    except BaseException:
        opened.close()
        raise
    return opened


def _encode_host(host: str) -> bytes:
    for kind, family in ((_IPV4, socket.AF_INET), (_IPV6, socket.AF_INET6)):
        try:
            return bytes([kind]) + socket.inet_pton(family, host)
        except OSError:
            continue
    name = host.encode("idna") if not host.isascii() else host.encode()
    return bytes([_NAME, len(name)]) + name


class ReceiveCoalescer:
    """Raises the low-water mark of a socket while large amounts of data arrive, such as initial events.

    Servers send those one by one, and a wake-up per event takes several times as long as reading it. After some
    milliseconds the mark is lowered again, so that no event is delayed for long.
    """

    _MIN_TOTAL = 2**18  # bytes to receive before reads are coalesced: short responses are not delayed
    _LOW_WATER_MARK = 2**17  # bytes to wake up for
    _MAX_DELAY = 0.005  # seconds of the event loop's time

    def __init__(self, transport: asyncio.BaseTransport) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport = transport
        self._socket = transport.get_extra_info("socket")
        self._total = 0
        self._timer: asyncio.TimerHandle | None = None

    def received(self, size: int) -> None:
        """Count the bytes of a read, and let more of them collect before the next one."""
        self._total += size
        if self._total > self._MIN_TOTAL:
            if self._timer:
                self._timer.cancel()
            self._set_low_water_mark(self._LOW_WATER_MARK)
            self._timer = self._loop.call_later(self._MAX_DELAY, self._set_low_water_mark, 1)

    def stop(self) -> None:
        """Wake up for every byte again."""
        if self._timer:
            self._timer.cancel()
            self._set_low_water_mark(1)

    def _set_low_water_mark(self, size: int) -> None:
        if self._socket is None or self._transport.is_closing():
            return
        with suppress(OSError, AttributeError):  # not supported by every system
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)

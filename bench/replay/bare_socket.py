"""The upper limit of every contender: bare sockets that read the same responses without parsing them."""

from __future__ import annotations

import asyncio
import re
import socket
import time
from collections.abc import Iterable, Iterator
from http.client import HTTPConnection
from urllib.parse import urlsplit

from bench.harness.measurements import percentiles
from bench.harness.runner import Figures
from bench.replay.paths import NAME, NAMESPACE, SENT
from bench.replay.resources import RESOURCES

__all__ = ["bare_gets", "bare_latencies", "bare_sockets"]

_STAMP = re.compile(rf'"{SENT}":"(\d+)"'.encode())
_POD = f"/api/v1/namespaces/{NAMESPACE}/pods/{NAME}"


def bare_sockets(url: str, *, count: int, events: int, resource: str = "pods") -> Figures:
    """Objects per second of a list and of a stream, and events per second."""
    path = RESOURCES[resource].path
    return {
        "list": count / _list(url, path),
        "stream": count / _stream(url, f"{path}?watch=true&sendInitialEvents=true", b'"true"}}}}\n\r\n'),
        "watch": events / _burst(url, path, events),
    }


def bare_gets(url: str, *, requests: int, in_flight: int) -> float:
    """Single GETs per second."""
    return requests / asyncio.run(_get_concurrently(url, requests, in_flight))


def bare_latencies(url: str, rates: Iterable[tuple[int, int]]) -> Figures:
    """Latencies of events that are only received, for pairs of a rate and a number of events."""
    figures: Figures = {}
    for rate, count in rates:
        figures |= percentiles(f"latency_{rate}", _paced(url, rate, count))
    return figures


def _list(url: str, path: str) -> float:
    """Seconds to read a response with a Content-Length."""
    with _requested(url, path) as connection:
        buffer = bytearray(1 << 20)
        started = time.perf_counter()
        missing = _missing_length(bytes(buffer[: connection.recv_into(buffer)]))
        while missing > 0:
            missing -= _check(connection.recv_into(buffer))
        return time.perf_counter() - started


def _stream(url: str, target: str, end: bytes) -> float:
    """Seconds to read a response up to `end`, which occurs nowhere else in it."""
    with _requested(url, target) as connection:
        buffer, last = bytearray(1 << 20), b""
        started = time.perf_counter()
        while not last.endswith(end):
            length = _check(connection.recv_into(buffer))
            last = (last + buffer[max(length - len(end), 0) : length])[-len(end) :]
        return time.perf_counter() - started


def _burst(url: str, path: str, events: int) -> float:
    with _requested(url, f"{path}?watch=true") as connection:
        missing = int(_get(url, f"/bench/burst?events={events}"))
        buffer = bytearray(1 << 20)
        started = time.perf_counter()
        while missing > 0:
            missing -= _check(connection.recv_into(buffer))
        return time.perf_counter() - started


def _paced(url: str, rate: int, count: int) -> list[int]:
    with _requested(url, f"{RESOURCES['pods'].path}?watch=true") as connection:
        _get(url, f"/bench/pace?rate={rate}&events={count}")
        took: list[int] = []
        rest = b""
        while len(took) < count:
            data, now = connection.recv(1 << 20), time.monotonic_ns()
            _check(len(data))
            *lines, rest = (rest + data).split(b"\n")
            took += [now - int(found[1]) for line in lines if (found := _STAMP.search(line))]
        return took


def _check(length: int) -> int:
    if not length:
        raise ConnectionError("the replay server closed the connection")
    return length


def _requested(url: str, target: str) -> socket.socket:
    address = urlsplit(url)
    connection = socket.create_connection((address.hostname, address.port))
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: replay\r\n\r\n".encode())
    return connection


def _get(url: str, target: str) -> bytes:
    connection = HTTPConnection(urlsplit(url).netloc)
    connection.request("GET", target)
    body = connection.getresponse().read()
    connection.close()
    return body


def _missing_length(data: bytes) -> int:
    """How many bytes of a response are missing after its first data."""
    head, _, body = data.partition(b"\r\n\r\n")
    return int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]) - len(body)


class _Reader(asyncio.Protocol):
    """Requests one pod repeatedly, and counts the bytes of the responses instead of parsing them."""

    def __init__(self, remaining: Iterator[int]) -> None:
        self._request = f"GET {_POD} HTTP/1.1\r\nHost: replay\r\n\r\n".encode()
        self._remaining = remaining
        self._missing = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send_request()

    def _send_request(self) -> None:
        if next(self._remaining, None) is None:
            self._transport.close()
            self.done.set_result(None)
        else:
            self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._missing = _missing_length(data) if not self._missing else self._missing - len(data)
        if not self._missing:
            self._send_request()


async def _get_concurrently(url: str, requests: int, in_flight: int) -> float:
    host, _, port = urlsplit(url).netloc.partition(":")
    remaining = iter(range(requests))
    loop = asyncio.get_running_loop()
    started = time.perf_counter()
    readers = [(await loop.create_connection(lambda: _Reader(remaining), host, int(port)))[1] for _ in range(in_flight)]
    await asyncio.gather(*(reader.done for reader in readers))
    return time.perf_counter() - started

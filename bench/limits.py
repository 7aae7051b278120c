"""What nobody who reads from `replay.py` can exceed: bare sockets that ask for the same, and look at nothing."""

from __future__ import annotations

import asyncio
import re
import socket
import time
from collections.abc import Iterable, Iterator
from http.client import HTTPConnection
from urllib.parse import urlsplit

from bench.informer_run import percentiles
from bench.kinds import KINDS
from bench.replay_paths import NAME, NAMESPACE, SENT
from bench.runner import Figures

__all__ = ["bare_gets", "bare_latencies", "bare_sockets"]

_STAMP = re.compile(rf'"{SENT}":"(\d+)"'.encode())
_POD = f"/api/v1/namespaces/{NAMESPACE}/pods/{NAME}"


def bare_sockets(url: str, *, count: int, events: int, resource: str = "pods") -> Figures:
    """Objects of a list and of a stream, and events, a second."""
    path = KINDS[resource].path
    return {
        "list": count / _list(url, path),
        "stream": count / _stream(url, f"{path}?watch=true&sendInitialEvents=true", b'"true"}}}}\n\r\n'),
        "watch": events / _burst(url, path, events),
    }


def bare_gets(url: str, *, requests: int, in_flight: int) -> float:
    """Single answers a second."""
    return requests / asyncio.run(_ask_often(url, requests, in_flight))


def bare_latencies(url: str, rates: Iterable[tuple[int, int]]) -> Figures:
    """How long events take at these rates, each for so many of them, to whoever does nothing with them."""
    figures: Figures = {}
    for rate, count in rates:
        figures |= percentiles(f"latency_{rate}", _paced(url, rate, count))
    return figures


def _list(url: str, path: str) -> float:
    """Seconds until an answer was read that says how long it is."""
    with _asked(url, path) as connection:
        room = bytearray(1 << 20)
        started = time.perf_counter()
        missing = _whole_length(bytes(room[: connection.recv_into(room)]))
        while missing > 0:
            missing -= _check(connection.recv_into(room))
        return time.perf_counter() - started


def _stream(url: str, target: str, end: bytes) -> float:
    """Seconds until an answer was read, which ends so and has these bytes nowhere else."""
    with _asked(url, target) as connection:
        room, last = bytearray(1 << 20), b""
        started = time.perf_counter()
        while not last.endswith(end):
            length = _check(connection.recv_into(room))
            last = (last + room[max(length - len(end), 0) : length])[-len(end) :]
        return time.perf_counter() - started


def _burst(url: str, path: str, events: int) -> float:
    with _asked(url, f"{path}?watch=true") as connection:
        missing = int(_ask(url, f"/bench/burst?events={events}"))
        room = bytearray(1 << 20)
        started = time.perf_counter()
        while missing > 0:
            missing -= _check(connection.recv_into(room))
        return time.perf_counter() - started


def _paced(url: str, rate: int, count: int) -> list[int]:
    with _asked(url, f"{KINDS['pods'].path}?watch=true") as connection:
        _ask(url, f"/bench/pace?rate={rate}&events={count}")
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
        raise ConnectionError("the replay has closed the connection")
    return length


def _asked(url: str, target: str) -> socket.socket:
    address = urlsplit(url)
    connection = socket.create_connection((address.hostname, address.port))
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: replay\r\n\r\n".encode())
    return connection


def _ask(url: str, target: str) -> bytes:
    connection = HTTPConnection(urlsplit(url).netloc)
    connection.request("GET", target)
    answer = connection.getresponse().read()
    connection.close()
    return answer


def _whole_length(data: bytes) -> int:
    """How much of an answer is still to come, of which this has come."""
    head, _, body = data.partition(b"\r\n\r\n")
    return int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]) - len(body)


class _Reader(asyncio.Protocol):
    """Asks for one pod again and again, and counts bytes instead of reading them."""

    def __init__(self, turns: Iterator[int]) -> None:
        self._request = f"GET {_POD} HTTP/1.1\r\nHost: replay\r\n\r\n".encode()
        self._turns = turns
        self._missing = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._ask()

    def _ask(self) -> None:
        if next(self._turns, None) is None:
            self._transport.close()
            self.done.set_result(None)
        else:
            self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._missing = _whole_length(data) if not self._missing else self._missing - len(data)
        if not self._missing:
            self._ask()


async def _ask_often(url: str, requests: int, in_flight: int) -> float:
    host, _, port = urlsplit(url).netloc.partition(":")
    turns = iter(range(requests))
    loop = asyncio.get_running_loop()
    started = time.perf_counter()
    readers = [(await loop.create_connection(lambda: _Reader(turns), host, int(port)))[1] for _ in range(in_flight)]
    await asyncio.gather(*(reader.done for reader in readers))
    return time.perf_counter() - started

"""A server that only replays: every answer is ready as bytes before the first request, so that the client is measured.

It knows pods: a list, whole or in pages, a watch that ends after its last event, and one pod. `clients.py` starts it as
`python -m bench.replay COUNT` and measures with `bare_sockets` what nobody who reads from it can exceed.
"""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bench.pods import pods
from bench.runner import Figures

__all__ = ["NAME", "NAMESPACE", "PODS_PATH", "POD_PATH", "VERSION", "bare_sockets", "replaying"]

PODS_PATH = "/api/v1/pods"
NAMESPACE, NAME = "team-0", "one"
POD_PATH = f"/api/v1/namespaces/{NAMESPACE}/pods/{NAME}"  # whatever the name: the answer is the same pod
VERSION = "1000000"
STRIDE = 1 << 18  # bytes handed to the socket at a time
Parts = tuple[bytes | memoryview, ...]


# --- The server -------------------------------------------------------------------------------------------------------


class Recording:
    """All answers, as bytes; a page of the list is a slice of the whole."""

    def __init__(self, count: int) -> None:
        found = pods(count)
        typed = [{"kind": "Pod", "apiVersion": "v1", **each} for each in found]
        items = [_json(each) for each in found]
        self._starts = [0, *accumulate(len(item) + 1 for item in items)]
        self._items = memoryview(b",".join(items) + b",")
        self._watch = memoryview(_chunks([_json({"type": "MODIFIED", "object": each}) + b"\n" for each in typed]))
        self._pod = _json(typed[0])
        self._version = _json({"major": "1", "minor": "34", "gitVersion": "v1.34.0"})

    def answer(self, target: str) -> Parts:
        """Head and body."""
        url = urlsplit(target)
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == PODS_PATH:
            return self._watched() if asked.get("watch", "").lower() in ("1", "true") else self._listed(asked)
        if url.path.startswith("/version"):
            return _head(len(self._version)), self._version
        return _head(len(self._pod)), self._pod

    def _watched(self) -> Parts:
        return _head(None), self._watch

    def _listed(self, asked: dict[str, str]) -> Parts:
        count = len(self._starts) - 1
        start = int(asked.get("continue", 0))
        stop = min(start + (int(asked.get("limit", 0)) or count), count)
        metadata: dict[str, Any] = {"resourceVersion": VERSION}
        if stop < count:
            metadata |= {"continue": str(stop), "remainingItemCount": count - stop}
        before = b'{"kind":"PodList","apiVersion":"v1","metadata":' + _json(metadata) + b',"items":['
        items = self._items[self._starts[start] : self._starts[stop] - 1]
        return _head(len(before) + len(items) + 2), before, items, b"]}"


class Replay(asyncio.Protocol):
    """One connection: it answers GETs, one after another, for as long as the client wants."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._received = b""
        self._may_write = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._may_write.set()
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            target = self._received.split(b" ", 2)[1].decode()
            self._received = self._received[end + 4 :]
            self._answer(self._recording.answer(target))

    def _answer(self, parts: Parts) -> None:
        if sum(map(len, parts)) < STRIDE:
            self._transport.write(b"".join(parts))
            return
        task = asyncio.create_task(self._send(parts))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, parts: Parts) -> None:
        for part in parts:
            for start in range(0, len(part), STRIDE):
                await self._may_write.wait()
                self._transport.write(part[start : start + STRIDE])

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    def connection_lost(self, error: Exception | None) -> None:
        for task in self._tasks:
            task.cancel()


def _head(length: int | None) -> bytes:
    framing = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    return f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{framing}\r\n\r\n".encode()


def _chunks(lines: list[bytes]) -> bytes:
    """One chunk for each event, as API servers send them."""
    return b"".join(b"%x\r\n%b\r\n" % (len(line), line) for line in lines) + b"0\r\n\r\n"


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


async def serve(count: int) -> None:
    recording = Recording(count)
    server = await asyncio.get_running_loop().create_server(lambda: Replay(recording), "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


@contextmanager
def replaying(count: int) -> Iterator[str]:
    """The server in a process of its own; its URL."""
    command = [sys.executable, "-m", "bench.replay", str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


# --- The limit --------------------------------------------------------------------------------------------------------


class BareReader(asyncio.Protocol):
    """Asks for one target again and again, and counts bytes instead of reading them."""

    def __init__(self, target: str, turns: Iterator[int]) -> None:
        self._request = f"GET {target} HTTP/1.1\r\nHost: replay\r\n\r\n".encode()
        self._turns = turns
        self._missing = 0
        self.done = asyncio.get_running_loop().create_future()

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
        if not self._missing:
            head, _, _ = data.partition(b"\r\n\r\n")
            self._missing = len(head) + 4 + int(head.rpartition(b": ")[2])
        self._missing -= len(data)
        if not self._missing:
            self._ask()


def bare_sockets(url: str, *, count: int, requests: int, in_flight: int) -> Figures:
    """What is possible: objects, events and requests a second, read and not looked at."""
    return {
        "list": count / _drain(url, PODS_PATH, b'"Burstable"}}]}'),
        "watch": count / _drain(url, f"{PODS_PATH}?watch=true", b"\r\n0\r\n\r\n"),
        "gets": requests / asyncio.run(_ask_often(url, requests, in_flight)),
    }


def _drain(url: str, target: str, end: bytes) -> float:
    """Seconds until these bytes came, which come nowhere before the end."""
    address = urlsplit(url)
    room = bytearray(1 << 20)
    with socket.create_connection((address.hostname, address.port)) as connection:
        started = time.perf_counter()
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: replay\r\n\r\n".encode())
        last = b""
        while not last.endswith(end):
            length = connection.recv_into(room)
            last = (last + room[max(length - 16, 0) : length])[-16:]
        return time.perf_counter() - started


async def _ask_often(url: str, requests: int, in_flight: int) -> float:
    address = urlsplit(url)
    turns = iter(range(requests))
    loop = asyncio.get_running_loop()
    started = time.perf_counter()
    readers = [
        (await loop.create_connection(lambda: BareReader(POD_PATH, turns), address.hostname, address.port))[1]
        for _ in range(in_flight)
    ]
    await asyncio.gather(*(reader.done for reader in readers))
    return time.perf_counter() - started


if __name__ == "__main__":
    try:
        asyncio.run(serve(int(sys.argv[1])))
    except KeyboardInterrupt:
        sys.exit(130)

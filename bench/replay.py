"""A server that only replays: its answers are ready as bytes before the first request, so that the client is measured.

    GET …/pods                        the list, whole or in pages
    GET …/pods?watch=true             a watch; with sendInitialEvents the list comes first, as a stream
    GET …/pods/NAME                   always the same pod
    GET /bench/ready                  answers when there is a watch
    GET /bench/burst?events=N         send N events to every watch, as fast as they are taken
    GET /bench/pace?rate=R&events=N   send them at that rate, each with the time at which it was sent
    GET /bench/expire                 end every watch with 410; after the next list comes one event, which says when
                                      that list was asked for

Under `/lists` it has no streams, as older servers; under `/played` a watch sends one event for each object at once.
`replaying` starts it as `python -m bench.replay COUNT`; it ends when its standard input does: with whoever started it.
"""

from __future__ import annotations

import asyncio
import gc
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bench.kinds import KINDS
from bench.recording import Bytes, Recording, chunk, encoder
from bench.replay_paths import LISTS, PLAYED

__all__ = ["replaying"]

_STRIDE = 1 << 20  # bytes handed to the socket at a time
_TICK = 0.0005
_encode = encoder()

_FAILURE = {"kind": "Status", "apiVersion": "v1", "status": "Failure"}
_GONE = _FAILURE | {"reason": "Expired", "code": 410, "message": "too old"}
_NO_STREAMS = _FAILURE | {
    "reason": "Invalid",
    "code": 422,
    "message": "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
}
_VERSION = {"major": "1", "minor": "37", "gitVersion": "v1.37.0"}


class Replay:
    """Answers requests about one recording of each resource, and tells open watches what they are to send."""

    def __init__(self, recordings: dict[str, Recording]) -> None:
        self._recordings = recordings
        self._watches: set[asyncio.Queue[Coroutine[Any, Any, None]]] = set()
        self._is_watched = asyncio.Event()
        self._expired_at = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0), backlog=200)
        listener.setblocking(False)
        print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        loop = asyncio.get_running_loop()
        while True:
            connection, _ = await loop.sock_accept(listener)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            task = asyncio.create_task(self._connected(connection))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _connected(self, connection: socket.socket) -> None:
        with connection:
            try:
                async for target in _requests(connection):
                    await self._answer(connection, target)
            except (ConnectionError, OSError):
                return  # they may leave when they like

    async def _answer(self, connection: socket.socket, target: str) -> None:
        url = urlsplit(target)
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        *_, place, last = url.path.split("/")
        if place == "bench":
            await self._told(connection, last, asked)
        elif recording := self._recordings.get(last):
            await self._read(connection, recording, asked, url.path)
        elif recording := self._recordings.get(place):
            await _send(connection, _head(len(recording.first)) + recording.first)
        else:
            await _send_json(connection, _VERSION)

    # --- those who read ------------------------------------------------------------------------------------------

    async def _read(self, connection: socket.socket, recording: Recording, asked: dict[str, str], path: str) -> None:
        if asked.get("watch", "").lower() not in ("1", "true"):
            self._was_relisted()
            # As kube-apiserver does: whoever takes any version is given all of its cache at once.
            limit = 0 if asked.get("resourceVersion") == "0" else int(asked.get("limit", 0))
            parts = recording.listed(int(asked.get("continue", 0)), limit)
            await _send(connection, _head(sum(map(len, parts))) + parts[0], *parts[1:])
        elif asked.get("sendInitialEvents") != "true":
            played = (recording.played,) if path.startswith(PLAYED) else ()
            await self._watched(connection, recording, _head(None), *played)
        elif not path.startswith(LISTS):
            self._was_relisted()
            await self._watched(connection, recording, _head(None), recording.stream, recording.end_of_stream())
        else:
            await _send_json(connection, _NO_STREAMS, status=422)

    async def _watched(self, connection: socket.socket, recording: Recording, *first: Bytes) -> None:
        await _send(connection, *first)
        if self._expired_at > 0:
            await _send(connection, recording.events(1, sent=self._expired_at))
            self._expired_at = 0
        orders: asyncio.Queue[Any] = asyncio.Queue()
        self._watches.add(orders)
        self._is_watched.set()
        leaving = asyncio.create_task(_notice_leaving(connection, orders))
        try:
            while order := await orders.get():
                await order(connection, recording)
        finally:
            leaving.cancel()
            self._watches.discard(orders)
            if not self._watches:
                self._is_watched.clear()

    def _was_relisted(self) -> None:
        if self._expired_at < 0:
            self._expired_at = time.monotonic_ns()

    # --- those who give orders -----------------------------------------------------------------------------------

    async def _told(self, connection: socket.socket, order: str, asked: dict[str, str]) -> None:
        await self._is_watched.wait()
        count, size = int(asked.get("events", 0)), 0
        if order == "burst":
            data = {recording: recording.events(count) for recording in self._recordings.values()}
            size = sum(map(len, data.values()))
            self._order(lambda to, recording: _send(to, data[recording]))
        elif order == "pace":
            self._order(lambda to, recording: _pace(to, recording, float(asked["rate"]), count))
        elif order == "expire":
            self._expired_at = -1
            self._order(_expire)
        else:
            self._expired_at = 0  # whoever was told before may have ended without listing again
        await _send_json(connection, size)

    def _order(self, order: Any) -> None:
        for orders in self._watches:
            # After the answer to whoever gave the order, so that their clock runs before the first event.
            asyncio.get_running_loop().call_later(0.005, orders.put_nowait, order)


async def _notice_leaving(connection: socket.socket, orders: asyncio.Queue[Any]) -> None:
    """Else who has gone would be told to send something, and nobody would hear of it."""
    with suppress(OSError):
        await asyncio.get_running_loop().sock_recv(connection, 1)
    orders.put_nowait(None)


async def _expire(to: socket.socket, _recording: Recording) -> None:
    await _send(to, chunk(_encode({"type": "ERROR", "object": _GONE}) + b"\n"), b"0\r\n\r\n")
    to.shutdown(socket.SHUT_RDWR)


async def _pace(to: socket.socket, recording: Recording, rate: float, count: int) -> None:
    loop = asyncio.get_running_loop()
    started, sent = loop.time(), 0
    while sent < count:
        due = min(int((loop.time() - started) * rate) + 1, count) - sent
        if due > 0:
            await loop.sock_sendall(to, recording.events(due, sent=time.monotonic_ns()))
            sent += due
        await asyncio.sleep(max(started + sent / rate - loop.time(), _TICK))


async def _requests(connection: socket.socket) -> AsyncIterator[str]:
    loop = asyncio.get_running_loop()
    received = b""
    while data := await loop.sock_recv(connection, 1 << 16):
        received += data
        while (end := received.find(b"\r\n\r\n")) >= 0:
            target = received.split(b" ", 2)[1].decode()
            received = received[end + 4 :]
            yield target


async def _send(connection: socket.socket, *parts: Bytes) -> None:
    send = asyncio.get_running_loop().sock_sendall
    for part in parts:
        whole = memoryview(part)
        for start in range(0, len(part), _STRIDE):
            await send(connection, whole[start : start + _STRIDE])


async def _send_json(connection: socket.socket, value: Any, *, status: int = 200) -> None:
    body = _encode(value)
    await _send(connection, _head(len(body), status) + body)


def _head(length: int | None, status: int = 200) -> bytes:
    framing = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    return f"HTTP/1.1 {status} OK\r\nContent-Type: application/json\r\n{framing}\r\n\r\n".encode()


async def _serve(count: int, names: list[str]) -> None:
    gc.disable()  # it would look through a hundred thousand objects again and again, and find nothing
    serving = asyncio.create_task(Replay({name: Recording(KINDS[name], count) for name in names}).serve())
    left = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await asyncio.wait([serving, left], return_when=asyncio.FIRST_COMPLETED)
    serving.cancel()


@contextmanager
def replaying(count: int, *resources: str) -> Iterator[str]:
    """The server in a process of its own, until this is left; its URL."""
    command = [sys.executable, "-m", "bench.replay", str(count), *(resources or ("pods",))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), sys.argv[2:]))

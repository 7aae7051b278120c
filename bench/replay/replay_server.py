"""A server that replays prepared bytes: responses exist before the first request, so that only the client is measured.

    GET …/pods                        the list, whole or in pages
    GET …/pods?watch=true             a watch; with sendInitialEvents it starts with the objects of the list
    GET …/pods/NAME                   always the same pod
    GET /bench/ready                  responds when a watch is open
    GET /bench/burst?events=N         send N events to every watch, as fast as they are read
    GET /bench/pace?rate=R&events=N   send them at that rate, each with the time at which it was sent
    GET /bench/expire                 end every watch with 410; the watch after the next list starts with one event
                                      that has the time of the request for that list

Under `/lists` it rejects sendInitialEvents, as older servers do; under `/played` a watch immediately sends one event
per object. `replaying` starts it as `python -m bench.replay.replay_server COUNT`; it exits when its standard input is
closed, which also happens when the starting process dies.
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

from bench.replay.paths import LISTS, PLAYED
from bench.replay.recording import Bytes, Recording, chunk, encoder
from bench.replay.resources import RESOURCES

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
    """Responds to requests with the recording of each resource, and passes commands to the open watches."""

    def __init__(self, recordings: dict[str, Recording]) -> None:
        self._recordings = recordings
        self._watches: set[asyncio.Queue[Coroutine[Any, Any, None]]] = set()
        self._has_watch = asyncio.Event()
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
            task = asyncio.create_task(self._handle_connection(connection))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _handle_connection(self, connection: socket.socket) -> None:
        with connection:
            try:
                async for target in _requests(connection):
                    await self._respond(connection, target)
            except (ConnectionError, OSError):
                return  # clients may disconnect at any time

    async def _respond(self, connection: socket.socket, target: str) -> None:
        url = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        *_, parent, last = url.path.split("/")
        if parent == "bench":
            await self._handle_command(connection, last, query)
        elif recording := self._recordings.get(last):
            await self._list_or_watch(connection, recording, query, url.path)
        elif recording := self._recordings.get(parent):
            await _send(connection, _head(len(recording.first)) + recording.first)
        else:
            await _send_json(connection, _VERSION)

    # --- Lists and watches --------------------------------------------------------------------------------------------

    async def _list_or_watch(
        self, connection: socket.socket, recording: Recording, query: dict[str, str], path: str
    ) -> None:
        if query.get("watch", "").lower() not in ("1", "true"):
            self._note_relist()
            # As kube-apiserver does: a list of any version is served from its cache, unpaged.
            limit = 0 if query.get("resourceVersion") == "0" else int(query.get("limit", 0))
            parts = recording.page(int(query.get("continue", 0)), limit)
            await _send(connection, _head(sum(map(len, parts))) + parts[0], *parts[1:])
        elif query.get("sendInitialEvents") != "true":
            played = (recording.played,) if path.startswith(PLAYED) else ()
            await self._serve_watch(connection, recording, _head(None), *played)
        elif not path.startswith(LISTS):
            self._note_relist()
            await self._serve_watch(connection, recording, _head(None), recording.stream, recording.end_of_stream())
        else:
            await _send_json(connection, _NO_STREAMS, status=422)

    async def _serve_watch(self, connection: socket.socket, recording: Recording, *first: Bytes) -> None:
        await _send(connection, *first)
        if self._expired_at > 0:
            await _send(connection, recording.events(1, sent=self._expired_at))
            self._expired_at = 0
        commands: asyncio.Queue[Any] = asyncio.Queue()
        self._watches.add(commands)
        self._has_watch.set()
        detection = asyncio.create_task(_detect_disconnect(connection, commands))
        try:
            while command := await commands.get():
                await command(connection, recording)
        finally:
            detection.cancel()
            self._watches.discard(commands)
            if not self._watches:
                self._has_watch.clear()

    def _note_relist(self) -> None:
        if self._expired_at < 0:
            self._expired_at = time.monotonic_ns()

    # --- Commands -----------------------------------------------------------------------------------------------------

    async def _handle_command(self, connection: socket.socket, command: str, query: dict[str, str]) -> None:
        await self._has_watch.wait()
        count, size = int(query.get("events", 0)), 0
        if command == "burst":
            data = {recording: recording.events(count) for recording in self._recordings.values()}
            size = sum(map(len, data.values()))
            self._enqueue(lambda to, recording: _send(to, data[recording]))
        elif command == "pace":
            self._enqueue(lambda to, recording: _pace(to, recording, float(query["rate"]), count))
        elif command == "expire":
            self._expired_at = -1
            self._enqueue(_expire)
        else:
            self._expired_at = 0  # the previous client may have disconnected without a relist
        await _send_json(connection, size)

    def _enqueue(self, command: Any) -> None:
        for commands in self._watches:
            # After the response to the command, so that the client's clock runs before the first event.
            asyncio.get_running_loop().call_later(0.005, commands.put_nowait, command)


async def _detect_disconnect(connection: socket.socket, commands: asyncio.Queue[Any]) -> None:
    """End a watch whose client has disconnected, so that it does not count as open."""
    with suppress(OSError):
        await asyncio.get_running_loop().sock_recv(connection, 1)
    commands.put_nowait(None)


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
    gc.disable()  # passes over a hundred thousand live objects would only cost time
    recordings = {RESOURCES[name].path.rpartition("/")[2]: Recording(RESOURCES[name], count) for name in names}
    serving = asyncio.create_task(Replay(recordings).serve())
    stdin_closed = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await asyncio.wait([serving, stdin_closed], return_when=asyncio.FIRST_COMPLETED)
    serving.cancel()


@contextmanager
def replaying(count: int, *resources: str) -> Iterator[str]:
    """Run the server in its own process inside the context; yields its URL."""
    command = [sys.executable, "-m", "bench.replay.replay_server", str(count), *(resources or ("pods",))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), sys.argv[2:]))

"""Serves port-forward: over the channels of a WebSocket, or over SPDY frames inside one, as kubectl does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from aiohttp import web

from listwatch.errors import APIError, BadRequestError
from listwatch.models.core_v1 import Pod
from listwatch.server.http.web_sockets import KubeletCall, WebSocket, run_until_disconnected, stop
from listwatch.server.kubelet.byte_streams import InputStream, OutputStream
from listwatch.server.kubelet.channel_protocols import ChannelProtocol
from listwatch.server.kubelet.kubelet import Kubelet
from listwatch.server.kubelet.sessions import PortConnection
from listwatch.server.kubelet.spdy import (
    REFUSED_STREAM,
    DataReceived,
    Event,
    Ping,
    SPDYConnection,
    SPDYError,
    StreamOpened,
    StreamReset,
)
from listwatch.server.requests import APIRequest, Query
from listwatch.server.verbs.connections import PodTarget

__all__ = ["TUNNEL", "ChannelPortExchange", "TunnelPortExchange"]

TUNNEL = "SPDY/3.1+portforward.k8s.io"
_MAX_PORTS = 127  # each has two channels, whose number is a byte
_MAX_STREAMS = 1000


class _PortForwarder:
    """Calls the kubelet for the connections of one request."""

    def __init__(
        self,
        request: APIRequest,
        target: PodTarget,
        kubelet: Kubelet,
        refused: Callable[[], str],
        socket: WebSocket,
    ) -> None:
        self._request = request
        self._kubelet = kubelet
        self._socket = socket
        self._refused = refused
        self._pod = Pod.from_wire(target.pod)

    async def serve(self, port: int, received: InputStream, output: OutputStream) -> str:
        """Serve one connection; returns the text of the error with which it ended."""
        connection = PortConnection(pod=self._pod, port=port, user=self._request.user, input=received, output=output)
        doing = f"error forwarding port {port} to pod {self._request.name}, uid {self._pod.metadata.uid}"
        try:
            await self._kubelet.port_forward(connection)
        except Exception as error:  # noqa: BLE001  # the kubelet is code of a user
            return self._reason(error, doing)
        finally:
            received.close()
        return ""

    def _reason(self, error: Exception, doing: str) -> str:
        call = KubeletCall(self._request, doing=doing, refused=self._refused)
        if self._socket.is_disconnected:
            call.ignore(error)
            return ""
        try:
            return call.reason(error)
        except APIError as unreachable:
            return f"{doing}: {unreachable.message}"


def read_ports(query: Query) -> Sequence[int]:
    """Return the ports of a request; raises BadRequestError."""
    ports = [_port(each) for text in query.all("ports") for each in text.split(",")]
    if not ports or len(ports) > _MAX_PORTS:
        raise BadRequestError('query parameter "port" is required' if not ports else "too many ports")
    return ports


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:6]) < 1 << 16:
        raise BadRequestError(f'unable to parse "{text}" as a port')
    return int(text)


class ChannelPortExchange:
    """One connection to each requested port, with two channels: data and errors. Both begin with the port."""

    def __init__(
        self,
        http: web.BaseRequest,
        request: APIRequest,
        target: PodTarget,
        protocol: ChannelProtocol,
        kubelet: Kubelet,
        refused: Callable[[], str],
    ) -> None:
        self._protocol = protocol
        self._ports = read_ports(request.query)
        self._inputs = [InputStream() for _ in self._ports]
        self._socket = WebSocket(http, protocol.name)
        self._forwarder = _PortForwarder(request, target, kubelet, refused, self._socket)

    async def run(self, started: Callable[[int], None]) -> web.StreamResponse:
        await self._socket.open(started)
        for index, port in enumerate(self._ports):
            for channel in (2 * index, 2 * index + 1):
                await self._send(channel, port.to_bytes(2, "little"))
        work = asyncio.get_running_loop().create_task(self._serve_all())
        await run_until_disconnected(self._receive(), work)
        await self._socket.close()
        return self._socket.response

    async def _send(self, channel: int, data: bytes) -> None:
        await self._socket.send(self._protocol.encode(channel, data))

    async def _serve_all(self) -> None:
        async with asyncio.TaskGroup() as group:
            for index in range(len(self._ports)):
                group.create_task(self._serve(index))

    async def _serve(self, index: int) -> None:
        async def send(data: bytes) -> None:
            await self._send(2 * index, data)

        error = await self._forwarder.serve(self._ports[index], self._inputs[index], OutputStream(send))
        if error and not self._socket.is_disconnected:
            await self._send(2 * index + 1, error.encode())

    async def _receive(self) -> None:
        while (message := await self._socket.receive()) is not None:
            received = self._protocol.decode(message)
            if received and received.channel % 2 == 0 and received.channel // 2 < len(self._inputs):
                await self._inputs[received.channel // 2].feed(received.data)


@dataclass(slots=True)
class _Pair:
    """The two streams of one connection: data and errors."""

    port: int
    data: int = 0
    error: int = 0
    received: InputStream = field(default_factory=InputStream)
    task: asyncio.Task[None] | None = None

    def add(self, kind: str, stream: int) -> bool:
        """Add a stream; returns whether there was none of this kind."""
        if getattr(self, kind):
            return False
        setattr(self, kind, stream)
        return True


class TunnelPortExchange:
    """Any number of connections to ports, as pairs of SPDY streams."""

    def __init__(
        self,
        http: web.BaseRequest,
        request: APIRequest,
        target: PodTarget,
        kubelet: Kubelet,
        refused: Callable[[], str],
    ) -> None:
        self._socket = WebSocket(http, TUNNEL)
        self._forwarder = _PortForwarder(request, target, kubelet, refused, self._socket)
        self._spdy = SPDYConnection()
        self._pairs: dict[str, _Pair] = {}  # those that lack a stream, by the id of their request
        self._by_stream: dict[int, _Pair] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, started: Callable[[int], None]) -> web.StreamResponse:
        await self._socket.open(started)
        try:
            await self._receive()
        finally:
            await stop(*self._tasks)
        await self._socket.close()
        return self._socket.response

    async def _receive(self) -> None:
        while isinstance(message := await self._socket.receive(), bytes):
            try:
                for event in self._spdy.receive(message):
                    await self._handle(event)
            except SPDYError:
                return

    async def _handle(self, event: Event) -> None:
        match event:
            case StreamOpened(stream, headers, is_last):
                await self._open(stream, headers)
                if is_last:
                    self._end_input(stream)
            case DataReceived(stream, data, is_last):
                if (pair := self._by_stream.get(stream)) and pair.data == stream:
                    await pair.received.feed(data)
                if is_last:
                    self._end_input(stream)
            case StreamReset(stream):
                if (pair := self._by_stream.get(stream)) and pair.task:
                    pair.task.cancel()
            case Ping(number):
                await self._socket.send(self._spdy.pong(number))
            case _:
                pass  # the client opens no more streams

    def _end_input(self, stream: int) -> None:
        if (pair := self._by_stream.get(stream)) and pair.data == stream:
            pair.received.close()

    async def _open(self, stream: int, headers: dict[str, str]) -> None:
        kind = headers.get("streamtype", "")
        try:
            port = _port(headers.get("port", ""))
        except BadRequestError:
            port = 0
        # Old clients send no id; there, the stream of data follows that of errors.
        request_id = headers.get("requestid") or f"stream {stream if kind == 'error' else stream - 2}"
        is_valid = port and kind in ("data", "error") and stream not in self._by_stream
        pair = self._pairs.get(request_id) or _Pair(port)
        if not is_valid or len(self._by_stream) >= _MAX_STREAMS or not pair.add(kind, stream):
            await self._socket.send(self._spdy.reset(stream, REFUSED_STREAM))
            return
        self._pairs[request_id] = self._by_stream[stream] = pair
        await self._socket.send(self._spdy.reply(stream))
        if pair.data and pair.error:
            del self._pairs[request_id]
            pair.task = asyncio.get_running_loop().create_task(self._serve(pair))
            self._tasks.add(pair.task)
            pair.task.add_done_callback(self._tasks.discard)

    async def _serve(self, pair: _Pair) -> None:
        async def send(data: bytes) -> None:
            await self._socket.send(self._spdy.data(pair.data, data))

        async def end() -> None:
            await self._socket.send(self._spdy.data(pair.data, b"", is_last=True))

        output = OutputStream(send, end)
        try:
            error = await self._forwarder.serve(pair.port, pair.received, output)
            if not self._socket.is_disconnected:
                await self._socket.send(self._spdy.data(pair.error, error.encode(), is_last=True))
                await output.close()
        except ConnectionError:
            pass  # the client has gone
        finally:
            for stream in (pair.data, pair.error):
                self._by_stream.pop(stream, None)

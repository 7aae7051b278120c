"""Port-forward over the channels of a WebSocket, and over SPDY inside one."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from tests.server.http.kubelet_server import POD, abort, messages, served, web_socket
from tests.server.kubelet.test_spdy import Client, control, data

from listwatch.server import FunctionKubelet, PortConnection

TUNNEL, V4 = "SPDY/3.1+portforward.k8s.io", "v4.channel.k8s.io"


async def echo(connection: PortConnection) -> None:
    await connection.output.write(f"{connection.port}:")
    async for piece in connection.input:
        await connection.output.write(piece)
    await connection.output.write("!")


class SPDYClient(Client):
    """The client's side of a tunnel."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        super().__init__()
        self.socket = socket
        self._received = bytearray()

    async def connect(self, stream: int, port: str = "80", request_id: str = "0") -> None:
        for number, kind in ((stream, "error"), (stream + 2, "data")):
            await self.socket.send_bytes(self.open(number, streamtype=kind, port=port, requestid=request_id))
            assert await self.frame() == (2, number, b"", 0)

    async def frame(self) -> tuple[int, int, bytes, int]:
        """Return the kind of the next frame, zero for data, its stream or number, its content, and its flags."""
        while len(self._received) < 8 or len(self._received) < 8 + int.from_bytes(self._received[5:8]):
            message = await self.socket.receive()
            assert message.type is aiohttp.WSMsgType.BINARY, message
            self._received += message.data
        size, flags = int.from_bytes(self._received[5:8]), self._received[4]
        first, payload = bytes(self._received[:4]), bytes(self._received[8 : 8 + size])
        del self._received[: 8 + size]
        if not first[0] & 0x80:
            return 0, int.from_bytes(first), payload, flags
        kind = first[3]
        if kind == 2:
            assert self.headers(bytes(8) + payload) == bytes(4)
            return kind, int.from_bytes(payload[:4]), b"", flags
        return kind, int.from_bytes(payload[:4]), payload[4:], flags

    async def content(self, stream: int) -> bytes:
        """Return all data of a stream up to its end; the other stream of its connection may end before."""
        found = bytearray()
        while True:
            kind, number, payload, flags = await self.frame()
            assert kind == 0
            if number == stream:
                found += payload
                if flags & 1:
                    return bytes(found)


@asynccontextmanager
async def tunnel(kubelet: FunctionKubelet) -> AsyncIterator[SPDYClient]:
    async with served(kubelet) as call, web_socket(call, f"{POD}/portforward", TUNNEL) as socket:
        assert socket.protocol == TUNNEL
        yield SPDYClient(socket)


# SPDY


async def test_a_pair_of_streams_is_a_connection_and_both_directions_can_end():
    async with tunnel(FunctionKubelet(port_forward=echo)) as client:
        await client.connect(1)
        assert await client.frame() == (0, 3, b"80:", 0)
        await client.socket.send_bytes(data(1, b"", flags=1) + data(3, b"abc"))
        assert await client.frame() == (0, 3, b"abc", 0)
        await client.socket.send_bytes(data(3, b"", flags=1))
        assert await client.frame() == (0, 3, b"!", 0)
        assert await client.frame() == (0, 1, b"", 1)
        assert await client.frame() == (0, 3, b"", 1)


async def test_connections_of_a_tunnel_are_independent():
    async with tunnel(FunctionKubelet(port_forward=echo)) as client:
        await client.connect(1, request_id="a")
        assert await client.frame() == (0, 3, b"80:", 0)
        await client.connect(5, "81", request_id="b")
        assert await client.frame() == (0, 7, b"81:", 0)
        await client.socket.send_bytes(data(7, b"x", flags=1))
        assert await client.content(7) == b"x!"
        await client.socket.send_bytes(data(3, b"y", flags=1))
        assert await client.content(3) == b"y!"


async def test_an_error_is_reported_on_the_stream_for_errors(caplog: pytest.LogCaptureFixture):
    async def fail(_: PortConnection) -> None:
        raise ValueError("nothing listens")

    async with tunnel(FunctionKubelet(port_forward=fail)) as client:
        await client.connect(1)
        text = (await client.content(1)).decode()
    assert text.startswith("error forwarding port 80 to pod p, uid ")
    assert text.endswith("ValueError: nothing listens")
    assert [each.levelno for each in caplog.records] == [logging.ERROR]


async def test_invalid_streams_are_refused_and_pings_get_a_response():
    async with tunnel(FunctionKubelet(port_forward=echo)) as client:
        for headers in ({"streamtype": "data"}, {"streamtype": "data", "port": "x"}, {"streamtype": "z", "port": "1"}):
            await client.socket.send_bytes(client.open(1, **headers))
            assert await client.frame() == (3, 1, (3).to_bytes(4), 0)
        await client.socket.send_bytes(control(6, (7).to_bytes(4)))
        assert await client.frame() == (6, 7, b"", 0)


async def test_a_reset_stream_and_a_client_that_goes_cancel_the_connection():
    ended: asyncio.Queue[int] = asyncio.Queue()

    async def wait(connection: PortConnection) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.put_nowait(connection.port)

    async with tunnel(FunctionKubelet(port_forward=wait)) as client:
        await client.connect(1, "1", "a")
        await client.connect(5, "2", "b")
        await client.socket.send_bytes(control(3, (3).to_bytes(4) + (5).to_bytes(4)))
        assert await ended.get() == 1
        await client.socket.close()
        assert await ended.get() == 2


async def test_an_invalid_frame_closes_the_tunnel():
    async with tunnel(FunctionKubelet(port_forward=echo)) as client:
        await client.socket.send_bytes(control(1, b"?"))
        assert (await client.socket.receive()).type is aiohttp.WSMsgType.CLOSE


async def test_a_port_can_be_one_of_this_machine():
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.read()).upper() * 100_000)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    address = server.sockets[0].getsockname()

    async def forward(connection: PortConnection) -> None:
        await connection.forward_to(*address)

    async with server, tunnel(FunctionKubelet(port_forward=forward)) as client:
        await client.connect(1)
        await client.socket.send_bytes(data(3, b"abc", flags=1))
        assert await client.content(3) == b"ABC" * 100_000


# Channels


async def test_each_port_has_a_channel_for_data_and_one_for_errors():
    async def forward(connection: PortConnection) -> None:
        if connection.port == 81:
            raise ValueError("closed")
        await connection.output.write(await connection.input.read(3))

    async with (
        served(FunctionKubelet(port_forward=forward)) as call,
        web_socket(call, f"{POD}/portforward?ports=80&ports=81", V4) as socket,
    ):
        await socket.send_bytes(b"\0abc")
        received = await messages(socket)
    assert received[:4] == [bytes((0, 80, 0)), bytes((1, 80, 0)), bytes((2, 81, 0)), bytes((3, 81, 0))]
    assert b"\0abc" in received
    assert any(each.startswith(b"\3error forwarding port 81") for each in received)


@pytest.mark.parametrize("protocol", [V4, TUNNEL])
async def test_a_client_that_goes_while_a_connection_sends_is_no_failure_of_the_kubelet(
    caplog: pytest.LogCaptureFixture, protocol: str
):
    began, ended = asyncio.Event(), asyncio.Event()

    async def send(connection: PortConnection) -> None:
        try:
            while True:
                await connection.output.write(b"x" * 65536)
                began.set()
        finally:
            ended.set()

    async with served(FunctionKubelet(port_forward=send)) as call:
        for _ in range(20):  # the server notices it when it reads or when it writes
            began.clear()
            ended.clear()
            async with web_socket(call, f"{POD}/portforward?ports=80", protocol) as socket:
                if protocol == TUNNEL:
                    await SPDYClient(socket).connect(1)
                await began.wait()
                abort(socket)
                await ended.wait()
    assert not [each for each in caplog.records if each.levelno >= logging.WARNING]


@pytest.mark.parametrize("query", ["", "?ports=", "?ports=x", "?ports=0", "?ports=65536", "?ports=1,,2"])
async def test_ports_are_numbers(query: str):
    async with served(FunctionKubelet(port_forward=echo)) as call:
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            async with web_socket(call, f"{POD}/portforward{query}", V4):
                pass
    assert caught.value.status == 400

"""A server that accepts WebSockets, sends scripted bytes, and records the frames that it receives."""

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from listwatch.client import ClientConfig, ClientSet, ResourceClient
from listwatch.models.core_v1 import Pod

_KEY = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
BINARY, CLOSE, PING, PONG = 2, 8, 9, 10

Step = bytes | Callable[["ScriptedSocket"], object]


def frame(payload: bytes, opcode: int = BINARY, *, final: bool = True) -> bytes:
    """A frame of a server, which is not masked."""
    head = bytes((opcode | (128 if final else 0),))
    if len(payload) < 126:
        return head + bytes((len(payload),)) + payload
    return head + bytes((126,)) + len(payload).to_bytes(2) + payload


CLOSED = frame((1000).to_bytes(2), CLOSE)


class ScriptedSocket:
    """The server: each connection receives the handshake and the script, then is closed or kept open."""

    def __init__(self, *script: bytes, protocol: str, then_close: bool) -> None:
        self._script = script
        self._protocol = protocol
        self._then_close = then_close
        self.heads: list[bytes] = []
        self.received: list[tuple[int, bytes]] = []
        self.has_frame = asyncio.Event()
        self.disconnected = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head)
            fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
            accept = base64.b64encode(hashlib.sha1(fields[b"Sec-WebSocket-Key"] + _KEY).digest())
            lines = [b"HTTP/1.1 101 Switching Protocols", b"Upgrade: websocket", b"Connection: Upgrade"]
            lines += [b"Sec-WebSocket-Accept: " + accept]
            lines += [b"Sec-WebSocket-Protocol: " + self._protocol.encode()] if self._protocol else []
            writer.write(b"\r\n".join([*lines, b"", b""]))
            for step in self._script:
                writer.write(step)
                await writer.drain()
            if not self._then_close:
                await self._receive(reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.disconnected.set()
            writer.close()

    async def _receive(self, reader: asyncio.StreamReader) -> None:
        while True:
            first, second = await reader.readexactly(2)
            size = second & 127
            if size == 126:
                size = int.from_bytes(await reader.readexactly(2))
            elif size == 127:
                size = int.from_bytes(await reader.readexactly(8))
            mask, payload = await reader.readexactly(4), await reader.readexactly(size)
            plain = bytes(each ^ mask[at % 4] for at, each in enumerate(payload))
            self.received.append((first & 15, plain))
            self.has_frame.set()
            if first & 15 == CLOSE:
                return


@asynccontextmanager
async def scripted_socket(
    *script: bytes, protocol: str = "v5.channel.k8s.io", then_close: bool = True
) -> AsyncIterator[tuple[ScriptedSocket, ResourceClient[Pod]]]:
    """A scripted server, and a client of its pods."""
    socket = ScriptedSocket(*script, protocol=protocol, then_close=then_close)
    server = await asyncio.start_server(socket.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        async with ClientSet(ClientConfig(host=f"http://127.0.0.1:{port}", token="secret-token")) as client:
            yield socket, client.core_v1.pods("default")
        if socket.heads:
            await socket.disconnected.wait()
    finally:
        server.close()
        await server.wait_closed()


def frames_of(*messages: bytes) -> Sequence[bytes]:
    return [frame(each) for each in messages]

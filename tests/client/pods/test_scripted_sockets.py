"""Byte-exact streams: what a server sends, and what the client makes of it."""

import asyncio

import pytest
from tests.client.pods.scripted_sockets import CLOSE, CLOSED, PING, PONG, frame, frames_of, scripted_socket

from listwatch.errors import (
    ConnectionLostError,
    ExitCodeLostError,
    PortForwardError,
    ProtocolError,
    ResponseTooLargeError,
    UsageError,
)

SUCCESS = b'\x03{"metadata":{},"status":"Success"}'
EXIT_3 = (
    b'\x03{"metadata":{},"status":"Failure","reason":"NonZeroExitCode",'
    b'"details":{"causes":[{"reason":"ExitCode","message":"3"}]}}'
)
V4 = "v4.channel.k8s.io"
PORT = b"\x90\x1f"  # 8080


async def test_the_request_has_the_command_the_streams_and_the_protocols():
    async with scripted_socket(*frames_of(SUCCESS), CLOSED) as (server, pods):
        await pods.exec("web-0", ["sh", "-c", "a b&c"], container="main", stdin=b"")
    head = server.heads[0].decode()
    target = "/api/v1/namespaces/default/pods/web-0/exec"
    query = "command=sh&command=-c&command=a%20b%26c&container=main&stdin=true&stdout=true&stderr=true"
    assert head.startswith(f"GET {target}?{query} HTTP/1.1\r\n")
    assert "Sec-WebSocket-Protocol: v5.channel.k8s.io,v4.channel.k8s.io\r\n" in head
    assert "Authorization: Bearer secret-token\r\n" in head


async def test_output_and_exit_code_are_read_from_the_channels():
    async with scripted_socket(*frames_of(b"\x01", b"\x01out", b"\x02err", b"\x01put", EXIT_3), CLOSED) as (_, pods):
        result = await pods.exec("web-0", ["x"])
    assert (result.exit_code, result.stdout, result.stderr) == (3, b"output", b"err")


async def test_a_stream_may_be_cut_into_single_bytes_and_fragments():
    parts = frame(b"\x01ou", final=False) + frame(b"t", 0) + frame(b"", PING) + frame(EXIT_3) + CLOSED
    async with scripted_socket(*[parts[at : at + 1] for at in range(len(parts))]) as (_, pods):
        result = await pods.exec("web-0", ["x"])
    assert (result.exit_code, result.stdout) == (3, b"out")


async def test_output_after_the_exit_code_is_not_lost():
    async with scripted_socket(*frames_of(SUCCESS, b"\x01late"), CLOSED) as (_, pods):
        assert (await pods.exec("web-0", ["x"])).stdout == b"late"


@pytest.mark.parametrize("ending", [b"", CLOSED, frame(b"\x01more")[:3], frame(SUCCESS[:12])])
async def test_a_stream_that_is_cut_loses_the_exit_code_and_keeps_the_output(ending: bytes):
    async with scripted_socket(*frames_of(b"\x01some", b"\x02err"), ending) as (_, pods):
        with pytest.raises(ExitCodeLostError, match=r"exec x in pod web-0.* before the exit code arrived") as caught:
            await pods.exec("web-0", ["x"])
    assert (caught.value.stdout, caught.value.stderr) == (b"some", b"err")


async def test_text_on_the_error_channel_is_part_of_the_error():
    async with scripted_socket(*frames_of(b"\x03no such container"), CLOSED) as (_, pods):
        with pytest.raises(ExitCodeLostError, match="the server sent: no such container"):
            await pods.exec("web-0", ["x"])


async def test_an_exit_code_is_enough_if_the_server_does_not_close():
    async with scripted_socket(*frames_of(b"\x01out", SUCCESS)) as (_, pods):
        assert (await pods.exec("web-0", ["x"])).exit_code == 0


async def test_invalid_frames_are_an_error_of_the_protocol():
    async with scripted_socket(b"\xff\x00garbage") as (_, pods):
        with pytest.raises(ProtocolError, match="the WebSocket is not valid"):
            await pods.exec("web-0", ["x"])


async def test_a_message_beyond_the_limit_is_refused():
    head = bytes((130, 127)) + (2**24 + 1).to_bytes(8)
    async with scripted_socket(head + b"x" * 1000, then_close=False) as (_, pods):
        with pytest.raises(ResponseTooLargeError, match="more than 16,777,216 bytes"):
            await pods.exec("web-0", ["x"])


async def test_messages_without_a_known_channel_are_ignored():
    async with scripted_socket(*frames_of(b"", b"\x09x", b"\x01out", SUCCESS), CLOSED) as (_, pods):
        assert (await pods.exec("web-0", ["x"])).stdout == b"out"


async def test_an_old_protocol_cannot_end_the_input():
    async with scripted_socket(*frames_of(b"\x01"), protocol=V4, then_close=False) as (server, pods):
        with pytest.raises(UsageError, match=r"speaks v4\.channel\.k8s\.io, which cannot end the input"):
            await pods.exec("web-0", ["cat"], stdin=b"data")
    assert [opcode for opcode, _ in server.received] == [CLOSE]


async def test_an_old_protocol_still_sends_input_and_output():
    script = frames_of(b"\x01out")
    async with (
        scripted_socket(*script, protocol=V4, then_close=False) as (server, pods),
        pods.stream_exec("web-0", ["sh"], stdin=True) as process,
    ):
        await process.write("exit\n")
        assert (await anext(process)).data == b"out"
        await server.has_frame.wait()
    assert server.received[0] == (2, b"\x00exit\n")


async def test_a_new_protocol_ends_the_input_with_a_message():
    async with (
        scripted_socket(then_close=False) as (server, pods),
        pods.stream_exec("web-0", ["cat"], stdin=True) as process,
    ):
        await process.write(b"data")
        await process.close_stdin()
    assert server.received[:2] == [(2, b"\x00data"), (2, b"\xff\x00")]
    assert server.received[-1][0] == CLOSE


async def test_pings_are_answered_while_output_is_awaited():
    async with (
        scripted_socket(frame(b"are you there", PING), then_close=False) as (server, pods),
        pods.stream_exec("web-0", ["sh"]) as process,
    ):
        reading = asyncio.create_task(anext(process, None))
        await server.has_frame.wait()
        process.close()
        assert await reading is None
    assert server.received[0] == (PONG, b"are you there")


async def test_closing_the_client_ends_open_sockets():
    async with scripted_socket(then_close=False) as (server, pods):
        process = pods.stream_exec("web-0", ["sh"])
        await process.open()
        reading = asyncio.create_task(anext(process))
        await asyncio.sleep(0)
        await pods._rest._session.aclose()
        with pytest.raises(ExitCodeLostError):
            await reading
        await server.disconnected.wait()
        await process.aclose()


# Ports


async def test_both_channels_of_a_port_begin_with_its_number():
    script = frames_of(b"\x00" + PORT, b"\x01" + PORT, b"\x00hello ", b"\x00world")
    async with scripted_socket(*script, CLOSED, protocol=V4) as (server, pods), pods.open_port("web-0", 8080) as stream:
        assert await stream.read(3) == b"hel"
        assert await stream.read_all() == b"lo world"
    assert b"GET /api/v1/namespaces/default/pods/web-0/portforward?ports=8080 HTTP/1.1\r\n" in server.heads[0]


async def test_the_number_of_a_port_may_share_its_message_with_data():
    async with (
        scripted_socket(*frames_of(b"\x00" + PORT + b"data"), CLOSED, protocol=V4) as (_, pods),
        pods.open_port("web-0", 8080) as stream,
    ):
        assert await stream.read_all() == b"data"


async def test_the_error_of_a_port_is_raised():
    script = frames_of(b"\x00" + PORT, b"\x01" + PORT, b"\x01connection refused\n")
    async with scripted_socket(*script, CLOSED, protocol=V4) as (_, pods), pods.open_port("web-0", 8080) as stream:
        with pytest.raises(PortForwardError, match=r"^port 8080 of pod web-0: connection refused$"):
            await stream.read()


async def test_a_message_without_a_channel_is_an_error_of_the_protocol():
    async with (
        scripted_socket(*frames_of(b"\x07x"), CLOSED, protocol=V4) as (_, pods),
        pods.open_port("web-0", 8080) as stream,
    ):
        with pytest.raises(ProtocolError, match="no valid channel"):
            await stream.read()


async def test_a_handshake_that_is_not_valid_is_an_error_of_the_protocol():
    from tests.client.scripted import scripted

    head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    async with scripted([head + b"Sec-WebSocket-Accept: wrong\r\n\r\n"]) as (_, client):
        with pytest.raises(ProtocolError, match="no valid WebSocket handshake"):
            await client.core_v1.pods("default").exec("web-0", ["x"])


async def test_a_server_that_closes_during_the_handshake_is_a_lost_connection():
    from tests.client.scripted import scripted

    from listwatch.testing.scripted_server import CLOSE as CLOSE_CONNECTION

    async with scripted([CLOSE_CONNECTION]) as (_, client):
        with pytest.raises(ConnectionLostError):
            await client.core_v1.pods("default").exec("web-0", ["x"])


async def test_a_server_that_ignores_the_upgrade_is_an_error_of_the_protocol():
    from tests.client.scripted import scripted

    from listwatch.testing.scripted_server import respond

    async with scripted(respond(200, b"{}")) as (_, client):
        with pytest.raises(ProtocolError, match="not an upgrade of the connection"):
            await client.core_v1.pods("default").exec("web-0", ["x"])

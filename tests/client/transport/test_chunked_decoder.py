"""Decoding chunked bodies that are cut anywhere."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.client.transport.connection import ChunkedDecoder, StreamConnection
from listwatch.client.transport.read_buffer import ReadBuffer
from listwatch.errors import ProtocolError

# Contents that look like the beginning of chunks, and a chunk with an extension.
PARTS = [b"one\n", b"\r\n", b"0\r\n\r\n", b"5\r\nhello\r\n", b"x" * 300]
STREAM = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in PARTS) + b"3;name=value\r\nend\r\n0\r\n\r\n"


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_a_body_is_decoded_wherever_it_is_cut(cuts: list[int]) -> None:
    body = ChunkedDecoder()
    found = [body.feed(STREAM[start:end]) for start, end in pairwise([0, *sorted(cuts), len(STREAM)])]
    assert b"".join(found) == b"".join(PARTS) + b"end"
    assert body.is_complete


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_decoded_data_does_not_depend_on_the_read_buffer(cuts: list[int]) -> None:
    body, buffer = ChunkedDecoder(), bytearray(len(STREAM))
    found = []
    for start, end in pairwise([0, *sorted(cuts), len(STREAM)]):
        buffer[: end - start] = STREAM[start:end]
        found.append(body.feed(memoryview(buffer)[: end - start]))
    buffer[:] = bytes(len(buffer))
    assert b"".join(found) == b"".join(PARTS) + b"end"


def test_a_body_is_decoded_byte_by_byte() -> None:
    body = ChunkedDecoder()
    assert b"".join(body.feed(STREAM[place : place + 1]) for place in range(len(STREAM))) == b"".join(PARTS) + b"end"


def test_it_is_not_complete_before_the_empty_chunk() -> None:
    body = ChunkedDecoder()
    assert body.feed(b"3\r\nend\r\n") == b"end"
    assert not body.is_complete


def test_data_after_the_last_chunk_is_ignored() -> None:
    body = ChunkedDecoder()
    assert body.feed(b"3\r\nend\r\n0\r\n\r\n3\r\nmore") == b"end"
    assert body.feed(b"and more") == b""


@pytest.mark.parametrize("stream", [b"3\r\nlonger\r\n", b"\r\n", b"-1\r\n", b"three\r\n", b"0x3\r\nend", b"9" * 5000])
def test_an_invalid_chunk_is_an_error(stream: bytes) -> None:
    with pytest.raises(ProtocolError):
        ChunkedDecoder().feed(stream)


HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


async def received(pieces: list[bytes], *, into_buffer: bool) -> bytes:
    """Return the body that a connection decodes, with one of the two read methods of event loops."""
    connection = stream_connection()
    connection.set_response_params(read_bufsize=2**16)
    for piece in filter(None, pieces):
        if into_buffer:
            connection.get_buffer(-1)[: len(piece)] = piece
            connection.buffer_updated(len(piece))
        else:
            connection.data_received(piece)
    _, body = await connection.read()
    return await body.read()


def stream_connection() -> Any:
    return StreamConnection(asyncio.get_running_loop(), ReadBuffer(asyncio.get_running_loop()))


@settings(deadline=None)
@given(cuts=st.lists(st.integers(0, len(HEAD + STREAM)), max_size=20), into_buffer=st.booleans())
async def test_a_connection_decodes_the_body_with_both_read_methods(cuts: list[int], into_buffer: bool):
    whole = HEAD + STREAM
    pieces = [whole[start:end] for start, end in pairwise([0, *sorted(cuts), len(whole)])]
    assert await received(pieces, into_buffer=into_buffer) == b"".join(PARTS) + b"end"


async def test_a_server_that_closes_an_unused_connection_is_no_error():
    stream_connection().eof_received()

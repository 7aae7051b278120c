"""Chunks: wherever they are cut, the same body comes of them."""

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.client.chunked_body import ChunkedBody
from listwatch.client.connections import _new_connection
from listwatch.errors import ProtocolError

# Chunks that look like the beginning of others, and one with an extension.
PARTS = [b"one\n", b"\r\n", b"0\r\n\r\n", b"5\r\nhello\r\n", b"x" * 300]
STREAM = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in PARTS) + b"3;name=value\r\nend\r\n0\r\n\r\n"


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_the_same_body_comes_of_a_stream_wherever_it_is_cut(cuts: list[int]) -> None:
    body = ChunkedBody()
    found = [body.feed(STREAM[start:end]) for start, end in pairwise([0, *sorted(cuts), len(STREAM)])]
    assert b"".join(found) == b"".join(PARTS) + b"end"
    assert body.is_complete


def test_byte_by_byte_is_a_way_to_send_it_too() -> None:
    body = ChunkedBody()
    assert b"".join(body.feed(STREAM[place : place + 1]) for place in range(len(STREAM))) == b"".join(PARTS) + b"end"


def test_it_is_not_complete_before_the_empty_chunk() -> None:
    body = ChunkedBody()
    assert body.feed(b"3\r\nend\r\n") == b"end"
    assert not body.is_complete


@pytest.mark.parametrize("stream", [b"3\r\nlonger\r\n", b"\r\n", b"-1\r\n", b"three\r\n", b"0x3\r\nend", b"9" * 5000])
def test_what_is_no_chunk_is_refused(stream: bytes) -> None:
    with pytest.raises(ProtocolError):
        ChunkedBody().feed(stream)


async def test_a_server_that_hangs_up_before_it_was_asked_is_no_error():
    connection = _new_connection(asyncio.get_running_loop(), streams=True)
    connection.eof_received()

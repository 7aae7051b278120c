"""Streams of bytes between clients and kubelets."""

import asyncio

import pytest

from listwatch.server import InputStream, OutputStream
from listwatch.server.kubelet.byte_streams import MAX_BUFFERED


async def test_input_is_read_in_pieces_lines_and_as_a_whole():
    stream = InputStream()
    for piece in (b"a\nb", b"c\nd", b"ef", b"gh"):
        await stream.feed(piece)
    stream.close()
    assert await stream.readline() == b"a\n"
    assert await stream.readline() == b"bc\n"
    assert await stream.read(1) == b"d"
    assert await anext(stream) == b"ef"
    assert await stream.read() == b"gh"
    assert (await stream.read(), await stream.read(5), await stream.readline()) == (b"", b"", b"")
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_a_reader_waits_for_data_and_for_the_end():
    stream = InputStream()
    reading = asyncio.create_task(stream.read())
    await stream.feed(b"x")
    await asyncio.sleep(0)
    assert not reading.done()
    stream.close()
    assert await reading == b"x"


async def test_a_full_buffer_makes_the_sender_wait():
    stream = InputStream()
    await stream.feed(b"x" * MAX_BUFFERED)
    feeding = asyncio.create_task(stream.feed(b"y"))
    await asyncio.sleep(0)
    assert not feeding.done()
    assert len(await stream.read(1)) == 1
    await feeding


async def test_input_that_is_not_wanted_any_more_is_dropped():
    stream = InputStream()
    await stream.feed(b"x" * MAX_BUFFERED)
    feeding = asyncio.create_task(stream.feed(b"y"))
    await asyncio.sleep(0)
    stream.close()
    await feeding
    await stream.feed(b"z")
    assert await stream.read() == b"x" * MAX_BUFFERED


async def test_output_is_sent_in_pieces_and_text_as_utf_8():
    sent: list[bytes] = []

    async def send(data: bytes) -> None:
        sent.append(data)

    async def end() -> None:
        sent.append(b"end")

    stream = OutputStream(send, end)
    await stream.write("ä")
    await stream.write(b"x" * 100_000)
    await stream.close()
    await stream.close()
    await stream.write(b"late")
    assert sent[0] == "ä".encode()
    assert b"".join(sent[1:-1]) == b"x" * 100_000
    assert max(map(len, sent)) < 100_000
    assert sent.count(b"end") == 1

"""The frames of SPDY/3.1, as a client of port-forward sends them."""

import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.server.kubelet.spdy import (
    DataReceived,
    GoAway,
    Ping,
    SPDYConnection,
    SPDYError,
    StreamOpened,
    StreamReset,
    _dictionary,
)


class Client:
    """Makes the frames of a client."""

    def __init__(self) -> None:
        self._deflater = zlib.compressobj(zdict=_dictionary())
        self._inflater = zlib.decompressobj(zdict=_dictionary())

    def open(self, stream: int, *, flags: int = 0, **headers: str) -> bytes:
        text = len(headers).to_bytes(4)
        for name, value in headers.items():
            for each in (name.encode(), value.encode()):
                text += len(each).to_bytes(4) + each
        block = self._deflater.compress(text) + self._deflater.flush(zlib.Z_SYNC_FLUSH)
        return control(1, stream.to_bytes(4) + bytes(6) + block, flags=flags)

    def headers(self, frame: bytes) -> bytes:
        return self._inflater.decompress(frame[12:])


def control(kind: int, payload: bytes, *, flags: int = 0, version: int = 3) -> bytes:
    first = (0x8000 | version) << 16 | kind
    return first.to_bytes(4) + bytes((flags,)) + len(payload).to_bytes(3) + payload


def data(stream: int, content: bytes, *, flags: int = 0) -> bytes:
    return stream.to_bytes(4) + bytes((flags,)) + len(content).to_bytes(3) + content


def test_the_dictionary_is_the_one_that_the_protocol_prescribes():
    assert (len(_dictionary()), zlib.adler32(_dictionary())) == (1423, 0xE3C6A7C2)


def test_frames_become_events():
    client = Client()
    frames = (
        client.open(1, streamtype="error", port="80"),
        client.open(3, streamtype="data", flags=1),
        data(3, b"abc"),
        data(3, b"", flags=1),
        control(3, (1).to_bytes(4) + (5).to_bytes(4)),
        control(6, (7).to_bytes(4)),
        control(4, bytes(4)),
        control(9, bytes(8)),
        control(7, bytes(8)),
    )
    assert [*SPDYConnection().receive(b"".join(frames))] == [
        StreamOpened(1, {"streamtype": "error", "port": "80"}, False),
        StreamOpened(3, {"streamtype": "data"}, True),
        DataReceived(3, b"abc", False),
        DataReceived(3, b"", True),
        StreamReset(1),
        Ping(7),
        GoAway(),
    ]


@given(st.lists(st.integers(1, 40)))
def test_frames_may_arrive_in_any_pieces(sizes: list[int]):
    client, connection = Client(), SPDYConnection()
    rest = client.open(1, a="b") + data(1, b"x" * 30, flags=1) + client.open(3, a="c")
    events = []
    for size in [*sizes, len(rest)]:
        events += connection.receive(rest[:size])
        rest = rest[size:]
    received = [each for each in events if isinstance(each, DataReceived)]
    assert b"".join(each.data for each in received) == b"x" * 30
    assert [each.is_last for each in received] == [False] * (len(received) - 1) + [True]
    assert [each.headers for each in events if isinstance(each, StreamOpened)] == [{"a": "b"}, {"a": "c"}]


def test_replies_have_no_headers():
    client, connection = Client(), SPDYConnection()
    for stream in (1, 3):
        frame = connection.reply(stream)
        assert frame[:4] == bytes((0x80, 3, 0, 2))
        assert int.from_bytes(frame[8:12]) == stream
        assert client.headers(frame) == bytes(4)
    assert connection.data(5, b"ab", is_last=True) == bytes((0, 0, 0, 5, 1, 0, 0, 2)) + b"ab"
    assert connection.pong(9) == control(6, (9).to_bytes(4))
    assert connection.reset(5, 3) == control(3, (5).to_bytes(4) + (3).to_bytes(4))


@pytest.mark.parametrize(
    "frame",
    [
        control(1, bytes(10)),
        control(1, (1).to_bytes(4) + bytes(6) + b"not compressed"),
        control(1, b"short"),
        control(3, bytes(8)),
        control(6, b""),
        control(5, bytes(4)),
        control(1, bytes(10), version=2),
        control(1, b"")[:5] + (1 << 20).to_bytes(3),
        data(0, b"x"),
        Client().open(1, name="x" * 100_000),
        Client().open(1, name="x")[:-4] + b"\0\0\0\0",
    ],
)
def test_an_invalid_frame_ends_the_connection(frame: bytes):
    with pytest.raises(SPDYError):
        list(SPDYConnection().receive(frame))


@given(st.binary(max_size=200))
def test_any_bytes_are_events_or_an_error(received: bytes):
    with suppress(SPDYError):
        list(SPDYConnection().receive(b"\x80\x03\x00" + received))

"""Frames of a watch in pieces of any size, and those that are too large or no events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protobuf.wire import UNKNOWN, field

from listwatch.errors import DecodeError, ResponseTooLargeError
from listwatch.protobuf import encode_watch_frame
from listwatch.protobuf.watch_frames import FrameReader

EVENTS = [
    ("ADDED", b"k8s\0a"),
    ("MODIFIED", b"x" * 110),
    ("MODIFIED", b"x" * 121),
    ("DELETED", b"x" * 200),
    ("BOOKMARK", b""),
    ("ADDED", b"x" * 16_380),
    ("ERROR", b"x" * 70_000),
    ("ADDED", b"x" * 2_097_150),
]
BODY = b"".join(encode_watch_frame(*event) for event in EVENTS)
LIMIT = 1 << 24


def frame(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content


@pytest.mark.parametrize("size", [11, 1000, 70_000, 10**7])
def test_frames_are_found_in_pieces_of_any_size(size: int):
    reader = FrameReader(max_size=LIMIT)
    found = [event for start in range(0, len(BODY), size) for event in reader.feed(BODY[start : start + size])]
    assert found == EVENTS
    assert reader.finish() == b""


@given(st.lists(st.integers(1, 9), max_size=30))
def test_small_pieces_are_put_together(sizes: list[int]):
    body = b"".join(encode_watch_frame(*event) for event in EVENTS[:5])
    reader, found, start = FrameReader(max_size=LIMIT), [], 0
    for size in [*sizes, len(body)]:
        found += reader.feed(body[start : start + size])
        start += size
    assert found == EVENTS[:5]


def test_a_frame_that_is_cut_is_what_remains():
    reader = FrameReader(max_size=LIMIT)
    assert [*reader.feed(BODY[:-1])] == EVENTS[:-1]
    assert reader.finish() == encode_watch_frame(*EVENTS[-1])[:-1]
    assert reader.finish() == b""


def test_a_frame_that_is_too_large_is_an_error_after_those_before_it_although_it_is_incomplete():
    reader, found = FrameReader(max_size=1000), []
    with pytest.raises(ResponseTooLargeError, match="max_event_size"):
        found.extend(reader.feed(encode_watch_frame("ADDED", b"a") + (1001).to_bytes(4, "big")))
    assert found == [("ADDED", b"a")]


def test_other_forms_of_a_frame_are_read():
    reader = FrameReader(max_size=LIMIT)
    odd = frame(field(2, field(1, b"obj") + UNKNOWN) + UNKNOWN + field(1, b"ADDED"))
    assert [*reader.feed(odd + frame(b""))] == [("ADDED", b"obj"), ("", b"")]


@pytest.mark.parametrize("content", [b"\x0a\x7fA", b"\x08\x01", b"\xff" * 12, b"\x12\x02\x0a\x07"])
def test_a_frame_that_is_no_event_is_an_error(content: bytes):
    with pytest.raises(DecodeError, match=f"in a frame of {len(content)} bytes"):
        list(FrameReader(max_size=LIMIT).feed(frame(content)))

"""Decoding watch events from a stream that is cut anywhere."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.objects.widgets import Widget, compact

from listwatch.api.watch_events import EventReader, read_events
from listwatch.errors import DecodeError
from listwatch.objects.json.wire import LineSplitter

# Line ends that look like others, frames in texts, types that begin alike, keys in another order, spaces.
NOTE = 'é \n \\ " }} {"type":"ADDED","object":{'
LINES = [
    *(compact({"type": kind, "object": {"metadata": {"name": kind}, "note": NOTE}}) for kind in ("ADDED", "DELETED")),
    compact({"object": {"metadata": {"name": "turned"}}, "type": "MODIFIED"}),
    b' {"type": "MODIFIED", "object": {"metadata": {"name": "wide"}}} ',
    compact({"type": "MODIFIED", "object": {"metadata": {"name": "more"}}, "also": {}}),
    compact({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "7"}}}),
    compact({"type": "ERROR", "object": {"kind": "Status", "code": 410}}),
    b"",
]
# Big ones, of which not all is looked at.
METADATA = {
    "name": "big",
    "namespace": "n",
    "uid": "0b8f1f2e-6a6e-4a53-9c0f-0b8f1f2e6a6e",
    "resourceVersion": "8",
    "labels": {"a": "b"},
}
BIG = {"metadata": METADATA | {"managedFields": [{"manager": "m"}]}, "note": NOTE + "x" * 1500}
LINES[4:4] = [compact({"type": kind, "object": BIG}) for kind in ("MODIFIED", "ADDED", "DELETED")]
STREAM = b"\n".join(LINES[:5]) + b"\r\n\r\n" + b"\n".join(LINES[5:]) + b"\n"


def seen(events: list) -> list:
    return [(type(event).__name__, event.object.name, event.object.to_json()) for event in events]


def by_lines(stream: bytes) -> list:
    splitter = LineSplitter()
    return seen([event for line in splitter.feed(stream) for event in read_events(line, Widget)])


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_events_are_decoded_wherever_the_stream_is_cut(cuts: list[int]):
    reader = EventReader(Widget)
    edges = [0, *sorted(cuts), len(STREAM)]
    events = [event for start, end in pairwise(edges) for event in reader.feed(STREAM[start:end])]
    assert seen(events) == by_lines(STREAM)
    assert reader.finish() == b""


def test_events_before_an_invalid_one_are_returned_first():
    reader = EventReader(Widget)
    events = reader.feed(LINES[0] + b"\n" + b'{"type":"ADDED","object":]}' + b"\n")
    assert next(events).object.name == "ADDED"
    with pytest.raises(DecodeError):
        next(events)


def test_data_after_the_last_line_feed_is_returned_by_finish():
    reader = EventReader(Widget)
    assert list(reader.feed(LINES[0])) == []
    assert list(reader.feed(b"\n" + LINES[1][:20])) != []
    assert reader.finish() == LINES[1][:20]

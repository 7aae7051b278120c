"""Events of a watch in protobuf: damaged and hostile ones among others."""

import pytest
from tests.protobuf.wire import METADATA, encoded, field

from listwatch.api.protobuf_events import ProtobufEventReader
from listwatch.api.watch_events import AddedEvent, BookmarkEvent, ErrorEvent, UndecodableEvent
from listwatch.errors import DecodeError, ExpiredError, ResponseTooLargeError
from listwatch.models.core_v1 import Pod
from listwatch.protobuf import encode_object, encode_watch_frame
from listwatch.protobuf.envelope import envelope

POD = encode_object({"kind": "Pod", "apiVersion": "v1", "metadata": METADATA})
LIMIT = 1 << 20


def read(*frames: bytes) -> list[object]:
    return list(ProtobufEventReader(Pod, max_size=LIMIT).feed(b"".join(frames)))


def test_an_object_whose_head_cannot_be_read_does_not_hide_the_events_around_it():
    broken = envelope("v1", "Pod", b"\x0a\x7f")
    good = encode_watch_frame("ADDED", POD)
    first, second, third = read(good, encode_watch_frame("MODIFIED", broken), good)
    assert isinstance(first, AddedEvent)
    assert first.object == Pod.from_wire(POD) == third.object  # type: ignore[attr-defined]  # both are events of objects
    assert isinstance(second, UndecodableEvent)
    assert str(second.error) == "Pod: the object of the MODIFIED event cannot be decoded: unexpected EOF"


def test_a_damaged_part_raises_on_access_only():
    content = field(1, encoded("meta_v1.ObjectMeta", METADATA)) + field(2, b"\xff")
    (event,) = read(encode_watch_frame("ADDED", envelope("v1", "Pod", content)))
    assert isinstance(event, AddedEvent)
    with pytest.raises(DecodeError):
        _ = event.object.spec


def test_a_bookmark_ends_the_initial_events():
    metadata = {"resourceVersion": "7", "annotations": {"k8s.io/initial-events-end": "true"}}
    raw = encode_object({"kind": "Pod", "apiVersion": "v1", "metadata": metadata})
    (event,) = read(encode_watch_frame("BOOKMARK", raw))
    assert isinstance(event, BookmarkEvent)
    assert (event.resource_version, event.ends_initial_events) == ("7", True)


def test_an_error_event_is_its_status():
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410}
    (event,) = read(encode_watch_frame("ERROR", encode_object(status)))
    assert isinstance(event, ErrorEvent)
    assert isinstance(event.error, ExpiredError)


@pytest.mark.parametrize("frame", [encode_watch_frame("ERROR", b"k8s\0\xff"), encode_watch_frame("OTHER", POD)])
def test_an_event_of_another_type_or_without_a_status_is_an_error(frame: bytes):
    with pytest.raises(DecodeError, match="a watch event"):
        read(frame)


def test_an_event_that_is_too_large_is_an_error():
    with pytest.raises(ResponseTooLargeError):
        read(encode_watch_frame("ADDED", b"x" * LIMIT))

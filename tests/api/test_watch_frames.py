"""What counts as one event: whole frames, one after the other, in any format. Everything else is an error."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.objects.widgets import JSON, Widget, compact

from listwatch.api.watch_events import EventReader, ReceivedEvent, UndecodableEvent, read_events
from listwatch.errors import DecodeError
from listwatch.objects.object import Object
from listwatch.objects.partial_object import PartialObjectMetadata
from listwatch.objects.unstructured import Unstructured

UID = "0b8f1f2e-6a6e-4a53-9c0f-0b8f1f2e6a6e"
DEEP = [50_000, 100_000]  # deeper than any version of Python decodes
KINDS = [Widget, Unstructured, PartialObjectMetadata]


def tree(name: str, version: int = 1, **parts: Any) -> dict[str, Any]:
    """A large object as servers write it: of such an object, only the head is decoded on arrival."""
    head = {"name": name, "namespace": "n", "uid": UID, "resourceVersion": str(version), "labels": {"a": "b"}}
    metadata = head | {"managedFields": [{"manager": "m"}]}
    return {"kind": "Widget", "apiVersion": "example.com/v1", "metadata": metadata, "note": "x" * 1500, **parts}


def frame(name: str, kind: str = "MODIFIED", version: int = 1, **parts: Any) -> bytes:
    return compact({"type": kind, "object": tree(name, version, **parts)})


MANY = b"\n".join(frame(f"w{number}") for number in range(30)) + b"\n"
"""So much that not everything is decoded completely."""


def read(stream: bytes, kind: type[Object] = Widget) -> list[ReceivedEvent[Any]]:
    reader = EventReader(kind)
    events = list(reader.feed(stream))
    rest = reader.finish()
    return [*events, *(read_events(rest, kind) if rest else [])]


def seen(events: list[ReceivedEvent[Any]]) -> list[tuple[str, Any]]:
    return [(event.type, json.loads(event.object.to_json())) for event in events]  # type: ignore[union-attr]  # no undecodable ones


# --- cuts ------------------------------------------------------------------------------------------------------------


def test_a_large_event_that_is_cut_at_any_byte_is_not_an_event():
    line = frame("a", status={"ready": 1, "phase": "}}"})
    for cut in range(1, len(line)):
        with pytest.raises(DecodeError):
            read(line[:cut])
    assert seen(read(line)) == [("MODIFIED", tree("a", status={"ready": 1, "phase": "}}"}))]


def test_a_cut_event_is_found_after_others_that_are_whole():
    line = frame("a", status={"ready": 1})
    cut = line.index(b"}}") + 2  # it ends like a whole event
    reader = EventReader(Widget)
    assert len(list(reader.feed(MANY + line[:cut]))) == 30
    with pytest.raises(DecodeError):
        list(read_events(reader.finish(), Widget))


def test_a_frame_that_is_cut_by_a_line_feed_is_an_error_when_the_next_one_begins():
    reader = EventReader(Widget)
    events = reader.feed(MANY + frame("cut")[:-9] + b"\n" + frame("b") + b"\n")
    for _ in range(30):
        next(events)
    with pytest.raises(DecodeError, match="before it is complete"):
        next(events)


# --- several events on a line ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("before", [b"", MANY], ids=["first", "later"])
@pytest.mark.parametrize("between", [b"", b" ", b"\t", b" \r ", b"   "])
def test_all_events_on_one_line_are_delivered(between: bytes, before: bytes, kind: type[Object]):
    line = frame("a") + between + frame("b", "ADDED") + between + frame("c", "DELETED")
    events = read(before + line + b"\n" + frame("d") + b"\n", kind)
    found = [(event.type, event.object.name) for event in events]  # type: ignore[union-attr]  # no undecodable ones
    assert found[-4:] == [("MODIFIED", "a"), ("ADDED", "b"), ("DELETED", "c"), ("MODIFIED", "d")]
    assert len(found) == 4 + before.count(b"\n")
    for event in events:
        event.object.to_dict()  # type: ignore[union-attr]  # no undecodable ones


@pytest.mark.parametrize("reads", [0, 100])
def test_a_second_event_that_begins_with_its_object_is_delivered(reads: int):
    reader = EventReader(Widget)
    for _ in range(reads):  # by now, only some of the reads are searched for events in unusual formats
        assert len(list(reader.feed(MANY))) == 30
    second = compact({"object": tree("b"), "type": "ADDED"})
    events = list(reader.feed(MANY + frame("a") + second + b"\n" + frame("c") + b"\n"))
    found = [(event.type, event.object.name) for event in events[30:]]  # type: ignore[union-attr]  # no undecodable ones
    assert found == [("MODIFIED", "a"), ("ADDED", "b"), ("MODIFIED", "c")]


@pytest.mark.parametrize("between", [b"", b" ", b"\t\r"])
@pytest.mark.parametrize(("before", "behind"), [({"more": 1}, {}), ({"object": tree("b")}, {"more": {"a": {}}})])
def test_events_on_one_line_in_an_unknown_format_are_delivered_or_reported(
    before: dict[str, Any], behind: dict[str, Any], between: bytes
):
    second = compact({**before, "type": "ADDED", "object": tree("b"), **behind})
    line = frame("a") + between + second + b"\n"
    assert len(list(EventReader(Widget).feed(MANY + line))) == 32
    reader = EventReader(Widget)
    for _ in range(10):
        list(reader.feed(MANY))
    with pytest.raises(DecodeError, match="several events on one line, of which some may have been lost"):  # noqa: PT012  # one of them is searched
        for _ in range(100):
            list(reader.feed(MANY + line))


def test_events_without_line_feeds_are_delivered_at_the_end():
    assert [event.object.name for event in read(frame("a") + frame("b"))] == ["a", "b"]  # type: ignore[union-attr]  # no undecodable ones


@pytest.mark.parametrize("end", [b"\n", b""], ids=["line feed", "end"])
def test_more_than_a_thousand_events_on_a_line_are_an_error_because_they_would_block_the_event_loop(end: bytes):
    with pytest.raises(DecodeError, match="more than 1000 events"):
        read(compact({"type": "ADDED", "object": {"metadata": {"name": "a"}}}) * 1001 + end)


def test_an_event_that_contains_what_separates_events_is_one_event():
    odd = tree("a", note="}}{" + "}} {" * 500, data={})
    assert seen(read(MANY + compact({"type": "ADDED", "object": odd}) + b"\n"))[-1] == ("ADDED", odd)


# --- formats ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_members_after_the_object_do_not_belong_to_it(kind: type[Object]):
    lines = [compact({"type": "ADDED", "object": tree(f"w{number}"), "more": {"a": {}}}) for number in range(30)]
    events = read(b"\n".join(lines) + b"\n", kind)
    assert [event.object.name for event in events] == [f"w{number}" for number in range(30)]  # type: ignore[union-attr]  # no undecodable ones
    for event in events:
        assert "more" not in event.object.to_dict()  # type: ignore[union-attr]  # no undecodable ones


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_events_that_span_lines_are_delivered(indent: int | None, is_reversed: bool):
    members = [("type", "ADDED"), ("object", tree("a", note='{ [ \\ " }'))]
    text = json.dumps(dict(members[::-1] if is_reversed else members), indent=indent).encode()
    stream = MANY + text + b"\n" + frame("b") + b"\n" + text + text.replace(b'"a"', b'"c"') + b"\r\n\r\n" + frame("d")
    found = [event.object.name for event in read(stream)]  # type: ignore[union-attr]  # no undecodable ones
    assert found[30:] == ["a", "b", "a", "c", "d"]
    reader = EventReader(Widget)
    pieces = [stream[start : start + 7] for start in range(0, len(stream), 7)]
    events = [event for piece in pieces for event in reader.feed(piece)]
    assert [event.object.name for event in events] == found[:-1]  # type: ignore[union-attr]  # no undecodable ones
    assert b"\n" not in events[30].object.to_json()  # type: ignore[union-attr]  # no undecodable ones


@pytest.mark.parametrize("garbage", [b"nonsense", b"]", b'{"type":"ADDED"}', b'{"object":{}}', b"{}", b"[{}]", b'"a"'])
def test_a_line_that_is_no_event_is_an_error_after_the_events_before_it(garbage: bytes):
    for before in (MANY + frame("a") + b"\n", frame("a")):
        events = EventReader(Widget).feed(before + garbage + b"\n" + frame("b") + b"\n")
        for _ in range(before.count(b"\n") or 1):
            next(events)
        with pytest.raises(DecodeError, match="a watch event"):
            next(events)


# --- odd objects -----------------------------------------------------------------------------------------------------


def nested(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


@pytest.mark.parametrize("depth", DEEP)
@pytest.mark.parametrize("before", [b"", MANY], ids=["first", "later"])
@pytest.mark.parametrize("end", [b"\n", b""], ids=["line feed", "end"])
@pytest.mark.parametrize("shape", ["large", "sorted", "object first", "twice"])
def test_a_deep_object_arrives_and_only_its_deep_part_raises(depth: int, before: bytes, end: bytes, shape: str):
    deep = frame("deep", spec=0).replace(b'"spec":0', b'"spec":' + nested(depth))
    if shape == "sorted":
        metadata = compact(tree("deep")["metadata"])
        raw = b'{"apiVersion":"example.com/v1","kind":"Widget","metadata":%s,"spec":%s}' % (metadata, nested(depth))
        deep = b'{"type":"ADDED","object":%s}' % raw
    elif shape == "object first":
        deep = b'{"object":%s,"type":"ADDED"}' % deep[deep.index(b'"object":') + 9 : -1]
    elif shape == "twice":
        deep += deep
    found = read(before + frame("a") + b"\n" + deep + b"\n" + frame("b") + end)
    events = [event for event in found if event.object.name == "deep"]  # type: ignore[union-attr]  # no undecodable ones
    assert len(events) == (2 if shape == "twice" else 1)
    assert found[-1].object.name == "b"  # type: ignore[union-attr]  # no undecodable ones
    for event in events:
        item = event.object  # type: ignore[union-attr]  # no undecodable ones
        assert (item.namespace, item.labels, item.metadata.uid) == ("n", {"a": "b"}, UID)
        with pytest.raises(DecodeError, match="Widget n/deep: spec: it is nested too deeply"):
            item.spec  # noqa: B018  # the access is what is tested


@pytest.mark.parametrize("depth", DEEP)
@pytest.mark.parametrize("before", [b"", MANY], ids=["first", "later"])
def test_a_deep_object_arrives_as_any_kind(depth: int, before: bytes):
    deep = frame("deep", spec=0).replace(b'"spec":0', b'"spec":' + nested(depth))
    [*_, event] = read(before + deep + b"\n", Unstructured)
    item = event.object  # type: ignore[union-attr]  # no undecodable ones
    assert (item.name, item.labels, item.kind, item["note"]) == ("deep", {"a": "b"}, "Widget", "x" * 1500)
    with pytest.raises(DecodeError, match="Widget n/deep: spec: it is nested too deeply"):
        item["spec"]
    [*_, event] = read(before + deep + b"\n", PartialObjectMetadata)
    item = event.object  # type: ignore[union-attr]  # no undecodable ones
    assert (item.name, item.labels, item.metadata.uid) == ("deep", {"a": "b"}, UID)


@pytest.mark.parametrize("end", [b"\n", b""], ids=["line feed", "end"])
@pytest.mark.parametrize("before", [b"", MANY], ids=["first", "later"])
def test_a_lone_surrogate_damages_only_its_part(before: bytes, end: bytes):
    odd = frame("odd", status={"phase": "SURROGATE", "ready": 1}, spec={"replicas": 3})
    [*_, event] = read(before + odd.replace(b"SURROGATE", rb"\ud800") + end)
    item = event.object  # type: ignore[union-attr]  # no undecodable ones
    assert (item.name, item.labels, item.spec.replicas) == ("odd", {"a": "b"}, 3)
    with pytest.raises(DecodeError, match="Widget n/odd: status"):
        item.status  # noqa: B018  # the access is what is tested


@pytest.mark.parametrize("before", [b"", MANY], ids=["first", "later"])
@pytest.mark.parametrize(
    "odd",
    [
        frame("odd").replace(b'"namespace":"n"', b'"namespace":["n"]'),
        frame("odd").replace(b'"namespace":"n"', rb'"namespace":"n\ud800"'),
        rb'{"type":"ADDED","object":{"metadata":{"namespace":"n\ud800","name":"odd"}}}',
    ],
)
def test_an_object_without_a_readable_head_is_reported_with_its_name_and_the_stream_continues(
    odd: bytes, before: bytes
):
    *_, event, last = read(before + odd + b"\n" + frame("b") + b"\n")
    assert isinstance(event, UndecodableEvent)
    assert "odd" in str(event.error)
    assert last.object.name == "b"  # type: ignore[union-attr]  # it is whole


@pytest.mark.parametrize("content", [b"null", b"[]", b'"text"', b"5"])
def test_an_event_whose_object_is_no_object_is_undecodable(content: bytes):
    event, last = read(b'{"type":"ADDED","object":%s}\n' % content + frame("b") + b"\n")
    assert isinstance(event, UndecodableEvent)
    assert "ADDED" in str(event.error)
    assert last.object.name == "b"  # type: ignore[union-attr]  # it is whole


# --- anything --------------------------------------------------------------------------------------------------------

SPACES = st.text(" \t\r\n", max_size=3)
OBJECTS = st.builds(
    lambda name, note, extra: tree(name, note=note, status={"phase": extra}),
    st.text("abc", min_size=1),
    st.text(max_size=50) | st.just("x" * 2000) | st.just("}}{"),
    JSON.map(lambda value: value if isinstance(value, str) else None),
)


@st.composite
def frames(draw: st.DrawFn) -> tuple[tuple[str, Any], bytes]:
    kind, content = draw(st.sampled_from(["ADDED", "MODIFIED", "DELETED"])), draw(OBJECTS)
    members: list[tuple[str, Any]] = [("type", kind), ("object", content)]
    members += [("more", draw(JSON))] * draw(st.integers(0, 1))
    members = draw(st.permutations(members)) if draw(st.booleans()) else members
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]))
    indent = draw(st.sampled_from([None, None, 1]))
    text = json.dumps(dict(members), separators=separators, indent=indent, ensure_ascii=draw(st.booleans()))
    return (kind, content), text.encode(errors="surrogatepass")


@given(st.lists(st.tuples(frames(), SPACES), max_size=6), st.integers(0, 2000), st.booleans())
def test_any_sequence_of_events_is_delivered_however_it_is_written_and_cut(
    parts: list[tuple[tuple[tuple[str, Any], bytes], str]], step: int, is_long: bool
):
    stream = b"".join(text + space.encode() for (_, text), space in parts)
    expected = [event for (event, _), _ in parts]
    if is_long:
        stream = MANY + stream
        expected = [("MODIFIED", tree(f"w{number}")) for number in range(30)] + expected
    reader = EventReader(Unstructured)
    events: list[ReceivedEvent[Any]] = []
    try:
        for start in range(0, len(stream), step or len(stream) or 1):
            events += reader.feed(stream[start : start + (step or len(stream))])
        events += read_events(reader.finish(), Unstructured)
    except DecodeError as error:
        # Only this is refused: a line that starts like an event inside of an event that spans lines.
        assert "before it is complete" in str(error)  # noqa: PT017  # events before it are compared as well
    assert seen(events) == expected[: len(events)]

"""Splitting bytes into frames, for any bytes and any chunk boundaries."""

import json
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.objects.widgets import JSON, MAPS, Widget, WidgetList, compact, failure, widget

from listwatch.errors import DecodeError
from listwatch.objects.json.json_scan import IncompleteJSONError
from listwatch.objects.json.wire import LineSplitter, parse_event, scan_event
from listwatch.objects.list_splitter import split_list
from listwatch.objects.object_list import ObjectList

# Line ends of both sorts, characters of two to four bytes, escapes that look like line ends and frames.
TEXT = 'é \U0001f600 \n \\ " \\n }}'
EVENTS = [compact({"type": "ADDED", "object": {"metadata": {"name": name}, "note": TEXT}}) for name in ("a", "ü", "c")]
STREAM = EVENTS[0] + b"\n" + EVENTS[1] + b"\r\n\r\n \n" + EVENTS[2] + b"\n"


def pieces(text: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


def split(chunks: list[bytes]) -> list[bytes]:
    splitter = LineSplitter()
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    last = splitter.finish()
    return [*lines, last] if last else lines


# --- lines -----------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
@example([STREAM.index(b"\r\n") + 1])
@example([STREAM.index("é".encode()) + 1])
@example([STREAM.index(b"\\n") + 1])
@example(list(range(len(STREAM))))
def test_a_stream_may_be_cut_anywhere(cuts: list[int]):
    assert split(pieces(STREAM, cuts)) == EVENTS


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=10))
def test_any_bytes_are_split_the_same_however_they_are_cut(text: bytes, cuts: list[int]):
    assert split(pieces(text, cuts)) == [part.removesuffix(b"\r") for part in text.split(b"\n") if part.strip()]


def test_a_line_keeps_its_white_space_without_the_line_end():
    assert split([b"  a \r\n\tb\t\n \t\r\n\n c\r"]) == [b"  a ", b"\tb\t", b" c"]


def test_a_stream_that_ends_without_a_line_feed_still_gives_its_last_line():
    assert split([STREAM.rstrip()]) == EVENTS


def test_a_finished_splitter_can_be_used_again():
    splitter = LineSplitter()
    splitter.feed(b"half a li")
    assert splitter.finish() == b"half a li"
    assert splitter.feed(b"ne\n") == [b"ne"]
    assert splitter.finish() == b""


class CountedBytes(bytes):
    """Counts how many bytes of incomplete lines are scanned."""

    work = 0

    def split(self, *args):
        CountedBytes.work += len(self)
        return super().split(*args)


def test_a_long_line_in_small_chunks_takes_linear_time():
    line = b'{"type":"ADDED","object":{"note":"%s"}}' % (b"x" * 4_000_000)
    chunks = [CountedBytes(line[start : start + 1000]) for start in range(0, len(line), 1000)]
    splitter = LineSplitter()
    assert not any(splitter.feed(chunk) for chunk in chunks)
    # Each chunk was scanned once: nothing is scanned again before the end of the line.
    assert CountedBytes.work == len(line)
    assert splitter.feed(b"\n") == [line]


# --- events ----------------------------------------------------------------------------------------------------------


@given(st.sampled_from(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]), MAPS, st.sampled_from([b"", b" ", b"{"]))
def test_scanning_an_event_equals_decoding_it(kind: str, body: dict, after: bytes):
    line = compact({"type": kind, "object": body})
    assert parse_event(line) == (kind, compact(body))
    assert scan_event(line + after) == ((kind, compact(body)), len(line + after.strip(b"{")))


@pytest.mark.parametrize(
    "line",
    [
        b'{"object":{"a":1},"type":"ADDED"}',
        b'{"type": "ADDED", "object": {"a":1}}',
        b'{"type":"ADDED","object":{"a":1} }',
        b'{"type":"ADDED","more":1,"object":{"a":1}}',
        b'{"type":"ADDED","object":{"a":1},"more":{}}',
    ],
)
def test_an_event_in_another_frame_is_the_same_event(line: bytes):
    assert parse_event(line) == ("ADDED", b'{"a":1}')
    assert scan_event(line) == (("ADDED", b'{"a":1}'), len(line))


@pytest.mark.parametrize("cut", range(1, len(EVENTS[1])))
def test_a_truncated_event_is_rejected(cut: int):
    line = EVENTS[1][:-cut]
    with pytest.raises(DecodeError, match=r"a watch event: .* in a line of"):
        parse_event(line)
    with pytest.raises(IncompleteJSONError):
        scan_event(line)


def test_a_line_that_is_no_event_is_not_shown_because_it_may_hold_secrets():
    with pytest.raises(DecodeError) as caught:
        parse_event(b'"password": "hunter2"')
    assert "hunter2" not in str(caught.value)
    assert "21 bytes" in str(caught.value)


def test_the_object_of_an_event_does_not_keep_the_line():
    for event in (scan_event(EVENTS[0])[0], parse_event(EVENTS[0])):
        assert type(event.object) is bytes


@given(st.binary(max_size=100) | JSON.map(compact))
def test_a_line_is_an_event_or_a_decode_error(line: bytes):
    if failure(parse_event, line) is None:
        assert scan_event(line.strip())[0] == parse_event(line)
    else:
        failure(scan_event, line)


# --- lists -----------------------------------------------------------------------------------------------------------


@given(st.lists(MAPS, max_size=5))
def test_a_list_is_split_into_the_bytes_of_its_objects(bodies: list[dict]):
    body = b'{"kind":"WidgetList","apiVersion":"example.com/v1","metadata":{"resourceVersion":"5"},"items":%s}'
    wire = split_list(body % compact(bodies))
    assert [bytes(item) for item in wire.items or ()] == [compact(each) for each in bodies]
    assert (wire.kind, wire.api_version, wire.metadata.resource_version) == ("WidgetList", "example.com/v1", "5")


@pytest.mark.parametrize("body", [b'{"items":null}', b'{"items":[],"metadata":null,"kind":null,"apiVersion":null}'])
def test_nulls_in_a_list_are_empty(body: bytes):
    wire = split_list(body)
    assert not wire.items
    assert wire.metadata.resource_version == ""


def test_nulls_in_the_metadata_of_a_list_are_empty():
    wire = split_list(
        b'{"metadata":{"resourceVersion":null,"continue":"x","remainingItemCount":null},"items":[{"a":1.50}]}'
    )
    assert (wire.metadata.resource_version, wire.metadata.continue_) == ("", "x")
    assert [bytes(item) for item in wire.items or ()] == [b'{"a":1.50}']


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"kind":"Status","apiVersion":"v1","status":"Failure","code":500}', "Status"),
        (b'{"kind":"Table","rows":[]}', "Table"),
        (widget(), "Widget"),
        (b"{}", "something"),
    ],
)
def test_a_body_without_items_is_not_an_empty_list(body: bytes, kind: str):
    with pytest.raises(DecodeError, match=f"a list: expected a list, got {kind} without items"):
        split_list(body)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "truncated"),
        (b'{"items":[{}', "truncated"),
        (b'{"items":[{}]', "truncated"),
        (b"[]", "expected object, got array"),
        (b"5", "expected object, got int"),
        (b'"x"', "expected object, got str"),
        (b"null", "expected object, got null"),
        (b'{"items":{}}', "got object"),
        (b'{"items":5}', "got int"),
        (b'{"items":[],"metadata":5}', "metadata: expected object, got int"),
        (b'{"items":[],"metadata":{"continue":5}}', "metadata.continue: expected str, got int"),
        (b'{"items":[%s]}' % (b"[" * 100_000), "malformed"),
        (b'{"items":[%s' % (b"[" * 100_000), "truncated"),
        (b'{"items":[],"items":[]}', "duplicate key 'items'"),
        (b'{"items":[{}],"\\u0069tems":[{}]}', "duplicate key 'items'"),
        (b'{"items":[{}],"kind":"\\ud800"}', "kind: .*surrogate"),
        (b'{"items":[{}],"metadata":{"continue":"\\ud800"}}', "metadata.continue: .*surrogate"),
        (b'{"items":[]} {}', "trailing characters"),
        (b'{"items":[{}}]}', "malformed"),
        (b'{"items":[{}],}', "malformed"),
        (b'{"items":[{},]}', "malformed"),
        (b"<html>", "malformed"),
    ],
)
def test_a_body_that_is_not_a_list_is_rejected_with_the_reason(body: bytes, reason: str):
    with pytest.raises(DecodeError, match=f"a list: .*{reason}"):
        split_list(body)


@given(st.binary(max_size=60) | JSON.map(compact) | MAPS.map(lambda items: compact({"items": [items, 5], **items})))
def test_any_bytes_are_a_list_or_a_decode_error(body: bytes):
    for kind in (ObjectList, WidgetList):
        try:
            listed = kind.from_json(body)
        except DecodeError:
            continue
        assert len(listed) + len(listed.broken) == len(json.loads(body)["items"] or ())


@given(st.lists(st.integers(0, 200), min_size=1, max_size=3), st.binary(min_size=1, max_size=3))
@example([32], b"\x80")
@example([32, 90], b"\x80")
def test_a_list_with_damage_anywhere_is_a_list_or_a_decode_error(places: list[int], damage: bytes):
    body = bytearray(b'{"kind":"WidgetList","items":[%s,%s]}' % (widget(note=TEXT), widget(spec={"replicas": 1.5})))
    for place in places:
        body[place : place + len(damage)] = damage
    try:
        listed = WidgetList.from_json(bytes(body))
    except DecodeError:
        return
    for each in listed:
        repr(each)
        for act in (Widget.to_json, Widget.to_dict, *(field.__get__ for field in Widget.lazy_fields.values())):
            error = failure(act, each)
            assert error is None or str(error).startswith(f"{each.describe()}: ")


def test_a_pretty_list_becomes_objects_of_one_line():
    pretty = json.dumps({"kind": "WidgetList", "items": [json.loads(widget(note="a\nb"))]}, indent=2).encode()
    [only] = WidgetList.from_json(pretty)
    assert only.to_json() == widget(note="a\nb")


def test_the_repr_of_an_event_does_not_show_its_object():
    line = b'{"type":"ADDED","object":{"data":{"password":"c2VjcmV0"}}}'
    assert repr(parse_event(line)) == "<WireEvent ADDED, 32 bytes>"

"""Finding the values of a document without decoding it."""

import contextlib
import json
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.objects.widgets import JSON, MAPS, TEXTS, compact

from listwatch.errors import DecodeError
from listwatch.objects.json.json_scan import (
    IncompleteJSONError,
    ValueScanner,
    elements_of,
    members_of,
    parts_of,
    value_end,
)

DEEP = 100_000
SPACES = st.sampled_from(["", " ", "\n", "\t\r\n  "])


@st.composite
def documents(draw: st.DrawFn, values: st.SearchStrategy[Any] = JSON) -> tuple[bytes, Any]:
    """A value, written with any white space and escapes."""
    tree = draw(values)
    indent, is_ascii = draw(st.sampled_from([None, 0, 2])), draw(st.booleans())
    separators = (draw(SPACES) + "," + draw(SPACES), draw(SPACES) + ":" + draw(SPACES))
    return json.dumps(tree, indent=indent, separators=separators, ensure_ascii=is_ascii).encode(), tree


@given(documents(), st.sampled_from([b"", b" ", b",", b"]", b"}", b"\n"]))
def test_a_value_ends_where_json_ends_it(written: tuple[bytes, Any], after: bytes):
    text, _ = written
    assert value_end(b"[ " + text + after, 2) == 2 + len(text)


@given(documents(MAPS))
def test_the_members_of_an_object_are_those_that_json_reads(written: tuple[bytes, Any]):
    text, tree = written
    found = {name: json.loads(text[start:end]) for name, start, end in members_of(text)}
    assert found == tree
    assert {name: json.loads(bytes(part)) for name, part in parts_of(b" " + text + b"\n").items()} == tree


@given(documents(st.lists(JSON, max_size=5)))
def test_the_elements_of_an_array_are_those_that_json_reads(written: tuple[bytes, Any]):
    text, tree = written
    assert [json.loads(text[start:end]) for start, end in elements_of(text)] == tree


@given(documents(MAPS | st.lists(JSON, max_size=5)), st.data())
def test_a_document_that_is_cut_short_is_incomplete(written: tuple[bytes, Any], data: st.DataObject):
    text, _ = written
    cut = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(IncompleteJSONError, match="truncated"):
        value_end(text[:cut], 0)


@given(documents(), st.lists(st.integers(1, 20), min_size=1))
@example((b'{"a":12345,"b":[true,"x\\\\"]}', None), [1])
def test_a_document_may_arrive_in_pieces_of_any_size(written: tuple[bytes, Any], sizes: list[int]):
    text = b"[" + written[0] + b"]"
    buffer, scanner, step = bytearray(), ValueScanner(0), 0
    while not scanner.scan(buffer, len(buffer) + 1):
        assert len(buffer) < len(text)
        size = sizes[step % len(sizes)]
        buffer += text[len(buffer) : len(buffer) + size]
        step += 1
    assert scanner.position == len(text) == len(buffer)


def test_a_scan_can_be_paused():
    text = compact({"a": [{"b": list(range(2000))} for _ in range(10)]})
    scanner, pauses = ValueScanner(0), 0
    while not scanner.scan(text, scanner.position + 100):
        pauses += 1
    assert scanner.position == len(text)
    assert pauses > 20


@pytest.mark.parametrize(
    ("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":[1,{"b":', b"}]}]"), (b'[0,"x",[', b"],0]")]
)
def test_values_may_be_nested_to_any_depth(opening: bytes, closing: bytes):
    text = opening * DEEP + b"1" + closing * DEEP
    assert value_end(text + b",", 0) == len(text)
    with pytest.raises(IncompleteJSONError):
        value_end(text[:-1], 0)


@pytest.mark.parametrize(
    "text",
    [b'"\\ud800"', b'"\xff"', b'"\\x"', b'"\x01"', b"01", b"NaN", b"1e400", b'{"a":1,"a":2}', b"[1.e]", b"truth"],
)
def test_the_content_of_strings_and_the_spelling_of_numbers_are_not_checked(text: bytes):
    assert value_end(text, 0) == len(text)
    assert bytes(parts_of(b'{"x":%b}' % text)["x"]) == text


@pytest.mark.parametrize(
    "text",
    [
        b"{]",
        b"[}",
        b'{"a":[1}',
        b'{"a":1]',
        b'{"a" 1}',
        b'{"a":1 "b":2}',
        b'{"a":1,}',
        b"[1,]",
        b"[,1]",
        b"[1 2]",
        b"{a:1}",
        b"{1:1}",
        b'{"a":}',
        b'{"a"}',
        b"[1:2]",
        b'{"a":"b":"c"}',
        b'["a""b"]',
        b"[[],,[]]",
        b"[[1]}",
        b'{"a":{"b":1}]',
        b"[[[[]]]}",
        b"[[{}]}]",
        b"[[[1]}}",
        b"]",
        b",",
        b":",
        b" ",
    ],
)
def test_brackets_commas_and_colons_are_checked(text: bytes):
    with pytest.raises(DecodeError, match=r"malformed|truncated"):
        value_end(text + b" " * 5, 0)


@pytest.mark.parametrize("text", [b"nonsense", b"{nonsense", b'{"a":{nonsense', b'{"a" x', b"[1 x", b"]"])
def test_invalid_text_at_the_end_of_a_document_is_not_reported_as_truncated(text: bytes):
    with pytest.raises(DecodeError) as caught:
        list(members_of(text) if text[:1] != b"[" else elements_of(text))
    assert not isinstance(caught.value, IncompleteJSONError)


@pytest.mark.parametrize("text", [b"{} {}", b'{"a":1}]', b'{"a":1},{"a":2}', b"{}x"])
def test_nothing_may_follow_a_document(text: bytes):
    with pytest.raises(DecodeError, match="trailing characters"):
        parts_of(text)


@pytest.mark.parametrize("text", [b"", b"5", b"[]", b'"a"', b"null", b"x"])
def test_only_an_object_has_parts(text: bytes):
    with pytest.raises(DecodeError):
        parts_of(text)


def test_the_last_of_equal_names_counts_as_in_json():
    assert bytes(parts_of(b'{"a":1,"\\u0061":2}')["a"]) == b"2"


def test_a_name_that_cannot_be_decoded_is_kept_apart_and_cannot_be_sent():
    parts = parts_of(b'{"\\ud800":1,"\\ud801":2,"\xff":3,"a":4}')
    assert [bytes(part) for part in parts.values()] == [b"1", b"2", b"3", b"4"]
    with pytest.raises(UnicodeEncodeError):
        msgspec.json.encode(parts)


@given(st.binary(max_size=60) | TEXTS.map(str.encode) | st.text('{}[]",:\\1 a', max_size=40).map(str.encode))
def test_any_bytes_are_scanned_or_rejected(text: bytes):
    for scan in (lambda: value_end(text, 0), lambda: list(members_of(text)), lambda: list(elements_of(text))):
        with contextlib.suppress(DecodeError):
            scan()
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(tree, dict) and not text[:1].isspace():
        assert {name: json.loads(text[start:end]) for name, start, end in members_of(text)} == tree


def test_a_long_text_is_scanned_once_however_it_is_nested():
    # Each match begins where the last one ended, so the positions only grow.
    text = compact([{"a": ["x" * 50] * 40, "b": {"c": [{}] * 5}}] * 200)
    scanner, positions = ValueScanner(0), [0]
    while not scanner.scan(text, scanner.position + 1):
        positions.append(scanner.position)
    assert positions == sorted(set(positions))

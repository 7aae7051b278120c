"""Lists in pieces of any size: every object is found, and a list that is cut or damaged is an error."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protobuf.wire import METADATA, UNKNOWN, field

from listwatch.errors import DecodeError
from listwatch.protobuf import decode_object, encode_list, encode_message, encode_object
from listwatch.protobuf.envelope import envelope
from listwatch.protobuf.list_splitter import ListSplitter

ITEMS: list[Any] = [
    {"metadata": METADATA | {"name": f"web-{index}"}, "data": {"a": "x" * size}}
    for index, size in enumerate((0, 1, 90, 200, 20_000, 5, 130_000, 7))
]
ENCODED = [encode_message(item, "v1", "ConfigMap") for item in ITEMS]
BODY = encode_list("v1", "ConfigMapList", {"resourceVersion": "9", "continue": "c", "remainingItemCount": 2}, ENCODED)


def split(body: bytes, size: int) -> tuple[list[bytes], ListSplitter]:
    splitter = ListSplitter(body[start : start + size] for start in range(0, len(body), size))
    return [item for group in splitter.groups() for item in group], splitter


@pytest.mark.parametrize("size", [1, 3, 1000, 65_536, 10**7])
def test_a_list_is_split_in_pieces_of_any_size(size: int):
    found, splitter = split(BODY, size)
    assert [decode_object(item) for item in found] == [
        decode_object(encode_object({"kind": "ConfigMap", "apiVersion": "v1", **item})) for item in ITEMS
    ]
    assert (splitter.api_version, splitter.kind) == ("v1", "ConfigMapList")
    assert splitter.metadata == {"resourceVersion": "9", "continue": "c", "remainingItemCount": 2}


def test_an_empty_list_has_no_objects():
    found, splitter = split(encode_list("v1", "ConfigMapList", {"resourceVersion": "9"}, []), 5)
    assert found == []
    assert splitter.metadata == {"resourceVersion": "9"}


def test_fields_between_the_objects_and_metadata_behind_them_are_read():
    content = UNKNOWN + field(2, b"a") + UNKNOWN + field(2, b"") + field(1, field(2, b"7"))
    for size in (1, 2, 100):
        found, splitter = split(envelope("v1", "PodList", content), size)
        assert [item[-1:] for item in found] == [b"a", b"\0"]
        assert splitter.metadata == {"resourceVersion": "7"}


@given(st.integers(0, len(BODY) - 5), st.integers(1, 70_000))
def test_a_list_that_is_cut_is_an_error(end: int, size: int):
    with pytest.raises(DecodeError):
        split(BODY[:end], size)


@pytest.mark.parametrize(
    "item", [b"\x12\x7fshort", b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x12" + b"\xff" * 11, b"\x13"]
)
def test_an_object_with_a_wrong_length_is_an_error(item: bytes):
    with pytest.raises(DecodeError):
        split(envelope("v1", "PodList", field(2, b"a") + item), 10)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"k8s\0",
        b'{"kind":"PodList"}',
        encode_object({"kind": "Pod", "apiVersion": "v1"}),
        encode_object({"kind": "Status", "apiVersion": "v1", "status": "Failure"}),
        envelope("v1", "List", b""),
        envelope("v1", "PodList", b"") + field(2, b"second"),
        envelope("v1", "PodList", field(1, b"\x12\x7f")),
    ],
)
def test_what_is_no_list_is_an_error(body: bytes):
    with pytest.raises(DecodeError):
        split(body, 100)


def test_an_object_of_any_content_is_passed_on_with_the_others():
    found, _ = split(envelope("v1", "PodList", field(2, b"\xff\xff") + field(2, ENCODED[0])), 100)
    assert len(found) == 2
    assert found[1].endswith(ENCODED[0])

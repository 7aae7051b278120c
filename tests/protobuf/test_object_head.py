"""Heads are read from the wire as they are decoded with the metadata, in the usual form and in any other."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protobuf.wire import METADATA, UNKNOWN, encoded, field, pod_with_unknown_fields

from listwatch.errors import DecodeError
from listwatch.protobuf import decode_object, encode_object
from listwatch.protobuf.envelope import envelope
from listwatch.protobuf.object_head import RawHead, _read_any, _read_usual, decode_labels, read_object_head

NAMES = st.text("abc-.8*2BZ", max_size=20) | st.text(max_size=5) | st.just("n" * 130)
LABELS = st.dictionaries(st.text("abZ./8", min_size=1, max_size=20), st.text("abcZ8", max_size=140), max_size=4)
TIMES = st.sampled_from(
    ["2026-01-02T03:04:05Z", "1970-01-01T00:00:00Z", "1960-01-01T00:00:00Z", "2200-01-01T00:00:00Z"]
)


def pod(metadata: dict[str, Any]) -> bytes:
    return encode_object({"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": {"nodeName": "n1"}})


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "name": NAMES,
            "generateName": NAMES,
            "namespace": NAMES,
            "selfLink": st.just("/a"),
            "uid": NAMES | st.uuids().map(str),
            "resourceVersion": st.integers(0, 10**12).map(str) | NAMES,
            "generation": st.integers(-1, 2**62),
            "creationTimestamp": TIMES,
            "deletionTimestamp": TIMES,
            "deletionGracePeriodSeconds": st.integers(0, 10**6),
            "labels": LABELS,
            "annotations": LABELS,
            "finalizers": st.lists(NAMES, max_size=2),
        },
    )
)
def test_a_head_is_read_as_the_metadata_is_decoded(metadata: dict[str, Any]):
    raw = pod(metadata)
    decoded: Any = decode_object(raw)["metadata"]
    found = read_object_head(raw)
    assert found == _read_any(raw)
    assert found[:4] == tuple(decoded.get(name, "") for name in ("name", "namespace", "uid", "resourceVersion"))
    assert decode_labels(found.labels) == decoded.get("labels", {})


@pytest.mark.parametrize("generation", [None, 1, 200])
@pytest.mark.parametrize("extra", [{}, {"deletionTimestamp": "2026-01-02T03:04:05Z", "deletionGracePeriodSeconds": 30}])
def test_the_usual_form_is_read_without_the_slow_reader(generation: int | None, extra: dict[str, Any]):
    for namespace in ("default", ""):
        raw = pod({**METADATA, "generation": generation, "namespace": namespace, **extra})
        head = _read_usual(raw)
        assert head is not None
        assert head == _read_any(raw)


def test_a_version_that_ends_in_an_eight_is_read_to_its_end():
    # 8 is also the key of the field behind the version.
    for version in ("8", "88", "1888888"):
        assert read_object_head(pod({**METADATA, "resourceVersion": version})).resource_version == version


@given(st.data())
def test_a_head_of_damaged_bytes_is_that_of_the_slow_reader_or_an_error(data: st.DataObject):
    raw = bytearray(pod(METADATA) if data.draw(st.booleans()) else pod_with_unknown_fields())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(4, min(len(raw) - 1, 160)))] = data.draw(st.integers(0, 255))
    damaged = bytes(raw[: data.draw(st.integers(20, len(raw)))])
    try:
        found = read_object_head(damaged)
    except DecodeError:
        return
    assert isinstance(found, RawHead)
    decode_labels(found.labels)


def test_fields_of_the_metadata_are_not_read_beyond_its_length():
    metadata = encoded("meta_v1.ObjectMeta", METADATA)
    inside, behind = metadata[:9], metadata[9:]
    raw = envelope("v1", "Pod", field(1, inside) + behind)
    assert _read_usual(raw) is None
    with pytest.raises(DecodeError):
        read_object_head(envelope("v1", "Pod", b"\x0a\x05" + metadata))


def test_a_length_has_at_most_ten_bytes():
    metadata = encoded("meta_v1.ObjectMeta", METADATA)
    for zeros in (1, 7):
        size = len(metadata)
        length = bytes([size & 127 | 128, size >> 7 | 128, *[128] * zeros, 0])
        raw = envelope("v1", "Pod", b"\x0a" + length + metadata)
        assert read_object_head(raw).name == METADATA["name"]
    raw = envelope("v1", "Pod", b"\x0a" + bytes([size & 127 | 128, size >> 7 | 128, *[128] * 100, 0]) + metadata)
    with pytest.raises(DecodeError, match="integer overflow"):
        read_object_head(raw)


def test_unknown_fields_are_skipped_and_the_last_of_several_values_counts():
    raw = envelope("v1", "Pod", field(1, UNKNOWN + field(1, b"a") + field(1, b"b") + field(11, field(1, b"k"))))
    assert read_object_head(raw) == RawHead("b", "", "", "", field(11, field(1, b"k")))
    assert decode_labels(read_object_head(raw).labels) == {"k": ""}

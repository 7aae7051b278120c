"""The bytes of a cache file: what was written is recovered, and damage is noticed."""

from __future__ import annotations

import hashlib
from typing import Any
from weakref import ref

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.cache.compact.codec import LoadedDictionary
from listwatch.cache.compact.dictionaries import Dictionary
from listwatch.cache.compact.entry import Entry
from listwatch.cache.persistent.file_format import (
    FORMAT,
    Mark,
    _prefix,
    encode_dictionary,
    encode_header,
    encode_mark,
    encode_records,
    read_blob,
)
from listwatch.cache.persistent.recovery import RecoveredCache, UnusableFileError, recover
from listwatch.errors import DecodeError
from listwatch.objects.head import shared_labels

KEY = {"server": "https://here", "resource": "v1/pods"}
LOADED = LoadedDictionary(1, Dictionary(b"content", is_trained=True, level=3, ratio=0.1), handle=None)


def entry(name: str, version: str, *, namespace: str = "default", labels: bytes = b'{"app":"web"}') -> Entry:
    return Entry(name, namespace, f"uid of {name}", version, shared_labels(labels), b"")


def recovered(content: bytes) -> RecoveredCache:
    return recover(content, len(content), KEY)


def contents(content: bytes) -> dict[str, tuple[str, bytes]]:
    found = recovered(content)
    return {
        key: (each.resource_version, read_blob(content, int(each.blob), len(content)))  # type: ignore[arg-type]  # a position
        for key, each in found.contents.items()
    }


def records(*stored: tuple[Entry, bytes], removed: tuple[str, ...] = ()) -> bytes:
    return encode_records(stored, removed).content


FILE = b"".join(
    [
        encode_header(KEY),
        encode_dictionary(3, Dictionary(b"content", is_trained=True, level=3, ratio=0.1)),
        records((entry("a", "1"), b"blob of a"), (entry("b", "2", labels=b"null"), b"blob of b")),
        encode_mark(Mark("2", 10.0, "cluster")),
        records((entry("a", "3"), b"new blob of a"), removed=("default/b",)),
        encode_mark(Mark("4", 20.0, "cluster")),
    ]
)


def test_the_state_at_the_last_mark_is_recovered() -> None:
    found = recovered(FILE)

    assert contents(FILE) == {"default/a": ("3", b"new blob of a")}
    assert found.mark == Mark("4", 20.0, "cluster")
    assert found.dictionaries == {3: Dictionary(b"content", is_trained=True, level=3, ratio=0.1)}
    assert dict(found.contents["default/a"].labels) == {"app": "web"}
    assert (found.end, found.records) == (len(FILE), 4)


def test_records_without_a_mark_do_not_count() -> None:
    torn = FILE + records((entry("c", "5"), b"blob of c"))

    assert contents(torn) == contents(FILE)
    assert recovered(torn).end == len(FILE)


def test_a_dictionary_without_a_mark_does_not_count() -> None:
    # It is cut off with the records behind it, so that the next writer has to write it again.
    torn = FILE + encode_dictionary(4, Dictionary(b"other", is_trained=True, level=3, ratio=0.1))

    assert recovered(torn).dictionaries.keys() == {3}
    assert recovered(torn + encode_mark(Mark("5", 30.0, "cluster"))).dictionaries.keys() == {3, 4}


@given(st.integers(min_value=0, max_value=len(FILE) - 1))
def test_a_file_that_ends_anywhere_is_one_of_its_states_or_none(size: int) -> None:
    try:
        found = contents(FILE[:size])
    except UnusableFileError:
        assert size < FILE.index(b"RECS", FILE.index(b"MARK"))
    else:
        assert found == {"default/a": ("1", b"blob of a"), "default/b": ("2", b"blob of b")}


@given(st.integers(min_value=0, max_value=len(FILE) - 1), st.integers(min_value=1, max_value=255))
def test_a_changed_byte_is_noticed(position: int, change: int) -> None:
    damaged = bytearray(FILE)
    damaged[position] ^= change
    try:
        found = contents(bytes(damaged))
    except (UnusableFileError, DecodeError):
        return
    states = [
        {"default/a": ("3", b"new blob of a")},
        {"default/a": ("1", b"blob of a"), "default/b": ("2", b"blob of b")},
    ]
    assert found in states


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"{}", "it is not a cache file"),
        (FILE[:20], "its header is damaged"),
        (encode_header(KEY) + b"x", "it contains no complete state"),
        (encode_header(KEY), "^$"),
        (encode_header({**KEY, "server": "https://there"}), "it is a cache of something else: server differ"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(content: bytes, reason: str) -> None:
    with pytest.raises(UnusableFileError, match=reason):
        recovered(content)


def test_zeros_that_a_failed_disk_has_left_are_no_blob() -> None:
    with pytest.raises(DecodeError, match="its bytes in the cache file are damaged"):
        read_blob(bytes(100), 20, 100)


def block(tag: bytes, value: Any) -> bytes:
    """A block with matching checksums, as another program could write it."""
    head = value if isinstance(value, bytes) else msgspec.msgpack.encode(value)
    return _prefix(tag, head, 0) + head


def entry_with(**fields: Any) -> bytes:
    usual = {"name": "c", "namespace": "", "uid": "u", "version": "5", "labels": 0, "blob": 0, "size": 0}
    return block(b"RECS", ([b"null"], [[*(usual | fields).values()]], ["default/a"]))


NESTED = b"\x91" * 100_000 + b"\xc0"
HOSTILE = [
    *(entry_with(labels=each) for each in (-1, 1, "0", 0.0, None)),
    *(entry_with(blob=each) for each in (-1, 2**48, 2**63, "0", 1.5, float("nan"), None)),
    *(entry_with(size=each) for each in (-1, 2**63, "0")),
    entry_with(instance="x"),
    entry_with(instance=None, dictionary="x"),
    block(b"RECS", b"\x94\x90\x90\x90" + NESTED),
    block(b"RECS", b"\x93\xdd\xff\xff\xff\xff\x90\x90"),  # claims 2**32 - 1 labels
    block(b"RECS", b"\x93\x91\xc6\xff\xff\xff\xff\x90\x90"),  # labels that claim 4 GB
    *(block(b"DICT", (number, b"content", True, 3, 0.1)) for number in (-1, 0, 2**16)),
    *(block(b"DICT", (4, b"content", True, level, 0.1)) for level in (-1, 23)),
    block(b"DICT", (4, bytes(2**20 + 1), True, 3, 0.1)),
    *(block(b"MARK", ("5", at, "")) for at in (float("nan"), float("inf"), 1e300, -1e12)),
]


@pytest.mark.parametrize("hostile", HOSTILE, ids=map(str, range(len(HOSTILE))))
def test_a_block_with_impossible_values_ends_the_file_whatever_its_checksum(hostile: bytes) -> None:
    # None of what it changes is applied, such as the removal of an object.
    found = recovered(FILE + hostile + encode_mark(Mark("5", 30.0, "cluster")))

    assert (found.end, found.mark.resource_version) == (len(FILE), "4")
    assert [*found.contents] == ["default/a"]
    assert found.dictionaries.keys() == {3}


def test_the_bytes_of_a_file_change_only_with_the_number_of_its_format() -> None:
    # An entry has further fields in memory, which are not written.
    digest = hashlib.sha256(FILE).hexdigest()[:16]

    assert (FORMAT, digest) == (2, "0cb98c382c84e720"), "raise FORMAT, and write the new digest here"


def test_every_written_field_of_an_entry_is_recovered_and_no_other() -> None:
    written = entry("a", "1")
    written.size, written.instance, written.dictionary = 77, ref(LOADED), LOADED
    content = encode_header(KEY) + records((written, b"blob")) + encode_mark(Mark("1", 10.0))

    (found,) = recovered(content).contents.values()
    same = [name for name in Entry.__struct_fields__ if getattr(found, name) == getattr(written, name)]
    assert same == ["name", "namespace", "uid", "resource_version", "shared_labels", "size"]
    assert (found.instance, found.dictionary) == (None, None)
    assert read_blob(content, int(found.blob), len(content)) == b"blob"  # type: ignore[arg-type]  # a position

"""Blobs are read from maps of files that grow and are truncated."""

from __future__ import annotations

import os
from pathlib import Path
from zlib import crc32

import pytest

from listwatch.errors import DecodeError
from listwatch.informer.persistence.mapped_files import MappedFiles


def blob(content: bytes) -> bytes:
    return crc32(content).to_bytes(4, "little") + len(content).to_bytes(4, "little") + content


def test_a_blob_is_read_whole_where_a_longer_file_had_ended(tmp_path: Path) -> None:
    first, torn, second = blob(b"a first blob"), blob(b"torn")[:9], blob(b"a second blob")
    descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    files = MappedFiles()
    number = files.add(descriptor)
    os.write(descriptor, first + torn)
    assert len(files.whole(number)) == len(first + torn)

    os.ftruncate(descriptor, len(first))
    files.was_truncated(number)
    os.pwrite(descriptor, second, len(first))

    assert files.locate(files.place(number, 0)).read() == b"a first blob"
    assert files.locate(files.place(number, len(first))).read() == b"a second blob"
    os.close(descriptor)


def test_a_blob_of_a_forgotten_file_is_damaged(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    files = MappedFiles()
    number = files.add(descriptor)
    os.write(descriptor, blob(b"content"))
    place = files.place(number, 0)
    located = files.locate(place)

    files.forget(number)

    assert located.read() == b"content"
    (late,) = files.locate_all([place])
    with pytest.raises(DecodeError, match="its cache file was replaced twice since it was read"):
        late.read()
    os.close(descriptor)

"""Writes the objects of a storage to one file, with which another server can start.

magic, CRC-32 of the rest, msgpack of the format number, the revision, and the objects
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from listwatch.atomic_file import replace_file
from listwatch.errors import ConfigError
from listwatch.meta import ObjectKey
from listwatch.server.storage.storage import Storage
from listwatch.server.storage.values import Event, Stored

__all__ = ["read_snapshot", "write_snapshot"]

_MAGIC = b"listwatch snapshot\n"
_CHECKSUM = 4
_FORMAT = 1


class _Object(msgspec.Struct, array_like=True, gc=False):
    resource: str
    namespace: str
    name: str
    revision: int
    value: bytes


class _Content(msgspec.Struct, array_like=True):
    format: int
    revision: int
    objects: list[_Object]


class _Format(msgspec.Struct, array_like=True):
    """The part of the content that no later format changes."""

    format: int


def write_snapshot(storage: Storage, file: str | os.PathLike[str]) -> None:
    """Write all objects, without their history. Only the owner can read the file. Raises ConfigError."""
    objects = [
        _Object(resource, stored.key.namespace, stored.key.name, stored.revision, stored.value)
        for resource in storage.resources
        for stored in storage.scan(resource)
    ]
    content = msgspec.msgpack.encode(_Content(_FORMAT, storage.revision, objects))
    try:
        replace_file(Path(file), _MAGIC + zlib.crc32(content).to_bytes(_CHECKSUM, "big") + content)
    except OSError as error:
        raise ConfigError(f"the snapshot cannot be written: {error.strerror}", file=os.fspath(file)) from None


def read_snapshot(file: str | os.PathLike[str], *, now: Callable[[], float] = lambda: 0.0) -> Storage:
    """Return a storage in memory with the objects of a file; raises ConfigError."""
    try:
        content = _checked(Path(file).read_bytes())
    except OSError as error:
        raise ConfigError(f"the snapshot cannot be read: {error.strerror}", file=os.fspath(file)) from None
    except ValueError as error:
        raise ConfigError(f"the snapshot cannot be used: {error}", file=os.fspath(file)) from None
    storage = Storage(now=now)
    events = (
        Event("ADDED", each.resource, Stored(ObjectKey(each.namespace, each.name), each.value, each.revision), None, 0)
        for each in content.objects
    )
    storage.restore(events, revision=content.revision, compacted=content.revision)
    return storage


def _checked(data: bytes) -> _Content:
    """Return the content of a file; raises ValueError."""
    if not data.startswith(_MAGIC):
        raise ValueError("it is not a snapshot of listwatch")
    start = len(_MAGIC) + _CHECKSUM
    content = memoryview(data)[start:]
    if not content or zlib.crc32(content) != int.from_bytes(data[len(_MAGIC) : start], "big"):
        raise ValueError("it is damaged or incomplete")
    if (found := msgspec.msgpack.decode(content, type=_Format).format) != _FORMAT:
        raise ValueError(f"its format is {found}, and this version of listwatch reads format {_FORMAT}")
    return msgspec.msgpack.decode(content, type=_Content)

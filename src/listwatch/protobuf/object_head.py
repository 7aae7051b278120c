"""The head of a received object: the metadata that caches need, read without decoding the rest.

Servers write the fields of the metadata in the order of their numbers, so that the head is at its start:

    1 name   2 generateName   3 namespace   4 selfLink   5 uid   6 resourceVersion   7 generation
    8 creationTimestamp   9 deletionTimestamp   10 deletionGracePeriodSeconds   11 labels
"""

from __future__ import annotations

import re
from typing import NamedTuple

from listwatch.errors import DecodeError
from listwatch.protobuf.received_object import find_message
from listwatch.protobuf.wire_format import read_fields, read_length, read_varint, truncated, varint

__all__ = ["RawHead", "decode_labels", "read_object_head", "uid_and_version"]


class RawHead(NamedTuple):
    """The head of an object. `labels` are the bytes of the entries, each with its key and length."""

    name: str
    namespace: str
    uid: str
    resource_version: str
    labels: bytes


_new_tuple = tuple.__new__

# What servers write between selfLink and the version, and between the version and the labels.
_UID = b'"\0*$'
_UID_SIZE = 36
_TIME = rb"\x08\x08[\x80-\xff]{4}[\x00-\x7f]\x10\0"
_NUMBER = rb"[\x80-\xff]{0,9}+[\x00-\x7f]"
_AFTER_VERSION = re.compile(rb"8%b(?:B%b)?(?:J%b)?(?:P%b)?" % (_NUMBER, _TIME, _TIME, _NUMBER))
_NAME, _GENERATE_NAME, _NAMESPACE, _VERSION, _LABELS = 0x0A, 0x12, 0x1A, 0x32, 0x5A
_FIELDS = {1: "2Name", 3: "2Namespace", 5: "2UID", 6: "2ResourceVersion", 11: "2Labels"}
_LAST = 0x5B


def read_object_head(raw: bytes) -> RawHead:
    """Read the head of an object; raises DecodeError if it cannot be read. The rest is not checked."""
    try:
        found = _read_usual(raw)
    except (IndexError, UnicodeDecodeError):
        found = None
    return found or _read_any(raw)


def uid_and_version(raw: bytes) -> tuple[bytes, bytes] | None:
    """The uid and the version of an object that is written as servers write it; None for others."""
    try:
        position = 6 + raw[5]
        if raw[4] != 0x0A or raw[position] != 0x12:
            return None
        position += 1
        while raw[position] > 127:
            position += 1
        if raw[position + 1] != 0x0A:
            return None
        position += 2
        while raw[position] > 127:
            position += 1
        for key in (_NAME, _GENERATE_NAME, _NAMESPACE):
            if raw[position + 1] != key or raw[position + 2] > 127:
                return None
            position += 2 + raw[position + 2]
        uid = position + 5
        version = uid + _UID_SIZE + 2
        if raw[position + 1 : uid] != _UID or raw[version - 2] != _VERSION:
            return None
        return raw[uid : version - 2], raw[version : version + raw[version - 1]]
    except IndexError:
        return None


def _read_usual(raw: bytes) -> RawHead | None:
    """Read a head that is written as servers write it; None for others. All lengths are taken from the wire.

    This is one long function because it is called for each object that is received.
    """
    # 1. The message, and the metadata in it.
    position = 6 + raw[5]
    if raw[4] != 0x0A or raw[position] != 0x12:
        return None
    position += 1
    while raw[position] > 127:
        position += 1
    if raw[position + 1] != 0x0A:
        return None
    size = raw[position + 2]
    position += 3
    shift = 7
    while size >> shift:
        if shift > 28:
            return None  # no length has so many bytes; reading all of them would take quadratic time
        size = size & (1 << shift) - 1 | raw[position] << shift
        position += 1
        shift += 7
    stop = position + size
    # 2. Its first fields, none of which has more than 127 bytes.
    if raw[position] != _NAME:
        return None
    name = position + 2
    name_end = name + raw[position + 1]
    if raw[name_end] != _GENERATE_NAME:
        return None
    position = name_end + 2 + raw[name_end + 1]
    if raw[position] != _NAMESPACE:
        return None
    namespace = position + 2
    namespace_end = namespace + raw[position + 1]
    uid = namespace_end + 4
    version = uid + 38
    if raw[namespace_end:uid] != _UID or raw[version - 2] != _VERSION:
        return None
    version_end = version + raw[version - 1]
    # 3. The labels.
    after = _AFTER_VERSION.match(raw, version_end)
    if after is None:
        return None
    labels = position = after.end()
    while (key := raw[position]) == _LABELS:
        size = raw[position + 1]
        if size > 127:
            return None
        position += size + 2
    if (key < _LAST and position < stop) or position > stop:
        return None
    # 4. Slices of one text, which is ASCII: a length of more than 127 would not be.
    start = name - 1
    text = str(raw[start:version_end], "ascii")
    found = (
        text[1 : name_end - start],
        text[namespace - start : namespace_end - start],
        text[uid - start : uid - start + _UID_SIZE],
        text[version - start :],
        raw[labels:position],
    )
    return _new_tuple(RawHead, found)  # RawHead(…) calls a function in Python, which takes twice as long


def _read_any(raw: bytes) -> RawHead:
    """Read a head in any form that protobuf allows."""
    place = find_message(raw)
    texts: dict[int, bytes] = {}
    labels: list[bytes] = []
    try:
        for _, start, end in read_fields(raw, place.start, place.end, place.kind, {1: "2ObjectMeta"}):
            for number, first, last in read_fields(raw, start, end, "ObjectMeta", _FIELDS):
                if number == 11:
                    labels.append(b"\x5a%b" % (varint(last - first) + raw[first:last]))
                else:
                    texts[number] = raw[first:last]
    except IndexError:
        raise truncated() from None
    name, namespace, uid, version = (str(texts.get(number, b""), "utf-8", "replace") for number in (1, 3, 5, 6))
    return RawHead(name, namespace, uid, version, b"".join(labels))


def decode_labels(entries: bytes) -> dict[str, str]:
    """Decode the labels of a head; entries that cannot be decoded are left out."""
    found: dict[str, str] = {}
    position = 0
    try:
        while position < len(entries):
            _, position = read_varint(entries, position)
            start, position = read_length(entries, position, len(entries))
            key = value = ""
            for number, first, last in read_fields(entries, start, position, "entry", {1: "2Key", 2: "2Value"}):
                text = str(entries[first:last], "utf-8", "replace")
                key, value = (text, value) if number == 1 else (key, text)
            found[key] = value
    except (IndexError, DecodeError):
        pass  # the metadata raises when it is accessed
    return found

"""Reads the objects of recorded responses, in JSON and protobuf, and makes stored bytes of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from listwatch.api.http_messages import PROTOBUF_MEDIA_TYPE
from listwatch.errors import DecodeError, ResponseTooLargeError
from listwatch.json_value import JSONObject
from listwatch.meta import ObjectKey, Resource
from listwatch.objects.json.wire import DECODE_FAILURES, LineSplitter
from listwatch.server.codec.representations import INITIAL_EVENTS_END, PARTIAL_OBJECT, encode_object

__all__ = [
    "EventSplitter",
    "ReceivedEvent",
    "ReceivedList",
    "ReceivedObject",
    "read_list",
    "read_object",
    "read_status",
]

_MAX_MESSAGES = 1 << 40
_MAX_EVENT = 1 << 28


class ReceivedObject(NamedTuple):
    """A state of an object, with kind and apiVersion, as it is stored."""

    key: ObjectKey
    version: int
    value: bytes

    def __repr__(self) -> str:
        return f"<ReceivedObject {self.key} at {self.version}>"


class ReceivedList(NamedTuple):
    """A list, or a page of one."""

    version: int
    objects: list[ReceivedObject]
    continues: bool = False
    """Whether another page follows."""

    def __repr__(self) -> str:
        return f"<ReceivedList of {len(self.objects)} objects at {self.version}>"


class ReceivedEvent(NamedTuple):
    """An event of a watch. A bookmark has no object, and an ERROR has a status."""

    type: str
    version: int = 0
    object: ReceivedObject | None = None
    ends_initial_events: bool = False
    status: JSONObject | None = None


class _Metadata(msgspec.Struct, rename="camel", gc=False):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _Head(msgspec.Struct, rename="camel", gc=False):
    kind: str = ""
    api_version: str = ""
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _List(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    items: list[msgspec.Raw] | None = None


class _Event(msgspec.Struct, gc=False):
    type: str
    object: msgspec.Raw


class _Annotated(msgspec.Struct, gc=False):
    annotations: dict[str, str] | None = None


class _Bookmark(msgspec.Struct, gc=False):
    metadata: _Annotated = msgspec.field(default_factory=_Annotated)


_heads = msgspec.json.Decoder(_Head)
_lists = msgspec.json.Decoder(_List)
_events = msgspec.json.Decoder(_Event)
_bookmarks = msgspec.json.Decoder(_Bookmark)
_statuses: msgspec.json.Decoder[JSONObject] = msgspec.json.Decoder(dict)


def read_list(body: bytes, media_type: str, resource: Resource) -> ReceivedList:
    """Read a page of a list; raises DecodeError. Items without a valid name and version are left out."""
    if media_type == PROTOBUF_MEDIA_TYPE:
        body = _json_of(body)
    try:
        found = _lists.decode(body)
    except DECODE_FAILURES as error:
        raise DecodeError(f"a recorded list cannot be decoded: {type(error).__name__}") from None
    kind, api_version = found.kind.removesuffix("List"), found.api_version
    objects = [each for raw in found.items or () if (each := _read(bytes(raw), resource, kind, api_version))]
    return ReceivedList(_version(found.metadata.resource_version), objects, bool(found.metadata.continue_))


def read_object(body: bytes, media_type: str, resource: Resource) -> ReceivedObject | None:
    """Read an object; None if it has no valid name and version. Raises DecodeError."""
    raw = _json_of(body) if media_type == PROTOBUF_MEDIA_TYPE else body
    return _read(raw, resource, resource.kind, resource.api_version)


def read_status(body: bytes, media_type: str) -> JSONObject:
    """Read the Status of an error; empty if there is none."""
    try:
        return _statuses.decode(_json_of(body) if media_type == PROTOBUF_MEDIA_TYPE else body)
    except (*DECODE_FAILURES, DecodeError):
        return {}


class EventSplitter:
    """Splits the body of a watch into events. Events that cannot be decoded are counted and left out."""

    def __init__(self, media_type: str, resource: Resource) -> None:
        self._resource = resource
        self._lines = LineSplitter(max_size=_MAX_EVENT)
        self._frames = None
        if media_type == PROTOBUF_MEDIA_TYPE:
            from listwatch.protobuf.watch_frames import FrameReader  # few recordings contain protobuf

            self._frames = FrameReader(max_size=_MAX_EVENT)
        self.left_out = 0

    def feed(self, piece: bytes) -> Iterator[ReceivedEvent]:
        """Yield the events that this piece completes."""
        try:
            if self._frames is not None:
                for type_, raw in self._frames.feed(piece):
                    yield from self._event(type_, raw, is_protobuf=True)
                return
            for line in self._lines.feed(piece):
                try:
                    found = _events.decode(line)
                except DECODE_FAILURES:
                    self.left_out += 1
                    continue
                yield from self._event(found.type, bytes(found.object), is_protobuf=False)
        except (DecodeError, ResponseTooLargeError):
            self.left_out += 1

    @property
    def has_partial_event(self) -> bool:
        """Whether the body ended in the middle of an event. It is dropped."""
        return bool(self._frames.finish() if self._frames is not None else self._lines.finish())

    def _event(self, type_: str, raw: bytes, *, is_protobuf: bool) -> Iterator[ReceivedEvent]:
        try:
            raw = _json_of(raw) if is_protobuf else raw
            match type_:
                case "ERROR":
                    yield ReceivedEvent(type_, status=_statuses.decode(raw))
                case "BOOKMARK":
                    annotations = _bookmarks.decode(raw).metadata.annotations or {}
                    version = _version(_heads.decode(raw).metadata.resource_version)
                    yield ReceivedEvent(
                        type_, version, ends_initial_events=annotations.get(INITIAL_EVENTS_END) == "true"
                    )
                case _:
                    found = _read(raw, self._resource, self._resource.kind, self._resource.api_version)
                    if found is None:
                        self.left_out += 1
                    else:
                        yield ReceivedEvent(type_, found.version, found)
        except (*DECODE_FAILURES, DecodeError):
            self.left_out += 1


def _read(raw: bytes, resource: Resource, kind: str, api_version: str) -> ReceivedObject | None:
    try:
        head = _heads.decode(raw)
    except DECODE_FAILURES:
        return None
    version = _version(head.metadata.resource_version)
    if not version or not head.metadata.name:
        return None
    if head.kind == PARTIAL_OBJECT:
        tree: JSONObject = msgspec.json.decode(raw)
        raw = encode_object({**tree, "kind": resource.kind, "apiVersion": resource.api_version})
    elif not head.kind:
        # Items of built-in kinds do not repeat kind and apiVersion.
        start = msgspec.json.encode({"kind": kind, "apiVersion": api_version})
        raw = b"%b,%b" % (start[:-1], raw.lstrip()[1:])
    return ReceivedObject(ObjectKey(head.metadata.namespace, head.metadata.name), version, raw)


def _version(text: str) -> int:
    """Return a version as a number; 0 if it is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else 0


def _json_of(body: bytes) -> bytes:
    from listwatch.protobuf.envelope import decode_object  # few recordings contain protobuf

    return msgspec.json.encode(decode_object(body, max_messages=_MAX_MESSAGES))

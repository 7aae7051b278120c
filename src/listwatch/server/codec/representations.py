"""Negotiates the representation of responses, and encodes objects, responses and watch events.

    application/json                                                  the object as it is stored
    application/yaml
    application/vnd.kubernetes.protobuf                               not for custom resources, except metadata
    application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1      its metadata only; …List for a list
    application/json;as=Table;g=meta.k8s.io;v=v1                      a row of cells for each object; not in protobuf
    application/json;drop=metadata.managedFields                      without managedFields

An Accept header may name several, with q values; the first that the server offers is used. Unknown parameters are
ignored. Stored bytes are changed as little as possible: plain JSON is sent as it is stored, and metadata are cut out
without decoding the rest.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, Protocol

import msgspec

from listwatch.errors import APIError, EncodeError, NotAcceptableError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import Resource
from listwatch.objects.head import cut_managed_fields, parts_decoder
from listwatch.server.codec.decoding import JSON_MEDIA_TYPE, PROTOBUF_MEDIA_TYPE, YAML_MEDIA_TYPE, go_name
from listwatch.server.requests import ListResponse, Query, Response
from listwatch.server.schema.schema import builtin_schema
from listwatch.server.storage.values import Stored

__all__ = [
    "INITIAL_EVENTS_END",
    "PARTIAL_LIST",
    "PARTIAL_OBJECT",
    "TABLE",
    "MediaRange",
    "Representation",
    "TablePrinter",
    "encode_bookmark",
    "encode_event",
    "encode_list",
    "encode_object",
    "encode_plain",
    "encode_response",
    "negotiate",
    "negotiate_error",
    "negotiate_watch",
    "parse_accept",
    "wants_pretty",
    "with_resource_version",
]

_MEDIA_TYPES = (JSON_MEDIA_TYPE, YAML_MEDIA_TYPE, PROTOBUF_MEDIA_TYPE)
_STREAMED = (JSON_MEDIA_TYPE, PROTOBUF_MEDIA_TYPE)
_STREAMS = tuple(f"{media_type};stream=watch" for media_type in _STREAMED)

PARTIAL_OBJECT = "PartialObjectMetadata"
_UNSTRUCTURED = "*unstructured.Unstructured"
PARTIAL_LIST = "PartialObjectMetadataList"
TABLE = "Table"
_META_VERSIONS = ("v1", "v1beta1")
_MANAGED_FIELDS = "metadata.managedFields"

_INTERACTIVE_AGENTS = ("curl", "Wget", "Mozilla/5.0")
_TRUE = ("1", "t", "T", "true", "TRUE", "True")
INITIAL_EVENTS_END = "k8s.io/initial-events-end"
_EMPTY_OBJECT = msgspec.Raw(b"{}")
# PyYAML writes about a megabyte a second. Larger responses, and deeper ones, are JSON, which is YAML too.
_MAX_BLOCK_YAML = 4 << 20
_ROWS_AT_ONCE = 20


class TablePrinter(Protocol):
    """Makes Tables of the objects of one resource."""

    def rows(self, values: Sequence[bytes]) -> list[bytes]: ...
    def ordered(self, values: Sequence[bytes]) -> Sequence[bytes]: ...
    def table(self, rows: Sequence[bytes], metadata: JSONObject) -> bytes: ...
    def object_table(self, value: bytes) -> bytes: ...
    def event_table(self, value: bytes) -> bytes: ...
    def with_columns(self, line: bytes) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Representation:
    """A negotiated representation. Equal representations of one object are equal bytes."""

    media_type: str = JSON_MEDIA_TYPE
    kind: str = ""
    """The kind to transform the object into; empty for the object itself."""
    api_version: str = ""
    drops_managed_fields: bool = False
    pretty: bool = False
    printer: TablePrinter | None = None
    """Set for a Table, when the resource is known."""

    @property
    def stream_media_type(self) -> str:
        """The Content-Type of a watch."""
        return JSON_MEDIA_TYPE if self.media_type == JSON_MEDIA_TYPE else f"{self.media_type};stream=watch"


_PLAIN = Representation()


# --- Negotiation ------------------------------------------------------------------------------------------------------


class MediaRange(NamedTuple):
    """One clause of an Accept header."""

    type: str
    subtype: str
    parameters: dict[str, str]
    quality: float

    def covers(self, media_type: str) -> bool:
        type_, _, subtype = media_type.partition("/")
        return (self.type, self.subtype) in ((type_, subtype), (type_, "*"), ("*", "*"))


def parse_accept(header: str) -> list[MediaRange]:
    """Return the clauses by descending q value, those without wildcards first; invalid clauses are skipped."""
    ranges = filter(None, map(_read_range, header.split(",")))
    return sorted(ranges, key=lambda each: (-each.quality, each.type == "*", each.subtype == "*"))


def _read_range(clause: str) -> MediaRange | None:
    media_type, *rest = clause.split(";")
    type_, _, subtype = (part.strip() for part in media_type.partition("/"))
    if not subtype and type_ == "*":
        subtype = "*"
    if not subtype or "/" in subtype:
        return None
    pairs = (pair.split("=") for pair in rest)
    parameters = {pair[0].strip(): pair[1].strip() for pair in pairs if len(pair) == 2}
    return MediaRange(type_, subtype, parameters, _quality(parameters.pop("q", "1")))


def _quality(text: str) -> float:
    try:
        quality = float(text)
    except ValueError:
        return 0.0
    return quality if 0.0 <= quality <= 1.0 else 0.0


def negotiate(
    accept: str, *, pretty: bool = False, untransformed: bool = False, protobuf: bool = True, tables: bool = True
) -> Representation:
    """Return the representation that the client prefers; raises NotAcceptableError.

    With `untransformed`, transformations such as PartialObjectMetadata are not offered. `protobuf` is whether the kind
    has a protobuf encoding; its metadata always have one. `tables` is whether the resource offers Tables.
    """
    find = _negotiate_cached if len(accept) <= _SHORT else _negotiate
    return find(accept, pretty, untransformed, protobuf, tables)


def _negotiate(
    accept: str,
    pretty: bool,  # noqa: FBT001  # positional arguments are faster to cache
    untransformed: bool,  # noqa: FBT001  # the same
    protobuf: bool,  # noqa: FBT001  # the same
    tables: bool,  # noqa: FBT001  # the same
) -> Representation:
    for found in _acceptable(accept, protobuf=protobuf, tables=tables):
        if not (untransformed and found.kind):
            return _with_pretty(found, pretty=pretty)
    raise _not_acceptable(_MEDIA_TYPES)


# Clients repeat the same header.
_SHORT = 256
_negotiate_cached = lru_cache(maxsize=256)(_negotiate)


def negotiate_watch(accept: str, *, protobuf: bool = True, tables: bool = True) -> Representation:
    """Return the representation of a watch stream, which is never YAML; raises NotAcceptableError."""
    found = next(_acceptable(accept, protobuf=protobuf, tables=tables), None)
    if found is None or found.media_type not in _STREAMED:
        raise _not_acceptable(_STREAMS)
    return replace(found, pretty=False)


def negotiate_error(accept: str, *, pretty: bool = False) -> Representation:
    """Return the representation of a Status: never transformed, and indented JSON if nothing else is acceptable."""
    try:
        return negotiate(accept, pretty=pretty, untransformed=True)
    except NotAcceptableError:
        return Representation(pretty=True)


def wants_pretty(query: Query, user_agent: str) -> bool:
    """Whether to indent JSON: if the query requests it, or for an interactive client such as curl."""
    pretty = query.text("pretty") if query else ""
    return pretty in _TRUE if pretty else user_agent.startswith(_INTERACTIVE_AGENTS)


def _acceptable(accept: str, *, protobuf: bool, tables: bool) -> Iterator[Representation]:
    """Iterate over the acceptable representations, the preferred one first."""
    if not accept:
        yield _PLAIN
    for clause in parse_accept(accept):
        for media_type in _MEDIA_TYPES:
            found = _offered(media_type, clause.parameters) if clause.covers(media_type) else None
            if found is None or (found.kind == TABLE and (not tables or media_type == PROTOBUF_MEDIA_TYPE)):
                continue
            if protobuf or found.kind or media_type != PROTOBUF_MEDIA_TYPE:
                yield found


def _offered(media_type: str, parameters: dict[str, str]) -> Representation | None:
    streams = ("", "watch") if media_type in _STREAMED else ("",)
    kind, group, version = (parameters.get(name, "") for name in ("as", "g", "v"))
    if parameters.get("sv") or parameters.get("stream", "") not in streams or not _is_supported(kind, group, version):
        return None
    return Representation(
        media_type,
        kind=kind,
        api_version=f"{group}/{version}" if kind else "",
        drops_managed_fields=_MANAGED_FIELDS in parameters.get("drop", "").split("+"),
        pretty=media_type == JSON_MEDIA_TYPE and parameters.get("pretty") == "1",
    )


def _is_supported(kind: str, group: str, version: str) -> bool:
    """Whether the transformation is supported, or none is requested."""
    if not kind and not group and not version:
        return True
    return kind in (PARTIAL_OBJECT, PARTIAL_LIST, TABLE) and group == "meta.k8s.io" and version in _META_VERSIONS


def _with_pretty(found: Representation, *, pretty: bool) -> Representation:
    return replace(found, pretty=True) if pretty and found.media_type == JSON_MEDIA_TYPE else found


def _not_acceptable(offers: tuple[str, ...]) -> NotAcceptableError:
    return NotAcceptableError(f"only the following media types are accepted: {', '.join(offers)}")


# --- Stored objects ---------------------------------------------------------------------------------------------------


class _WithMetadata(msgspec.Struct, gc=False):
    metadata: msgspec.Raw = _EMPTY_OBJECT


class _Kind(msgspec.Struct, gc=False, rename="camel"):
    kind: str
    api_version: str


_encode = msgspec.json.Encoder().encode
_kind = msgspec.json.Decoder(_Kind)
_metadata = msgspec.json.Decoder(_WithMetadata)


def encode_object(tree: JSONObject, metadata: JSONObject | None = None) -> bytes:
    """Encode an object as it is stored and sent, optionally with other metadata.

    Kind and apiVersion come first, so that lists can cut them off.
    """
    whole: JSONObject = {"kind": tree["kind"], "apiVersion": tree["apiVersion"], **tree}
    if metadata is not None:
        whole["metadata"] = metadata
    return _encode(whole)


def with_resource_version(value: bytes, revision: int) -> bytes:
    """Return an encoded object with another resourceVersion."""
    parts = parts_decoder.decode(value)
    metadata = parts_decoder.decode(parts.get("metadata", _EMPTY_OBJECT))
    metadata["resourceVersion"] = msgspec.Raw(b'"%d"' % revision)
    parts["metadata"] = msgspec.Raw(msgspec.json.encode(metadata))
    return msgspec.json.encode(parts)


def encode_bookmark(resource: Resource, revision: int, *, initial_events_end: bool = False) -> bytes:
    """Encode the object of a BOOKMARK event: a resourceVersion, and whether the initial events are complete."""
    metadata: JSONObject = {"resourceVersion": str(revision)}
    if initial_events_end:
        metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
    return encode_object({"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata})


# --- Responses and watch events ---------------------------------------------------------------------------------------


def encode_response(response: Response, representation: Representation) -> bytes:
    """Encode a response body; raises NotAcceptableError for one object where a list was requested, or the reverse."""
    match response.body:
        case ListResponse() as listed:
            return _formatted(_list(listed, representation), representation)
        case bytes() as value:
            return _formatted(_object(value, representation), representation, response.stored)
        case {"kind": "Status", "apiVersion": "v1"} as status:
            return encode_plain(status, representation)
        case tree:
            return _formatted(_object(encode_object(tree), representation), representation)


def encode_list(listed: ListResponse, representation: Representation) -> Generator[None, None, bytes]:
    """Encode a list in steps: a long list of another form than JSON takes longer than other requests should wait."""
    if representation.media_type == PROTOBUF_MEDIA_TYPE:
        return (yield from _protobuf_list(listed, representation))
    printer = representation.printer
    if printer is None:
        return encode_response(Response(listed), representation)
    items, rows = printer.ordered(listed.items), []
    for start in range(0, len(items), _ROWS_AT_ONCE):
        rows += printer.rows([_cut(item, representation) for item in items[start : start + _ROWS_AT_ONCE]])
        yield
    metadata = {name: value for name, value in _list_metadata(listed, representation).items() if value != ""}
    return _formatted(printer.table(rows, metadata), representation)


def encode_plain(tree: JSON, representation: Representation) -> bytes:
    """Encode a Status, or a value that is not an API object: it is never transformed."""
    return _formatted(msgspec.json.encode(tree), representation)


def encode_event(event_type: str, value: bytes, representation: Representation, stored: Stored | None = None) -> bytes:
    """Encode one line or frame of a watch stream; the object of an ERROR event is a Status.

    `stored` is the state whose bytes the object may be.
    """
    if event_type == "ERROR":
        sent = value
    elif representation.printer:
        sent = representation.printer.event_table(_cut(value, representation))
    else:
        sent = _transformed(value, representation)
    if representation.media_type == PROTOBUF_MEDIA_TYPE:
        from listwatch.server.codec.protobuf_encoding import protobuf_event

        return protobuf_event(event_type, sent, stored)
    return b'{"type":"%s","object":%s}\n' % (event_type.encode(), sent)


def _object(value: bytes, representation: Representation) -> bytes:
    if representation.printer:
        return representation.printer.object_table(_cut(value, representation))
    if representation.kind == PARTIAL_LIST:
        found = _kind.decode(value)
        name = _go_type(found.api_version, found.kind)
        if name == _UNSTRUCTURED:
            raise APIError("content is not a list", status_code=500, reason="")
        raise NotAcceptableError(f"you requested {PARTIAL_LIST}, but the requested object is not a list ({name})")
    return _transformed(value, representation)


def _list_kind(listed: ListResponse, representation: Representation) -> tuple[str, str]:
    """Return the kind and apiVersion of a list."""
    resource = listed.resource
    match representation.kind:
        case "":
            return resource.list_kind, resource.api_version
        case "PartialObjectMetadataList":
            return representation.kind, representation.api_version
        case _:
            found = _go_type(resource.api_version, resource.kind)
            raise NotAcceptableError(
                f"you requested {PARTIAL_OBJECT}, but the requested object is a list ({found}List)"
            )


def _protobuf_list(listed: ListResponse, representation: Representation) -> Generator[None, None, bytes]:
    from listwatch.server.codec.protobuf_encoding import protobuf_list

    kind, api_version = _list_kind(listed, representation)
    item_kind = PARTIAL_OBJECT if representation.kind else listed.resource.kind
    metadata = _list_metadata(listed, representation)
    items = [_transformed(item, representation) for item in listed.items]
    return (yield from protobuf_list(api_version, kind, item_kind, metadata, items, listed.states))


def _list(listed: ListResponse, representation: Representation) -> bytes:
    kind, api_version = _list_kind(listed, representation)
    head = msgspec.json.encode(
        {"kind": kind, "apiVersion": api_version, "metadata": _list_metadata(listed, representation)}
    )
    items = b"[%s]" % b",".join(_items(listed, representation))
    # The real server writes an empty list of metadata as null.
    return b'%s,"items":%s}' % (head[:-1], b"null" if representation.kind and not listed.items else items)


def _go_type(api_version: str, kind: str) -> str:
    """Return the Go type of a kind, as the real server prints it."""
    if builtin_schema().type_of(api_version, kind) is None:
        return _UNSTRUCTURED
    return f"*{go_name(api_version.rpartition('/')[0], kind)}"


def _list_metadata(listed: ListResponse, representation: Representation) -> JSONObject:
    metadata: JSONObject = {"resourceVersion": listed.resource_version}
    if listed.continue_token or (listed.items_keep_kind and not representation.kind):
        metadata["continue"] = listed.continue_token
    if listed.remaining_item_count is not None:
        metadata["remainingItemCount"] = listed.remaining_item_count
    # The real server does not write it into lists of metadata.
    if listed.shard_selector and not representation.kind:
        metadata["shardInfo"] = {"selector": listed.shard_selector}
    return metadata


def _items(listed: ListResponse, representation: Representation) -> list[bytes]:
    items = listed.items
    if representation.drops_managed_fields or representation.kind:
        items = [_transformed(item, representation) for item in items]
    if representation.kind or listed.items_keep_kind:
        return list(items)
    # Items of built-in kinds do not repeat kind and apiVersion.
    prefix = encode_object({"kind": listed.resource.kind, "apiVersion": listed.resource.api_version})[:-1] + b","
    cut = len(prefix)
    return [b"{" + item[cut:] if item.startswith(prefix) else item for item in items]


def _cut(value: bytes, representation: Representation) -> bytes:
    return cut_managed_fields(value) if representation.drops_managed_fields else value


def _transformed(value: bytes, representation: Representation) -> bytes:
    value = _cut(value, representation)
    if representation.kind:
        head = msgspec.json.encode({"kind": PARTIAL_OBJECT, "apiVersion": representation.api_version})
        return b'%s,"metadata":%s}' % (head[:-1], bytes(_metadata.decode(value).metadata))
    return value


def _formatted(value: bytes, representation: Representation, stored: Stored | None = None) -> bytes:
    if representation.media_type == YAML_MEDIA_TYPE and len(value) <= _MAX_BLOCK_YAML:
        # PyYAML is slow to import, and rarely needed.
        from listwatch.objects.yaml import manifests

        with suppress(EncodeError):  # it is nested too deeply
            return manifests.write(msgspec.json.decode(value)).encode()
    if representation.media_type == PROTOBUF_MEDIA_TYPE:
        # Many servers serve JSON only.
        from listwatch.server.codec.protobuf_encoding import protobuf_object

        return protobuf_object(value, stored)
    return (msgspec.json.format(value, indent=2) if representation.pretty else value) + b"\n"

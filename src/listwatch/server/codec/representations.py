"""Writes answers and events in the representation that `negotiation` found, changing stored bytes as little as it can.

An object in plain JSON is sent as it is stored; its metadata alone is cut out without decoding the rest.
"""

from __future__ import annotations

import msgspec

from listwatch.errors import NotAcceptableError
from listwatch.meta import Resource
from listwatch.objects.head import parts_decoder
from listwatch.objects.managed_fields import cut_managed_fields
from listwatch.server.codec.decoding import go_name
from listwatch.server.codec.negotiation import PARTIAL_LIST, PARTIAL_OBJECT, YAML, Representation
from listwatch.server.json_tree import Tree
from listwatch.server.requests import ListResponse, Response
from listwatch.server.schema.schema import builtin_schema

_INITIAL_EVENTS_END = "k8s.io/initial-events-end"
_NOTHING = msgspec.Raw(b"{}")


class _WithMetadata(msgspec.Struct, gc=False):
    metadata: msgspec.Raw = _NOTHING


class _Kind(msgspec.Struct, gc=False, rename="camel"):
    kind: str
    api_version: str


_kind = msgspec.json.Decoder(_Kind)
_metadata = msgspec.json.Decoder(_WithMetadata)


# --- Objects as they are stored ---------------------------------------------------------------------------------------


def encode_object(tree: Tree) -> bytes:
    """An object as it is stored, which is as it is sent; its kind comes first, so that lists can cut it off."""
    return msgspec.json.encode({"kind": tree["kind"], "apiVersion": tree["apiVersion"], **tree})


def with_resource_version(value: bytes, revision: int) -> bytes:
    """The same object as if it had been written at that revision."""
    parts = parts_decoder.decode(value)
    metadata = parts_decoder.decode(parts.get("metadata", _NOTHING))
    metadata["resourceVersion"] = msgspec.Raw(b'"%d"' % revision)
    parts["metadata"] = msgspec.Raw(msgspec.json.encode(metadata))
    return msgspec.json.encode(parts)


def bookmark(resource: Resource, revision: int, *, initial_events_end: bool = False) -> bytes:
    """The object of a BOOKMARK event, which tells a revision and nothing else, or that all there was has been sent."""
    metadata: Tree = {"resourceVersion": str(revision)}
    if initial_events_end:
        metadata["annotations"] = {_INITIAL_EVENTS_END: "true"}
    return encode_object({"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata})


# --- Answers and events as they are sent ------------------------------------------------------------------------------


def write_response(answer: Response, representation: Representation) -> bytes:
    """The body to send; raises NotAcceptableError where one object was asked for and it is a list, or the reverse."""
    match answer.body:
        case ListResponse() as listed:
            return _formatted(_list(listed, representation), representation)
        case bytes() as value:
            return _formatted(_object(value, representation), representation)
        case {"kind": "Status", "apiVersion": "v1"} as status:
            return write_tree(status, representation)
        case tree:
            return _formatted(_object(encode_object(tree), representation), representation)


def write_tree(tree: Tree, representation: Representation) -> bytes:
    """Something that is no object of the API's, or a Status: never turned into anything else."""
    return _formatted(msgspec.json.encode(tree), representation)


def write_event(event_type: str, value: bytes, representation: Representation) -> bytes:
    """One line of a watch; the object of an ERROR is a Status."""
    sent = value if event_type == "ERROR" else _transformed(value, representation)
    return b'{"type":"%s","object":%s}\n' % (event_type.encode(), sent)


def _object(value: bytes, representation: Representation) -> bytes:
    if representation.kind == PARTIAL_LIST:
        found = _kind.decode(value)
        name = _type(found.api_version, found.kind)
        raise NotAcceptableError(f"you requested {PARTIAL_LIST}, but the requested object is not a list ({name})")
    return _transformed(value, representation)


def _list(listed: ListResponse, representation: Representation) -> bytes:
    resource = listed.resource
    match representation.kind:
        case "":
            kind, api_version = resource.list_kind, resource.api_version
        case "PartialObjectMetadataList":
            kind, api_version = representation.kind, representation.api_version
        case _:
            found = _type(resource.api_version, resource.kind)
            raise NotAcceptableError(
                f"you requested {PARTIAL_OBJECT}, but the requested object is a list ({found}List)"
            )
    head = msgspec.json.encode({"kind": kind, "apiVersion": api_version, "metadata": _list_metadata(listed)})
    items = b"[%s]" % b",".join(_items(listed, representation))
    # A list of metadata is made new, and if nothing is put into it, the real server has no list to write.
    return b'%s,"items":%s}' % (head[:-1], b"null" if representation.kind and not listed.items else items)


def _type(api_version: str, kind: str) -> str:
    """As the real server names it to whom it has nothing better to say."""
    if builtin_schema().type_of(api_version, kind) is None:
        return "*unstructured.Unstructured"
    return f"*{go_name(api_version.rpartition('/')[0], kind)}"


def _list_metadata(listed: ListResponse) -> Tree:
    metadata: Tree = {"resourceVersion": listed.resource_version}
    if listed.continue_token or listed.items_keep_kind:
        metadata["continue"] = listed.continue_token
    if listed.remaining_item_count is not None:
        metadata["remainingItemCount"] = listed.remaining_item_count
    return metadata


def _items(listed: ListResponse, representation: Representation) -> list[bytes]:
    items = listed.items
    if representation.drops_managed_fields or representation.kind:
        items = [_transformed(item, representation) for item in items]
    if representation.kind or listed.items_keep_kind:
        return list(items)
    # What the list says of all its items, they do not repeat.
    prefix = encode_object({"kind": listed.resource.kind, "apiVersion": listed.resource.api_version})[:-1] + b","
    cut = len(prefix)
    return [b"{" + item[cut:] if item.startswith(prefix) else item for item in items]


def _transformed(value: bytes, representation: Representation) -> bytes:
    if representation.drops_managed_fields:
        value = cut_managed_fields(value)
    if representation.kind:
        head = msgspec.json.encode({"kind": PARTIAL_OBJECT, "apiVersion": representation.api_version})
        return b'%s,"metadata":%s}' % (head[:-1], bytes(_metadata.decode(value).metadata))
    return value


def _formatted(value: bytes, representation: Representation) -> bytes:
    if representation.media_type == YAML:
        # Imported where it is needed: PyYAML is slow to load, and few ask for it.
        from listwatch.objects import manifests

        return manifests.write(msgspec.json.decode(value)).encode()
    return (msgspec.json.format(value, indent=2) if representation.pretty else value) + b"\n"

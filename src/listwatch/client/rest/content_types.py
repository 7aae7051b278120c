"""Which requests accept protobuf: those for resources of built-in kinds, if the client is configured for it."""

from __future__ import annotations

from functools import cache

from listwatch.api.http_messages import JSON_MEDIA_TYPE, PROTOBUF_MEDIA_TYPE
from listwatch.errors import EncodeError
from listwatch.models import resources
from listwatch.objects.object import Object

__all__ = ["accept_protobuf", "encode_object", "has_protobuf"]

# Subresources whose objects are of a built-in kind. Others are streams, or objects of any kind.
_SUBRESOURCES = frozenset({"", "status", "scale", "ephemeralcontainers", "resize", "approval", "finalize"})


@cache
def has_protobuf(api_version: str, plural: str, subresource: str) -> bool:
    """Whether the objects of a resource can be requested as protobuf."""
    from listwatch.protobuf.envelope import supports  # loads the codec, which few programs use

    kind = _kinds().get((api_version, plural))
    return kind is not None and subresource in _SUBRESOURCES and supports(api_version, kind)


@cache
def _kinds() -> dict[tuple[str, str], str]:
    return {(each.api_version, each.plural): each.kind for each in resources()}


def accept_protobuf(accept: str) -> str:
    """Add protobuf to the media types of an Accept header: each before the same one as JSON, which stays acceptable."""
    found: list[str] = []
    for each in map(str.strip, accept.split(",")):
        if each.startswith(JSON_MEDIA_TYPE):
            found.append(PROTOBUF_MEDIA_TYPE + each.removeprefix(JSON_MEDIA_TYPE))
        found.append(each)
    return ",".join(found)


def encode_object(body: Object, *, prefers_protobuf: bool) -> tuple[bytes, str]:
    """Encode the object of a request; return it with its media type.

    It is JSON if protobuf cannot represent all of it: the server then reports what is wrong with it. An object that was
    received as protobuf, with fields that this version does not know, is sent as protobuf: JSON would lose them.
    """
    has_unknown = body._has_unknown_fields()
    if prefers_protobuf or has_unknown:
        try:
            return body.to_protobuf(), PROTOBUF_MEDIA_TYPE
        except EncodeError:
            if has_unknown:
                raise
    return body.to_json(), JSON_MEDIA_TYPE

"""Finds the representation that client and server agree on. `representations` writes it.

    application/json                                                  the object, as it is stored
    application/yaml
    application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1      its metadata alone; …List for a list
    application/json;drop=metadata.managedFields                      without those

An Accept header may name several, with q values; the best that can be had is taken. Unknown parameters mean nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from listwatch.errors import NotAcceptableError
from listwatch.server.requests import Query

JSON = "application/json"
YAML = "application/yaml"
_MEDIA_TYPES = (JSON, YAML)
_STREAMS = (f"{JSON};stream=watch",)

PARTIAL_OBJECT = "PartialObjectMetadata"
PARTIAL_LIST = "PartialObjectMetadataList"
_META_VERSIONS = ("v1", "v1beta1")
_MANAGED_FIELDS = "metadata.managedFields"

_HUMANS = ("curl", "Wget", "Mozilla/5.0")
_TRUE = ("1", "t", "T", "true", "TRUE", "True")


@dataclass(frozen=True, slots=True)
class Representation:
    """What was agreed on; of one object, equal representations are equal bytes."""

    media_type: str = JSON
    kind: str = ""
    """What the object is turned into, if it does not stay what it is."""
    api_version: str = ""
    drops_managed_fields: bool = False
    pretty: bool = False


_PLAIN = Representation()


# --- What the client accepts ------------------------------------------------------------------------------------------


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
    """The clauses, the most wanted first: by q value, then those without stars; what is no clause is passed over."""
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


# A client sends the same header again and again.
@lru_cache(maxsize=256)
def negotiate(accept: str, *, pretty: bool = False, as_it_is: bool = False) -> Representation:
    """The representation that the client likes best; raises NotAcceptableError if there is none.

    What has no other form is only offered as it is.
    """
    for found in _acceptable(accept):
        if not (as_it_is and found.kind):
            return _with_pretty(found, pretty=pretty)
    raise _not_acceptable(_MEDIA_TYPES)


def negotiate_watch(accept: str) -> Representation:
    """The same for a stream of events, of which there is none in YAML."""
    found = next(_acceptable(accept), None)
    if found is None or found.media_type != JSON:
        raise _not_acceptable(_STREAMS)
    return replace(found, pretty=False)


def negotiate_error(accept: str, *, pretty: bool = False) -> Representation:
    """How to write a Status: never as anything else, and in JSON, as people like it, to whom no other way suits."""
    try:
        return negotiate(accept, pretty=pretty, as_it_is=True)
    except NotAcceptableError:
        return Representation(pretty=True)


def wants_pretty(query: Query, user_agent: str) -> bool:
    """Whether somebody is going to read this: they say so, or use what people use."""
    said = query.text("pretty")
    return said in _TRUE if said else user_agent.startswith(_HUMANS)


def _acceptable(accept: str) -> Iterator[Representation]:
    """All that is offered and accepted, the best first."""
    if not accept:
        yield _PLAIN
    for clause in parse_accept(accept):
        for media_type in _MEDIA_TYPES:
            if clause.covers(media_type) and (found := _offered(media_type, clause.parameters)):
                yield found


def _offered(media_type: str, parameters: dict[str, str]) -> Representation | None:
    streams = ("", "watch") if media_type == JSON else ("",)
    kind, group, version = (parameters.get(name, "") for name in ("as", "g", "v"))
    if parameters.get("sv") or parameters.get("stream", "") not in streams or not _converts(kind, group, version):
        return None
    return Representation(
        media_type,
        kind=kind,
        api_version=f"{group}/{version}" if kind else "",
        drops_managed_fields=_MANAGED_FIELDS in parameters.get("drop", "").split("+"),
        pretty=media_type == JSON and parameters.get("pretty") == "1",
    )


def _converts(kind: str, group: str, version: str) -> bool:
    """Whether an object can be turned into that; it always can into nothing else."""
    if not kind and not group and not version:
        return True
    return kind in (PARTIAL_OBJECT, PARTIAL_LIST) and group == "meta.k8s.io" and version in _META_VERSIONS


def _with_pretty(found: Representation, *, pretty: bool) -> Representation:
    return replace(found, pretty=True) if pretty and found.media_type == JSON else found


def _not_acceptable(offers: tuple[str, ...]) -> NotAcceptableError:
    return NotAcceptableError(f"only the following media types are accepted: {', '.join(offers)}")

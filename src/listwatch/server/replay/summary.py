"""What a recording contains: its resources, its duration and its size, found without decoding objects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from listwatch.meta import GroupVersionResource, Resource
from listwatch.recording.records import Data, Entry, Request, Start
from listwatch.server.replay.timeline import resource_of
from listwatch.server.schema.schema import builtin_schema

__all__ = ["RecordedResource", "RecordingSummary", "positions", "summarize"]

# Writes are rejected, but some programs ignore resources that cannot be patched.
_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
_KIND = re.compile(rb'"kind"\s*:\s*"([A-Za-z0-9]+)"')
_NAMESPACE = re.compile(rb'"namespace"\s*:\s*"[^"]')
_OTHER_KINDS = ("Status", "PartialObjectMetadata", "PartialObjectMetadataList")


@dataclass(frozen=True, slots=True)
class RecordingSummary:
    """What a recording contains."""

    created: float
    """When it begins, in seconds since the epoch."""
    duration: float
    """In seconds."""
    resources: tuple[Resource, ...]
    requests: int
    size: int
    """Bytes that were received."""
    problem: str = ""
    """Why the rest of the file cannot be read; empty if all of it can."""


@dataclass(slots=True)
class RecordedResource:
    """A resource of a recording."""

    gvr: GroupVersionResource
    kind: str = ""
    namespaced: bool | None = None
    only_gets: bool = True
    only_metadata: bool = True

    def read(self, body: bytes) -> None:
        """Look for the kind in the first bytes of a body, and for a namespace."""
        if not self.kind and (found := _KIND.search(body)) and (kind := found[1].decode()) not in _OTHER_KINDS:
            self.kind = kind.removesuffix("List") or kind
        if self.namespaced is None and self.kind and b'"uid"' in body:
            self.namespaced = bool(_NAMESPACE.search(body))

    def resource(self) -> Resource:
        built_in = next((each for each in builtin_schema().resources if each.gvr == self.gvr), None)
        if built_in:
            return built_in
        kind = self.kind or self.gvr.resource.capitalize()
        return Resource(
            self.gvr.group,
            self.gvr.version,
            kind,
            self.gvr.resource,
            namespaced=self.namespaced is not False,
            verbs=_VERBS,
        )


def positions(entries: Iterable[Entry]) -> Iterator[tuple[float, Entry]]:
    """Yield each record with its time in seconds since the start of the recording; never less than the one before."""
    first: float | None = None
    offset = position = 0.0
    for entry in entries:
        record = entry.record
        if isinstance(record, Start):
            first = record.created if first is None else first
            offset = record.created - first
            at = 0.0
        else:
            at = record.at
        position = max(position, offset + at)
        yield position, entry


def summarize(
    entries: Iterable[Entry], *, problem: str = ""
) -> tuple[RecordingSummary, dict[Resource, RecordedResource]]:
    """Read all records; returns also which resources were only got, or only read as metadata."""
    found: dict[GroupVersionResource, RecordedResource] = {}
    by_number: dict[int, RecordedResource] = {}
    created = duration = 0.0
    requests = size = 0
    for position, entry in positions(entries):
        duration = position
        match entry.record:
            case Start(created=when):
                created = created or when
                by_number.clear()
            case Request() as request:
                requests += 1
                gvr = resource_of(request)
                known = by_number[request.id] = found.setdefault(gvr, RecordedResource(gvr))
                known.only_gets &= request.verb == "get"
                known.only_metadata &= request.metadata_only
                if request.namespace:
                    known.namespaced = True
            case Data(id=number):
                size += len(entry.body)
                if number in by_number:
                    by_number[number].read(entry.body)
            case _:
                pass
    resources = {each.resource(): each for each in found.values()}
    return RecordingSummary(created, duration, tuple(resources), requests, size, problem), resources

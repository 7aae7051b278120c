"""Applies the records of a recording, in order: responses and failures.

    request ─▶ response ─▶ data … ─▶ end        a list: its pages are collected, then replace the contents of a scope
                                                a watch: events, bookmarks, errors and the end of the stream

A resource is unavailable from a failed request until the next successful one, for the clients of the same namespace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from listwatch.api.statuses import error_from_code, error_from_status
from listwatch.errors import APIError, DecodeError
from listwatch.json_value import JSONObject
from listwatch.meta import GroupVersionResource
from listwatch.recording.records import Data, End, Entry, Request, Response, Start
from listwatch.server.replay.received_objects import (
    EventSplitter,
    ReceivedEvent,
    ReceivedList,
    read_list,
    read_object,
    read_status,
)
from listwatch.server.replay.replayed_resource import ReplayedResource, Scope

__all__ = ["Effects", "NoEffects", "Timeline", "resource_of"]

_EXPIRED = 410
# Other 4xx errors are caused by the request itself, which other clients do not send.
_UNAVAILABLE = frozenset({401, 403, 404, 408, 429})
_TIMEOUT_TOLERANCE = 5.0
"""A watch that ends this many seconds before its timeout, or later, has ended by the timeout."""


class Effects(Protocol):
    """What clients of a resource observe, apart from changes of its objects."""

    def bookmark(self, resource: ReplayedResource) -> None:
        """Watches get a bookmark."""

    def interrupt(
        self, resource: ReplayedResource, namespace: str, *, error: APIError | None = None, cut: bool = False
    ) -> None:
        """Watches end."""

    def fail(self, resource: ReplayedResource, namespace: str, verb: str, error: APIError | None) -> None:
        """Requests fail from now on, with an error or without a response."""

    def recover(self, resource: ReplayedResource, namespace: str) -> None:
        """Requests succeed again."""


class NoEffects:
    """Ignores what happens to clients, while a recording is loaded."""

    def bookmark(self, resource: ReplayedResource) -> None:
        return

    def interrupt(
        self, resource: ReplayedResource, namespace: str, *, error: APIError | None = None, cut: bool = False
    ) -> None:
        return

    def fail(self, resource: ReplayedResource, namespace: str, verb: str, error: APIError | None) -> None:
        return

    def recover(self, resource: ReplayedResource, namespace: str) -> None:
        return


def resource_of(request: Request) -> GroupVersionResource:
    return GroupVersionResource(request.group, request.version, request.resource)


@dataclass(slots=True)
class _Exchange:
    """A request, and what has been received for it."""

    request: Request
    resource: ReplayedResource
    scope: Scope
    response: Response | None = None
    pieces: list[bytes] = field(default_factory=list, repr=False)
    splitter: EventSplitter | None = None
    """For a watch that has begun."""
    initial: list[ReceivedEvent] | None = None
    """The initial events of a watch until they are complete."""
    has_initial_events: bool = False
    """Whether a watch is sending the existing objects, without marking their end."""
    has_failed: bool = False


class Timeline:
    """Applies records to resources, and reports what happens to clients."""

    def __init__(self, resources: Mapping[GroupVersionResource, ReplayedResource], effects: Effects) -> None:
        self._resources = resources
        self._effects = effects
        self._open: dict[int, _Exchange] = {}
        self._pages: dict[tuple[GroupVersionResource, Scope], list[ReceivedList]] = {}
        self.left_out = 0
        """Events and responses that could not be decoded."""

    def apply(self, entry: Entry) -> None:
        """Apply the next record."""
        match entry.record:
            case Request() as request:
                self._begin(request)
            case Response() as response:
                if exchange := self._open.get(response.id):
                    self._respond(exchange, response)
            case Data(id=number):
                if exchange := self._open.get(number):
                    self._receive(exchange, entry.body)
            case End() as end:
                if exchange := self._open.pop(end.id, None):
                    self._end(exchange, end)
            case Start():
                self._open.clear()  # numbers start again; the clients of the run before it have ended
                self._pages.clear()
            case _:
                pass

    def _begin(self, request: Request) -> None:
        resource = self._resources.get(resource_of(request))
        if resource is None or (resource.is_loading and resource.is_loaded):
            return
        if (request.verb == "get" and not resource.only_gets) or (request.metadata_only and not resource.only_metadata):
            return
        query = request.query
        scope = Scope(
            request.namespace,
            request.name,
            query.get("labelSelector", ""),
            query.get("fieldSelector", ""),
            query.get("shardSelector", ""),
        )
        self._open[request.id] = _Exchange(request, resource, scope)

    def _respond(self, exchange: _Exchange, response: Response) -> None:
        exchange.response = response
        if response.status >= 300 or exchange.request.verb != "watch":
            return
        exchange.splitter = EventSplitter(response.media_type, exchange.resource.resource)
        query = exchange.request.query
        version = query.get("resourceVersion", "")
        if query.get("sendInitialEvents") == "true" and query.get("allowWatchBookmarks") == "true":
            exchange.initial = []
        elif version in ("", "0"):
            exchange.has_initial_events = query.get("sendInitialEvents") != "false"
        elif version.isdecimal():
            exchange.resource.start_at(exchange.scope, int(version))
        self._effects.recover(exchange.resource, exchange.scope.namespace)

    def _receive(self, exchange: _Exchange, body: bytes) -> None:
        if exchange.splitter is None:
            exchange.pieces.append(body)
            return
        before = exchange.splitter.left_out
        changes: list[ReceivedEvent] = []
        for event in exchange.splitter.feed(body):
            if event.object is not None and exchange.initial is None:
                if exchange.has_initial_events and event.type != "ADDED":
                    self._apply(exchange, changes)
                    changes, exchange.has_initial_events = [], False
                changes.append(event)
                continue
            self._apply(exchange, changes)
            changes = []
            self._receive_other(exchange, event)
        self._apply(exchange, changes)
        self.left_out += exchange.splitter.left_out - before

    def _apply(self, exchange: _Exchange, changes: list[ReceivedEvent]) -> None:
        if changes:
            exchange.resource.apply_events(exchange.scope, changes, initial=exchange.has_initial_events)

    def _receive_other(self, exchange: _Exchange, event: ReceivedEvent) -> None:
        """Apply a bookmark, an error, or an initial event."""
        resource, scope = exchange.resource, exchange.scope
        if event.status is not None:
            exchange.has_failed = True
            self._watch_failed(exchange, error_from_status(event.status))
        elif event.object is not None:
            assert exchange.initial is not None
            exchange.initial.append(event)
        elif exchange.initial is not None:
            if event.ends_initial_events:
                objects = [each.object for each in exchange.initial if each.object]
                exchange.initial = None
                resource.apply_list(scope, ReceivedList(event.version, objects))
                self._effects.bookmark(resource)
        else:
            exchange.has_initial_events = False
            resource.advance(event.version, scope)
            self._effects.bookmark(resource)

    # --- The end of an exchange

    def _end(self, exchange: _Exchange, end: End) -> None:
        if exchange.splitter is not None:
            self._end_watch(exchange, exchange.splitter, end)
        elif exchange.response is not None:
            body = b"".join(exchange.pieces)
            if exchange.response.status >= 300:
                self._reject(exchange, exchange.response, body)
            else:
                self._complete(exchange, exchange.response, body)
        elif end.how != "closed" and exchange.request.verb != "get":
            self._effects.fail(exchange.resource, exchange.scope.namespace, exchange.request.verb, None)

    def _end_watch(self, exchange: _Exchange, splitter: EventSplitter, end: End) -> None:
        if exchange.has_failed or end.how == "closed":
            return
        is_cut = splitter.has_partial_event or end.how != "complete"
        if not is_cut and self._has_timed_out(exchange, end):
            return  # each client has a timeout of its own
        self._effects.interrupt(exchange.resource, exchange.scope.namespace, cut=is_cut)

    def _has_timed_out(self, exchange: _Exchange, end: End) -> bool:
        seconds = exchange.request.query.get("timeoutSeconds", "")
        return seconds.isdecimal() and end.at - exchange.request.at >= int(seconds) - _TIMEOUT_TOLERANCE

    def _reject(self, exchange: _Exchange, response: Response, body: bytes) -> None:
        status = read_status(body, response.media_type)
        error = _error_of(status, response)
        if exchange.request.verb == "get":
            if response.status == 404:
                exchange.resource.apply_object(exchange.scope, None)
        elif response.status == _EXPIRED:
            if exchange.request.verb == "watch":
                self._watch_failed(exchange, error)
        elif response.status in _UNAVAILABLE or response.status >= 500:
            self._effects.fail(exchange.resource, exchange.scope.namespace, exchange.request.verb, error)

    def _watch_failed(self, exchange: _Exchange, error: APIError) -> None:
        if error.status_code == _EXPIRED:
            exchange.resource.expire()
        self._effects.interrupt(exchange.resource, exchange.scope.namespace, error=error)

    def _complete(self, exchange: _Exchange, response: Response, body: bytes) -> None:
        resource, scope = exchange.resource, exchange.scope
        try:
            if exchange.request.verb == "get":
                resource.apply_object(scope, read_object(body, response.media_type, resource.resource))
                return
            page = read_list(body, response.media_type, resource.resource)
        except DecodeError:
            self.left_out += 1
            return
        self._effects.recover(resource, scope.namespace)
        key = resource.resource.gvr, scope
        if "continue" not in exchange.request.query:
            self._pages[key] = []
        pages = self._pages.setdefault(key, [])
        pages.append(page)
        if page.continues:
            return
        del self._pages[key]
        objects = [each for page in pages for each in page.objects]
        if all(each.version == page.version for each in pages):
            resource.apply_list(scope, ReceivedList(page.version, objects))
        else:
            # Its pages are from several versions, so what is missing need not be deleted.
            events = [ReceivedEvent("ADDED", each.version, each) for each in objects]
            resource.apply_events(scope, events, initial=True)


def _error_of(status: JSONObject, response: Response) -> APIError:
    seconds = response.retry_after or None
    if status.get("kind") == "Status":
        return error_from_status(status, status_code=response.status, retry_after=seconds)
    return error_from_code(response.status, "", verb="GET", retry_after=seconds)

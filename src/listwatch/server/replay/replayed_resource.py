"""The state of one recorded resource: what all recorded lists and watches of it contain together.

Recordings may contain several scopes of a resource, such as two namespaces, or all objects and those with a label. An
object exists as long as one scope contains it. The storage has the versions that were recorded; where the streams of
two scopes did not arrive in the order of their versions, a later event gets the next free revision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from listwatch.meta import ObjectKey, Resource
from listwatch.server.codec.representations import with_resource_version
from listwatch.server.replay.received_objects import ReceivedEvent, ReceivedList, ReceivedObject
from listwatch.server.storage.storage import Storage
from listwatch.server.storage.values import Event, EventType, Stored

__all__ = ["ReplayedResource", "Scope"]

_NOTHING = b"{}"


class Scope(NamedTuple):
    """The part of a resource that a request reads."""

    namespace: str = ""
    name: str = ""
    label_selector: str = ""
    field_selector: str = ""
    shard_selector: str = ""


class _ScopeState:
    """The keys and versions of the objects in a scope, and the version up to which they are known."""

    __slots__ = ("progress", "versions")

    def __init__(self) -> None:
        self.versions: dict[str, int] = {}
        self.progress = 0


class _Change(NamedTuple):
    type: EventType
    key: ObjectKey
    version: int
    value: bytes


class ReplayedResource:
    """Applies recorded lists and events of a resource to a storage.

    It is loaded first: the lists of all scopes that precede the first event are its initial state, whenever they
    were received. `finish_loading` stores it; from then on, lists and events change it.
    """

    def __init__(
        self, resource: Resource, storage_id: str, *, only_gets: bool = False, only_metadata: bool = False
    ) -> None:
        self.resource = resource
        self.storage = Storage(max_age=math.inf)
        self.only_gets = only_gets
        """Whether the recording contains only single objects of the resource, and no lists and watches."""
        self.only_metadata = only_metadata
        """Whether the recording contains only the metadata of its objects."""
        self.is_loading = True
        self.is_loaded = False
        """Whether the initial state is complete, so that no more records need to be read for it."""
        self._storage_id = storage_id
        self._scopes: dict[Scope, _ScopeState] = {}
        self._first_lists: dict[Scope, ReceivedList] = {}
        self._versions: dict[str, int] = {}
        """The recorded versions of all objects in the storage, by path."""

    def __repr__(self) -> str:
        return f"<ReplayedResource {self.resource.gvr}: {len(self._versions)} objects at {self.storage.revision}>"

    # --- Loading

    def finish_loading(self) -> None:
        """Store the initial state."""
        self.is_loading, self.is_loaded = False, True
        newest: dict[str, ReceivedObject] = {}
        revision = self.storage.revision
        for scope, received in self._first_lists.items():
            state = self._state(scope)
            state.versions = {str(each.key): each.version for each in received.objects}
            state.progress = received.version
            revision = max(revision, received.version)
            for each in received.objects:
                path = str(each.key)
                if path not in newest or newest[path].version < each.version:
                    newest[path] = each
        self._first_lists.clear()
        self._versions = {path: each.version for path, each in newest.items()}
        revision = max([revision, *self._versions.values()])
        events = (
            Event("ADDED", self._storage_id, Stored(each.key, each.value, each.version), None, 0.0)
            for each in newest.values()
        )
        self.storage.restore(events, revision=revision, compacted=revision)

    # --- Recorded responses

    def apply_list(self, scope: Scope, received: ReceivedList) -> None:
        """Replace the contents of a scope. A list that is older than what is known changes nothing."""
        if self.is_loading:
            if not self.is_loaded:
                self._first_lists.setdefault(scope, received)
            return
        state = self._state(scope)
        if received.version < state.progress:
            return
        listed = {str(each.key): each for each in received.objects}
        gone = [path for path in state.versions if path not in listed]
        changed = sorted((each for each in received.objects if self._is_news(each)), key=lambda each: each.version)
        state.versions = {path: each.version for path, each in listed.items()}
        state.progress = received.version
        changes: list[_Change] = [self._put(each) for each in changed]
        changes += [self._delete(path, received.version) for path in gone if not self._is_in_a_scope(path)]
        self._append(changes)
        self.advance(received.version)

    def apply_events(self, scope: Scope, events: Sequence[ReceivedEvent], *, initial: bool = False) -> None:
        """Apply events of a watch that arrived together; `initial` ones are in no order, and may be old."""
        if self.is_loading:
            # A watch from a version, without a list before it, starts with no objects.
            self.is_loaded = self.is_loaded or not initial
            return
        state = self._state(scope)
        changes: list[_Change] = []
        for event in events:
            found = event.object
            if found is None:
                continue
            path = str(found.key)
            if initial:
                if found.version <= max(state.versions.get(path, 0), state.progress):
                    continue
            elif event.version <= state.progress:
                continue  # received before, from another watch of the same scope
            else:
                state.progress = event.version
            if event.type != "DELETED":
                state.versions[path] = found.version
                if self._is_news(found):
                    changes.append(self._put(found))
            elif state.versions.pop(path, 0) and not self._is_in_a_scope(path):
                changes.append(self._delete(path, event.version))
        self._append(changes)

    def apply_object(self, scope: Scope, found: ReceivedObject | None) -> None:
        """Apply a single object that was read; None if it did not exist."""
        if self.is_loading:
            return
        path = str(found.key) if found else f"{scope.namespace}/{scope.name}".lstrip("/")
        if found is not None and self._is_news(found):
            self._append([self._put(found)])
        elif found is None and path in self._versions:
            self._append([self._delete(path, 0)])

    def start_at(self, scope: Scope, version: int) -> None:
        """Record that a watch started at this version."""
        if self.is_loading:
            return
        state = self._state(scope)
        if not state.progress:
            state.progress = version
            self.advance(version)

    def advance(self, version: int, scope: Scope | None = None) -> None:
        """Record that there are no other changes up to this version."""
        if self.is_loading:
            return
        if scope is not None:
            state = self._state(scope)
            state.progress = max(state.progress, version)
        self.storage.advance(version)

    def expire(self) -> None:
        """Drop the history: a watch from an earlier version gets a 410."""
        if not self.is_loading:
            self.storage.advance(self.storage.revision + 1)
            self.storage.compact(self.storage.revision)

    # --- Internal

    def _state(self, scope: Scope) -> _ScopeState:
        return self._scopes.setdefault(scope, _ScopeState())

    def _is_news(self, found: ReceivedObject) -> bool:
        return found.version > self._versions.get(str(found.key), 0)

    def _is_in_a_scope(self, path: str) -> bool:
        return any(path in state.versions for state in self._scopes.values())

    def _put(self, found: ReceivedObject) -> _Change:
        path = str(found.key)
        type_: EventType = "MODIFIED" if path in self._versions else "ADDED"
        self._versions[path] = found.version
        return _Change(type_, found.key, found.version, found.value)

    def _delete(self, path: str, version: int) -> _Change:
        del self._versions[path]
        return _Change("DELETED", ObjectKey.parse(path), version, b"")

    def _append(self, changes: Sequence[_Change]) -> None:
        """Store changes at their versions. One that is not newer than the storage gets its next revision."""
        last, base = 0, self.storage.revision
        appended: list[tuple[EventType, str, Stored]] = []
        written: dict[ObjectKey, bytes] = {}
        for change in changes:
            last = max(last, change.version if change.version > base else base + 1)
            value = change.value
            if change.type == "DELETED":
                existing = self.storage.get(self._storage_id, change.key)
                # It may have been added by a change before this one.
                previous = written.get(change.key) or (existing.value if existing else _NOTHING)
                value = with_resource_version(previous, last)
            written[change.key] = value
            appended.append((change.type, self._storage_id, Stored(change.key, value, last)))
        self.storage.append(appended)

"""One cached object as the page shows it: YAML without secrets, its owners, and its events."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

import msgspec

from listwatch.client.resources.client_set import ClientSet
from listwatch.clock import Clock, time_limit
from listwatch.errors import ListWatchError
from listwatch.informer.shared_informer import AnyInformer
from listwatch.inspector.reconcile_history import ReconcileHistory
from listwatch.inspector.redaction import Redactor, redacted_tree
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import Event
from listwatch.objects.metadata import OwnerReference
from listwatch.objects.object import Object

__all__ = [
    "EventView",
    "EventsView",
    "ObjectView",
    "OwnerView",
    "events_of",
    "holds_secrets",
    "owner_references",
    "view_of",
]

_MAX_YAML = 400_000
"""Characters of YAML that are shown."""
_MAX_OWNERS = 30
_MAX_DEPTH = 8
_MAX_EVENTS = 100
_EVENTS_TIMEOUT = 5.0


class OwnerView(msgspec.Struct, frozen=True):
    """An owner of the object, or of an owner; `informer` and `key` are set if it is cached."""

    depth: int
    api_version: str
    kind: str
    name: str
    is_controller: bool
    informer: str
    key: str


class ObjectView(msgspec.Struct, frozen=True):
    """An object of a cache."""

    informer: str
    source: str
    kind: str
    key: str
    resource_version: str
    yaml: str
    is_shortened: bool
    hides_data: bool
    owners: list[OwnerView]
    controllers: list[str]
    """The controllers that have reconciled this key."""
    reconcile_key: str
    """The key of its reconciles, which has the cluster of the informer."""


class EventView(msgspec.Struct, frozen=True):
    """One event about an object."""

    type: str
    reason: str
    message: str
    source: str
    count: int
    last_seen: float | None


class EventsView(msgspec.Struct, frozen=True):
    """The events about an object, newest first; or why they could not be read."""

    events: list[EventView]
    error: str = ""


# --- YAML -------------------------------------------------------------------------------------------------------------


async def view_of(
    identifier: str,
    key: str,
    informers: Mapping[str, AnyInformer],
    redactor: Redactor,
    histories: Mapping[str, ReconcileHistory],
) -> ObjectView | None:
    """The object with this key in the cache of that informer; None if there is none.

    `histories` are those of the controllers, by name.
    """
    informer = informers[identifier]
    item = informer.indexer._find(key)
    if item is None:
        return None
    is_secret = holds_secrets(informer, item)
    namespace, _, name = key.rpartition("/")
    own_key = ObjectKey(namespace, name)
    reconciled = own_key.in_cluster(informer._cluster) if informer._cluster else own_key
    # In a thread: writing YAML takes about a second per megabyte.
    yaml = redactor.without_known(await asyncio.to_thread(_yaml_of, item, is_secret=is_secret))
    return ObjectView(
        informer=identifier,
        source=informer.name,
        kind=item.kind if isinstance(item, Object) else type(item).__name__,
        key=key,
        resource_version=item.resource_version,
        yaml=yaml[:_MAX_YAML],
        is_shortened=len(yaml) > _MAX_YAML,
        hides_data=is_secret,
        owners=[*_owners_of(item, informers)],
        controllers=[name for name, each in histories.items() if each.of_key(reconciled)],
        reconcile_key=str(reconciled),
    )


def holds_secrets(informer: AnyInformer, item: object) -> bool:
    """Whether the object is a Secret, by its own kind, or by the resource of its informer or of its sources."""
    kinds = [item.kind, informer.kind.__name__] if isinstance(item, Object) else []
    sources = [getattr(each.reflector._source, "resource", None) for each in informer._pipelines]
    plurals = [getattr(each, "plural", "") for each in (*sources, getattr(informer.kind, "resource", None))]
    names = {informer._name_in_cluster.partition(".")[0], *plurals}
    return "Secret" in kinds or "secrets" in names


def _yaml_of(item: object, *, is_secret: bool) -> str:
    from listwatch.objects.yaml.manifests import write

    try:
        tree = _tree_of(item)
    except (ListWatchError, TypeError, ValueError, RecursionError) as error:
        # Not the message: it may quote the object.
        return f"# this object cannot be shown: {type(error).__name__}\n"
    return write(redacted_tree(tree, is_secret=is_secret))


def _tree_of(item: object) -> JSON:
    if isinstance(item, Object):
        tree: JSONObject = item.copy().to_dict()  # of a copy, so that nothing is decoded in the cached object
        return {name: tree[name] for name in ("apiVersion", "kind", "metadata") if name in tree} | tree
    # An object of another source, such as a dataclass of etcd values.
    built: JSON = msgspec.to_builtins(item, str_keys=True)
    return built if isinstance(built, dict) else {"value": built}


# --- owners -----------------------------------------------------------------------------------------------------------


def _owners_of(item: object, informers: Mapping[str, AnyInformer]) -> Iterator[OwnerView]:
    """The owners, each followed by its own owners as far as they are cached."""
    if not isinstance(item, Object):
        return
    seen: set[str] = set()
    pending = [(0, reference, item.namespace) for reference in reversed(owner_references(item))]
    while pending and len(seen) < _MAX_OWNERS:
        depth, reference, namespace = pending.pop()
        if reference.uid in seen:
            continue
        seen.add(reference.uid)
        identifier, owner = _cached(reference, namespace, informers)
        yield OwnerView(
            depth=depth,
            api_version=reference.api_version,
            kind=reference.kind,
            name=reference.name,
            is_controller=bool(reference.controller),
            informer=identifier,
            key=owner.cache_key if owner is not None else "",
        )
        if owner is not None and depth < _MAX_DEPTH:
            pending += [(depth + 1, each, owner.namespace) for each in reversed(owner_references(owner))]


def owner_references(item: Object) -> list[OwnerReference]:
    """The owner references of an object; nothing stays decoded in it."""
    try:
        return [*item.copy().metadata.owner_references]
    except ListWatchError:
        return []  # damaged metadata


def _cached(
    reference: OwnerReference, namespace: str, informers: Mapping[str, AnyInformer]
) -> tuple[str, Object | None]:
    """The informer and the object of an owner; it is in the same namespace, or cluster-scoped."""
    for identifier, informer in informers.items():
        for key in (f"{namespace}/{reference.name}", reference.name):
            found = informer.indexer._find(key)
            if isinstance(found, Object) and found.uid == reference.uid:
                return identifier, found
    return "", None


# --- events -----------------------------------------------------------------------------------------------------------


async def events_of(item: object, client: ClientSet | None, redactor: Redactor, clock: Clock) -> EventsView:
    """Read the events about an object from the API server."""
    if not isinstance(item, Object) or not item.uid:
        return EventsView([], "only API objects have events")
    if client is None:
        return EventsView([], "events need a client, and this inspector has none")
    try:
        async with time_limit(clock, _EVENTS_TIMEOUT):
            # Events about cluster-scoped objects are in the namespace default.
            events = client.core_v1.events(item.namespace or "default")
            found = await events.list(field_selector={"involvedObject.uid": item.uid}, limit=_MAX_EVENTS)
    except TimeoutError:
        return EventsView([], f"the API server did not respond within {_EVENTS_TIMEOUT:g} s")
    except ListWatchError as error:
        return EventsView([], redactor.error(error))
    views = [_event_view(each, redactor) for each in found]
    return EventsView(sorted(views, key=lambda each: each.last_seen or 0.0, reverse=True))


def _event_view(event: Event, redactor: Redactor) -> EventView:
    seen = event.last_timestamp or event.event_time or event.first_timestamp or event.metadata.creation_timestamp
    source = event.reporting_component or event.source.component
    return EventView(
        type=event.type or "",
        reason=event.reason or "",
        message=redactor(event.message or ""),
        source=source or "",
        count=event.count or (event.series.count if event.series and event.series.count else 1),
        last_seen=None if seen is None else seen.timestamp(),
    )

"""Finds cached objects by name, namespace and labels, in slices: the event loop is never blocked for long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

import msgspec

from listwatch.informer.shared_informer import AnyInformer
from listwatch.inspector.object_view import holds_secrets, owner_references
from listwatch.objects.object import Object
from listwatch.selectors import LabelSelector, parse_label_selector
from listwatch.tasks.cooperative import TimeSlice

__all__ = ["FoundObject", "ObjectQuery", "SearchResult", "search", "search_owned"]

MAX_RESULTS = 200

_SLICE = 200
"""How many objects are compared between two checks of the time."""
_MAX_LABELS = 6


class FoundObject(msgspec.Struct, frozen=True):
    """One object that was found."""

    informer: str
    source: str
    key: str
    namespace: str
    name: str
    resource_version: str
    labels: Mapping[str, str]


class SearchResult(msgspec.Struct, frozen=True):
    """The best matches, and how many objects match."""

    objects: list[FoundObject]
    total: int
    searched: int


class ObjectQuery:
    """A part of the name, a namespace and a label selector; what is empty matches every object."""

    def __init__(self, *, name: str = "", namespace: str = "", labels: str = "", limit: int = 50) -> None:
        self._name = name.strip().lower()
        self._prefix = f"{namespace.strip()}/" if namespace.strip() else ""
        self._labels = parse_label_selector(labels) if labels.strip() else None
        self.limit = max(1, min(limit, MAX_RESULTS))

    @property
    def labels(self) -> LabelSelector | None:
        return self._labels

    def rank(self, key: str) -> int | None:
        """0 for the exact name, 1 for its beginning, 2 for a part of it; None for no match."""
        if not key.startswith(self._prefix):
            return None
        if not self._name:
            return 2
        name = key.rpartition("/")[2].lower()
        if self._name not in name:
            # A whole key finds its object, too.
            return 0 if self._name == key.lower() else None
        return 0 if name == self._name else 1 if name.startswith(self._name) else 2


async def search(
    informers: Mapping[str, AnyInformer], query: ObjectQuery, *, time_slice: TimeSlice | None = None
) -> SearchResult:
    """Search the caches of these informers, which are given by id."""
    ranked: tuple[list[FoundObject], ...] = ([], [], [])
    total = searched = 0
    time_slice = time_slice or TimeSlice()
    for identifier, informer in informers.items():
        remaining = iter(informer.indexer.keys())
        while keys := [*islice(remaining, _SLICE)]:
            searched += len(keys)
            for rank, item in _matches(informer, keys, query):
                total += 1
                if len(ranked[rank]) < query.limit:
                    ranked[rank].append(_found(identifier, informer, item))
            await time_slice.checkpoint()
    best = [each for found in ranked for each in found][: query.limit]
    return SearchResult(best, total, searched)


async def search_owned(informers: Mapping[str, AnyInformer], owner: object, *, limit: int = 50) -> SearchResult:
    """Search the cached objects that this object owns."""
    found: list[FoundObject] = []
    total = searched = 0
    uid = owner.uid if isinstance(owner, Object) else ""
    time_slice = TimeSlice()
    for identifier, informer in informers.items() if uid else ():
        for item in informer.indexer.list():
            searched += 1
            if isinstance(item, Object) and _is_owned_by(item, uid):
                total += 1
                if len(found) < limit:
                    found.append(_found(identifier, informer, item))
            if time_slice.now() > time_slice.end:  # objects may be large
                await time_slice.checkpoint()
    return SearchResult(found, total, searched)


def _is_owned_by(item: Object, uid: str) -> bool:
    # Decoding the metadata of all objects would take long, and a copy of it would stay in memory.
    return uid.encode() in item._raw and uid in (each.uid for each in owner_references(item))


def _matches(informer: AnyInformer, keys: list[str], query: ObjectQuery) -> Iterator[tuple[int, object]]:
    find = informer.indexer._find
    for key in keys:
        rank = query.rank(key)
        if rank is None or (item := find(key)) is None:
            continue
        if query.labels is None or query.labels.matches(item.labels if isinstance(item, Object) else None):
            yield rank, item


def _found(identifier: str, informer: AnyInformer, item: object) -> FoundObject:
    key: str = getattr(item, "cache_key", "")
    namespace, _, name = key.rpartition("/")
    # A label of a Secret may be a copy of its data.
    labels = item.labels if isinstance(item, Object) and not holds_secrets(informer, item) else {}
    return FoundObject(
        informer=identifier,
        source=informer.name,
        key=key,
        namespace=namespace,
        name=name,
        resource_version=getattr(item, "resource_version", ""),
        labels=dict(islice(labels.items(), _MAX_LABELS)),
    )

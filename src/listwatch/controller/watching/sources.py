"""Connects the watches of a controller to informers, and maps changes to keys.

    informer ─▶ Source: predicate ─▶ keys ─▶ enqueue

`watches.py` has the options; `workers.py` has the queue; `own_writes.py` waits until the caches contain a write.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Literal, TypeVar

from listwatch.cache.field_values import field_text
from listwatch.clock import Clock, time_limit
from listwatch.controller.object_fields.owners import controller_of
from listwatch.controller.watching.watches import (
    AnyShardKey,
    ClusterChange,
    ClusterKeyFunction,
    Clusters,
    Every,
    KeyFunction,
    Kind,
    Watch,
    Watched,
    as_watch,
    group_kind_of,
    selects_cluster,
)
from listwatch.errors import BadKeyError, InformerStoppedError, SyncTimeoutError, UsageError
from listwatch.factory.factory import CachePart, InformerHandle, SharedInformerFactory
from listwatch.informer.handlers import HandlerFunctions
from listwatch.informer.shared_informer import AnyInformer, HandlerRegistration, SharedIndexInformer
from listwatch.informer.validation import resource_of
from listwatch.inspector.reconcile_history import ReconcileHistory, Trigger
from listwatch.keyed import Cached, describe
from listwatch.meta import GroupKind, GroupResource, ObjectKey, split_api_version
from listwatch.objects.object import Object
from listwatch.selectors import parse_field_selector, parse_label_selector
from listwatch.workqueue.queue import LOW_PRIORITY

__all__ = ["Enqueue", "Source", "Sources", "key_from", "keys_from"]

E = TypeVar("E")

Enqueue = Callable[[Iterable[ObjectKey], int], None]
Role = Literal["main", "owned", "watched"]
"""Objects that are reconciled themselves, objects that belong to one of those, or others."""
ReportFailure = Callable[[BaseException, str], None]


PartOf = Callable[[Role, AnyShardKey | None], CachePart | None]
"""Returns the part of the objects that is cached, by role and the `shard_key` of a watch; None for all."""


class Source:
    """Enqueues the keys of changed objects, from `open` until `close`.

    An exception of a predicate or of a key function is reported and affects no other change.
    """

    def __init__(self, watch: Watch, keys: KeyFunction, *, role: Role = "watched") -> None:
        self.watch = watch
        self._keys = keys
        # Without a shard key: a key function may map an object to a key of any other shard, so that all are needed.
        self.role: Role = role if watch.keys is None and watch.cluster_keys is None else "watched"
        self._part: CachePart | None = None
        self._enqueue: Enqueue
        self._report: ReportFailure
        self._labels = parse_label_selector(watch.label_selector)
        self._fields = parse_field_selector(watch.field_selector)
        self._namespaces: tuple[str, ...] = ("",)
        self._informer: AnyInformer | None = None
        self._handle: InformerHandle[Any] | None = None
        self._registration: HandlerRegistration[Any] | None = None
        self._deletion_waiters: dict[ObjectKey, list[Callable[[], object]]] = {}
        self.on_deleted: Callable[[Cached], object] | None = None
        """Called with each deleted object, before its key is enqueued."""

    def __repr__(self) -> str:
        return f"<Source of {self.watch}>"

    # --- lifecycle ---------------------------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        return self._informer is not None

    @property
    def informer(self) -> AnyInformer:
        if self._informer is None:
            raise UsageError(f"the cache of {self.watch} does not exist yet: start the controller first")
        return self._informer

    def open(
        self,
        factory: SharedInformerFactory | None,
        namespaces: tuple[str, ...],
        *,
        enqueue: Enqueue,
        report: ReportFailure,
        name: str = "",
        history: ReconcileHistory | None = None,
        part_of: PartOf = lambda *_: None,
    ) -> None:
        """Register a handler with the given informer, or with a shared one of the factory.

        `name` is that of the handler. A history records which change enqueued a key. `part_of` returns the part of the
        objects that is cached; None for all.
        """
        self._enqueue, self._report = enqueue, report
        watch = self.watch
        if isinstance(watch.of, SharedIndexInformer):
            self._informer = watch.of
        elif factory is None:
            raise UsageError(f"cannot watch {watch}: pass client= to the controller, or watch an existing informer")
        else:
            self._namespaces = self._watched_namespaces(namespaces)
            self._part = part_of(self.role, watch.shard_key)
            self._handle = factory._informer_of(
                watch.of,
                namespace=self._namespaces[0] if len(self._namespaces) == 1 else None,
                namespaces=self._namespaces if len(self._namespaces) > 1 else (),
                label_selector=watch.label_selector,
                field_selector=watch.field_selector,
                transform=watch.transform,
                indexers=watch.indexers,
                part=self._part,
            )
            self._informer = self._handle.informer
        handler: Source | _RecordedSource = self
        if history is not None:
            handler = _RecordedSource(self, history)
            self._enqueue = handler.enqueue
        self._registration = self._informer.add_handler(
            HandlerFunctions(
                on_add=handler._on_add, on_update=handler._on_update, on_delete=handler._on_delete, name=name
            )
        )

    def _watched_namespaces(self, default: tuple[str, ...]) -> tuple[str, ...]:
        """The namespaces of the watch; else all for a cluster-scoped kind; else those of the controller."""
        watch = self.watch
        if watch.namespaces or watch.namespace is not None:
            return tuple(watch.namespaces) or (watch.namespace or "",)
        resource = resource_of(watch.of) if isinstance(watch.of, type) else None
        return default if resource is None or resource.namespaced else ("",)

    async def wait_for_sync(self) -> None:
        """Wait until the keys of all existing objects are enqueued."""
        if self._registration is None:
            raise InformerStoppedError(f"{self.watch} is not watched: the controller stopped before its watches opened")
        await self._registration.wait_for_sync()

    async def close(self) -> None:
        if self._registration is not None:
            self._registration.remove()
        if self._handle is not None:
            await self._handle.release()

    # --- changes -----------------------------------------------------------------------------------------------------

    def _on_add(self, item: Cached, is_initial: bool) -> None:  # noqa: FBT001  # the signature of informer handlers
        self._changed(None, item, LOW_PRIORITY if is_initial else 0)

    def _on_update(self, old: Cached, new: Cached) -> None:
        is_resync = old.resource_version == new.resource_version
        self._changed(old, new, LOW_PRIORITY if is_resync else 0)

    def _on_delete(self, item: Cached) -> None:
        for notify in self._deletion_waiters.pop(_own_key(item), ()):
            notify()
        if self.on_deleted is not None:
            self.on_deleted(item)
        self._changed(item, None, 0)

    def _changed(self, old: Cached | None, new: Cached | None, priority: int) -> None:
        if self.watch.when is not None and not self._matches(old, new):
            return
        changed = old if new is None else new
        if self._keys is _own_key and isinstance(changed, Object):  # the usual case: both have the same key
            self._enqueue((changed.key,), priority)
            return
        # The keys of both: the owner of an object may have changed.
        keys = dict.fromkeys(key for item in (new, old) if item is not None for key in self._keys_of(item))
        self._enqueue(keys, priority)

    def _matches(self, old: Cached | None, new: Cached | None) -> bool:
        assert self.watch.when is not None
        try:
            return bool(self.watch.when(old, new))
        except BaseException as error:  # noqa: BLE001  # user code; SystemExit would end the event loop
            self._failed(error, "predicate", self.watch.when, new or old)
            return True  # a superfluous reconcile is harmless, a missing one is not

    def _keys_of(self, item: Cached) -> list[ObjectKey]:
        try:
            return keys_from(self._keys(item))
        except BaseException as error:  # noqa: BLE001  # user code; SystemExit would end the event loop
            self._failed(error, "key function", self._keys, item)
            return []

    def _failed(self, error: BaseException, what: str, function: object, item: Cached | None) -> None:
        name = getattr(function, "__qualname__", repr(function))
        self._report(error, f"{what} {name} failed on {'no object' if item is None else describe(item)}")

    # --- cache contents ----------------------------------------------------------------------------------------------

    def has_cached(self, *names: GroupResource | GroupKind) -> bool:
        """Whether this cache holds the objects of one of these resources or kinds."""
        resource = resource_of(self.informer.kind)
        known = {resource.group_resource} if resource else set()
        kind = group_kind_of(self.watch.of)
        own = self.informer._name_in_cluster
        return any(name in known or name == kind or str(name) == own for name in names)

    def _watches_namespace(self, namespace: str) -> bool:
        if not self._namespaces:  # those that the selector of the factory matches now
            return self.informer._watches_namespace(namespace)
        return not {"", namespace}.isdisjoint(self._namespaces)

    def covers(self, item: Object) -> bool:
        """Whether an object of this kind is selected by the watch."""
        if item.namespace and not self._watches_namespace(item.namespace):
            return False
        if self._part is not None and not self._part.selects(item):
            return False
        return self._labels.matches(item.labels) and self._fields.matches(partial(field_text, item))

    async def wait_deleted(self, key: ObjectKey, uid: str, *, clock: Clock, timeout: float) -> None:
        """Wait until the cache does not contain the object with this uid; raises TimeoutError."""
        cached = self.informer.indexer.get(key)
        if cached is None or (uid and cached.uid != uid):
            return
        deleted = asyncio.Event()
        # An informer of the blocking API calls its handlers in another thread.
        notify = partial(asyncio.get_running_loop().call_soon_threadsafe, deleted.set)
        waiters = self._deletion_waiters.setdefault(key, [])
        waiters.append(notify)
        try:
            async with time_limit(clock, timeout):
                await deleted.wait()
        finally:
            waiters.remove(notify)
            if not waiters and self._deletion_waiters.get(key) is waiters:
                del self._deletion_waiters[key]


class _RecordedSource:
    """Receives the changes for a source, and records them as the triggers of the keys that the source enqueues.

    One handler calls it for one change after another, so the last change is that of the keys.
    """

    def __init__(self, source: Source, history: ReconcileHistory) -> None:
        self._source = source
        self._history = history
        self._enqueue = source._enqueue
        self._trigger = Trigger("")

    def _on_add(self, item: Cached, is_initial: bool) -> None:  # noqa: FBT001  # the signature of informer handlers
        self._note("listed" if is_initial else "added", item)
        self._source._on_add(item, is_initial)

    def _on_update(self, old: Cached, new: Cached) -> None:
        self._note("resynced" if old.resource_version == new.resource_version else "updated", new)
        self._source._on_update(old, new)

    def _on_delete(self, item: Cached) -> None:
        self._note("deleted", item)
        self._source._on_delete(item)

    def _note(self, what: str, item: Cached) -> None:
        self._trigger = Trigger(what, str(self._source.watch), item.cache_key, item.resource_version)

    def enqueue(self, keys: Iterable[ObjectKey], priority: int) -> None:
        enqueued = [*keys]
        self._history.note(enqueued, self._trigger)
        self._enqueue(enqueued, priority)


class Sources:
    """All sources of one controller. The main source is that of `for_`."""

    def __init__(
        self,
        for_: Kind | None,
        owns: Sequence[Watched],
        watches: Sequence[Watched | Every | ClusterChange],
        *,
        name: str,
        clock: Clock,
        cluster: str = "",
        clusters: Clusters | None = None,
    ) -> None:
        """With `cluster`, those of its watches that select this cluster; their keys carry it.

        `clusters` is the selection of a watch without one.
        """
        self._name = name
        self._clock = clock
        self._cluster = cluster
        self._clusters = clusters
        self._for = None if for_ is None else as_watch(for_, "for_")
        self._main = None if self._for is None or not self._selects(self._for) else self._main_source(self._for)
        given = _checked_list(watches, "watches")
        self.timers = [each for each in given if isinstance(each, Every)]
        self.cluster_changes = [each for each in given if isinstance(each, ClusterChange)]
        owned = [as_watch(each, "owns") for each in _checked_list(owns, "owns")]
        watched = [as_watch(each, "watches") for each in given if not isinstance(each, Every | ClusterChange)]
        self.all = [
            *([] if self._main is None else [self._main]),
            *(self._owned_source(each) for each in owned if self._selects(each)),
            *(self._watched_source(each) for each in watched if self._selects(each)),
        ]
        self._is_open = False
        self._opened_or_closed = asyncio.Event()

    def _selects(self, watch: Watch) -> bool:
        """Whether the cluster is one of those of a watch."""
        return not self._cluster or selects_cluster(
            self._clusters if watch.clusters is None else watch.clusters, self._cluster
        )

    def _main_source(self, watch: Watch) -> Source:
        return Source(watch, self._keys_of(watch) or self._in_cluster(_own_key), role="main")

    def _keys_of(self, watch: Watch) -> KeyFunction | None:
        """The key function of a watch, whose keys carry the cluster; None if it has none."""
        if watch.cluster_keys is not None:
            return self._in_cluster(_with_cluster(watch.cluster_keys, self._cluster))
        return None if watch.keys is None else self._in_cluster(watch.keys)

    def _in_cluster(self, function: KeyFunction) -> KeyFunction:
        """A function whose keys carry the cluster of these sources, unless they have one."""
        if not self._cluster:
            return function

        def keys(item: Cached) -> list[ObjectKey]:
            return [each if each.cluster else each.in_cluster(self._cluster) for each in keys_from(function(item))]

        keys.__qualname__ = getattr(function, "__qualname__", repr(function))
        return keys

    def _owned_source(self, watch: Watch) -> Source:
        owner = None if self._for is None else group_kind_of(self._for.of)
        if owner is None:
            raise UsageError(
                f"owns={watch} needs the kind of the owner: pass for_= a class or an (apiVersion, kind) pair"
            )
        keys = self._keys_of(watch) or self._in_cluster(_owner_key(owner, self._is_namespaced))
        return Source(watch, keys, role="owned")

    def _watched_source(self, watch: Watch) -> Source:
        if (keys := self._keys_of(watch)) is None:
            raise UsageError(f"watches={watch} has no key function: pass Watch({watch}, keys=function)")
        return Source(watch, keys)

    def _is_namespaced(self, key: ObjectKey) -> bool:
        """Whether the main kind is namespaced; for a kind without a resource, derived from the cached keys."""
        if self._main is None:  # the owners are in other clusters
            resource = resource_of(self._for.of) if self._for is not None and isinstance(self._for.of, type) else None
            return resource is None or resource.namespaced
        resource = resource_of(self.main.kind)
        return resource.namespaced if resource is not None else key.name not in self.main.indexer

    # --- lifecycle ---------------------------------------------------------------------------------------------------

    def open(
        self,
        factory: SharedInformerFactory | None,
        namespaces: tuple[str, ...],
        *,
        enqueue: Enqueue,
        report: ReportFailure,
        history: ReconcileHistory | None = None,
        part_of: PartOf = lambda *_: None,
    ) -> None:
        """Open all sources: from now on, changes enqueue keys."""
        name = f"controller {self._name}"
        for source in self.all:
            source.open(
                factory, namespaces, enqueue=enqueue, report=report, name=name, history=history, part_of=part_of
            )
        self._is_open = True
        self._opened_or_closed.set()

    def end_waiting(self) -> None:
        """Make `wait_for_sync` raise, if the sources were not opened."""
        self._opened_or_closed.set()

    async def close(self) -> None:
        """Close all sources."""
        self.end_waiting()
        for source in self.all:
            await source.close()

    # --- reading -----------------------------------------------------------------------------------------------------

    @property
    def main(self) -> AnyInformer:
        """The informer of the controller's kind."""
        if self._main is None:
            if self._cluster and self._for is not None:
                raise UsageError(f"controller {self._name} does not watch {self._for} in the cluster {self._cluster}")
            raise UsageError(f"controller {self._name} has no for_=: read what it watches through indexer(...)")
        return self._main.informer

    def on_main_deleted(self, function: Callable[[Cached], object]) -> None:
        """Call a function with each deleted object of the controller's kind, before its key is enqueued."""
        if self._main is not None:
            self._main.on_deleted = function

    def informer(self, kind: Kind) -> AnyInformer:
        """The informer of a watched kind."""
        for source in self.all:
            if isinstance(source.watch.of, SharedIndexInformer) and source.watch.of.kind is kind:
                return source.watch.of
        wanted = as_watch(kind, "kind")
        found = [source for source in self.all if str(source.watch) == str(wanted)]
        if not found:
            watched = ", ".join(str(source.watch) for source in self.all) or "nothing"
            where = f" in the cluster {self._cluster}" if self._cluster else ""
            raise UsageError(f"controller {self._name} does not watch {wanted}{where}; it watches {watched}")
        # Two groups may have a kind of the same name.
        return min(found, key=lambda source: source.watch.of != wanted.of).informer

    def keys(self) -> list[str]:
        """All cached keys of the controller's kind."""
        return [] if self._main is None else self._main.informer.indexer.keys()

    # --- sync --------------------------------------------------------------------------------------------------------

    @property
    def are_synced(self) -> bool:
        return self._is_open and all(informer.has_synced for informer in self._informers())

    def why_not_ready(self) -> str | None:
        """Why the caches are not synced; None once they are."""
        if not self._is_open:
            return f"{self._name}: the controller was not started"
        return next(filter(None, (informer.why_not_synced() for informer in self._informers())), None)

    async def wait_for_sync(self, timeout: float | None) -> None:
        """Wait until the keys of all existing objects are enqueued; raises SyncTimeoutError."""
        try:
            async with time_limit(self._clock, timeout):
                await self._opened_or_closed.wait()
                for source in self.all:
                    await source.wait_for_sync()
        except TimeoutError:
            raise self._sync_timeout(timeout) from None

    def _sync_timeout(self, timeout: float | None) -> SyncTimeoutError:
        where = f" with the cluster {self._cluster}" if self._cluster else ""
        message = f"controller {self._name} has not synced{where} within {timeout} s: {self.why_not_ready()}"
        attempts = max((informer.failed_attempts for informer in self._informers()), default=0)
        errors = (informer.last_error for informer in self._informers())
        return SyncTimeoutError(message, attempts=attempts, last_error=next(filter(None, errors), None))

    def _informers(self) -> Iterator[AnyInformer]:
        return (source.informer for source in self.all if self._is_open)


def _checked_list(given: Iterable[E], option: str) -> list[E]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise UsageError(f"{option}={given!r}: expected a list, as {option}=[...]")
    return [*given]


# --- keys -------------------------------------------------------------------------------------------------------------


def key_from(given: object) -> ObjectKey:
    """The key in an ObjectKey, a `namespace/name` or an object."""
    match given:
        case ObjectKey(str(), str()):
            return given
        case str() if given:
            return ObjectKey.parse(given)
        case Object():
            return given.key
        case object(cache_key=str(key)) if key:
            return _split_key(key)
    raise BadKeyError(f"{given!r} is not a key: expected an ObjectKey, 'namespace/name' or an object", text=repr(given))


def keys_from(given: object) -> list[ObjectKey]:
    """The keys in what a key function returned: one key, several, or None."""
    if given is None:
        return []
    if isinstance(given, ObjectKey | str) or hasattr(given, "cache_key"):
        return [key_from(given)]
    if inspect.iscoroutine(given):
        given.close()
        raise UsageError("the key function is async; it must be a plain function")
    if not isinstance(given, Iterable):
        raise BadKeyError(f"{given!r} is neither a key nor an iterable of keys", text=repr(given))
    return [key_from(each) for each in given]


def _with_cluster(function: ClusterKeyFunction, cluster: str) -> KeyFunction:
    def keys(item: Cached) -> list[ObjectKey]:
        return keys_from(function(item, cluster))

    keys.__qualname__ = getattr(function, "__qualname__", repr(function))
    return keys


def _own_key(item: Cached) -> ObjectKey:
    return item.key if isinstance(item, Object) else _split_key(item.cache_key)


def _split_key(cache_key: str) -> ObjectKey:
    namespace, _, name = cache_key.rpartition("/")
    return ObjectKey(namespace, name)


def _owner_key(owner: GroupKind, is_namespaced: Callable[[ObjectKey], bool]) -> KeyFunction:
    """Maps an object to its controlling owner, if that is of this kind."""

    def keys(item: Object) -> list[ObjectKey]:
        found = controller_of(item)
        if found is None or found.kind != owner.kind or split_api_version(found.api_version)[0] != owner.group:
            return []
        key = ObjectKey(item.namespace, found.name)
        return [key if is_namespaced(key) else ObjectKey("", found.name)]

    return keys

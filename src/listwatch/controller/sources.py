"""One watch of a controller, connected to its informer: hears of changes and passes on the keys they lead to.

`triggers` has what programs say; `own_writes` asks here whether a cache has what was written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from listwatch.cache.field_values import field_text
from listwatch.clock import Clock, time_limit
from listwatch.controller.triggers import KeyFunction, Watch, group_kind_of, keys_from
from listwatch.errors import InformerStoppedError, UsageError
from listwatch.informer.factory import InformerHandle, SharedInformerFactory
from listwatch.informer.shared_informer import HandlerRegistration, SharedIndexInformer
from listwatch.meta import GroupKind, GroupResource, ObjectKey
from listwatch.objects.object import Object
from listwatch.selectors import parse_field_selector, parse_label_selector
from listwatch.workqueue.queue import LOW_PRIORITY

__all__ = ["Enqueue", "Report", "Source"]

Enqueue = Callable[[Iterable[ObjectKey], int], None]
Report = Callable[[BaseException, str], None]


class Source:
    """Keys of changed objects, from `open` until `close`; what its functions raise is reported, and others go on."""

    def __init__(self, watch: Watch, keys: KeyFunction, *, enqueue: Enqueue, report: Report) -> None:
        self.watch = watch
        self._keys = keys
        self._enqueue = enqueue
        self._report = report
        self._labels = parse_label_selector(watch.label_selector)
        self._fields = parse_field_selector(watch.field_selector)
        self._places: tuple[str, ...] = ("",)
        self._informer: SharedIndexInformer[Any] | None = None
        self._handle: InformerHandle[Any] | None = None
        self._registration: HandlerRegistration[Any] | None = None
        self._awaited_ends: dict[ObjectKey, list[Callable[[], object]]] = {}

    def __repr__(self) -> str:
        return f"<Source of {self.watch.title}>"

    # --- life --------------------------------------------------------------------------------------------------------

    @property
    def informer(self) -> SharedIndexInformer[Any]:
        if self._informer is None:
            raise UsageError(f"there is no cache of {self.watch.title} yet: the controller was not started")
        return self._informer

    def open(self, factory: SharedInformerFactory | None, places: tuple[str, ...]) -> None:
        """Listen to the informer that was given, or to a shared one."""
        watch = self.watch
        if isinstance(watch.of, SharedIndexInformer):
            self._informer = watch.of
        elif factory is None:
            raise UsageError(f"{watch.title} cannot be watched: give the controller a client=, or a ready informer")
        else:
            self._places = self._chosen_places(places)
            self._handle = factory.informer(
                watch.of,
                namespace=self._places[0] if len(self._places) == 1 else None,
                namespaces=self._places if len(self._places) > 1 else (),
                label_selector=watch.label_selector,
                field_selector=watch.field_selector,
                transform=watch.transform,
                indexers=watch.indexers,
            )
            self._informer = self._handle.informer
        self._registration = self._informer.add_handler(
            on_add=self._on_add, on_update=self._on_update, on_delete=self._on_delete
        )

    def _chosen_places(self, places: tuple[str, ...]) -> tuple[str, ...]:
        """Where to look: what the watch says, else everywhere for what lives in no namespace, else as all others."""
        watch = self.watch
        if watch.namespaces or watch.namespace is not None:
            return tuple(watch.namespaces) or (watch.namespace or "",)
        resource = watch.of.resource if isinstance(watch.of, type) else None
        return places if resource is None or resource.namespaced else ("",)

    async def wait_for_sync(self) -> None:
        """Wait until all that is there has led to its keys."""
        if self._registration is None:
            raise InformerStoppedError(
                f"{self.watch.title} is not watched: the controller ended before it came to that"
            )
        await self._registration.wait_for_sync()

    async def close(self) -> None:
        if self._registration is not None:
            self._registration.remove()
        if self._handle is not None:
            await self._handle.release()

    # --- changes -----------------------------------------------------------------------------------------------------

    def _on_add(self, item: Object, is_initial: bool) -> None:  # noqa: FBT001  # that is how informers tell
        self._changed(None, item, LOW_PRIORITY if is_initial else 0)

    def _on_update(self, old: Object, new: Object) -> None:
        is_resync = old.resource_version == new.resource_version
        self._changed(old, new, LOW_PRIORITY if is_resync else 0)

    def _on_delete(self, item: Object) -> None:
        for tell in self._awaited_ends.pop(item.key, ()):
            tell()
        self._changed(item, None, 0)

    def _changed(self, old: Object | None, new: Object | None, priority: int) -> None:
        if self._matters(old, new):
            # Both: an object may have been taken from one owner and given to another.
            found = dict.fromkeys(key for item in (new, old) if item is not None for key in self._keys_of(item))
            self._enqueue(found, priority)

    def _matters(self, old: Object | None, new: Object | None) -> bool:
        if self.watch.when is None:
            return True
        try:
            return bool(self.watch.when(old, new))
        except BaseException as error:  # noqa: BLE001  # it is the user's function; SystemExit would end the event loop
            self._failed(error, "predicate", new or old)
            return True  # once too often is better than never

    def _keys_of(self, item: Object) -> list[ObjectKey]:
        try:
            return keys_from(self._keys(item))
        except BaseException as error:  # noqa: BLE001  # so is this
            self._failed(error, "function for keys", item)
            return []

    def _failed(self, error: BaseException, what: str, item: Object | None) -> None:
        function = self.watch.when if what == "predicate" else self._keys
        name = getattr(function, "__qualname__", repr(function))
        self._report(error, f"the {what} {name} failed on {'nothing' if item is None else item.describe()}")

    # --- what the cache has ------------------------------------------------------------------------------------------

    def has_cached(self, *names: GroupResource | GroupKind) -> bool:
        """Whether objects of one of these names are in this cache."""
        resource = self.informer.kind.resource
        known = {resource.group_resource} if resource else set()
        kind = group_kind_of(self.watch.of)
        return any(name in known or name == kind or str(name) == self.informer.name for name in names)

    def covers(self, item: Object) -> bool:
        """Whether an object of this kind belongs in the cache, which may hold only some."""
        if item.namespace and not {"", item.namespace}.intersection(self._places):
            return False
        return self._labels.matches(item.labels) and self._fields.matches(partial(field_text, item))

    async def wait_gone(self, key: ObjectKey, uid: str, *, clock: Clock, timeout: float) -> None:
        """Wait until the cache does not have that very object any more; TimeoutError."""
        cached = self.informer.indexer.get(key)
        if cached is None or (uid and cached.uid != uid):
            return
        ended = asyncio.Event()
        # An informer for blocking programs tells of it in another thread.
        tell = partial(asyncio.get_running_loop().call_soon_threadsafe, ended.set)
        waiting = self._awaited_ends.setdefault(key, [])
        waiting.append(tell)
        try:
            async with time_limit(clock, timeout):
                await ended.wait()
        finally:
            waiting.remove(tell)
            if not waiting and self._awaited_ends.get(key) is waiting:
                del self._awaited_ends[key]

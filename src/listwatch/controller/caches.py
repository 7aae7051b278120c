"""All that one controller watches: what was said with `for_`, `owns` and `watches`, and the caches that come of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from listwatch.clock import Clock, time_limit
from listwatch.controller.sources import Enqueue, Report, Source
from listwatch.controller.triggers import Every, KeyFunction, Watch, group_kind_of, own_key, owner_keys
from listwatch.errors import SyncTimeoutError, UsageError
from listwatch.informer.factory import SharedInformerFactory
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.meta import ObjectKey

__all__ = ["Caches", "as_watch", "several"]


class Caches:
    """The sources of one controller, opened and closed together; the main one is of what the controller is for."""

    def __init__(
        self,
        main: Watch | None,
        owns: Sequence[Any],
        watches: Sequence[Any],
        *,
        name: str,
        enqueue: Enqueue,
        report: Report,
        clock: Clock,
    ) -> None:
        self._name = name
        self._enqueue = enqueue
        self._report = report
        self._clock = clock
        self._main = None if main is None else self._source(main, main.keys or own_key)
        self.sources = [
            *([] if self._main is None else [self._main]),
            *(self._owned(as_watch(each)) for each in several(owns, "owns")),
            *(self._watched(as_watch(each)) for each in several(watches, "watches") if not isinstance(each, Every)),
        ]
        self._is_open = False
        self._open_or_over = asyncio.Event()

    def _source(self, watch: Watch, keys: KeyFunction) -> Source:
        return Source(watch, keys, enqueue=self._enqueue, report=self._report)

    def _owned(self, watch: Watch) -> Source:
        owner = None if self._main is None else group_kind_of(self._main.watch.of)
        if owner is None:
            raise UsageError(f"owns={watch.title}: of what? Give for_= as a class, or as a pair of apiVersion and kind")
        return self._source(watch, watch.keys or owner_keys(owner, self._is_namespaced))

    def _watched(self, watch: Watch) -> Source:
        if watch.keys is None:
            raise UsageError(f"watches={watch.title}: say which keys its objects lead to, as Watch(..., keys=function)")
        return self._source(watch, watch.keys)

    def _is_namespaced(self, key: ObjectKey) -> bool:
        """Whether what this controller is for lives in namespaces; where its kind does not say, the cache does."""
        resource = self.main.kind.resource
        return resource.namespaced if resource is not None else key.name not in self.main.indexer

    # --- life --------------------------------------------------------------------------------------------------------

    def open(self, factory: SharedInformerFactory | None, places: tuple[str, ...]) -> None:
        """Listen to all informers."""
        for source in self.sources:
            source.open(factory, places)
        self._is_open = True
        self._open_or_over.set()

    async def close(self) -> None:
        """Listen to none, and let those go who wait for the beginning."""
        self._open_or_over.set()
        for source in self.sources:
            await source.close()

    # --- reading -----------------------------------------------------------------------------------------------------

    @property
    def main(self) -> SharedIndexInformer[Any]:
        """The informer of what the controller is for."""
        if self._main is None:
            raise UsageError(f"the controller {self._name} is for no kind: look at what it watches, by indexer(...)")
        return self._main.informer

    def informer(self, of: Any) -> SharedIndexInformer[Any]:
        """The informer of something that is watched."""
        wanted = as_watch(of)
        alike = [source for source in self.sources if source.watch.title == wanted.title]
        if not alike:
            watched = ", ".join(source.watch.title for source in self.sources)
            raise UsageError(
                f"the controller {self._name} does not watch {wanted.title}; it watches {watched or 'nothing'}"
            )
        # Two kinds may have one name, in two groups.
        return min(alike, key=lambda source: source.watch.of != wanted.of).informer

    def keys(self) -> list[str]:
        """The keys of all that the controller is for."""
        return [] if self._main is None else self._main.informer.indexer.keys()

    # --- being in step -----------------------------------------------------------------------------------------------

    @property
    def is_ready(self) -> bool:
        return self._is_open and all(informer.has_synced for informer in self._informers())

    def why_not_ready(self) -> str | None:
        """What a program should know while it waits; None once all is ready."""
        if not self._is_open:
            return f"{self._name}: it was not started"
        return next(filter(None, (informer.why_not_synced() for informer in self._informers())), None)

    async def wait_for_sync(self, timeout: float | None) -> None:
        """Wait until all that is there has led to its keys; raises SyncTimeoutError."""
        try:
            async with time_limit(self._clock, timeout):
                await self._open_or_over.wait()
                for source in self.sources:
                    await source.wait_for_sync()
        except TimeoutError:
            raise self._not_in_step(timeout) from None

    def _not_in_step(self, timeout: float | None) -> SyncTimeoutError:
        message = f"the controller {self._name} is not in step within {timeout} s: {self.why_not_ready()}"
        attempts = max((informer.failed_attempts for informer in self._informers()), default=0)
        errors = (informer.last_error for informer in self._informers())
        return SyncTimeoutError(message, attempts=attempts, last_error=next(filter(None, errors), None))

    def _informers(self) -> Iterator[SharedIndexInformer[Any]]:
        return (source.informer for source in self.sources if self._is_open)


def as_watch(given: Any) -> Watch:
    """What a program said, with nothing more to say where it said no more."""
    return given if isinstance(given, Watch) else Watch(given)


def several(given: Any, option: str) -> list[Any]:
    """What a program gave as a list, which is easily forgotten around one."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise UsageError(f"{option}={given!r}: expected a list of what to watch, as {option}=[...]")
    return [*given]

"""The way of one source into a store: a reflector reads it, a queue keeps the order, a processor changes the store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from listwatch.cache.delta_fifo import DeltaFIFO
from listwatch.cache.indexer import Indexer
from listwatch.informer.list_watch import ListerWatcher
from listwatch.informer.processing import Processor
from listwatch.informer.reflector import Problem, Reflector
from listwatch.informer.transforms import lightest
from listwatch.objects.object import Object

__all__ = ["Lane"]

T = TypeVar("T", bound=Object)


class Lane(Generic[T]):
    """One source, and how far the store is in step with it. With a scope, it is about one namespace of the store."""

    def __init__(
        self,
        source: ListerWatcher[T],
        kind: type[T],
        indexer: Indexer[T],
        *,
        scope: str | None,
        transform: Callable[[T], T] | None,
        on_ready: Callable[[], None],
        report: Callable[[Problem], None],
        **reflector_options: Any,
    ) -> None:
        self.scope = scope
        self.fifo: DeltaFIFO[T] = DeltaFIFO(transform=transform, on_ready=on_ready, on_dropped=self._dropped)
        self.reflector = Reflector(lightest(source, transform), kind, self.fifo, on_problem=report, **reflector_options)
        self.processor = Processor(indexer, scope=scope)
        self._report = report

    @property
    def resource_version(self) -> str:
        """The version that the store is as new as, in what concerns this source; empty before the first list."""
        return self.processor.resource_version

    def _dropped(self, _: T, error: Exception) -> None:
        self._report(Problem(self.reflector.name, error, 0, 0.0))

"""Adds and removes the sources of informers with the namespaces that a label selector matches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from listwatch.clock import Clock
from listwatch.informer.reflector.lister_watcher import AnySource
from listwatch.informer.reflector.problems import Problem
from listwatch.informer.shared_informer import AnyInformer, HandlerRegistration, SharedIndexInformer
from listwatch.objects.object import Object
from listwatch.tasks.cancellation import log_task_failure

__all__ = ["NamespaceFollower"]

SourceIn = Callable[[str], AnySource]
"""Returns the source of a resource in a namespace."""


class NamespaceFollower:
    """Watches the namespaces, and keeps a source for each of them in every informer that follows them."""

    def __init__(
        self,
        source: AnySource,
        kind: type[Object],
        *,
        on_problem: Callable[[Problem], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.namespaces: AnyInformer = SharedIndexInformer(
            source, kind, name="namespaces", on_problem=on_problem, clock=clock
        )
        self._followers: dict[AnyInformer, SourceIn] = {}
        self._present: dict[str, None] = {}
        """The namespaces whose sources were added, in the order of their events."""
        self._registration: HandlerRegistration[Any] | None = None
        self._completion: asyncio.Task[None] | None = None
        self._is_complete = False

    def add(self, informer: AnyInformer, source_in: SourceIn) -> None:
        """Keep a source for each matching namespace in this informer."""
        self._followers[informer] = source_in
        for namespace in self._present:
            informer.add_source(namespace, source_in(namespace))
        if self._is_complete:
            informer._complete_sources()

    def discard(self, informer: AnyInformer) -> None:
        """Do not add sources to this informer any more."""
        self._followers.pop(informer, None)

    def start(self) -> None:
        """Start watching the namespaces; starting twice does nothing."""
        if self._completion is not None:
            return
        self._registration = self.namespaces.add_handler(on_add=self._on_add, on_delete=self._on_delete)
        self.namespaces.start()
        self._completion = asyncio.create_task(self._complete(), name="first list of followed namespaces")
        self._completion.add_done_callback(log_task_failure("listwatch.informer"))

    async def stop(self) -> None:
        """Stop watching the namespaces; the informers keep their sources."""
        if self._completion is not None:
            self._completion.cancel()
            await asyncio.wait([self._completion])
        await self.namespaces.stop()

    async def _complete(self) -> None:
        assert self._registration is not None
        await self._registration.wait_for_sync()
        self._is_complete = True
        for informer in tuple(self._followers):
            informer._complete_sources()

    async def _on_add(self, namespace: Object) -> None:
        self._present[namespace.name] = None
        for informer, source_in in tuple(self._followers.items()):
            if not informer.is_stopped:
                informer.add_source(namespace.name, source_in(namespace.name))

    async def _on_delete(self, namespace: Object) -> None:
        del self._present[namespace.name]
        removals = [
            informer.remove_source(namespace.name) for informer in tuple(self._followers) if not informer.is_stopped
        ]
        await asyncio.gather(*removals)

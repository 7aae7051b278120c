"""An informer with a scripted source and a virtual clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from listwatch.informer.reflector.problems import Problem
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.models.core_v1 import Pod
from listwatch.testing.clocks import VirtualClock
from listwatch.testing.scripted_source import ScriptedSource, ScriptedWatch


def pod(name: str, version: str = "1", *, namespace: str = "default", node: str = "", **labels: str) -> Pod:
    metadata = {"name": name, "namespace": namespace, "resourceVersion": version, "labels": labels}
    return Pod.from_dict({"metadata": metadata, "spec": {"nodeName": node} if node else {}})


class RecordingHandler:
    """A handler that records its calls."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def on_add(self, item: Pod, *, is_initial: bool) -> None:
        self.calls.append(("add", item.name, is_initial))

    def on_update(self, old: Pod, new: Pod) -> None:
        self.calls.append(("update", new.name, old.resource_version, new.resource_version))

    def on_delete(self, item: Pod, *, final_state_known: bool) -> None:
        self.calls.append(("delete", item.name, final_state_known))


class CancellationSwallower:
    """A handler that waits for ever, and swallows the first cancellation."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def on_add(self, item: Pod) -> None:
        self.calls.append(item.name)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if len(self.calls) > 1:
                raise


class BrokenClock(VirtualClock):
    """A clock whose sleep fails."""

    async def sleep(self, delay: float) -> None:
        raise RuntimeError("no time")


class Setting:
    """One informer of pods; `watch` is the watch that it reads once it has synced."""

    informer_type = SharedIndexInformer
    source_type: type[ScriptedSource[Pod]] = ScriptedSource

    def __init__(self, *pods: Pod, version: str = "10", **options: Any) -> None:
        self.clock = VirtualClock()
        self.source = self.source_type(Pod)
        self.problems: list[Problem] = []
        self.informer = self.informer_type(
            self.source, Pod, clock=self.clock, random=Random(1), on_problem=self.problems.append, **options
        )
        if version:
            self.source.will_list(pods, resource_version=version)
        self.watch: ScriptedWatch[Pod] = self.source.will_watch()

    async def settle(self) -> None:
        """Run all tasks until they wait, without advancing the clock."""
        await self.clock.advance(0)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[SharedIndexInformer[Pod]]:
        async with self.informer:
            await self.settle()
            yield self.informer

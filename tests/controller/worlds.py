"""Shared by the tests of controllers: a server, objects, and a reconcile function that records its calls."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from listwatch.client.resources.client_set import ClientSet
from listwatch.clock import SystemClock
from listwatch.controller.reports import Failure
from listwatch.meta import ObjectKey
from listwatch.models.apps_v1 import Deployment, DeploymentSpec
from listwatch.models.core_v1 import ConfigMap, Container, Pod, PodSpec, PodTemplateSpec
from listwatch.models.meta_v1 import LabelSelector
from listwatch.objects.metadata import ObjectMeta
from listwatch.server import APIServer


@asynccontextmanager
async def world(**options: Any) -> AsyncIterator[tuple[APIServer, ClientSet]]:
    async with APIServer(**options) as server, ClientSet(server.config) as client:
        yield server, client


def key(name: str, namespace: str = "default") -> ObjectKey:
    return ObjectKey(namespace, name)


def config_map(name: str, *, labels: dict[str, str] | None = None, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default", labels=labels or {}), data=data)


def pod(name: str) -> Pod:
    spec = PodSpec(containers=[Container(name="web", image="web:1")])
    return Pod(metadata=ObjectMeta(name=name, namespace="default"), spec=spec)


def deployment(name: str, replicas: int = 1) -> Deployment:
    labels = {"app": name}
    template = PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=pod("x").spec)
    spec = DeploymentSpec(replicas=replicas, selector=LabelSelector(match_labels=labels), template=template)
    return Deployment(metadata=ObjectMeta(name=name, namespace="default"), spec=spec)


async def turns_until(is_so: Callable[[], object]) -> None:
    """Yield to other tasks until the condition holds, for conditions without an event."""
    while not is_so():  # noqa: ASYNC110  # there is no event to wait for
        await asyncio.sleep(0)


class HastyClock(SystemClock):
    """A system clock whose sleeps are short, so that retries happen soon."""

    async def sleep(self, delay: float) -> None:
        await super().sleep(min(delay, 0.01))


class Calls:
    """An async reconcile function that records its calls and how many ran concurrently."""

    def __init__(self, result: Callable[[ObjectKey, int], Any] | None = None) -> None:
        self._result = result
        self._changed = asyncio.Event()
        self.seen: list[ObjectKey] = []
        self.running: Counter[ObjectKey] = Counter()
        self.most_at_once = 0

    async def __call__(self, key: ObjectKey) -> Any:
        self.running[key] += 1
        self.most_at_once = max(self.most_at_once, self.running[key])
        self.seen.append(key)
        self._changed.set()
        try:
            result = None if self._result is None else self._result(key, self.seen.count(key))
            return await result if asyncio.iscoroutine(result) else result
        finally:
            self.running[key] -= 1

    async def wait_for(self, key: ObjectKey, times: int = 1) -> None:
        await self.wait_until(lambda: self.seen.count(key) >= times)

    async def wait_until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            self._changed.clear()
            await self._changed.wait()


class Failures:
    """An `on_failure` that records failures."""

    def __init__(self) -> None:
        self.seen: list[Failure] = []
        self._changed = asyncio.Event()

    def __call__(self, failure: Failure) -> None:
        self.seen.append(failure)
        self._changed.set()

    async def wait(self, count: int = 1) -> Failure:
        while len(self.seen) < count:
            self._changed.clear()
            await self._changed.wait()
        return self.seen[count - 1]

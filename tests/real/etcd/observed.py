"""An informer of a prefix of etcd whose handler checks every history."""

from __future__ import annotations

import asyncio
from typing import Self

import msgspec

import listwatch as lw
from listwatch.backoff import Backoff
from listwatch.cache import Keyed
from listwatch.informer import Problem
from listwatch.sources.etcd import EtcdClient, EtcdListWatch, EtcdStore

PREFIX = "/items/"


class Item(Keyed, msgspec.Struct):
    value: str


class Observed:
    """Converges, or the test hangs; fails if a version goes back or a history is not legal."""

    def __init__(self, client: EtcdClient, *, probe_interval: float = 1.0) -> None:
        self.store = EtcdStore(client, PREFIX, Item)
        self.source = EtcdListWatch(client, PREFIX, Item, probe_interval=probe_interval)
        self.problems: list[Problem] = []
        self.failures: list[str] = []
        self.deleted: list[str] = []
        self._changed = asyncio.Event()
        self._failed = asyncio.Event()
        self.informer = lw.SharedIndexInformer(
            self.source,
            Item,
            on_problem=self._report,
            backoff=Backoff(initial=0.1, factor=2.0, cap=1.0, jitter=0.1),
        )
        self._versions: dict[str, int] = {}
        self._values: dict[str, str] = {}
        self.informer.add_handler(self, on_failure=lambda _name, change, error: self.failures.append(repr(error)))

    def _report(self, problem: Problem) -> None:
        self.problems.append(problem)
        self._failed.set()

    async def wait_for_problem(self) -> None:
        await self._failed.wait()

    def on_add(self, item: Item) -> None:
        assert item.cache_key not in self._values, f"{item.cache_key} was added twice"
        self._remember(item)

    def on_update(self, old: Item, new: Item) -> None:
        assert self._values[new.cache_key] == old.value
        self._remember(new)

    def on_delete(self, item: Item) -> None:
        del self._values[item.cache_key]
        self.deleted.append(item.cache_key)
        self._changed.set()

    def _remember(self, item: Item) -> None:
        before, version = self._versions.get(item.cache_key, 0), int(item.resource_version)
        assert version > before, f"{item.cache_key} went back from {before} to {version}"
        self._versions[item.cache_key] = version
        self._values[item.cache_key] = item.value
        self._changed.set()

    def forget_versions(self) -> None:
        """Accept older versions: etcd is restored from a backup."""
        self._versions.clear()

    async def converge(self) -> None:
        """Wait until handlers and store have exactly what etcd has."""
        expected = {item.cache_key: item.value for item in (await self.store.list()).items}
        while self._values != expected:
            assert self.failures == []
            self._changed.clear()
            await self._changed.wait()
        assert {item.cache_key: item.value for item in self.informer.indexer} == expected
        assert self.failures == []

    @property
    def lists(self) -> int:
        return self.informer.statistics().sources[0].lists

    async def __aenter__(self) -> Self:
        await self.informer.__aenter__()
        await self.informer.wait_for_sync(30)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.informer.stop()


async def put_until_accepted(store: EtcdStore[Item], key: str, value: str) -> None:
    """Write, and again while etcd has no leader."""
    while True:
        try:
            await store.put(key, Item(value))
        except lw.errors.TransportError:
            await asyncio.sleep(0.1)
        else:
            return

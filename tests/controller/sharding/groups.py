"""Replicas of a shard group that record which of them reconciled which object."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

from listwatch.client import ClientSet
from listwatch.controller import Controller, Manager, ReconcileContext
from listwatch.controller.sharding.shard_statistics import ShardStatistics
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ObjectMeta
from listwatch.sharding import ShardingOptions, ShardTiming

FAST = ShardTiming(lease_duration=3.0, renew_deadline=1.8, retry_period=0.3, grace_period=1.0, cleanup=0.5, settle=0.2)
OBJECTS = 40


class Group:
    """Replicas that record which of them reconciled which object."""

    def __init__(self, client: ClientSet) -> None:
        self.client = client
        self.owner: dict[str, str] = {}
        self.tokens: dict[str, int] = {}
        self.running: Counter[str] = Counter()
        self.changed = asyncio.Event()

    def manager(self, name: str, *, shards: int = 16, health_port: int | None = None, **options: Any) -> Manager:
        """A replica with this name; options are those of ShardingOptions."""

        async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            self.running[str(key)] += 1
            assert self.running[str(key)] == 1, f"{key} is reconciled twice at a time"
            await asyncio.sleep(0)
            assert context.fencing_token >= self.tokens.get(str(key), 0)
            self.tokens[str(key)] = context.fencing_token
            self.owner[str(key)] = name
            self.running[str(key)] -= 1
            self.changed.set()

        options.setdefault("timing", FAST)
        chosen = ShardingOptions(group="web", shards=shards, identity=name, **options)
        manager = Manager(self.client, namespace="default", shards=chosen, health_port=health_port)
        manager.add(Controller(reconcile, for_=ConfigMap, name=f"maps of {name}"))
        return manager

    def has_its_part(self, name: str, manager: Manager) -> bool:
        return held_by(manager) == {key for key, owner in self.owner.items() if owner == name}

    async def wait_change(self) -> None:
        self.changed.clear()
        await self.changed.wait()

    async def wait_owners(self, names: set[str]) -> None:
        async with asyncio.timeout(30):
            while len(self.owner) < OBJECTS or set(self.owner.values()) != names:
                await self.wait_change()


async def eventually(is_so: Callable[[], object]) -> None:
    """Wait for a condition without an event, of caches and statistics."""
    async with asyncio.timeout(30):
        while not is_so():  # noqa: ASYNC110  # there is no event to wait for
            await asyncio.sleep(0.01)


async def create_objects(client: ClientSet) -> None:
    for number in range(OBJECTS):
        await client.core_v1.configmaps("default").create(ConfigMap(metadata=ObjectMeta(name=f"c{number}")))


def held_by(manager: Manager) -> set[str]:
    """The objects in the cache of the manager's controller."""
    return {f"default/{item.name}" for item in manager.controllers[0].indexer(ConfigMap).list()}


def shards_of(manager: Manager) -> ShardStatistics:
    found = manager.statistics().shards
    assert found is not None
    return found


async def get(manager: Manager, path: str, method: str = "GET") -> tuple[int, str]:
    """The status and the body of a probe."""
    reader, writer = await asyncio.open_connection("127.0.0.1", manager.health_port)
    writer.write(f"{method} {path} HTTP/1.1\r\nHost: probe\r\n\r\n".encode())
    response = (await reader.read()).decode()
    writer.close()
    await writer.wait_closed()
    head, _, body = response.partition("\r\n\r\n")
    return int(head.split(" ")[1]), body

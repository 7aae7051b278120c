"""The caches of a sharded replica in virtual time: shards come and go while lists and watches fail in random ways.

The server is that of the simulations of informers. It selects by shards, or does not, or stops doing so; its watch may
be unfiltered although its lists are filtered; and it can be read by metadata. Checked are:

- the caches contain what `catch_up` promises: every write to a gained shard before it was called, or up to the version
  that the last owner released;
- at rest, the store contains the objects of the cached shards, and no others;
- a handler gets valid histories, and `on_delete` only for objects that were deleted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from types import SimpleNamespace
from typing import Any, Self

from soak.history_checker import HistoryChecker
from tests.informer.simulation import RESOURCE, Faults, SimulatedServer
from tests.seeded_loop import run_seeded

from listwatch.api.list_pages import Page
from listwatch.api.shard_selector import ShardSelector
from listwatch.controller.sharding.sharded_caches import ShardedCaches
from listwatch.controller.sharding.sharded_source import ShardedSource
from listwatch.informer.reflector.lister_watcher import batches_of
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.object import Object
from listwatch.sharding import ShardSpace
from listwatch.testing.clocks import VirtualClock

SHARDS = 4
NAMES = tuple(f"c{number}" for number in range(6))
QUIET = 1500.0
"""Seconds without faults in which the caches must catch up: longer than two watches and any delay."""


class ViolationError(AssertionError):
    """An invariant does not hold."""


@dataclass(frozen=True)
class State:
    """What a write made of an object: its uid, or an empty text if it was deleted."""

    revision: int
    uid: str


@dataclass(repr=False)
class ShardServer(SimulatedServer):
    """Objects with uids, which are new after each deletion, so that a name can be in another shard afterwards."""

    is_selecting: bool = True
    """Whether it has shard selectors; it may change."""
    filters_watches: bool = True
    states: dict[str, list[State]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"ShardServer at {self.storage.revision}"

    def selecting(self, *, shard_selector: str) -> SelectedObjects:
        return SelectedObjects(self, ShardSelector.parse(shard_selector))

    def change(self) -> str:
        """Create, update or delete an object; returns its key."""
        key = ObjectKey("default", self.rng.choice(NAMES))
        known = self.storage.get(RESOURCE, key)
        uid = "" if known is None else ConfigMap.from_wire(known.value).uid
        if known is None:
            uid = f"{self.rng.getrandbits(64):016x}"
            self.storage.create(RESOURCE, key, _encoder(key, uid))
        elif self.rng.random() < 0.3:
            value = known.value
            version = known.revision
            replaced = lambda revision: value.replace(b'"%d"' % version, b'"%d"' % revision, 1)  # noqa: E731  # it is passed on
            self.storage.delete(RESOURCE, key, replaced)
            uid = ""
        else:
            self.storage.update(RESOURCE, key, _encoder(key, uid))
        self.states.setdefault(str(key), []).append(State(self.storage.revision, uid))
        self.history.append(f"{key} is {uid or 'deleted'} @{self.storage.revision}")
        return str(key)

    async def read(self, key: str) -> ConfigMap | None:
        """The present state of an object, some time later."""
        await self._apply_faults()
        found = self.storage.get(RESOURCE, ObjectKey.parse(key))
        return None if found is None else ConfigMap.from_wire(found.value)


def _encoder(key: ObjectKey, uid: str) -> Callable[[int], bytes]:
    head = b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"%s","namespace":"%s","uid":"%s",'
    text = head + b'"resourceVersion":"%d"}}'
    return lambda revision: text % (key.name.encode(), key.namespace.encode(), uid.encode(), revision)


class ConfirmedPage(Page[ConfigMap]):
    """A page of a list that the server has selected."""

    metadata: Any


@dataclass
class SelectedObjects:
    """The objects of a shard selector, if the server has selectors; all objects otherwise."""

    server: ShardServer
    selector: ShardSelector

    async def list(self, **options: Any) -> Any:
        is_selecting = self.server.is_selecting
        page = await self.server.list(**options)
        items = [item for item in page.items if not is_selecting or self.selector.matches(item.uid)]
        info = SimpleNamespace(selector=str(self.selector)) if is_selecting else None
        return SimpleNamespace(
            items=items,
            resource_version=page.resource_version,
            continue_token=page.continue_token,
            broken=(),
            metadata=SimpleNamespace(shard_info=info),
        )

    def watch(self, **options: Any) -> Any:
        stream = self.server.watch(**options)
        return SelectedWatch(stream, self) if self.server.is_selecting and self.server.filters_watches else stream


class SelectedWatch:
    """The events of the selected objects, and bookmarks."""

    def __init__(self, stream: Any, selected: SelectedObjects) -> None:
        self._stream = stream
        self._matches = selected.selector.matches

    async def __aenter__(self) -> Self:
        self._opened = await self._stream.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stream.__aexit__(None, None, None)

    async def batches(self) -> AsyncIterator[list[Any]]:
        async for batch in batches_of(self._opened):
            kept = [
                event
                for event in batch
                if event.type not in ("ADDED", "MODIFIED", "DELETED") or self._matches(event.object.uid)
            ]
            if kept:
                yield kept


class SimulatedReader:
    """Reads metadata, which here is all of an object, and single objects; as MetadataReader does."""

    def __init__(self, server: ShardServer) -> None:
        self.source = self.metadata = server

    async def list(self, selects: Callable[[Object], bool]) -> tuple[dict[str, Object], int, str]:
        found: dict[str, Object] = {}
        total, version, token = 0, "", ""
        while True:
            page = await self.source.list(limit=2, continue_token=token)
            version, token, total = version or page.resource_version, page.continue_token, total + len(page.items)
            found.update({item.cache_key: item for item in page.items if selects(item)})
            if not token:
                return found, total, version

    async def read(self, wanted: Mapping[str, Object]) -> dict[str, Object]:
        return {key: item for key in wanted if (item := await self.source.read(key)) is not None}

    async def read_all(self, wanted: Mapping[str, Object]) -> Sequence[Object]:
        return [*(await self.read(wanted)).values()]


class CacheSimulation:
    """One seeded run: the caches of one replica, whose shards are written by others before it has them."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = Random(seed)
        self.clock = VirtualClock()
        self.path = self.rng.choice(["selector", "selector", "metadata", "filter"])
        self.server = ShardServer(self.rng, self.clock, streams=False, filters_watches=self.rng.random() < 0.7)
        self.space = ShardSpace(SHARDS)
        self.owned: dict[int, object] = {}
        """By shard, a token of its present ownership."""
        self.prefetched: frozenset[int] = frozenset()
        """Shards that are cached before they are gained."""
        self.checker = HistoryChecker("the handler")
        self.tasks: set[asyncio.Task[None]] = set()
        self.checks = 0

    def run(self) -> None:
        run_seeded(self._run(), self.clock, self.seed)

    async def _run(self) -> None:
        self._make_informer()
        async with self.informer:
            for _ in range(self.rng.randint(10, 80)):
                await self._step()
            self.server.faults = Faults()
            self.server.history.append("no faults any more")
            await self.clock.sleep(QUIET)
            if any(not task.done() for task in self.tasks):
                raise ViolationError(f"the caches do not catch up by {self.source.path}")
            for task in self.tasks:
                task.result()
            self._check_at_rest()
        await asyncio.sleep(0)
        if self.server.open_watches:
            raise ViolationError("a watch was left open")

    def _make_informer(self) -> None:
        informers: list[Any] = []
        self.caches = ShardedCaches(self.space, lambda: informers, clock=self.clock, read_path=self.path)  # type: ignore[arg-type]  # a text
        part = self.caches.part_of("main")
        assert part is not None
        self.source: ShardedSource = part.wrap(self.server)
        if self.path == "metadata":
            self.source._made_reader = SimulatedReader(self.server)  # type: ignore[assignment]  # it reads the simulated server
        self.informer = SharedIndexInformer[Any](
            self.source, ConfigMap, clock=self.clock, random=self.rng, on_problem=lambda _: None
        )
        informers.append(self.informer)
        checker = self.checker
        self.informer.add_handler(
            on_add=checker.on_add, on_update=checker.on_update, on_delete=self._on_delete, on_evict=self._on_evict
        )

    # --- what happens ------------------------------------------------------------------------------------------------

    async def _step(self) -> None:
        match self.rng.randrange(16):
            case 0:
                # Lists and watches without a version, and frames of other objects, are tested with other informers.
                faults = Faults.random(self.rng)
                faults.no_version = faults.odd_items = faults.repeated_token = 0.0
                self.server.faults = faults
            case 1 if self.path == "selector" and self.rng.random() < 0.3:
                self.server.is_selecting = not self.server.is_selecting
                self.server.history.append(f"the server selects: {self.server.is_selecting}")
            case 2:
                self.caches.narrow()
            case 3:
                self._prefetch()
            case 4 | 5:
                self._gain()
            case 6 | 7:
                self._lose()
            case 8:
                await self.clock.sleep(self.rng.random() * 20)
            case 9:
                await self.clock.sleep(self.rng.random() * 2)
            case _:
                self.server.change()
                for _ in range(self.rng.randrange(4)):
                    await asyncio.sleep(0)

    def _set_shards(self) -> None:
        self.prefetched -= self.owned.keys()
        self.caches.set_shards(self.prefetched | self.owned.keys())

    def _prefetch(self) -> None:
        """Load some shards that are not owned yet, or stop waiting for them."""
        missing = [shard for shard in range(SHARDS) if shard not in self.owned]
        self.prefetched = frozenset(self.rng.sample(missing, self.rng.randint(0, len(missing))))
        self.server.history.append(f"prefetch {[*self.prefetched]}")
        self._set_shards()
        self.tasks.add(asyncio.create_task(self._catch_up(dict.fromkeys(self.prefetched), {})))

    def _gain(self) -> None:
        missing = [shard for shard in range(SHARDS) if shard not in self.owned]
        gained = self.rng.sample(missing, self.rng.randint(0, len(missing)))
        if not gained:
            return
        self.owned.update({shard: object() for shard in gained})
        self._set_shards()
        released = {shard: self._released_version(shard) if self.rng.random() < 0.5 else None for shard in gained}
        self.server.history.append(f"gained {released}")
        task = asyncio.create_task(self._catch_up(released, {shard: self.owned[shard] for shard in gained}))
        self.tasks.add(task)

    def _released_version(self, shard: int) -> int:
        """The version of the last write to a shard."""
        revisions = [
            each.revision
            for states in self.server.states.values()
            for each in states
            if each.uid and self.space.shard_of(each.uid) == shard
        ]
        return max(revisions, default=0)

    def _lose(self) -> None:
        lost = self.rng.sample([*self.owned], self.rng.randint(0, len(self.owned)))
        for shard in lost:
            del self.owned[shard]
        if lost:
            self.server.history.append(f"lost {lost}")
            self._set_shards()

    # --- checks ------------------------------------------------------------------------------------------------------

    async def _catch_up(self, released: Mapping[int, int | None], tokens: Mapping[int, object]) -> None:
        called = self.server.storage.revision
        versions = {shard: {"configmaps": str(each)} if each else None for shard, each in released.items()}
        await self.caches.catch_up(versions)
        for shard, token in tokens.items():
            if self.owned.get(shard) is token:
                least = called if not released[shard] else released[shard]
                assert least is not None
                self._check_fresh(shard, least)
        self.server.history.append(f"caught up {[*tokens]}")

    def _check_fresh(self, shard: int, least: int) -> None:
        """The store has each object of the shard in its state at a revision, or in a later one."""
        self.checks += 1
        for key, states in self.server.states.items():
            before = [each for each in states if each.revision <= least]
            found = self.informer.indexer.get(key)
            uid, version = ("", 0) if found is None else (found.uid, int(found.resource_version))
            is_in = found is not None and self.space.shard_of(uid) == shard
            since = [*before[-1:], *(each for each in states if each.revision > least)]
            if is_in:
                is_fresh = any(each.revision == version for each in since)
            else:
                is_fresh = not before or any(not each.uid or self.space.shard_of(each.uid) != shard for each in since)
            if not is_fresh:
                what = f"@{version}" if is_in else "missing"
                self.server.history.append("VIOLATION")
                raise ViolationError(f"G8: {key} of shard {shard} is {what}, but was {before[-1]} at {least}")

    def _check_at_rest(self) -> None:
        stored = {item.cache_key: item.resource_version for item in self.informer.indexer.list()}
        expected = {
            key: str(states[-1].revision)
            for key, states in self.server.states.items()
            if states[-1].uid and self.space.shard_of(states[-1].uid) in self.caches.shards
        }
        if stored != expected:
            raise ViolationError(f"the store has {stored} instead of {expected}")
        if self.checker.violations:
            raise ViolationError("; ".join(self.checker.violations))
        if self.checker.known != stored:
            raise ViolationError(f"the handler knows {self.checker.known} instead of {stored}")
        if self.source.counts().total() != len(stored):
            raise ViolationError(f"{self.source.counts()} objects are counted, {len(stored)} are stored")

    def _on_delete(self, item: ConfigMap) -> None:
        states = self.server.states[item.cache_key]
        uids = [each.uid for each in states]
        last = len(uids) - 1 - uids[::-1].index(item.uid)
        if last == len(uids) - 1:
            raise ViolationError(f"{item.cache_key} ({item.uid}) was reported as deleted, but exists")
        self.checker.on_delete(item)

    def _on_evict(self, item: ConfigMap) -> None:
        if self.checker.known.pop(item.cache_key, None) is None:
            self.checker.violations.append(f"{item.cache_key} was evicted, but never added")

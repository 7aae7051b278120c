"""Measures one informer in its own process and environment; `bench/clientgo/` measures client-go's in the same way.

`python -m bench.informers.run CONTENDER PLAN` prints its figures as JSON.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import itertools
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, nullcontext
from typing import Any

from bench.harness.contender import Cache, ObjectReader
from bench.harness.measurements import ServerCost, detect_stalls, memory, percentiles
from bench.replay.control import ReplayControl
from bench.replay.paths import SENT

Figures = dict[str, float]

_IDLE_PERIOD = (
    0.005  # seconds between samples of stalls while mostly waiting, where sampling would dominate the CPU time
)
_KINDS_OF_MEMORY = {"": "VmRSS", "_anonymous": "RssAnon", "_mapped": "RssFile"}
_SLICE = 20  # reads by key between reads of the clock, which cost about as much as one of them


class Handler:
    """Calls a function for each change and sets an event after an expected number; may be called in any thread."""

    def __init__(self, reader: ObjectReader) -> None:
        self._loop = asyncio.get_running_loop()
        self._call = reader.read_metadata
        self._left = 0
        self._done = asyncio.Event()

    def expect(self, count: int, call: Any) -> asyncio.Event:
        """Call the function with the following changes; the returned event is set after `count` of them."""
        self._call, self._left, self._done = call, count, asyncio.Event()
        return self._done

    def on_object(self, item: Any) -> None:
        self._call(item)
        if self._left:
            self._left -= 1
            if not self._left:
                self._loop.call_soon_threadsafe(self._done.set)


class Run:
    """Executes one plan step by step."""

    def __init__(self, plan: dict[str, Any], reader: ObjectReader) -> None:
        self._plan = plan
        self._reader = reader
        self._handler = Handler(reader)
        self._source = ReplayControl(plan["url"])
        self.figures: Figures = {}

    async def measure(self, module: Any) -> None:
        plan = self._plan
        names = ("resource", "token", "content_type", "compact", "cache_dir", "way", "uncompressed", "index")
        options = {name: plan[name] for name in names if plan.get(name)}
        self.figures |= {f"baseline{suffix}": memory(name) for suffix, name in _KINDS_OF_MEMORY.items()}
        informer = module.informer(plan["url"], self._handler.on_object, **options)
        async with AsyncExitStack() as stack:
            cache: Cache = await self._sync(stack.enter_async_context(informer))
            if (held := len(cache.keys())) != plan["count"]:
                raise SystemExit(f"the cache has {held:,} objects, expected {plan['count']:,}")
            await self._settle(cache)
            await self._follow(cache)

    async def _settle(self, cache: Cache) -> None:
        """Measure the memory of the objects, also apart that of pages of files, which can leave memory."""
        if cache.settle is not None:
            await cache.settle()
        gc.collect()
        self.figures |= {f"settled{suffix}": memory(name) for suffix, name in _KINDS_OF_MEMORY.items()}
        if self._plan.get("touches") and cache.touch is not None:
            took = []
            for key in random.Random(1).sample(cache.keys(), self._plan["touches"]):
                started = time.perf_counter_ns()
                cache.touch(*key)
                took.append(time.perf_counter_ns() - started)
            self.figures |= percentiles("touch", took)
            self.figures["touched_mapped"] = memory("RssFile")

    async def _sync(self, syncing: Awaitable[Cache]) -> Cache:
        with detect_stalls() if self._plan["events"] or self._plan.get("stalls") else nullcontext() as detector:
            server = ServerCost(self._plan["server"]) if self._plan.get("server") else None
            started, cpu = time.perf_counter(), time.process_time()
            cache = await syncing
            self.figures["sync"] = self._plan["count"] / (time.perf_counter() - started)
            self.figures["sync_cpu"] = time.process_time() - cpu
            self.figures["peak"] = memory("VmHWM")
            if detector:
                self.figures |= detector.longest("sync")
        if server:
            await asyncio.sleep(1)  # its garbage collection may follow
            self.figures |= server.figures()
        return cache

    async def _follow(self, cache: Cache) -> None:
        plan = self._plan
        if plan["relist"]:  # first, while nothing has changed yet
            await self._relist()
        if plan["events"]:
            reading = (
                asyncio.create_task(self._read_by_label(cache, period)) if (period := plan.get("reader")) else None
            )
            await self._burst("events", self._reader.read_metadata, plan["events"])
            await self._burst("fields", self._reader.read_all, plan["fields"])
            if reading:
                reading.cancel()
        for rate, count in plan["rates"]:
            await self._latency(rate, count)
        if plan["reads"]:
            await self._read(cache)

    async def _read_by_label(self, cache: Cache, period: float) -> None:
        """Read the objects of one app repeatedly, like a program that reports on them."""
        assert cache.by_label is not None
        took: list[int] = []
        while True:
            await asyncio.sleep(period)
            started = time.perf_counter_ns()
            cache.by_label("app", "app-7")
            took.append(time.perf_counter_ns() - started)
            self.figures |= percentiles("selected", took)

    async def _burst(self, name: str, call: Any, count: int) -> None:
        """Measure events that are sent as fast as they are read."""
        done = self._handler.expect(count, call)
        await self._source.send(f"burst?events={count}")
        with detect_stalls() as detector:
            started, cpu = time.perf_counter(), time.process_time()
            await done.wait()
            self.figures[name] = count / (time.perf_counter() - started)
            self.figures[f"{name}_cpu"] = (time.process_time() - cpu) / count
            self.figures |= detector.longest(name)

    async def _latency(self, rate: float, count: int) -> None:
        """Measure the time of an event from the source to the handler, at a rate."""
        took: list[int] = []
        annotations = self._reader.annotations

        def call(item: Any) -> None:
            took.append(time.monotonic_ns() - int(annotations(item)[SENT]))

        done = self._handler.expect(count, call)
        await self._source.send(f"pace?rate={rate:g}&events={count}")
        cpu = time.process_time()
        await done.wait()
        self.figures[f"latency_{rate:g}_cpu"] = (time.process_time() - cpu) / count
        self.figures |= percentiles(f"latency_{rate:g}", took)

    async def _relist(self) -> None:
        """Measure from the relist request to the first event handled after the list; no object has changed."""
        took: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def call(item: Any) -> None:
            # Some informers call their handlers with every object again; only the event after them has the time.
            if sent := int(self._reader.annotations(item).get(SENT, 0)):
                took.get_loop().call_soon_threadsafe(took.set_result, time.monotonic_ns() - sent)

        self._handler.expect(0, call)
        await self._source.send("expire")
        with detect_stalls(_IDLE_PERIOD) as detector:
            cpu = time.process_time()
            self.figures["relist"] = await took / 1e9
            self.figures["relist_cpu"] = time.process_time() - cpu
            self.figures |= detector.longest("relist")

    async def _read(self, cache: Cache) -> None:
        """Measure reads of the cache during writes."""
        keys = sorted(cache.keys())
        random.Random(1).shuffle(keys)  # programs read in no particular order
        keys = json.loads(json.dumps(keys))  # copies, adjacent in memory: only the cache lookup is measured
        if (by_key := cache.by_key) is not None:
            await self._read_while_writing("reads_key", by_key, keys, at_a_time=_SLICE)
        if (by_index := cache.by_index) is not None:
            await self._read_while_writing("reads_index", by_index, [(namespace,) for namespace, _ in keys])
        if (by_label := cache.by_label) is not None:
            await self._read_while_writing("reads_selector", by_label, [("app", "app-7")])

    async def _read_while_writing(
        self, name: str, read: Callable[..., Any], arguments: Sequence[Sequence[str]], *, at_a_time: int = 1
    ) -> None:
        count = int(1000 * self._plan["reads"])
        done = self._handler.expect(count, self._reader.read_metadata)
        await self._source.send(f"pace?rate=1000&events={count}")
        arguments_of_reads = itertools.cycle(arguments)
        reads, started, cpu = 0, time.perf_counter(), time.process_time()
        while not done.is_set():
            until = time.perf_counter() + 0.001
            while time.perf_counter() < until:
                for each in itertools.islice(arguments_of_reads, at_a_time):
                    read(*each)
                reads += at_a_time
            await asyncio.sleep(0)
        self.figures[name] = reads / (time.perf_counter() - started)
        self.figures[f"{name}_cpu"] = (time.process_time() - cpu) / reads


async def main(contender: str, plan: dict[str, Any]) -> None:
    started = time.perf_counter()
    module = importlib.import_module(f"bench.contenders.{contender}")
    if hasattr(module, "preload"):
        module.preload(compact=bool(plan.get("compact")), protobuf=plan.get("content_type") == "protobuf")
    imported = time.perf_counter() - started
    resource = plan.get("resource", "pods")
    run = Run(plan, module.READER if resource == "pods" else module.OTHER_READERS[resource])
    run.figures["import"] = imported
    await run.measure(module)
    print(json.dumps(run.figures), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))

"""One informer, in a process and an environment of its own. `informers.py` compares them; `clientgo/` is one in Go.

Run as `python -m bench.informer_run CONTENDER PLAN`, it prints its figures as JSON.
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
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from bench.contender import Cache, Reading
from bench.process import memory, stalls
from bench.replay_paths import SENT

Figures = dict[str, float]

_SELDOM = 0.005  # seconds between looks for stalls where most of the time is spent waiting, and looks would be the cost
_SLICE = 20  # reads by key between looks at the clock, which take about as long as one of them


class Handler:
    """Calls one function for each change, and says when so many were seen; in whatever thread it is called."""

    def __init__(self, reading: Reading) -> None:
        self._loop = asyncio.get_running_loop()
        self._call = reading.glance
        self._left = 0
        self._done = asyncio.Event()

    def expect(self, count: int, call: Any) -> asyncio.Event:
        """Call this function with the next so many changes; the event is set after the last of them."""
        self._call, self._left, self._done = call, count, asyncio.Event()
        return self._done

    def see(self, item: Any) -> None:
        self._call(item)
        if self._left:
            self._left -= 1
            if not self._left:
                self._loop.call_soon_threadsafe(self._done.set)


class Source:
    """Replays what it is told to. The answer comes before the first event does."""

    def __init__(self, url: str) -> None:
        self._host = urlsplit(url).netloc

    async def tell(self, order: str) -> None:
        """Give an order, once somebody watches; our own clock and loop stand still while the source prepares it."""
        await asyncio.to_thread(self._ask, "ready")
        self._ask(order)

    def _ask(self, order: str) -> None:
        connection = HTTPConnection(self._host)
        connection.request("GET", f"/bench/{order}")
        connection.getresponse().read()
        connection.close()


def percentiles(name: str, nanoseconds: list[int]) -> Figures:
    """How long things took, in seconds."""
    took, parts = sorted(nanoseconds), {"p50": 0.5, "p99": 0.99, "p999": 0.999}
    return {f"{name}_{suffix}": took[min(int(len(took) * part), len(took) - 1)] / 1e9 for suffix, part in parts.items()}


class Run:
    """One plan, carried out step by step."""

    def __init__(self, plan: dict[str, Any], reading: Reading) -> None:
        self._plan = plan
        self._reading = reading
        self._handler = Handler(reading)
        self._source = Source(plan["url"])
        self.figures: Figures = {}

    async def measure(self, module: Any) -> None:
        plan = self._plan
        options = {name: plan[name] for name in ("resource", "token") if plan.get(name)}
        self.figures["baseline"] = memory("VmRSS")
        informer = module.informer(plan["url"], self._handler.see, **options)
        async with AsyncExitStack() as stack:
            cache: Cache = await self._sync(stack.enter_async_context(informer))
            if (held := len(cache.keys())) != plan["count"]:
                raise SystemExit(f"{held:,} objects came, not {plan['count']:,}")
            gc.collect()
            self.figures["settled"] = memory("VmRSS")
            await self._follow(cache)

    async def _sync(self, syncing: Awaitable[Cache]) -> Cache:
        with stalls() if self._plan["events"] else nullcontext() as stalled:
            started, cpu = time.perf_counter(), time.process_time()
            cache = await syncing
            self.figures["sync"] = self._plan["count"] / (time.perf_counter() - started)
            self.figures["sync_cpu"] = time.process_time() - cpu
            self.figures["peak"] = memory("VmHWM")
            if stalled:
                self.figures |= stalled.longest("sync")
        return cache

    async def _follow(self, cache: Cache) -> None:
        plan = self._plan
        if plan["relist"]:  # first, while nothing has changed
            await self._relist()
        if plan["events"]:
            await self._burst("events", self._reading.glance, plan["events"])
            await self._burst("fields", self._reading.touch, plan["fields"])
        for rate, count in plan["rates"]:
            await self._latency(rate, count)
        if plan["reads"]:
            await self._read(cache)

    async def _burst(self, name: str, call: Any, count: int) -> None:
        """Events as fast as they can be taken."""
        done = self._handler.expect(count, call)
        await self._source.tell(f"burst?events={count}")
        with stalls() as stalled:
            started, cpu = time.perf_counter(), time.process_time()
            await done.wait()
            self.figures[name] = count / (time.perf_counter() - started)
            self.figures[f"{name}_cpu"] = (time.process_time() - cpu) / count
            self.figures |= stalled.longest(name)

    async def _latency(self, rate: float, count: int) -> None:
        """How long an event takes from the source to the handler."""
        took: list[int] = []
        annotations = self._reading.annotations

        def call(item: Any) -> None:
            took.append(time.monotonic_ns() - int(annotations(item)[SENT]))

        done = self._handler.expect(count, call)
        await self._source.tell(f"pace?rate={rate:g}&events={count}")
        cpu = time.process_time()
        await done.wait()
        self.figures[f"latency_{rate:g}_cpu"] = (time.process_time() - cpu) / count
        self.figures |= percentiles(f"latency_{rate:g}", took)

    async def _relist(self) -> None:
        """From the source being asked again to all of it being handled; nothing has changed."""
        took: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def call(item: Any) -> None:
            # Some call their handlers with every object again; the one that carries the time comes after them.
            if sent := int(self._reading.annotations(item).get(SENT, 0)):
                took.get_loop().call_soon_threadsafe(took.set_result, time.monotonic_ns() - sent)

        self._handler.expect(0, call)
        await self._source.tell("expire")
        with stalls(_SELDOM) as stalled:
            cpu = time.process_time()
            self.figures["relist"] = await took / 1e9
            self.figures["relist_cpu"] = time.process_time() - cpu
            self.figures |= stalled.longest("relist")

    async def _read(self, cache: Cache) -> None:
        """A lister while writes go on."""
        keys = sorted(cache.keys())
        random.Random(1).shuffle(keys)  # programs ask in no order
        keys = json.loads(json.dumps(keys))  # copies, side by side in memory: it is the cache that is to be searched
        if (by_key := cache.by_key) is not None:
            await self._read_while_writing("reads_key", by_key, keys, at_a_time=_SLICE)
        if (by_index := cache.by_index) is not None:
            await self._read_while_writing("reads_index", by_index, [(namespace,) for namespace, _ in keys])
        if (by_label := cache.by_label) is not None:
            await self._read_while_writing("reads_selector", by_label, [("app", "app-7")])

    async def _read_while_writing(
        self, name: str, read: Callable[..., Any], asked: Sequence[Sequence[str]], *, at_a_time: int = 1
    ) -> None:
        count = int(1000 * self._plan["reads"])
        done = self._handler.expect(count, self._reading.glance)
        await self._source.tell(f"pace?rate=1000&events={count}")
        questions = itertools.cycle(asked)
        turn, started, cpu = 0, time.perf_counter(), time.process_time()
        while not done.is_set():
            until = time.perf_counter() + 0.001
            while time.perf_counter() < until:
                for each in itertools.islice(questions, at_a_time):
                    read(*each)
                turn += at_a_time
            await asyncio.sleep(0)
        self.figures[name] = turn / (time.perf_counter() - started)
        self.figures[f"{name}_cpu"] = (time.process_time() - cpu) / turn


async def main(contender: str, plan: dict[str, Any]) -> None:
    started = time.perf_counter()
    module = importlib.import_module(f"bench.contenders.{contender}")
    imported = time.perf_counter() - started
    resource = plan.get("resource", "pods")
    run = Run(plan, module.READING if resource == "pods" else module.OTHERS[resource])
    run.figures["import"] = imported
    await run.measure(module)
    print(json.dumps(run.figures), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))

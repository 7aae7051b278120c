"""One informer, in a process and an environment of its own. `informers.py` compares them; `clientgo/` is one in Go.

Run as `python -m bench.informer_run CONTENDER PLAN`, it prints its figures as JSON.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import sys
import time
from contextlib import nullcontext
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from bench.contender import Cache, Reading
from bench.process import Stalls, memory
from bench.replay_paths import SENT

Figures = dict[str, float]

_SLICE = 20  # reads between looks at the clock


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
        self._stalls = Stalls()
        self.figures: Figures = {}

    async def measure(self, module: Any) -> None:
        plan, options = self._plan, {"token": self._plan["token"]} if self._plan.get("token") else {}
        self.figures["baseline"] = memory("VmRSS")
        async with self._stalls.watching() if plan["events"] else nullcontext():
            started, cpu = time.perf_counter(), time.process_time()
            async with module.informer(plan["url"], self._handler.see, **options) as cache:
                self.figures["sync"] = plan["count"] / (time.perf_counter() - started)
                self.figures["sync_cpu"] = time.process_time() - cpu
                self.figures["peak"] = memory("VmHWM")
                if plan["events"]:
                    self.figures["sync_stall"] = self._stalls.longest()
                self._check(cache)
                self._settle()
                await self._follow(cache)

    async def _follow(self, cache: Cache) -> None:
        plan = self._plan
        if plan["relist"]:  # first, while nothing has changed
            await self._relist()
        if plan["events"]:
            await self._burst("events", self._reading.glance)
            await self._burst("fields", self._reading.touch)
        for rate in plan["rates"]:
            await self._latency(rate)
        if plan["reads"]:
            await self._read(cache)

    def _check(self, cache: Cache) -> None:
        if (held := len(cache.keys())) != self._plan["count"]:
            raise SystemExit(f"{held:,} objects came, not {self._plan['count']:,}")

    def _settle(self) -> None:
        gc.collect()
        self.figures["settled"] = memory("VmRSS")
        self._stalls.longest()  # the collector's is not the informer's

    async def _burst(self, name: str, call: Any) -> None:
        """Events as fast as they can be taken."""
        count = self._plan["events"]
        done = self._handler.expect(count, call)
        await self._source.tell(f"burst?events={count}")
        self._stalls.longest()
        started, cpu = time.perf_counter(), time.process_time()
        await done.wait()
        self.figures[name] = count / (time.perf_counter() - started)
        self.figures[f"{name}_cpu"] = (time.process_time() - cpu) / count
        self.figures[f"{name}_stall"] = self._stalls.longest()

    async def _latency(self, rate: float) -> None:
        """How long an event takes from the source to the handler."""
        count, took = max(int(rate * self._plan["seconds"]), 20), []
        annotations = self._reading.annotations

        def call(item: Any) -> None:
            took.append(time.monotonic_ns() - int(annotations(item)[SENT]))

        done = self._handler.expect(count, call)
        await self._source.tell(f"pace?rate={rate:g}&events={count}")
        await done.wait()
        self.figures |= percentiles(f"latency_{rate:g}", took)

    async def _relist(self) -> None:
        """From the source being asked again to all of it being handled; nothing has changed."""
        took: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def call(item: Any) -> None:
            # Some call their handlers with every object again; the one that carries the time comes after them.
            if sent := int(self._reading.annotations(item).get(SENT, 0)):
                took.get_loop().call_soon_threadsafe(took.set_result, time.monotonic_ns() - sent)

        self._handler.expect(0, call)
        cpu = time.process_time()
        await self._source.tell("expire")
        self._stalls.longest()
        self.figures["relist"] = await took / 1e9
        self.figures["relist_cpu"] = time.process_time() - cpu
        self.figures["relist_stall"] = self._stalls.longest()

    async def _read(self, cache: Cache) -> None:
        """A lister while writes go on."""
        keys = cache.keys()
        ways = {
            "key": cache.by_key and (lambda turn: cache.by_key(*keys[turn % len(keys)])),
            "index": cache.by_index and (lambda turn: cache.by_index(keys[turn % len(keys)][0])),
            "selector": cache.by_label and (lambda _turn: cache.by_label("app", "app-7")),
        }
        for name, read in ways.items():
            if read:
                self.figures[f"reads_{name}"] = await self._read_while_writing(read)

    async def _read_while_writing(self, read: Any) -> float:
        count = int(1000 * self._plan["seconds"])
        done = self._handler.expect(count, self._reading.glance)
        await self._source.tell(f"pace?rate=1000&events={count}")
        turn, started = 0, time.perf_counter()
        while not done.is_set():
            until = time.perf_counter() + 0.001
            while time.perf_counter() < until:
                for each in range(turn, turn + _SLICE):
                    read(each)
                turn += _SLICE
            await asyncio.sleep(0)
        return turn / (time.perf_counter() - started)


async def main(contender: str, plan: dict[str, Any]) -> None:
    started = time.perf_counter()
    module = importlib.import_module(f"bench.contenders.{contender}")
    imported = time.perf_counter() - started
    run = Run(plan, module.READING)
    run.figures["import"] = imported
    await run.measure(module)
    print(json.dumps(run.figures), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))

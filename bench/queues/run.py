"""Measures the work queue and the controller in their own process; `bench/clientgo/` measures client-go's.

`python -m bench.queues.run CONTENDER PLAN` prints the figures as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import listwatch as lw
from bench.harness.measurements import percentiles
from bench.replay.control import ReplayControl
from bench.replay.paths import SENT
from listwatch.models.core_v1 import Pod

Figures = dict[str, float]


async def main(plan: dict[str, Any]) -> None:
    figures: Figures = {}
    await _measure_reconciling(figures, plan)  # first, before the other fills the heap
    await _measure_queue(figures, plan["items"])
    print(json.dumps(figures), flush=True)


async def _measure_queue(figures: Figures, count: int) -> None:
    """Distinct items through the queue; then adds of a few items again and again, most of which are already queued."""
    queue: lw.WorkQueue[str] = lw.WorkQueue()
    started, cpu = time.perf_counter(), time.process_time()
    for number in range(count):
        queue.add(f"team/{number}")
    for _ in range(count):
        queue.done(await queue.get())
    figures["items"] = count / (time.perf_counter() - started)
    figures["items_cpu"] = (time.process_time() - cpu) / count
    started = time.perf_counter()
    for number in range(count):
        queue.add(f"team/{number % 100}")
    figures["repeated"] = count / (time.perf_counter() - started)


async def _measure_reconciling(figures: Figures, plan: dict[str, Any]) -> None:
    """Measure from the source to `reconcile`, which reads the object from the cache."""
    took: list[int] = []
    count = int(plan["rate"] * plan["seconds"])
    done = asyncio.Event()

    async def reconcile(key: lw.ObjectKey) -> None:
        if sent := int(controller.get(key).metadata.annotations.get(SENT, 0)):
            took.append(time.monotonic_ns() - sent)
            if len(took) == count:
                done.set()

    async with lw.ClientSet(lw.ClientConfig(host=plan["url"])) as client:
        controller = lw.Controller(reconcile, for_=Pod, client=client, concurrency=1)
        async with controller:
            await controller.wait_for_sync(timeout=60)
            await ReplayControl(plan["url"]).send(f"pace?rate={plan['rate']:g}&events={count}")
            cpu = time.process_time()
            await done.wait()
            figures["reconcile_cpu"] = (time.process_time() - cpu) / count
    figures |= percentiles("reconcile", took)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[2])))

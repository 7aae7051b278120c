"""Our work queue and controller, in a process of their own. `queues.py` compares them; `clientgo/` is the same in Go.

Run as `python -m bench.queue_run CONTENDER PLAN`, it prints its figures as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import listwatch as lw
from bench.informer_run import Figures, Source, percentiles
from bench.replay_paths import SENT
from listwatch.models.core_v1 import Pod


async def main(plan: dict[str, Any]) -> None:
    figures: Figures = {}
    await _measure_reconciling(figures, plan)  # first: what the other leaves behind would be in its way
    await _measure_queue(figures, plan["items"])
    print(json.dumps(figures), flush=True)


async def _measure_queue(figures: Figures, count: int) -> None:
    """Items through the queue, each different; then the same few, again and again, of which most are there already."""
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
    """From the source to `reconcile`, which reads the object from the cache."""
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
            await Source(plan["url"]).tell(f"pace?rate={plan['rate']:g}&events={count}")
            cpu = time.process_time()
            await done.wait()
            figures["reconcile_cpu"] = (time.process_time() - cpu) / count
    figures |= percentiles("reconcile", took)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[2])))

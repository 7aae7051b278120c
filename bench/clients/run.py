"""Measures one client in its own process and environment: list, watch and single GETs.

`python -m bench.clients.run CONTENDER PLAN` prints its figures as JSON; `comparison.py` starts it.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing
from functools import partial
from typing import Any

from bench.harness.contender import Client, ObjectReader

BLOCKING = ("listwatch_blocking", "lightkube", "kubernetes")


async def main(contender: str, plan: dict[str, Any]) -> None:
    module = importlib.import_module(f"bench.contenders.{contender}")
    async with module.client(plan["url"]) as client:
        print(json.dumps(await _measure(client, module.READER, plan)))


async def _measure(client: Client, reader: ObjectReader, plan: dict[str, Any]) -> dict[str, float]:
    count, figures = plan["count"], {}
    for suffix, handle in {"": reader.read_metadata, "_fields": reader.read_all}.items():
        figures["list" + suffix] = await _measure_warm(partial(_list, client, handle, count))
        if client.changes is not None:
            figures["watch" + suffix] = await _measure_warm(partial(_watch, client.changes, handle, plan))
    if client.pod is not None:
        figures["gets"] = await _measure_warm(partial(_get_often, client.pod, reader.read_metadata, plan))
    return figures


async def _measure_warm(measured: Callable[[], Awaitable[float]]) -> float:
    """The rate of the second run; the first run includes one-time costs."""
    await measured()
    gc.collect()
    return await measured()


async def _list(client: Client, handle: Callable[[Any], Any], expected: int) -> float:
    started, count = time.perf_counter(), 0
    for pod in await client.pods():
        handle(pod)
        count += 1
    return _rate(started, count, expected)


async def _watch(
    changes: Callable[[], AsyncGenerator[Any]], handle: Callable[[Any], Any], plan: dict[str, Any]
) -> float:
    started, count, expected = time.perf_counter(), 0, plan["count"]
    async with aclosing(changes()) as pods:
        async for pod in pods:
            handle(pod)
            count += 1
            if count == expected:  # most clients would watch again
                break
        return _rate(started, count, expected)


async def _get_often(get: Callable[[], Awaitable[Any]], handle: Callable[[Any], Any], plan: dict[str, Any]) -> float:
    count: int = plan["requests"]
    remaining = iter(range(count))

    async def send_requests() -> None:
        for _ in remaining:
            handle(await get())

    started = time.perf_counter()
    await asyncio.gather(*(send_requests() for _ in range(plan["in_flight"])))
    return count / (time.perf_counter() - started)


def _rate(started: float, count: int, expected: int) -> float:
    seconds = time.perf_counter() - started
    if count != expected:
        raise SystemExit(f"received {count:,} objects, expected {expected:,}")
    return count / seconds


def _run_blocking(main: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine that never suspends, without an event loop: the blocking API refuses to block one."""
    try:
        main.send(None)
    except StopIteration:
        return
    raise RuntimeError("a blocking contender suspended; it must not need an event loop")


if __name__ == "__main__":
    run = _run_blocking if sys.argv[1] in BLOCKING else asyncio.run
    run(main(sys.argv[1], json.loads(sys.argv[2])))

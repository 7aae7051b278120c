"""One client, in a process and an environment of its own: list, watch and single GETs. `clients.py` compares them.

Run as `python -m bench.client_run CONTENDER PLAN`, it prints its figures as JSON.
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

from bench.contender import Client, Reading

WITHOUT_LOOP = ("listwatch_blocking", "lightkube", "kubernetes")


async def main(contender: str, plan: dict[str, Any]) -> None:
    module = importlib.import_module(f"bench.contenders.{contender}")
    async with module.client(plan["url"]) as client:
        print(json.dumps(await _measure(client, module.READING, plan)))


async def _measure(client: Client, reading: Reading, plan: dict[str, Any]) -> dict[str, float]:
    count, figures = plan["count"], {}
    for suffix, handle in {"": reading.glance, "_fields": reading.touch}.items():
        figures["list" + suffix] = await _warm(partial(_list, client, handle, count))
        if client.changes is not None:
            figures["watch" + suffix] = await _warm(partial(_watch, client.changes, handle, plan))
    if client.pod is not None:
        figures["gets"] = await _warm(partial(_get_often, client.pod, reading.glance, plan))
    return figures


async def _warm(measured: Callable[[], Awaitable[float]]) -> float:
    """The rate of the second turn: the first also pays for what is made once."""
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
            if count == expected:  # most of them would watch again
                break
        return _rate(started, count, expected)


async def _get_often(get: Callable[[], Awaitable[Any]], handle: Callable[[Any], Any], plan: dict[str, Any]) -> float:
    count: int = plan["requests"]
    turns = iter(range(count))

    async def ask() -> None:
        for _ in turns:
            handle(await get())

    started = time.perf_counter()
    await asyncio.gather(*(ask() for _ in range(plan["in_flight"])))
    return count / (time.perf_counter() - started)


def _rate(started: float, count: int, expected: int) -> float:
    seconds = time.perf_counter() - started
    if count != expected:
        raise SystemExit(f"{count:,} came, not {expected:,}")
    return count / seconds


def _run_without_loop(main: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine that never suspends; the blocking API refuses to run in an event loop, the others need none."""
    try:
        main.send(None)
    except StopIteration:
        return
    raise RuntimeError("a blocking contender has waited for an event loop")


if __name__ == "__main__":
    run = _run_without_loop if sys.argv[1] in WITHOUT_LOOP else asyncio.run
    run(main(sys.argv[1], json.loads(sys.argv[2])))

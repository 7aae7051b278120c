"""Measures the frames of `listwatch top` over a replayed list: `python -m bench.top_frames 100000 [events/s]`."""

from __future__ import annotations

import asyncio
import io
import sys
import time
from collections.abc import Callable

from rich.console import Console

from bench.replay.control import ReplayControl
from bench.replay.replay_server import replaying
from listwatch.cli.screen import Screen
from listwatch.cli.top.live import Top
from listwatch.client import ClientConfig, ClientSet
from listwatch.clock import SystemClock
from listwatch.models.core_v1 import Pod

_INTERVAL = 0.1
_FRAMES = 40


async def measure(url: str, rate: int) -> None:
    async with ClientSet(ClientConfig(host=url)) as client:
        assert Pod.resource is not None
        source = client.dynamic.resource(Pod.resource)
        top = Top(source, source.kind, Pod.resource, where="", metadata_only=False, clock=SystemClock())
        screen = Screen(Console(file=io.StringIO(), force_terminal=True, width=160, height=50, color_system="256"))
        started = time.perf_counter()
        async with top.informer:
            await _frames("while the cache syncs", top, screen, until=lambda: top.informer.has_synced)
            print(f"{'synced after':<40}{time.perf_counter() - started:8.1f} s, {len(top.informer.indexer):,} objects")
            await _settle(top, screen)
            control = ReplayControl(url)
            await control.send(f"pace?rate={rate}&events={rate * 600}")
            await _frames(f"sorted by namespace, {rate} events/s", top, screen)
            top.rows.sort(top.column("changes"))
            await _settle(top, screen)
            await _frames(f"sorted by changes, {rate} events/s", top, screen)
            top.rows.sort(top.column("age"))
            await _frames("while it is sorted by age", top, screen, until=lambda: top.rows.progress >= 1)
            await _frames(f"sorted by age, {rate} events/s", top, screen)
            for key in "/app-7":
                top.table.press(key)
            await _frames(f"with a filter, {rate} events/s", top, screen)
            top.table.press("enter")
            await _frames("scrolling by pages", top, screen, key="page down")


async def _settle(top: Top, screen: Screen) -> None:
    while top.rows.progress < 1:
        top.frame(screen, width=160, height=50)
        await asyncio.sleep(0.01)


async def _frames(
    what: str, top: Top, screen: Screen, *, key: str = "", until: Callable[[], bool] | None = None
) -> None:
    took: list[float] = []
    cpu: list[float] = []
    while len(took) < _FRAMES if until is None else not until():
        if key:
            top.table.press(key)
        started, cpu_started = time.perf_counter(), time.thread_time()
        top.frame(screen, width=160, height=50)
        took.append(1000 * (time.perf_counter() - started))
        cpu.append(1000 * (time.thread_time() - cpu_started))
        await asyncio.sleep(_INTERVAL if top.rows.progress >= 1 else 0.001)  # as `Top.run` does
    if took:
        print(f"{what:<40}{_figures(took)}; CPU {_figures(cpu)}; {len(took)} frames")


def _figures(milliseconds: list[float]) -> str:
    ordered = sorted(milliseconds)
    middle, high = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]
    return f"{middle:6.1f} ms median, {high:5.1f} p95, {ordered[-1]:5.1f} max"


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with replaying(count) as url:
        asyncio.run(measure(url, int(sys.argv[2]) if len(sys.argv) > 2 else 500))

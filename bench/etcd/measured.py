"""The figures of this part. Contenders in other environments import it too, so that it needs no package."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

__all__ = ["figures_of"]


async def figures_of(
    count: int, listed: Callable[[], Awaitable[None]], watched: Callable[[], Awaitable[None]]
) -> dict[str, float]:
    """Keys and events per second, and microseconds of CPU for each; both run once before, as a warm-up."""
    figures: dict[str, float] = {}
    for name, cpu, run in (("keys", "key_cpu", listed), ("events", "event_cpu", watched)):
        await run()
        started, used = time.perf_counter(), time.process_time()
        await run()
        figures[name] = count / (time.perf_counter() - started)
        figures[cpu] = (time.process_time() - used) / count * 1e6
    return figures

"""Runs coroutines side by side, without leaving one behind: until all have ended, or until one need not go on."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any

__all__ = ["run_together", "run_unless"]


async def run_together(coroutines: Iterable[Coroutine[Any, Any, object]]) -> None:
    """Return when all have ended; if one fails the others are cancelled, and its error is raised as it is."""
    tasks = [asyncio.create_task(each) for each in coroutines]
    if not tasks:
        return
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()


async def run_unless(over: asyncio.Event, coroutine: Coroutine[Any, Any, object]) -> bool:
    """Return True when it has ended, and False if the event came first, for which it is cancelled."""
    running, waiting = asyncio.create_task(coroutine), asyncio.create_task(over.wait())
    try:
        await asyncio.wait([running, waiting], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (running, waiting):
            task.cancel()
        await asyncio.wait([running, waiting])
    if not running.cancelled():
        running.result()
    return not running.cancelled()

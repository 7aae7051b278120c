"""Tells a program who leads. `elector.py` says when it has looked."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable

__all__ = ["Announcer", "OnNewLeader"]

OnNewLeader = Callable[[str], object]

_log = logging.getLogger("listwatch.leaderelection")


class Announcer:
    """Tells of each new leader once; the election goes on meanwhile, and whatever comes of it."""

    def __init__(self, on_new_leader: OnNewLeader | None, *, lock: str) -> None:
        self._on_new_leader = on_new_leader
        self._lock = lock
        self._last = ""
        self._under_way: set[asyncio.Task[None]] = set()

    def announce(self, leader: str) -> None:
        if leader in ("", self._last):
            return
        self._last = leader
        _log.info("the leader for %s is %s", self._lock, leader)
        try:
            told = self._on_new_leader(leader) if self._on_new_leader else None
        except Exception:  # noqa: BLE001  # it is the user's function
            self._log_failure(leader)
            return
        if inspect.isawaitable(told):
            task = asyncio.create_task(self._finish(told, leader), name=f"on_new_leader of {self._lock}")
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)

    def stop(self) -> None:
        """Cancel what is under way."""
        for task in self._under_way:
            task.cancel()

    async def _finish(self, told: Awaitable[object], leader: str) -> None:
        try:
            await told
        except Exception:  # noqa: BLE001  # it is the user's function
            self._log_failure(leader)

    def _log_failure(self, leader: str) -> None:
        _log.exception("on_new_leader failed for %s, the leader for %s", leader, self._lock)

"""A handler that checks what it is told against what it was told before."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from listwatch.meta import is_newer
from listwatch.objects.object import Object

__all__ = ["Witness"]


class Witness:
    """Notes every story that is not legal: added, then updated, then deleted; versions never back; nothing twice.

    `trouble` is called after each note, and may raise, or return something to wait for: handlers are slow and fail.
    Who is not told everything may be told of an update from a state that he has not seen, which is no mistake.
    """

    def __init__(
        self, name: str, trouble: Callable[[], Awaitable[Any] | None] = lambda: None, *, sees_all: bool = True
    ) -> None:
        self.name = name
        self._sees_all = sees_all
        self.told = 0
        self.known: dict[str, str] = {}
        """The version of each object that is there, as far as this handler knows."""
        self.mistakes: list[str] = []
        self._gone: dict[str, str] = {}
        self._trouble = trouble
        self._has_news = asyncio.Event()

    async def wait_told(self, key: str, version: str) -> None:
        """Return when this handler was told of an object in that version or a later one."""
        while (known := self.known.get(key)) is None or is_newer(version, known):
            self._has_news.clear()
            await self._has_news.wait()

    def on_add(self, item: Object) -> Awaitable[Any] | None:
        key, version = str(item.key), item.resource_version
        if key in self.known:
            self._mistake(f"{key} was added @{version}, and known @{self.known[key]}")
        if key in self._gone and not is_newer(version, self._gone.pop(key)):
            self._mistake(f"{key} was added @{version}, which is older than its end")
        self.known[key] = version
        return self._noted()

    def on_update(self, old: Object, new: Object) -> Awaitable[Any] | None:
        key, version, before = str(new.key), new.resource_version, self.known.get(str(new.key))
        if before is None:
            self._mistake(f"{key} was updated @{version}, and never added")
        elif old.resource_version != before and (self._sees_all or is_newer(before, old.resource_version)):
            self._mistake(f"{key} was updated from @{old.resource_version}, and known @{before}")
        elif is_newer(before, version):
            self._mistake(f"{key} went back from @{before} to @{version}")
        self.known[key] = version
        return self._noted()

    def on_delete(self, item: Object) -> Awaitable[Any] | None:
        key, version = str(item.key), item.resource_version
        before = self.known.pop(key, None)
        if before is None:
            self._mistake(f"{key} was deleted @{version}, and never added")
        elif is_newer(before, version):
            self._mistake(f"{key} was deleted @{version}, and known @{before}")
        self._gone[key] = version
        return self._noted()

    def _noted(self) -> Awaitable[Any] | None:
        self.told += 1
        self._has_news.set()
        return self._trouble()

    def _mistake(self, what: str) -> None:
        self.mistakes.append(f"{self.name}: {what}")

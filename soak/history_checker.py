"""A handler that checks that its notifications form a valid history."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from listwatch.meta import is_newer
from listwatch.objects.object import Object

__all__ = ["HistoryChecker"]


class HistoryChecker:
    """Records violations: an object is added, then updated, then deleted, once each; versions never decrease.

    `behaviour` is called after each notification and may raise or return an awaitable, like a failing or slow handler.
    With `sees_all=False`, notifications may be coalesced: an update may start from a state that was not notified.
    """

    def __init__(
        self, name: str, behaviour: Callable[[], Awaitable[Any] | None] = lambda: None, *, sees_all: bool = True
    ) -> None:
        self.name = name
        self._sees_all = sees_all
        self.notifications = 0
        self.known: dict[str, str] = {}
        """The last version of each object that exists according to the notifications."""
        self.violations: list[str] = []
        self._deleted: dict[str, str] = {}
        self._behaviour = behaviour
        self._notified = asyncio.Event()

    async def wait_notified(self, key: str, version: str) -> None:
        """Return when this handler was notified of an object in that version or a later one."""
        while (known := self.known.get(key)) is None or is_newer(version, known):
            await self.wait_any()

    async def wait_any(self) -> None:
        """Wait for the next notification."""
        self._notified.clear()
        await self._notified.wait()

    def on_add(self, item: Object) -> Awaitable[Any] | None:
        key, version = str(item.key), item.resource_version
        if key in self.known:
            self._violation(f"{key} was added @{version}, but is already known @{self.known[key]}")
        if key in self._deleted and not is_newer(version, self._deleted.pop(key)):
            self._violation(f"{key} was added @{version}, which is not newer than its deletion")
        self.known[key] = version
        return self._count()

    def on_update(self, old: Object, new: Object) -> Awaitable[Any] | None:
        key, version, before = str(new.key), new.resource_version, self.known.get(str(new.key))
        if before is None:
            self._violation(f"{key} was updated @{version}, but never added")
        elif old.resource_version != before and (self._sees_all or is_newer(before, old.resource_version)):
            self._violation(f"{key} was updated from @{old.resource_version}, but is known @{before}")
        elif is_newer(before, version):
            self._violation(f"{key} went back from @{before} to @{version}")
        self.known[key] = version
        return self._count()

    def on_delete(self, item: Object) -> Awaitable[Any] | None:
        key, version = str(item.key), item.resource_version
        before = self.known.pop(key, None)
        if before is None:
            self._violation(f"{key} was deleted @{version}, but never added")
        elif is_newer(before, version):
            self._violation(f"{key} was deleted @{version}, but is known @{before}")
        self._deleted[key] = version
        return self._count()

    def _count(self) -> Awaitable[Any] | None:
        self.notifications += 1
        self._notified.set()
        return self._behaviour()

    def _violation(self, what: str) -> None:
        self.violations.append(f"{self.name}: {what}")

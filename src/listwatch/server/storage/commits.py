"""Makes writes safe before anybody hears of them, and does what follows from them. `storage` has the group commits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from listwatch.server.storage.storage import Storage

__all__ = ["Commits"]


class Commits:
    """Nothing leaves the server before `settled` has returned; with `grouped`, many wait for one sync of the disk."""

    def __init__(self, storage: Storage, follow_up: Callable[[], None], *, grouped: bool) -> None:
        self._storage = storage
        self._follow_up = follow_up
        self._grouped = grouped
        self._settled_revision = storage.revision
        self._next: asyncio.Future[None] | None = None

    async def settled(self) -> None:
        """Return when all that was written so far is safe, with what followed from it."""
        if self._storage.revision == self._settled_revision:
            return
        if not self._grouped:
            self._settle()
            return
        if self._next is None:
            loop = asyncio.get_running_loop()
            self._next = loop.create_future()
            # After all requests that are there already: they share the sync.
            loop.call_soon(self._settle_group, self._next)
        # One who is cancelled must not take the others along.
        await asyncio.shield(self._next)

    def _settle_group(self, group: asyncio.Future[None]) -> None:
        self._next = None
        try:
            self._settle()
        except Exception as error:  # noqa: BLE001  # whoever waits gets to know
            group.set_exception(error)
            group.exception()  # seen, even if nobody waits any more
        else:
            group.set_result(None)

    def _settle(self) -> None:
        while self._settled_revision != self._storage.revision:
            self._storage.sync()
            self._settled_revision = self._storage.revision
            # What follows is written too, and something may follow from that.
            self._follow_up()

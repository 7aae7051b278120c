"""Makes writes durable before their responses are sent, and runs the controllers that react to them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol

from listwatch.server.storage.storage import Storage
from listwatch.server.storage.values import JournalError

__all__ = ["Commits", "Controller"]

_log = logging.getLogger("listwatch.server")


class Controller(Protocol):
    """Reacts to writes with further writes."""

    @property
    def has_pending(self) -> bool: ...

    def run_pending(self) -> None: ...

    def recover(self) -> None:
        """Read all objects again, after writes of this controller may have been lost."""


class Commits:
    """Commits writes: a response is sent after `wait_durable` returns. With `grouped`, many requests share one sync.

    If a sync fails, all requests of the group get the JournalError, and the storage has none of their writes.
    """

    def __init__(self, storage: Storage, controllers: Sequence[Controller], *, grouped: bool) -> None:
        self._storage = storage
        self._controllers = controllers
        self._grouped = grouped
        self._committed_revision = storage.revision
        self._seen_rollbacks = storage.rollbacks
        self._next: asyncio.Future[None] | None = None

    async def wait_durable(self) -> None:
        """Return when all writes so far are durable, and the controllers have reacted to them."""
        storage = self._storage
        if storage.revision == self._committed_revision:
            return
        rollbacks = storage.rollbacks
        if not self._grouped:
            self.commit()
            return
        if self._next is None:
            loop = asyncio.get_running_loop()
            self._next = loop.create_future()
            # Runs after the requests that were already received, which share the sync.
            loop.call_soon(self._commit_group, self._next)
        # The cancellation of one request must not cancel the others.
        await asyncio.shield(self._next)
        if storage.rollbacks != rollbacks:
            raise JournalError("the writes of this request may have been lost")

    def _commit_group(self, group: asyncio.Future[None]) -> None:
        self._next = None
        try:
            self.commit()
        except Exception as error:  # noqa: BLE001  # every waiting request gets the error
            group.set_exception(error)
            group.exception()  # marks it as retrieved, in case all requests were cancelled
        else:
            group.set_result(None)

    def commit(self) -> None:
        """Make all writes durable and run the controllers, until they write nothing more."""
        while self._committed_revision != self._storage.revision:
            self._storage.sync()
            self._committed_revision = self._storage.revision
            if self._seen_rollbacks != self._storage.rollbacks:
                self._recover()
            self.run_controllers()

    def _recover(self) -> None:
        self._seen_rollbacks = self._storage.rollbacks
        for controller in self._controllers:
            controller.recover()

    def run_controllers(self) -> None:
        for controller in self._controllers:
            if controller.has_pending:
                _run(controller)


def _run(controller: Controller) -> None:
    try:
        controller.run_pending()
    except JournalError:
        pass  # logged by the journal; the controller recovers after the next write that is stored
    except Exception:  # noqa: BLE001  # the request that made the write is not the cause
        _log.exception("A controller of the API server failed", extra={"controller": type(controller).__name__})

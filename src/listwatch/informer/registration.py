"""What a program holds of a handler that it has added. `shared_informer.py` gives it out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, Protocol, TypeVar

from listwatch.informer.listener import Listener, ListenerStatistics
from listwatch.objects.object import Object

__all__ = ["HandlerRegistration"]

T = TypeVar("T", bound=Object)


class _WaitForSync(Protocol[T]):
    def __call__(
        self, timeout: float | None = None, *, handlers: Sequence[HandlerRegistration[T]] | None = None
    ) -> Awaitable[None]: ...


class HandlerRegistration(Generic[T]):
    """One handler at one informer; each registration has a backlog and a sync state of its own."""

    def __init__(
        self,
        listener: Listener[T],
        *,
        leave: Callable[[Listener[T]], None],
        wait_ended: Callable[[Listener[T]], Awaitable[None]],
        wait_for_sync: _WaitForSync[T],
    ) -> None:
        self._listener = listener
        self._leave = leave
        self._wait_ended = wait_ended
        self._wait_for_sync = wait_for_sync

    def __repr__(self) -> str:
        return f"<HandlerRegistration of {self._listener.name}, {'in step' if self.has_synced else 'not in step'}>"

    @property
    def has_synced(self) -> bool:
        """True once the handler has handled all that was there when it came."""
        return self._listener.caught_up.is_set()

    async def wait_for_sync(self, timeout: float | None = None) -> None:
        """Wait until `has_synced`; raises SyncTimeoutError."""
        await self._wait_for_sync(timeout, handlers=[self])

    def remove(self) -> None:
        """Tell the handler nothing more; a call under way goes on to its end. Removing twice does nothing."""
        self._leave(self._listener)

    async def wait_removed(self) -> None:
        """Remove the handler and wait for the call under way. Not to be awaited by the handler itself."""
        self.remove()
        await self._wait_ended(self._listener)

    def statistics(self) -> ListenerStatistics:
        return self._listener.statistics()

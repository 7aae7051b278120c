"""Local sockets whose other ends are connections to a pod, for libraries that need a socket."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import suppress

from listwatch.client.pods.port_opener import PortOpener
from listwatch.client.pods.port_stream import PortStream
from listwatch.client.pods.relay import relay
from listwatch.clock import Clock
from listwatch.errors import ListWatchError

__all__ = ["PortSockets"]

_log = logging.getLogger("listwatch.client")


class PortSockets:
    """Opens connections to a pod as local sockets, each with a task that moves the bytes."""

    def __init__(self, opener: PortOpener, clock: Clock) -> None:
        self._opener = opener
        self._clock = clock
        self._relays: set[asyncio.Task[None]] = set()
        self._unstarted: dict[asyncio.Task[None], tuple[PortStream, socket.socket]] = {}
        """What a task that is cancelled before its first step would leave open."""

    async def open(self, port: int, on_error: Callable[[ListWatchError], object] | None = None) -> socket.socket:
        """Open a connection; `on_error` is called before the socket ends because of an error of the connection."""
        stream = await self._opener.open(port)
        try:
            ours, theirs = socket.socketpair()
        except OSError:  # there are too many open files
            await stream.aclose()
            raise
        ours.setblocking(False)
        task = asyncio.get_running_loop().create_task(
            self._relay(stream, theirs, on_error), name=f"{stream!r} of a local socket"
        )
        self._relays.add(task)
        self._unstarted[task] = stream, theirs
        task.add_done_callback(self._relays.discard)
        return ours

    async def _relay(
        self, stream: PortStream, local: socket.socket, on_error: Callable[[ListWatchError], object] | None
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        del self._unstarted[task]
        reader, writer = await asyncio.open_connection(sock=local)
        try:
            await relay(stream, reader, writer, self._clock, on_error)
        except ListWatchError as error:
            # The user of the socket may see only that it was closed.
            _log.warning("A connection to %s failed: %s", self._opener, error)

    def close(self) -> list[asyncio.Task[None]]:
        """Start to close all connections, and return the tasks to wait for."""
        for task in (relays := [*self._relays]):
            task.cancel()
            if task in self._unstarted:
                stream, local = self._unstarted.pop(task)
                stream.close()
                local.close()
        return relays

    async def aclose(self) -> None:
        """Close all connections."""
        if relays := self.close():
            with suppress(OSError):
                await asyncio.wait(relays)

"""Connects a local socket with a port of a pod, in both directions, with bounded buffers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from listwatch.clock import Clock
from listwatch.errors import ConnectionLostError, ListWatchError
from listwatch.tasks.cancellation import cancel_and_wait

__all__ = ["PortConnection", "relay"]

_READ_SIZE = 2**16
# The protocol cannot pass on that the local side has sent everything; what the pod sends for this long still arrives.
_LINGER = 5.0


class PortConnection(Protocol):
    """One open connection to a port of a pod."""

    @property
    def received(self) -> int:
        """How many bytes were received."""

    async def read(self) -> bytes: ...
    async def write(self, data: bytes) -> None: ...
    async def aclose(self) -> None: ...
    def close(self) -> None: ...


async def relay(
    stream: PortConnection,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    clock: Clock,
    on_error: Callable[[ListWatchError], object] | None = None,
) -> None:
    """Pass data on until one side closes its connection, and close the other one. Raises PortForwardError.

    `on_error` is called with an error of the pod's side before the local side is closed.
    """
    sending = asyncio.create_task(_send(reader, stream, clock), name=f"{stream!r} sends")
    try:
        while data := await stream.read():
            writer.write(data)
            await writer.drain()
    except OSError:
        pass  # the local side has closed its connection
    except ListWatchError as error:
        if on_error is not None:
            on_error(error)
        raise
    finally:
        await stream.aclose()
        with suppress(OSError, ConnectionLostError):
            await cancel_and_wait(sending)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def _send(reader: asyncio.StreamReader, stream: PortConnection, clock: Clock) -> None:
    try:
        while data := await reader.read(_READ_SIZE):
            await stream.write(data)
        received = -1
        while received != stream.received:
            received = stream.received
            await clock.sleep(_LINGER)
    finally:
        stream.close()

"""Ports that stay reserved while their server is down."""

from __future__ import annotations

import socket

__all__ = ["LOOPBACK", "ReservedPort"]

LOOPBACK = "127.0.0.1"


class ReservedPort:
    """A loopback port that the kernel assigns to no other socket until it is closed.

    It is bound but not listened on. A server with SO_REUSEPORT can listen on it, and be restarted there after a kill.
    Meanwhile the kernel does not use it as the source port of a connection.
    """

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._socket.bind((LOOPBACK, 0))
        self.number: int = self._socket.getsockname()[1]

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.number}"

    def close(self) -> None:
        self._socket.close()

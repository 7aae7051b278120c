"""A port that stays ours while the server behind it is down. `real_etcd` and `real_api_server` listen on such ports."""

from __future__ import annotations

import socket

__all__ = ["LOOPBACK", "ReservedPort"]

LOOPBACK = "127.0.0.1"


class ReservedPort:
    """A free loopback port that the kernel gives to nobody else until it is closed.

    It is bound here and never listened on. A program that shares ports (SO_REUSEPORT) can listen on it, and do so again
    after it was killed: no client of ours gets it for its own end of a connection meanwhile.
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

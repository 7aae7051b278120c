"""A real API server in a thread, for programs without an event loop and for the pytest fixtures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from listwatch.testing.real.real_api_server import RealAPIServer
from listwatch.testing.real.real_binaries import RealBinaries
from listwatch.testing.server_thread import ClusterThread

if TYPE_CHECKING:
    from listwatch.server.access.certificates import KeyPair

__all__ = ["RealAPIServer", "RealAPIServerThread", "RealBinaries"]


class RealAPIServerThread(ClusterThread[RealAPIServer]):
    """A RealAPIServer in its own thread, usable from any thread between `start` and `stop`."""

    def __init__(self, server: RealAPIServer | None = None) -> None:
        super().__init__(server or RealAPIServer())

    @property
    def binaries(self) -> RealBinaries:
        return self._server.binaries

    @property
    def pid(self) -> int:
        return self._server.pid

    @property
    def etcd_url(self) -> str:
        return self._server.etcd_url

    def kubeconfig(self, path: str | os.PathLike[str]) -> None:
        self._server.kubeconfig(path)

    def issue_certificate(self, name: str, *, groups: Sequence[str] = ()) -> KeyPair:
        return self._server.issue_certificate(name, groups=groups)

    def revision(self) -> int:
        return self.await_call(lambda server: server.revision())

    def compact(self, revision: int | None = None) -> None:
        self.await_call(lambda server: server.compact(revision))

    def kill_api_server(self) -> None:
        self.await_call(lambda server: server.kill_api_server())

    def start_api_server(self) -> None:
        self.await_call(lambda server: server.start_api_server())

    def kill_etcd(self) -> None:
        self.await_call(lambda server: server.kill_etcd())

    def start_etcd(self) -> None:
        self.await_call(lambda server: server.start_etcd())

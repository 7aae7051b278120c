"""An embedded API server in a thread, for programs without an event loop and for the pytest fixtures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from listwatch.server.api_server import APIServer, Statistics
from listwatch.server.faults.faults import Faults
from listwatch.server.faults.request_log import Criteria, LoggedRequest, RequestLog, Stage
from listwatch.server.storage.storage import Storage
from listwatch.testing.server_thread import ClusterThread

if TYPE_CHECKING:
    from listwatch.client.config.client_config import ClientConfig

__all__ = ["APIServerThread"]


class APIServerThread(ClusterThread[APIServer]):
    """An APIServer in its own thread, usable from any thread between `start` and `stop`."""

    def __init__(self, server: APIServer | None = None) -> None:
        super().__init__(server or APIServer())

    @property
    def faults(self) -> Faults:
        return self._server.faults

    @property
    def requests(self) -> RequestLog:
        return self._server.requests

    @property
    def revision(self) -> int:
        return self._server.revision

    def kubeconfig(self, path: str | os.PathLike[str]) -> None:
        self.call(lambda server: server.kubeconfig(path))

    def issue_token(self, name: str, *, groups: Sequence[str] = ()) -> str:
        return self.call(lambda server: server.issue_token(name, groups=groups))

    def config_for_token(self, token: str) -> ClientConfig:
        return self._server.config_for_token(token)

    def recorded_permissions(self, user: str, *, name: str = "recorded") -> str:
        return self.call(lambda server: server.recorded_permissions(user, name=name))

    def snapshot(self) -> Storage:
        return self.call(lambda server: server.snapshot())

    def save_snapshot(self, file: str | os.PathLike[str]) -> None:
        self.call(lambda server: server.save_snapshot(file))

    def export_yaml(self) -> str:
        return self.call(lambda server: server.export_yaml())

    def import_yaml(self, text: str | bytes) -> int:
        return self._result_of(self._server.import_yaml(text), None)

    def compact(self, revision: int | None = None) -> None:
        self.call(lambda server: server.compact(revision))

    def statistics(self) -> Statistics:
        return self.call(lambda server: server.statistics())

    def wait_for_requests(
        self, count: int = 1, *, until: Stage = "responded", timeout: float | None = None, **criteria: Unpack[Criteria]
    ) -> list[LoggedRequest]:
        """Like `APIServer.wait_for_requests`; raises TimeoutError after `timeout` seconds."""
        return self._result_of(self._server.wait_for_requests(count, until=until, **criteria), timeout)

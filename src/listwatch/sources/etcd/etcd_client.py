"""The connection to an etcd cluster, which its sources, stores and leases share."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from types import TracebackType
from typing import Self

from listwatch.client.config.client_config import ClientConfig
from listwatch.clock import Clock, SystemClock
from listwatch.errors import UsageError
from listwatch.sources.etcd.gateway import Gateway

__all__ = ["EtcdClient"]

_DEFAULT_TIMEOUT = 10.0  # etcd's own limit is 7 s


class EtcdClient:
    """A connection to an etcd cluster through the JSON gateway of its members (etcd 3.4 or newer).

    `endpoints` are URLs of members; requests go to one of them, and to the next when it fails. The options of TLS are
    those of `ClientConfig`. `timeout` limits each request to one member.
    """

    def __init__(
        self,
        endpoints: str | Sequence[str] = "http://127.0.0.1:2379",
        *,
        username: str = "",
        password: str = "",
        ca_file: str = "",
        ca_data: bytes = b"",
        client_cert_file: str = "",
        client_key_file: str = "",
        client_cert_data: bytes = b"",
        client_key_data: bytes = b"",
        tls_server_name: str = "",
        insecure_skip_tls_verify: bool = False,
        timeout: float = _DEFAULT_TIMEOUT,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None:
        urls = [endpoints] if isinstance(endpoints, str) else [*endpoints]
        if not urls:
            raise UsageError("endpoints is empty; pass the URL of at least one member, such as http://127.0.0.1:2379")
        if bool(username) != bool(password):
            raise UsageError("pass username and password together, or neither")
        configs = [
            ClientConfig(
                host=url,
                ca_file=ca_file,
                ca_data=ca_data,
                client_cert_file=client_cert_file,
                client_key_file=client_key_file,
                client_cert_data=client_cert_data,
                client_key_data=client_key_data,
                tls_server_name=tls_server_name,
                insecure_skip_tls_verify=insecure_skip_tls_verify,
                disable_compression=True,
            )
            for url in urls
        ]
        self._gateway = Gateway(
            configs,
            username=username,
            password=password,
            timeout=timeout,
            clock=clock or SystemClock(),
            random=random or Random(),
            owner=type(self).__name__,
        )

    def __repr__(self) -> str:
        return f"<EtcdClient of {', '.join(self.endpoints)}>"

    @property
    def endpoints(self) -> tuple[str, ...]:
        """The URLs of the members."""
        return tuple(member.url for member in self._gateway.members)

    async def aclose(self) -> None:
        """Close all connections, also those of watches."""
        await self._gateway.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

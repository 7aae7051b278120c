"""The base of all clients: requests to one API server, built step by step.

    async with RESTClient(config) as rest:
        pod = (await rest.get().namespace("default").resource("pods").name("web-0").do()).into(Pod)

`request` has the steps, `sender` what happens to a request on its way, `transport` the way.
"""

from __future__ import annotations

import copy
from typing import Self

from listwatch.api.requests import PATCH_TYPES, api_path
from listwatch.client.config.client_config import ClientConfig, check_config
from listwatch.client.rest.rate_limiter import RateLimiter, TokenBucket
from listwatch.client.rest.request import Request
from listwatch.client.rest.result import Result
from listwatch.client.rest.sender import ClientStatistics, Sender, Transport
from listwatch.client.rest.warnings import WarningReporter
from listwatch.clock import Clock, SystemClock

__all__ = ["ClientStatistics", "RESTClient", "Request", "Result"]


class RESTClient:
    """Requests to one API server, below one group-version; all that come from one client share its connections."""

    def __init__(
        self,
        config: ClientConfig,
        *,
        group_version: str = "v1",
        transport: Transport | None = None,
        rate_limiter: RateLimiter | None = None,
        clock: Clock | None = None,
    ) -> None:
        check_config(config)
        self._config = config
        self._group_version = group_version
        self._prefix = api_path(group_version)
        self._owns_sender = True
        clock = clock or SystemClock()
        self._sender = Sender(
            transport or _transport(config, clock),
            limiter=rate_limiter or _limiter(config, clock),
            warnings=WarningReporter(config.warning_handler),
            clock=clock,
        )

    @property
    def config(self) -> ClientConfig:
        return self._config

    @property
    def group_version(self) -> str:
        return self._group_version

    def for_group_version(self, group_version: str) -> Self:
        """The same client below another group-version, such as `apps/v1`; it lives as long as this one."""
        sibling = copy.copy(self)
        sibling._group_version, sibling._prefix = group_version, api_path(group_version)
        sibling._owns_sender = False
        return sibling

    # --- verbs -------------------------------------------------------------------------------------------------------

    def get(self) -> Request:
        return self.verb("GET")

    def post(self) -> Request:
        return self.verb("POST")

    def put(self) -> Request:
        return self.verb("PUT")

    def patch(self, patch_type: str) -> Request:
        """A patch that is `json`, `merge`, `strategic` or `apply`, or of some other content type."""
        return self.verb("PATCH").header("Content-Type", PATCH_TYPES.get(patch_type, patch_type))

    def delete(self) -> Request:
        return self.verb("DELETE")

    def verb(self, method: str) -> Request:
        """A request of any HTTP method."""
        return Request(self._sender, method.upper(), prefix=self._prefix, timeout=self._config.timeout)

    # --- life --------------------------------------------------------------------------------------------------------

    def statistics(self) -> ClientStatistics:
        return self._sender.statistics()

    async def aclose(self) -> None:
        """Close every connection, also those in use."""
        if self._owns_sender:
            await self._sender.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<RESTClient of {self._config.base_url} {self._group_version}>"


def _transport(config: ClientConfig, clock: Clock) -> Transport:
    # Here and not above: whoever brings a transport of their own needs no HTTP library.
    from listwatch.client.transport.aiohttp_transport import AiohttpTransport

    return AiohttpTransport(config, clock=clock)


def _limiter(config: ClientConfig, clock: Clock) -> RateLimiter | None:
    return None if config.qps is None else TokenBucket(qps=config.qps, burst=config.burst, clock=clock)

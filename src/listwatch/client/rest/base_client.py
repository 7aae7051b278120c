"""What all clients over a RESTClient have in common: where it comes from, and when it is closed."""

from __future__ import annotations

from typing import Self

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.rest.rest_client import RESTClient

__all__ = ["Connected"]


class Connected:
    """A client that makes its RESTClient from a configuration and closes it, or uses another's and leaves it open."""

    def __init__(self, config: ClientConfig | RESTClient) -> None:
        self._owns_rest = not isinstance(config, RESTClient)
        self._rest = config if isinstance(config, RESTClient) else RESTClient(config)

    @property
    def rest(self) -> RESTClient:
        """The client below this one; all that share it share its connections."""
        return self._rest

    async def aclose(self) -> None:
        """Close every connection, unless they are another client's."""
        if self._owns_rest:
            await self._rest.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._rest.config.base_url}>"

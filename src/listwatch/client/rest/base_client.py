"""The base class of the clients over a RESTClient."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Self

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import UsageError
from listwatch.tasks.async_only import AsyncOnly, missing_attribute

if TYPE_CHECKING:
    from listwatch.recording.recorder import Recorder

__all__ = ["BaseClient"]


class BaseClient(AsyncOnly):
    """A client over a RESTClient.

    `config` is a ClientConfig, or a RESTClient to share. Without it, `load_config()` is called on entering
    `async with`, or with the first request. A shared RESTClient is not closed with this client.

    With `record`, what is received is written to a file, which `APIServer(replay=file)` plays back. A file is closed
    with the client; a Recorder, which several clients may share, is not.
    """

    def __init__(
        self,
        config: ClientConfig | RESTClient | None = None,
        *,
        record: Recorder | str | os.PathLike[str] | None = None,
    ) -> None:
        if isinstance(config, RESTClient) and record is not None:
            raise UsageError("a shared RESTClient records for all of its clients: pass record to the RESTClient")
        self._owns_rest = not isinstance(config, RESTClient)
        self._rest = config if isinstance(config, RESTClient) else RESTClient(config, record=record)
        if self._owns_rest:
            self._rest._name_owner(type(self).__name__)

    @property
    def rest(self) -> RESTClient:
        """The RESTClient of this client."""
        return self._rest

    async def aclose(self) -> None:
        """Close all connections, unless the RESTClient is shared."""
        if self._owns_rest:
            await self._rest.aclose()

    async def __aenter__(self) -> Self:
        await self._rest.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._rest._session}>"

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            raise missing_attribute(self, name)

"""A client of a server that sends scripted bytes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.testing.scripted_server import ScriptedServer


@asynccontextmanager
async def scripted(*replies: Any, **options: Any) -> AsyncIterator[tuple[ScriptedServer, ClientSet]]:
    async with ScriptedServer(*replies, **options) as server, ClientSet(ClientConfig(host=server.url)) as client:
        yield server, client

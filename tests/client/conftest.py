"""The embedded server, and a client of it."""

from collections.abc import AsyncIterator

import pytest

from listwatch.client.client_set import ClientSet
from listwatch.server import APIServer


@pytest.fixture
async def server() -> AsyncIterator[APIServer]:
    async with APIServer() as server:
        yield server


@pytest.fixture
async def client(server: APIServer) -> AsyncIterator[ClientSet]:
    async with ClientSet(server.config) as client:
        yield client

"""The embedded server, and a client of it."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

from listwatch.client.resources.client_set import ClientSet

if TYPE_CHECKING:
    from listwatch.server import APIServer


@pytest.fixture
async def server() -> AsyncIterator["APIServer"]:
    from listwatch.server import APIServer

    async with APIServer() as server:
        yield server


@pytest.fixture
async def client(server: "APIServer") -> AsyncIterator[ClientSet]:
    async with ClientSet(server.config) as client:
        yield client

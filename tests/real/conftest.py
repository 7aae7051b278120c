"""Gives every test here a cluster of its own, which it may destroy. `make real` runs them, and nothing else does."""

from collections.abc import AsyncIterator

import pytest

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.models.core_v1 import ConfigMap
from listwatch.testing import RealAPIServer


@pytest.fixture
async def cluster() -> AsyncIterator[RealAPIServer]:
    async with RealAPIServer() as server:
        yield server


@pytest.fixture
async def client(cluster: RealAPIServer) -> AsyncIterator[ClientSet]:
    async with ClientSet(cluster.config) as client:
        yield client


@pytest.fixture
async def configmaps(client: ClientSet) -> ResourceClient[ConfigMap]:
    """Ten of them, `a-0` and so on."""
    configmaps = client.core_v1.configmaps("default")
    for number in range(10):
        await configmaps.create({"metadata": {"name": f"a-{number}"}, "data": {"round": "0"}})
    return configmaps

"""Provides a separate cluster for every test, which may destroy it. Only `make real` runs these tests."""

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
    """Ten ConfigMaps, `a-0` to `a-9`."""
    configmaps = client.core_v1.configmaps("default")
    for number in range(10):
        await configmaps.create({"metadata": {"name": f"a-{number}"}, "data": {"round": "0"}})
    return configmaps

"""Fixtures of the informer contract tests: a client, and new namespaces."""

import secrets
from collections.abc import AsyncIterator

import pytest
from tests.contract.target import Target

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.models.core_v1 import Namespace
from listwatch.objects.metadata import ObjectMeta


@pytest.fixture
async def client(target: Target) -> AsyncIterator[ClientSet]:
    config = ClientConfig(
        host=target.url,
        token=target.token,
        ca_file=target.ca_file,
        insecure_skip_tls_verify=target.insecure,
    )
    async with ClientSet(config) as client:
        yield client


@pytest.fixture
async def namespaces(client: ClientSet) -> AsyncIterator[list[str]]:
    """Create three namespaces and yield their names."""
    names = [f"contract-{secrets.token_hex(4)}" for _ in range(3)]
    for name in names:
        await client.core_v1.namespaces().create(Namespace(metadata=ObjectMeta(name=name)))
    yield names
    for name in names:
        await client.core_v1.namespaces().delete(name)

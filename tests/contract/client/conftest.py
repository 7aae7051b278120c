"""Clients with full permissions for the contract tests."""

from collections.abc import AsyncIterator

import pytest
from tests.contract.target import Target

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.models.apps_v1 import Deployment
from listwatch.models.core_v1 import ConfigMap, Pod


@pytest.fixture
def config(target: Target) -> ClientConfig:
    return ClientConfig(
        host=target.url,
        token=target.token,
        ca_file=target.ca_file,
        insecure_skip_tls_verify=target.insecure,
    )


@pytest.fixture
async def client(config: ClientConfig) -> AsyncIterator[ClientSet]:
    async with ClientSet(config) as client:
        yield client


@pytest.fixture
def config_maps(client: ClientSet, namespace: str) -> ResourceClient[ConfigMap]:
    return client.core_v1.configmaps(namespace)


@pytest.fixture
def pods(client: ClientSet, namespace: str) -> ResourceClient[Pod]:
    return client.core_v1.pods(namespace)


@pytest.fixture
def deployments(client: ClientSet, namespace: str) -> ResourceClient[Deployment]:
    return client.apps_v1.deployments(namespace)

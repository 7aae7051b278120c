"""A resource client is a source: the contract of sources on an API server."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.contract.target import Target

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.errors import NotFoundError
from listwatch.models.core_v1 import ConfigMap, Namespace
from listwatch.objects.metadata import ObjectMeta
from listwatch.testing import SourceBackend, SourceContract


class ConfigMapBackend(SourceBackend):
    """ConfigMaps with a label, because a real server has some of its own in every namespace."""

    kind = ConfigMap

    def __init__(self, client: ClientSet, unreachable: ClientSet, target: Target, namespace: str) -> None:
        self._target = target
        self._namespace = namespace
        self._configmaps = client.core_v1.configmaps(namespace)
        self.source = _labelled(client, namespace)
        self._unreachable = _labelled(unreachable, namespace)

    async def put(self, key: str, content: str) -> None:
        name = key.rpartition("/")[2]
        try:
            await self._configmaps.patch(name, {"data": {"content": content}}, type="merge")
        except NotFoundError:
            await self._configmaps.create(
                {"metadata": {"name": name, "labels": {"contract": "yes"}}, "data": {"content": content}}
            )

    async def delete(self, key: str) -> None:
        await self._configmaps.delete(key.rpartition("/")[2])

    def content_of(self, item: ConfigMap) -> str:
        return item.data["content"]

    async def expire(self) -> None:
        self._target.forget_history()

    def unreachable(self) -> ResourceClient[ConfigMap]:
        return self._unreachable


def _labelled(client: ClientSet, namespace: str) -> ResourceClient[ConfigMap]:
    _, _, source = client.source(ConfigMap, namespace=namespace, label_selector="contract=yes", field_selector="")
    return source


class TestAPIServer(SourceContract):
    target: Target

    @pytest.fixture(autouse=True)
    def _server(self, target: Target) -> None:
        self.target = target

    @asynccontextmanager
    async def backend(self) -> AsyncIterator[SourceBackend]:
        target = self.target
        config = ClientConfig(
            host=target.url,
            token=target.token,
            ca_file=target.ca_file,
            insecure_skip_tls_verify=target.insecure,
        )
        self.namespace = f"contract-{secrets.token_hex(4)}"
        async with ClientSet(config) as client, ClientSet(ClientConfig(host="http://127.0.0.1:1")) as unreachable:
            await client.core_v1.namespaces().create(Namespace(metadata=ObjectMeta(name=self.namespace)))
            yield ConfigMapBackend(client, unreachable, target, self.namespace)
            await client.core_v1.namespaces().delete(self.namespace)

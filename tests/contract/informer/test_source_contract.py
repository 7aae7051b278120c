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
from listwatch.models.core_v1 import Event, Namespace
from listwatch.objects.metadata import ObjectMeta
from listwatch.testing import SourceBackend, SourceContract


class EventBackend(SourceBackend):
    """Events: a real server has no watch cache for them, which would keep versions after a compaction."""

    kind = Event

    def __init__(self, client: ClientSet, unreachable: ClientSet, target: Target, namespace: str) -> None:
        self._target = target
        self._namespace = namespace
        self._events = client.core_v1.events(namespace)
        self.source = _source(client, namespace)
        self._unreachable = _source(unreachable, namespace)

    async def put(self, key: str, content: str) -> None:
        name = key.rpartition("/")[2]
        try:
            await self._events.patch(name, {"message": content}, type="merge")
        except NotFoundError:
            await self._events.create(
                {
                    "metadata": {"name": name},
                    "involvedObject": {"namespace": self._namespace},
                    "message": content,
                }
            )

    async def delete(self, key: str) -> None:
        await self._events.delete(key.rpartition("/")[2])

    def content_of(self, item: Event) -> str:
        return item.message or ""

    async def expire(self, version: str) -> str:
        self._target.forget_history()
        return version

    def unreachable(self) -> ResourceClient[Event]:
        return self._unreachable


def _source(client: ClientSet, namespace: str) -> ResourceClient[Event]:
    _, _, source = client.source(Event, namespace=namespace, label_selector="", field_selector="")
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
            yield EventBackend(client, unreachable, target, self.namespace)
            await client.core_v1.namespaces().delete(self.namespace)

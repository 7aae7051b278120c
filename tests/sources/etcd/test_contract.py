"""The contract of sources on a real etcd."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from listwatch.cache import Keyed
from listwatch.sources.etcd import EtcdClient, EtcdListWatch, EtcdStore
from listwatch.testing import RealEtcd, SourceBackend, SourceContract
from listwatch.testing.server_thread import ServerThread


class Item(Keyed, msgspec.Struct):
    content: str


class EtcdBackend(SourceBackend):
    kind = Item

    def __init__(self, client: EtcdClient, unreachable: EtcdClient, etcd: ServerThread[RealEtcd]) -> None:
        prefix = f"/contract-{secrets.token_hex(4)}/"
        self.source = EtcdListWatch(client, prefix, Item)
        self._store = EtcdStore(client, prefix, Item)
        self._unreachable = EtcdListWatch(unreachable, prefix, Item)
        self._etcd = etcd

    async def put(self, key: str, content: str) -> None:
        await self._store.put(key, Item(content))

    async def delete(self, key: str) -> None:
        await self._store.delete(key)

    def content_of(self, item: Item) -> str:
        return item.content

    async def expire(self, version: str) -> str:
        self._etcd.await_call(lambda server: server.compact())
        return version

    def unreachable(self) -> EtcdListWatch[Item]:
        return self._unreachable


class ContractOnEtcd(SourceContract):
    etcd: ServerThread[RealEtcd]

    @pytest.fixture(autouse=True)
    def _server(self, etcd: ServerThread[RealEtcd]) -> None:
        self.etcd = etcd

    @asynccontextmanager
    async def backend(self) -> AsyncIterator[SourceBackend]:
        url = self.etcd.call(lambda server: server.url)
        async with EtcdClient(url) as client, EtcdClient("http://127.0.0.1:1") as unreachable:
            yield EtcdBackend(client, unreachable, self.etcd)


class TestEtcd(ContractOnEtcd):
    pass


class TestEtcdWithNamespaces(ContractOnEtcd):
    namespace = "web"

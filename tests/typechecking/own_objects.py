# pyright: strict
"""What type checkers know of informers of a user's own classes: a struct and a dataclass."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import assert_type

import msgspec

import listwatch as lw
from listwatch.cache import Cached, Keyed
from listwatch.informer import Change, ObjectDeleted, Page
from listwatch.sources.etcd import EtcdClient, EtcdLeaseLock, EtcdListWatch, EtcdStore, KeyValue


class Service(Keyed, msgspec.Struct):
    address: str
    region: str


@dataclass
class Row:
    cache_key: str
    resource_version: str
    title: str


@dataclass
class Plain:
    address: str


def list_services() -> Page[Service]:
    return Page([Service("10.0.0.1", "eu")], resource_version="1")


async def watch_services() -> AsyncIterator[object]:
    yield None


def cached(item: Cached) -> str:
    return item.cache_key + item.resource_version


def informers(rows: lw.SharedIndexInformer[Row]) -> None:
    source: lw.ListWatch[Service] = lw.ListWatch(list=list_services, watch=watch_services)
    informer = lw.SharedIndexInformer(source, Service, indexers={"region": lambda service: [service.region]})
    assert_type(informer, lw.SharedIndexInformer[Service])
    assert_type(informer.indexer.by_index("region", "eu"), list[Service])
    assert_type(informer.lister.namespace("web").get("1"), Service)
    informer.add_handler(on_add=lambda service: service.address, on_update=lambda old, new: old.region == new.region)
    informer.add_handler(on_add=cached)
    assert_type(rows.indexer.get("a/b"), Row | None)
    rows.add_handler(on_delete=lambda row: row.title)
    cached(Service("10.0.0.1", "eu"))
    cached(Row("a", "1", "A"))


async def changes(informer: lw.SharedIndexInformer[Service]) -> None:
    async for change in informer.changes():
        assert_type(change, Change[Service])
        if isinstance(change, ObjectDeleted):
            assert_type(change.object, Service)


async def etcd(client: EtcdClient) -> None:
    source = EtcdListWatch(client, "/services/", Service)
    assert_type(source, EtcdListWatch[Service])
    assert_type(lw.SharedIndexInformer(source, Service), lw.SharedIndexInformer[Service])
    plain = EtcdListWatch(client, "/plain/", Plain)
    assert_type(plain, EtcdListWatch[KeyValue[Plain]])
    informer = lw.SharedIndexInformer(plain, plain.kind)
    assert_type(informer, lw.SharedIndexInformer[KeyValue[Plain]])
    assert_type(informer.lister.get("a").value, Plain)
    assert_type(EtcdListWatch(client, "/raw/"), EtcdListWatch[KeyValue[bytes]])
    assert_type(EtcdListWatch(client, "/numbers/", int, decode=int), EtcdListWatch[KeyValue[int]])
    store = EtcdStore(client, "/services/", Service)
    assert_type(await store.get("web/1"), Service)
    assert_type(await store.create("web/1", Service("10.0.0.1", "eu")), Service)
    assert_type((await store.list()).items, Sequence[Service])
    lw.LeaderElector(EtcdLeaseLock(client, "operator"))


def controllers(informer: lw.SharedIndexInformer[Service]) -> None:
    async def reconcile(key: lw.ObjectKey, context: lw.ReconcileContext[Service]) -> None:
        assert_type(context.get(), Service | None)

    controller = lw.Controller(reconcile, for_=informer)
    assert_type(controller.get("web/1"), Service | None)
    assert_type(controller.lister(Service).get("web/1"), Service)
    lw.Manager().add(controller)

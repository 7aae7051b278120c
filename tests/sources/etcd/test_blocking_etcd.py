"""Clients, stores, leases and sources of etcd from threads."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from listwatch import blocking
from listwatch.cache import Keyed
from listwatch.errors import AlreadyExistsError, ConflictError, NotFoundError, UsageError
from listwatch.sources.etcd import EtcdClient as AsyncEtcdClient
from listwatch.sources.etcd import EtcdListWatch as AsyncEtcdListWatch


class Service(Keyed, msgspec.Struct):
    address: str


@pytest.fixture
def connected(etcd_url: str) -> Iterator[blocking.EtcdClient]:
    with blocking.EtcdClient(etcd_url, timeout=60.0) as client:
        yield client


def test_a_store_reads_and_writes(connected: blocking.EtcdClient, prefix: str):
    store = blocking.EtcdStore(connected, prefix, Service)
    created = store.create("web/1", Service("a"))
    with pytest.raises(AlreadyExistsError):
        store.create("web/1", Service("b"))
    changed = store.update("web/1", Service("b"), resource_version=created.resource_version)
    with pytest.raises(ConflictError):
        store.update("web/1", created)
    assert [each.address for each in store.list().items] == ["b"]
    assert store.delete("web/1", resource_version=changed.resource_version) == Service("b")
    with pytest.raises(NotFoundError):
        store.get("web/1")
    assert blocking.EtcdStore(connected, prefix).put("raw", b"\xff").value == b"\xff"


def test_an_informer_follows_what_threads_write(connected: blocking.EtcdClient, prefix: str):
    store = blocking.EtcdStore(connected, prefix, Service)
    source = blocking.EtcdListWatch(connected, prefix, Service)
    assert (source.prefix, source.kind) == (prefix, Service)
    with blocking.SharedIndexInformer(source, Service) as informer:
        informer.wait_for_sync(timeout=60)
        with ThreadPoolExecutor(4) as threads:
            written = [*threads.map(lambda number: store.put(f"web/{number}", Service(str(number))), range(20))]
        informer.wait_until(max((each.resource_version for each in written), key=int), timeout=60)
        assert sorted(int(each.address) for each in informer.lister.list()) == [*range(20)]


def test_keys_of_a_lease_disappear_with_it(connected: blocking.EtcdClient, prefix: str):
    store = blocking.EtcdStore(connected, prefix, Service)
    with blocking.EtcdLease(connected, ttl=60) as lease:
        lease.hold(store, "web/1", Service("a"))
        store.create("web/2", Service("b"), lease=lease)
        assert lease.losses == 0
        assert len(store.list().items) == 2
    assert len(store.list().items) == 0
    with pytest.raises(UsageError, match="not granted"):
        lease.id  # noqa: B018  # reading it raises


def test_an_asynchronous_source_is_accepted_and_an_asynchronous_client_is_not(etcd_url: str, prefix: str):
    client = AsyncEtcdClient(etcd_url)
    with pytest.raises(UsageError, match=r"is asynchronous; pass a blocking EtcdClient"):
        blocking.EtcdStore(client, prefix, Service)  # type: ignore[call-overload]  # wrong on purpose
    source = AsyncEtcdListWatch(client, prefix, Service)
    informer = blocking.SharedIndexInformer(source, Service)
    assert not informer.has_synced

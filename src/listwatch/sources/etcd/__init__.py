"""etcd as a source for informers, a store to write to, and a lock for leader election.

    async with EtcdClient(["http://10.0.0.1:2379", "http://10.0.0.2:2379"]) as client:
        informer = SharedIndexInformer(EtcdListWatch(client, "/services/", Service), Service)

It uses the JSON gateway of etcd 3.4 and newer.
"""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "EtcdClient": "listwatch.sources.etcd.etcd_client",
    "EtcdLease": "listwatch.sources.etcd.lease",
    "EtcdLeaseLock": "listwatch.sources.etcd.lease_lock",
    "EtcdListWatch": "listwatch.sources.etcd.list_watch",
    "EtcdStore": "listwatch.sources.etcd.store",
    "KeyValue": "listwatch.sources.etcd.entries",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.sources.etcd.entries import KeyValue as KeyValue
    from listwatch.sources.etcd.etcd_client import EtcdClient as EtcdClient
    from listwatch.sources.etcd.lease import EtcdLease as EtcdLease
    from listwatch.sources.etcd.lease_lock import EtcdLeaseLock as EtcdLeaseLock
    from listwatch.sources.etcd.list_watch import EtcdListWatch as EtcdListWatch
    from listwatch.sources.etcd.store import EtcdStore as EtcdStore
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)

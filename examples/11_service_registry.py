"""A service registry on etcd: services register with a lease, and a directory finds them by region.

python 11_service_registry.py directory
python 11_service_registry.py register web 10.0.0.1:80 eu

An instance that is stopped disappears at once, one that is killed after its lease has expired. ETCD_ENDPOINTS has the
URLs of etcd's members, separated by commas.
"""

import asyncio
import os
import sys

import msgspec

import listwatch as lw
from listwatch.cache import Keyed
from listwatch.sources.etcd import EtcdClient, EtcdLease, EtcdListWatch, EtcdStore

PREFIX = "/services/"
TTL = float(os.environ.get("SERVICE_TTL", "10"))


class Instance(Keyed, msgspec.Struct):
    """One instance; its key is `service/address`."""

    address: str
    region: str


async def register(client: EtcdClient, service: str, address: str, region: str) -> None:
    """Register an address until the program ends."""
    instances = EtcdStore(client, PREFIX, Instance)
    async with EtcdLease(client, ttl=TTL) as lease:
        await lease.hold(instances, f"{service}/{address}", Instance(address, region))
        print(f"registered {service}/{address}", flush=True)
        await asyncio.Event().wait()


async def run_directory(client: EtcdClient) -> None:
    """Print all addresses of a region whenever one of them changes."""
    informer = lw.SharedIndexInformer(
        EtcdListWatch(client, PREFIX, Instance),
        Instance,
        indexers={"region": lambda instance: [instance.region]},
    )
    async with informer:
        await informer.wait_for_sync(timeout=30)
        print("ready", flush=True)
        async for change in informer.changes():
            region = change.object.region
            found = sorted(instance.cache_key for instance in informer.indexer.by_index("region", region))
            print(f"{region}: {' '.join(found) or 'none'}", flush=True)


async def main() -> None:
    endpoints = os.environ.get("ETCD_ENDPOINTS", "http://127.0.0.1:2379").split(",")
    async with EtcdClient(endpoints) as client:
        match sys.argv[1:]:
            case ["directory"]:
                await run_directory(client)
            case ["register", service, address, region]:
                await register(client, service, address, region)
            case _:
                print(__doc__)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        print("stopped")

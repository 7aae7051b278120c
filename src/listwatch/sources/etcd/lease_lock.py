"""Stores the leader record under a key of etcd; implements LeaderLock."""

from __future__ import annotations

from listwatch.errors import NotFoundError, UsageError
from listwatch.leaderelection.elector_state import LeaderRecord
from listwatch.sources.etcd.entries import KeyValue
from listwatch.sources.etcd.etcd_client import EtcdClient
from listwatch.sources.etcd.store import EtcdStore

__all__ = ["EtcdLeaseLock"]


class EtcdLeaseLock:
    """One key of etcd that all candidates write, as `LeaderElector(EtcdLeaseLock(client, "my-operator"))`.

    Writing over a version that this lock has not read raises ConflictError. The record stays when the leader dies; its
    age is what makes it expire, as with a Lease of Kubernetes.
    """

    def __init__(self, client: EtcdClient, name: str, *, prefix: str = "/listwatch/leases/") -> None:
        self._store = EtcdStore(client, prefix, LeaderRecord)
        self._store._mapping.etcd_key(name)  # raises if the name is not valid
        self._prefix = prefix
        self._key = name
        self._read: KeyValue[LeaderRecord] | None = None

    def __repr__(self) -> str:
        return f"<EtcdLeaseLock {self.name}>"

    @property
    def name(self) -> str:
        """The key in etcd."""
        return f"{self._prefix}{self._key}"

    async def get(self) -> LeaderRecord | None:
        """Read the record; None if it does not exist."""
        try:
            self._read = await self._store.get(self._key)
        except NotFoundError:
            return None
        return self._read.value

    async def create(self, record: LeaderRecord) -> None:
        """Create the record; raises AlreadyExistsError."""
        self._read = await self._store.create(self._key, record)

    async def update(self, record: LeaderRecord) -> None:
        """Replace the record; raises ConflictError."""
        if self._read is None:
            raise UsageError(f"cannot update {self.name}: call get or create first")
        self._read = await self._store.update(self._key, record, resource_version=self._read.resource_version)

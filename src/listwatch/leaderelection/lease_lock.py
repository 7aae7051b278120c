"""Keeps the leader's record in a Lease of the API server; fits where `candidate.LeaderLock` is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, Protocol

from listwatch.client.resources.resource_client import ResourceClient
from listwatch.errors import NotFoundError, UsageError
from listwatch.leaderelection.elector_state import LeaderRecord
from listwatch.objects.metadata import ObjectMeta

if TYPE_CHECKING:
    from listwatch.models.coordination_v1 import Lease, LeaseSpec

__all__ = ["LeaseLock", "Recorder"]


class Recorder(Protocol):
    """Tells people what happened to an object, as an EventRecorder does."""

    def event(self, obj: Lease, type: Literal["Normal"], reason: str, message: str) -> None: ...


class LeaseLock:
    """One Lease, as this candidate last saw it: to write over what it has not seen fails with ConflictError.

    The labels are added to those that the Lease has. With a recorder, who leads and who stops is told in events.
    """

    def __init__(
        self,
        leases: ResourceClient[Lease],
        name: str,
        *,
        namespace: str,
        labels: Mapping[str, str] | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self._leases = leases.namespace(namespace)
        self._name = name
        self._namespace = namespace
        self._labels = dict(labels or {})
        self._recorder = recorder
        self._seen: Lease | None = None

    @property
    def name(self) -> str:
        """Where it is: `namespace/name`."""
        return f"{self._namespace}/{self._name}"

    async def get(self) -> LeaderRecord | None:
        try:
            self._seen = await self._leases.get(self._name)
        except NotFoundError:
            return None
        return record_of(self._seen.spec)

    async def create(self, record: LeaderRecord) -> None:
        metadata = ObjectMeta(name=self._name, namespace=self._namespace, labels={**self._labels})
        lease = self._leases.kind(metadata=metadata)
        write_record(record, lease.spec)
        self._seen = await self._leases.create(lease)

    async def update(self, record: LeaderRecord) -> None:
        if self._seen is None:
            raise UsageError(f"the lease {self.name} cannot be updated: get or create it first")
        lease = self._seen.copy()
        lease.metadata.labels.update(self._labels)
        write_record(record, lease.spec)
        self._seen = await self._leases.update(lease)

    def tell(self, message: str) -> None:
        """Record an event about the lease, if there is somebody to do so."""
        if self._recorder is not None and self._seen is not None:
            self._recorder.event(self._seen, "Normal", "LeaderElection", message)

    def __repr__(self) -> str:
        return f"<LeaseLock {self.name}>"


def record_of(spec: LeaseSpec) -> LeaderRecord:
    """What a Lease says about its holder."""
    return LeaderRecord(
        holder=spec.holder_identity or "",
        lease_duration=spec.lease_duration_seconds or 0,
        acquired=spec.acquire_time,
        renewed=spec.renew_time,
        transitions=spec.lease_transitions or 0,
    )


def write_record(record: LeaderRecord, spec: LeaseSpec) -> None:
    """Make a Lease say it, and leave what else it says."""
    spec.holder_identity = record.holder
    spec.lease_duration_seconds = record.lease_duration
    spec.acquire_time = record.acquired
    spec.renew_time = record.renewed
    spec.lease_transitions = record.transitions

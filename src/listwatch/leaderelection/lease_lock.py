"""Stores the leader record in a Lease of the API server; implements LeaderLock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, Protocol

from listwatch.client.resources.resource_client import ResourceClient
from listwatch.errors import NotFoundError, UsageError
from listwatch.leaderelection.elector_state import LeaderRecord
from listwatch.objects.metadata import ObjectMeta

if TYPE_CHECKING:
    from listwatch.models.coordination_v1 import Lease, LeaseSpec

__all__ = ["LeaseEventRecorder", "LeaseLock"]


class LeaseEventRecorder(Protocol):
    """Records events about a Lease: an EventRecorder."""

    def event(self, obj: Lease, type: Literal["Normal"], reason: str, message: str) -> None: ...


class LeaseLock:
    """One Lease. Writing over a version that this lock has not read raises ConflictError.

    The labels are added to those of the Lease. With a recorder, changes of leadership are recorded as events.
    """

    def __init__(
        self,
        leases: ResourceClient[Lease],
        name: str,
        *,
        namespace: str,
        labels: Mapping[str, str] | None = None,
        recorder: LeaseEventRecorder | None = None,
    ) -> None:
        self._leases = leases.namespace(namespace)
        self._name = name
        self._namespace = namespace
        self._labels = dict(labels or {})
        self._recorder = recorder
        self._lease: Lease | None = None

    @property
    def name(self) -> str:
        """The `namespace/name` of the Lease."""
        return f"{self._namespace}/{self._name}"

    async def get(self) -> LeaderRecord | None:
        """Read the record; None if the Lease does not exist."""
        try:
            self._lease = await self._leases.get(self._name)
        except NotFoundError:
            return None
        return read_record(self._lease.spec)

    async def create(self, record: LeaderRecord) -> None:
        """Create the Lease; raises AlreadyExistsError."""
        metadata = ObjectMeta(name=self._name, namespace=self._namespace, labels={**self._labels})
        lease = self._leases.kind(metadata=metadata)
        write_record(record, lease.spec)
        self._lease = await self._leases.create(lease)

    async def update(self, record: LeaderRecord) -> None:
        """Update the Lease; raises ConflictError."""
        if self._lease is None:
            raise UsageError(f"cannot update the lease {self.name}: call get or create first")
        lease = self._lease.copy()
        lease.metadata.labels.update(self._labels)
        write_record(record, lease.spec)
        self._lease = await self._leases.update(lease)

    def _record_event(self, message: str) -> None:
        """Record an event about the Lease, if there is a recorder."""
        if self._recorder is not None and self._lease is not None:
            self._recorder.event(self._lease, "Normal", "LeaderElection", message)

    def __repr__(self) -> str:
        return f"<LeaseLock {self.name}>"


def read_record(spec: LeaseSpec) -> LeaderRecord:
    """The record in the spec of a Lease."""
    return LeaderRecord(
        holder=spec.holder_identity or "",
        lease_duration=spec.lease_duration_seconds or 0,
        acquired=spec.acquire_time,
        renewed=spec.renew_time,
        transitions=spec.lease_transitions or 0,
        preferred_holder=spec.preferred_holder or "",
    )


def write_record(record: LeaderRecord, spec: LeaseSpec) -> None:
    """Write the record into the spec of a Lease; other fields are kept."""
    spec.holder_identity = record.holder
    spec.lease_duration_seconds = record.lease_duration
    spec.acquire_time = record.acquired
    spec.renew_time = record.renewed
    spec.lease_transitions = record.transitions
    spec.preferred_holder = record.preferred_holder or None

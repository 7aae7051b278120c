"""The Lease on an API server: which fields are written, and which are kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.errors import AlreadyExistsError, ConflictError, ForbiddenError, UsageError
from listwatch.events.recorder import EventRecorder
from listwatch.leaderelection.elector import LeaderElector
from listwatch.leaderelection.elector_state import LeaderRecord
from listwatch.leaderelection.lease_lock import LeaseLock
from listwatch.models.coordination_v1 import Lease
from listwatch.server import APIServer, Fail, Fault

ACQUIRED = datetime(2026, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)
RENEWED = datetime(2026, 1, 1, 12, 0, 9, 7, tzinfo=UTC)
RECORD = LeaderRecord("me", 15, ACQUIRED, RENEWED, transitions=3)


@pytest.fixture
async def server() -> AsyncIterator[APIServer]:
    async with APIServer() as server:
        yield server


@pytest.fixture
async def client(server: APIServer) -> AsyncIterator[ClientSet]:
    async with ClientSet(server.config) as client:
        yield client


@pytest.fixture
def leases(client: ClientSet) -> ResourceClient[Lease]:
    return client.coordination_v1.leases("default")


@pytest.fixture
def lock(leases: ResourceClient[Lease]) -> LeaseLock:
    return LeaseLock(leases, "the-lease", namespace="default")


async def test_a_record_is_read_as_it_was_written(lock: LeaseLock):
    assert await lock.get() is None
    await lock.create(RECORD)
    assert await lock.get() == RECORD


async def test_a_record_is_a_lease_spec_with_microseconds(lock: LeaseLock, leases: ResourceClient[Lease]):
    await lock.create(RECORD)
    assert (await leases.get("the-lease")).to_dict()["spec"] == {
        "holderIdentity": "me",
        "leaseDurationSeconds": 15,
        "acquireTime": "2026-01-01T12:00:00.123456Z",
        "renewTime": "2026-01-01T12:00:09.000007Z",
        "leaseTransitions": 3,
    }


async def test_an_empty_lease_has_no_holder(lock: LeaseLock, leases: ResourceClient[Lease]):
    await leases.create({"metadata": {"name": "the-lease"}})
    assert await lock.get() == LeaderRecord()


async def test_a_change_that_was_not_read_is_not_overwritten(leases: ResourceClient[Lease]):
    one = LeaseLock(leases, "the-lease", namespace="default")
    other = LeaseLock(leases, "the-lease", namespace="default")
    await one.create(RECORD)
    with pytest.raises(AlreadyExistsError):
        await other.create(RECORD)
    await other.get()
    await one.update(replace(RECORD, transitions=4))
    with pytest.raises(ConflictError):
        await other.update(replace(RECORD, holder="other"))


async def test_an_update_without_a_read_is_refused(lock: LeaseLock):
    with pytest.raises(UsageError, match="cannot update the lease default/the-lease: call get or create first"):
        await lock.update(RECORD)


async def test_an_update_keeps_other_fields(lock: LeaseLock, leases: ResourceClient[Lease]):
    await leases.create(
        {
            "metadata": {"name": "the-lease", "labels": {"theirs": "1"}, "annotations": {"a": "b"}},
            "spec": {"strategy": "OldestEmulationVersion", "preferredHolder": "other", "leaseDurationSeconds": 1},
        }
    )
    await lock.get()
    await lock.update(replace(RECORD, preferred_holder="other"))
    lease = await leases.get("the-lease")
    assert lease.metadata.labels == {"theirs": "1"}
    assert lease.metadata.annotations == {"a": "b"}
    assert (lease.spec.strategy, lease.spec.preferred_holder) == ("OldestEmulationVersion", "other")
    assert lease.spec.holder_identity == "me"


async def test_labels_are_added_when_a_lease_is_created_and_when_it_is_updated(leases: ResourceClient[Lease]):
    await LeaseLock(leases, "created", namespace="default", labels={"ours": "1"}).create(RECORD)
    assert (await leases.get("created")).metadata.labels == {"ours": "1"}
    await leases.create({"metadata": {"name": "updated", "labels": {"theirs": "1", "ours": "0"}}})
    lock = LeaseLock(leases, "updated", namespace="default", labels={"ours": "1"})
    await lock.get()
    await lock.update(RECORD)
    assert (await leases.get("updated")).metadata.labels == {"theirs": "1", "ours": "1"}


async def test_changes_of_leadership_are_recorded_as_events(client: ClientSet, leases: ResourceClient[Lease]):
    async with EventRecorder(client.core_v1.events(), component="test") as recorder:
        lock = LeaseLock(leases, "the-lease", namespace="default", recorder=recorder)
        async with LeaderElector(lock, identity="me").lead():
            lease = await leases.get("the-lease")
    events = sorted(await client.core_v1.events("default").list(), key=lambda event: int(event.resource_version))
    assert [(event.type, event.reason, event.message) for event in events] == [
        ("Normal", "LeaderElection", "me became leader"),
        ("Normal", "LeaderElection", "me stopped leading"),
    ]
    assert {(event.involved_object.kind, event.involved_object.uid) for event in events} == {("Lease", lease.uid)}


async def test_other_errors_of_the_server_are_raised(lock: LeaseLock, server: APIServer):
    server.faults.add(Fault(Fail(ForbiddenError("no")), resource="leases"))
    with pytest.raises(ForbiddenError):
        await lock.get()


async def test_an_elector_uses_the_namespace_of_the_client_by_default(client: ClientSet):
    assert LeaderElector(client, name="x").name == "default/x"
    assert LeaderElector(client.rest, name="x", namespace="kube-system").name == "kube-system/x"


async def test_an_elector_with_a_client_needs_a_name(client: ClientSet):
    with pytest.raises(UsageError, match="needs name=, the name of the Lease"):
        LeaderElector(client)

"""Leader election on the embedded server, and on a real one: one candidate leads at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest
from tests.contract.target import Target

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.wait.wait_for import wait_for
from listwatch.errors import LeadershipLostError
from listwatch.leaderelection.elector import LeaderElector
from listwatch.models.coordination_v1 import Lease


@pytest.fixture
async def client(target: Target) -> AsyncIterator[ClientSet]:
    config = ClientConfig(
        host=target.url, token=target.token, ca_file=target.ca_file, insecure_skip_tls_verify=target.insecure
    )
    async with ClientSet(config) as client:
        yield client


@pytest.fixture
def leases(client: ClientSet, namespace: str) -> ResourceClient[Lease]:
    return client.coordination_v1.leases(namespace)


def elector(client: ClientSet, namespace: str, identity: str, **options: Any) -> LeaderElector:
    return LeaderElector(
        client,
        name="one",
        namespace=namespace,
        identity=identity,
        lease_duration=15.0,
        renew_deadline=10.0,
        retry_period=0.1,
        **options,
    )


async def renewed(leases: ResourceClient[Lease]) -> Lease:
    """The lease after its next renewal."""
    before = await leases.get("one")
    lease = await wait_for(leases, "one", lambda now: now is not None and now.spec.renew_time != before.spec.renew_time)
    assert lease is not None
    return lease


async def test_a_leader_writes_itself_into_the_lease_and_keeps_renewing_it(
    client: ClientSet, namespace: str, leases: ResourceClient[Lease]
):
    async with elector(client, namespace, "me").lead():
        first = await leases.get("one")
        assert (first.spec.holder_identity, first.spec.lease_duration_seconds) == ("me", 15)
        assert (first.spec.lease_transitions or 0) == 0
        lease = await renewed(leases)
        assert lease.spec.acquire_time == first.spec.acquire_time
        assert lease.spec.renew_time is not None
        assert first.spec.renew_time is not None
        assert lease.spec.renew_time > first.spec.renew_time
        assert lease.spec.holder_identity == "me"
    assert (await leases.get("one")).spec.holder_identity in ("", None)


async def test_five_candidates_lead_one_after_another(client: ClientSet, namespace: str, leases: ResourceClient[Lease]):
    acting: list[str] = []
    led: list[str] = []

    async def lead(name: str) -> None:
        async with elector(client, namespace, name).lead():
            acting.append(name)
            assert acting == [name]
            led.append(name)
            await renewed(leases)
            acting.remove(name)

    async with asyncio.TaskGroup() as group:
        for name in "abcde":
            group.create_task(lead(name))
    assert sorted(led) == [*"abcde"]
    assert (await leases.get("one")).spec.lease_transitions == 4


async def test_the_lease_of_a_vanished_leader_is_taken_over(
    client: ClientSet, namespace: str, leases: ResourceClient[Lease]
):
    await leases.create(
        {
            "metadata": {"name": "one"},
            "spec": {
                "holderIdentity": "vanished",
                "leaseDurationSeconds": 1,
                "acquireTime": "2100-01-01T00:00:00.000000Z",
                "renewTime": "2100-01-01T00:00:00.000000Z",
                "leaseTransitions": 6,
            },
        }
    )
    leaders: list[str] = []
    async with elector(client, namespace, "me", on_new_leader=leaders.append).lead():
        assert leaders == ["vanished", "me"]
        lease = await leases.get("one")
        assert (lease.spec.holder_identity, lease.spec.lease_transitions) == ("me", 7)


async def test_a_leader_that_reads_another_holder_is_stopped(
    client: ClientSet, namespace: str, leases: ResourceClient[Lease]
):
    me = elector(client, namespace, "me")

    async def lead() -> None:
        async with me.lead():
            await leases.patch("one", {"spec": {"holderIdentity": "other"}}, type="merge")
            await asyncio.get_running_loop().create_future()

    with pytest.raises(LeadershipLostError, match="other holds it"):
        await lead()
    assert (await leases.get("one")).spec.holder_identity == "other"
    assert me.statistics().losses == 1


async def test_other_fields_of_a_lease_are_kept(client: ClientSet, namespace: str, leases: ResourceClient[Lease]):
    async with elector(client, namespace, "me").lead():
        await leases.patch("one", {"metadata": {"annotations": {"note": "seen"}}}, type="merge")
        lease = await renewed(leases)
        assert lease.metadata.annotations["note"] == "seen"
        assert lease.spec.holder_identity == "me"
    assert (await leases.get("one")).metadata.annotations["note"] == "seen"


async def test_a_stopped_candidate_does_not_write_the_lease(
    client: ClientSet, namespace: str, leases: ResourceClient[Lease]
):
    async with elector(client, namespace, "leader").lead():
        seen = asyncio.Event()

        async def stand() -> None:
            async with elector(client, namespace, "other", on_new_leader=lambda _: seen.set()).lead():
                raise AssertionError("there is a leader already")

        candidate = asyncio.create_task(stand())
        await seen.wait()
        candidate.cancel()
        with suppress(asyncio.CancelledError):
            await candidate
        assert (await renewed(leases)).spec.holder_identity == "leader"

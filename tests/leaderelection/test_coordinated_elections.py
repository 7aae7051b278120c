"""Coordinated elections: the API server chooses the leader among LeaseCandidates. The tests take its part."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

import listwatch as lw
from listwatch.errors import ForbiddenError, LeadershipLostError, NotFoundError, UsageError
from listwatch.leaderelection.elector_state import ElectorState, LeaderRecord, Timing
from listwatch.leaderelection.lease_candidate import CandidateRegistration
from listwatch.models.coordination_v1 import Lease
from listwatch.server import APIServer, Delay, Fail, Fault
from listwatch.testing.clocks import START, VirtualClock

TIMING = Timing(15.0, 10.0, 2.0)


def coordinated(record: LeaderRecord | None) -> ElectorState:
    state = ElectorState("me", TIMING)
    state.is_coordinated = True
    state.enter()
    state.observe(record, now=0.0)
    return state


@pytest.mark.parametrize("record", [None, LeaderRecord(), LeaderRecord(preferred_holder="other")])
def test_a_free_lease_is_left_to_the_server_for_one_lease_duration(record: LeaderRecord | None):
    state = coordinated(record)
    assert not state.may_claim(14.0)
    assert state.may_claim(15.0)


def test_the_lease_of_another_candidate_is_claimed_two_durations_after_its_last_renewal():
    state = coordinated(LeaderRecord("other", 15, START, START))
    for now, may_claim in ((14.0, False), (15.0, False), (29.0, False), (30.0, True)):
        state.observe(LeaderRecord("other", 15, START, START), now=now)
        assert state.may_claim(now) is may_claim, now


def test_the_elected_candidate_claims_the_lease_and_sets_the_time():
    state = coordinated(LeaderRecord("me", 15, None, START))
    assert state.may_claim(0.0)
    assert state.claim(START) == LeaderRecord("me", 15, START, START)


def test_a_leader_resigns_when_the_server_prefers_another_holder():
    state = coordinated(LeaderRecord("me", 15, START, START))
    state.observe_write(LeaderRecord("me", 15, START, START), sent=0.0, now=0.0)
    assert state.is_leader(1.0)
    state.observe(LeaderRecord("me", 15, START, START, preferred_holder="me"), now=1.0)
    assert state.is_leader(1.0)
    state.observe(LeaderRecord("me", 15, START, START, preferred_holder="other"), now=1.0)
    assert state.is_term_over
    assert not state.is_leader(1.0)
    assert not state.may_claim(1.0)


def test_a_candidate_that_should_hand_over_claims_its_lease_again_if_nothing_is_elected():
    asked = LeaderRecord("me", 15, START, START, preferred_holder="gone")
    state = coordinated(asked)
    for now, may_claim in ((14.0, False), (15.0, False), (29.0, False), (30.0, True)):
        state.observe(asked, now=now)
        assert state.may_claim(now) is may_claim, now
    assert state.claim(START).preferred_holder == ""


def test_a_lease_that_was_free_before_a_term_is_left_to_the_server_after_it():
    state = coordinated(None)
    state.observe_write(LeaderRecord("me", 15, START, START), sent=15.0, now=15.0)
    state.resign()
    state.enter()
    state.observe(LeaderRecord(), now=100.0)
    assert not state.may_claim(114.0)
    assert state.may_claim(115.0)


def test_without_coordination_a_preferred_holder_means_nothing():
    state = coordinated(LeaderRecord("me", 15, START, START, preferred_holder="other"))
    state.is_coordinated = False
    assert state.may_claim(0.0)
    assert not state.is_term_over


@pytest.fixture
async def server() -> AsyncIterator[APIServer]:
    async with APIServer() as server:
        yield server


@pytest.fixture
async def client(server: APIServer) -> AsyncIterator[lw.ClientSet]:
    async with lw.ClientSet(server.config) as client:
        yield client


def registration(client: lw.ClientSet, clock: VirtualClock) -> CandidateRegistration:
    return CandidateRegistration(
        client.rest, lease="web", namespace="default", identity="me_1", version="1.4.0", clock=clock
    )


async def test_a_candidate_responds_to_the_server_and_is_removed(client: lw.ClientSet):
    clock = VirtualClock()
    one = registration(client, clock)
    candidates = client.coordination_v1beta1.leasecandidates("default")
    await one.maintain(5.0)
    found = await candidates.get("me_1")
    spec = found.spec
    assert (spec.lease_name, spec.binary_version, spec.emulation_version) == ("web", "1.4.0", "1.4.0")
    assert (spec.strategy, spec.renew_time) == ("OldestEmulationVersion", START)
    await one.maintain(5.0)
    assert (await candidates.get("me_1")).resource_version == found.resource_version  # there was no ping
    asked = START + timedelta(seconds=3)  # the clock of the server is ahead
    await candidates.patch("me_1", {"spec": {"pingTime": asked.isoformat().replace("+00:00", ".000000Z")}})
    await one.maintain(5.0)
    assert (await candidates.get("me_1")).spec.renew_time == asked
    await one.remove(5.0)
    with pytest.raises(NotFoundError):
        await candidates.get("me_1")
    await one.remove(5.0)


async def test_failures_of_the_registration_are_logged_only(
    server: APIServer, client: lw.ClientSet, caplog: pytest.LogCaptureFixture
):
    one = registration(client, VirtualClock())
    server.faults.add(Fault(Fail(ForbiddenError("no")), resource="leasecandidates", times=1))
    await one.maintain(5.0)
    assert one.is_served
    assert "Cannot write the LeaseCandidate me_1: " in caplog.text
    server.faults.add(Fault(Fail(NotFoundError("none")), resource="leasecandidates", times=2))
    await one.maintain(5.0)
    assert not one.is_served
    await one.maintain(5.0)  # sends no more requests
    await one.remove(5.0)


async def test_the_server_elects_and_ends_the_term(client: lw.ClientSet):
    elector = lw.LeaderElector(
        client,
        name="web",
        namespace="default",
        identity="me_1",
        candidate_version="1.4.0",
        lease_duration=30.0,
        renew_deadline=20.0,
        retry_period=0.02,
    )
    leads = asyncio.Event()

    async def lead() -> None:
        async with elector.lead():
            leads.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(lead())
    async for event in client.coordination_v1beta1.leasecandidates("default").watch():
        if event.type == "ADDED":
            break
    leases = client.coordination_v1.leases("default")
    strategy = {"strategy": "OldestEmulationVersion"}
    spec = {"holderIdentity": "me_1", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"}
    await leases.create(Lease.from_dict({"metadata": {"name": "web"}, "spec": spec | strategy}))
    await leads.wait()
    assert elector.is_leader
    await leases.patch("web", {"spec": {"preferredHolder": "other"}})
    with pytest.raises(LeadershipLostError, match=r"me_1 has lost .*: the API server has selected another leader"):
        await task
    lease = await leases.get("web")
    assert (lease.spec.holder_identity, lease.spec.preferred_holder) == ("", "other")
    assert lease.spec.strategy == "OldestEmulationVersion"
    assert list(await client.coordination_v1beta1.leasecandidates("default").list()) == []


async def test_a_candidate_that_cannot_be_written_does_not_delay_renewals(server: APIServer, client: lw.ClientSet):
    elector = lw.LeaderElector(
        client,
        name="web",
        namespace="default",
        identity="me_1",
        candidate_version="1.4.0",
        lease_duration=300.0,
        renew_deadline=200.0,
        retry_period=0.02,
    )
    spec = {"holderIdentity": "me_1", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"}
    await client.coordination_v1.leases("default").create(Lease.from_dict({"metadata": {"name": "web"}, "spec": spec}))
    async with elector.lead():
        hanging = server.faults.add(Fault(Delay(3600), verb="get", resource="leasecandidates"))
        renewals = 0
        async for event in client.coordination_v1.leases("default").watch():
            renewals += event.type == "MODIFIED"
            if renewals == 10:
                break
        assert server.faults.hits(hanging) <= 1
        server.faults.clear()


async def test_wrong_arguments_are_explained(client: lw.ClientSet):
    with pytest.raises(UsageError, match=r"candidate_version='v1': expected a semantic version, such as 1\.4\.0"):
        lw.LeaderElector(client, name="web", candidate_version="v1")
    for identity in ("team/me", "..", "a" * 254):
        with pytest.raises(UsageError, match=r"it is the name of a LeaseCandidate; use letters, digits"):
            lw.LeaderElector(client, name="web", identity=identity, candidate_version="1.0.0")
    lock = lw.LeaseLock(client.coordination_v1.leases(), "web", namespace="default")
    with pytest.raises(UsageError, match="candidate_version= is for a client"):
        lw.LeaderElector(lock, candidate_version="1.0.0")

"""Leases of a shard group that other programs have changed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.errors import UsageError
from listwatch.models.coordination_v1 import Lease
from listwatch.sharding import ShardTiming
from listwatch.sharding.protocol.assignment import MAX_WEIGHT, MIN_WEIGHT, Member, assign
from listwatch.sharding.protocol.group_records import SessionRecord, ShardRecord
from listwatch.sharding.protocol.group_view_state import GroupView
from listwatch.sharding.protocol.lease_records import fill_lease, has_role, read_lease
from listwatch.sharding.protocol.session_state import Session
from listwatch.sharding.protocol.timing import MAX_LEASE_DURATION


def lease_of(record: SessionRecord | ShardRecord, **annotations: str) -> Lease:
    lease = Lease()
    fill_lease(lease, record, "group", "default")
    lease.metadata.resource_version = "1"
    for name, text in annotations.items():
        lease.metadata.annotations[f"listwatch/{name.replace('_', '-')}"] = text
    return lease


@pytest.mark.parametrize("load", ["[" * 100_000, '{"at":null,"oldestWaiting":0,"shards":{"0":[Infinity,0,0]}}', "\0"])
def test_a_session_with_a_damaged_load_is_read_without_the_load(load: str):
    record = read_lease(lease_of(SessionRecord(session="a", state="active"), load=load), "group")
    assert isinstance(record, SessionRecord)
    assert (record.session, record.state, record.load) == ("a", "active", None)


@pytest.mark.parametrize("weight", ["nan", "inf", "-inf", "0", "-1", "1e308"])
def test_shards_are_assigned_whatever_the_weight_in_a_lease(weight: str):
    records = [
        read_lease(lease_of(SessionRecord(session=session, state="active"), weight=text), "group")
        for session, text in (("a", weight), ("b", weight), ("c", "1"))
    ]
    sessions = [each for each in records if isinstance(each, SessionRecord)]
    members = {each.session: Member(each.session, each.session, each.weight) for each in sessions}
    assert len(members) == 3
    assert assign(64, members, {}).keys() == set(range(64))


@pytest.mark.parametrize("released", ["[]", "3", "[" * 100_000, "null", "nonsense"])
def test_damaged_released_versions_of_a_shard_are_unknown(released: str):
    record = read_lease(lease_of(ShardRecord(shard=3, token=1), released_versions=released), "group")
    assert isinstance(record, ShardRecord)
    assert (record.shard, record.released_versions) == (3, None)


@pytest.mark.parametrize("version", ['"12x"', '"-1"', '"\u0663"', '"' + "9" * 21 + '"', "7", "null", "[]"])
def test_a_released_version_that_no_server_assigns_is_unknown(version: str):
    text = f'{{"pods":{version},"configmaps":"7"}}'
    record = read_lease(lease_of(ShardRecord(shard=3, token=1), released_versions=text), "group")
    assert isinstance(record, ShardRecord)
    assert record.released_versions == {"configmaps": "7"}


@pytest.mark.parametrize("duration", ["inf", "-inf", "nan", "-1", "1e308", "601", "soon", "9" * 400])
def test_a_shard_whose_holder_was_deleted_can_be_claimed_in_the_end_whatever_its_lease_duration(duration: str):
    damaged = lease_of(ShardRecord(shard=3, holder="gone", identity="one", token=1), lease_duration=duration)
    record = read_lease(damaged, "group")
    assert isinstance(record, ShardRecord)
    view = GroupView(lambda: 0.0)
    view.observe_list([record], 1, now=100.0)
    assert view.free_at(record, 15.0) == 100.0 + MAX_LEASE_DURATION


@pytest.mark.parametrize("seconds", [None, 0, -1, 601, 2**31 - 1])
def test_a_session_with_a_wrong_lease_duration_is_declared_dead_after_the_longest_one(seconds: int | None):
    lease = lease_of(SessionRecord(session="a", state="active", duration=15.0))
    lease.spec.lease_duration_seconds = seconds
    record = read_lease(lease, "group")
    assert isinstance(record, SessionRecord)
    view = GroupView(lambda: 0.0)
    view.observe_list([record], 1, now=100.0)
    assert view.fence_at("a", 1.0) == 100.0 + MAX_LEASE_DURATION


def test_a_lease_duration_that_no_replica_could_read_is_refused():
    with pytest.raises(UsageError, match="lease_duration=601 must be at most 600 s"):
        ShardTiming(lease_duration=601.0, renew_deadline=300.0)
    assert ShardTiming(lease_duration=600.0, renew_deadline=300.0).written_duration == MAX_LEASE_DURATION


@given(st.floats(MIN_WEIGHT, MAX_WEIGHT) | st.integers(1, 100))
def test_a_weight_is_read_as_it_was_written(weight: float):
    record = read_lease(lease_of(SessionRecord(session="a", state="active", duration=15.0, weight=weight)), "group")
    assert isinstance(record, SessionRecord)
    assert record.weight == weight


@pytest.mark.parametrize("token", [-1, 2**31 - 1, 2**31])
def test_a_shard_with_a_token_that_cannot_rise_is_damaged(token: int):
    lease = lease_of(ShardRecord(shard=3))
    lease.spec.lease_transitions = token
    assert read_lease(lease, "group") is None
    assert has_role(lease)


@pytest.mark.parametrize(
    "name", ["group-1-s-3", "group-1-s-1024", "group-0-s-0003", "group-1_0-s-0003", "other-1-s-0003"]
)
def test_a_shard_with_another_name_than_its_replicas_give_it_is_damaged(name: str):
    lease = lease_of(ShardRecord(shard=3))
    assert read_lease(lease, "group") is not None
    lease.metadata.name = name
    assert read_lease(lease, "group") is None


@pytest.mark.parametrize("generation", ["0", "-1", str(2**31), "9" * 5000, "one"])
def test_a_session_with_a_wrong_generation_is_damaged(generation: str):
    assert read_lease(lease_of(SessionRecord(session="a"), generation=generation), "group") is None


def test_a_session_of_another_group_is_damaged():
    lease = lease_of(SessionRecord(session="a"))
    assert read_lease(lease, "other") is None


def test_identities_are_shown_without_control_characters_and_with_limited_length():
    lease = lease_of(SessionRecord(session="a", identity="\x1b[2J" + "x" * 10_000))
    record = read_lease(lease, "group")
    assert isinstance(record, SessionRecord)
    assert record.identity.startswith("?[2Jxxx")
    assert len(record.identity) == 253


def test_a_replica_writes_its_own_values_into_its_session_after_another_program_has_changed_them():
    own = SessionRecord(session="a", identity="one", duration=15.0, digest="d", generation=3)
    changed = replace(own, version=7, uid="u", identity="two", duration=600.0, digest="e", generation=4, weight=9.0)
    session = Session(own, begun=0.0, record=changed, state="active")
    assert session.next_record(2.0) == replace(own, version=7, uid="u", state="active", weight=2.0)

"""Leases of a shard group that other programs have changed."""

from __future__ import annotations

import pytest

from listwatch.models.coordination_v1 import Lease
from listwatch.sharding.protocol.assignment import Member, assign
from listwatch.sharding.protocol.group_records import SessionRecord, ShardRecord
from listwatch.sharding.protocol.lease_records import fill_lease, read_lease


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


@pytest.mark.parametrize("released", ["[]", "3", "[" * 100_000])
def test_a_shard_with_damaged_released_versions_is_ignored(released: str):
    record = ShardRecord(shard=3, holder="a", identity="one", token=1)
    assert read_lease(lease_of(record), "group") is not None
    assert read_lease(lease_of(record, released_versions=released), "group") is None

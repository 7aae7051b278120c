"""The view of a shard group, which the thread of the coordinator changes while others read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from listwatch.sharding import ShardTiming
from listwatch.sharding.protocol.group_records import ConfigRecord, GroupConfig, SessionRecord, ShardRecord
from listwatch.sharding.protocol.group_view_state import GroupView
from listwatch.sharding.protocol.replica_actions import Request
from listwatch.sharding.protocol.replica_state import ReplicaState


class ChangedDuringRead(dict[Any, Any]):
    """Records that another thread changes once, right after they were read."""

    def __init__(self, records: dict[Any, Any], change: Callable[[], None]) -> None:
        super().__init__(records)
        self._changes = [change]

    def items(self) -> Any:
        found = dict(self).items()
        self._change()
        return found

    def copy(self) -> dict[Any, Any]:
        found = dict(self)
        self._change()
        return found

    def _change(self) -> None:
        if self._changes:
            self._changes.pop()()


def test_the_coordinator_sees_a_change_that_another_thread_has_missed_while_it_read_the_shards():
    view = GroupView(lambda: 0.0)
    held, released = ShardRecord(2, generation=1, shard=3, holder="a"), ShardRecord(3, generation=1, shard=3)
    view.observe_list([ConfigRecord(1, generation=1), held], 2, now=0.0)
    view.shards = ChangedDuringRead(view.shards, lambda: view.observe_event(released, now=1.0))

    assert view.copy_shards() == {3: held}
    assert view.shards_of(1) == {3: released}


def test_a_replica_waits_at_least_its_own_lease_duration_before_it_declares_a_peer_dead():
    # Another program may have shortened the duration in the Lease of the peer, which relies on the longer one.
    own = ReplicaState(
        GroupConfig(4),
        timing=ShardTiming(lease_duration=15.0),
        identity="own",
        new_session=lambda: "s",
        jitter=lambda: 0.0,
        on_config_change="wait",
    )
    other = ConfigRecord(1, text=GroupConfig(8).text, digest=GroupConfig(8).digest, generation=1)
    peer = SessionRecord(2, session="peer", state="active", duration=1.0, digest=other.digest, generation=1)

    def declared_dead(now: float) -> list[str]:
        own.tick(now)
        records = [each.record for each in own.take_actions() if isinstance(each, Request)]
        return [each.session for each in records if isinstance(each, SessionRecord) and each.state == "ended"]

    own.observe_list([other, peer], 2, now=100.0)
    [read] = own.take_actions()
    assert isinstance(read, Request)
    own.handle_outcome(read, other, 100.0)

    assert declared_dead(114.9) == []
    assert declared_dead(115.1) == ["peer"]

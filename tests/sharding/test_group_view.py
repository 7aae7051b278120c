"""The view of a shard group, which the thread of the coordinator changes while others read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from listwatch.sharding.protocol.group_records import ConfigRecord, ShardRecord
from listwatch.sharding.protocol.group_view_state import GroupView


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

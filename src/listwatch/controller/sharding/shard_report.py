"""What a sharded replica knows of its group, as JSON for people: /shards of the health port."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from listwatch.controller.sharding.sharded_caches import ShardedCaches
from listwatch.json_value import JSON, JSONObject
from listwatch.sharding.protocol.assignment import quotas
from listwatch.sharding.protocol.group_records import SessionRecord, ShardRecord
from listwatch.sharding.protocol.replica_load import ReplicaLoad, ShardLoad
from listwatch.sharding.protocol.replica_state import ReplicaState
from listwatch.workqueue.queue_state import WorkQueueStatistics

__all__ = ["shard_report"]


Waiting = Mapping[int, Sequence[tuple[float, str]]]
"""By shard, the keys that wait in the queues, and for how many seconds."""


def shard_report(
    group: str,
    state: ReplicaState,
    caches: ShardedCaches,
    queues: Sequence[WorkQueueStatistics],
    waiting: Waiting,
    load: ReplicaLoad,
) -> str:
    """Replicas, shards and moves; sizes, and what waits in the queues. Those of other replicas are what they report."""
    view = state.view
    records = view.copy_shards()
    measured = {each.session: each.load for each in [*view.sessions.values()] if each.load is not None}
    measured[state.session] = load
    loads = {
        session: each.of(shard for shard, record in records.items() if record.holder == session)
        for session, each in measured.items()
    }
    value: JSONObject = {
        "group": group,
        "configuration": json.loads(state.config.text),
        "replica": state.identity,
        "phase": state.phase.value,
        "reason": state.waiting_reason if state.phase.value == "waiting" else "",
        "session": state.session,
        "wanted": [*sorted(state.ownership.wanted)],
        "owned": [*sorted([*state.ownership.owned])],
        "readPaths": dict(caches.paths()),
        "queues": [
            {"controller": each.name, "waiting": each.depth, "running": each.processing, "delayed": each.delayed}
            for each in queues
        ],
        "replicas": [*_replicas(state, records, loads)],
        "shards": [*_shards(state, records, caches.counts(), waiting, loads)],
        "moves": [
            {
                "shard": each.shard,
                "from": each.previous,
                "to": each.owner,
                "reason": each.reason,
                "token": each.token,
                "at": None if each.at is None else each.at.isoformat(),
            }
            for each in [*view.moves]
        ],
    }
    return json.dumps(value, indent=1) + "\n"


def _replicas(state: ReplicaState, records: dict[int, ShardRecord], loads: Mapping[str, ReplicaLoad]) -> Iterator[JSON]:
    members = dict(state.view.members)
    holders = Counter(record.holder for record in records.values())
    held = {shard: record.holder for shard, record in records.items() if record.holder in members}
    quota = quotas(state.config.shards, members, held) if members else {}
    for each in sorted([*state.view.sessions.values()], key=lambda each: each.identity):
        yield {
            "identity": each.identity,
            "session": each.session,
            "state": each.state,
            "weight": each.weight,
            "quota": quota.get(each.session, 0),
            "shards": holders[each.session],
            "renewed": None if each.renewed is None else each.renewed.isoformat(),
            "load": _load_of(each, loads.get(each.session), sum(load.total.objects for load in loads.values())),
        }


def _load_of(record: SessionRecord, load: ReplicaLoad | None, all_objects: int) -> JSON:
    if load is None or record.state == "ended":
        return None
    total = load.total
    return {
        "objects": total.objects,
        "bytes": total.bytes,
        "share": round(total.objects / all_objects, 4) if all_objects else 0.0,
        "waiting": total.waiting,
        "oldestWaitingSeconds": round(load.oldest_waiting, 3),
        "measured": None if load.at is None else load.at.isoformat(),
    }


def _shards(
    state: ReplicaState,
    records: dict[int, ShardRecord],
    objects: Counter[int],
    waiting: Waiting,
    loads: Mapping[str, ReplicaLoad],
) -> Iterator[JSON]:
    space, owned = state.config.space, dict(state.ownership.owned)
    for shard, record in sorted(records.items()):
        seconds, key = max(waiting.get(shard, ()), default=(0.0, ""))
        is_own = record.holder == state.session
        load = loads.get(record.holder, ReplicaLoad()).shards.get(shard, ShardLoad())
        yield {
            "shard": shard,
            "range": str(space.range_of(shard)),
            "holder": record.identity if record.holder else "",
            "session": record.holder,
            "since": None if record.acquired is None else record.acquired.isoformat(),
            "token": record.token,
            "objects": objects[shard] if is_own else load.objects,
            "bytes": load.bytes,
            "state": owned[shard].phase if shard in owned else "",
            "waiting": len(waiting.get(shard, ())) if is_own else load.waiting,
            "oldestWaiting": {"key": key, "seconds": round(seconds, 3)} if key else None,
        }

"""`listwatch shards`: the replicas and shards of a shard group."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

import click

from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.session import Session
from listwatch.cli.output import age_of, format_size, format_table, write
from listwatch.errors import ForbiddenError, ListWatchError, UsageError
from listwatch.models.coordination_v1 import Lease
from listwatch.sharding.namespace_shares import uneven_shares
from listwatch.sharding.protocol.assignment import Member, quotas
from listwatch.sharding.protocol.group_records import ConfigRecord, Record, SessionRecord, ShardRecord
from listwatch.sharding.protocol.lease_records import GROUP_LABEL, read_lease
from listwatch.sharding.protocol.replica_load import ReplicaLoad
from listwatch.sharding.protocol.shard_space import ShardSpace

__all__ = ["command"]

_MOVES = 10


@click.command()
@click.argument("group")
@connected()
async def command(session: Session, *, group: str) -> None:
    """Show the replicas of a shard group, and which of them owns which shard since when.

    Sizes and waiting keys are those that the replicas write into their Leases; they are measured about every ten
    seconds.

    \b
      listwatch shards my-operator -n operators
    """
    leases = session.client.coordination_v1.leases(session.namespace or "default")
    listed: list[Lease] = [*await leases.list(label_selector={GROUP_LABEL: group})]
    records = [record for each in listed if (record := read_lease(each, group)) is not None]
    config = next((each for each in records if isinstance(each, ConfigRecord)), None)
    if config is None:
        place = f"the namespace {session.namespace or 'default'}"
        raise ListWatchError(f"there is no shard group {group} in {place}; -n selects another namespace")
    shown = _Group(config, records, session.clock.now())
    write(f"{group}: {config.text}, generation {config.generation}\n\n")
    headers = ["Replica", "State", "Weight", "Shards", "Quota", "Objects", "Share", "Size", "Waiting", "Oldest"]
    write(format_table([*headers, "Renewed", "Session"], shown.replicas()) + "\n")
    headers = ["Shard", "Range", "Holder", "Token", "Since", "Objects", "Size", "Waiting"]
    write(format_table(headers, shown.shards()) + "\n")
    write("Last moves:\n" + format_table(["Shard", "From", "To", "Reason", "Age"], shown.moves()))
    if shown.space.by == "namespace":
        await _warn_of_uneven_shares(session, shown)


async def _warn_of_uneven_shares(session: Session, shown: _Group) -> None:
    try:
        namespaces = await session.client.core_v1.namespaces().list()
    except ForbiddenError:
        return  # it is only advice
    if text := uneven_shares(shown.space, [each.name for each in namespaces], shown.owners):
        write(f"\nwarning: {text}\n")


class _Group:
    """The records of a group, as rows of tables."""

    def __init__(self, config: ConfigRecord, records: Sequence[Record], now: datetime) -> None:
        self.space = _space_of(config)
        self._now = now
        shards = [each for each in records if isinstance(each, ShardRecord) and each.generation == config.generation]
        self._shards = sorted(shards, key=lambda each: each.shard)
        sessions = [each for each in records if isinstance(each, SessionRecord)]
        self._sessions = sorted(sessions, key=lambda each: (each.identity, each.begun is None, each.begun))
        held_by: dict[str, list[int]] = {each.session: [] for each in sessions}
        for each in shards:
            held_by.setdefault(each.holder, []).append(each.shard)
        self._loads = {each.session: each.load.of(held_by[each.session]) for each in sessions if each.load is not None}
        members = {
            each.session: Member(each.session, each.identity, each.weight)
            for each in sessions
            if each.state == "active" and each.digest == config.digest
        }
        held = {each.shard: each.holder for each in shards if each.holder in members}
        self._quotas = quotas(self.space.count, members, held) if members else {}

    @property
    def owners(self) -> dict[int, str]:
        return {each.shard: each.identity for each in self._shards if each.holder}

    def replicas(self) -> Iterator[Sequence[object]]:
        objects = sum(each.total.objects for each in self._loads.values())
        for each in self._sessions:
            load = self._loads.get(each.session)
            yield (
                each.identity,
                each.state,
                f"{each.weight:g}",
                sum(shard.holder == each.session for shard in self._shards),
                self._quotas.get(each.session, 0),
                *_sizes(load, objects),
                self._age(each.renewed),
                each.session,
            )

    def shards(self) -> Iterator[Sequence[object]]:
        for each in self._shards:
            load = self._loads.get(each.holder, ReplicaLoad()).shards.get(each.shard)
            yield (
                each.shard,
                self.space.range_of(each.shard),
                each.identity if each.holder else "",
                each.token,
                self._age(each.acquired) if each.holder else "",
                *(("", "", "") if load is None else (load.objects, format_size(load.bytes), load.waiting)),
            )

    def moves(self) -> Iterator[Sequence[object]]:
        """The last claim of each shard that had another owner before, the newest first."""
        claimed = [(each.acquired, each) for each in self._shards if each.acquired is not None and each.previous]
        for at, each in sorted(claimed, key=lambda pair: (pair[0], pair[1].shard), reverse=True)[:_MOVES]:
            yield each.shard, each.previous, each.identity, each.reason, self._age(at)

    def _age(self, time: datetime | None) -> str:
        return "" if time is None else age_of(time.isoformat(), self._now)


def _space_of(config: ConfigRecord) -> ShardSpace:
    try:
        given = json.loads(config.text)
        return ShardSpace(given["shards"], by=given["by"], hash_name=given["hash"])
    except (ValueError, LookupError, TypeError, RecursionError, UsageError) as error:
        raise ListWatchError(f"the configuration of the group is damaged ({error}): {config.text}") from error


def _sizes(load: ReplicaLoad | None, all_objects: int) -> tuple[object, ...]:
    """Objects, share of all objects, size, waiting keys, and the age of the oldest of them."""
    if load is None:
        return ("",) * 5
    total = load.total
    share = f"{total.objects / all_objects:.1%}" if all_objects else ""
    oldest = f"{load.oldest_waiting:.1f}s" if total.waiting else ""
    return total.objects, share, format_size(total.bytes), total.waiting, oldest

"""`listwatch shards`: the replicas and shards of a shard group."""

from __future__ import annotations

import json

import click

from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.session import Session
from listwatch.cli.output import format_table, write
from listwatch.errors import ListWatchError
from listwatch.models.coordination_v1 import Lease
from listwatch.sharding.namespace_shares import uneven_shares
from listwatch.sharding.protocol.group_records import ConfigRecord, SessionRecord, ShardRecord
from listwatch.sharding.protocol.lease_records import GROUP_LABEL, read_lease
from listwatch.sharding.protocol.shard_space import ShardSpace

__all__ = ["command"]


@click.command()
@click.argument("group")
@connected()
async def command(session: Session, *, group: str) -> None:
    """Show the replicas of a shard group, and which of them owns which shard since when.

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
    shards = [each for each in records if isinstance(each, ShardRecord) and each.generation == config.generation]
    write(f"{group}: {config.text}, generation {config.generation}\n\n")
    replicas = sorted((each for each in records if isinstance(each, SessionRecord)), key=lambda each: each.identity)
    rows: list[list[object]] = [
        [
            each.identity,
            each.state,
            f"{each.weight:g}",
            sum(shard.holder == each.session for shard in shards),
            each.renewed or "",
            each.session,
        ]
        for each in replicas
    ]
    write(format_table(["Replica", "State", "Weight", "Shards", "Renewed", "Session"], rows) + "\n")
    given = json.loads(config.text)
    space = ShardSpace(given["shards"], by=given["by"], hash_name=given["hash"])
    rows = [
        [
            each.shard,
            str(space.range_of(each.shard)),
            each.identity if each.holder else "",
            each.token,
            each.acquired or "",
        ]
        for each in sorted(shards, key=lambda each: each.shard)
    ]
    write(format_table(["Shard", "Range", "Holder", "Token", "Since"], rows))
    if space.by == "namespace":
        owners = {each.shard: each.identity for each in shards if each.holder}
        namespaces = await session.client.core_v1.namespaces().list()
        if text := uneven_shares(space, [each.name for each in namespaces], owners):
            write(f"\nwarning: {text}\n")

"""Whether the namespaces are spread over the shards: names that look alike have hashes that are close to each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from listwatch.sharding.protocol.shard_space import ShardSpace

__all__ = ["uneven_shares"]

_FACTOR = 1.5
_FEW = 4
"""Namespaces per replica below which no even distribution can be expected."""


def uneven_shares(space: ShardSpace, namespaces: Iterable[str], owners: Mapping[int, str]) -> str:
    """What is uneven, and what to do; empty if no owner has more than 1.5 times its share of the namespaces.

    `owners` are the names of the owners by shard.
    """
    names, replicas = [*namespaces], {*owners.values()}
    if space.by != "namespace" or len(replicas) < 2 or len(names) < _FEW * len(replicas):
        return ""
    counts = Counter(owners.get(space.shard_of(name), "") for name in names)
    owner, count = counts.most_common(1)[0]
    shards = sum(each == owner for each in owners.values())
    if count <= _FACTOR * len(names) * shards / space.count:
        return ""
    advice = "shard by uid" if space.hash_name != "fnv1a64" else "pass hash_name='fnv1a64+fmix64', or shard by uid"
    return (
        f"{owner or 'no replica'} has {count} of {len(names)} namespaces, but {shards} of {space.count} shards: names "
        f"that look alike are in the same shard; {advice}"
    )

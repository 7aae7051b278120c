"""Which member should own which shard: bounded-load rendezvous hashing that keeps shards where they are.

Every replica computes the same result from the same Leases. The function is idempotent: applied to its own result it
moves nothing. A join moves only what the new member needs, a departure only what the member had.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import floor

from listwatch.api.shard_selector import fmix64, fnv1a64

__all__ = ["MAX_WEIGHT", "MIN_WEIGHT", "Member", "assign", "quotas", "score"]

MIN_WEIGHT, MAX_WEIGHT = 0.01, 100.0


@dataclass(frozen=True, slots=True, order=True)
class Member:
    """One active session. The identity determines its scores, so that a restarted replica prefers the same shards."""

    session: str
    identity: str
    weight: float = 1.0


@lru_cache(maxsize=65536)
def score(identity: str, shard: int) -> int:
    """How much a replica prefers a shard; -1 is the preference for one more shard of any kind."""
    return fmix64(fnv1a64(f"{shard}/{identity}"))


def quotas(count: int, members: Mapping[str, Member], held: Mapping[int, str]) -> dict[str, int]:
    """How many shards each member should own, by session: its share by weight, rounded down or up."""
    total = sum(each.weight for each in members.values())
    exact = {session: count * each.weight / total for session, each in members.items()}
    quota = {session: floor(share) for session, share in exact.items()}
    counts = dict.fromkeys(members, 0)
    for session in held.values():
        if session in counts:
            counts[session] += 1
    # "Holds more than its quota" and not "holds most": the latter moves the left-over shards while orphans are claimed.
    order = sorted(
        members.values(),
        key=lambda each: (
            counts[each.session] <= quota[each.session],
            quota[each.session] - exact[each.session],
            -score(each.identity, -1),
            each.session,
        ),
    )
    for each in order[: count - sum(quota.values())]:
        quota[each.session] += 1
    return quota


def assign(count: int, members: Mapping[str, Member], held: Mapping[int, str]) -> dict[int, str]:
    """The session that should own each shard; `held` are the present owners. Empty if there are no members."""
    if not members:
        return {}
    quota = quotas(count, members, held)
    kept = _kept(members, held, quota)
    capacity = {session: quota[session] - sum(owner == session for owner in kept.values()) for session in members}
    open_shards = [shard for shard in range(count) if shard not in kept]
    receivers = [each for each in members.values() if capacity[each.session] > 0]
    pairs = sorted((-score(each.identity, shard), each.session, shard) for each in receivers for shard in open_shards)
    for _, session, shard in pairs:
        if shard not in kept and capacity[session] > 0:
            kept[shard] = session
            capacity[session] -= 1
    return kept


def _kept(members: Mapping[str, Member], held: Mapping[int, str], quota: Mapping[str, int]) -> dict[int, str]:
    """The shards that stay: of each member's, as many as its quota allows, those that it prefers."""
    by_session: dict[str, list[int]] = {session: [] for session in members}
    for shard, session in held.items():
        if session in by_session:
            by_session[session].append(shard)
    kept: dict[int, str] = {}
    for session, shards in by_session.items():
        if len(shards) > quota[session]:
            identity = members[session].identity
            shards = sorted(shards, key=lambda shard: (-score(identity, shard), shard))[: quota[session]]
        kept.update(dict.fromkeys(shards, session))
    return kept

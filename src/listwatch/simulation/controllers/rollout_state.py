"""How a Deployment scales its ReplicaSets: pure, over their sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["SetSize", "absolute", "new_set_size", "proportional_sizes", "reduced_old_sizes"]


@dataclass(frozen=True, slots=True)
class SetSize:
    """A ReplicaSet as far as scaling is concerned; `age` orders them, the oldest first."""

    name: str
    replicas: int
    available: int
    age: tuple[str, str]
    max_replicas: int = 0
    """The limit for all sets when this one was scaled last; 0 if it is not known."""


def absolute(value: int | str | None, total: int, *, up: bool) -> int:
    """A number, or a percentage of the total, rounded up or down."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    share = total * int(value.rstrip("%")) / 100
    return math.ceil(share) if up else math.floor(share)


def new_set_size(desired: int, surge: int, new: int, everything: int) -> int:
    """The size of the new set in a rolling update; `everything` is that of all sets together."""
    if new >= desired:
        return desired
    allowed = desired + surge - everything
    return new if allowed <= 0 else new + min(allowed, desired - new)


def reduced_old_sizes(desired: int, unavailable: int, new: SetSize, old: Sequence[SetSize]) -> dict[str, int]:
    """The sizes of the old sets that can be reduced now: first by pods that are not available, then by others."""
    minimum = desired - unavailable
    everything = new.replicas + sum(each.replicas for each in old)
    removable = everything - minimum - (new.replicas - new.available)
    ordered = sorted((each for each in old if each.replicas), key=lambda each: each.age)
    if removable <= 0 or not ordered:
        return {}
    sizes = {each.name: each.replicas for each in ordered}
    for each in ordered:
        step = min(removable, max(0, each.replicas - each.available))
        sizes[each.name] -= step
        removable -= step
    available = new.available + sum(each.available for each in old)
    spare = available - minimum
    for each in ordered:
        step = min(max(0, spare), sizes[each.name])
        sizes[each.name] -= step
        spare -= step
    return {each.name: sizes[each.name] for each in ordered if sizes[each.name] != each.replicas}


def proportional_sizes(desired: int, surge: int, observed: int, sets: Sequence[SetSize]) -> dict[str, int]:
    """The sizes of all sets after the Deployment was scaled during a rollout: each gets its share of the change."""
    allowed = desired + surge if desired else 0
    change = allowed - sum(each.replicas for each in sets)
    if change > 0:
        ordered = sorted(sets, key=lambda each: each.age, reverse=True)
    else:
        ordered = sorted(sets, key=lambda each: each.age)
    ordered.sort(key=lambda each: -each.replicas)
    sizes: dict[str, int] = {}
    added = 0
    for each in ordered:
        share = _share(each, desired, desired + surge, observed)
        left = change - added
        step = 0 if not each.replicas or not left else min(share, left) if change > 0 else max(share, left)
        sizes[each.name] = each.replicas + step
        added += step
    if ordered and change:
        sizes[ordered[0].name] = max(0, sizes[ordered[0].name] + change - added)
    return sizes


def _share(each: SetSize, desired: int, limit: int, observed: int) -> int:
    if not desired:
        return -each.replicas
    before = each.max_replicas or observed
    return math.floor(each.replicas * limit / before + 0.5) - each.replicas if before else 0

"""The configuration of a group: when it may change, and whether replicas with another one may still reconcile."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from listwatch.sharding.protocol.group_records import ConfigRecord, GroupConfig, ShardRecord
from listwatch.sharding.protocol.group_view_state import GroupView
from listwatch.sharding.protocol.session_state import Session
from listwatch.sharding.protocol.timing import ShardTiming

__all__ = ["Configuration"]


class Configuration:
    """Compares the configuration of the group with that of this replica."""

    def __init__(self, config: GroupConfig, *, timing: ShardTiming, identity: str, view: GroupView) -> None:
        self._config = config
        self._timing = timing
        self._identity = identity
        self._view = view

    def new_record(self, *, previous: ConfigRecord | None = None) -> ConfigRecord:
        """The configuration of this replica, as the next generation of the group's."""
        generations = [of for of, _ in self._view.shards]
        return replace(
            previous or ConfigRecord(),
            text=self._config.text,
            digest=self._config.digest,
            generation=max([0 if previous is None else previous.generation, *generations]) + 1,
            token_floor=self._view.largest_token(),
            is_complete=False,
            written_by=self._identity,
            written_at=None,
        )

    def can_replace(self, found: ConfigRecord, now: float) -> bool:
        """Whether no replica uses the configuration that was found."""
        are_live = any(each.state != "ended" for each in self._view.sessions.values())
        return not are_live and self._view.version >= found.version and self._are_free(self._view.shards.values(), now)

    def is_blocked(self, session: Session, generation: int, now: float) -> bool:
        """Whether a replica with another configuration may still work; only those that were there first count.

        Sessions that begin later see the configuration themselves: their first view contains it.
        """
        epoch = self._config.digest, generation
        if session.blockers is None:
            session.blockers = {
                each.session: math.inf
                for each in self._view.sessions.values()
                if each.state != "ended" and (each.digest, each.generation) != epoch
            }
        for each, gone_at in [*session.blockers.items()]:
            if self._view.is_ended(each) or now >= gone_at:
                del session.blockers[each]
            elif each not in self._view.sessions and gone_at == math.inf:
                session.blockers[each] = now + self._timing.lease_duration  # it was deleted
        others = [each for (of, _), each in self._view.shards.items() if of != generation]
        return bool(session.blockers) or not self._are_free(others, now)

    def _are_free(self, shards: Iterable[ShardRecord], now: float) -> bool:
        return all(now >= self._view.free_at(each, self._timing.lease_duration) for each in shards)

    def describe(self, found: ConfigRecord) -> str:
        """The configuration that was found, for an error message."""
        at = "" if found.written_at is None else f" at {found.written_at:%Y-%m-%d %H:%M:%S} UTC"
        return f"has the configuration {found.text}, written by {found.written_by or 'an unknown replica'}{at}"

"""What one replica knows of its group, from one list and watch of the Leases, and from its own requests.

The list and the watch give consistent cuts, of rising versions. Responses to the replica's own requests may be newer
than the cut; they are kept, and older states of the same record are ignored.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from listwatch.sharding.protocol.assignment import Member
from listwatch.sharding.protocol.group_records import (
    ConfigRecord,
    Record,
    RecordKey,
    SessionRecord,
    ShardRecord,
    key_of,
)

__all__ = ["GroupView", "Move"]

_REMEMBERED_ENDS = 4096
_REMEMBERED_MOVES = 50


@dataclass(frozen=True, slots=True)
class Move:
    """A shard has a new owner."""

    shard: int
    token: int
    previous: str
    """The identity of the previous owner, as far as it is known."""
    owner: str
    reason: str
    """`free`, `released`, `fenced` or `reclaimed`."""
    at: datetime | None


class GroupView:
    """The newest known state of each record, and by this replica's clock, since when it is unchanged."""

    def __init__(self, jitter: Callable[[], float]) -> None:
        self._jitter = jitter
        self.version = 0
        """The version of the newest cut."""
        self.is_listed = False
        self.received_at = -math.inf
        """When the list or the watch was last received."""
        self.config: ConfigRecord | None = None
        self.sessions: dict[str, SessionRecord] = {}
        self.shards: dict[tuple[int, int], ShardRecord] = {}
        self.members: dict[str, Member] = {}
        """The active sessions of the group's configuration."""
        self.members_changed = -math.inf
        self.changes = 0
        """Rises with each change, renewals excluded."""
        self.moves: deque[Move] = deque(maxlen=_REMEMBERED_MOVES)
        """The last changes of ownership that this replica saw."""
        self._finished_changes = 0
        self._changed: dict[str, float] = {}
        self._jitters: dict[str, float] = {}
        self._missing: dict[str, float] = {}
        self._ended: dict[str, float] = {}
        self._first_seen: dict[tuple[int, int], float] = {}
        self._largest_token = 0
        self._shard_changed: dict[tuple[int, int], float] = {}
        self._selected: tuple[int, int, dict[int, ShardRecord]] = (0, 0, {})

    # --- observations ------------------------------------------------------------------------------------------------

    def observe_list(self, records: Iterable[Record], version: int, *, now: float) -> None:
        """A list was read: a record that is not in it, and is not newer, does not exist."""
        self.is_listed = True
        self.received_at = now
        listed = {key_of(each): each for each in records}
        for key, known in [*self._all()]:
            if key not in listed and known.version <= version:
                self._remove(known)
        for each in listed.values():
            self._put(each, now)
        self._finish(version, now)

    def observe_event(self, record: Record, *, is_deleted: bool = False, now: float) -> None:
        """The watch reported a state of a record, or its deletion."""
        self.received_at = now
        if is_deleted:
            self._remove(record)
        else:
            self._put(record, now)
        self._finish(record.version, now)

    def observe_bookmark(self, version: int, *, now: float) -> None:
        """The watch reported that it has reached a version."""
        self._finish(version, now)

    def observe_response(self, record: Record, *, now: float) -> None:
        """A request of this replica returned a record; it does not advance the cut."""
        self._put(record, now)
        self._finish(0, now)

    def observe_absence(self, record: Record, *, now: float) -> None:
        """A request of this replica found that a record does not exist any more."""
        self._remove(replace(record, version=2**63))
        self._finish(0, now)

    # --- questions ---------------------------------------------------------------------------------------------------

    def fence_at(self, session: str, jitter: float, lease_duration: float = 0.0) -> float:
        """When the silence of a session is long enough to declare it dead, plus a random part of `jitter` seconds.

        It is at least `lease_duration`: another program may have written a shorter one into the Lease of the session.
        """
        silence = max(self.sessions[session].duration, lease_duration)
        return self._changed[session] + silence + self._jitters[session] * jitter

    def peer_sessions(self, own: str, jitter: float, lease_duration: float) -> Iterator[tuple[SessionRecord, float]]:
        """The sessions of peers that have not ended, each with the time of `fence_at`."""
        for session, record in self.sessions.items():
            if session != own and record.state != "ended":
                yield record, self.fence_at(session, jitter, lease_duration)

    def is_ended(self, session: str) -> bool:
        return session in self._ended

    def ended_since(self, session: str) -> float:
        return self._ended[session]

    def free_at(self, shard: ShardRecord, lease_duration: float) -> float:
        """From when on a shard may be claimed: now, if that is in the past; infinite while its holder may live."""
        if not shard.holder:
            if shard.is_recreated:
                return self._first_seen[shard.generation, shard.shard] + max(shard.duration, lease_duration)
            return -math.inf
        if shard.holder in self._ended:
            return -math.inf
        if shard.holder in self.sessions:
            return math.inf
        return self._missing[shard.holder] + max(shard.duration, lease_duration)

    def joining(self, digest: str, generation: int) -> dict[str, Member]:
        """The sessions of a configuration that are not active yet."""
        return {
            each.session: Member(each.session, each.identity, each.weight)
            for each in self.sessions.values()
            if each.state == "joining" and (each.digest, each.generation) == (digest, generation)
        }

    def largest_token(self) -> int:
        """The largest token that was ever seen: a deleted Lease may have had it."""
        return max(self._largest_token, 0 if self.config is None else self.config.token_floor)

    def shard_changed(self, shard: ShardRecord) -> float:
        """When the record of a shard was last seen to change."""
        return self._shard_changed.get((shard.generation, shard.shard), -math.inf)

    def copy_shards(self) -> dict[int, ShardRecord]:
        """The shards of the present generation. For readers in any thread: `shards_of` changes the view."""
        config, shards = self.config, self.shards.copy()
        generation = 0 if config is None else config.generation
        return {shard: record for (of, shard), record in shards.items() if of == generation}

    def shards_of(self, generation: int) -> dict[int, ShardRecord]:
        """The shards of one generation of the configuration."""
        if self._selected[:2] != (generation, self.changes):
            found = {shard: record for (of, shard), record in self.shards.items() if of == generation}
            self._selected = generation, self.changes, found
        return self._selected[2]

    # --- changes -----------------------------------------------------------------------------------------------------

    def _all(self) -> Iterable[tuple[RecordKey, Record]]:
        yield from self.sessions.items()
        yield from self.shards.items()
        if self.config is not None:
            yield "", self.config

    def _put(self, record: Record, now: float) -> None:
        match record:
            case ConfigRecord():
                if self.config is None or record.version > self.config.version:
                    self.config = record
                    self.changes += 1
            case SessionRecord():
                self._put_session(record, now)
            case ShardRecord():
                key = record.generation, record.shard
                known = self.shards.get(key)
                if known is None or record.version > known.version:
                    self._put_shard(key, known, record, now)

    def _put_shard(self, key: tuple[int, int], known: ShardRecord | None, record: ShardRecord, now: float) -> None:
        if known is None or known.uid != record.uid:
            self._first_seen[key] = now
        if record.holder and known is not None and known.token != record.token:
            self.moves.append(
                Move(record.shard, record.token, record.previous, record.identity, record.reason, record.acquired)
            )
        self.shards[key] = record
        self._shard_changed[key] = now
        self._largest_token = max(self._largest_token, record.token)
        self.changes += 1

    def _put_session(self, record: SessionRecord, now: float) -> None:
        session, known = record.session, self.sessions.get(record.session)
        if known is not None and record.version <= known.version:
            return
        self.sessions[session] = record
        self._changed[session] = now
        self._jitters[session] = self._jitter()
        if record.state == "ended" and session not in self._ended:
            self._ended[session] = now
            while len(self._ended) > _REMEMBERED_ENDS:
                del self._ended[next(iter(self._ended))]
        if known is None or not record.is_renewal_of(known):
            self.changes += 1

    def _remove(self, record: Record) -> None:
        match record:
            case ConfigRecord():
                if self.config is not None and self.config.version <= record.version:
                    self.config = None
            case SessionRecord(session=session):
                if session in self.sessions and self.sessions[session].version <= record.version:
                    del self.sessions[session], self._changed[session], self._jitters[session]
            case ShardRecord(generation=generation, shard=shard):
                key = generation, shard
                if key in self.shards and self.shards[key].version <= record.version:
                    del self.shards[key], self._first_seen[key]
        self.changes += 1

    def _finish(self, version: int, now: float) -> None:
        self.version = max(self.version, version)
        if self.changes == self._finished_changes:
            return
        self._finished_changes = self.changes
        epoch = ("", 0) if self.config is None else (self.config.digest, self.config.generation)
        members = {
            each.session: Member(each.session, each.identity, each.weight)
            for each in self.sessions.values()
            if each.state == "active" and (each.digest, each.generation) == epoch
        }
        if members != self.members:
            self.members, self.members_changed = members, now
        holders = {each.holder for each in self.shards.values()}
        missing = {each for each in holders if each and each not in self.sessions and each not in self._ended}
        self._missing = {each: self._missing.get(each, now) for each in missing}

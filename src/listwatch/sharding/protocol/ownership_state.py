"""The shards of one replica: which to claim, to drain and to release. `replica_state.py` has its session.

(none) ──claim──▶ catching-up ──▶ working ──▶ draining ──▶ releasing ──▶ (none)      session over: ──▶ (none)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from listwatch.sharding.protocol.assignment import Member, assign
from listwatch.sharding.protocol.group_records import ConfigRecord, GroupConfig, SessionRecord, ShardRecord
from listwatch.sharding.protocol.group_view_state import GroupView
from listwatch.sharding.protocol.replica_actions import Action, CancelShard, Outcome, Request, RequestFailure
from listwatch.sharding.protocol.request_book_state import RequestBook
from listwatch.sharding.protocol.shard_events import (
    GainReason,
    LossReason,
    ShardDraining,
    ShardGained,
    ShardLost,
    ShardReady,
)
from listwatch.sharding.protocol.timing import ShardTiming

__all__ = ["OwnedShard", "Ownership", "ShardPhase"]

ShardPhase = Literal["catching-up", "working", "draining", "releasing"]

ENDED_SESSIONS_KEPT = 600.0
"""Seconds for which the Leases of ended sessions are kept for display."""


@dataclass(slots=True)
class OwnedShard:
    """A shard that this replica owns: its claim succeeded."""

    token: int
    phase: ShardPhase
    since: float
    cancel_at: float = math.inf
    versions: Mapping[str, str] | None = None
    """What the caches waited for, then what the next owner has to wait for."""


@dataclass(frozen=True, slots=True)
class _Claim:
    reason: GainReason
    released_versions: Mapping[str, str] | None
    unowned_since: float


class Ownership:
    """The shards of one session. Ownership begins with a successful claim, never by reading that a Lease names it."""

    def __init__(
        self,
        config: GroupConfig,
        *,
        timing: ShardTiming,
        identity: str,
        view: GroupView,
        book: RequestBook,
        emit: Callable[[Action], None],
    ) -> None:
        self._config = config
        self._timing = timing
        self._identity = identity
        self._view = view
        self._book = book
        self._emit = emit
        self._session = ""
        self._generation = 0
        self._claims: dict[int, _Claim] = {}
        self._assigned_for: object = None
        self._assigned: dict[int, str] = {}
        self.owned: dict[int, OwnedShard] = {}
        self.claims: Counter[GainReason] = Counter()
        self.losses: Counter[LossReason] = Counter()
        self.fences: Counter[str] = Counter()
        self.claim_conflicts = 0
        self.last_gap = 0.0
        """Seconds for which the shard that was gained last had no owner, as far as this replica saw."""

    # --- questions ---------------------------------------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        """Whether nothing is owned or claimed, and no shard names this session."""
        if self.owned or any(self._book.is_pending((self._generation, shard)) for shard in self._claims):
            return False
        shards = self._view.shards_of(self._generation)
        return not any(shards[shard].holder == self._session for shard in range(self._config.shards) if shard in shards)

    @property
    def wanted(self) -> frozenset[int]:
        """The shards that this replica should own, by the last decision."""
        return frozenset(shard for shard, session in self._assigned.items() if session == self._session)

    def expected(self, weight: float) -> frozenset[int]:
        """The shards that this replica would own as an additional member, with all others that are joining now."""
        own = Member(self._session, self._identity, weight)
        members = {**self._view.members, **self._view.joining(self._config.digest, self._generation), own.session: own}
        wanted = assign(self._config.shards, members, self._held(members))
        return frozenset(shard for shard, session in wanted.items() if session == self._session)

    def deadlines(self, now: float) -> Iterator[float]:
        yield from (each.cancel_at for each in self.owned.values() if each.cancel_at > now)
        settled = self._view.members_changed + self._timing.settle
        if settled > now:
            yield settled

    def _held(self, members: Mapping[str, Member]) -> dict[int, str]:
        """The present owners of the shards; a Lease of a larger number is not one of them."""
        shards = self._view.shards_of(self._generation)
        return {
            shard: each.holder
            for shard, each in shards.items()
            if each.holder in members and shard < self._config.shards
        }

    def _want(self) -> dict[int, str]:
        if self._assigned_for != (self._session, self._view.changes):
            self._assigned_for = self._session, self._view.changes
            self._assigned = assign(self._config.shards, self._view.members, self._held(self._view.members))
        return self._assigned

    # --- inputs ------------------------------------------------------------------------------------------------------

    def begin(self, session: str, generation: int) -> None:
        """A new session begins; it owns nothing."""
        self._session, self._generation = session, generation
        self._claims.clear()

    def caught_up(self, shard: int, token: int, versions: Mapping[str, str] | None) -> None:
        own = self.owned.get(shard)
        if own is not None and (own.token, own.phase) == (token, "catching-up"):
            own.phase, own.versions = "working", versions
            self._emit(ShardReady(shard, token))

    def drained(self, shard: int, token: int, versions: Mapping[str, str] | None) -> None:
        own = self.owned.get(shard)
        if own is not None and (own.token, own.phase) == (token, "draining"):
            own.phase, own.cancel_at, own.versions = "releasing", math.inf, versions

    def cancel_drains(self, now: float) -> None:
        for each in self.owned.values():
            if each.cancel_at < math.inf:
                each.cancel_at = now
        self._cancel_overdue(now)

    def lose_all(self, reason: LossReason) -> None:
        for shard in [*self.owned]:
            self._lose(shard, reason)

    def handle(self, request: Request, outcome: Outcome, now: float, *, is_valid: bool) -> None:
        """A request for a shard has an outcome."""
        record = request.record
        assert isinstance(record, ShardRecord)
        is_claim = request.verb == "update" and record.holder == self._session and record.generation == self._generation
        claim = self._claims.pop(record.shard, None) if is_claim else None
        if claim is None:
            return
        if isinstance(outcome, RequestFailure):
            self.claim_conflicts += outcome.kind == "conflict"
        elif is_valid:
            self._gain(record, claim, now)

    def count_fence(self, request: Request, outcome: Outcome) -> None:
        """A request for the session of a peer has an outcome."""
        if request.verb != "update":
            return
        failed = outcome.kind if isinstance(outcome, RequestFailure) else ""
        self.fences[{"": "fenced", "conflict": "alive", "missing": "deleted"}.get(failed, "failed")] += 1

    # --- decisions ---------------------------------------------------------------------------------------------------

    def decide(self, config: ConfigRecord, now: float, *, may_claim: bool, is_leaving: bool) -> None:
        """Claim, drain and release, as the view requires."""
        want, shards = self._want(), self._view.shards_of(self._generation)
        self._cancel_overdue(now)
        if not config.is_complete:
            self._create_shards(config, shards, want, now)
            return
        is_settled = now >= self._view.members_changed + self._timing.settle
        for shard in range(self._config.shards):
            record, own = shards.get(shard), self.owned.get(shard)
            if own is not None:
                self._keep(shard, own, record, now)
                if want.get(shard) != self._session and (is_leaving or is_settled):
                    self._drain(shard, now)
            elif record is None:
                if want.get(shard) == self._session:
                    self._create(shard, self._view.largest_token() + 1, now, is_recreated=True)
            elif may_claim and want.get(shard) == self._session and self._may_claim(record, now):
                self._claim(record, max(record.token, config.token_floor) + 1, now)
            elif record.holder == self._session:
                self._release(record, None, now)
        self._clean_up(shards, now)

    def release_all(self, now: float) -> None:
        """Drain and release everything: the configuration of the group has changed."""
        self._cancel_overdue(now)
        for shard, own in [*self.owned.items()]:
            self._keep(shard, own, self._view.shards.get((self._generation, shard)), now)
            self._drain(shard, now)

    def _may_claim(self, record: ShardRecord, now: float) -> bool:
        """Whether a shard is free, or this session's by a claim whose response was lost, and which is repeated."""
        return record.holder == self._session or now >= self._view.free_at(record, self._timing.lease_duration)

    def _claim(self, record: ShardRecord, token: int, now: float) -> None:
        reason: GainReason = "fenced"
        if record.holder in ("", self._session):
            reason = "reclaimed" if record.holder else "free" if record.identity == "" else "released"
        claimed = replace(
            record,
            holder=self._session,
            identity=self._identity,
            previous=record.identity,
            reason=reason,
            token=token,
            duration=self._timing.written_duration,
            acquired=None,
            released_versions=None,
            is_recreated=False,
        )
        if self._book.send("update", claimed, now):
            self._claims[record.shard] = _Claim(reason, record.released_versions, self._unowned_since(record))

    def _unowned_since(self, record: ShardRecord) -> float:
        if record.holder in self._view.sessions and self._view.is_ended(record.holder):
            return self._view.ended_since(record.holder) - self._view.sessions[record.holder].duration
        return self._view.shard_changed(record)

    def _gain(self, record: ShardRecord, claim: _Claim, now: float) -> None:
        self.claims[claim.reason] += 1
        self.last_gap = max(now - claim.unowned_since, 0.0)
        self.owned[record.shard] = OwnedShard(record.token, "catching-up", since=now)
        self._emit(ShardGained(record.shard, record.token, claim.reason, claim.released_versions))

    def _keep(self, shard: int, own: OwnedShard, record: ShardRecord | None, now: float) -> None:
        """Go on with a release, or drop the shard at once if its Lease is gone or names another session."""
        if record is None or record.holder != self._session:
            self._lose(shard, "released" if own.phase == "releasing" else "taken")
        elif own.phase == "releasing":
            self._release(record, own.versions, now)

    def _drain(self, shard: int, now: float) -> None:
        own = self.owned.get(shard)
        if own is not None and own.phase in ("catching-up", "working"):
            own.phase, own.cancel_at = "draining", now + self._timing.grace_period
            self._emit(ShardDraining(shard, own.token, own.cancel_at))

    def _cancel_overdue(self, now: float) -> None:
        for shard, own in self.owned.items():
            if now >= own.cancel_at:
                own.cancel_at = math.inf
                self._emit(CancelShard(shard, own.token))

    def _release(self, record: ShardRecord, versions: Mapping[str, str] | None, now: float) -> None:
        self._book.send("update", replace(record, holder="", released_versions=versions), now)

    def _lose(self, shard: int, reason: LossReason) -> None:
        own = self.owned.pop(shard)
        self.losses[reason] += 1
        self._emit(ShardLost(shard, own.token, reason))

    # --- the Leases --------------------------------------------------------------------------------------------------

    def restore_config(self, generation: int, now: float) -> None:
        """The Lease of the configuration was deleted: create it again, as it was."""
        record = ConfigRecord(
            text=self._config.text,
            digest=self._config.digest,
            generation=generation,
            token_floor=self._view.largest_token(),
            is_complete=True,
            written_by=self._identity,
        )
        self._book.send("create", record, now)

    def _create_shards(
        self, config: ConfigRecord, shards: Mapping[int, ShardRecord], want: Mapping[int, str], now: float
    ) -> None:
        """Create the Leases of a new group or generation; shards are claimed when all exist."""
        for shard in range(self._config.shards):
            if shard not in shards and want.get(shard) == self._session:
                self._create(shard, config.token_floor, now, is_recreated=False)
        if self._is_first and all(shard in shards for shard in range(self._config.shards)):
            self._book.send("update", replace(config, is_complete=True), now)

    def _create(self, shard: int, token: int, now: float, *, is_recreated: bool) -> None:
        record = ShardRecord(generation=self._generation, shard=shard, token=token, is_recreated=is_recreated)
        self._book.send("create", record, now)

    @property
    def _is_first(self) -> bool:
        """Whether this member does what one member has to do."""
        return min(self._view.members, default="") == self._session

    def _clean_up(self, shards: Mapping[int, ShardRecord], now: float) -> None:
        """Delete the Leases of sessions that ended long ago, and of earlier generations."""
        if not self._is_first:
            return
        if len(self._view.shards) > len(shards):
            for (generation, _), record in self._view.shards.items():
                if generation != self._generation:
                    self._book.send("delete", record, now)
        for session in self._old_sessions(now):
            self._book.send("delete", session, now)

    def _old_sessions(self, now: float) -> list[SessionRecord]:
        old = [
            each
            for each in self._view.sessions.values()
            if each.state == "ended" and now >= self._view.ended_since(each.session) + ENDED_SESSIONS_KEPT
        ]
        named = {each.holder for each in self._view.shards.values()} if old else set()
        return [each for each in old if each.session not in named]

"""The state machine of one replica: its session, and what follows from it. `ownership_state.py` has its shards.

    CHECKING ──▶ CREATING ──▶ JOINING ──▶ ACTIVE ──▶ LEAVING ──▶ ENDING ──▶ GONE
       ▲  └─▶ WAITING           │           │           │          ▲
       │                        └───────────┴───────────┴─▶ STOPPING     the session was not renewed in time
       └────────────────────────────────────────────────────────┘        a new session follows

Each input is a method with the time of the replica's own clock; afterwards `take_actions` returns what to do. Nothing
here waits: `coordinator.py` sends the requests, and calls `tick` at `next_deadline`.

Why no two replicas work on one shard: let X be a session whose last renewal in time was sent at s. X works until
s + renew deadline + clean-up, by its clock. A peer declares X dead by a write to X's own record, which succeeds only
if that record did not change for the whole lease duration, so not before s + lease duration by the peer's clock. A
shard of X is claimed after that, or after X released it or ended its session; and of two claims one fails.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Literal

from listwatch.sharding.protocol.configuration_state import Configuration
from listwatch.sharding.protocol.group_records import ConfigRecord, GroupConfig, Record, SessionRecord, ShardRecord
from listwatch.sharding.protocol.group_view_state import GroupView
from listwatch.sharding.protocol.ownership_state import Ownership
from listwatch.sharding.protocol.replica_actions import (
    Action,
    Gone,
    Outcome,
    Prefetch,
    Refuse,
    Relist,
    Request,
    RequestFailure,
    SharedIdentity,
    StopAll,
)
from listwatch.sharding.protocol.request_book_state import RequestBook
from listwatch.sharding.protocol.session_state import Phase, Session
from listwatch.sharding.protocol.timing import ShardTiming

__all__ = ["OnConfigChange", "Phase", "ReplicaState"]

OnConfigChange = Literal["refuse", "wait"]


class ReplicaState:
    """Decides what one replica does. It owns a shard only while its session is valid, by its own clock."""

    def __init__(
        self,
        config: GroupConfig,
        *,
        identity: str,
        timing: ShardTiming,
        jitter: Callable[[], float],
        new_session: Callable[[], str],
        weight: float = 1.0,
        on_config_change: OnConfigChange = "refuse",
    ) -> None:
        self.config = config
        self.identity = identity
        self.timing = timing
        self.weight = weight
        self.phase = Phase.CHECKING
        self.valid_until = -math.inf
        """Until when the session is valid without another renewal."""
        self.view = GroupView(jitter)
        self.sessions_lost = 0
        self._has_updated = False  # a record, so that it has the permission
        self.waiting_reason = ""
        self._jitter = jitter
        self._new_session = new_session
        self._on_config_change = on_config_change
        self._actions: list[Action] = []
        self._book = RequestBook(self._actions.append, retry_delay=timing.retry_period / 2, jitter=jitter)
        self.ownership = Ownership(
            config, timing=timing, identity=identity, view=self.view, book=self._book, emit=self._actions.append
        )
        self._configuration = Configuration(config, timing=timing, identity=identity, view=self.view)
        self._session: Session | None = None
        self._generation = 0
        self._is_leaving = False
        self._relist_at = math.inf
        self._fence_jitter = timing.retry_period / 2
        self._decided_at = -math.inf
        self._own_sessions: set[str] = set()
        self._namesakes: Counter[str] = Counter()

    # --- outputs -----------------------------------------------------------------------------------------------------

    def take_actions(self) -> list[Action]:
        """What to do now, in this order."""
        actions = self._actions[:]
        self._actions.clear()
        return actions

    def next_deadline(self, now: float) -> float:
        """When to call `tick` at the latest, if nothing else happens."""
        if self.phase is Phase.GONE:
            return math.inf
        times = [
            self._decided_at + self.timing.retry_period,
            *self._book.next_retry(now),
            *self.ownership.deadlines(now),
        ]
        if self.valid_until > now:
            times.append(self.valid_until)
        if self._session is not None:
            times += [at for at in (self._session.renew_at, self._session.prefetch_until) if at > now]
            times += [at for _, at in self._peers() if at > now]
        return min(times)

    @property
    def session(self) -> str:
        """The id of the session; empty if there is none."""
        return "" if self._session is None else self._session.id

    @property
    def is_valid_session(self) -> bool:
        return self.valid_until > -math.inf

    # --- inputs ------------------------------------------------------------------------------------------------------

    def tick(self, now: float) -> None:
        """Time has passed."""
        self._advance(now)

    def observe_list(self, records: Iterable[Record], version: int, now: float) -> None:
        """The Leases of the group were listed."""
        records = [*records]
        for each in records:
            self._compare_identity(each)
        self.view.observe_list(records, version, now=now)
        self._relist_at = now + 3 * self.timing.retry_period
        self._advance(now)

    def observe_event(self, record: Record, now: float, *, is_deleted: bool = False) -> None:
        """The watch of the Leases reported a change."""
        if not is_deleted:
            self._compare_identity(record)
        changes = self.view.changes
        self.view.observe_event(record, is_deleted=is_deleted, now=now)
        if self.view.changes != changes or (isinstance(record, SessionRecord) and record.session == self.session):
            self._advance(now)

    def observe_bookmark(self, version: int, now: float) -> None:
        """The watch of the Leases reported its version."""
        self.view.observe_bookmark(version, now=now)

    def handle_outcome(self, request: Request, outcome: Outcome, now: float) -> None:
        """A request succeeded or failed."""
        self._expire(now)
        sent = self._book.finish(request, outcome, now)
        if isinstance(outcome, RequestFailure):
            if outcome.kind == "missing":
                self.view.observe_absence(request.record, now=now)
        elif request.verb != "delete":
            self.view.observe_response(outcome, now=now)
        if sent is not None:
            self._handle(request, outcome, sent, now)
        self._advance(now)

    def prefetched(self, now: float) -> None:
        """The objects of the shards that `Prefetch` named are cached."""
        if self.phase is Phase.JOINING and self._session is not None:
            self._session.prefetch_until = now
        self._advance(now)

    def caught_up(self, shard: int, token: int, versions: Mapping[str, str] | None, now: float) -> None:
        """The caches contain the writes of the earlier owners of a gained shard."""
        self._expire(now)
        self.ownership.caught_up(shard, token, versions)
        self._advance(now)

    def drained(self, shard: int, token: int, versions: Mapping[str, str] | None, now: float) -> None:
        """No reconcile of a draining shard runs; `versions` contain all that they wrote, if they are known."""
        self._expire(now)
        self.ownership.drained(shard, token, versions)
        self._advance(now)

    def stopped(self, session: str, now: float, *, is_clean: bool = True) -> None:
        """After `StopAll`: no reconcile of that session runs, or some cannot be stopped and `is_clean` is false."""
        if self.phase is Phase.STOPPING and session == self.session:
            if is_clean:
                self._enter_ending(now)
            else:
                self._finish_session(now)
        self._advance(now)

    def leave(self, now: float) -> None:
        """Drain and release all shards, and leave the group."""
        self._is_leaving = True
        match self.phase:
            case Phase.CHECKING | Phase.WAITING:
                self._enter_gone()
            case Phase.CREATING:
                self._enter_ending(now)
            case Phase.JOINING | Phase.ACTIVE:
                self._enter_leaving()
        self._advance(now)

    def cancel_drains(self, now: float) -> None:
        """End the grace periods of all shards that are being drained."""
        self.ownership.cancel_drains(now)
        self._advance(now)

    def give_up(self, now: float) -> None:
        """End the session: this replica makes no progress. Peers take its shards when the lease has expired."""
        if self.is_valid_session:
            self._lose_session("this replica makes no progress")
        self._advance(now)

    def abandon(self) -> None:
        """Leave the group without ending the session, which expires."""
        self._enter_gone()

    # --- the session -------------------------------------------------------------------------------------------------

    def _advance(self, now: float) -> None:
        self._decided_at = now
        self._expire(now)
        match self.phase:
            case Phase.CHECKING if self.view.is_listed:
                self._book.send("read", ConfigRecord(), now)
            case Phase.WAITING:
                self._wait_for_config(now)
            case Phase.CREATING:
                self._create_session(now)
            case Phase.JOINING | Phase.ACTIVE | Phase.LEAVING:
                self._run_session(now)
            case Phase.ENDING:
                self._end_session(now)

    def _expire(self, now: float) -> None:
        if self.is_valid_session and now >= self.valid_until:
            self._lose_session(f"it was not renewed for {self.timing.renew_deadline:g} s")

    def _lose_session(self, reason: str) -> None:
        """The session is over, for good: a renewal that succeeds later does not change that."""
        assert self._session is not None
        self.sessions_lost += 1
        self.valid_until = -math.inf
        self.ownership.lose_all("session")
        self.phase = Phase.STOPPING
        self._actions.append(StopAll(self._session.id, reason))

    def _begin_session(self, generation: int, now: float) -> None:
        self._generation = generation
        record = SessionRecord(
            session=self._new_session(),
            identity=self.identity,
            duration=self.timing.written_duration,
            digest=self.config.digest,
            generation=generation,
        )
        self._session = Session(record, begun=now)
        self._own_sessions.add(self._session.id)
        self.ownership.begin(self._session.id, generation)
        self.phase = Phase.CREATING

    def _create_session(self, now: float) -> None:
        session = self._session
        assert session is not None
        if now >= session.begun + self.timing.renew_deadline:
            self._enter_ending(now)  # the request may be executed later
            return
        self._book.send("create", session.next_record(self.weight), now, is_urgent=True)

    def _run_session(self, now: float) -> None:
        session = self._session
        assert session is not None
        assert session.record is not None
        if self.view.is_ended(session.id):
            ended = self.view.sessions.get(session.id)  # None if it was deleted since then
            by = "" if ended is None else ended.ended_by
            self._lose_session(f"{by or 'another replica'} has declared it dead")
            return
        if session.id not in self.view.sessions:
            self._book.must_read(session.id)  # it was deleted
            session.renew_at = min(session.renew_at, now)
        if session.state == "joining":
            self._join(session, now)
        wanted = session.next_record(self.weight)
        if now >= session.renew_at or (wanted.state, wanted.weight) != (session.record.state, session.record.weight):
            self._book.send("update", wanted, now, is_urgent=True)
        self._check_watch(session, now)
        self._fence_silent_sessions(now)
        if self._is_view_usable(session):
            self._decide(session, now)

    def _decide(self, session: Session, now: float) -> None:
        assert session.record is not None
        config = self.view.config
        if config is None:
            self.ownership.restore_config(self._generation, now)
            return
        if (config.digest, config.generation) != (self.config.digest, self._generation):
            if self.phase is not Phase.LEAVING:
                self._enter_leaving()
            self.ownership.release_all(now)
        elif self._configuration.is_blocked(session, self._generation, now):
            return
        else:
            # Peers must know that it leaves before it releases a shard, or they would assign the shard to it again.
            is_leaving = self.phase is Phase.LEAVING and session.record.state == "leaving"
            self.ownership.decide(config, now, may_claim=self.phase is Phase.ACTIVE, is_leaving=is_leaving)
        if self.phase is Phase.LEAVING and self.ownership.is_empty:
            self._enter_ending(now)

    def _is_view_usable(self, session: Session) -> bool:
        """Whether the view contains the own session: only then does it show what may conflict with it."""
        return self.view.version >= session.first_version and session.id in self.view.sessions

    def _join(self, session: Session, now: float) -> None:
        if session.prefetch_until == math.inf and self._is_view_usable(session) and self.view.config is not None:
            session.prefetch_until = now + self.timing.prefetch_timeout
            self._actions.append(Prefetch(self.ownership.expected(self.weight)))
        elif now >= session.prefetch_until:
            session.state = "active"
            self.phase = Phase.ACTIVE

    def _check_watch(self, session: Session, now: float) -> None:
        """The own renewals are the heartbeat of the watch."""
        if now >= max(session.unseen_since(self.view.version) + 3 * self.timing.retry_period, self._relist_at):
            self._relist(now)

    def _relist(self, now: float) -> None:
        self._relist_at = now + 3 * self.timing.retry_period
        self._actions.append(Relist())

    def _handle(self, request: Request, outcome: Outcome, sent: float, now: float) -> None:
        if request.verb == "update" and not isinstance(outcome, RequestFailure):
            self._has_updated = True
        # A replica may be active before it updates a record for the first time.
        is_first_update = request.verb == "update" and not self._has_updated
        is_starting = self.phase in (Phase.CHECKING, Phase.WAITING, Phase.CREATING, Phase.JOINING) or is_first_update
        if is_starting and isinstance(outcome, RequestFailure) and _is_permanent(request, outcome):
            self._refuse(outcome.message, is_forbidden=True)
            return
        match request.record:
            case ConfigRecord():
                self._handle_config(outcome, now)
            case SessionRecord(session=session) if session == self.session:
                self._handle_own_session(request, outcome, sent, now)
            case SessionRecord():
                self.ownership.count_fence(request, outcome)
            case ShardRecord():
                self.ownership.handle(request, outcome, now, is_valid=self.is_valid_session)

    def _handle_own_session(self, request: Request, outcome: Outcome, sent: float, now: float) -> None:
        session = self._session
        assert session is not None
        if isinstance(outcome, SessionRecord):
            session.record = outcome
            session.unseen.append((outcome.version, now))
        is_running = self.phase in (Phase.JOINING, Phase.ACTIVE, Phase.LEAVING)
        match self.phase, outcome:
            case Phase.CREATING, SessionRecord():
                # Counted from the first attempt: any of them may have created it.
                session.first_version = session.first_version or outcome.version
                self._become_valid(session.begun, now)
                if self.is_valid_session:
                    self.phase = Phase.JOINING
                    session.renew_at = now if request.verb == "read" else self._next_renewal(sent)
            case _, (SessionRecord(state="ended") | RequestFailure("missing")) if is_running:
                self._lose_session("its Lease says that it has ended, or was deleted")
            case _, SessionRecord() if is_running and request.verb == "update":
                self._become_valid(sent, now)
                session.renew_at = self._next_renewal(sent)
            case _, SessionRecord() if is_running:
                session.renew_at = now
            case Phase.ENDING, SessionRecord(state="ended") | RequestFailure("missing"):
                self._finish_session(now)

    def _become_valid(self, sent: float, now: float) -> None:
        """A write of the own session succeeded; it counts from when it was sent, since peers may count from then."""
        until = sent + self.timing.renew_deadline
        if now < until:
            self.valid_until = max(self.valid_until, until)

    def _next_renewal(self, sent: float) -> float:
        return sent + self.timing.retry_period * (1 + 0.2 * self._jitter())

    def _enter_leaving(self) -> None:
        assert self._session is not None
        self._session.state = "leaving"
        self.phase = Phase.LEAVING

    def _enter_ending(self, now: float) -> None:
        assert self._session is not None
        self.valid_until = -math.inf
        self._session.ending_since = now
        self.phase = Phase.ENDING
        if self._session.record is not None and self._session.record.state == "ended":
            self._finish_session(now)

    def _end_session(self, now: float) -> None:
        session = self._session
        assert session is not None
        if now >= session.ending_since + self.timing.lease_duration:
            self._finish_session(now)  # the others have declared it dead
            return
        if session.record is None:
            self._book.must_read(session.id)
        record = replace(session.next_record(self.weight), state="ended", ended_by=self.identity)
        self._book.send("update", record, now, is_urgent=True)

    def _finish_session(self, now: float) -> None:
        session = self._session
        assert session is not None
        self.valid_until = -math.inf
        if self._is_leaving:
            is_named = any(each.holder == session.id for each in self.view.shards.values())
            if session.record is not None and session.record.state == "ended" and not is_named:
                self._book.send("delete", session.record, now, is_urgent=True)
            self._enter_gone()
        else:
            self._session = None
            self.phase = Phase.CHECKING

    def _enter_gone(self) -> None:
        self.valid_until = -math.inf
        self.ownership.lose_all("session")
        if self.phase is not Phase.GONE:
            self.phase = Phase.GONE
            self._actions.append(Gone())

    # --- peers -------------------------------------------------------------------------------------------------------

    def _fence_silent_sessions(self, now: float) -> None:
        """Declare peers dead that stayed silent for their lease duration.

        The write names the version that was silent, so it fails if the peer has renewed meanwhile, however old this
        view is. Silence alone would not allow a claim.
        """
        for record, at in self._peers():
            if now >= at:
                self._book.send("update", replace(record, state="ended", ended_by=self.identity), now)

    def _peers(self) -> Iterator[tuple[SessionRecord, float]]:
        """The sessions of peers that have not ended, and when their silence is long enough to declare them dead."""
        return self.view.peer_sessions(self.session, self._fence_jitter, self.timing.lease_duration)

    def _compare_identity(self, record: Record) -> None:
        """Notice a running replica with the same identity: it renews its session.

        An earlier process of that identity does not: of its requests at most one may be executed after its end.
        """
        if not isinstance(record, SessionRecord) or record.identity != self.identity:
            return
        known = self.view.sessions.get(record.session)
        is_renewed = known is not None and record.version > known.version and record.state in ("joining", "active")
        if is_renewed and record.session not in self._own_sessions:
            self._namesakes[record.session] += 1
            if self._namesakes[record.session] == 2:
                self._actions.append(SharedIdentity(record.session))

    # --- the configuration -------------------------------------------------------------------------------------------

    def _handle_config(self, outcome: Outcome, now: float) -> None:
        if self.phase not in (Phase.CHECKING, Phase.WAITING):
            return
        if isinstance(outcome, RequestFailure):
            if outcome.kind == "missing":
                self._book.send("create", self._configuration.new_record(), now)
            return
        assert isinstance(outcome, ConfigRecord)
        if outcome.digest == self.config.digest:
            self._begin_session(outcome.generation, now)
        elif self._on_config_change == "refuse":
            self._refuse(self._configuration.describe(outcome))
        else:
            self.waiting_reason = f"waits until no replica uses the configuration {outcome.text}"
            self.phase = Phase.WAITING
            self._relist_at = now + self.timing.lease_duration

    def _wait_for_config(self, now: float) -> None:
        config = self.view.config
        if now >= self._relist_at:
            self._relist(now)
        if config is None or config.digest == self.config.digest:
            self.phase = Phase.CHECKING
            self._book.send("read", ConfigRecord(), now)
            return
        self._fence_silent_sessions(now)
        if self._configuration.can_replace(config, now):
            self._book.send("update", self._configuration.new_record(previous=config), now)

    def _refuse(self, message: str, *, is_forbidden: bool = False) -> None:
        self._actions.append(Refuse(message, is_forbidden=is_forbidden))
        self._enter_gone()


def _is_permanent(request: Request, failure: RequestFailure) -> bool:
    """Whether a replica that starts cannot take part: not permitted, or no configuration of a group by that name."""
    return failure.kind == "forbidden" or (failure.kind == "damaged" and isinstance(request.record, ConfigRecord))

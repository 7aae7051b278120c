"""One simulated replica: the real state machine, on a computer with its own clock, network, caches and reconciles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.sharding.simulated_server import LeaseEvent, ViolationError

from listwatch.sharding.protocol.group_records import GroupConfig, Record
from listwatch.sharding.protocol.replica_actions import (
    CancelShard,
    Gone,
    Outcome,
    Prefetch,
    Refuse,
    Relist,
    Request,
    RequestFailure,
    StopAll,
)
from listwatch.sharding.protocol.replica_state import ReplicaState
from listwatch.sharding.protocol.shard_events import ShardDraining, ShardGained, ShardLost, ShardReady
from listwatch.sharding.protocol.timing import ShardTiming

if TYPE_CHECKING:
    from tests.sharding.simulation import Simulation

RESOURCES = ("pods", "jobs")
TIMING = ShardTiming(grace_period=5.0, settle=3.0, prefetch_timeout=5.0)
CLEAN_UP = TIMING.cleanup


@dataclass(eq=False)
class Reconcile:
    """One call of a reconcile function; a thread cannot be cancelled."""

    key: str
    shard: int
    token: int
    is_thread: bool
    is_cancelled: bool = False
    is_exempt: bool = False
    """Whether it belongs to a session that was over when its process woke up: it is only kept from writing."""
    has_ended: bool = False


@dataclass
class Work:
    """What a replica knows of one of its shards besides the state machine."""

    token: int
    state: str = "catching up"
    targets: dict[str, int] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    """The newest version of each resource that it wrote or waited for."""
    is_complete: bool = True
    """Whether all of its writes have a known version."""
    outstanding: int = 0
    refresh_at: float = 0.0


class Replica:
    """A process; `pause` stops it as SIGSTOP does, `crash` kills it."""

    def __init__(
        self, place: Simulation, name: str, config: GroupConfig, *, rate: float, ahead: float, weight: float
    ) -> None:
        self.place, self.world, self.name, self.config, self.weight = place, place.world, name, config, weight
        self.rate, self._ahead, self._start = rate, ahead, place.world.now
        self.is_alive, self.is_gone, self.is_leaving, self.refused = True, False, False, ""
        self.shards: dict[int, Work] = {}
        self.running: dict[str, Reconcile] = {}
        self.lag = place.dice.uniform(0.05, 1.0)
        self.reads_by_range = place.dice.random() < 0.4
        """Whether a gained shard is listed (read path 1), or the cache of everything has to catch up."""
        self.stalled_until = 0.0
        self._paused: list[Callable[[], object]] | None = None
        self._stopping = ""
        self._timer = 0
        self._watch = 0
        self._events: list[LeaseEvent] = []
        self._delivered_at = 0.0
        self._watermark = dict.fromkeys(RESOURCES, 0)
        self.machine = self._make_machine()
        self._list()
        self._pump()

    def _make_machine(self) -> ReplicaState:
        dice = self.place.dice
        return self.place.machine_type(
            self.config,
            identity=self.name,
            timing=TIMING,
            jitter=dice.random,
            new_session=lambda: f"{self.name}.{dice.getrandbits(40):010x}",
            weight=self.weight,
            on_config_change="wait",
        )

    # --- the process -------------------------------------------------------------------------------------------------

    def local(self) -> float:
        """The time of its own clock."""
        return self._ahead + (self.world.now - self._start) * self.rate

    @property
    def is_paused(self) -> bool:
        return self._paused is not None

    def deliver(self, function: Callable[[], object]) -> None:
        """Something reaches the process: now, when it wakes up, or never."""
        if self._paused is not None:
            self._paused.append(function)
        elif self.is_alive:
            function()

    def pause(self, seconds: float) -> None:
        if self.is_alive and self._paused is None:
            self.world.log(f"{self.name} is paused for {seconds:.1f} s")
            self._paused = []
            self.world.after(seconds, self._wake)

    def _wake(self) -> None:
        if not self.is_alive or self._paused is None:
            return
        self.world.log(f"{self.name} wakes up")
        waiting, self._paused = self._paused, None
        is_over = self.local() >= self.machine.valid_until
        for each in self.running.values():
            each.is_exempt |= is_over
            self.place.check_alone(self, each)
        self.place.dice.shuffle(waiting)
        for function in waiting:
            self.deliver(function)

    def crash(self) -> None:
        self.world.log(f"{self.name} crashes")
        self.is_alive = False
        self._paused = None
        self._unwatch()
        for each in [*self.running.values()]:
            self._forget(each)

    def leave(self) -> None:
        self.world.log(f"{self.name} leaves")
        self.is_leaving = True
        self.deliver(lambda: self._input(lambda: self.machine.leave(self.local())))

    # --- the state machine -------------------------------------------------------------------------------------------

    def _input(self, function: Callable[[], object]) -> None:
        function()
        self._pump()

    def _pump(self) -> None:
        while actions := self.machine.take_actions():
            for action in actions:
                self._do(action)
        self._timer += 1
        number, now = self._timer, self.local()
        delay = (self.machine.next_deadline(now) - now) / self.rate
        if delay < 1e6:
            self.world.after(max(delay, 0.0) + 1e-6, lambda: self.deliver(lambda: self._tick(number)))

    def _tick(self, number: int) -> None:
        if number == self._timer:
            self._input(lambda: self.machine.tick(self.local()))

    def _do(self, action: object) -> None:
        match action:
            case Request():
                self._send(action)
            case Relist():
                self._list()
            case Prefetch():
                delay = self.place.dice.choice([0.1, 1.0, 3.0, 40.0])
                self._later(delay, lambda: self.machine.prefetched(self.local()))
            case StopAll(session=session):
                self._stopping = session
                self._cancel(list(self.running.values()))
                self._later(CLEAN_UP, lambda: self._check_stopped(session, is_late=True))
                self._check_stopped(session)
            case CancelShard(shard=shard, token=token):
                self._cancel([each for each in self.running.values() if (each.shard, each.token) == (shard, token)])
            case Refuse(message=message):
                self.refused = message
            case Gone():
                self.is_gone = True
                self.is_alive = bool(self.running)
                self._unwatch()
            case _:
                self._shard_event(action)

    def _later(self, delay: float, function: Callable[[], object]) -> None:
        self.world.after(delay / self.rate, lambda: self.deliver(lambda: self._input(function)))

    def _send(self, request: Request) -> None:
        is_answered = False

        def answer(outcome: Outcome | None) -> None:
            nonlocal is_answered
            if not is_answered:
                is_answered = True
                result = RequestFailure("unknown") if outcome is None else outcome
                self._input(lambda: self.machine.handle_outcome(request, result, self.local()))

        execute = lambda: self.place.server.handle(request)  # noqa: E731  # it is passed on
        self.place.network.send(self.name, execute, lambda outcome: self.deliver(lambda: answer(outcome)))
        self.world.after(TIMING.request_timeout / self.rate, lambda: self.deliver(lambda: answer(None)))

    # --- the watch of the Leases -------------------------------------------------------------------------------------

    def _unwatch(self) -> None:
        self._watch += 1
        self.place.server.watchers.pop(self.name, None)

    def break_watch(self) -> None:
        """The server answers 410: list again."""
        if self.is_alive and not self.is_gone:
            self._unwatch()
            self.deliver(self._list)

    def _list(self) -> None:
        if self.is_gone:
            return
        self._unwatch()
        number, buffered, is_answered = self._watch, list[LeaseEvent](), False

        def execute() -> tuple[list[Record], int]:
            if number == self._watch:
                self.place.server.watchers[self.name] = buffered.append
            return [*self.place.server.records.values()], self.place.server.version

        def again() -> None:
            if number == self._watch and not is_answered:
                self._list()

        def respond(result: tuple[list[Record], int] | None) -> None:
            nonlocal is_answered
            if number != self._watch:
                return
            if result is None:
                self.world.after(1.0, lambda: self.deliver(again))
                return
            is_answered = True
            if self.place.dice.random() < 0.7:
                self.stalled_until = 0.0
            self._events = buffered[:]
            self.place.server.watchers[self.name] = lambda event: self._push(event, number)
            self._input(lambda: self.machine.observe_list(result[0], result[1], self.local()))
            for event in self._events:
                self._push(event, number)

        self.place.network.send(self.name, execute, lambda result: self.deliver(lambda: respond(result)))
        self.world.after(5.0, lambda: self.deliver(again))

    def _push(self, event: LeaseEvent, number: int) -> None:
        latency = self.place.dice.random() * 0.1
        self._delivered_at = max(self.world.now + latency, self._delivered_at, self.stalled_until)

        def arrive() -> None:
            if number == self._watch and self.name in self.place.network.unreachable:
                self.break_watch()
            elif number == self._watch:
                self._input(lambda: self.machine.observe_event(event.record, self.local(), is_deleted=event.is_deleted))

        # A connection keeps its order, so it is not part of what is shuffled after a pause.
        self.world.at(self._delivered_at, lambda: self.deliver(arrive))

    # --- shards ------------------------------------------------------------------------------------------------------

    def _shard_event(self, event: object) -> None:
        match event:
            case ShardGained(shard=shard, token=token):
                work = self.shards[shard] = Work(token)
                self._catch_up(shard, work, event.released_versions)
            case ShardReady(shard=shard):
                work = self.shards[shard]
                work.state = "ready"
                self.place.became_ready(self, shard)
                for key in self.place.keys_of(self.config, shard):
                    self._start_later(key, shard, work.token, self.place.dice.random() * 0.5)
            case ShardDraining(shard=shard):
                self.shards[shard].state = "draining"
                self._check_drained(shard)
            case ShardLost(shard=shard, reason=reason, token=token):
                del self.shards[shard]
                if reason != "released":
                    self._cancel([each for each in self.running.values() if (each.shard, each.token) == (shard, token)])

    def is_working(self, shard: int) -> bool:
        work = self.shards.get(shard)
        return self.is_alive and work is not None and work.state == "ready"

    def _check_drained(self, shard: int) -> None:
        work = self.shards.get(shard)
        if work is None or work.state != "draining" or not self.place.may_release(self, shard):
            return
        versions = None
        if work.is_complete and not work.outstanding:
            versions = {resource: str(version) for resource, version in work.versions.items()}
        token = work.token
        self._later(0.0, lambda: self.machine.drained(shard, token, versions, self.local()))

    def has_running(self, shard: int) -> bool:
        return any(each.shard == shard for each in self.running.values())

    def _check_stopped(self, session: str, *, is_late: bool = False) -> None:
        if self._stopping == session and (not self.running or is_late):
            self._stopping, is_clean = "", not self.running
            self._later(0.0, lambda: self.machine.stopped(session, self.local(), is_clean=is_clean))

    # --- caches ------------------------------------------------------------------------------------------------------

    def content(self) -> int:
        """The version of the data that its caches contain."""
        return self.place.data_version_at(self.world.now - self.lag)

    def _catch_up(self, shard: int, work: Work, released: Mapping[str, str] | None) -> None:
        if not self.place.catches_up:
            self._later(0.0, lambda: self._caught_up(shard, work))
            return
        work.refresh_at = self.world.now + 1.0
        for resource in RESOURCES:
            if released is not None and resource in released and not self.reads_by_range:
                work.targets[resource] = int(released[resource])
            else:
                self._list_data(shard, work, resource)
        self._poll(shard, work)

    def _list_data(self, shard: int, work: Work, resource: str) -> None:
        """A consistent list, repeated until there is a response."""
        is_answered = False

        def answer(version: int | None) -> None:
            nonlocal is_answered
            if is_answered or self.shards.get(shard) is not work:
                return
            is_answered = True
            if version is None:
                self._later(1.0, lambda: self._list_data(shard, work, resource))
            else:
                work.targets[resource] = version

        execute = lambda: self.place.data_version  # noqa: E731  # it is passed on
        self.place.network.send(self.name, execute, lambda version: self.deliver(lambda: answer(version)))
        self.world.after(5.0, lambda: self.deliver(lambda: answer(None)))

    def _poll(self, shard: int, work: Work) -> None:
        """Whether the caches have reached the versions; an idle watch is reopened after a second for a bookmark."""
        if self.shards.get(shard) is not work or work.state != "catching up":
            return
        if len(work.targets) == len(RESOURCES):
            if self.reads_by_range:
                work.versions = dict(work.targets)
                self._caught_up(shard, work, listed=min(work.targets.values()))
                return
            seen_at = self.world.now - self.lag
            for resource in RESOURCES:
                self._watermark[resource] = max(self._watermark[resource], self.place.event_version(resource, seen_at))
                if self.world.now >= work.refresh_at + 2.0:
                    self._watermark[resource] = max(self._watermark[resource], self.content())
            if all(self._watermark[resource] >= target for resource, target in work.targets.items()):
                work.versions = dict(work.targets)
                self._caught_up(shard, work)
                return
        self.world.after(0.25, lambda: self.deliver(lambda: self._poll(shard, work)))

    def _caught_up(self, shard: int, work: Work, *, listed: int = 0) -> None:
        if self.shards.get(shard) is not work or work.state != "catching up":
            return
        self.place.check_fresh(self, shard, work.token, max(self.content(), listed))
        versions = {resource: str(version) for resource, version in work.versions.items()}
        self._later(0.0, lambda: self.machine.caught_up(shard, work.token, versions, self.local()))

    # --- reconciles --------------------------------------------------------------------------------------------------

    def _start_later(self, key: str, shard: int, token: int, delay: float) -> None:
        self.world.after(delay, lambda: self.deliver(lambda: self._start_reconcile(key, shard, token)))

    def _start_reconcile(self, key: str, shard: int, token: int) -> None:
        work = self.shards.get(shard)
        if work is None or (work.token, work.state) != (token, "ready"):
            return
        if key in self.running:  # a thread of an earlier session still runs
            self._start_later(key, shard, token, 1.0)
            return
        if not self._is_guarded(shard, token):
            return  # a worker checks before it calls the function
        dice = self.place.dice
        is_thread = dice.random() < self.place.thread_rate
        call = self.running[key] = Reconcile(key, shard, token, is_thread)
        self.place.started(self, call)
        length = dice.random() * dice.choice([0.1, 1.0, 8.0, 40.0 if is_thread else 8.0])
        self._step(call)
        self.world.after(length / 2, lambda: self.deliver(lambda: self._step(call)))
        self.world.after(length, lambda: self.deliver(lambda: self._end(call)))

    def _is_guarded(self, shard: int, token: int) -> bool:
        own = self.machine.ownership.owned.get(shard)
        is_owned = own is not None and own.token == token and own.phase != "releasing"
        return is_owned and self.local() < self.machine.valid_until

    def _step(self, call: Reconcile) -> None:
        """A guarded write."""
        if call.has_ended or not self._is_guarded(call.shard, call.token):
            return
        self.place.guarded_write(self, call)
        work = self.shards.get(call.shard)
        assert work is not None
        work.outstanding += 1
        resource = self.place.dice.choice(RESOURCES)

        def done(version: int | None) -> None:
            work.outstanding -= 1
            if version is None:
                work.is_complete = False
            else:
                work.versions[resource] = max(work.versions.get(resource, 0), version)
                if self._is_guarded(call.shard, call.token):  # a write that completes later is not promised to be seen
                    self.place.write_completed(call, version)

        is_answered = False

        def answer(version: int | None) -> None:
            nonlocal is_answered
            if not is_answered:
                is_answered = True
                done(version)

        execute = lambda: self.place.write_data(resource)  # noqa: E731  # it is passed on
        self.place.network.send(self.name, execute, lambda version: self.deliver(lambda: answer(version)))
        self.world.after(5.0, lambda: self.deliver(lambda: answer(None)))

    def _cancel(self, calls: list[Reconcile]) -> None:
        for call in calls:
            if not call.is_cancelled:
                call.is_cancelled = True
                if call.is_thread:
                    # It goes on; after the end of the session it is only kept from writing.
                    call.is_exempt |= call.shard not in self.shards or self._stopping != ""
                else:
                    delay = self.place.dice.choice([0.0, self.place.dice.random() * CLEAN_UP, CLEAN_UP])
                    self.world.after(delay, lambda call=call: self.deliver(lambda: self._end(call)))
            elif self._stopping and call.is_thread:
                call.is_exempt = True

    def _end(self, call: Reconcile) -> None:
        if call.has_ended:
            return
        self._step(call)
        self._forget(call)
        if self.is_gone:
            self.is_alive = bool(self.running)
        if call.shard in self.shards:
            self._check_drained(call.shard)
            work = self.shards[call.shard]
            if (work.token, work.state) == (call.token, "ready"):
                self._start_later(call.key, call.shard, call.token, self.place.dice.random() * 4)
        if self._stopping:
            self._check_stopped(self._stopping)

    def _forget(self, call: Reconcile) -> None:
        call.has_ended = True
        if self.running.get(call.key) is call:
            del self.running[call.key]
        self.place.ended(self, call)


def fail(message: str) -> None:
    raise ViolationError(message)

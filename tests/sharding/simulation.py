"""Replicas of a shard group, a server and a random network: the same seed gives the same failures at the same times."""

from __future__ import annotations

import math
from bisect import bisect_right
from random import Random

from tests.sharding.simulated_replica import CLEAN_UP, RESOURCES, TIMING, Reconcile, Replica
from tests.sharding.simulated_server import DAY, FaultRates, LeaseServer, Network, ViolationError, World

from listwatch.api.shard_selector import fmix64
from listwatch.sharding.protocol.assignment import Member, quotas
from listwatch.sharding.protocol.group_records import ConfigRecord, GroupConfig, SessionRecord
from listwatch.sharding.protocol.replica_state import ReplicaState

SLOWEST, FASTEST = 0.92, 1.08
"""How fast clocks run: renew deadline / SLOWEST + CLEAN_UP is less than lease duration / FASTEST."""
SYNC = 6.0
"""Seconds that catching up may take in good weather: lag, an idle watch that is reopened, a list."""
SHARDS = 12
STEPS = [
    *(
        "bad network",
        "bad network",
        "good network",
        "restart",
        "replace",
        "cut off",
        "cut off",
        "reconnect",
        "reconnect",
    ),
    *("worst case", "pause", "pause", "stall a watch", "expire a watch", "delete a session", "join", "leave", "lag"),
    "roll out",
]
KEYS = tuple(f"{fmix64(number + 1):016x}" for number in range(16))
"""Names that look alike would be in one shard."""


class Simulation:
    """One seeded run: faults at first, then none, so that shards have to move as promised."""

    def __init__(
        self,
        seed: int,
        *,
        slowest: float = SLOWEST,
        fastest: float = FASTEST,
        machine_type: type[ReplicaState] = ReplicaState,
        focus: str = "",
        catches_up: bool = True,
        releases_early: bool = False,
    ) -> None:
        self.dice = Random(seed)
        self.world = World(self.dice)
        self.network = Network(self.world)
        self.server = LeaseServer(self.world)
        self.machine_type = machine_type
        self.focus = focus
        self.catches_up = catches_up
        self.releases_early = releases_early
        self.rates = slowest, fastest
        self.thread_rate = self.dice.choice([0.0, 0.0, 0.02])
        self.is_weighted = self.dice.random() < 0.3
        self.config = GroupConfig(SHARDS)
        self.replicas: list[Replica] = []
        self.guarded_steps = 0
        self.sessions_lost = 0
        self.failover: list[float] = []
        self.data_version = 1000
        self._data_times: list[float] = [-1.0]
        self._data_versions: list[int] = [1000]
        self._resource_times: dict[str, list[float]] = {each: [-1.0] for each in RESOURCES}
        self._resource_versions: dict[str, list[int]] = {each: [1000] for each in RESOURCES}
        self._completed: dict[str, list[tuple[int, int]]] = {key: [] for key in KEYS}
        self._tokens: dict[str, int] = {}
        self._calls: dict[str, list[tuple[Replica, Reconcile]]] = {key: [] for key in KEYS}
        self._shards: dict[tuple[GroupConfig, int], list[str]] = {}
        self._names = iter(range(1000))

    def run(self) -> None:
        for _ in range(5):
            self._start()
        for _ in range(self.dice.randint(4, 14)):
            self._step()
            self.world.run_until(self.world.now + self.dice.random() * self.dice.choice([1, 10, 30]))
        self._come_to_rest()
        self._check_good_weather()
        self._end()

    # --- what is checked ---------------------------------------------------------------------------------------------

    def keys_of(self, config: GroupConfig, shard: int) -> list[str]:
        found = self._shards.get((config, shard))
        if found is None:
            space = config.space
            found = self._shards[config, shard] = [key for key in KEYS if space.shard_of(key) == shard]
        return found

    def started(self, replica: Replica, call: Reconcile) -> None:
        self._calls[call.key].append((replica, call))
        self.check_alone(replica, call)

    def ended(self, replica: Replica, call: Reconcile) -> None:
        self._calls[call.key] = [each for each in self._calls[call.key] if each[1] is not call]

    def check_alone(self, replica: Replica, call: Reconcile) -> None:
        """I1: of the replicas that are not stopped, at most one reconciles a key."""
        if call.is_exempt:
            return
        for other, running in self._calls[call.key]:
            if running is not call and not running.is_exempt and not other.is_paused:
                raise ViolationError(f"I1: {replica.name} and {other.name} reconcile {call.key} at the same time")

    def guarded_write(self, replica: Replica, call: Reconcile) -> None:
        """I2: the tokens of writes never fall, also when the number of shards changes."""
        self.guarded_steps += 1
        if call.token < self._tokens.get(call.key, 0):
            raise ViolationError(f"I2: {replica.name} writes {call.key} with token {call.token} after a larger one")
        self._tokens[call.key] = call.token

    def write_completed(self, call: Reconcile, version: int) -> None:
        self._completed[call.key].append((call.token, version))

    def check_fresh(self, replica: Replica, shard: int, token: int, content: int) -> None:
        """I8: the caches have every write of the earlier owners."""
        for key in self.keys_of(replica.config, shard):
            for written_with, version in self._completed[key]:
                if written_with < token and version > content:
                    raise ViolationError(
                        f"I8: {replica.name} has caught up with {key} at {content}, without the write {version}"
                    )

    def may_release(self, replica: Replica, shard: int) -> bool:
        return self.releases_early or not replica.has_running(shard)

    def became_ready(self, replica: Replica, shard: int) -> None:
        others = [each.name for each in self.replicas if each.config != replica.config and self._works(each)]
        if others:
            raise ViolationError(f"G7: {replica.name} works beside {others}, which have another configuration")

    def _works(self, replica: Replica) -> bool:
        is_valid = replica.local() < replica.machine.valid_until
        return replica.is_alive and not replica.is_paused and is_valid and bool(replica.machine.ownership.owned)

    # --- data --------------------------------------------------------------------------------------------------------

    def write_data(self, resource: str) -> int:
        self.data_version += 1
        for times, versions in (
            (self._data_times, self._data_versions),
            (self._resource_times[resource], self._resource_versions[resource]),
        ):
            times.append(self.world.now)
            versions.append(self.data_version)
        return self.data_version

    def data_version_at(self, time: float) -> int:
        return self._data_versions[max(bisect_right(self._data_times, time) - 1, 0)]

    def event_version(self, resource: str, time: float) -> int:
        times = self._resource_times[resource]
        return self._resource_versions[resource][max(bisect_right(times, time) - 1, 0)]

    # --- what happens ------------------------------------------------------------------------------------------------

    @property
    def living(self) -> list[Replica]:
        return [each for each in self.replicas if each.is_alive and not each.is_gone]

    def _start(self, name: str = "", config: GroupConfig | None = None) -> Replica:
        name = name or f"r{next(self._names)}"
        rate = self.dice.choice([*self.rates, 1.0])
        weight = self.dice.choice([0.5, 1.0, 3.0]) if self.is_weighted else 1.0
        self.world.log(f"{name} starts, rate {rate}, weight {weight}")
        replica = Replica(
            self, name, config or self.config, rate=rate, ahead=self.dice.uniform(-30 * DAY, 30 * DAY), weight=weight
        )
        self.replicas.append(replica)
        return replica

    def _step(self) -> None:
        if not self.living:
            self._start()
        is_focused = bool(self.focus) and self.dice.random() < 0.6
        step = self.focus if is_focused else self.dice.choice(STEPS)
        getattr(self, f"_{step.replace(' ', '_')}")(self.dice.choice(self.living))

    def _bad_network(self, _: Replica) -> None:
        self.network.faults = FaultRates.random(self.dice)
        self.world.log(f"{self.network.faults}")

    def _good_network(self, _: Replica) -> None:
        self.network.faults = FaultRates()

    def _restart(self, replica: Replica) -> None:
        """Crash it, and start it again with the same identity."""
        replica.crash()
        self._start(replica.name)

    def _replace(self, replica: Replica) -> None:
        replica.crash()
        self._start()

    def _cut_off(self, replica: Replica) -> None:
        self.world.log(f"{replica.name} is cut off")
        self.network.unreachable.add(replica.name)

    def _reconnect(self, _: Replica) -> None:
        self.network.unreachable.clear()
        self.network.late.clear()

    def _pause(self, _: Replica) -> None:
        for each in self.dice.sample(self.living, self.dice.randint(1, len(self.living))):
            each.pause(self.dice.uniform(1, 45))

    def _stall_a_watch(self, replica: Replica) -> None:
        replica.stalled_until = self.world.now + self.dice.random() * 60
        self.world.log(f"the watch of {replica.name} stalls")

    def _expire_a_watch(self, replica: Replica) -> None:
        replica.break_watch()

    def _delete_a_session(self, _: Replica) -> None:
        sessions = self.server.sessions()
        if sessions:
            chosen = self.dice.choice(sessions)
            self.world.log(f"the session {chosen.session} is deleted by hand")
            self.server.delete(chosen.session)

    def _join(self, _: Replica) -> None:
        if len(self.living) < 8:
            self._start()

    def _leave(self, replica: Replica) -> None:
        replica.leave()

    def _lag(self, replica: Replica) -> None:
        replica.lag = self.dice.choice([0.05, 1.0, 5.0, 20.0])

    def _worst_case(self, replica: Replica) -> None:
        """Delay the response to its last renewal as long as possible, and drop all later ones. Others get theirs."""
        self._reconnect(replica)
        self.world.log(f"{replica.name} gets late responses, and then none")
        self.network.faults = FaultRates()
        self.network.late.add(replica.name)
        self.world.run_until(self.world.now + 10 + self.dice.random() * 10)
        self.network.unreachable.add(replica.name)

    def _roll_out(self, _: Replica) -> None:
        """Replace all replicas, in turn, by some with another number of shards."""
        self.config = GroupConfig(self.dice.choice([5, 8, 12, 16]))
        self.world.log(f"rolling update to {self.config}")
        for replica in [each for each in self.living if each.config != self.config]:
            self._start()
            if self.dice.random() < 0.8:
                replica.leave()
            else:
                replica.crash()
            self.world.run_until(self.world.now + self.dice.random() * 10)

    # --- good weather ------------------------------------------------------------------------------------------------

    def _come_to_rest(self) -> None:
        self.world.log("good weather")
        self.network.faults = FaultRates()
        self.network.unreachable.clear()
        self.network.late.clear()
        self.thread_rate = 0.0
        for replica in self.replicas:
            replica.lag = min(replica.lag, 1.0)
            replica.stalled_until = 0.0
            if replica.config != self.config and replica in self.living:
                replica.leave()
        while len([each for each in self.living if each.config == self.config and not each.is_leaving]) < 2:
            self._start()
        self.world.run_until(self.world.now + 150)  # the longest pause, request and thread end before that
        self._check_at_rest("after the faults")

    def _check_at_rest(self, when: str) -> None:
        idle = self._idle_shards()
        if idle:
            raise ViolationError(f"I5: {when}, no replica works on the shards {idle}")
        members = {
            each.session: Member(each.session, each.identity, each.weight)
            for each in self.server.sessions()
            if each.state == "active"
        }
        held = {each.shard: each.holder for each in self.server.shards() if each.generation == self._generation}
        if len(members) != len(self.living):
            raise ViolationError(f"{when}, {len(self.living)} replicas live and {len(members)} are members")
        quota = quotas(self.config.shards, members, held)
        sizes = {session: sum(holder == session for holder in held.values()) for session in members}
        if sizes != quota:
            raise ViolationError(f"I6: {when}, the sizes are {sizes} instead of {quota}")

    @property
    def _generation(self) -> int:
        config = self.server.records[""]
        assert isinstance(config, ConfigRecord)
        return config.generation

    def _idle_shards(self) -> list[int]:
        shards = range(self.config.shards)
        return [shard for shard in shards if not any(each.is_working(shard) for each in self.living)]

    def _check_good_weather(self) -> None:
        self._expect_moves("rest", 0, 30.0, within=0.0)
        crashed = self.dice.choice(self.living)
        held = len(crashed.shards)
        limit = (TIMING.lease_duration + 2 * 1.2 * TIMING.retry_period) / min(SLOWEST, self.rates[0])
        crashed.crash()
        self.failover.append(self._expect_moves("a crash", held, 60.0, within=limit + SYNC))
        before = len(self.living)
        self._start()
        joined_limit = math.ceil(self.config.shards / (before + 1)) if not self.is_weighted else self.config.shards
        self._expect_moves("a join", joined_limit, 60.0, within=None, is_bound=True)
        self._check_deleted_shard(limit + SYNC)
        if len(self.living) > 1:
            leaving = self.dice.choice(self.living)
            held = len(leaving.shards)
            leaving.leave()
            self._expect_moves("a departure", held, 60.0, within=TIMING.grace_period + CLEAN_UP + SYNC + 2)

    def _check_deleted_shard(self, limit: float) -> None:
        """The Lease of a shard is deleted by hand: its owner stops, and it has an owner again after some time."""
        shard = self.dice.randrange(self.config.shards)
        self.world.log(f"the Lease of shard {shard} is deleted by hand")
        self.server.delete((self._generation, shard))
        self._expect_moves("the deletion of a shard's Lease", 1, 60.0, within=limit)

    def _expect_moves(
        self, what: str, count: int, seconds: float, *, within: float | None, is_bound: bool = False
    ) -> float:
        """Returns after how many seconds every shard had an owner that works."""
        since, moved, elapsed = self.world.now, len(self.server.moves), 0.0
        if within:
            self.world.run_until(self.world.now + 0.5)
            if not self.world.run_until(since + within, lambda: not self._idle_shards()):
                raise ViolationError(f"I5: {within:.1f} s after {what}, no replica works on {self._idle_shards()}")
            elapsed = self.world.now - since
        self.world.run_until(since + seconds)
        self._check_at_rest(f"after {what}")
        moves = len(self.server.moves) - moved
        if self.is_weighted:
            count += len(self.living)  # the shares of the others are rounded differently then
        if moves > count or (moves != count and not is_bound and not self.is_weighted):
            raise ViolationError(f"I7: {what} moved {moves} shards instead of {count}")
        return elapsed

    def _end(self) -> None:
        """I9: after an orderly end nothing is left."""
        for replica in self.living:
            replica.leave()
        self.world.run_until(self.world.now + 60)
        self.sessions_lost = sum(each.machine.sessions_lost for each in self.replicas)
        left = [each for each in self.server.sessions() if each.state != "ended"]
        held = [each.shard for each in self.server.shards() if each.holder and self._is_live(each.holder)]
        running = [key for key, calls in self._calls.items() if calls]
        if self.living or left or held or running:
            raise ViolationError(f"I9: left are {self.living}, sessions {left}, shards {held}, reconciles {running}")

    def _is_live(self, session: str) -> bool:
        record = self.server.records.get(session)
        return not (isinstance(record, SessionRecord) and record.state == "ended")

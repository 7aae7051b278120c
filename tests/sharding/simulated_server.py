"""A server with Leases and data in virtual time, behind a network that delays, loses and stalls."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from itertools import count
from random import Random
from typing import TypeVar

from listwatch.sharding.protocol.group_records import (
    ConfigRecord,
    Record,
    RecordKey,
    SessionRecord,
    ShardRecord,
    key_of,
)
from listwatch.sharding.protocol.replica_actions import Outcome, Request, RequestFailure

R = TypeVar("R")

LATENCY = 0.1
LATE_RESPONSE = 4.5
"""Nearly what a replica waits for."""
DAY = 86400.0


class ViolationError(AssertionError):
    """An invariant does not hold."""


class World:
    """Virtual time: what happens next, and a log of what happened."""

    def __init__(self, dice: Random) -> None:
        self.now = 0.0
        self.dice = dice
        self.history: list[str] = []
        self._order = count()
        self._events: list[tuple[float, int, Callable[[], object]]] = []

    def at(self, time: float, function: Callable[[], object]) -> None:
        heapq.heappush(self._events, (max(time, self.now), next(self._order), function))

    def after(self, delay: float, function: Callable[[], object]) -> None:
        self.at(self.now + delay, function)

    def run_until(self, end: float, condition: Callable[[], bool] | None = None) -> bool:
        """Advance; stops early, and returns True, when the condition holds."""
        while self._events and self._events[0][0] <= end:
            if condition is not None and condition():
                return True
            self.now, _, function = heapq.heappop(self._events)
            function()
        self.now = max(self.now, end) if condition is None or not condition() else self.now
        return condition is not None and condition()

    def log(self, what: str) -> None:
        self.history.append(f"{self.now:8.2f}  {what}")


@dataclass
class FaultRates:
    """The probability of each fault, per request."""

    slow: float = 0.0
    very_slow: float = 0.0
    lost: float = 0.0
    response_lost: float = 0.0
    duplicated: float = 0.0
    silent: float = 0.0
    """The probability that a lost request is not reported to the sender."""

    @classmethod
    def random(cls, dice: Random) -> FaultRates:
        return cls(**{each.name: dice.choice([0.0, 0.0, 0.05, 0.3, 0.6]) for each in fields(cls)})


class Network:
    """Delivers requests and their responses, or not."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.faults = FaultRates()
        self.unreachable: set[str] = set()
        self.late: set[str] = set()

    def send(self, sender: str, execute: Callable[[], R], respond: Callable[[R | None], object]) -> None:
        """Execute a request at the server; `respond` gets the result, or None for an error of the network."""
        dice, world = self._world.dice, self._world

        def arrive() -> None:
            if sender in self.unreachable or dice.random() < self.faults.lost:
                fail()
                return
            result = execute()
            if dice.random() < self.faults.duplicated:
                world.after(self._delay(), execute)
            back = LATE_RESPONSE if sender in self.late else self._delay()
            world.after(back, lambda: come_back(result))

        def come_back(result: R) -> None:
            if sender in self.unreachable or dice.random() < self.faults.response_lost:
                fail()
            else:
                respond(result)

        def fail() -> None:
            if dice.random() >= self.faults.silent:
                respond(None)

        world.after(self._delay(), arrive)

    def _delay(self) -> float:
        dice = self._world.dice
        if self.faults.very_slow and dice.random() < self.faults.very_slow:
            return dice.random() * 40
        if self.faults.slow and dice.random() < self.faults.slow:
            return dice.random() * 6
        return dice.random() * LATENCY / 2


@dataclass(frozen=True)
class LeaseEvent:
    record: Record
    is_deleted: bool


class LeaseServer:
    """Keeps the Leases of the group; checks what holds for each of them at any time."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.version = 100
        self.records: dict[RecordKey, Record] = {}
        self.watchers: dict[str, Callable[[LeaseEvent], None]] = {}
        self.moves: list[tuple[float, int]] = []
        self._tokens: dict[tuple[int, int], int] = {}
        self._uids = count(1)

    def handle(self, request: Request) -> Outcome:
        key = key_of(request.record)
        known = self.records.get(key)
        if request.verb == "create":
            if known is not None:
                return RequestFailure("conflict")
            return self._store(key, replace(request.record, uid=f"u{next(self._uids)}"), known)
        if known is None:
            return RequestFailure("missing")
        if request.verb == "read":
            return known
        if request.verb == "delete":
            return self.delete(key) if known.uid == request.record.uid else RequestFailure("conflict")
        if known.version != request.record.version or known.uid != request.record.uid:
            return RequestFailure("conflict")
        return self._store(key, request.record, known)

    def delete(self, key: RecordKey) -> Record:
        self.version += 1
        record = replace(self.records.pop(key), version=self.version)
        self._publish(LeaseEvent(record, is_deleted=True))
        return record

    def sessions(self) -> list[SessionRecord]:
        return [each for each in self.records.values() if isinstance(each, SessionRecord)]

    def shards(self) -> list[ShardRecord]:
        return [each for each in self.records.values() if isinstance(each, ShardRecord)]

    def _store(self, key: RecordKey, record: Record, known: Record | None) -> Record:
        self.version += 1
        record = replace(record, version=self.version)
        if isinstance(record, ShardRecord):
            self._check_shard(record, known if isinstance(known, ShardRecord) else None)
        if isinstance(record, SessionRecord) and isinstance(known, SessionRecord) and known.state == "ended":
            raise ViolationError(f"the session {record.session} came back after its end")
        if (
            isinstance(record, ConfigRecord)
            or not isinstance(known, type(record))
            or record != replace(known, version=self.version)
        ):
            self._world.log(f"server: {_short(record)}")
        self.records[key] = record
        self._publish(LeaseEvent(record, is_deleted=False))
        return record

    def _check_shard(self, record: ShardRecord, known: ShardRecord | None) -> None:
        key = record.generation, record.shard
        config = self.records.get("")
        if isinstance(config, ConfigRecord) and record.generation < config.generation:
            return  # a late request for a Lease that was deleted: no replica claims shards of earlier generations
        if record.token < self._tokens.get(key, 0):
            raise ViolationError(f"I4: the token of shard {key} falls from {self._tokens[key]} to {record.token}")
        self._tokens[key] = record.token
        if known is None or not record.holder:
            return
        self.moves.append((self._world.now, record.shard))
        if known.holder and known.holder != record.holder:
            holder = self.records.get(known.holder)
            if isinstance(holder, SessionRecord) and holder.state != "ended":
                raise ViolationError(
                    f"I3: {record.holder} takes shard {key} from {known.holder}, which is {holder.state}"
                )

    def _publish(self, event: LeaseEvent) -> None:
        for watcher in [*self.watchers.values()]:
            watcher(event)


class DataServer:
    """The objects that are reconciled: per resource, a version and the version of each key's last write."""

    def __init__(self) -> None:
        self.versions = {"pods": 1000, "jobs": 5000}
        self.last_write: dict[tuple[str, str], int] = {}

    def write(self, resource: str, key: str) -> int:
        self.versions[resource] += 1
        self.last_write[resource, key] = self.versions[resource]
        return self.versions[resource]


def _short(record: Record) -> str:
    match record:
        case SessionRecord():
            return f"session {record.session} of {record.identity} is {record.state} {record.ended_by}"
        case ShardRecord():
            return (
                f"shard {record.generation}/{record.shard} is held by {record.holder or 'none'}, token {record.token}"
            )
    return f"config {record.text} generation {record.generation}, complete: {record.is_complete}"

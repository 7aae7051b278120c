"""Five candidates, a lock and a random network: the same seed gives the same failures at the same times."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields
from random import Random
from typing import Any, TypeVar

from listwatch.errors import (
    AlreadyExistsError,
    ConflictError,
    ConnectionLostError,
    LeadershipLostError,
    ListWatchError,
    NotFoundError,
)
from listwatch.leaderelection.elector import LeaderElector
from listwatch.leaderelection.elector_state import LeaderRecord
from listwatch.testing.clocks import SkewedClock, VirtualClock

R = TypeVar("R")

LEASE, RENEW, RETRY = 15.0, 10.0, 2.0
LONGEST_RETRY = 2.2 * RETRY
SLOWEST, FASTEST = 0.92, 1.08
"""How fast clocks run. A leader has stopped by RENEW / SLOWEST + CLEAN_UP, which is before LEASE / FASTEST."""
CLEAN_UP = 2.5
LATENCY = 0.1
LATE_RESPONSE = 4.5
"""Nearly what a candidate waits for."""


@dataclass
class FaultRates:
    """The probability of each fault, per request."""

    slow: float = 0.0
    very_slow: float = 0.0
    lost: float = 0.0
    response_lost: float = 0.0
    silent: float = 0.0
    """The probability that a lost request raises no error."""

    @classmethod
    def random(cls, dice: Random) -> FaultRates:
        return cls(**{each.name: dice.choice([0.0, 0.05, 0.3, 0.7]) for each in fields(cls)})


class LockServer:
    """Keeps the record; behind a network that delays, loses and cuts off."""

    def __init__(self, clock: VirtualClock, dice: Random) -> None:
        self.clock = clock
        self.dice = dice
        self.faults = FaultRates()
        self.unreachable_for: set[str] = set()
        self.late_responses_for: set[str] = set()
        self.record: LeaderRecord | None = None
        self.version = 0
        self.history: list[str] = []
        self.on_the_way: set[asyncio.Task[None]] = set()

    def log(self, what: str) -> None:
        self.history.append(f"{self.clock.monotonic():8.2f}  {what}")

    def write(self, record: LeaderRecord) -> int:
        self.log(f"{record.holder or 'no candidate'} is in the record")
        self.record = record
        self.version += 1
        return self.version

    async def send(self, name: str, request: Callable[[], R]) -> R:
        """Send a request; a sender that stops waiting does not cancel it."""
        response: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        delivery = asyncio.create_task(self._deliver(name, request, response))
        self.on_the_way.add(delivery)
        delivery.add_done_callback(self.on_the_way.discard)
        return await response

    async def _deliver(self, name: str, request: Callable[[], R], response: asyncio.Future[R]) -> None:
        chance = self.dice.random
        await self.clock.sleep(self._delay())
        outcome: R | ListWatchError
        if name in self.unreachable_for or chance() < self.faults.lost:
            outcome = ConnectionLostError("lost on the way there")
        else:
            try:
                outcome = request()
            except ListWatchError as error:
                outcome = error
            await self.clock.sleep(LATE_RESPONSE if name in self.late_responses_for else self._delay())
            if name in self.unreachable_for or chance() < self.faults.response_lost:
                outcome = ConnectionLostError("lost on the way back")
        if isinstance(outcome, ConnectionLostError) and chance() < self.faults.silent:
            return
        if response.done():
            return
        if isinstance(outcome, ListWatchError):
            response.set_exception(outcome)
        else:
            response.set_result(outcome)

    def _delay(self) -> float:
        if self.dice.random() < self.faults.very_slow:
            return self.dice.random() * 40
        if self.dice.random() < self.faults.slow:
            return self.dice.random() * 6
        return self.dice.random() * LATENCY / 2


class SimulatedLock:
    """What one candidate has of the lock."""

    name = "the lock"

    def __init__(self, server: LockServer, name: str) -> None:
        self._server = server
        self._name = name
        self._version = 0

    async def get(self) -> LeaderRecord | None:
        record, version = await self._server.send(self._name, lambda: (self._server.record, self._server.version))
        self._version = version
        return record

    async def create(self, record: LeaderRecord) -> None:
        self._version = await self._server.send(self._name, lambda: self._created(record))

    async def update(self, record: LeaderRecord) -> None:
        version = self._version
        self._version = await self._server.send(self._name, lambda: self._updated(record, version))

    def _created(self, record: LeaderRecord) -> int:
        if self._server.record is not None:
            raise AlreadyExistsError("it is there")
        return self._server.write(record)

    def _updated(self, record: LeaderRecord, version: int) -> int:
        if self._server.record is None:
            raise NotFoundError("it is not there")
        if self._server.version != version:
            raise ConflictError("it was changed")
        return self._server.write(record)


class Process:
    """One candidate, on a computer with a clock of its own, until it crashes or is stopped."""

    def __init__(self, place: Simulation, name: str, *, rate: float, ahead: float) -> None:
        self.name = name
        self.elector = LeaderElector(
            SimulatedLock(place.server, name),
            identity=name,
            lease_duration=LEASE,
            renew_deadline=RENEW,
            retry_period=RETRY,
            clock=SkewedClock(place.clock, rate=rate, ahead=ahead),
            random=place.dice,
        )
        self.step_down = asyncio.Event()
        self._place = place
        self._has_crashed = False
        self._task = asyncio.create_task(self._live())

    async def crash(self) -> None:
        """Stop at once, without releasing the lease."""
        self._place.server.log(f"{self.name} crashes")
        self._has_crashed = True
        self._place.server.unreachable_for.add(self.name)
        await self.stop()
        self._place.server.unreachable_for.discard(self.name)

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _live(self) -> None:
        while True:
            with suppress(LeadershipLostError):
                async with self.elector.lead():
                    await self._act()

    async def _act(self) -> None:
        self._place.entered(self)
        try:
            self.step_down.clear()
            await self.step_down.wait()
        except asyncio.CancelledError:
            if not self._has_crashed:
                await self._place.clock.sleep(self._place.dice.choice([0.0, CLEAN_UP]))
            raise
        finally:
            self._place.left(self)


class Simulation:
    """One seeded run: faults at first, then none, so that leadership has to move as promised."""

    def __init__(self, seed: int, *, slowest: float = SLOWEST, fastest: float = FASTEST) -> None:
        self.dice = Random(seed)
        self.clock = VirtualClock()
        self.server = LockServer(self.clock, self.dice)
        self.rates = slowest, fastest
        self.candidates: list[Process] = []
        self.acting: list[Process] = []
        self.changed = asyncio.Event()
        self.terms = 0

    def run(self) -> None:
        self.clock.run(self._run())

    # --- what is watched ----------------------------------------------------------------------------------------------

    def entered(self, process: Process) -> None:
        self.server.log(f"{process.name} leads")
        self.acting.append(process)
        self.terms += 1
        self.changed.set()
        self.check()

    def left(self, process: Process) -> None:
        self.server.log(f"{process.name} stops leading")
        self.acting.remove(process)

    def check(self) -> None:
        assert len(self.acting) < 2, f"two lead at once: {[each.name for each in self.acting]}"
        leaders = [each.name for each in self.candidates if each.elector.is_leader]
        assert len(leaders) < 2, f"two say that they lead: {leaders}"

    # --- what happens -------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        for number in range(5):
            self._start(f"candidate {number}")
        try:
            for _ in range(self.dice.randint(3, 15)):
                await self._step()
                self.check()
            await self._come_to_rest()
            await self._leadership_moves_on()
        finally:
            self.server.log("the end")
            await asyncio.gather(*(each.stop() for each in self.candidates))
        assert self.server.record is not None
        assert self.server.record.holder == "", "the lease was not released"
        for delivery in [*self.server.on_the_way]:
            delivery.cancel()
        await asyncio.gather(*self.server.on_the_way, return_exceptions=True)
        assert asyncio.all_tasks() == {asyncio.current_task()}, "a task was left behind"

    def _start(self, name: str) -> None:
        rate, ahead = self.dice.choice([*self.rates, 1.0]), self.dice.uniform(-1e6, 1e6)
        self.candidates.append(Process(self, name, rate=rate, ahead=ahead))

    async def _step(self) -> None:
        # What happens to a leader is what matters most.
        candidate = self.dice.choice([*self.acting * 5, *self.candidates])
        match self.dice.randrange(10):
            case 0:
                self.server.faults = FaultRates.random(self.dice)
                self.server.log(f"{self.server.faults}")
            case 1:
                self.server.faults = FaultRates()
            case 2:
                await self._restart(candidate)
            case 3 | 4:
                self.server.log(f"{candidate.name} is cut off")
                self.server.unreachable_for.add(candidate.name)
            case 5 | 6:
                self.server.unreachable_for.clear()
                self.server.late_responses_for.clear()
            case 7 | 8:
                await self._worst_case(candidate)
            case _:
                candidate.step_down.set()
        await self.clock.sleep(self.dice.random() * self.dice.choice([1, 10, 30]))

    async def _worst_case(self, process: Process) -> None:
        """Delay the response to its last renewal as long as possible, and drop all later ones. Others get theirs."""
        self.server.log(f"{process.name} gets late responses, and then none")
        self.server.faults = FaultRates()
        self.server.late_responses_for.add(process.name)
        await self.clock.sleep(10 + self.dice.random() * 10)
        self.server.unreachable_for.add(process.name)

    async def _restart(self, process: Process) -> None:
        """Crash it, and start it again with the same identity."""
        self.candidates.remove(process)
        await process.crash()
        self._start(process.name)

    async def _come_to_rest(self) -> None:
        self.server.faults = FaultRates()
        self.server.unreachable_for.clear()
        self.server.late_responses_for.clear()
        # What is still on its way may change the record for the last time.
        await self.clock.sleep(100)
        assert len(self.acting) == 1, "no candidate leads on a working network"

    async def _leadership_moves_on(self) -> None:
        crashed = self.acting[0]
        self.candidates.remove(crashed)
        await self._new_leader(crashed.crash(), within=LEASE + 2 * LONGEST_RETRY)
        # The candidate that released the lease may acquire it again.
        self.acting[0].step_down.set()
        await self._new_leader(asyncio.sleep(0), within=LONGEST_RETRY)

    async def _new_leader(self, happens: Any, *, within: float) -> None:
        since = self.clock.monotonic()
        self.changed.clear()
        task = asyncio.ensure_future(happens)
        await self.changed.wait()
        await task
        elapsed = self.clock.monotonic() - since
        assert elapsed <= within / SLOWEST + 10 * LATENCY, f"it took {elapsed} s until another one led"

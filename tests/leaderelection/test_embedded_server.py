"""Five candidates for one lease of the embedded server, over HTTP, while requests fail, hang and lose their responses.

Time is virtual: it moves when every task waits and the sockets are silent.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from random import Random

import pytest

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import InternalServerError, LeadershipLostError
from listwatch.leaderelection.elector import LeaderElector
from listwatch.models.coordination_v1 import Lease
from listwatch.server import APIServer, DropResponse, Fail, Fault, Refuse
from listwatch.testing.clocks import SkewedClock, VirtualClock

TIMEOUT = 0.02
"""Real seconds that sockets have to say something before virtual time moves."""


class Candidates:
    """Five electors on one server, with clocks that differ in time and speed; the leader is recorded."""

    def __init__(self, client: ClientSet, clock: VirtualClock, dice: Random) -> None:
        self.leases = client.coordination_v1.leases("default")
        self.acting: list[str] = []
        self.terms: list[str] = []
        self.changed = asyncio.Event()
        self.tasks = {
            name: asyncio.create_task(self._live(client, name, SkewedClock(clock, rate=rate, ahead=ahead), dice))
            for name, rate, ahead in zip("abcde", (0.95, 0.97, 1.0, 1.02, 1.05), (0, 9e4, -9e4, 1e3, -5), strict=True)
        }

    async def _live(self, client: ClientSet, name: str, clock: SkewedClock, dice: Random) -> None:
        elector = LeaderElector(client, name="one", namespace="default", identity=name, clock=clock, random=dice)
        while True:
            with suppress(LeadershipLostError):
                async with elector.lead():
                    await self._act(name)

    async def _act(self, name: str) -> None:
        self.acting.append(name)
        self.terms.append(name)
        self.changed.set()
        assert self.acting == [name], "two lead at once"
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self.acting.remove(name)

    async def wait_for_a_leader(self) -> str:
        while not self.acting:
            self.changed.clear()
            await self.changed.wait()
        return self.acting[0]

    async def stop(self, name: str) -> None:
        task = self.tasks.pop(name)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    async def lease(self) -> Lease:
        return await self.leases.get("one")


def run(story: str, seed: int = 1) -> None:
    clock = VirtualClock()

    async def main() -> None:
        async with APIServer() as server, RESTClient(server.config, clock=clock) as rest:
            client = ClientSet(rest)
            candidates = Candidates(client, clock, Random(seed))
            try:
                await STORIES[story](server, candidates, clock)
            finally:
                server.faults.clear()
                for name in [*candidates.tasks]:
                    await candidates.stop(name)
            assert (await candidates.lease()).spec.holder_identity == ""

    clock.run(main(), patience=TIMEOUT)


async def when_a_leader_stops_another_one_follows_at_once(
    server: APIServer, candidates: Candidates, clock: VirtualClock
) -> None:
    for _ in range(3):
        leader = await candidates.wait_for_a_leader()
        stopped = clock.monotonic()
        await candidates.stop(leader)
        await candidates.wait_for_a_leader()
        assert clock.monotonic() - stopped <= 4.4 / 0.95
    assert len(set(candidates.terms)) == 4
    assert (await candidates.lease()).spec.lease_transitions == 3


async def when_nobody_can_write_the_leader_stops_and_one_follows(
    server: APIServer, candidates: Candidates, clock: VirtualClock
) -> None:
    for action in (Refuse(), DropResponse(), Fail(InternalServerError("oops"))):
        await candidates.wait_for_a_leader()
        terms = len(candidates.terms)
        fault = server.faults.add(Fault(action, resource="leases", verb="update"))
        await clock.sleep(11.0)
        server.faults.remove(fault)
        await candidates.wait_for_a_leader()
        assert len(candidates.terms) > terms


async def when_responses_are_lost_occasionally_the_leader_stays(
    server: APIServer, candidates: Candidates, clock: VirtualClock
) -> None:
    leader = await candidates.wait_for_a_leader()
    for skip in (1, 4, 6, 11, 12, 20):
        server.faults.add(Fault(DropResponse(), resource="leases", verb="update", skip=skip, times=1))
        server.faults.add(Fault(Refuse(), resource="leases", verb="get", skip=5 * skip, times=2))
    await clock.sleep(60.0)
    assert candidates.terms == [leader]
    lease = await candidates.lease()
    assert (lease.spec.holder_identity, lease.spec.lease_transitions) == (leader, 0)


async def when_the_lease_is_deleted_the_leader_makes_another_one(
    server: APIServer, candidates: Candidates, clock: VirtualClock
) -> None:
    server.faults.add(Fault(Refuse(), resource="leases", verb="create", times=1, skip=1))
    await candidates.wait_for_a_leader()
    await candidates.leases.delete("one")
    await clock.sleep(60.0)
    assert len(candidates.acting) == 1


STORIES = {
    each.__name__: each
    for each in (
        when_a_leader_stops_another_one_follows_at_once,
        when_nobody_can_write_the_leader_stops_and_one_follows,
        when_responses_are_lost_occasionally_the_leader_stays,
        when_the_lease_is_deleted_the_leader_makes_another_one,
    )
}


@pytest.mark.parametrize("story", STORIES)
def test_one_leads_at_a_time(story: str):
    run(story)

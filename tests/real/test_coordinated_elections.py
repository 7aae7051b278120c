"""Coordinated elections on a kube-apiserver that elects the leader, and on one that does not."""

import asyncio
from contextlib import suppress

import listwatch as lw
from listwatch.errors import LeadershipLostError
from listwatch.testing import RealAPIServer

FLAGS = ("--runtime-config=coordination.k8s.io/v1beta1=true", "--feature-gates=CoordinatedLeaderElection=true")


class Replica:
    """One candidate that leads again and again."""

    def __init__(self, client: lw.ClientSet, name: str, version: str, leading: set[str]) -> None:
        self.elector = lw.LeaderElector(
            client, name="web", namespace="default", identity=name, candidate_version=version, retry_period=0.5
        )
        self._name = name
        self._leading = leading
        self.leads = asyncio.Event()
        self.lost = asyncio.Event()

    async def run(self) -> None:
        while True:
            with suppress(LeadershipLostError):
                async with self.elector.lead():
                    self._leading.add(self._name)
                    assert self._leading == {self._name}
                    self.leads.set()
                    try:
                        await asyncio.Event().wait()
                    finally:
                        self._leading.discard(self._name)
            self.lost.set()


async def test_the_candidate_with_the_oldest_version_leads():
    leading: set[str] = set()
    async with RealAPIServer(flags=FLAGS) as server, lw.ClientSet(server.config) as client:
        new, old = Replica(client, "new", "2.0.0", leading), Replica(client, "old", "1.0.0", leading)
        tasks = [asyncio.create_task(new.run())]
        await new.leads.wait()
        lease = await client.coordination_v1.leases("default").get("web")
        assert lease.spec.strategy == "OldestEmulationVersion"  # the server has elected
        tasks.append(asyncio.create_task(old.run()))
        await new.lost.wait()
        await old.leads.wait()
        assert (new.elector.statistics().losses, old.elector.is_leader) == (1, True)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert [task.cancelled() for task in tasks] == [True, True]
        assert list(await client.coordination_v1beta1.leasecandidates("default").list()) == []


async def test_without_the_feature_the_candidates_elect_the_leader_themselves(client: lw.ClientSet):
    leading: set[str] = set()
    replica = Replica(client, "one", "1.0.0", leading)
    task = asyncio.create_task(replica.run())
    await replica.leads.wait()
    lease = await client.coordination_v1.leases("default").get("web")
    assert (lease.spec.holder_identity, lease.spec.strategy) == ("one", None)
    task.cancel()
    await asyncio.wait([task])

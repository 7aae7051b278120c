"""Three members, of which some are killed or paused."""

import asyncio
from pathlib import Path

from tests.real.etcd.observed import Item, Observed, put_until_accepted

from listwatch.sources.etcd import EtcdClient, EtcdLease
from listwatch.testing.real.real_etcd import RealEtcdCluster


async def test_an_informer_survives_the_loss_of_the_leader(program: Path, tmp_path: Path):
    async with (
        RealEtcdCluster(program, tmp_path) as cluster,
        EtcdClient(cluster.urls) as client,
        Observed(client) as observed,
    ):
        for number in range(10):
            await observed.store.put(f"n{number}", Item("1"))
        leader = await cluster.leader()
        await leader.kill()
        for number in range(10):
            await put_until_accepted(observed.store, f"n{number}", "2")
        await observed.converge()
        await leader.start()
        await put_until_accepted(observed.store, "n0", "3")
        await observed.converge()
        assert observed.lists == 1


async def test_each_member_can_be_lost_in_turn(newest: Path, tmp_path: Path):
    async with (
        RealEtcdCluster(newest, tmp_path) as cluster,
        EtcdClient(cluster.urls) as client,
        Observed(client) as observed,
    ):
        for turn, member in enumerate(cluster.members):
            await member.kill()
            for number in range(5):
                await put_until_accepted(observed.store, f"n{number}", f"turn {turn}")
            await observed.converge()
            await member.start()
        assert observed.lists == 1


async def test_a_watch_moves_away_from_a_paused_member(program: Path, tmp_path: Path):
    async with (
        RealEtcdCluster(program, tmp_path) as cluster,
        EtcdClient(cluster.urls, timeout=2.0) as client,
        Observed(client, probe_interval=0.5) as observed,
    ):
        await observed.store.put("a", Item("1"))
        await observed.converge()
        watched = client._gateway.members[client._gateway._current].url
        paused = next(member for member in cluster.members if member.url == watched)
        paused.pause()
        for number in range(50):
            await put_until_accepted(observed.store, "a", f"while paused {number}")
        await observed.converge()
        paused.resume()
        await put_until_accepted(observed.store, "a", "after")
        await observed.converge()
        assert observed.lists == 1


async def test_the_loss_of_the_quorum_is_visible_and_the_informer_recovers(newest: Path, tmp_path: Path):
    async with (
        RealEtcdCluster(newest, tmp_path) as cluster,
        EtcdClient(cluster.urls, timeout=2.0) as client,
        Observed(client, probe_interval=0.5) as observed,
    ):
        await observed.store.put("a", Item("1"))
        await observed.converge()
        watched = client._gateway.members[client._gateway._current].url
        others = [member for member in cluster.members if member.url != watched]
        for member in others:
            member.pause()
        await observed.wait_for_problem()
        assert observed.informer.last_error is not None
        for member in others:
            member.resume()
        await put_until_accepted(observed.store, "a", "2")
        await observed.converge()


async def test_a_lease_outlives_the_leader(newest: Path, tmp_path: Path):
    async with (
        RealEtcdCluster(newest, tmp_path) as cluster,
        EtcdClient(cluster.urls, timeout=2.0) as client,
        Observed(client) as observed,
        EtcdLease(client, ttl=6) as lease,
    ):
        await lease.hold(observed.store, "held", Item("1"))
        await (await cluster.leader()).kill()
        await put_until_accepted(observed.store, "other", "1")
        await asyncio.sleep(8)  # longer than the lease, in etcd's own time
        await observed.converge()
        assert observed.informer.indexer.get("held") == Item("1")

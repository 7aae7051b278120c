"""A single member that is killed, stopped, paused, compacted or restored."""

import shutil
from pathlib import Path

import pytest
from tests.real.etcd.conftest import progress_flag
from tests.real.etcd.observed import PREFIX, Item, Observed, put_until_accepted

import listwatch as lw
from listwatch.sources.etcd import EtcdClient, EtcdListWatch
from listwatch.sources.etcd.messages import TransactionResult, text
from listwatch.testing import RealEtcd


@pytest.mark.parametrize("end", ["kill", "terminate"])
async def test_an_informer_continues_when_a_member_returns(program: Path, end: str):
    async with RealEtcd(program) as etcd, EtcdClient(etcd.url) as client, Observed(client) as observed:
        await observed.store.put("a", Item("1"))
        await observed.converge()
        await getattr(etcd, end)()
        await etcd.start()
        await put_until_accepted(observed.store, "a", "2")
        await observed.store.delete("a")
        await observed.store.put("b", Item("3"))
        await observed.converge()
        assert observed.lists == 1, "no event was lost, so there was no reason to list again"
        assert [problem for problem in observed.problems if problem.attempt] != []


async def test_a_paused_member_is_noticed_and_its_events_arrive_later(program: Path):
    async with (
        RealEtcd(program) as etcd,
        EtcdClient(etcd.url, timeout=1.0) as client,
        Observed(client, probe_interval=0.5) as observed,
    ):
        await observed.store.put("a", Item("1"))
        await observed.converge()
        etcd.pause()
        await observed.wait_for_problem()
        assert isinstance(observed.problems[0].error, lw.errors.TransportError)
        etcd.resume()
        for number in range(200):
            await observed.store.put(f"n{number}", Item(str(number)))
        await observed.converge()
        assert observed.lists == 1


async def test_a_compaction_while_the_connection_is_lost_leads_to_a_list(program: Path):
    async with RealEtcd(program) as etcd, EtcdClient(etcd.url) as client, Observed(client) as observed:
        for number in range(20):
            await observed.store.put(f"n{number}", Item("old"))
        await observed.converge()
        for member in client._gateway.members:
            for stream in [*member.transport._streams]:
                stream._exchange.response.connection.transport.pause_reading()  # the watch receives nothing more
        for number in range(100):
            await observed.store.put(f"n{number % 10}", Item(f"new {number}"))
        await observed.store.delete("n15")
        await etcd.compact()
        for member in client._gateway.members:
            for stream in [*member.transport._streams]:
                stream.close()
        await observed.converge()
        assert observed.lists == 2
        assert "n15" in observed.deleted


async def test_a_deletion_at_the_compacted_revision_is_not_lost(program: Path):
    async with RealEtcd(program) as etcd, EtcdClient(etcd.url) as client:
        observed = Observed(client)
        await observed.store.put("a", Item("1"))
        await observed.store.put("b", Item("1"))
        page = await observed.source.list()
        deleted = await observed.store.delete("a")
        await etcd.compact(int(deleted.resource_version))
        try:
            async with observed.source.watch(resource_version=page.resource_version, timeout_seconds=5) as watch:
                event = await anext(watch)
        except lw.errors.ExpiredError:
            return  # the list that follows does not contain it
        assert (event.type, event.object.cache_key) == ("DELETED", "a")


async def test_a_restored_backup_replaces_the_store(program: Path, tmp_path: Path):
    folder = tmp_path / "member"
    folder.mkdir()
    async with RealEtcd(program, folder) as etcd, EtcdClient(etcd.url) as client, Observed(client) as observed:
        for number in range(5):
            await observed.store.put(f"n{number}", Item("saved"))
        await etcd.terminate()
        shutil.copytree(folder / "etcd", tmp_path / "backup")
        await etcd.start()
        for number in range(10):
            await put_until_accepted(observed.store, f"n{number}", "lost")
        await observed.converge()
        await etcd.terminate()
        shutil.rmtree(folder / "etcd")
        shutil.copytree(tmp_path / "backup", folder / "etcd")
        observed.forget_versions()
        await etcd.start()
        await put_until_accepted(observed.store, "after", "new")
        await observed.converge()
        assert observed.informer.indexer.get("n1") == Item("saved")
        assert observed.informer.indexer.get("n7") is None
        assert any("restored from a backup" in str(problem.error) for problem in observed.problems)


async def test_a_divided_message_is_delivered_whole_or_again(program: Path):
    flags = ["--max-txn-ops=2000", "--max-request-bytes=4000000"]
    async with RealEtcd(program, flags=flags) as etcd, EtcdClient(etcd.url) as client:
        source = EtcdListWatch(client, PREFIX, Item)
        version = (await source.list()).resource_version
        value = text(b'{"value":"%s"}' % (b"x" * 1000))
        for _ in range(3):
            together = [
                {"request_put": {"key": text(f"{PREFIX}{number:04}".encode()), "value": value}}
                for number in range(1200)
            ]
            await client._gateway.write("/v3/kv/txn", {"success": together}, TransactionResult)
        seen: dict[str, int] = {}
        async with source.watch(resource_version=version) as watch:
            async for batch in watch.batches():
                for event in batch:
                    seen[event.object.resource_version] = seen.get(event.object.resource_version, 0) + 1
                versions = {event.object.resource_version for event in batch}
                assert all(seen[each] == 1200 for each in versions), "a transaction was divided"
                if len(seen) == 3:
                    break


async def test_progress_of_an_idle_watch_is_a_bookmark(program: Path):
    flags = [progress_flag(program, "1s")]
    async with RealEtcd(program, flags=flags) as etcd, EtcdClient(etcd.url) as client, Observed(client) as observed:
        await observed.store.put("a", Item("1"))
        other = await etcd.post("/v3/kv/put", {"key": text(b"/other"), "value": ""})
        await observed.informer.wait_until(other["header"]["revision"], 20)
        # The revisions of the other prefix are known, so that a compaction does not lead to a list.
        await etcd.compact()
        for member in client._gateway.members:
            for stream in [*member.transport._streams]:
                stream.close()
        await observed.store.put("b", Item("2"))
        await observed.converge()
        assert observed.lists == 1


async def test_an_idle_informer_reaches_revisions_of_other_prefixes(program: Path):
    async with RealEtcd(program) as etcd, EtcdClient(etcd.url) as client, Observed(client) as observed:
        for number in range(3):
            await observed.store.put(f"a{number}", Item("1"))
            other = await etcd.post("/v3/kv/put", {"key": text(b"/other"), "value": ""})
            await observed.informer.wait_until(other["header"]["revision"], 20)
        await etcd.compact()
        for member in client._gateway.members:
            for stream in [*member.transport._streams]:
                stream.close()
        await observed.store.delete("a0")
        await observed.converge()
        assert observed.lists == 1


async def test_many_keys_and_many_events_arrive(newest: Path):
    async with RealEtcd(newest) as etcd, EtcdClient(etcd.url) as client:
        await _write(client, range(50_000), "first")
        async with Observed(client, probe_interval=30.0) as observed:
            assert len(observed.informer.indexer) == 50_000
            await _write(client, range(50_000), "second")
            await _write(client, range(50_000), "third")
            await observed.converge()
            assert observed.lists == 1
            assert observed.problems == []


async def _write(client: EtcdClient, numbers: range, value: str) -> None:
    content = text(b'{"value":"%s"}' % value.encode())
    for start in range(0, len(numbers), 100):
        together = [
            {"request_put": {"key": text(f"{PREFIX}{number:06}".encode()), "value": content}}
            for number in numbers[start : start + 100]
        ]
        await client._gateway.write("/v3/kv/txn", {"success": together}, TransactionResult)

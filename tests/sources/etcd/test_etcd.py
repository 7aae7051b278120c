"""Informers, stores, leases and elections on a real etcd."""

import asyncio
from collections.abc import AsyncIterator
from random import Random

import msgspec
import pytest

import listwatch as lw
from listwatch.api.watch_events import WatchEvent
from listwatch.cache import Keyed
from listwatch.errors import (
    AlreadyExistsError,
    BadKeyError,
    BadRequestError,
    ConflictError,
    ConnectionLostError,
    ConnectRefusedError,
    EncodeError,
    ExpiredError,
    NotFoundError,
    RequestEntityTooLargeError,
    UsageError,
)
from listwatch.sources.etcd import EtcdClient, EtcdLease, EtcdLeaseLock, EtcdListWatch, EtcdStore, KeyValue
from listwatch.tasks.retry_observer import observing_retries
from listwatch.testing import RealEtcd
from listwatch.testing.server_thread import ServerThread


class Service(Keyed, msgspec.Struct):
    address: str
    region: str = "eu"


@pytest.fixture
def store(client: EtcdClient, prefix: str) -> EtcdStore[Service]:
    return EtcdStore(client, prefix, Service)


@pytest.fixture
def source(client: EtcdClient, prefix: str) -> EtcdListWatch[Service]:
    return EtcdListWatch(client, prefix, Service)


# --- stores -----------------------------------------------------------------------------------------------------------


async def test_an_object_is_created_read_replaced_and_deleted(store: EtcdStore[Service]):
    created = await store.create("web/1", Service("a"))
    assert (created, created.cache_key) == (Service("a"), "web/1")
    assert (await store.get("web/1")).resource_version == created.resource_version
    replaced = await store.update("web/1", Service("b"), resource_version=created.resource_version)
    assert int(replaced.resource_version) > int(created.resource_version)
    deleted = await store.delete("web/1", resource_version=replaced.resource_version)
    assert (deleted, int(deleted.resource_version) > int(replaced.resource_version)) == (Service("b"), True)
    with pytest.raises(NotFoundError, match="web/1"):
        await store.get("web/1")


async def test_writes_are_compared_with_what_was_read(store: EtcdStore[Service]):
    old = await store.create("web/1", Service("a"))
    with pytest.raises(AlreadyExistsError, match="web/1"):
        await store.create("web/1", Service("b"))
    new = await store.update("web/1", Service("b"))
    with pytest.raises(ConflictError, match=f"its version is {new.resource_version}, not {old.resource_version}"):
        await store.update("web/1", old)
    with pytest.raises(ConflictError):
        await store.delete("web/1", resource_version=old.resource_version)
    for missing in (store.update("web/2", Service("b")), store.delete("web/2")):
        with pytest.raises(NotFoundError):
            await missing
    assert await store.get("web/1") == Service("b")


async def test_what_could_not_be_read_is_not_written(client: EtcdClient, prefix: str, store: EtcdStore[Service]):
    before = (await store.list()).resource_version
    for value in ({"region": "eu"}, b"{", [1]):
        with pytest.raises(EncodeError, match="readers could not decode it: the value is not a Service"):
            await store.put("web/1", value)
    numbers = EtcdStore(client, prefix, int, encode=str)  # type: ignore[arg-type]  # which gives no bytes
    with pytest.raises(EncodeError, match="cannot be encoded"):
        await numbers.create("web/1", 1)
    assert (await store.list()).resource_version == before


async def test_a_list_has_all_objects_at_one_version(store: EtcdStore[Service]):
    written = [await store.put(f"web/{number}", Service(str(number))) for number in range(3)]
    page = await store.list()
    assert list(page.items) == written
    assert page.resource_version == written[-1].resource_version


async def test_bytes_and_json_need_no_class(client: EtcdClient, prefix: str):
    raw: EtcdStore[KeyValue[bytes]] = EtcdStore(client, prefix)
    await raw.put("a", b"\xff\0")
    assert (await raw.get("a")).value == b"\xff\0"
    trees = EtcdStore(client, prefix, dict)
    await trees.put("b", {"x": [1, None]})
    assert (await trees.get("b")).value == {"x": [1, None]}


async def test_a_store_maps_keys_and_values_by_functions(client: EtcdClient, prefix: str):
    mapping = {"key": lambda name: name.replace("/", ".", 1), "name": lambda key: key.replace(".", "/", 1)}
    store = EtcdStore(client, prefix, int, decode=int.from_bytes, encode=lambda value: value.to_bytes(2), **mapping)
    assert (await store.put("eu.web/1", 300)).value == 300
    assert [(item.cache_key, item.value) for item in (await store.list()).items] == [("eu.web/1", 300)]
    raw = EtcdStore(client, f"{prefix}eu/")
    assert (await raw.get("web/1")).value == b"\x01\x2c"
    assert (await store.delete("eu.web/1")).value == 300


async def test_a_key_function_that_fails_skips_one_key(client: EtcdClient, prefix: str):
    store = EtcdStore(client, prefix, int)
    for name in ("1", "x", "2"):
        await store.put(name, 1)
    page = await EtcdListWatch(client, prefix, int, key=lambda name: str(int(name))).list()
    assert [item.cache_key for item in page.items] == ["1", "2"]
    assert [type(error) for error in page.broken] == [BadKeyError]
    assert f"{prefix}x is skipped, because key= failed: ValueError" in str(page.broken[0])


async def test_a_key_function_that_returns_no_text_skips_the_key(client: EtcdClient, prefix: str):
    await EtcdStore(client, prefix, int).put("1", 1)
    page = await EtcdListWatch(client, prefix, int, key=int).list()  # type: ignore[arg-type]  # a wrong function
    assert page.items == []
    assert "expected a str or None" in str(page.broken[0])


async def test_a_key_with_a_lone_surrogate_is_not_valid(store: EtcdStore[Service]):
    with pytest.raises(BadKeyError, match="is not a valid key"):
        await store.put("a\udcff", Service("a"))


def test_a_probe_interval_is_positive():
    with pytest.raises(UsageError, match="expected more than 0 seconds"):
        EtcdListWatch(EtcdClient(), "/p/", probe_interval=0)


async def test_a_store_needs_the_inverse_of_a_key_function(client: EtcdClient, prefix: str):
    store = EtcdStore(client, prefix, int, key=lambda name: name.upper())
    with pytest.raises(BadKeyError, match=r"/web, which key= maps to 'WEB'; pass name="):
        await store.put("web", 1)
    assert (await store.put("WEB", 1)).cache_key == "WEB"


async def test_an_update_returns_the_lease_and_the_creation_of_the_object(client: EtcdClient, prefix: str):
    store = EtcdStore(client, prefix)
    async with EtcdLease(client, ttl=60) as lease:
        created = await store.create("a", b"1", lease=lease)
        updated = await store.update("a", b"2")
        assert (updated.value, updated.lease) == (b"2", lease.id)
        assert updated.create_revision == created.resource_version
        assert updated == await store.get("a")


async def test_a_value_that_is_too_large_is_not_retried_as_throttling(client: EtcdClient, prefix: str):
    store = EtcdStore(client, prefix)
    for size in (2**21, 2**22):
        with pytest.raises(RequestEntityTooLargeError, match="max-request-bytes"):
            await store.put("a", b"x" * size)


async def test_a_member_that_fails_is_reported_although_another_one_responds(etcd_url: str, prefix: str):
    observed: list[Exception] = []

    def observe(error: Exception, delay: float) -> float:
        observed.append(error)
        return delay

    for seed in range(10):  # which determines the first member
        async with EtcdClient(["http://127.0.0.1:9", etcd_url], random=Random(seed)) as client:
            with observing_retries(observe):
                await EtcdListWatch(client, prefix, Service).list()
    assert observed
    assert all(isinstance(error, ConnectRefusedError) for error in observed)


# --- lists and watches ------------------------------------------------------------------------------------------------


async def test_a_complete_list_is_read_in_pages_of_one_revision(client: EtcdClient, prefix: str):
    operations = [
        {"request_put": {"key": _text(f"{prefix}{number:05}"), "value": _text("x" * 10_000)}} for number in range(650)
    ]
    store = EtcdStore(client, prefix)
    for start in range(0, len(operations), 100):
        await client._gateway.write("/v3/kv/txn", {"success": operations[start : start + 100]}, dict_decoder())
    page = await EtcdListWatch(client, prefix).list(limit=0)
    assert [item.cache_key for item in page.items] == [f"{number:05}" for number in range(650)]
    assert page.resource_version == (await store.list()).resource_version


@pytest.mark.parametrize("token", ["x", "7", "7.!", "7.YWJj", "x.L3Rlc3Qv"])
async def test_a_token_of_another_source_is_rejected(source: EtcdListWatch[Service], token: str):
    with pytest.raises(BadRequestError, match="is not a token of this source"):
        await source.list(limit=1, continue_token=token)


async def test_pages_after_a_compaction_have_expired(
    store: EtcdStore[Service], source: EtcdListWatch[Service], etcd: ServerThread[RealEtcd]
):
    for number in range(4):
        await store.put(str(number), Service("a"))
    page = await source.list(limit=2)
    await store.put("5", Service("a"))
    etcd.await_call(lambda server: server.compact())
    with pytest.raises(ExpiredError, match="compacted"):
        await source.list(limit=2, continue_token=page.continue_token)


@pytest.mark.parametrize("version", ["x", "-1", "1.5"])
def test_a_version_that_is_no_revision_is_rejected(source: EtcdListWatch[Service], version: str):
    with pytest.raises(BadRequestError, match="is not a revision"):
        source.watch(resource_version=version)


async def test_a_watch_from_a_revision_that_etcd_has_not_reached_has_expired(source: EtcdListWatch[Service]):
    version = int((await source.list()).resource_version) + 1000
    with pytest.raises(ExpiredError, match="restored from a backup"):
        async with source.watch(resource_version=str(version)):
            pass


async def test_a_watch_of_another_cluster_has_expired(source: EtcdListWatch[Service]):
    version = (await source.list()).resource_version
    source._cluster_id = "another"
    with pytest.raises(ExpiredError, match="another cluster"):
        async with source.watch(resource_version=version):
            pass


async def test_a_transaction_is_delivered_as_one_batch(client: EtcdClient, prefix: str, source: EtcdListWatch[Service]):
    version = (await source.list()).resource_version
    value = msgspec.json.encode(Service("a")).decode()
    together = [{"request_put": {"key": _text(f"{prefix}{number}"), "value": _text(value)}} for number in range(50)]
    async with source.watch(resource_version=version) as watch:
        await client._gateway.write("/v3/kv/txn", {"success": together}, dict_decoder())
        batch = await anext(watch.batches())
    assert len(batch) == 50
    assert len({event.object.resource_version for event in batch}) == 1


async def test_undecodable_values_and_other_keys_do_not_stop_an_informer(
    client: EtcdClient, prefix: str, store: EtcdStore[Service], source: EtcdListWatch[Service]
):
    raw = EtcdListWatch(client, prefix)
    await store.put("a", Service("1"))
    await store.put("b", Service("1"))
    await _put(client, f"{prefix}broken", "{")
    await _put(client, f"{prefix}x/y/z", "1")
    problems: list[lw.informer.Problem] = []
    informer = lw.SharedIndexInformer(source, Service, on_problem=problems.append)
    async with informer:
        await informer.wait_for_sync(10)
        assert informer.indexer.keys() == ["a", "b"]
        await _put(client, f"{prefix}a", "[]")
        await _put(client, f"{prefix}k/l/m", "1")
        version = (await raw.list()).resource_version
        await informer.wait_until(version, 10)
        assert informer.indexer.keys() == ["b"]
        last = await store.put("a", Service("2"))
        await informer.wait_until(last.resource_version, 10)
        assert informer.indexer.get("a") == Service("2")
    texts = [str(problem.error) for problem in problems]
    assert [text.partition(":")[0] for text in texts if "value is not" in text] == [
        f"etcd key {prefix}broken",
        f"etcd key {prefix}a",
    ]
    assert [text for text in texts if "is skipped" in text or "are skipped" in text] != []
    assert informer.statistics().sources[0].lists == 1


async def test_an_informer_needs_no_previous_values_to_report_the_last_state_of_a_deleted_object(
    store: EtcdStore[Service], source: EtcdListWatch[Service]
):
    gone: asyncio.Queue[tuple[Service, bool]] = asyncio.Queue()

    def on_delete(item: Service, *, final_state_known: bool) -> None:
        gone.put_nowait((item, final_state_known))

    informer = lw.SharedIndexInformer(source, Service)
    informer.add_handler(on_delete=on_delete)
    async with informer:
        await informer.wait_for_sync(10)
        await store.put("a", Service("1"))
        await store.put("a", Service("2"))
        deleted = await store.delete("a")
        assert await gone.get() == (Service("2"), True)
        await informer.wait_until(deleted.resource_version, 10)


async def test_a_watch_of_an_informer_requests_no_previous_values(source: EtcdListWatch[Service]):
    requested = [watch._request(None)["create_request"] for watch in (source.watch(), source.watch_for_cache())]
    assert [create["prev_kv"] for create in requested if isinstance(create, dict)] == [True, False]


async def test_an_informer_lists_again_after_a_compaction_that_it_missed(
    store: EtcdStore[Service], source: EtcdListWatch[Service], etcd: ServerThread[RealEtcd]
):
    for number in range(5):
        await store.put(str(number), Service("old"))
    version = (await source.list()).resource_version
    for number in range(3):
        await store.put(str(number), Service("new"))
    await store.delete("4")
    etcd.await_call(lambda server: server.compact())
    with pytest.raises(ExpiredError, match="compacted"):
        async with source.watch(resource_version=version) as watch:
            await anext(watch.batches())


# --- leases -----------------------------------------------------------------------------------------------------------


async def test_a_key_disappears_with_its_lease(client: EtcdClient, store: EtcdStore[Service]):
    async with EtcdLease(client, ttl=30) as lease:
        await lease.hold(store, "web/1", Service("a"))
        assert await store.get("web/1") == Service("a")
    with pytest.raises(NotFoundError):
        await store.get("web/1")


async def test_an_update_keeps_the_lease_of_a_key(client: EtcdClient, store: EtcdStore[Service]):
    async with EtcdLease(client, ttl=30) as lease:
        await store.create("web/1", Service("a"), lease=lease)
        await store.update("web/1", Service("b"))
    with pytest.raises(NotFoundError):
        await store.get("web/1")


async def test_a_lease_that_expires_deletes_its_keys_for_informers(
    client: EtcdClient, store: EtcdStore[Service], source: EtcdListWatch[Service]
):
    lease = await EtcdLease(client, ttl=2).__aenter__()
    assert lease._renewing is not None
    lease._renewing.cancel()  # the process dies
    await store.put("web/1", Service("a"), lease=lease)
    informer = lw.SharedIndexInformer(source, Service)
    gone: asyncio.Queue[Service] = asyncio.Queue()
    informer.add_handler(on_delete=gone.put_nowait)
    async with informer:
        await informer.wait_for_sync(10)
        assert informer.indexer.keys() == ["web/1"]
        assert await gone.get() == Service("a")
        assert informer.indexer.keys() == []


async def test_a_lost_lease_is_granted_anew_and_its_keys_are_written_again(
    client: EtcdClient,
    store: EtcdStore[Service],
    source: EtcdListWatch[Service],
    etcd: ServerThread[RealEtcd],
):
    async with EtcdLease(client, ttl=2) as lease:
        await lease.hold(store, "web/1", Service("a"))
        before = await store.get("web/1")
        lost = lease.id
        etcd.await_call(lambda server: server.post("/v3/lease/revoke", {"ID": lost}))
        async with source.watch(resource_version=before.resource_version) as watch:
            events = [await anext(watch), await anext(watch)]
        assert [event.type for event in events] == ["DELETED", "ADDED"]
        assert await store.get("web/1") == Service("a")
        assert lease.losses == 1
        assert lease.id != lost


async def test_an_object_can_be_held_although_the_lease_was_lost_meanwhile(
    client: EtcdClient, store: EtcdStore[Service], etcd: ServerThread[RealEtcd]
):
    async with EtcdLease(client, ttl=600) as lease:
        await lease.hold(store, "web/1", Service("a"))
        lost = lease.id
        await revoke(lease, etcd)
        await lease.hold(store, "web/2", Service("b"))
        assert (await store.get("web/2")) == Service("b")
        assert (lease.losses, lease.id != lost) == (1, True)


class Interrupted:
    """A store that fails, or waits, before it writes the next objects."""

    def __init__(self, store: EtcdStore[Service]) -> None:
        self._store = store
        self.failures: list[Exception] = []
        self.writing, self.may_write = asyncio.Event(), asyncio.Event()
        self.may_write.set()

    async def put(self, key: str, value: object, *, lease: EtcdLease | None = None) -> Service:
        self.writing.set()
        await self.may_write.wait()
        if self.failures:
            raise self.failures.pop()
        return await self._store.put(key, value, lease=lease)


async def revoke(lease: EtcdLease, etcd: ServerThread[RealEtcd]) -> None:
    lost = lease.id
    etcd.await_call(lambda server: server.post("/v3/lease/revoke", {"ID": lost}))


@pytest.mark.parametrize(
    "failure", [ConnectionLostError("scripted", doing="put", host="etcd"), RuntimeError("scripted")]
)
async def test_keys_of_a_lost_lease_are_written_again_after_a_failure(
    client: EtcdClient,
    store: EtcdStore[Service],
    source: EtcdListWatch[Service],
    etcd: ServerThread[RealEtcd],
    failure: Exception,
):
    interrupted = Interrupted(store)
    async with EtcdLease(client, ttl=2) as lease:
        await lease.hold(interrupted, "web/1", Service("a"))
        before = await store.get("web/1")
        interrupted.failures = [failure]
        await revoke(lease, etcd)
        async with source.watch(resource_version=before.resource_version) as watch:
            assert [(await anext(watch)).type, (await anext(watch)).type] == ["DELETED", "ADDED"]
        assert lease.losses == 1


async def test_a_key_may_be_added_while_those_of_a_lost_lease_are_written_again(
    client: EtcdClient, store: EtcdStore[Service], source: EtcdListWatch[Service], etcd: ServerThread[RealEtcd]
):
    interrupted = Interrupted(store)
    async with EtcdLease(client, ttl=2) as lease:
        await lease.hold(interrupted, "web/1", Service("a"))
        interrupted.writing.clear()
        interrupted.may_write.clear()
        await revoke(lease, etcd)
        await interrupted.writing.wait()
        added = asyncio.create_task(lease.hold(store, "web/2", Service("b")))
        await asyncio.sleep(0.1)
        interrupted.may_write.set()
        await added
        before = await store.list()
        await revoke(lease, etcd)
        async with source.watch(resource_version=before.resource_version) as watch:
            written = [event.object.cache_key async for event in _additions(watch, 2)]
        assert sorted(written) == ["web/1", "web/2"]


async def _additions(watch: AsyncIterator[WatchEvent[Service]], count: int) -> AsyncIterator[WatchEvent[Service]]:
    while count:
        if (event := await anext(watch)).type == "ADDED":
            count -= 1
            yield event


async def test_a_lease_is_usable_only_while_it_is_granted(client: EtcdClient):
    with pytest.raises(UsageError, match="inside `async with`"):
        _ = EtcdLease(client).id
    with pytest.raises(UsageError, match="at least 2 seconds"):
        EtcdLease(client, ttl=0.5)


# --- leader election --------------------------------------------------------------------------------------------------


async def test_one_candidate_leads_and_another_takes_over(client: EtcdClient, prefix: str):
    timing = {"lease_duration": 6.0, "renew_deadline": 4.0, "retry_period": 0.2}
    locks = [EtcdLeaseLock(client, "operator", prefix=prefix) for _ in range(2)]
    first = lw.LeaderElector(locks[0], identity="first", **timing)
    second = lw.LeaderElector(locks[1], identity="second", **timing)
    async with first.lead():
        assert first.is_leader
        record = await locks[1].get()
        assert record is not None
        assert record.holder == "first"
        with pytest.raises(AlreadyExistsError):
            await locks[1].create(record)
    async with second.lead():
        assert second.is_leader
        assert not first.is_leader


async def test_a_manager_with_an_election_runs_on_etcd_alone(
    client: EtcdClient, prefix: str, store: EtcdStore[Service], source: EtcdListWatch[Service]
):
    informer = lw.SharedIndexInformer(source, Service)
    reconciled: asyncio.Queue[tuple[str, str | None]] = asyncio.Queue()

    async def reconcile(key: lw.ObjectKey, context: lw.ReconcileContext[Service]) -> None:
        found = context.get()
        reconciled.put_nowait((str(key), None if found is None else found.address))

    elector = lw.LeaderElector(EtcdLeaseLock(client, "operator", prefix=f"{prefix}leases/"), identity="me")
    manager = lw.Manager(leader_elector=elector)
    manager.add(lw.Controller(reconcile, for_=informer))
    await store.put("web/1", Service("a"))
    async with informer, manager:
        assert await reconciled.get() == ("web/1", "a")
        await store.put("web/1", Service("b"))
        assert await reconciled.get() == ("web/1", "b")
        await store.delete("web/1")
        assert await reconciled.get() == ("web/1", None)
        assert manager.is_leading


# --- support ----------------------------------------------------------------------------------------------------------


def _text(value: str) -> str:
    from listwatch.sources.etcd.messages import text

    return text(value.encode())


def dict_decoder() -> type:
    from listwatch.sources.etcd.messages import TransactionResult

    return TransactionResult


async def _put(client: EtcdClient, key: str, value: str) -> None:
    from listwatch.sources.etcd.messages import Written

    await client._gateway.write("/v3/kv/put", {"key": _text(key), "value": _text(value)}, Written)

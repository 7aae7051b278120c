"""Informers, factories and managers that follow the namespaces which a label selector matches."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

import listwatch as lw
from listwatch.errors import SyncTimeoutError, UsageError
from listwatch.models.core_v1 import ConfigMap, Namespace
from listwatch.objects import ObjectMeta
from listwatch.server import APIServer, Fail, Fault

TIMEOUT = 30.0


@pytest.fixture
async def server() -> AsyncIterator[APIServer]:
    async with APIServer() as server:
        yield server


@pytest.fixture
async def client(server: APIServer) -> AsyncIterator[lw.ClientSet]:
    async with lw.ClientSet(server.config) as client:
        yield client


async def add_namespace(client: lw.ClientSet, name: str, *maps: str, team: str = "a") -> None:
    await client.core_v1.namespaces().create(Namespace(metadata=ObjectMeta(name=name, labels={"team": team})))
    for each in maps:
        await client.core_v1.configmaps(name).create(ConfigMap(metadata=ObjectMeta(name=each)))


async def relabel(client: lw.ClientSet, name: str, team: str) -> None:
    await client.core_v1.namespaces().patch(name, {"metadata": {"labels": {"team": team}}})


class History:
    """Records what a handler is notified of, and waits for a state of it."""

    def __init__(self) -> None:
        self.present: set[str] = set()
        self._changed = asyncio.Event()

    def on_add(self, item: ConfigMap) -> None:
        assert str(item.key) not in self.present
        self.present.add(str(item.key))
        self._changed.set()

    def on_delete(self, item: ConfigMap) -> None:
        self.present.remove(str(item.key))
        self._changed.set()

    async def wait(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(TIMEOUT):
            while not condition():
                self._changed.clear()
                await self._changed.wait()


async def test_namespaces_come_and_go_with_their_labels(client: lw.ClientSet):
    await add_namespace(client, "one", "a", "b")
    await add_namespace(client, "other", "x", team="b")
    async with lw.SharedInformerFactory(client, namespace_selector="team=a") as factory:
        maps, history = factory.core_v1.configmaps, History()
        maps.informer.add_handler(on_add=history.on_add, on_delete=history.on_delete)
        await factory.wait_for_sync(timeout=TIMEOUT)
        assert history.present == {"one/a", "one/b"} == set(maps.informer.indexer.keys())

        await add_namespace(client, "two", "c")
        await history.wait(lambda: "two/c" in history.present)
        await relabel(client, "other", "a")
        await history.wait(lambda: "other/x" in history.present)
        await relabel(client, "one", "b")
        await history.wait(lambda: history.present == {"two/c", "other/x"})
        assert [str(each.key) for each in maps.lister.namespace("one").list()] == []
        assert sorted(str(each.key) for each in maps.lister.list()) == ["other/x", "two/c"]

        # A namespace that returns is read again, and later changes in it are received.
        await client.core_v1.configmaps("one").create(ConfigMap(metadata=ObjectMeta(name="late")))
        await relabel(client, "one", "a")
        await history.wait(lambda: {"one/a", "one/b", "one/late"} <= history.present)
        await client.core_v1.configmaps("one").delete("a")
        await history.wait(lambda: "one/a" not in history.present)


async def test_a_deleted_namespace_leaves_no_source(client: lw.ClientSet, server: APIServer):
    await add_namespace(client, "one", "a")
    async with lw.SharedInformerFactory(client, namespace_selector="team=a") as factory:
        maps, history = factory.core_v1.configmaps, History()
        maps.informer.add_handler(on_add=history.on_add, on_delete=history.on_delete)
        await factory.wait_for_sync(timeout=TIMEOUT)
        await client.core_v1.namespaces().delete("one")
        await history.wait(lambda: not history.present)
        await add_namespace(client, "two", "b")  # its event follows that of the deletion
        await history.wait(lambda: history.present == {"two/b"})
        assert len(maps.informer.statistics().sources) == 1
    assert server.statistics().watches == 0


async def test_without_matching_namespaces_the_store_is_empty_and_synced(client: lw.ClientSet):
    async with lw.SharedInformerFactory(client, namespace_selector={"team": "nobody"}) as factory:
        maps = factory.core_v1.configmaps
        await factory.wait_for_sync(timeout=TIMEOUT)
        assert len(maps.informer.indexer) == 0
        # An informer that is requested later follows the namespaces that are known already.
        await add_namespace(client, "one", "a", team="nobody")
        secrets = factory.core_v1.secrets
        await secrets.informer.wait_for_sync(timeout=TIMEOUT)
        assert secrets.informer.has_synced


async def test_cluster_scoped_resources_and_explicit_namespaces_are_watched_in_any_case(client: lw.ClientSet):
    await add_namespace(client, "other", "x", team="b")
    async with lw.SharedInformerFactory(client, namespace_selector="team=a") as factory:
        namespaces = factory.core_v1.namespaces
        maps = factory.informer(ConfigMap, namespace="other")
        await factory.wait_for_sync(timeout=TIMEOUT)
        assert "other" in namespaces.informer.indexer
        assert [each.name for each in maps.lister.list() if each.name == "x"] == ["x"]


async def test_a_factory_that_cannot_list_namespaces_names_the_cause(client: lw.ClientSet, server: APIServer):
    server.faults.add(Fault(Fail(403), resource="namespaces"))
    async with lw.SharedInformerFactory(client, namespace_selector="team=a") as factory:
        assert factory.core_v1.configmaps.informer.has_synced is False
        with pytest.raises(SyncTimeoutError, match=r"namespaces are not known yet.*namespaces: .*failed attempts?"):
            await factory.wait_for_sync(timeout=1.0)


async def test_a_manager_reconciles_in_matching_namespaces_only(client: lw.ClientSet):
    await add_namespace(client, "one", "a")
    await add_namespace(client, "other", "x", team="b")
    seen: set[str] = set()
    changed = asyncio.Event()

    async def reconcile(key: lw.ObjectKey) -> None:
        seen.add(str(key))
        changed.set()

    async def wait(expected: str) -> None:
        async with asyncio.timeout(TIMEOUT):
            while expected not in seen:
                changed.clear()
                await changed.wait()

    manager = lw.Manager(client, namespace_selector="team=a")
    manager.add(lw.Controller(reconcile, for_=ConfigMap))
    async with manager:
        await wait("one/a")
        await add_namespace(client, "two", "c")
        await wait("two/c")
        assert not any(key.startswith("other/") for key in seen)


def test_only_one_way_to_select_namespaces_is_accepted(client: lw.ClientSet):
    with pytest.raises(UsageError, match="only one of"):
        lw.SharedInformerFactory(client, namespace="a", namespace_selector="team=a")
    with pytest.raises(UsageError, match="only one of"):
        lw.SharedInformerFactory(client, namespace="a", namespaces=["b"])


async def test_sources_are_added_to_informers_of_namespaces_only(client: lw.ClientSet):
    maps = client.core_v1.configmaps
    one = lw.SharedIndexInformer(maps(""), ConfigMap)
    with pytest.raises(UsageError, match="one source for all"):
        one.add_source("one", maps("one"))
    several = lw.SharedIndexInformer({"one": maps("one")}, ConfigMap)
    with pytest.raises(UsageError, match="already"):
        several.add_source("one", maps("one"))
    with pytest.raises(UsageError, match="does not watch"):
        await several.remove_source("two")

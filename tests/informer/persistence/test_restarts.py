"""A restarted program serves its objects from the cache file, and resumes the watch without a list."""

from __future__ import annotations

import asyncio
import gc
import os
from pathlib import Path
from typing import Any

import pytest
from tests.informer.persistence.restarts import FastInformer, Recorder, cache_files, fill, program

import listwatch as lw
from listwatch.errors import UsageError
from listwatch.informer.storage_options import PersistenceOptions
from listwatch.models.core_v1 import ConfigMap, Secret
from listwatch.objects import PartialObjectMetadata, Unstructured
from listwatch.server import APIServer
from listwatch.testing.scripted_source import ScriptedSource


@pytest.fixture(params=[False, True], ids=["plain", "compact"])
def compact(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


async def test_a_restart_needs_no_list_and_handlers_see_what_changed(
    api_server: APIServer, tmp_path: Path, compact: bool
) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await fill(client)
        async with program(client, tmp_path, compact=compact) as first:
            before = first.data()
        await client.core_v1.configmaps("default").delete("c-3")
        await client.core_v1.configmaps("default").patch("c-4", {"data": {"n": "changed"}})
        await client.core_v1.configmaps("default").create({"metadata": {"name": "new"}})
        listed = len(api_server.requests.matching(verb="list"))

        async with program(client, tmp_path, compact=compact) as second:
            assert second.lists == 0
            assert len(api_server.requests.matching(verb="list")) == listed
            assert second.informer.statistics().files[0].restored == len(before)
            assert second.recorder.changes == [("delete", "c-3"), ("update", "c-4")]
            assert second.data()["c-4"] == {"n": "changed"}
            assert {**second.data(), "c-4": {"n": "4"}, "c-3": {"n": "3"}} == {**before, "new": {}}
            assert second.informer.lister.list("app=web")


async def test_a_restart_after_the_version_has_expired_lists_and_reports_exactly_the_changes(
    api_server: APIServer, tmp_path: Path, compact: bool
) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await fill(client)
        async with program(client, tmp_path, compact=compact):
            pass
        await client.core_v1.configmaps("default").delete("c-3")
        await client.core_v1.configmaps("default").patch("c-4", {"data": {"n": "changed"}})
        await client.core_v1.configmaps("default").create({"metadata": {"name": "new"}})
        api_server.compact()

        async with program(client, tmp_path, compact=compact) as second:
            assert second.lists == 1
            assert sorted(second.recorder.changes) == [("delete", "c-3"), ("update", "c-4")]
            assert second.recorder.calls.count(("add", "new")) == 1
            assert sum(each[0] == "add" for each in second.recorder.calls) == len(second.data()) + 1
            assert second.informer.stale_since is None


async def test_the_objects_can_be_read_before_the_server_responds(tmp_path: Path, compact: bool) -> None:
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        await fill(client)
        async with program(client, tmp_path, compact=compact) as first:
            before = first.data()
        config = server.config
    async with (
        lw.ClientSet(config) as client,
        program(client, tmp_path, compact=compact, synced=False) as offline,
    ):
        assert not await offline.informer.wait_until_readable(timeout=20)
        assert offline.data() == before
        assert not offline.informer.has_synced
        assert offline.informer.stale_since is not None
        assert offline.informer.statistics().stale_since == offline.informer.stale_since


async def test_a_file_is_not_served_for_another_source(api_server: APIServer, tmp_path: Path) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await fill(client)
        configmaps = client.core_v1.configmaps("default")
        async with program(client, tmp_path):
            pass
        others = [
            {"source": configmaps.selecting(label_selector="app=web")},
            {"source": configmaps.selecting(field_selector="metadata.name=c-1")},
            {"source": configmaps.namespace("")},
            {"source": configmaps.without_managed_fields()},
            {"transform": lambda item: item},
            {"drop_fields": ["metadata.annotations"]},
            {"compact": True},
        ]
        for options in others:
            async with program(client, tmp_path, **options) as other:
                assert other.informer.statistics().files[0].restored == 0, options
        assert len(cache_files(tmp_path)) == 1 + len(others)


async def test_a_file_of_another_cluster_at_the_same_address_is_replaced_by_a_list(tmp_path: Path) -> None:
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        await fill(client)
        port = int(server.config.host.rpartition(":")[2])
        async with program(client, tmp_path):
            pass
    async with APIServer(port=port) as server, lw.ClientSet(server.config) as client:
        await client.core_v1.configmaps("default").create({"metadata": {"name": "other"}})

        async with program(client, tmp_path) as second:
            assert second.informer.statistics().files[0].restored > 0
            assert second.lists == 1
            assert {each for each in second.data() if each.startswith("c-")} == set()
            assert ("delete", "c-3") in second.recorder.calls


async def test_a_changed_transform_is_another_source_and_its_results_are_kept(
    api_server: APIServer, tmp_path: Path
) -> None:
    def first(item: ConfigMap) -> ConfigMap:
        item.data = {"from": "first"}
        return item

    def second(item: ConfigMap) -> ConfigMap:
        item.data = {"from": "second"}
        return item

    async with lw.ClientSet(api_server.config) as client:
        await fill(client)
        for transform, restored, text in ((first, False, "first"), (first, True, "first"), (second, False, "second")):
            async with program(client, tmp_path, transform=transform) as run:
                assert bool(run.informer.statistics().files[0].restored) == restored
                assert run.data()["c-1"] == {"from": text}


async def test_secrets_and_named_kinds_are_not_written_unless_the_program_requests_it(
    api_server: APIServer, tmp_path: Path
) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await client.core_v1.secrets("default").create({"metadata": {"name": "s"}, "stringData": {"key": "sesame"}})
        secrets = client.core_v1.secrets("default")
        async with program(client, tmp_path, source=secrets, kind=Secret) as run:
            assert run.informer.statistics().files == ()
        async with program(client, tmp_path, cache_exclude=["secrets", ConfigMap]) as run:
            assert run.informer.statistics().files == ()
        assert cache_files(tmp_path) == []
        async with program(client, tmp_path, source=secrets, kind=Secret, cache_exclude=[]):
            pass
        [file] = cache_files(tmp_path)
        assert file.stat().st_mode & 0o777 == 0o600


async def test_secrets_of_a_source_without_their_class_are_not_written(api_server: APIServer, tmp_path: Path) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await client.core_v1.secrets("default").create({"metadata": {"name": "s"}, "stringData": {"key": "sesame"}})
        sources: list[Any] = [
            lw.ListWatch.from_client(client.rest.for_group_version("v1"), "secrets", "default"),
            client.dynamic.resource("v1", "Secret", namespace="default"),
            client.metadata.resource("v1", "Secret", namespace="default"),
            client.dynamic.resource("secrets", namespace="default"),
        ]
        for source in sources:
            kind = PartialObjectMetadata if source is sources[2] else Unstructured
            async with program(client, tmp_path, source=source, kind=kind) as run:
                assert [each.name for each in run.informer.indexer.list()] == ["s"]
        assert cache_files(tmp_path) == []


class Mouse(lw.CustomResource, group="example.com", version="v1", kind="Mouse"):
    """A custom kind, whose plural is found by discovery."""

    spec: dict[str, int]


async def create_mice(client: lw.ClientSet) -> None:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    definition = {
        "metadata": {"name": "mice.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Mouse", "plural": "mice"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }
    await client.apiextensions_v1.customresourcedefinitions().create(definition)
    await client.resource(Mouse, namespace="default").create(
        Mouse.from_dict({"metadata": {"name": "m"}, "spec": {"n": 1}})
    )


async def test_custom_resources_are_kept_in_files_before_their_resource_is_discovered(
    api_server: APIServer, tmp_path: Path, compact: bool
) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await create_mice(client)
    for lists in (1, 0):
        async with lw.ClientSet(api_server.config) as client:  # nothing is discovered yet
            mice = client.resource(Mouse, namespace="default")
            async with program(client, tmp_path, source=mice, kind=Mouse, compact=compact) as run:
                assert run.lists == lists
                [found] = run.informer.indexer.list()
                assert found.to_dict()["spec"] == {"n": 1}
    assert len(cache_files(tmp_path)) == 1


@pytest.mark.parametrize("excluded", ["mice", "mice.example.com"])
async def test_a_custom_resource_is_excluded_by_its_plural_whatever_its_kind(
    api_server: APIServer, tmp_path: Path, excluded: str
) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await create_mice(client)
        mice = client.resource(Mouse, namespace="default")
        async with program(client, tmp_path, source=mice, kind=Mouse, cache_exclude=[excluded]) as run:
            assert len(run.informer.indexer) == 1
        assert cache_files(tmp_path) == []
        async with program(client, tmp_path, source=mice, kind=Mouse, cache_exclude=["cats", "mice.other.com"]) as run:
            assert run.informer.statistics().files[0].is_used
        assert len(cache_files(tmp_path)) == 1


async def test_a_factory_and_several_namespaces_have_one_file_for_each_source(
    api_server: APIServer, tmp_path: Path, compact: bool
) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await fill(client)
        await client.core_v1.configmaps("kube-system").create({"metadata": {"name": "system"}})
        for lists in (1, 0):
            namespaces = ["default", "kube-system"]
            async with lw.SharedInformerFactory(
                client, namespaces=namespaces, cache_dir=tmp_path, compact=compact
            ) as factory:
                handle = factory.core_v1.configmaps
                await factory.wait_for_sync(timeout=20)
                assert [each.syncs for each in handle.informer.statistics().sources] == [lists, lists]
                assert handle.lister.namespace("kube-system").get("system").name == "system"
                assert handle.lister.namespace("default").get("c-1").data == {"n": "1"}
        assert len(cache_files(tmp_path)) == 2


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no list of open files")
async def test_the_file_of_a_removed_source_is_closed(api_server: APIServer, tmp_path: Path) -> None:
    def opened() -> int:
        gc.collect()
        links = [os.readlink(each) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
        return sum(each.startswith(str(tmp_path)) for each in links)

    async with lw.ClientSet(api_server.config) as client:
        await fill(client)
        sources = {"kube-system": client.core_v1.configmaps("kube-system")}
        async with program(client, tmp_path, source=sources) as running:
            before = opened()
            for _ in range(3):
                running.informer.add_source("default", client.core_v1.configmaps("default"))
                async with asyncio.timeout(20):
                    while len(running.data()) < 10:  # noqa: ASYNC110  # there is no event to wait for
                        await asyncio.sleep(0.01)
                await running.informer.remove_source("default")
            assert opened() == before


async def test_objects_that_were_received_as_protobuf_are_kept(api_server: APIServer, tmp_path: Path) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await fill(client)
        source = client.core_v1.configmaps("default").with_content_type("protobuf")
        async with program(client, tmp_path, source=source) as first:
            before = first.data()
        async with program(client, tmp_path, source=source) as second:
            assert second.lists == 0
            assert second.data() == before
            found = second.informer.indexer.get("default/c-1")
            assert found is not None
            assert dict(found.labels) == {"app": "web"}


class RewritingInformer(FastInformer):
    """Replaces its file with every write."""

    _persistence = PersistenceOptions(delay=0.001, min_records=-1000)


async def test_a_file_that_is_mostly_outdated_is_replaced(api_server: APIServer, tmp_path: Path, compact: bool) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await fill(client, 3)
        async with program(client, tmp_path, informer_type=RewritingInformer, compact=compact) as first:
            held = first.informer.indexer.get("default/c-1")
            for number in range(8):
                changed = await client.core_v1.configmaps("default").patch("c-2", {"data": {"n": f"changed {number}"}})
                await first.informer.wait_until(changed.resource_version, timeout=20)
            persister = first.informer._pipelines[0].persister
            assert persister is not None
            await persister.close()
            statistics = first.informer.statistics().files[0]
            assert statistics.rewrites > 0
            assert held is not None
            assert held.data == {"n": "1"}
            assert first.data()["c-0"] == {"n": "0"}
        async with program(client, tmp_path, informer_type=RewritingInformer, compact=compact) as second:
            assert second.data()["c-2"] == {"n": "changed 7"}
            assert second.lists == 0


class SlowRecorder(Recorder):
    """A handler that waits before it handles the first object."""

    def __init__(self) -> None:
        super().__init__()
        self.may_continue = asyncio.Event()
        self.data: dict[str, dict[str, str]] = {}

    async def on_add(self, item: ConfigMap) -> None:  # type: ignore[override]  # awaited
        await self.may_continue.wait()
        self.data.setdefault(item.name, dict(item.data))
        super().on_add(item)


@pytest.mark.parametrize("by_list", [False, True], ids=["by events", "by a list"])
async def test_a_slow_handler_gets_restored_objects_after_their_file_was_replaced_repeatedly(
    api_server: APIServer, tmp_path: Path, compact: bool, by_list: bool
) -> None:
    async with lw.ClientSet(api_server.config) as client:
        configmaps = client.core_v1.configmaps("default")
        await fill(client, 150)  # more than a handler takes at once
        async with program(client, tmp_path, compact=compact):
            pass
        if by_list:
            await configmaps.delete("c-148")
            await configmaps.patch("c-149", {"data": {"n": "new"}})
            api_server.compact()
        informer, slow = RewritingInformer(configmaps, ConfigMap, cache_dir=tmp_path, compact=compact), SlowRecorder()
        informer.add_handler(slow)
        async with informer:
            await informer.wait_until_readable(timeout=20)
            if not by_list:
                await configmaps.delete("c-148")
            number = 0
            while informer.statistics().files[0].rewrites < 4:
                changed = await configmaps.patch("c-149", {"data": {"n": f"new {(number := number + 1)}"}})
                await informer.wait_until(changed.resource_version, timeout=20)
            slow.may_continue.set()
            await informer.wait_for_sync(timeout=20)

            assert slow.data == {f"c-{each}": {"n": str(each)} for each in range(150)}


class IdentifiedSource(ScriptedSource[ConfigMap]):
    def _cache_identity(self) -> dict[str, str]:
        return {"server": "scripted"}


def configmap(name: str, version: str) -> ConfigMap:
    return ConfigMap.from_dict({"metadata": {"name": name, "namespace": "default", "resourceVersion": version}})


@pytest.mark.parametrize("version", ["", "0"])
async def test_what_was_deleted_after_a_list_without_a_version_is_not_restored(
    tmp_path: Path, compact: bool, version: str
) -> None:
    first, second, third = (IdentifiedSource(ConfigMap) for _ in range(3))
    first.will_list([configmap("a", "1"), configmap("b", "2")], resource_version=version)
    first.will_watch().add(configmap("b", "2")).add(configmap("c", "4")).bookmark("5")  # a was deleted before it
    async with FastInformer(first, ConfigMap, cache_dir=tmp_path, compact=compact) as informer:
        await informer.wait_until("5", timeout=20)

    second.will_list([configmap("b", "2"), configmap("c", "4")], resource_version="6")
    async with FastInformer(second, ConfigMap, cache_dir=tmp_path, compact=compact) as informer:
        await informer.wait_for_sync(timeout=20)
        assert informer.indexer.keys() == ["default/b", "default/c"]

    async with FastInformer(third, ConfigMap, cache_dir=tmp_path, compact=compact) as informer:
        await informer.wait_for_sync(timeout=20)
        assert informer.indexer.keys() == ["default/b", "default/c"]
    assert [kind for kind, _ in third.requests] == ["watch"]


async def test_a_source_without_an_identity_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cache_dir needs a source that can be identified"):
        lw.SharedIndexInformer(ScriptedSource(ConfigMap), ConfigMap, cache_dir=tmp_path)


async def test_a_source_without_an_identity_may_have_an_excluded_kind(tmp_path: Path) -> None:
    source, kind = ScriptedSource(ConfigMap), ConfigMap
    informer = lw.SharedIndexInformer(source, kind, cache_dir=tmp_path, cache_exclude=[ConfigMap])
    assert informer.statistics().files == ()

"""Informers with compact stores: objects are packed in the background, and opened only when they are accessed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, TypeVar
from weakref import finalize

import pytest
from tests.cache.compact.packed_pods import PackedPods
from tests.cache.compact.packed_pods import pod as template_pod
from tests.informer.settings import RecordingHandler, Setting

import listwatch as lw
from listwatch.cache.compact import codec
from listwatch.cache.compact.dictionaries import Dictionary, train
from listwatch.cache.compact.entry import Entry
from listwatch.cache.compact.zstd import ZstdLibrary
from listwatch.clock import SystemClock
from listwatch.errors import ExpiredError, UsageError
from listwatch.informer.informer import Informer
from listwatch.informer.packing import packer as packer_module
from listwatch.informer.packing.packer import Packer
from listwatch.informer.packing.worker import InlineWorker
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.informer.storage_options import PackingPolicy, PersistenceOptions
from listwatch.keyed import Keyed
from listwatch.models.core_v1 import ConfigMap, Pod
from listwatch.testing.scripted_source import ScriptedSource

R = TypeVar("R")

POLICY = PackingPolicy(min_samples=4, samples=8, batch=4, in_thread=False)


class PackingInformer(SharedIndexInformer):
    """Packs objects without a thread, and few of them."""

    _packing_policy = POLICY


class PlainPackingInformer(Informer):
    """The same with one handler."""

    _packing_policy = POLICY


def pods(count: int = 20) -> list[Pod]:
    return [template_pod(number) for number in range(count)]


class CompactSetting(Setting):
    """An informer with a compact store, which is packed when `pack` returns."""

    informer_type = PackingInformer

    def __init__(self, *items: Pod, **options: Any) -> None:
        super().__init__(*items, **({"compact": True} | options))

    async def pack(self) -> None:
        await self.clock.advance(POLICY.delay + 1)

    @property
    def opened(self) -> int:
        compact = self.informer.statistics().compact
        assert compact is not None
        return compact.opened

    def is_packed(self, key: str) -> bool:
        return type(self.informer.indexer._store.objects[key]) is Entry


async def test_objects_are_packed_and_readers_get_ordinary_ones() -> None:
    setting = CompactSetting(*pods())
    async with setting.running():
        await setting.pack()

        assert all(map(setting.is_packed, setting.informer.indexer.keys()))
        found = setting.informer.indexer.get("team-1/pod-4")
        assert found == template_pod(4)
        assert found is setting.informer.lister.namespace("team-1").get("pod-4")


async def test_lists_updates_resyncs_and_replays_open_nothing() -> None:
    setting, recorder = CompactSetting(*pods(), resync=30.0), RecordingHandler()
    setting.informer.add_handler(recorder)
    async with setting.running():
        await setting.pack()
        late = RecordingHandler()
        setting.informer.add_handler(late)
        for number in range(5):
            setting.watch.modify(template_pod(number, version=100 + number))
        setting.watch.delete(template_pod(7, version=200))
        await setting.pack()
        setting.source.will_list(
            [template_pod(number, version=100 + number if number < 5 else 1) for number in range(15) if number != 7],
            resource_version="300",
        )
        again = setting.source.will_watch()
        setting.watch.fail(ExpiredError("too old"))
        await setting.clock.advance(40.0)
        again.modify(template_pod(9, version=301))
        await setting.pack()

        assert len(late.calls) > 40
        assert ("update", "pod-9", "1", "301") in recorder.calls
        assert ("delete", "pod-16", False) in recorder.calls
        assert len(setting.informer.indexer) == 14
        assert setting.opened == 0


async def test_a_relist_keeps_the_instances_of_objects_that_have_not_changed() -> None:
    setting = CompactSetting(*pods())
    async with setting.running():
        await setting.pack()
        held = [setting.informer.indexer.get(key) for key in ("team-0/pod-0", "team-1/pod-1")]
        setting.source.will_list([template_pod(0), template_pod(1, version=90)], resource_version="100")
        setting.source.will_watch()
        setting.watch.fail(ExpiredError("too old"))
        await setting.clock.advance(40.0)

        now = [setting.informer.indexer.get(key) for key in ("team-0/pod-0", "team-1/pod-1")]
        assert [before is after for before, after in zip(held, now, strict=True)] == [True, False]


async def test_handlers_see_the_instances_of_the_store() -> None:
    setting = CompactSetting(*pods())
    seen: list[bool] = []
    setting.informer.add_handler(
        on_update=lambda old, new: seen.append(setting.informer.indexer.get(new.cache_key) is new)
    )
    async with setting.running():
        await setting.pack()
        setting.watch.modify(template_pod(3, version=50))
        await setting.settle()

    assert seen == [True]


async def test_what_a_transform_changes_is_packed() -> None:
    def transform(item: Pod) -> Pod:
        item.metadata.annotations = {"seen": "yes"}
        item.metadata.labels = {"app": "changed"}
        return item

    setting = CompactSetting(*pods(), transform=transform, drop_fields=["spec.containers"])
    async with setting.running():
        await setting.pack()

        assert setting.is_packed("team-2/pod-2")
        [found] = [each for each in setting.informer.lister.list("app=changed") if each.name == "pod-2"]
        assert found.metadata.annotations == {"seen": "yes"}
        assert (found.spec.node_name, found.spec.containers) == ("node-2", [])


async def test_fields_are_dropped_in_a_plain_store_too() -> None:
    setting = CompactSetting(*pods(3), compact=False, drop_fields=["spec.containers"])
    async with setting.running():
        found = setting.informer.indexer.get("team-0/pod-0")

    assert found is not None
    assert (found.spec.node_name, found.spec.containers) == ("node-0", [])


async def test_a_small_store_stays_as_it_is() -> None:
    setting = CompactSetting(*pods(3))
    async with setting.running():
        await setting.pack()

        assert not any(map(setting.is_packed, setting.informer.indexer.keys()))
        setting.watch.add(template_pod(3, version=20))
        await setting.pack()
        assert all(map(setting.is_packed, setting.informer.indexer.keys()))


async def test_statistics_count_packed_and_live_objects() -> None:
    setting = CompactSetting(*pods())
    async with setting.running():
        await setting.pack()
        held = setting.informer.indexer.get("team-0/pod-0")
        assert held is not None
        assert held.spec.node_name == "node-0"
        setting.watch.modify(template_pod(1, version=30))
        await setting.settle()

        found = setting.informer.statistics().compact
        assert found is not None
        assert (found.packed, found.unpacked, found.live, found.opened) == (19, 1, 1, 1)
        assert found.ratio < 0.5


def odd_pod(number: int) -> Pod:
    """A pod that has nothing in common with the others."""
    name, uid = f"pod-{number}", f"0b8f1f2e-6a6e-4a53-9c0f-{number:012}"
    digits = " ".join(str(each) for each in Random(number).sample(range(10**6), 100))
    metadata = {"name": name, "namespace": f"team-{number % 3}", "uid": uid, "resourceVersion": str(100 + number)}
    return Pod.from_dict({"metadata": metadata, "spec": {"containers": [{"name": "main", "args": [digits] * 3}]}})


async def test_another_dictionary_is_trained_with_few_samples_when_objects_compress_worse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes: list[int] = []

    def recorded(library: ZstdLibrary, samples: Sequence[bytes]) -> Dictionary:
        sizes.append(len(samples))
        return train(library, samples)

    monkeypatch.setattr(codec, "_WINDOW", 12)
    monkeypatch.setattr(packer_module, "train", recorded)
    setting = CompactSetting(*pods(60))
    async with setting.running():
        await setting.pack()
        before = setting.informer.statistics().compact
        assert before is not None
        for number in range(60):
            setting.watch.modify(Pod.from_wire(odd_pod(number).to_json()))
        await setting.pack()

        packer = setting.informer._cache.packer
        assert packer is not None
        after = packer.statistics()
        assert (before.dictionaries, after.dictionaries) == (1, 2)
        assert after.unpacked == 0
        assert setting.informer.indexer.get("team-2/pod-59") == odd_pod(59)
        assert sizes == [4, POLICY.samples]  # more would keep the memory of all changed objects


class PersistentInformer(PackingInformer):
    """Also writes a cache file without a thread."""

    _persistence = PersistenceOptions(in_thread=False)


class IdentifiedSource(ScriptedSource[Pod]):
    """A source that can have a cache file."""

    def _cache_identity(self) -> dict[str, str]:
        return {"server": "scripted"}


class PersistentSetting(CompactSetting):
    """An informer with a compact store and a cache file."""

    informer_type = PersistentInformer
    source_type = IdentifiedSource


async def test_a_store_with_a_file_is_compressed_even_if_it_grows_slowly(tmp_path: Path) -> None:
    setting = PersistentSetting(cache_dir=tmp_path)
    async with setting.running():
        for number in range(POLICY.min_samples):
            setting.watch.add(template_pod(number, version=100 + number))
            await setting.pack()  # the file has the object before the next one arrives

        found = setting.informer.statistics()
        assert found.compact is not None
        assert found.compact.dictionaries == 1
        assert found.files[0].resource_version == str(100 + number)


class LateWorker(InlineWorker):
    """Begins its work late, as a thread that several stores share."""

    def __init__(self, setting: CompactSetting) -> None:
        self._setting = setting

    async def run(self, work: Callable[[], R]) -> R:
        await self._setting.clock.sleep(15.0)
        return await super().run(work)


async def test_objects_that_the_file_takes_from_the_packer_count_as_packed(tmp_path: Path) -> None:
    setting = PersistentSetting(cache_dir=tmp_path)
    packer = setting.informer._cache.packer
    assert packer is not None
    packer._worker = LateWorker(setting)
    async with setting.running():
        for number in range(6):
            setting.watch.add(template_pod(number, version=100 + number))
        await setting.clock.advance(2000.0)

        found = setting.informer.statistics().compact
        assert found is not None
        assert (found.packed, found.unpacked) == (6, 0)


async def test_objects_that_a_source_has_made_keep_their_contents() -> None:
    made = [
        Pod(metadata=lw.ObjectMeta(name=f"a-{number}", namespace="default", annotations={"k": "v"}))
        for number in range(6)
    ]
    setting = CompactSetting(*made)
    made.clear()
    async with setting.running():
        await setting.pack()

        found = setting.informer.indexer.list()
        assert [each.metadata.annotations for each in found] == [{"k": "v"}] * 6


async def test_too_few_samples_are_not_kept() -> None:
    setting = CompactSetting()
    packer = setting.informer._cache.packer
    assert packer is not None
    packer._worker = LateWorker(setting)
    async with setting.running():
        for number in range(POLICY.min_samples):
            setting.watch.add(template_pod(number, version=100 + number))
        await setting.clock.advance(POLICY.delay + 1)
        setting.watch.delete(template_pod(0, version=200))  # while the worker waits to take samples
        await setting.clock.advance(100.0)

        assert packer._samples == []


async def test_a_list_does_not_get_ahead_of_the_packer_if_its_batches_are_split(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(packer_module, "_MAX_BATCH", 3 * 1024)  # fewer objects than the four of a batch
    packer = CompactSetting().informer._cache.packer
    assert packer is not None
    library = packer._codec.library
    assert library is not None
    packer._codec.add(train(library, [each._raw for each in pods(20)]))
    received = packer.new_list(None)

    for each in pods(400):
        received.put(each)

    assert len(packer._batches) <= POLICY.max_batches


class ObservingWorker(InlineWorker):
    """Records how many objects are packed when it begins some work."""

    def __init__(self, setting: CompactSetting) -> None:
        self._setting = setting
        self.packed: list[int] = []

    async def run(self, work: Callable[[], R]) -> R:
        found = self._setting.informer.statistics().compact
        assert found is not None
        self.packed.append(found.packed)
        return await super().run(work)


async def test_objects_do_not_count_as_packed_while_their_dictionary_is_trained() -> None:
    setting = CompactSetting(*pods(6))  # too few for samples of the list
    packer = setting.informer._cache.packer
    assert packer is not None
    packer._worker = worker = ObservingWorker(setting)
    async with setting.running():
        await setting.pack()

        assert worker.packed == [0, 0, 0, 4]  # taking samples, training, then two batches


async def test_objects_are_released_before_the_rest_of_their_batch_is_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packer_module, "_EXCHANGED", 1)
    store = PackedPods()
    for each in pods(4):
        store.indexer.add(each)
        finalize(each, lambda: packed.append(sum(type(stored) is Entry for stored in store.indexer._snapshot())))
    del each
    store.pending.complete()
    packed: list[int] = []

    await Packer(store.indexer, clock=SystemClock(), policy=POLICY)._pack(store.indexer, store.pending.take())

    assert packed == [1, 2, 3, 4]


async def test_a_plain_informer_can_be_compact() -> None:
    source, recorder = ScriptedSource(Pod), RecordingHandler()
    source.will_list(pods(), resource_version="10")
    watch = source.will_watch()
    setting = CompactSetting()
    async with PlainPackingInformer(source, Pod, recorder, compact=True, clock=setting.clock) as informer:
        await setting.pack()
        watch.modify(template_pod(1, version=30))
        await setting.pack()

        assert type(informer.indexer._store.objects["team-1/pod-1"]) is Entry
        assert recorder.calls[-1] == ("update", "pod-1", "1", "30")


async def test_other_objects_cannot_be_compact() -> None:
    class Service(Keyed):
        """An object of another source."""

    with pytest.raises(UsageError, match="compact=True needs objects of a Kubernetes API"):
        SharedIndexInformer(ScriptedSource(Pod), Service, compact=True)  # type: ignore[arg-type, type-var]  # the mistake


class ThreadPackingInformer(SharedIndexInformer):
    """Packs few objects, in a thread."""

    _packing_policy = PackingPolicy(min_samples=4, batch=4, delay=0.01)


class ThreadPackingFactory(lw.SharedInformerFactory):
    """Makes such informers."""

    _informer_type = ThreadPackingInformer


async def test_objects_are_packed_in_a_thread_which_ends_with_the_informer(api_server: Any) -> None:
    async with lw.ClientSet(api_server.config) as client:
        for number in range(12):
            content = {"metadata": {"name": f"c-{number}"}, "data": {"text": "words " * 50}}
            await client.core_v1.configmaps("default").create(ConfigMap.from_dict(content))
        async with ThreadPackingFactory(client, compact=True, clock=SystemClock()) as factory:
            handle = factory.core_v1.configmaps
            await factory.wait_for_sync(timeout=30)
            async with asyncio.timeout(30):
                while (found := handle.informer.statistics().compact) is None or found.unpacked:  # noqa: ASYNC110  # there is no event for it
                    await asyncio.sleep(0.001)  # a thread needs real time

            assert found.dictionaries == 1
            assert handle.lister.namespace("default").get("c-3").data == {"text": "words " * 50}

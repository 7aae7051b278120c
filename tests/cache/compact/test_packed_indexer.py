"""A packed store reads like a plain one, and opens only what is accessed."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from weakref import ref

import pytest
from tests.cache.compact.packed_pods import PackedPods, pod

from listwatch.cache.compact.entry import _UNHELD, Entry, Instances
from listwatch.cache.deltas import AddedDelta, DeletedDelta, UpdatedDelta
from listwatch.cache.lister import Lister
from listwatch.meta import GroupResource
from listwatch.models.core_v1 import Pod
from listwatch.objects.untracked import is_supported

BY_NODE = {"node": lambda item: [item.spec.node_name], "app": lambda item: [item.labels["app"]]}


def is_packed(pods: PackedPods, key: str) -> bool:
    return type(pods.indexer.stored(key)) is Entry


def test_a_packed_object_equals_the_received_one() -> None:
    pods = PackedPods(10)

    assert is_packed(pods, "team-1/pod-4")
    found = pods.indexer.get("team-1/pod-4")
    assert found == pod(4)
    assert found is not None
    assert found.spec.containers[0].image == "registry.example.com/web:v1"
    assert found.to_dict()["kind"] == "Pod"


def test_reading_heads_opens_nothing() -> None:
    pods = PackedPods(30)
    lister = Lister(pods.indexer, GroupResource("", "pods"))

    for item in [*pods.indexer.list(), *lister.list("app=web"), *lister.namespace("team-1").list("app!=db")]:
        assert item.uid.startswith("0b8f1f2e")
        assert (item.resource_version, item.labels["app"]) == ("1", "web")
        assert item.copy().key == item.key
    assert lister.list(field_selector="metadata.name=pod-3")[0].name == "pod-3"
    assert pods.codec.opened == 0
    assert pods.indexer.get("team-0/pod-3").spec.node_name == "node-3"  # type: ignore[union-attr]  # it is stored
    assert pods.codec.opened == 1


def test_a_selector_makes_instances_of_the_matching_objects_only() -> None:
    pods = PackedPods(30)
    pods.indexer.add(pod(100, app="db"))
    pods.pack()

    found = Lister(pods.indexer, GroupResource("", "pods")).list("app=db")

    assert [item.name for item in found] == ["pod-100"]
    assert pods.instances.live == 1


def test_readers_get_the_same_instance_for_as_long_as_it_is_held() -> None:
    pods = PackedPods(3)

    held = pods.indexer.get("team-0/pod-0")
    assert pods.indexer.get("team-0/pod-0") is held
    assert held in [item for item in pods.indexer.by_index("namespace", "team-0") if item is held]
    assert pods.instances.live == 1
    del held
    gc.collect()
    assert pods.instances.live == 0


def test_an_object_that_is_held_while_it_is_packed_stays_the_instance() -> None:
    pods, received = PackedPods(), pod(1)
    pods.indexer.add(received)

    pods.pack()

    assert is_packed(pods, "team-1/pod-1")
    assert pods.indexer.get("team-1/pod-1") is received
    assert pods.indexer.by_index("namespace", "team-1") == [received]


@pytest.mark.skipif(_UNHELD < 0, reason="without the interpreter's lock, references cannot be counted")
def test_only_objects_that_are_held_while_they_are_packed_have_references() -> None:
    pods = PackedPods(3)
    for number in range(3):
        pods.indexer.add(pod(number, version=2))
    held = pods.indexer.get("team-1/pod-1")
    pods.pack()

    stored = [pods.indexer.stored(key) for key in ("team-0/pod-0", "team-1/pod-1", "team-2/pod-2")]
    assert [each.instance is not None for each in stored] == [False, True, False]
    assert stored[1].instance() is held


class Exchange:
    """The exchange of held objects for their entries."""

    def __init__(self, pods: PackedPods, count: int) -> None:
        self.pods = pods
        self.items = [pod(number, version=2) for number in range(count)]
        self.keys = [each.cache_key for each in self.items]
        self.held = [*self.items]
        for each in self.items:
            pods.indexer.add(each)
        pods.pending.complete()
        pods.pending.take().clear()  # the packer has no other references either
        blobs = [pods.codec.pack(each._raw) for each in self.items]
        self.entries = pods.instances.entries_of(self.items, blobs)

    def run(self) -> None:
        self.pods.indexer.exchange_all(self.keys, self.items, self.entries)

    def read(self) -> list[Pod | None]:
        return [self.pods.indexer.get(key) for key in self.keys]


def are_same(some: Iterable[object], others: Iterable[object]) -> bool:
    return all(one is other for one, other in zip(some, others, strict=True))


def test_a_thread_that_reads_an_object_while_it_is_packed_gets_the_held_instance() -> None:
    pods, found = PackedPods(3), list[Pod | None]()
    exchange = Exchange(pods, 3)
    reader = threading.Thread(target=lambda: found.extend(exchange.read()))

    with pods.instances.exchanging(exchange.items, exchange.entries):
        for key, item, entry in zip(exchange.keys, exchange.items, exchange.entries, strict=True):
            pods.indexer.exchange(key, item, entry)
        reader.start()
        reader.join(0.1)  # it waits for the end of the exchange
    reader.join()

    assert are_same(found, exchange.held)


def test_a_callback_that_reads_objects_while_they_are_packed_gets_the_held_instances() -> None:
    pods = PackedPods(100)
    exchange = Exchange(pods, 100)

    with pods.instances.exchanging(exchange.items, exchange.entries):
        for key, item, entry in zip(exchange.keys, exchange.items, exchange.entries, strict=True):
            pods.indexer.exchange(key, item, entry)
        found = exchange.read()

    assert are_same(found, exchange.held)
    assert are_same(exchange.read(), exchange.held)
    assert pods.instances.live == 100


def test_an_object_with_a_weak_reference_stays_the_instance() -> None:
    pods = PackedPods(1)
    exchange = Exchange(pods, 1)
    weak = ref(exchange.held.pop())
    exchange.run()

    assert weak() is pods.indexer.get(exchange.keys[0])


def test_held_objects_stay_the_instances_if_the_exchange_is_interrupted() -> None:
    pods = PackedPods(3)
    exchange = Exchange(pods, 3)

    def exchange_one() -> None:
        with pods.instances.exchanging(exchange.items, exchange.entries):
            pods.indexer.exchange(exchange.keys[1], exchange.items[1], exchange.entries[1])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        exchange_one()
    assert are_same(exchange.read(), exchange.held)


def test_an_object_that_has_changed_is_not_exchanged_for_its_packed_form() -> None:
    pods, before, after = PackedPods(), pod(1), pod(1, version=2)
    pods.indexer.add(before)
    packed = pods.instances.entry_of(before, pods.codec.pack(before._raw))
    pods.indexer.add(after)

    assert not pods.indexer.exchange("team-1/pod-1", before, packed)
    assert pods.indexer.get("team-1/pod-1") is after


def test_updates_and_deletions_return_the_old_object_without_opening_it() -> None:
    pods = PackedPods(3)

    updated = pods.indexer.apply([UpdatedDelta(pod(1, version=5), key="team-1/pod-1")])
    deleted = pods.indexer.apply([DeletedDelta(pod(2, version=6), key="team-2/pod-2")])

    (_, old), (_, last) = updated.applied[0], deleted.applied[0]
    assert old is not None
    assert last is not None
    assert (old.resource_version, last.name) == ("1", "pod-2")
    assert pods.codec.opened == 0
    assert old.spec.node_name == "node-1"


@pytest.mark.skipif(not is_supported, reason="objects are hidden from the garbage collector of CPython up to 3.13 only")
def test_the_garbage_collector_does_not_visit_instances_and_their_references() -> None:
    pods, items = PackedPods(4), [pod(number, version=2) for number in range(4)]
    old = [pods.indexer._store.put(each.cache_key, each) for each in items]
    held, packed = [*items], pods.instances.entries_of(items, [pods.codec.pack(each._raw) for each in items])
    pods.indexer.exchange_all([each.cache_key for each in items], items, packed)
    assert are_same((each.instance() for each in packed if each.instance), held)

    assert not any(map(gc.is_tracked, [*old, *pods.indexer.list(), *(each.instance for each in packed)]))


def test_indexes_find_packed_objects() -> None:
    pods = PackedPods(30, indexers=BY_NODE)
    opened = pods.codec.opened

    assert {item.name for item in pods.indexer.by_index("node", "node-2")} == {f"pod-{n}" for n in range(2, 30, 5)}
    assert [item.name for item in pods.indexer.by_indexes(node="node-2", namespace="team-0")] == ["pod-12", "pod-27"]
    assert pods.codec.opened == opened  # not even to combine indexes
    pods.indexer.add_indexers({"image": lambda item: [item.spec.containers[0].image]})
    assert len(pods.indexer.by_index("image", "registry.example.com/web:v1")) == 30
    pods.indexer.add(pod(2, version=9, node="node-0"))
    pods.pack()
    assert "pod-2" not in {item.name for item in pods.indexer.by_index("node", "node-2")}


def test_a_relist_of_known_entries_opens_nothing_and_calls_no_index_function() -> None:
    pods = PackedPods(30, indexers=BY_NODE)
    known = {key: pods.indexer.stored(key) for key in pods.indexer.keys()}  # noqa: SIM118  # a method of indexers
    del known["team-0/pod-0"]
    known["team-1/new"] = Pod.from_dict({"metadata": {"name": "new", "namespace": "team-1"}, "spec": {"nodeName": "x"}})
    known["team-1/new"].metadata.labels = {"app": "web"}
    opened = pods.codec.opened

    replacement = pods.indexer.prepare_replace(known, "50")
    for _ in replacement:
        pass
    applied = [each for part in replacement.commit(unchanged=False) for each in part]

    assert [(type(delta), delta.key) for delta, _ in applied] == [
        (DeletedDelta, "team-0/pod-0"),
        (AddedDelta, "team-1/new"),
    ]
    assert pods.codec.opened == opened
    assert len(pods.indexer.by_index("node", "node-1")) == 6
    assert pods.indexer.resource_version == "50"


def test_a_relist_can_also_yield_what_it_has_not_changed() -> None:
    pods = PackedPods(3)
    known = {key: pods.indexer.stored(key) for key in pods.indexer.keys()}  # noqa: SIM118  # a method of indexers

    applied = [each for part in pods.indexer.prepare_replace(known, "50").commit() for each in part]

    assert [delta.object is old for delta, old in applied] == [True, True, True]
    assert pods.codec.opened == 0


def test_pending_objects_are_those_of_complete_batches() -> None:
    pods = PackedPods(2)

    pods.indexer.add(pod(7))
    assert len(pods.pending) == 0
    pods.pending.complete()
    pods.indexer.add(pod(8))
    assert [*pods.pending.take()] == ["team-1/pod-7"]
    pods.pending.complete()
    assert len(pods.pending) == 1


def test_a_deleted_object_is_not_pending_any_more() -> None:
    pods = PackedPods(2)
    pods.indexer.add(pod(7))
    pods.pending.complete()
    taken = pods.pending.take()
    pods.indexer.add(pod(8))
    pods.pending.complete()

    pods.indexer.delete(pod(7, version=9))
    pods.indexer.delete(pod(8, version=9))

    assert len(pods.pending) == 0
    assert taken == {}


class AddingInstances(Instances[Pod]):
    """Lets another object be added while objects are read, as another thread can."""

    add: Callable[[], object]

    def all_of(self, stored: Iterable[object]) -> list[Pod]:
        found = iter(stored)
        first = next(found)
        self.add()
        return super().all_of([first, *found])


def test_objects_can_be_added_while_all_are_read() -> None:
    pods = PackedPods(3)
    pods.indexer.instances = instances = AddingInstances(Pod, pods.codec)
    instances.add = lambda: pods.indexer.add(pod(7))

    assert len(pods.indexer.list()) == 3


@pytest.mark.parametrize("position", [0, 20])
def test_a_weakref_callback_can_read_the_store_while_references_are_swept(position: int) -> None:
    pods = PackedPods(30)
    keys = sorted(pods.indexer.keys())
    held = [pods.indexer.get(key) for key in keys[:10]]
    entry = pods.indexer.stored(keys[0])
    seen: list[Pod | None] = []

    def reference() -> None:
        """Act as the reference to an object that is released by this call, and whose callback reads the store."""
        if not seen:
            seen.append(None)
            seen.extend(map(pods.indexer.get, keys[position : position + 5]))

    entry.instance = reference
    held.clear()

    assert pods.instances.live == 5
    assert [pods.indexer.get(key) for key in keys[position : position + 5]] == seen[1:]
    assert all(pods.indexer.get(each.cache_key) is each for each in seen if each is not None)
    seen.clear()
    assert pods.instances.live == 0


def test_threads_that_read_the_same_object_get_the_same_instance(short_switch_interval: None) -> None:
    pods = PackedPods(50)
    keys = pods.indexer.keys()
    failures: list[str] = []
    found: dict[int, list[Pod | None]] = {}
    is_read, is_compared = threading.Barrier(5), threading.Barrier(5)

    def read(number: int) -> None:
        for round_ in range(20):
            found[number] = [pods.indexer.get(key) for key in keys]
            for key, item in zip(keys, found[number], strict=True):
                if item is None or not (item.spec.node_name or "").startswith("node-"):
                    failures.append(f"{key} in round {round_}")
            is_read.wait()
            if number == 0:
                same = zip(*found.values(), strict=True)
                failures.extend(f"round {round_}" for each in same if len({id(item) for item in each}) > 1)
            is_compared.wait()
            found[number] = []  # releases the instances

    def write() -> None:
        for number in range(2000):
            pods.indexer.add(pod(100 + number % 50, version=number))
            if number % 50 == 0:
                pods.pack()

    threads = [*(threading.Thread(target=read, args=[number]) for number in range(5)), threading.Thread(target=write)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert failures == []


@pytest.fixture
def short_switch_interval() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def test_a_read_by_several_indexes_returns_objects_while_a_value_is_being_exchanged() -> None:
    pods = PackedPods(30, indexers=BY_NODE)
    pods.indexer._store.changes += 1  # as in the middle of an exchange

    found = pods.indexer.by_indexes(app="web", node="node-3")

    assert [item.spec.node_name for item in found] == ["node-3"] * len(found)
    assert found

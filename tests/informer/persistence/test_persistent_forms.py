"""The blobs of a compact store with a file are in the file only, whichever of packer and file was faster."""

from __future__ import annotations

from tests.cache.compact.packed_pods import codec, pod, raw_pod

from listwatch.cache.compact.entry import Entry, Instances
from listwatch.cache.compact.packed_indexer import PackedIndexer, PendingObjects
from listwatch.informer.persistence.persistent_forms import CompactForm
from listwatch.models.core_v1 import Pod

PLACE = 7


class Store:
    """A packed store with one object, and the form in which it is written."""

    def __init__(self) -> None:
        self.instances: Instances[Pod] = Instances(Pod, codec())
        self.indexer = PackedIndexer(instances=self.instances, pending=PendingObjects())
        self.form = CompactForm(self.indexer)
        self.pod = pod(1)
        self.key = self.pod.cache_key
        self.indexer.add(self.pod)

    def pack(self) -> Entry:
        """Pack the object while it is held."""
        stored = self.indexer.stored(self.key)
        (entry,) = self.instances.entries_of([stored], [self.instances.codec.pack(stored._raw)])
        self.indexer.exchange_all([self.key], [stored], [entry])
        return entry


def test_what_is_written_unpacked_is_replaced_by_its_place() -> None:
    store = Store()

    entry, blob = store.form.to_write(store.key, store.pod)
    store.form.written(store.key, store.pod, entry, PLACE)

    assert store.indexer.stored(store.key) is entry
    assert entry.blob == PLACE
    assert store.instances.codec.open(blob) == raw_pod(1)


def test_what_is_written_unpacked_is_not_kept_for_the_packer() -> None:
    store = Store()
    store.indexer.pending.complete()

    entry, _ = store.form.to_write(store.key, store.pod)
    store.form.written(store.key, store.pod, entry, PLACE)

    assert not len(store.indexer.pending)


def test_what_is_written_before_the_packer_comes_to_it_is_not_kept_for_it() -> None:
    store = Store()
    store.indexer.pending.complete()
    taken = store.indexer.pending.take()

    entry, _ = store.form.to_write(store.key, store.pod)
    store.form.written(store.key, store.pod, entry, PLACE)

    assert taken == {}


def test_a_later_version_stays_pending_when_the_earlier_one_is_written() -> None:
    store = Store()
    entry, _ = store.form.to_write(store.key, store.pod)
    store.indexer.update(pod(1))
    store.indexer.pending.complete()

    store.form.written(store.key, store.pod, entry, PLACE)

    assert len(store.indexer.pending) == 1


def test_what_is_packed_before_it_is_written_is_not_packed_again() -> None:
    store = Store()

    packed = store.pack()
    blob = packed.blob
    entry, written = store.form.to_write(store.key, store.pod)
    store.form.written(store.key, store.pod, entry, PLACE)

    assert entry is packed
    assert written is blob
    assert packed.blob == PLACE


def test_an_entry_that_leaves_the_store_while_it_is_written_keeps_its_bytes() -> None:
    store = Store()
    entry = store.pack()
    written, blob = store.form.to_write(store.key, entry)
    store.indexer.update(pod(1))

    store.form.written(store.key, entry, written, PLACE)

    assert written is entry
    assert entry.blob is blob


def test_what_is_packed_while_it_is_written_is_not_kept_in_memory() -> None:
    store = Store()

    entry, _ = store.form.to_write(store.key, store.pod)
    packed = store.pack()
    store.form.written(store.key, store.pod, entry, PLACE)

    assert store.indexer.stored(store.key) is packed
    assert packed.blob == PLACE


def test_another_object_of_the_same_version_keeps_its_own_bytes() -> None:
    store = Store()

    entry, _ = store.form.to_write(store.key, store.pod)
    store.indexer.add(pod(1))
    healed = store.pack()
    store.form.written(store.key, store.pod, entry, PLACE)

    assert healed.blob != PLACE
    assert store.indexer.stored(store.key) is healed

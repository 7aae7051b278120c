"""The classic DeltaFIFO: the deltas of one object are popped together."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.cache.pods import added, deleted, lost, pod, updated

from listwatch.cache.delta_fifo import DeltaFIFO
from listwatch.cache.deltas import DeletedDelta, ReplacedDelta, SyncDelta
from listwatch.cache.indexer import Indexer
from listwatch.cache.keys import key_of


def relisted(item):
    return ReplacedDelta(item, key=key_of(item))


def resynced(item):
    return SyncDelta(item, key=key_of(item))


def queue_over(*known, **options):
    """Return a queue by key, and the store of its consumer."""
    return DeltaFIFO(by_key=True, known={key_of(item): item for item in known}, **options)


def drained(queue):
    return list(iter(queue.pop_batch, []))


# --- Gathering --------------------------------------------------------------------------------------------------------


def test_the_deltas_of_one_object_are_collected_in_order():
    queue = DeltaFIFO(by_key=True)
    items = [pod("foo", 10), pod("foo", 12), pod("foo", 15)]
    queue.add(items[0])
    queue.add(pod("bar", 11))
    queue.update(items[1])
    queue.delete(items[2])

    assert len(queue) == 2
    assert drained(queue) == [[added(items[0]), updated(items[1]), deleted(items[2])], [added(pod("bar", 11))]]


def test_a_batch_is_all_deltas_of_one_object_regardless_of_the_limit():
    queue = DeltaFIFO(by_key=True)
    queue.add(pod("foo", 1))
    queue.update(pod("foo", 2))

    assert len(queue.pop_batch(1)) == 2


def test_objects_are_popped_in_the_order_of_their_first_delta():
    queue = DeltaFIFO(by_key=True)
    for name, version in (("foo", 10), ("bar", 1), ("foo", 11), ("foo", 13), ("zab", 30)):
        queue.add(pod(name, version))
    newest = [queue.pop_batch()[-1].object.resource_version]
    queue.add(pod("foo", 14))  # it was popped, so it goes to the end

    assert newest + [batch[-1].object.resource_version for batch in drained(queue)] == ["13", "1", "30", "14"]


def test_the_deletion_of_an_object_that_is_neither_queued_nor_known_is_dropped():
    queue = DeltaFIFO(by_key=True)
    queue.add(pod("qux", 17))
    queue.delete(pod("qux", 18))
    queue.delete(pod("baz", 20))

    assert drained(queue) == [[added(pod("qux", 17)), deleted(pod("qux", 18))]]


def test_the_deletion_of_a_known_object_is_queued():
    queue = queue_over(pod("foo", 5), pod("bar", 6), pod("baz", 7))
    queue.add(pod("foo", 10))
    queue.delete(pod("baz", 20))

    assert drained(queue) == [[added(pod("foo", 10))], [deleted(pod("baz", 20))]]


# --- Duplicate deletions ------------------------------------------------------------------------------------

V2, V3 = pod("foo", 2), pod("foo", 3)


@pytest.mark.parametrize("make", [queue_over, lambda: DeltaFIFO(by_key=True)], ids=["with known", "without known"])
@pytest.mark.parametrize(
    ("enqueue", "expected"),
    [
        (lambda q: (q.add(V2), q.replace([], "0")), [added(V2), lost("default/foo", V2)]),
        (
            lambda q: (q.add(V2), q.replace([V2], "0"), q.replace([], "0")),
            [added(V2), relisted(V2), lost("default/foo", V2)],
        ),
        (lambda q: (q.add(V2), q.delete(V2), q.replace([], "0")), [added(V2), deleted(V2)]),
        (
            lambda q: (q.add(V2), q.replace([V2], "0"), q.replace([V3], "0"), q.replace([], "0")),
            [added(V2), relisted(V2), relisted(V3), lost("default/foo", V3)],
        ),
        (lambda q: (q.add(V2), q.replace([], "0"), q.replace([], "1")), [added(V2), lost("default/foo", V2)]),
        (
            lambda q: (q.add(V2), q.delete(V2), q.add(V3), q.replace([], "0")),
            [added(V2), deleted(V2), added(V3), lost("default/foo", V3)],
        ),
    ],
    ids=["added", "relisted", "deleted", "relisted twice", "missing twice", "recreated"],
)
def test_a_list_deletes_an_object_that_is_only_queued_once(make, enqueue, expected):
    queue = make()
    enqueue(queue)

    assert drained(queue) == [expected]


def test_of_two_deletions_the_one_with_the_final_state_is_kept():
    queue = queue_over(pod("foo", 5))
    queue.replace([], "9")
    queue.delete(pod("foo", 8))
    assert drained(queue) == [[deleted(pod("foo", 8))]]

    queue.delete(pod("foo", 8))
    queue.replace([], "9")
    assert drained(queue) == [[deleted(pod("foo", 8))]]


def test_of_two_deletions_with_the_final_state_the_first_is_kept():
    queue = queue_over(pod("foo", 5))
    queue.delete(pod("foo", 6))
    queue.delete(pod("foo", 7))

    assert drained(queue) == [[deleted(pod("foo", 6))]]


# --- Lists ------------------------------------------------------------------------------------------------------------


def test_an_object_that_was_deleted_and_listed_again_has_both_deltas():
    old, new = pod("foo", 1), pod("foo", 2)
    queue = queue_over(old)
    queue.delete(old)
    queue.replace([new], "")

    assert drained(queue) == [[deleted(old), relisted(new)]]


FOO, BAR, BAZ = pod("foo", 5), pod("bar", 6), pod("baz", 7)


def test_a_list_deletes_known_objects_that_are_not_in_it():
    queue = queue_over(FOO, BAR, BAZ)
    queue.delete(pod("baz", 10))
    queue.replace([FOO], "0")

    assert drained(queue) == [[deleted(pod("baz", 10))], [relisted(FOO)], [lost("default/bar", BAR)]]


def test_a_list_deletes_a_queued_object_in_its_last_state():
    queue = queue_over(FOO, BAR, BAZ)
    queue.add(pod("baz", 10))
    queue.replace([FOO], "0")

    expected = [
        [added(pod("baz", 10)), lost("default/baz", pod("baz", 10))],
        [relisted(FOO)],
        [lost("default/bar", BAR)],
    ]
    assert drained(queue) == expected


def test_a_list_deletes_a_recreated_object_in_its_new_state():
    queue = queue_over(FOO, BAR, BAZ)
    queue.delete(BAR)
    queue.add(pod("bar", 100))
    queue.replace([FOO], "0")

    assert drained(queue) == [
        [deleted(BAR), added(pod("bar", 100)), lost("default/bar", pod("bar", 100))],
        [relisted(FOO)],
        [lost("default/baz", BAZ)],
    ]


def test_a_list_deletes_objects_of_an_earlier_list():
    queue = queue_over(FOO, BAR, BAZ)
    queue.replace([pod("bar", 100), FOO], "0")
    queue.replace([FOO], "0")

    assert drained(queue) == [
        [relisted(pod("bar", 100)), lost("default/bar", pod("bar", 100))],
        [relisted(FOO), relisted(FOO)],
        [lost("default/baz", BAZ)],
    ]


def test_a_known_key_without_an_object_is_deleted_without_one():
    class Forgetful(dict):
        def get(self, key, default=None):
            return None

    queue = DeltaFIFO(by_key=True, known=Forgetful({"default/foo": FOO}))
    queue.replace([], "0")

    assert drained(queue) == [[lost("default/foo")]]


# --- Resyncs ----------------------------------------------------------------------------------------------------------


def test_a_resync_queues_each_known_object():
    queue = queue_over(FOO, BAR)
    queue.resync()

    assert drained(queue) == [[resynced(FOO)], [resynced(BAR)]]


@pytest.mark.parametrize("enqueue", [DeltaFIFO.update, DeltaFIFO.delete])
def test_a_resync_skips_queued_objects_which_are_newer(enqueue):
    queue = queue_over(FOO)
    enqueue(queue, pod("foo", 6))
    queue.resync()

    [[delta]] = drained(queue)
    assert delta.object.resource_version == "6"


def test_a_resync_without_known_objects_queues_nothing():
    queue = DeltaFIFO(by_key=True)
    queue.resync()

    assert drained(queue) == []


def test_a_bookmark_is_ignored_by_key():
    calls = []
    queue = DeltaFIFO(by_key=True, on_ready=lambda: calls.append("woken"))
    queue.bookmark("9")
    queue.delete(pod("unknown"))

    assert (drained(queue), calls) == ([], [])


# --- Synced -----------------------------------------------------------------------------------------------------------


def process_one(queue):
    queue.processed(queue.pop_batch())


@pytest.mark.parametrize(
    ("actions", "synced"),
    [
        ([], False),
        ([lambda queue: queue.add(pod("a"))], True),
        ([lambda queue: queue.delete(pod("unknown"))], True),
        ([lambda queue: queue.replace([], "0")], True),
        ([lambda queue: queue.replace([pod("a"), pod("b")], "0")], False),
        ([lambda queue: queue.replace([pod("a"), pod("b")], "0"), process_one], False),
        ([lambda queue: queue.replace([pod("a"), pod("b")], "0"), process_one, process_one], True),
        ([lambda queue: queue.replace([pod("a", 1), pod("a", 2)], "0"), process_one], True),
        ([lambda queue: queue.replace([pod("a")], "0"), DeltaFIFO.pop_batch], False),
    ],
)
def test_a_queue_by_key_has_synced_when_each_object_of_the_first_list_was_processed(actions, synced):
    queue = DeltaFIFO(by_key=True)
    for action in actions:
        action(queue)

    assert queue.has_synced is synced


def test_the_deletions_of_the_first_list_count_for_the_sync():
    queue = queue_over(FOO, BAR, BAZ)
    queue.replace([FOO], "0")

    for _ in range(3):
        assert not queue.has_synced
        assert queue.is_in_initial_list
        process_one(queue)
    assert queue.has_synced


def test_deltas_after_the_first_list_do_not_delay_the_sync():
    queue = DeltaFIFO(by_key=True)
    queue.replace([pod("a")], "0")
    queue.add(pod("b"))
    process_one(queue)

    assert queue.has_synced


# --- Transforms -------------------------------------------------------------------------------------------------------


def test_resynced_objects_are_not_transformed_again():
    def count_up(item):
        labels = item.metadata.labels
        labels["transformed"] = str(int(labels.get("transformed", "0")) + 1)
        return item

    known = pod("known", 1)
    queue = queue_over(known, transform=count_up)
    queue.resync()
    queue.add(pod("foo", 10))
    queue.add(pod("bar", 11))
    queue.update(pod("foo", 12))
    queue.delete(pod("foo", 15))
    queue.replace([], "")
    queue.add(pod("bar", 16))
    queue.replace([], "")

    batches = drained(queue)
    assert [batch[-1] for batch in batches[1:]] == [
        deleted(pod("foo", 15, labels={"transformed": "1"})),
        lost("default/bar", pod("bar", 16, labels={"transformed": "1"})),
    ]
    assert batches[0] == [resynced(known), lost("default/known", known)]
    assert dict(known.labels) == {}


# --- Any sequence of all that -----------------------------------------------------------------------------------------

POD_NAMES = st.sampled_from(["a", "b", "c"])


class DeltaFIFOByKeyAgainstTheTruth(RuleBasedStateMachine):
    """The consumer's store, and the history of each object in it, against the queued deltas."""

    @initialize()
    def start(self):
        self.store = Indexer()
        self.queue = DeltaFIFO(by_key=True, known=self.store)
        self.truth = {}
        self.seen = {}
        self.version = 0

    def new_pod(self, name):
        self.version += 1
        return pod(name, self.version)

    @rule(name=POD_NAMES, change=st.booleans())
    def put(self, name, change):
        item = self.new_pod(name)
        (self.queue.update if change else self.queue.add)(item)
        self.truth[key_of(item)] = item

    @rule(name=POD_NAMES)
    def delete(self, name):
        item = self.new_pod(name)
        self.queue.delete(item)
        self.truth.pop(key_of(item), None)

    @rule(listed=st.lists(POD_NAMES, unique=True))
    def replace(self, listed):
        items = [self.new_pod(name) for name in listed]
        self.queue.replace(items, str(self.version))
        self.truth = {key_of(item): item for item in items}

    @rule()
    def resync(self):
        self.queue.resync()

    @rule()
    def process(self):
        batch = self.queue.pop_batch()
        assert len({delta.key for delta in batch}) <= 1
        for delta, old in self.store.apply(batch).applied:
            self.check(delta, old)
        self.queue.processed(batch)

    def check(self, delta, old):
        versions = self.seen.setdefault(delta.key, [0])
        if isinstance(delta, DeletedDelta):
            assert delta.object is not None
            # A deletion is not repeated, unless the object was created again.
            assert versions[-1] != "gone"
            versions.append("gone")
        else:
            newest = [version for version in versions if version != "gone"][-1]
            version = int(delta.object.resource_version)
            assert version > newest or (isinstance(delta, SyncDelta) and version == newest and old is not None)
            versions.append(version)

    @invariant()
    def at_most_one_batch_of_each_object_is_waiting(self):
        assert len(self.queue) <= 3

    def teardown(self):
        if not hasattr(self, "queue"):
            return
        while self.queue:
            self.process()
        assert {key_of(item): item for item in self.store} == self.truth


TestDeltaFIFOByKeyAgainstTheTruth = DeltaFIFOByKeyAgainstTheTruth.TestCase
TestDeltaFIFOByKeyAgainstTheTruth.settings = settings(stateful_step_count=30)

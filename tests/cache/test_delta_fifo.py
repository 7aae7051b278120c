import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.cache.pods import added, deleted, lost, pod, updated

from listwatch.cache.delta_fifo import DeltaFIFO
from listwatch.cache.deltas import BookmarkDelta, ReplacedAllDelta, SyncAllDelta
from listwatch.cache.indexer import Indexer
from listwatch.cache.keys import key_of
from listwatch.errors import BadKeyError, TransformError, UsageError
from listwatch.models.core_v1 import Pod


def replaced(items, version):
    return ReplacedAllDelta({key_of(item): item for item in items}, version)


def drained(queue):
    """Pop all batches."""
    return list(iter(queue.pop_batch, []))


def popped(queue):
    """Pop all deltas."""
    return [delta for batch in drained(queue) for delta in batch]


# --- Order ------------------------------------------------------------------------------------------------------------


def test_deltas_are_popped_in_the_order_in_which_they_were_queued():
    queue = DeltaFIFO()
    first, second, third = pod("foo", 10), pod("foo", 12), pod("foo", 15)
    queue.add(first)
    queue.update(second)
    queue.delete(third)

    assert popped(queue) == [added(first), updated(second), deleted(third)]
    assert len(queue) == 0


def test_two_producers_each_keep_their_order():
    queue = DeltaFIFO()
    for number in range(500):
        queue.add(pod(f"a-{number}", number))
        queue.update(pod(f"b-{number}", number))

    deltas = popped(queue)
    for prefix in ("a", "b"):
        versions = [int(delta.object.resource_version) for delta in deltas if delta.object.name.startswith(prefix)]
        assert versions == list(range(500))


def test_the_deletion_of_an_unknown_object_is_queued():
    queue = DeltaFIFO()
    queue.add(pod("qux", 17))
    queue.delete(pod("qux", 18))
    queue.delete(pod("baz", 20))
    queue.delete(pod("baz", 20))

    assert popped(queue) == [added(pod("qux", 17)), *map(deleted, (pod("qux", 18), pod("baz", 20), pod("baz", 20)))]


def test_no_delta_overtakes_another():
    queue = DeltaFIFO()
    for name, version in (("foo", 10), ("bar", 1), ("foo", 11), ("foo", 13), ("zab", 30)):
        queue.add(pod(name, version))
    versions = [delta.object.resource_version for delta in queue.pop_batch(1)]
    queue.add(pod("foo", 14))
    versions += [delta.object.resource_version for delta in popped(queue)]

    assert versions == ["10", "1", "11", "13", "30", "14"]


def test_a_list_is_one_delta_of_all_objects_even_of_none():
    queue = DeltaFIFO()
    old, new = pod("foo", 1), pod("foo", 2)
    queue.delete(old)
    queue.replace([new, pod("bar", 3)], "4")
    queue.replace([], "5")

    assert popped(queue) == [deleted(old), replaced([new, pod("bar", 3)], "4"), replaced([], "5")]


def test_all_lists_are_popped_in_order():
    queue = DeltaFIFO()
    queue.add(pod("foo"))
    for version in ("10", "20"):
        queue.replace([pod("foo")], version)
    queue.replace([], "56")

    expected = [added(pod("foo")), replaced([pod("foo")], "10"), replaced([pod("foo")], "20"), replaced([], "56")]
    assert popped(queue) == expected


def test_bookmarks_and_resyncs_keep_their_place():
    queue = DeltaFIFO()
    queue.bookmark("123")
    queue.replace([], "1234")
    queue.add(pod("foo"))
    queue.resync()
    queue.bookmark("2000")

    assert popped(queue) == [
        BookmarkDelta("123"),
        replaced([], "1234"),
        added(pod("foo")),
        SyncAllDelta(),
        BookmarkDelta("2000"),
    ]


def test_the_last_object_with_a_key_in_a_list_is_kept():
    queue = DeltaFIFO()
    queue.replace([pod("a", 1), pod("b", 1), pod("a", 2)], "3")

    [[delta]] = drained(queue)
    assert list(delta.objects.values()) == [pod("a", 2), pod("b", 1)]


def test_known_objects_are_rejected_without_by_key():
    with pytest.raises(UsageError, match="by_key=True"):
        DeltaFIFO(known=Indexer())


# --- Batches ----------------------------------------------------------------------------------------------------------


def test_deltas_of_different_objects_are_popped_in_one_batch():
    queue = DeltaFIFO()
    items = [pod("foo1"), pod("foo2"), pod("foo3")]
    for item in items:
        queue.update(item)

    assert drained(queue) == [[updated(item) for item in items]]


@pytest.mark.parametrize(
    ("order", "batches"),
    [
        ("1 1 1", ["1", "1", "1"]),
        ("1 2 2 3", ["1 2", "2 3"]),
        ("1 2 3 2", ["1 2 3", "2"]),
        ("1 2 1 2", ["1 2", "1 2"]),
    ],
)
def test_a_batch_ends_before_the_second_delta_of_one_object(order, batches):
    queue = DeltaFIFO()
    for name in order.split():
        queue.update(pod(name))

    assert [" ".join(delta.object.name for delta in batch) for batch in drained(queue)] == batches


def test_a_batch_is_limited_and_has_at_most_a_thousand_deltas_by_default():
    queue = DeltaFIFO()
    for number in range(2500):
        queue.add(pod(f"web-{number}"))

    assert len(queue.pop_batch(2)) == 2
    assert [len(batch) for batch in drained(queue)] == [1000, 1000, 498]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_rejected(limit):
    with pytest.raises(UsageError, match=rf"limit={limit}\) can never return a delta"):
        DeltaFIFO().pop_batch(limit)


def test_a_delta_of_all_objects_is_popped_alone():
    queue = DeltaFIFO()
    one, two = pod("one"), pod("two")
    queue.replace([one], "1")
    queue.add(one)
    queue.bookmark("2")
    queue.bookmark("3")
    queue.add(two)
    queue.resync()
    queue.replace([], "4")

    expected = [
        [replaced([one], "1")],
        [added(one)],
        [BookmarkDelta("2")],
        [BookmarkDelta("3")],
        [added(two)],
        [SyncAllDelta()],
    ]
    assert drained(queue) == [*expected, [replaced([], "4")]]


def test_an_empty_queue_returns_an_empty_batch():
    assert list(DeltaFIFO().pop_batch()) == []


# --- Synced -----------------------------------------------------------------------------------------------------------


def test_a_new_queue_has_not_synced():
    queue = DeltaFIFO()
    queue.bookmark("1")
    queue.resync()

    assert (queue.has_synced, queue.is_in_initial_list) == (False, True)


@pytest.mark.parametrize("enqueue", [DeltaFIFO.add, DeltaFIFO.update, DeltaFIFO.delete])
def test_a_queue_with_a_delta_before_any_list_has_synced_at_once(enqueue):
    queue = DeltaFIFO()
    enqueue(queue, pod("a"))
    assert queue.has_synced
    queue.replace([pod("a")], "1")

    assert queue.has_synced


@pytest.mark.parametrize("items", [[], [pod("a"), pod("b")]])
def test_a_queue_has_synced_when_the_first_list_was_processed_not_when_it_was_popped(items):
    queue = DeltaFIFO()
    queue.replace(items, "0")
    assert not queue.has_synced
    batch = queue.pop_batch()
    assert (queue.has_synced, queue.is_in_initial_list) == (False, True)
    queue.processed(batch)

    assert (queue.has_synced, queue.is_in_initial_list) == (True, False)


def test_a_synced_queue_stays_synced():
    queue = DeltaFIFO()
    queue.replace([], "0")
    queue.processed(queue.pop_batch())
    queue.replace([pod("a")], "1")

    assert queue.has_synced


def test_deltas_popped_before_the_first_list_do_not_count_for_it():
    queue = DeltaFIFO()
    queue.resync()
    earlier = queue.pop_batch()
    queue.replace([pod("a")], "0")
    queue.processed(earlier)
    assert not queue.has_synced
    queue.processed(queue.pop_batch())

    assert queue.has_synced


def test_deltas_queued_before_the_first_list_must_be_processed_for_the_sync():
    queue = DeltaFIFO()
    queue.bookmark("1")
    queue.replace([], "2")
    queue.processed(queue.pop_batch())
    assert not queue.has_synced
    queue.processed(queue.pop_batch())

    assert queue.has_synced


# --- Waking the consumer ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "enqueue",
    [
        lambda queue: queue.add(pod("a")),
        lambda queue: queue.update(pod("a")),
        lambda queue: queue.delete(pod("a")),
        lambda queue: queue.replace([], "1"),
        lambda queue: queue.resync(),
        lambda queue: queue.bookmark("1"),
    ],
)
def test_on_ready_is_called_when_the_queue_is_no_longer_empty(enqueue):
    calls = []
    queue = DeltaFIFO(on_ready=lambda: calls.append(len(queue)))
    enqueue(queue)
    enqueue(queue)
    assert calls == [1]
    drained(queue)
    enqueue(queue)

    assert calls == [1, 1]


def test_close_calls_on_ready_and_the_rest_can_be_popped():
    calls = []
    queue = DeltaFIFO()
    queue.add(pod("a"))
    queue.on_ready = lambda: calls.append("woken")
    queue.close()

    assert (calls, queue.is_closed) == (["woken"], True)
    assert popped(queue) == [added(pod("a"))]
    queue.add(pod("b"))
    assert popped(queue) == [added(pod("b"))]


def test_the_repr_of_a_queue_shows_its_length_and_state():
    queue = DeltaFIFO()
    queue.replace([], "1")
    assert repr(queue) == "<DeltaFIFO of 1, not synced>"
    queue.processed(queue.pop_batch())
    queue.close()

    assert repr(queue) == "<DeltaFIFO of 0, closed, synced>"


# --- Transforms -------------------------------------------------------------------------------------------------------


def count_up(item):
    labels = item.metadata.labels
    labels["transformed"] = str(int(labels.get("transformed", "0")) + 1)
    return item


def fail_on_bad(item):
    if item.name.startswith("bad"):
        raise ValueError("boom")
    return item


def transformed(delta):
    return delta.object.labels["transformed"]


def test_each_object_is_transformed_once_when_it_is_queued():
    queue = DeltaFIFO(transform=count_up)
    queue.add(pod("foo", 10))
    queue.update(pod("foo", 12))
    queue.delete(pod("foo", 15))
    queue.replace([pod("bar", 16)], "17")
    queue.resync()

    *events, listed, _ = popped(queue)
    assert [transformed(delta) for delta in events] == ["1", "1", "1"]
    assert [item.labels["transformed"] for item in listed.objects.values()] == ["1"]


def test_a_list_can_be_filled_in_parts_and_is_transformed_once():
    queue = DeltaFIFO(transform=count_up)
    relist = queue.relist()
    relist.extend([pod("a", 1), pod("b", 1)])
    relist.put(pod("c", 2))
    relist.put(pod("a", 3))
    relist.discard(pod("b", 4))
    relist.discard(pod("unknown", 4))
    assert (len(relist), len(queue)) == (2, 0)
    queue.replace(relist, "5")
    relist.put(pod("too-late"))

    [[listed]] = drained(queue)
    assert [(key, item.resource_version) for key, item in listed.objects.items()] == [
        ("default/a", "3"),
        ("default/c", "2"),
    ]
    assert {item.labels["transformed"] for item in listed.objects.values()} == {"1"}


def test_a_transform_may_return_another_object():
    queue = DeltaFIFO(transform=lambda item: pod(item.name, 99))
    queue.add(pod("a", 1))

    assert popped(queue) == [added(pod("a", 99))]


def test_an_event_that_the_transform_fails_on_is_dropped_and_reported():
    dropped = []
    queue = DeltaFIFO(transform=fail_on_bad, on_dropped=lambda item, error: dropped.append((item.name, str(error))))
    queue.add(pod("bad-1"))
    queue.update(pod("bad-2"))
    queue.add(pod("good"))

    assert popped(queue) == [added(pod("good"))]
    assert dropped == [
        ("bad-1", "the transform failed on default/bad-1: boom"),
        ("bad-2", "the transform failed on default/bad-2: boom"),
    ]


def test_a_deletion_is_queued_by_key_if_the_transform_fails():
    dropped = []
    queue = DeltaFIFO(transform=fail_on_bad, on_dropped=lambda item, error: dropped.append(item.name))
    queue.delete(pod("bad-1"))

    assert popped(queue) == [lost("default/bad-1")]
    assert dropped == ["bad-1"]


def test_a_deletion_keeps_its_key_if_the_transform_changes_the_object_and_fails():
    def empty_out(item):
        item.metadata.name = ""

    queue = DeltaFIFO(transform=empty_out, on_dropped=lambda item, error: None)
    queue.delete(pod("a"))

    assert popped(queue) == [lost("default/a")]


def test_the_error_of_a_dropped_object_is_raised_without_on_dropped():
    queue = DeltaFIFO(transform=fail_on_bad)
    with pytest.raises(TransformError, match="failed on default/bad-1: boom") as caught:
        queue.add(pod("bad-1"))
    with pytest.raises(TransformError):
        queue.delete(pod("bad-1"))

    assert isinstance(caught.value.__cause__, ValueError)
    assert popped(queue) == []


def test_a_list_fails_if_the_transform_fails_on_one_object():
    queue = DeltaFIFO(transform=fail_on_bad, on_dropped=lambda item, error: None)
    with pytest.raises(TransformError, match="the transform failed on default/bad-1: boom"):
        queue.replace([pod("good"), pod("bad-1")], "1")

    assert (len(queue), queue.has_synced) == (0, False)


def test_an_object_with_a_part_that_the_transform_cannot_decode_is_queued_as_it_was_received_and_reported():
    def touch(item):
        assert item.spec is not None
        return item

    odd = Pod.from_wire(b'{"metadata":{"name":"odd","namespace":"default"},"spec":{"nodeName":7}}')
    reported = []
    queue = DeltaFIFO(transform=touch, on_dropped=lambda _, error: reported.append(str(error)))
    queue.add(odd)
    listed = queue.relist()
    listed.extend([odd])

    assert [delta.key for delta in popped(queue)] == ["default/odd"]
    assert [*listed.take_objects()] == ["default/odd"]
    reason = "Pod default/odd: spec.nodeName: expected str | null, got int"
    assert reported == [f"the transform failed on default/odd, which is stored as it was received: {reason}"] * 2


@pytest.mark.parametrize(
    ("transform", "complaint"),
    [
        (lambda item: None, "the transform returned None for default/a; it must return an object"),
        (lambda item: pod("b"), "the transform changed the key default/a to default/b; it must not change it"),
        (lambda item: pod(""), "the transform failed on default/a: <Pod without a name @1> has no metadata.name"),
    ],
)
def test_a_transform_must_return_an_object_with_the_same_key(transform, complaint):
    with pytest.raises(TransformError, match=complaint):
        DeltaFIFO(transform=transform).add(pod("a"))


def test_an_object_without_a_name_is_dropped_and_reported_or_fails_its_list():
    dropped = []
    queue = DeltaFIFO(on_dropped=lambda item, error: dropped.append(error))
    queue.add(pod(""))
    queue.delete(pod(""))
    with pytest.raises(BadKeyError, match=r"has no metadata\.name"):
        queue.replace([pod("a"), pod("")], "1")

    assert [type(error) for error in dropped] == [BadKeyError, BadKeyError]
    assert popped(queue) == []


# --- Any sequence of all that -----------------------------------------------------------------------------------------

POD_NAMES = st.sampled_from(["a", "b", "c"])


class DeltaFIFOAgainstAList(RuleBasedStateMachine):
    """The model is the list of all queued deltas; the popped ones are always its beginning."""

    @initialize()
    def start(self):
        self.queue = DeltaFIFO()
        self.store = Indexer()
        self.queued = []
        self.popped = 0
        self.synced_after = None
        self.truth = {}
        self.version = 0

    def new_pod(self, name):
        self.version += 1
        return pod(name, self.version)

    @rule(name=POD_NAMES, change=st.booleans())
    def put(self, name, change):
        item = self.new_pod(name)
        (self.queue.update if change else self.queue.add)(item)
        self.queued.append((updated if change else added)(item))
        self.truth[key_of(item)] = item
        self.populated_by_an_event()

    @rule(name=POD_NAMES)
    def delete(self, name):
        item = self.new_pod(name)
        self.queue.delete(item)
        self.queued.append(deleted(item))
        self.truth.pop(key_of(item), None)
        self.populated_by_an_event()

    def populated_by_an_event(self):
        self.synced_after = 0 if self.synced_after is None else self.synced_after

    @rule(listed=st.lists(POD_NAMES, unique=True))
    def replace(self, listed):
        items = [self.new_pod(name) for name in listed]
        self.queue.replace(items, str(self.version))
        self.queued.append(replaced(items, str(self.version)))
        self.truth = {key_of(item): item for item in items}
        self.synced_after = len(self.queued) if self.synced_after is None else self.synced_after

    @rule()
    def resync(self):
        self.queue.resync()
        self.queued.append(SyncAllDelta())

    @rule()
    def bookmark(self):
        self.version += 1
        self.queue.bookmark(str(self.version))
        self.queued.append(BookmarkDelta(str(self.version)))

    @rule(limit=st.integers(1, 4))
    def pop(self, limit):
        batch = self.queue.pop_batch(limit)
        rest = self.queued[self.popped :]
        assert list(batch) == rest[: len(batch)]
        assert len(batch) == self.expected_length(rest, limit)
        self.popped += len(batch)
        self.carry_out(batch)
        self.queue.processed(batch)

    def expected_length(self, rest, limit):
        """Return the expected batch: up to the limit, a repeated key, or a delta of all objects."""
        alone = (ReplacedAllDelta, SyncAllDelta, BookmarkDelta)
        keys = []
        for delta in rest[:limit]:
            if isinstance(delta, alone) or delta.key in keys:
                return len(keys) or 1
            keys.append(delta.key)
        return len(keys)

    def carry_out(self, batch):
        match list(batch):
            case [ReplacedAllDelta(objects, version)]:
                self.store.replace(objects, version)
            case [BookmarkDelta(version)]:
                self.store.bookmark(version)
            case [SyncAllDelta()]:
                pass
            case changes:
                assert self.store.apply(changes).failures == []

    @invariant()
    def nothing_is_lost(self):
        assert len(self.queue) == len(self.queued) - self.popped

    @invariant()
    def it_has_synced_when_all_up_to_the_first_list_was_processed(self):
        assert self.queue.has_synced is (self.synced_after is not None and self.popped >= self.synced_after)

    def teardown(self):
        if not hasattr(self, "queue"):
            return
        while self.queue:
            self.pop(1000)
        assert {key_of(item): item for item in self.store} == self.truth
        if any(not isinstance(delta, SyncAllDelta) for delta in self.queued):
            assert self.store.resource_version == str(self.version)


TestDeltaFIFOAgainstAList = DeltaFIFOAgainstAList.TestCase
TestDeltaFIFOAgainstAList.settings = settings(stateful_step_count=30)

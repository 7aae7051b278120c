"""The contract of a storage, in memory and in a file."""

import copy
import pickle
from collections.abc import Callable, Iterator

import pytest

from listwatch.meta import ObjectKey
from listwatch.server.storage.sqlite_journal import open_storage
from listwatch.server.storage.storage import Storage
from listwatch.server.storage.values import (
    Event,
    JournalError,
    KeyExistsError,
    KeyMissingError,
    RevisionCompactedError,
    RevisionConflictError,
    RevisionTooLargeError,
    Stored,
)

PODS = "core/pods"
NODES = "core/nodes"


class Hand:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture(params=["memory", "sqlite"])
def make(request: pytest.FixtureRequest, tmp_path) -> Iterator[Callable[..., Storage]]:
    made: list[Storage] = []

    def make_one(**options) -> Storage:
        made.append(Storage(**options) if request.param == "memory" else open_storage(tmp_path, **options))
        return made[-1]

    yield make_one
    for storage in made:
        storage.close()


@pytest.fixture
def storage(make) -> Storage:
    return make()


def key(path: str) -> ObjectKey:
    return ObjectKey.parse(path)


def numbered(revision: int) -> bytes:
    return b"at %d" % revision


def create(storage: Storage, *paths: str, resource: str = PODS) -> list[Stored]:
    return [storage.create(resource, key(path), numbered) for path in paths]


def paths(found) -> list[str]:
    return [str(stored.key) for stored in found]


def seen(events) -> list[tuple[int, str, str, bytes]]:
    return [(event.revision, event.type, str(event.key), event.value) for event in events]


# --- Writes


def test_an_empty_storage_is_at_revision_one_and_its_first_write_gets_two(storage):
    assert storage.revision == storage.list(PODS).revision == 1
    assert [stored.revision for stored in create(storage, "default/a", "default/b")] == [2, 3]
    assert storage.revision == 3


def test_the_bytes_are_those_made_for_the_revision_of_the_write(storage):
    create(storage, "default/a", "default/b")
    storage.update(PODS, key("default/a"), numbered)
    assert [(stored.value, stored.revision) for stored in storage.list(PODS).items] == [(b"at 4", 4), (b"at 3", 3)]


def test_the_revision_is_one_for_all_resources(storage):
    create(storage, "default/a")
    create(storage, "n1", resource=NODES)
    assert storage.get(NODES, key("n1")).revision == storage.revision == 3
    assert storage.get(PODS, key("n1")) is None


def test_a_key_can_be_created_once_until_it_is_deleted(storage):
    create(storage, "default/a")
    with pytest.raises(KeyExistsError, match="create core/pods default/a"):
        create(storage, "default/a")
    storage.delete(PODS, key("default/a"), numbered)
    assert create(storage, "default/a")[0].revision == 4


@pytest.mark.parametrize("verb", ["update", "delete"])
def test_a_missing_object_cannot_be_updated_or_deleted(storage, verb):
    with pytest.raises(KeyMissingError, match=f"{verb} core/pods default/a"):
        getattr(storage, verb)(PODS, key("default/a"), numbered)


@pytest.mark.parametrize("verb", ["update", "delete"])
def test_a_write_that_expects_another_revision_conflicts(storage, verb):
    create(storage, "default/a")
    storage.update(PODS, key("default/a"), numbered, expected=2)
    with pytest.raises(RevisionConflictError, match="it is at revision 3, not at 2"):
        getattr(storage, verb)(PODS, key("default/a"), numbered, expected=2)
    assert getattr(storage, verb)(PODS, key("default/a"), numbered, expected=3).revision == 4


def test_a_rejected_write_changes_and_publishes_nothing(storage):
    create(storage, "default/a")
    received: list[Event] = []
    storage.subscribe(received.append)

    def unable(revision: int) -> bytes:
        raise ValueError(revision)

    with pytest.raises(KeyExistsError):
        create(storage, "default/a")
    with pytest.raises(ValueError, match="3"):
        storage.update(PODS, key("default/a"), unable)
    assert (storage.revision, storage.get(PODS, key("default/a")).value, received) == (2, b"at 2", [])


def test_a_delete_leaves_its_own_bytes_as_the_last_state(storage):
    (created,) = create(storage, "default/a")
    last = storage.delete(PODS, key("default/a"), numbered)
    (event,) = storage.events(PODS, after=2)
    assert storage.get(PODS, key("default/a")) is None
    assert (event.type, event.stored, event.previous, event.value) == ("DELETED", last, created, b"at 3")


# --- Lists


def test_a_list_is_in_the_order_of_etcds_keys(storage):
    # Each of - . 0 sorts on another side of the slash; é is two bytes.
    created = ["a/x", "a-b/x", "a.b/x", "a0/x", "a/é", "a/xx", "a/x.y", "a/x-y"]
    create(storage, *created)
    assert paths(storage.list(PODS).items) == sorted(created, key=str.encode)
    assert paths(storage.list(PODS).items)[:3] == ["a-b/x", "a.b/x", "a/x"]


def test_a_list_of_a_namespace_has_only_its_objects(storage):
    create(storage, "a/x", "a-b/x", "a0/x", "aa/x", "a/y")
    assert paths(storage.list(PODS, namespace="a").items) == ["a/x", "a/y"]
    assert paths(storage.list(PODS, namespace="b").items) == []
    assert storage.count(PODS, namespace="a") == 2


def test_a_list_may_start_after_a_key_that_is_deleted_or_in_another_namespace(storage):
    create(storage, "a/x", "b/x", "b/z")
    assert paths(storage.list(PODS, start_after=key("b/y")).items) == ["b/z"]
    assert paths(storage.list(PODS, namespace="b", start_after=key("a/x")).items) == ["b/x", "b/z"]
    assert storage.list(PODS, namespace="a", start_after=key("b/x")).items == ()
    assert storage.count(PODS, namespace="a", start_after=key("b/x")) == 0


def test_pages_have_the_remaining_count_and_the_next_key(storage):
    create(storage, *(f"default/{letter}" for letter in "abcde"))
    first = storage.list(PODS, limit=2)
    second = storage.list(PODS, limit=2, revision=first.revision, start_after=first.next)
    last = storage.list(PODS, limit=2, revision=first.revision, start_after=second.next)
    assert [paths(page.items) for page in (first, second, last)] == [
        ["default/a", "default/b"],
        ["default/c", "default/d"],
        ["default/e"],
    ]
    assert [(page.remaining, page.next) for page in (first, second, last)] == [
        (3, key("default/b")),
        (1, key("default/d")),
        (0, None),
    ]


def test_a_page_that_ends_with_the_last_object_is_the_last_page(storage):
    create(storage, "default/a", "default/b")
    page = storage.list(PODS, limit=2)
    assert (len(page.items), page.remaining, page.next) == (2, 0, None)


def test_pages_are_of_one_snapshot_during_writes(storage):
    create(storage, "default/a", "default/b", "default/c", "default/d")
    page = storage.list(PODS, limit=1)
    storage.delete(PODS, key("default/b"), numbered)
    storage.update(PODS, key("default/c"), numbered)
    create(storage, "default/bb", "default/b")
    rest = storage.list(PODS, limit=10, revision=page.revision, start_after=page.next)
    assert [(str(stored.key), stored.revision) for stored in rest.items] == [
        ("default/b", 3),
        ("default/c", 4),
        ("default/d", 5),
    ]
    assert (page.remaining, rest.remaining, rest.revision) == (3, 0, 5)


def test_a_scan_stays_at_its_revision_while_it_is_suspended():
    created = [f"default/{number:04d}" for number in range(1200)]
    storage = Storage()
    create(storage, *created)
    scan = storage.scan(PODS)
    found = [next(scan)]
    for path in created[::3]:
        storage.delete(PODS, key(path), numbered)
        create(storage, f"{path}-new")
    for path in created[1::3]:
        storage.update(PODS, key(path), numbered)
    found += scan
    assert paths(found) == created
    assert [stored.revision for stored in found] == [*range(2, 1202)]


def test_a_scan_continues_after_events_that_it_has_read_are_dropped():
    storage = Storage(max_events=300)
    created = [f"default/{number:04d}" for number in range(1200)]
    create(storage, *created)
    found = []
    for stored in storage.scan(PODS):
        found.append(stored)
        if len(found) % 2:
            storage.update(PODS, key("default/1199"), numbered)
    assert paths(found) == created
    assert found[-1].revision == 1201 < storage.compacted_revision


def test_a_scan_of_a_revision_that_is_compacted_meanwhile_raises():
    storage = Storage(max_events=3)
    create(storage, *(f"default/{number:04d}" for number in range(501)))
    scan = storage.scan(PODS)
    next(scan)
    for _ in range(4):
        storage.update(PODS, key("default/0500"), numbered)
    with pytest.raises(RevisionCompactedError):
        list(scan)


def test_a_few_created_and_deleted_objects_among_many_are_listed_in_order():
    storage = Storage()
    create(storage, *(f"default/{number:03d}" for number in range(200)))
    assert storage.count(PODS) == 200
    create(storage, "default/100-a", "default/zzz")
    storage.delete(PODS, key("default/050"), numbered)
    storage.delete(PODS, key("default/zzz"), numbered)
    assert len(storage.list(PODS).items) == storage.count(PODS) == 200
    assert paths(storage.scan(PODS, start_after=key("default/049")))[0] == "default/051"
    assert paths(storage.scan(PODS, start_after=key("default/100")))[0] == "default/100-a"


# --- Events, and how they are forgotten


def test_events_after_a_revision_are_those_of_one_resource_or_of_all(storage):
    create(storage, "default/a")
    create(storage, "n1", resource=NODES)
    storage.update(PODS, key("default/a"), numbered)
    assert seen(storage.events(PODS, after=1)) == [
        (2, "ADDED", "default/a", b"at 2"),
        (4, "MODIFIED", "default/a", b"at 4"),
    ]
    assert [event.revision for event in storage.events(after=2)] == [3, 4]
    assert storage.events(NODES, after=4) == []


def test_an_event_has_the_previous_state(storage):
    (created,) = create(storage, "default/a")
    updated = storage.update(PODS, key("default/a"), numbered)
    assert [(event.previous, event.stored) for event in storage.events(PODS, after=1)] == [
        (None, created),
        (created, updated),
    ]


@pytest.mark.parametrize("read", ["list", "scan", "count", "events"])
def test_a_revision_greater_than_the_current_one_cannot_be_read(storage, read):
    create(storage, "default/a")
    with pytest.raises(RevisionTooLargeError, match="greater than the current one, 2") as caught:
        getattr(storage, read)(PODS, **{"after" if read == "events" else "revision": 3})
    assert (caught.value.requested, caught.value.current) == (3, 2)


@pytest.mark.parametrize("read", ["list", "scan", "count", "events"])
def test_a_compacted_revision_cannot_be_read_and_the_one_compacted_to_can(storage, read):
    create(storage, "default/a", "default/b", "default/c")
    storage.compact(3)
    option = "after" if read == "events" else "revision"
    getattr(storage, read)(PODS, **{option: 3})
    with pytest.raises(RevisionCompactedError, match="the oldest that can be read is 3") as caught:
        getattr(storage, read)(PODS, **{option: 2})
    assert (caught.value.requested, caught.value.oldest) == (2, 3)


def test_compaction_drops_events_and_no_objects(storage):
    create(storage, "default/a", "default/b")
    storage.delete(PODS, key("default/a"), numbered)
    storage.compact(storage.revision)
    assert paths(storage.list(PODS, revision=4).items) == ["default/b"]
    assert storage.events(PODS, after=4) == []
    assert storage.compacted_revision == 4


def test_compacting_an_old_revision_again_does_nothing_and_a_future_one_is_an_error(storage):
    create(storage, "default/a", "default/b")
    storage.compact(3)
    storage.compact(2)
    assert storage.compacted_revision == 3
    with pytest.raises(RevisionTooLargeError):
        storage.compact(4)
    assert storage.compacted_revision == 3


def test_only_the_latest_events_are_kept(make):
    storage = make(max_events=2)
    create(storage, "default/a", "default/b", "default/c")
    create(storage, "n1", resource=NODES)
    assert [event.revision for event in storage.events(after=3)] == [4, 5]
    assert storage.compacted_revision == 3
    with pytest.raises(RevisionCompactedError):
        storage.events(NODES, after=2)


def test_events_expire_also_without_writes(make):
    now = Hand()
    storage = make(now=now, max_age=60.0)
    create(storage, "default/a")
    now.time += 40
    create(storage, "default/b")
    now.time += 20
    assert len(storage.events(PODS, after=1)) == 2
    now.time += 1
    with pytest.raises(RevisionCompactedError):
        storage.events(PODS, after=1)
    assert [event.revision for event in storage.events(PODS, after=2)] == [3]


# --- Subscribers


def test_subscribers_receive_every_event_in_order_until_they_unsubscribe(storage):
    first: list[Event] = []
    second: list[Event] = []
    leave = storage.subscribe(first.append)
    storage.subscribe(second.append)
    create(storage, "default/a")
    leave()
    leave()
    storage.delete(PODS, key("default/a"), numbered)
    assert first == storage.events(after=1)[:1]
    assert second == storage.events(after=1)


def test_one_function_may_subscribe_twice(storage):
    received: list[Event] = []
    leave = storage.subscribe(received.append)
    storage.subscribe(received.append)
    leave()
    create(storage, "default/a")
    assert len(received) == 1


def test_a_subscriber_that_writes_does_not_change_the_order_for_others(storage):
    def write_back(event: Event) -> None:
        if event.type == "ADDED":
            storage.update(PODS, event.key, numbered)

    received: list[Event] = []
    storage.subscribe(write_back)
    storage.subscribe(received.append)
    create(storage, "default/a", "default/b")
    assert [event.revision for event in received] == [2, 3, 4, 5]


def test_with_group_commit_subscribers_receive_nothing_before_sync(make):
    storage = make(group_commit=True)
    received: list[Event] = []
    storage.subscribe(received.append)
    create(storage, "default/a", "default/b")
    assert received == []
    storage.sync()
    storage.sync()
    assert [event.revision for event in received] == [2, 3]


# --- Forks


def test_a_fork_and_its_origin_are_independent(storage):
    create(storage, "default/a", "default/b")
    received: list[Event] = []
    storage.subscribe(received.append)
    fork = storage.fork()
    storage.delete(PODS, key("default/a"), numbered)
    create(fork, "default/c", "default/d")
    fork.compact(3)
    assert paths(storage.list(PODS).items) == ["default/b"]
    assert paths(fork.list(PODS).items) == ["default/a", "default/b", "default/c", "default/d"]
    assert [event.revision for event in storage.events(PODS, after=1)] == [2, 3, 4]
    assert [event.revision for event in fork.events(PODS, after=3)] == [4, 5]
    assert len(received) == 1


# --- Values


def test_another_encoding_of_the_bytes_is_made_once():
    made = []

    def encode(value: bytes) -> bytes:
        made.append(value)
        return value.upper()

    stored = Stored(key("default/a"), b"abc", 7)
    assert [stored.encoded(encode), stored.encoded(encode)] == [b"ABC", b"ABC"]
    assert made == [b"abc"]


def test_a_view_of_the_bytes_is_made_once():
    made: list[bytes] = []

    def make(value: bytes) -> dict[str, bytes]:
        made.append(value)
        return {"seen": value}

    stored = Stored(key("default/a"), b"value", 7)
    assert stored.view(make) is stored.view(make)
    assert made == [b"value"]


def test_neither_states_nor_events_show_the_bytes_when_printed(storage):
    storage.create("core/secrets", key("default/a"), lambda _: b"password")
    (event,) = storage.events(after=1)
    assert "password" not in f"{event!r} {event} {event.stored!r} {storage!r}"
    assert "default/a" in repr(event)


@pytest.mark.parametrize(
    "error",
    [
        RevisionCompactedError("too old", requested=3, oldest=5),
        RevisionTooLargeError("to come", requested=7, current=5),
        JournalError("failed"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_can_be_copied_and_pickled(error):
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (str(again), vars(again)) == (str(error), vars(error))

"""Readers get each event once and in order, and an event is encoded once for all readers with the same view."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.meta import ObjectKey, Resource
from listwatch.selectors import LabelSelector
from listwatch.server.codec.representations import Representation, encode_object
from listwatch.server.protocol.field_selectors import Selection
from listwatch.server.storage.storage import Storage
from listwatch.server.storage.values import Stored
from listwatch.server.watch.watch_feed import Feeds, Reader

PODS = Resource("", "v1", "Pod", "pods")
ID = "/pods"
ALL = Selection(PODS.group_resource)
WEB = Selection(PODS.group_resource, labels=LabelSelector.parse("app=web"))
LARGE = 1 << 20


class CountedSends:
    """Encodes objects as they are stored, and counts the calls."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, stored: Stored, resource: Resource) -> bytes:
        self.count += 1
        return stored.value


@pytest.fixture
def send() -> CountedSends:
    return CountedSends()


@pytest.fixture
def storage() -> Storage:
    return Storage()


@pytest.fixture
def feeds(storage: Storage, send: CountedSends) -> Iterator[Feeds]:
    feeds = Feeds(storage, send)
    yield feeds
    feeds.close()


def write(storage: Storage, name: str, app: str = "web") -> int:
    def encode(revision: int) -> bytes:
        metadata = {"name": name, "labels": {"app": app}, "resourceVersion": str(revision)}
        return encode_object({"kind": "Pod", "apiVersion": "v1", "metadata": metadata})

    key = ObjectKey("default", name)
    put = storage.update if storage.get(ID, key) else storage.create
    return put(ID, key, encode).revision


def reader(feeds: Feeds, selection: Selection = ALL, after: int | None = None, kind: str = "") -> Reader:
    representation = Representation(kind=kind, api_version="meta.k8s.io/v1" if kind else "")
    revision = feeds.revision if after is None else after
    past = () if after is None else feeds.storage.events(ID, after=after)
    return feeds.reader(ID, feeds.view(PODS, selection, representation), lambda: None, after=revision, past=past)


def test_an_event_is_encoded_once_for_all_readers(storage: Storage, feeds: Feeds, send: CountedSends):
    readers = [reader(feeds) for _ in range(50)]
    for number in range(10):
        write(storage, f"pod-{number}")
    taken = [each.take(LARGE) for each in readers]
    assert send.count == 10
    assert all(lines == taken[0] for lines in taken)
    assert len(taken[0]) == 10


def test_views_with_other_selections_share_encoded_events(storage: Storage, feeds: Feeds, send: CountedSends):
    readers = [reader(feeds), reader(feeds, WEB), reader(feeds, kind="PartialObjectMetadata")]
    write(storage, "a")
    lines = [each.take(LARGE) for each in readers]
    assert lines[0] == lines[1] != lines[2]
    assert send.count == 2  # one for each representation


def test_a_reader_takes_no_more_than_the_requested_size(storage: Storage, feeds: Feeds):
    slow = reader(feeds)
    for number in range(10):
        write(storage, f"pod-{number}")
    pieces = list(iter(lambda: slow.take(200), []))
    assert len(pieces) > 3
    assert sum(map(len, pieces)) == 10


def test_the_backlog_counts_what_was_not_read(storage: Storage, feeds: Feeds):
    slow = reader(feeds)
    assert slow.backlog == (0, 0)
    sizes = [len(storage.events(ID, after=write(storage, name) - 1)[0].value) for name in ("a", "b")]
    assert slow.backlog == (2, sum(sizes))
    slow.take(1)
    assert slow.backlog == (1, sizes[1])


def test_events_without_readers_are_not_kept(storage: Storage, feeds: Feeds):
    gone = reader(feeds)
    gone.close()
    gone.close()
    write(storage, "a")
    assert gone.take(LARGE) == []


def test_readers_and_subscribers_are_notified_of_new_events(storage: Storage, feeds: Feeds):
    received: list[str] = []
    view = feeds.view(PODS, ALL, Representation())
    feeds.reader(ID, view, lambda: received.append("more"), after=feeds.revision)
    stop = feeds.subscribe(lambda: received.append("revision"))
    write(storage, "a")
    stop()
    write(storage, "a")
    assert received == ["more", "revision", "more"]
    assert feeds.revision == storage.revision


@given(
    steps=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["web", "api"]), st.integers(0, 3)), max_size=30),
    starts=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=6),
)
def test_every_reader_sees_each_event_after_its_start_once_and_in_order(
    steps: list[tuple[str, str, int]], starts: list[tuple[int, int]]
):
    storage = Storage()
    feeds = Feeds(storage, CountedSends())
    readers: list[tuple[int, Reader, list[bytes]]] = []
    for moment, (name, app, taken) in enumerate(steps):
        for opened, back in starts:
            if opened == moment:
                after = max(storage.compacted_revision, storage.revision - back)
                readers.append((after, reader(feeds, WEB, after), []))
        for _, each, lines in readers[:taken]:
            lines += each.take(300)
        write(storage, name, app)
    for after, each, lines in readers:
        while more := each.take(300):
            lines += more
        expected = [event for event in storage.events(ID, after=after) if WEB.change(event)]
        assert len(lines) == len(expected)
        for line, event in zip(lines, expected, strict=True):
            assert b'"resourceVersion":"%d"' % event.revision in line

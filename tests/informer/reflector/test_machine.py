"""The state machine of a reflector, without an event loop."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.api.watch_events import AddedEvent, BookmarkEvent, DeletedEvent, ErrorEvent, ModifiedEvent
from listwatch.errors import (
    APIError,
    BadRequestError,
    ConnectionLostError,
    ConnectRefusedError,
    ExpiredError,
    ForbiddenError,
    InternalServerError,
    InvalidError,
    NotFoundError,
    ProtocolError,
    RequestTimeoutError,
    StatusCause,
    StatusDetails,
    TooManyRequestsError,
)
from listwatch.informer.reflector.machine import ReflectorMachine
from listwatch.informer.reflector.state import (
    BackingOff,
    Delay,
    Listing,
    ListRequest,
    StreamRequest,
    Watching,
    WatchRequest,
)
from listwatch.models.core_v1 import ConfigMap, Pod
from listwatch.objects.metadata import ListMeta
from listwatch.objects.object_list import ObjectList
from listwatch.objects.unstructured import Unstructured


class RecordedList:
    """A list that is being received."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def put(self, item: Pod) -> None:
        self.names.add(item.name)

    def discard(self, item: Pod) -> None:
        self.names.discard(item.name)

    def __len__(self) -> int:
        return len(self.names)


class Recorder:
    """A store that records its calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def add(self, item: Pod) -> None:
        self.calls.append(("add", item.name))

    def update(self, item: Pod) -> None:
        self.calls.append(("update", item.name))

    def delete(self, item: Pod) -> None:
        self.calls.append(("delete", item.name))

    def relist(self) -> RecordedList:
        return RecordedList()

    def replace(self, items: RecordedList, resource_version: str) -> None:
        self.calls.append(("replace", sorted(items.names), resource_version))

    def bookmark(self, resource_version: str) -> None:
        self.calls.append(("bookmark", resource_version))


def pod(name: str, version: str = "1") -> Pod:
    return Pod.from_dict({"metadata": {"name": name, "namespace": "default", "resourceVersion": version}})


def page(*names: str, version: str = "10", more: str = "") -> ObjectList[Pod]:
    return ObjectList([pod(name) for name in names], metadata=ListMeta(resource_version=version, continue_=more))


def end_bookmark(version: str, *, value: str = "true") -> BookmarkEvent[Pod]:
    annotations = {"k8s.io/initial-events-end": value} if value else {}
    return BookmarkEvent(Pod.from_dict({"metadata": {"resourceVersion": version, "annotations": annotations}}))


def bookmark(version: str) -> BookmarkEvent[Pod]:
    return end_bookmark(version, value="")


@pytest.fixture
def store() -> Recorder:
    return Recorder()


@pytest.fixture
def lists(store: Recorder) -> ReflectorMachine[Pod]:
    return ReflectorMachine(store, Pod, streaming=False)


@pytest.fixture
def streams(store: Recorder) -> ReflectorMachine[Pod]:
    return ReflectorMachine(store, Pod)


def synced(machine: ReflectorMachine[Pod], version: str = "10") -> ReflectorMachine[Pod]:
    request = machine.next_request()
    assert isinstance(request, ListRequest)
    receive_page(machine, request, page("a", version=version))
    return machine


def receive_page(machine: ReflectorMachine[Pod], request: Any, received: ObjectList[Pod]) -> None:
    for _ in machine.receive_page(request, received):
        pass


def fail_next(machine: ReflectorMachine[Pod], error: Exception, *, now: float = 0.0) -> BackingOff[Pod]:
    """Let the next request fail."""
    machine.next_request()
    return machine.fail(error, now=now)


TOO_LARGE = [
    RequestTimeoutError(
        "x", details=StatusDetails(causes=(StatusCause("ResourceVersionTooLarge", "Too large resource version", ""),))
    ),
    RequestTimeoutError("x", details=StatusDetails(causes=(StatusCause("", "Too large resource version", ""),))),
    RequestTimeoutError("Too large resource version: 20, current: 10"),
]


# --- lists ------------------------------------------------------------------------------------------------------------


def test_the_first_list_accepts_any_version(lists: ReflectorMachine[Pod]) -> None:
    assert lists.next_request() == ListRequest("0", 500)


def test_a_list_is_followed_by_a_watch_from_its_version(lists: ReflectorMachine[Pod], store: Recorder) -> None:
    synced(lists, "10")

    assert store.calls == [("replace", ["a"], "10")]
    assert lists.next_request() == WatchRequest("10")


def test_a_relist_requests_at_least_the_known_version_and_no_limit(lists: ReflectorMachine[Pod]) -> None:
    synced(lists, "10")
    fail_next(lists, ExpiredError("too old"))

    assert lists.next_request() == ListRequest("10", 0)


def test_an_expired_relist_is_retried_at_once_at_the_latest_version(lists: ReflectorMachine[Pod]) -> None:
    synced(lists, "10")
    fail_next(lists, ExpiredError("too old"))

    assert fail_next(lists, ExpiredError("too old")).delay is Delay.NONE
    assert lists.next_request() == ListRequest("", 500)


def test_a_list_that_expires_twice_backs_off(lists: ReflectorMachine[Pod]) -> None:
    fail_next(lists, ExpiredError("too old"))

    assert fail_next(lists, ExpiredError("too old")).delay is Delay.BACKOFF


@pytest.mark.parametrize("error", TOO_LARGE, ids=["cause", "message of a cause", "message"])
def test_a_version_that_the_server_has_not_reached_is_not_requested_again(
    lists: ReflectorMachine[Pod], error: APIError
) -> None:
    synced(lists, "30")
    fail_next(lists, InternalServerError("oops"))

    assert fail_next(lists, error).delay is Delay.NONE
    assert lists.next_request() == ListRequest("", 500)


def test_a_successful_list_makes_versions_usable_again(lists: ReflectorMachine[Pod]) -> None:
    fail_next(lists, ExpiredError("too old"))
    synced(lists, "20")
    fail_next(lists, InternalServerError("oops"))

    assert lists.next_request() == ListRequest("20", 0)


def test_pages_make_one_list_with_the_version_of_the_first(lists: ReflectorMachine[Pod], store: Recorder) -> None:
    first = lists.next_request()
    assert isinstance(first, ListRequest)
    receive_page(lists, first, page("a", version="10", more="more"))
    second = lists.next_request()
    assert second == ListRequest("", 500, "more")
    assert store.calls == []

    receive_page(lists, second, page("b", version="11"))

    assert store.calls == [("replace", ["a", "b"], "10")]
    assert lists.next_request() == WatchRequest("10")


def test_expired_pages_are_replaced_by_one_complete_list_of_the_version_first_requested(
    lists: ReflectorMachine[Pod], store: Recorder
) -> None:
    first = lists.next_request()
    assert isinstance(first, ListRequest)
    receive_page(lists, first, page("a", more="more"))

    assert fail_next(lists, ExpiredError("gone")).delay is Delay.NONE
    again = lists.next_request()
    assert again == ListRequest("0", 0)
    receive_page(lists, again, page("a", "b", version="12"))

    assert store.calls == [("replace", ["a", "b"], "12")]


def test_a_list_without_an_end_is_reported_and_given_up(store: Recorder) -> None:
    problems: list[Exception] = []
    machine = ReflectorMachine(store, Pod, streaming=False, max_listed=2_500, on_problem=problems.append)
    for number in range(2_500):
        receive_page(machine, machine.next_request(), page(f"pod-{number}", more=f"token-{number}"))
    assert [str(each) for each in problems] == [
        "the list continues after 1000 pages with 1000 objects",
        "the list continues after 2000 pages with 2000 objects",
    ]
    request = machine.next_request()
    with pytest.raises(ProtocolError, match="more than 2500 objects") as caught:
        receive_page(machine, request, page("one-more", more="another-token"))
    assert machine.fail(caught.value) == BackingOff(Listing(""), Delay.BACKOFF, caught.value)
    assert store.calls == []


def test_a_server_that_pages_a_cached_list_is_always_listed_in_pages(lists: ReflectorMachine[Pod]) -> None:
    first = lists.next_request()
    assert isinstance(first, ListRequest)
    receive_page(lists, first, page("a", more="more"))
    second = lists.next_request()
    assert isinstance(second, ListRequest)
    receive_page(lists, second, page("b"))
    fail_next(lists, ExpiredError("too old"))

    assert lists.next_request() == ListRequest("10", 500)


def test_a_given_page_size_is_used_for_every_list(store: Recorder) -> None:
    machine = ReflectorMachine(store, Pod, streaming=False, page_size=7)
    assert machine.next_request() == ListRequest("0", 7)
    synced(machine, "10")
    fail_next(machine, ExpiredError("too old"))

    assert machine.next_request() == ListRequest("10", 7)


@pytest.mark.parametrize("error", [ForbiddenError("no"), NotFoundError("no such resource")])
def test_a_denied_list_is_retried_with_a_long_delay(lists: ReflectorMachine[Pod], error: APIError) -> None:
    assert fail_next(lists, error) == BackingOff(Listing(""), Delay.DENIED, error)


# --- watches ----------------------------------------------------------------------------------------------------------


def test_the_next_watch_starts_at_the_last_version(lists: ReflectorMachine[Pod], store: Recorder) -> None:
    synced(lists, "10")
    lists.next_request()
    lists.receive(
        [AddedEvent(pod("b", "11")), ModifiedEvent(pod("a", "12")), DeletedEvent(pod("b", "13")), bookmark("20")]
    )

    assert store.calls[1:] == [("add", "b"), ("update", "a"), ("delete", "b"), ("bookmark", "20")]
    assert lists.end(elapsed=300, events=4) == Watching("20")
    assert lists.next_request() == WatchRequest("20")


@pytest.mark.parametrize(
    "error", [ConnectRefusedError("refused"), TooManyRequestsError("slow down"), ConnectionLostError("reset")]
)
def test_a_watch_without_lost_events_is_resumed_without_a_list(lists: ReflectorMachine[Pod], error: Exception) -> None:
    synced(lists, "10")

    assert fail_next(lists, error).delay is Delay.BACKOFF
    assert lists.next_request() == WatchRequest("10")


def test_a_throttled_watch_is_resumed_from_the_last_version(lists: ReflectorMachine[Pod]) -> None:
    synced(lists, "10")
    lists.next_request()
    status = Unstructured({"kind": "Status", "code": 429, "reason": "TooManyRequests"})
    with pytest.raises(TooManyRequestsError) as caught:
        lists.receive([AddedEvent(pod("b", "11")), ErrorEvent(status)])

    assert lists.fail(caught.value).delay is Delay.BACKOFF
    assert lists.next_request() == WatchRequest("11")


def test_an_error_that_may_have_lost_events_leads_to_a_relist(lists: ReflectorMachine[Pod]) -> None:
    synced(lists, "10")
    error = InternalServerError("an object could not be read")

    assert fail_next(lists, error) == BackingOff(Listing("10"), Delay.BACKOFF, error)
    assert lists.next_request() == ListRequest("10", 0)


def test_internal_errors_are_retried_at_once_within_the_window(store: Recorder) -> None:
    machine = synced(ReflectorMachine(store, Pod, streaming=False, internal_error_window=5.0))
    error = InternalServerError("oops")

    assert fail_next(machine, error, now=100.0).delay is Delay.NONE
    assert machine.next_request() == WatchRequest("10")
    assert fail_next(machine, error, now=104.0).delay is Delay.NONE
    assert fail_next(machine, error, now=106.0).delay is Delay.BACKOFF
    assert isinstance(machine.next_request(), ListRequest)


def test_a_series_of_internal_errors_ends_after_a_minute(store: Recorder) -> None:
    machine = synced(ReflectorMachine(store, Pod, streaming=False, internal_error_window=5.0))
    fail_next(machine, InternalServerError("oops"), now=100.0)

    assert fail_next(machine, InternalServerError("oops"), now=170.0).delay is Delay.NONE


def test_a_watch_that_ends_at_once_without_an_event_backs_off(lists: ReflectorMachine[Pod]) -> None:
    synced(lists, "10")
    lists.next_request()

    ended = lists.end(elapsed=0.5, events=0)

    assert isinstance(ended, BackingOff)
    assert ended.delay is Delay.BACKOFF
    assert ended.problem is not None


def test_a_watch_without_a_version_ignores_the_versions_of_existing_objects(lists: ReflectorMachine[Pod]) -> None:
    synced(lists, "0")
    lists.next_request()
    lists.receive([AddedEvent(pod("b", "50")), AddedEvent(pod("c", "40"))])
    assert lists.version == "0"

    lists.receive([ModifiedEvent(pod("c", "60")), AddedEvent(pod("d", "61"))])

    assert lists.version == "61"


def test_an_object_of_another_kind_is_skipped_and_reported(store: Recorder) -> None:
    skipped: list[Exception] = []
    machine = synced(ReflectorMachine(store, Pod, streaming=False, on_skipped=skipped.append))
    machine.next_request()
    other: Any = ConfigMap.from_dict({"metadata": {"name": "x", "resourceVersion": "11"}})

    machine.receive([AddedEvent(other), AddedEvent(pod("b", "12"))])

    assert store.calls[1:] == [("add", "b")]
    assert "ConfigMap" in str(skipped[0])


# --- streams ----------------------------------------------------------------------------------------------------------


def test_a_stream_fills_the_store_at_the_end_of_the_initial_events_and_continues_as_a_watch(
    streams: ReflectorMachine[Pod], store: Recorder
) -> None:
    assert streams.next_request() == StreamRequest("")
    streams.receive(
        [
            AddedEvent(pod("a", "5")),
            AddedEvent(pod("b", "3")),
            ModifiedEvent(pod("a", "6")),
            DeletedEvent(pod("b", "7")),
        ]
    )
    assert store.calls == []
    assert streams.reads_initial_events

    streams.receive([end_bookmark("20"), AddedEvent(pod("c", "21"))])

    assert store.calls == [("replace", ["a"], "20"), ("add", "c")]
    assert not streams.reads_initial_events
    assert streams.end(elapsed=300, events=5) == Watching("21")
    assert streams.next_request() == WatchRequest("21")


@pytest.mark.parametrize("other", [end_bookmark("20", value="false"), bookmark("20")], ids=["false", "no mark"])
def test_only_the_annotated_bookmark_ends_the_initial_events(
    streams: ReflectorMachine[Pod], store: Recorder, other: BookmarkEvent[Pod]
) -> None:
    streams.next_request()
    streams.receive([AddedEvent(pod("a")), other])

    assert store.calls == []


@pytest.mark.parametrize("error", [InvalidError("what is that"), BadRequestError("what is that")])
def test_a_server_that_rejects_streams_is_always_listed(streams: ReflectorMachine[Pod], error: APIError) -> None:
    assert fail_next(streams, error).delay is Delay.NONE
    synced(streams)
    fail_next(streams, ExpiredError("too old"))

    assert streams.next_request() == ListRequest("10", 0)


def test_a_stream_that_fails_is_replaced_by_a_list_only_once(streams: ReflectorMachine[Pod]) -> None:
    assert fail_next(streams, InternalServerError("etcd is too old")).delay is Delay.NONE
    synced(streams)
    fail_next(streams, ExpiredError("too old"))

    assert streams.next_request() == StreamRequest("10")


@pytest.mark.parametrize("error", [ConnectRefusedError("refused"), TooManyRequestsError("slow down")])
def test_a_stream_is_retried_while_the_server_is_down_or_busy(streams: ReflectorMachine[Pod], error: Exception) -> None:
    assert fail_next(streams, error).delay is Delay.BACKOFF
    assert streams.next_request() == StreamRequest("")


def test_an_expired_stream_is_retried_at_once_without_a_version(streams: ReflectorMachine[Pod]) -> None:
    streams.next_request()
    streams.receive([end_bookmark("20")])
    fail_next(streams, InternalServerError("oops"))
    assert streams.next_request() == StreamRequest("20")

    assert streams.fail(ExpiredError("too old")).delay is Delay.NONE
    assert streams.next_request() == StreamRequest("")


def test_a_stream_that_ends_before_the_initial_events_starts_again_with_an_empty_list(
    streams: ReflectorMachine[Pod], store: Recorder
) -> None:
    streams.next_request()
    streams.receive([AddedEvent(pod("a"))])
    restarted = streams.end(elapsed=0.1, events=1)
    assert isinstance(restarted, BackingOff)
    assert restarted.delay is Delay.NONE
    assert "ended before it was complete" in str(restarted.problem)

    assert streams.next_request() == StreamRequest("")
    streams.receive([AddedEvent(pod("b")), end_bookmark("20")])

    assert store.calls == [("replace", ["b"], "20")]


def test_a_stream_that_ends_repeatedly_is_replaced_by_a_list(streams: ReflectorMachine[Pod]) -> None:
    delays = []
    while isinstance(streams.next_request(), StreamRequest):
        streams.receive([AddedEvent(pod("a"))])
        ended = streams.end(elapsed=0.1, events=1)
        assert isinstance(ended, BackingOff)
        delays.append(ended.delay)

    assert delays == [Delay.NONE, Delay.BACKOFF, Delay.BACKOFF, Delay.NONE]


def test_a_server_that_does_not_end_the_initial_events_is_always_listed(streams: ReflectorMachine[Pod]) -> None:
    streams.next_request()
    streams.receive([AddedEvent(pod("a"))])
    streams.miss_initial_events_end(TimeoutError("no mark"))
    synced(streams)
    fail_next(streams, ExpiredError("too old"))

    assert isinstance(streams.next_request(), ListRequest)


# --- unusual servers --------------------------------------------------------------------------------------


def test_an_object_without_a_name_is_skipped_and_reported(store: Recorder) -> None:
    skipped: list[Exception] = []
    machine = ReflectorMachine(store, Pod, streaming=False, on_skipped=skipped.append)
    nameless = Pod.from_dict({"metadata": {"resourceVersion": "11"}})
    request = machine.next_request()
    assert isinstance(request, ListRequest)
    receive_page(machine, request, ObjectList([nameless, pod("a")], metadata=ListMeta(resource_version="10")))
    machine.receive([AddedEvent(nameless), AddedEvent(pod("b", "12"))])

    assert store.calls == [("replace", ["a"], "10"), ("add", "b")]
    assert [str(each) for each in skipped] == ["Pod without a name: expected v1 Pod, got an object without a name"] * 2


def test_a_delayed_bookmark_does_not_lower_the_version(lists: ReflectorMachine[Pod], store: Recorder) -> None:
    synced(lists, "10")
    lists.receive([ModifiedEvent(pod("a", "15")), bookmark("12"), bookmark("16")])

    assert store.calls[1:] == [("update", "a"), ("bookmark", "16")]
    assert lists.next_request() == WatchRequest("16")


def test_versions_that_cannot_be_compared_are_taken_in_order_of_arrival(lists: ReflectorMachine[Pod]) -> None:
    synced(lists, "abc")
    lists.receive([bookmark("def")])

    assert lists.next_request() == WatchRequest("def")


def test_a_large_page_is_stored_in_slices(lists: ReflectorMachine[Pod], store: Recorder) -> None:
    request = lists.next_request()
    assert isinstance(request, ListRequest)
    slices = lists.receive_page(request, page(*(f"p{number}" for number in range(2500))))

    assert [len(store.calls) for _ in slices] == [0, 0]
    assert len(store.calls[0][1]) == 2500


def test_a_table_is_skipped_even_if_any_kind_is_accepted(store: Recorder) -> None:
    skipped: list[Exception] = []
    machine = ReflectorMachine(store, Unstructured, streaming=False, on_skipped=skipped.append)
    list(machine.receive_page(ListRequest("0"), ObjectList([], metadata=ListMeta(resource_version="10"))))
    table = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "a", "resourceVersion": "11"}}
    machine.receive([AddedEvent(Unstructured.from_dict(table))])

    assert store.calls == [("replace", [], "10")]
    assert "got meta.k8s.io/v1 Table" in str(skipped[0])

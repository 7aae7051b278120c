"""What a reflector asks for next, decided without an event loop."""

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
    RequestTimeoutError,
    StatusCause,
    StatusDetails,
    TooManyRequestsError,
)
from listwatch.informer.reflector_state import List, ReflectorState, Stream, Verdict, Wait, Watch
from listwatch.models.core_v1 import ConfigMap, Pod
from listwatch.objects.metadata import ListMeta
from listwatch.objects.object_list import ObjectList
from listwatch.objects.unstructured import Unstructured


class Relisting:
    """A whole state on its way in."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def put(self, item: Pod) -> None:
        self.names.add(item.name)

    def discard(self, item: Pod) -> None:
        self.names.discard(item.name)


class Recorder:
    """A store that writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def add(self, item: Pod) -> None:
        self.told.append(("add", item.name))

    def update(self, item: Pod) -> None:
        self.told.append(("update", item.name))

    def delete(self, item: Pod) -> None:
        self.told.append(("delete", item.name))

    def relist(self) -> Relisting:
        return Relisting()

    def replace(self, items: Relisting, resource_version: str) -> None:
        self.told.append(("replace", sorted(items.names), resource_version))

    def bookmark(self, resource_version: str) -> None:
        self.told.append(("bookmark", resource_version))


def pod(name: str, version: str = "1") -> Pod:
    return Pod.from_dict({"metadata": {"name": name, "namespace": "default", "resourceVersion": version}})


def page(*names: str, version: str = "10", more: str = "") -> ObjectList[Pod]:
    return ObjectList([pod(name) for name in names], metadata=ListMeta(resource_version=version, continue_=more))


def mark(version: str, *, value: str = "true") -> BookmarkEvent[Pod]:
    annotations = {"k8s.io/initial-events-end": value} if value else {}
    return BookmarkEvent(Pod.from_dict({"metadata": {"resourceVersion": version, "annotations": annotations}}))


def bookmark(version: str) -> BookmarkEvent[Pod]:
    return mark(version, value="")


@pytest.fixture
def store() -> Recorder:
    return Recorder()


@pytest.fixture
def lists(store: Recorder) -> ReflectorState[Pod]:
    return ReflectorState(store, Pod, streaming=False)


@pytest.fixture
def streams(store: Recorder) -> ReflectorState[Pod]:
    return ReflectorState(store, Pod)


def synced(state: ReflectorState[Pod], version: str = "10") -> ReflectorState[Pod]:
    request = state.next_request()
    assert isinstance(request, List)
    state.listed(request, page("a", version=version))
    return state


TOO_LARGE = [
    RequestTimeoutError(
        "x", details=StatusDetails(causes=(StatusCause("ResourceVersionTooLarge", "Too large resource version", ""),))
    ),
    RequestTimeoutError("x", details=StatusDetails(causes=(StatusCause("", "Too large resource version", ""),))),
    RequestTimeoutError("Too large resource version: 20, current: 10"),
]


# --- lists ------------------------------------------------------------------------------------------------------------


def test_the_first_list_takes_what_the_server_has_at_hand(lists: ReflectorState[Pod]) -> None:
    assert lists.next_request() == List("0", 500)


def test_a_list_is_followed_by_a_watch_from_its_version(lists: ReflectorState[Pod], store: Recorder) -> None:
    synced(lists, "10")

    assert store.told == [("replace", ["a"], "10")]
    assert lists.next_request() == Watch("10")


def test_a_relist_asks_for_nothing_older_than_what_was_seen_and_without_a_limit(lists: ReflectorState[Pod]) -> None:
    synced(lists, "10")
    lists.failed(lists.next_request(), ExpiredError("too old"))

    assert lists.next_request() == List("10", 0)


def test_an_expired_relist_is_asked_again_at_once_for_the_latest(lists: ReflectorState[Pod]) -> None:
    synced(lists, "10")
    lists.failed(lists.next_request(), ExpiredError("too old"))

    verdict = lists.failed(lists.next_request(), ExpiredError("too old"))

    assert verdict.wait is Wait.NOT
    assert lists.next_request() == List("", 500)


def test_a_list_that_stays_expired_is_waited_for(lists: ReflectorState[Pod]) -> None:
    lists.failed(lists.next_request(), ExpiredError("too old"))

    assert lists.failed(lists.next_request(), ExpiredError("too old")).wait is Wait.BACKOFF


@pytest.mark.parametrize("error", TOO_LARGE, ids=["cause", "message of a cause", "message"])
def test_a_version_that_the_server_has_not_reached_is_not_asked_for_again(
    lists: ReflectorState[Pod], error: APIError
) -> None:
    synced(lists, "30")
    lists.failed(lists.next_request(), InternalServerError("oops"))

    assert lists.failed(lists.next_request(), error).wait is Wait.NOT
    assert lists.next_request() == List("", 500)


def test_a_list_that_works_makes_versions_usable_again(lists: ReflectorState[Pod]) -> None:
    lists.failed(lists.next_request(), ExpiredError("too old"))
    synced(lists, "20")
    lists.failed(lists.next_request(), InternalServerError("oops"))

    assert lists.next_request() == List("20", 0)


def test_pages_make_one_state_of_the_version_of_the_first(lists: ReflectorState[Pod], store: Recorder) -> None:
    first = lists.next_request()
    assert isinstance(first, List)
    lists.listed(first, page("a", version="10", more="more"))
    second = lists.next_request()
    assert second == List("", 500, "more")
    assert store.told == []

    lists.listed(second, page("b", version="11"))

    assert store.told == [("replace", ["a", "b"], "10")]
    assert lists.next_request() == Watch("10")


def test_pages_that_expire_are_asked_for_at_once_as_of_the_version_first_asked_for(
    lists: ReflectorState[Pod], store: Recorder
) -> None:
    first = lists.next_request()
    assert isinstance(first, List)
    lists.listed(first, page("a", more="more"))

    assert lists.failed(lists.next_request(), ExpiredError("gone")).wait is Wait.NOT
    again = lists.next_request()
    assert again == List("0", 0)
    lists.listed(again, page("a", "b", version="12"))

    assert store.told == [("replace", ["a", "b"], "12")]


def test_a_server_without_a_cache_is_always_listed_in_pages(lists: ReflectorState[Pod]) -> None:
    first = lists.next_request()
    assert isinstance(first, List)
    lists.listed(first, page("a", more="more"))
    second = lists.next_request()
    assert isinstance(second, List)
    lists.listed(second, page("b"))
    lists.failed(lists.next_request(), ExpiredError("too old"))

    assert lists.next_request() == List("10", 500)


def test_a_page_size_that_was_chosen_is_kept_to(store: Recorder) -> None:
    state = ReflectorState(store, Pod, streaming=False, page_size=7)
    assert state.next_request() == List("0", 7)
    synced(state, "10")
    state.failed(state.next_request(), ExpiredError("too old"))

    assert state.next_request() == List("10", 7)


@pytest.mark.parametrize("error", [ForbiddenError("no"), NotFoundError("no such resource")])
def test_what_somebody_else_has_to_mend_is_asked_for_seldom(lists: ReflectorState[Pod], error: APIError) -> None:
    assert lists.failed(lists.next_request(), error) == Verdict(Wait.DENIED, error)


# --- watches ----------------------------------------------------------------------------------------------------------


def test_the_next_watch_begins_where_the_last_one_ended(lists: ReflectorState[Pod], store: Recorder) -> None:
    synced(lists, "10")
    lists.next_request()
    lists.saw([AddedEvent(pod("b", "11")), ModifiedEvent(pod("a", "12")), DeletedEvent(pod("b", "13")), bookmark("20")])

    assert store.told[1:] == [("add", "b"), ("update", "a"), ("delete", "b"), ("bookmark", "20")]
    assert lists.ended(elapsed=300, events=4) == Verdict()
    assert lists.next_request() == Watch("20")


@pytest.mark.parametrize(
    "error", [ConnectRefusedError("refused"), TooManyRequestsError("slow down"), ConnectionLostError("reset")]
)
def test_a_watch_that_lost_nothing_is_opened_again_without_a_list(lists: ReflectorState[Pod], error: Exception) -> None:
    synced(lists, "10")

    assert lists.failed(lists.next_request(), error).wait is Wait.BACKOFF
    assert lists.next_request() == Watch("10")


def test_a_throttled_stream_is_opened_again_from_the_last_version(lists: ReflectorState[Pod]) -> None:
    synced(lists, "10")
    request = lists.next_request()
    status = Unstructured({"kind": "Status", "code": 429, "reason": "TooManyRequests"})
    with pytest.raises(TooManyRequestsError) as caught:
        lists.saw([AddedEvent(pod("b", "11")), ErrorEvent(status)])

    assert lists.failed(request, caught.value).wait is Wait.BACKOFF
    assert lists.next_request() == Watch("11")


def test_an_error_that_may_have_cost_events_makes_a_new_list(lists: ReflectorState[Pod]) -> None:
    synced(lists, "10")
    error = InternalServerError("an object could not be read")

    assert lists.failed(lists.next_request(), error) == Verdict(Wait.BACKOFF, error)
    assert lists.next_request() == List("10", 0)


def test_internal_errors_are_taken_for_passing_while_the_window_is_open(store: Recorder) -> None:
    state = synced(ReflectorState(store, Pod, streaming=False, internal_error_window=5.0))
    error = InternalServerError("oops")

    assert state.failed(state.next_request(), error, now=100.0).wait is Wait.NOT
    assert state.next_request() == Watch("10")
    assert state.failed(state.next_request(), error, now=104.0).wait is Wait.NOT
    assert state.failed(state.next_request(), error, now=106.0).wait is Wait.BACKOFF
    assert isinstance(state.next_request(), List)


def test_a_streak_of_internal_errors_is_forgotten_after_a_minute(store: Recorder) -> None:
    state = synced(ReflectorState(store, Pod, streaming=False, internal_error_window=5.0))
    state.failed(state.next_request(), InternalServerError("oops"), now=100.0)

    assert state.failed(state.next_request(), InternalServerError("oops"), now=170.0).wait is Wait.NOT


def test_a_watch_that_ends_at_once_without_an_event_does_not_spin(lists: ReflectorState[Pod]) -> None:
    synced(lists, "10")
    lists.next_request()

    verdict = lists.ended(elapsed=0.5, events=0)

    assert verdict.wait is Wait.BACKOFF
    assert verdict.problem is not None


def test_a_watch_that_began_nowhere_adopts_no_version_from_what_was_there_already(lists: ReflectorState[Pod]) -> None:
    synced(lists, "0")
    lists.next_request()
    lists.saw([AddedEvent(pod("b", "50")), AddedEvent(pod("c", "40"))])
    assert lists.version == "0"

    lists.saw([ModifiedEvent(pod("c", "60")), AddedEvent(pod("d", "61"))])

    assert lists.version == "61"


def test_an_object_of_another_kind_is_passed_over_and_told_of(store: Recorder) -> None:
    skipped: list[Exception] = []
    state = synced(ReflectorState(store, Pod, streaming=False, skipped=skipped.append))
    state.next_request()
    stranger: Any = ConfigMap.from_dict({"metadata": {"name": "x", "resourceVersion": "11"}})

    state.saw([AddedEvent(stranger), AddedEvent(pod("b", "12"))])

    assert store.told[1:] == [("add", "b")]
    assert "ConfigMap" in str(skipped[0])


# --- streams ----------------------------------------------------------------------------------------------------------


def test_a_stream_fills_the_store_at_its_end_mark_and_goes_on_as_a_watch(
    streams: ReflectorState[Pod], store: Recorder
) -> None:
    assert streams.next_request() == Stream("")
    streams.saw(
        [
            AddedEvent(pod("a", "5")),
            AddedEvent(pod("b", "3")),
            ModifiedEvent(pod("a", "6")),
            DeletedEvent(pod("b", "7")),
        ]
    )
    assert store.told == []
    assert streams.reads_initial_events

    streams.saw([mark("20"), AddedEvent(pod("c", "21"))])

    assert store.told == [("replace", ["a"], "20"), ("add", "c")]
    assert not streams.reads_initial_events
    assert streams.ended(elapsed=300, events=5) == Verdict()
    assert streams.next_request() == Watch("21")


@pytest.mark.parametrize("other", [mark("20", value="false"), bookmark("20")], ids=["false", "no mark"])
def test_only_the_mark_itself_ends_the_initial_events(
    streams: ReflectorState[Pod], store: Recorder, other: BookmarkEvent[Pod]
) -> None:
    streams.next_request()
    streams.saw([AddedEvent(pod("a")), other])

    assert store.told == []


@pytest.mark.parametrize("error", [InvalidError("what is that"), BadRequestError("what is that")])
def test_a_server_that_cannot_stream_is_listed_from_then_on(streams: ReflectorState[Pod], error: APIError) -> None:
    assert streams.failed(streams.next_request(), error).wait is Wait.NOT
    synced(streams)
    streams.failed(streams.next_request(), ExpiredError("too old"))

    assert streams.next_request() == List("10", 0)


def test_a_stream_that_fails_otherwise_is_replaced_by_a_list_for_this_once(streams: ReflectorState[Pod]) -> None:
    assert streams.failed(streams.next_request(), InternalServerError("etcd is too old")).wait is Wait.NOT
    synced(streams)
    streams.failed(streams.next_request(), ExpiredError("too old"))

    assert streams.next_request() == Stream("10")


@pytest.mark.parametrize("error", [ConnectRefusedError("refused"), TooManyRequestsError("slow down")])
def test_a_stream_is_tried_again_while_the_server_is_away_or_busy(
    streams: ReflectorState[Pod], error: Exception
) -> None:
    assert streams.failed(streams.next_request(), error).wait is Wait.BACKOFF
    assert streams.next_request() == Stream("")


def test_an_expired_stream_is_asked_for_again_at_once_without_a_version(streams: ReflectorState[Pod]) -> None:
    streams.next_request()
    streams.saw([mark("20")])
    streams.failed(streams.next_request(), InternalServerError("oops"))
    assert streams.next_request() == Stream("20")

    assert streams.failed(Stream("20"), ExpiredError("too old")).wait is Wait.NOT
    assert streams.next_request() == Stream("")


def test_a_stream_cut_before_its_mark_begins_again_with_nothing(streams: ReflectorState[Pod], store: Recorder) -> None:
    streams.next_request()
    streams.saw([AddedEvent(pod("a"))])
    assert streams.ended(elapsed=0.1, events=1).wait is Wait.NOT

    assert streams.next_request() == Stream("")
    streams.saw([AddedEvent(pod("b")), mark("20")])

    assert store.told == [("replace", ["b"], "20")]


def test_a_stream_that_is_cut_again_and_again_is_given_up(streams: ReflectorState[Pod]) -> None:
    waits = []
    while isinstance(streams.next_request(), Stream):
        streams.saw([AddedEvent(pod("a"))])
        waits.append(streams.ended(elapsed=0.1, events=1).wait)

    assert waits == [Wait.NOT, Wait.BACKOFF, Wait.BACKOFF, Wait.NOT]


def test_a_missing_mark_is_remembered(streams: ReflectorState[Pod]) -> None:
    streams.next_request()
    streams.saw([AddedEvent(pod("a"))])
    streams.mark_is_missing(TimeoutError("no mark"))
    synced(streams)
    streams.failed(streams.next_request(), ExpiredError("too old"))

    assert isinstance(streams.next_request(), List)


# --- what other servers do wrong --------------------------------------------------------------------------------------


def test_an_object_without_a_name_is_passed_over_and_told_of(store: Recorder) -> None:
    skipped: list[Exception] = []
    state = ReflectorState(store, Pod, streaming=False, skipped=skipped.append)
    nameless = Pod.from_dict({"metadata": {"resourceVersion": "11"}})
    request = state.next_request()
    assert isinstance(request, List)
    state.listed(request, ObjectList([nameless, pod("a")], metadata=ListMeta(resource_version="10")))
    state.saw([AddedEvent(nameless), AddedEvent(pod("b", "12"))])

    assert store.told == [("replace", ["a"], "10"), ("add", "b")]
    assert [str(each) for each in skipped] == ["Pod without a name: expected Pod, got something without a name"] * 2


def test_a_bookmark_that_was_held_up_does_not_lead_back(lists: ReflectorState[Pod], store: Recorder) -> None:
    synced(lists, "10")
    lists.saw([ModifiedEvent(pod("a", "15")), bookmark("12"), bookmark("16")])

    assert store.told[1:] == [("update", "a"), ("bookmark", "16")]
    assert lists.next_request() == Watch("16")


def test_versions_that_cannot_be_compared_are_taken_as_they_come(lists: ReflectorState[Pod]) -> None:
    synced(lists, "abc")
    lists.saw([bookmark("def")])

    assert lists.next_request() == Watch("def")


def test_a_page_of_very_many_objects_is_taken_in_slices(lists: ReflectorState[Pod], store: Recorder) -> None:
    request = lists.next_request()
    assert isinstance(request, List)
    slices = lists.listing(request, page(*(f"p{number}" for number in range(2500))))

    assert [len(store.told) for _ in slices] == [0, 0]
    assert len(store.told[0][1]) == 2500


def test_a_table_is_passed_over_also_where_any_kind_will_do(store: Recorder) -> None:
    skipped: list[Exception] = []
    state = ReflectorState(store, Unstructured, streaming=False, skipped=skipped.append)
    table = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "a", "resourceVersion": "11"}}
    state.saw([AddedEvent(Unstructured.from_dict(table))])

    assert store.told == []
    assert "got meta.k8s.io/v1 Table" in str(skipped[0])

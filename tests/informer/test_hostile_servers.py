"""What a reflector does with servers that violate the protocol: few requests, and every failed attempt is reported."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import count, pairwise
from random import Random
from typing import Any

import pytest

from listwatch.api.watch_events import AddedEvent, BookmarkEvent, DeletedEvent, ModifiedEvent
from listwatch.cache.delta_fifo import DeltaFIFO
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import (
    ConnectionLostError,
    ConnectRefusedError,
    ExpiredError,
    InternalServerError,
    ProtocolError,
    TooManyRequestsError,
    TransportTimeoutError,
    WatchClosedError,
)
from listwatch.informer.reflector.problems import Problem
from listwatch.informer.reflector.reflector import Reflector
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.models.core_v1 import Pod
from listwatch.objects.metadata import ListMeta
from listwatch.objects.object_list import ObjectList
from listwatch.sources.list_watch import ListWatch
from listwatch.testing.clocks import START, VirtualClock
from listwatch.testing.scripted_server import CLOSE, HANG, ScriptedServer, chunk, respond, stream_head
from listwatch.testing.scripted_source import ScriptedSource


def pod(name: str, version: str = "1") -> Pod:
    return Pod.from_dict({"metadata": {"name": name, "namespace": "default", "resourceVersion": version}})


def page(*names: str, version: str = "10", token: str = "") -> ObjectList[Pod]:
    return ObjectList([pod(name) for name in names], metadata=ListMeta(resource_version=version, continue_=token))


class Setting:
    """A reflector of any source, with a virtual clock."""

    def __init__(self, source: Any, **options: Any) -> None:
        self.clock = VirtualClock()
        self.fifo: DeltaFIFO[Pod] = DeltaFIFO()
        self.problems: list[Problem] = []
        self.reflector = Reflector(
            source, Pod, self.fifo, clock=self.clock, random=Random(1), on_problem=self.problems.append, **options
        )

    @property
    def errors(self) -> list[str]:
        return [str(problem.error) for problem in self.problems]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.reflector.run())
        try:
            await self.clock.advance(0)
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


# --- No hot loops -----------------------------------------------------------------------------------------------------


class Server:
    """A source that responds to every request in the same way, and counts the requests."""

    def __init__(
        self, list_: Callable[[dict[str, Any]], Any], watch: Callable[[dict[str, Any]], AsyncIterator[Any]]
    ) -> None:
        self._list, self._watch = list_, watch
        self.requests = 0

    async def list(self, **options: Any) -> ObjectList[Pod]:
        self.requests += 1
        await asyncio.sleep(0)
        response = self._list(options)
        if isinstance(response, Exception):
            raise response
        return response

    @asynccontextmanager
    async def watch(self, **options: Any) -> AsyncIterator[Any]:
        self.requests += 1
        await asyncio.sleep(0)
        yield self._watch(options)


versions = count(1000)


async def one_event(_: Any) -> AsyncIterator[Any]:
    yield ModifiedEvent(pod("a", str(next(versions))))


async def one_bookmark(_: Any) -> AsyncIterator[Any]:
    yield BookmarkEvent(Pod.from_dict({"metadata": {"resourceVersion": str(next(versions))}}))


async def nothing(_: Any) -> AsyncIterator[Any]:
    return
    yield


async def expired(_: Any) -> AsyncIterator[Any]:
    raise ExpiredError("too old resource version")
    yield


async def failing(_: Any) -> AsyncIterator[Any]:
    raise InternalServerError("oops")
    yield


async def an_incomplete_stream(_: Any) -> AsyncIterator[Any]:
    yield AddedEvent(pod("a", str(next(versions))))


def one_page(_: Any) -> ObjectList[Pod]:
    return page("a", version=str(next(versions)))


def pages_that_expire(options: dict[str, Any]) -> Any:
    return ExpiredError("the continue token is too old") if options["continue_token"] else page("a", token="more")


def pages_without_end(_: Any) -> Any:
    return page("a", token="more")


def two_tokens_in_turn(options: dict[str, Any]) -> Any:
    return page("a", token="second" if options["continue_token"] == "first" else "first")


def empty_pages(_: Any) -> Any:
    return page(token=str(next(versions)))


def always_expired(_: Any) -> Any:
    return ExpiredError("too old resource version")


HOSTILE: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "pages although no limit was requested, then 410": (pages_that_expire, nothing, {}),
    "a continue token that repeats": (pages_without_end, nothing, {}),
    "continue tokens that alternate": (two_tokens_in_turn, nothing, {}),
    "empty pages with new tokens": (empty_pages, nothing, {}),
    "watches of one event": (one_page, one_event, {}),
    "watches of one bookmark": (one_page, one_bookmark, {}),
    "empty watches": (one_page, nothing, {}),
    "410 on every watch": (one_page, expired, {}),
    "410 on every list": (always_expired, nothing, {}),
    "500 on every watch": (one_page, failing, {"internal_error_window": 600.0}),
    "incomplete streams": (one_page, an_incomplete_stream, {"streaming": True}),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_no_server_causes_a_hot_loop(name: str) -> None:
    list_, watch, options = HOSTILE[name]
    server = Server(list_, watch)
    setting = Setting(server, **{"streaming": False, **options})

    async with setting.running():
        await setting.clock.advance(120)
        requests_in_two_minutes = server.requests
        await setting.clock.advance(600)

    assert requests_in_two_minutes <= 60
    assert server.requests - requests_in_two_minutes <= 100
    assert setting.problems
    assert max(problem.delay for problem in setting.problems) >= 15.0
    # A page, a list or an event in between does not end the series.
    assert setting.reflector.statistics().failures_in_a_row == len(setting.problems)


async def test_an_exhausted_budget_is_reported_with_what_the_server_does() -> None:
    setting = Setting(Server(one_page, one_event), streaming=False)

    async with setting.running():
        await setting.clock.advance(0)
        statistics = setting.reflector.statistics()

    assert setting.errors == [
        "20 requests in 0 s made no progress; the last one led to: a watch that ended after 0.0 s with 1 event"
    ]
    assert isinstance(setting.problems[0].error, ProtocolError)
    assert (statistics.failures_in_a_row, statistics.last_error) == (1, setting.problems[0].error)
    assert not statistics.is_watching


async def test_a_list_of_many_pages_is_not_slowed_down() -> None:
    def many_pages(options: dict[str, Any]) -> ObjectList[Pod]:
        number = int(options["continue_token"] or 0)
        return page(f"p{number}", token=str(number + 1) if number < 300 else "")

    async def silence(_: Any) -> AsyncIterator[Any]:
        await asyncio.Event().wait()
        yield

    server = Server(many_pages, silence)
    setting = Setting(server, streaming=False)

    async with setting.running():
        for _ in range(20):
            await setting.clock.advance(0)
        assert setting.reflector.statistics().is_watching

    assert server.requests == 302
    assert setting.clock.monotonic() == 0
    assert setting.problems == []


async def test_watches_that_last_for_some_seconds_are_resumed_at_once() -> None:
    clock: VirtualClock

    async def five_seconds(_: Any) -> AsyncIterator[Any]:
        await clock.sleep(5)
        yield ModifiedEvent(pod("a", str(next(versions))))

    server = Server(one_page, five_seconds)
    setting = Setting(server, streaming=False)
    clock = setting.clock

    async with setting.running():
        await setting.clock.advance(400)

    assert server.requests >= 80
    assert setting.problems == []


async def test_a_rolling_restart_of_the_server_is_not_slowed_down_by_the_budget() -> None:
    source = ScriptedSource(Pod)
    setting = Setting(source, streaming=False)
    source.will_list(resource_version="10")
    for _ in range(3):
        source.will_watch().break_with(ConnectionLostError("closed"))
        source.will_fail_watch(ConnectRefusedError("refused"))
        source.will_fail_watch(ConnectRefusedError("refused"))

    async with setting.running():
        await setting.clock.advance(300)
        assert setting.reflector.statistics().is_watching

    assert not [problem for problem in setting.problems if isinstance(problem.error, ProtocolError)]
    assert len(source.requests) == 11


# --- Health -----------------------------------------------------------------------------------------------------------

NO_PODS = respond(body=b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[]}')


@asynccontextmanager
async def reflecting(*replies: Any, otherwise: Any = None) -> AsyncIterator[tuple[Setting, ScriptedServer]]:
    """A reflector with a client, whose server sends these replies."""
    async with ScriptedServer(*replies, otherwise=otherwise) as server:
        clock = VirtualClock()
        async with RESTClient(ClientConfig(host=server.url), clock=clock) as rest:
            setting = Setting(ListWatch.from_client(rest, "pods"), streaming=False)
            setting.clock = clock
            setting.reflector = Reflector(
                ListWatch.from_client(rest, "pods"),
                Pod,
                setting.fifo,
                streaming=False,
                clock=clock,
                random=Random(1),
                on_problem=setting.problems.append,
            )
            async with setting.running():
                await server.wait_requests(1)
                yield setting, server


async def until(condition: Callable[[], bool]) -> None:
    """Return when the condition is true; real sockets need real time."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  # there is no event for it
            await asyncio.sleep(0.001)


async def test_every_watch_that_is_dropped_without_a_response_is_reported() -> None:
    async with reflecting(NO_PODS, otherwise=CLOSE) as (setting, server):
        for attempt in range(1, 5):
            await until(lambda expected=attempt: len(setting.problems) == expected)
            statistics = setting.reflector.statistics()
            assert statistics.failures_in_a_row == attempt
            assert isinstance(statistics.last_error, ConnectionLostError)
            assert not statistics.is_watching
            await setting.clock.advance(setting.problems[-1].delay)
            await server.wait_requests(attempt + 2)

    delays = [problem.delay for problem in setting.problems]
    assert all(later > earlier for earlier, later in pairwise(delays[1:]))


async def test_a_watch_whose_response_does_not_begin_is_not_open_and_is_reported_after_half_a_minute() -> None:
    async with reflecting(NO_PODS, otherwise=HANG) as (setting, server):
        await server.wait_requests(2)
        await setting.clock.advance(20)
        statistics = setting.reflector.statistics()
        assert (statistics.is_watching, statistics.resource_version) == (False, "10")
        assert statistics.last_contact is not None
        assert statistics.last_contact <= START + timedelta(seconds=1)
        await setting.clock.advance(11)
        await until(lambda: bool(setting.problems))

        assert isinstance(setting.problems[0].error, TransportTimeoutError)
        assert setting.reflector.statistics().failures_in_a_row == 1


async def test_a_long_retry_after_is_reported_when_it_begins_and_is_capped() -> None:
    busy = respond(429, b"{}", headers={"Retry-After": "86400"})
    async with reflecting(busy, NO_PODS, [stream_head(), HANG]) as (setting, server):
        await until(lambda: bool(setting.problems))
        assert isinstance(setting.problems[0].error, TooManyRequestsError)
        assert setting.problems[0].delay == 60.0
        assert setting.reflector.statistics().last_error is setting.problems[0].error
        assert len(server.requests) == 1
        await setting.clock.advance(61)
        await server.wait_requests(3)
        await until(lambda: setting.reflector.statistics().is_watching)


async def test_a_retry_after_of_no_time_does_not_cause_a_hot_loop() -> None:
    busy = respond(429, b"{}", headers={"Retry-After": "0"})
    async with reflecting(otherwise=busy) as (setting, server):
        for _ in range(120):
            await setting.clock.advance(1)
            await asyncio.sleep(0.002)  # for the sockets

    assert 20 <= len(server.requests) <= 40
    assert len(server.requests) - 1 <= len(setting.problems) <= len(server.requests)


async def test_an_open_watch_ends_a_series_of_failures() -> None:
    source = ScriptedSource(Pod)
    setting = Setting(source, streaming=False)
    source.will_list(resource_version="10")
    source.will_fail_watch(ConnectRefusedError("refused"))
    source.will_watch()

    async with setting.running():
        assert setting.reflector.statistics().failures_in_a_row == 1
        assert not setting.reflector.statistics().is_watching
        await setting.clock.advance(5)
        statistics = setting.reflector.statistics()

    assert (statistics.failures_in_a_row, statistics.last_error, statistics.is_watching) == (0, None, True)


async def test_the_last_contact_is_the_time_of_the_last_response_or_event() -> None:
    source = ScriptedSource(Pod)
    setting = Setting(source, streaming=False)
    source.will_fail_list(InternalServerError("oops"))
    assert setting.reflector.statistics().last_contact is None

    async with setting.running():
        assert setting.reflector.statistics().last_contact == START
        source.will_list(resource_version="10")
        watch = source.will_watch()
        await setting.clock.advance(60)
        watch.bookmark("11")
        await setting.clock.advance(30)

        assert setting.reflector.statistics().last_contact == START + timedelta(seconds=60)


async def test_an_informer_is_watching_only_while_all_its_sources_are() -> None:
    clock = VirtualClock()
    red, blue = ScriptedSource(Pod), ScriptedSource(Pod)
    red.will_list(resource_version="10")
    blue.will_list(resource_version="10")
    blue.will_fail_watch(ConnectRefusedError("refused"))

    async with SharedIndexInformer(
        {"red": red, "blue": blue}, Pod, clock=clock, random=Random(1), on_problem=lambda _: None
    ) as informer:
        await clock.advance(0)
        assert not informer.statistics().is_watching
        assert informer.statistics().last_contact == START
        await clock.advance(10)
        assert informer.statistics().is_watching


# --- Servers that ignore sendInitialEvents ----------------------------------------------------------------------------


async def stream_events(setting: Setting, watch: Any, events: Any, *, interval: float) -> None:
    for event in events:
        watch.send(event)
        await setting.clock.advance(interval)


@pytest.mark.parametrize(
    ("change", "seconds"),
    [
        (lambda number: ModifiedEvent(pod("a", str(100 + number))), 12),
        (lambda number: AddedEvent(pod("a", str(100 + number))), 12),
        (lambda number: DeletedEvent(pod(f"p{number}", str(100 + number))), 12),
        (lambda number: AddedEvent(pod(f"p{number}", str(100 + number))), 32),
    ],
    ids=["modified", "added again", "deleted", "created"],
)
async def test_a_server_that_ignores_initial_events_is_recognized_although_events_keep_coming(
    change: Callable[[int], Any], seconds: int
) -> None:
    source = ScriptedSource(Pod, supports_streaming=True)
    setting = Setting(source)
    watch = source.will_watch().add(pod("a", "5")).add(pod("b", "3"))
    source.will_list([pod("a", "5")], resource_version="200")
    source.will_watch()

    async with setting.running():
        await stream_events(setting, watch, map(change, range(seconds)), interval=1.0)
        assert [what for what, _ in source.requests] == ["watch", "list", "watch"]
        await setting.clock.advance(3600)

    assert [type(problem.error) for problem in setting.problems] == [WatchClosedError]


async def test_a_slow_server_that_sends_initial_events_is_waited_for() -> None:
    source = ScriptedSource(Pod, supports_streaming=True)
    setting = Setting(source)
    watch = source.will_watch().add(pod("newest", "1000"))

    async with setting.running():
        initial = [AddedEvent(pod(f"p{number}", str(500 - number))) for number in range(60)]
        await stream_events(setting, watch, initial, interval=5.0)
        watch.bookmark("1000", ends_initial_events=True)
        await setting.clock.advance(1)
        assert setting.reflector.statistics().is_watching

    assert setting.problems == []
    assert len(source.requests) == 1


async def test_changes_before_the_end_of_the_initial_events_do_not_end_the_stream() -> None:
    source = ScriptedSource(Pod, supports_streaming=True)
    setting = Setting(source)
    watch = source.will_watch().add(pod("a", "5")).modify(pod("a", "6")).delete(pod("a", "7"))

    async with setting.running():
        await setting.clock.advance(8)
        watch.bookmark("8", ends_initial_events=True)
        await setting.clock.advance(60)
        assert setting.reflector.statistics().is_watching

    assert setting.problems == []


# --- Storms -----------------------------------------------------------------------------------------------------------


async def test_a_storm_of_bad_objects_is_counted_and_reported_a_few_times() -> None:
    source = ScriptedSource(Pod)
    setting = Setting(source, streaming=False)
    nameless = Pod.from_dict({"metadata": {"resourceVersion": "11"}})
    source.will_list([nameless] * 1000, resource_version="10")
    watch = source.will_watch()
    for _ in range(1000):
        watch.add(nameless)

    async with setting.running():
        for _ in range(30):
            await setting.clock.advance(1)
        watch.bookmark("12")
        await setting.clock.advance(0)
        assert setting.reflector.statistics().skipped == 2000

    assert len(setting.problems) <= 30
    assert sum(problem.count for problem in setting.problems) == 2000


# --- Versions ---------------------------------------------------------------------------------------------------------


def requested(source: ScriptedSource[Pod]) -> list[tuple[str, Any]]:
    return [(what, options["resource_version"]) for what, options in source.requests]


@pytest.mark.parametrize("version", ["", "0"])
async def test_a_watch_of_a_list_without_a_version_is_not_resumed_but_listed_again(version: str) -> None:
    source = ScriptedSource(Pod)
    setting = Setting(source, streaming=False)
    source.will_list(resource_version=version)
    watch = source.will_watch()
    source.will_list(resource_version=version)

    async with setting.running():
        await setting.clock.advance(60)
        watch.end()
        await setting.clock.advance(0)

    assert requested(source) == [("list", "0"), ("watch", ""), ("list", ""), ("watch", "")]
    assert len(setting.problems) == 1  # reported once
    assert "resourceVersion" in setting.errors[0]


@pytest.mark.parametrize("version", ["", "0", "9"])
async def test_an_event_without_a_newer_version_does_not_change_where_the_watch_resumes(version: str) -> None:
    source = ScriptedSource(Pod)
    setting = Setting(source, streaming=False)
    source.will_list(resource_version="10")
    source.will_watch().modify(pod("a", "12")).modify(pod("b", version)).bookmark(version).end()

    async with setting.running():
        await setting.clock.advance(0)

    assert requested(source)[:3] == [("list", "0"), ("watch", "10"), ("watch", "12")]


@pytest.mark.parametrize("version", ["", "0"])
async def test_initial_events_that_end_without_a_version_are_listed_instead(version: str) -> None:
    source = ScriptedSource(Pod, supports_streaming=True)
    setting = Setting(source)
    source.will_watch().add(pod("a", "5")).bookmark(version, ends_initial_events=True)
    source.will_list([pod("a", "5")], resource_version="20")

    async with setting.running():
        await setting.clock.advance(5)

    assert requested(source) == [("watch", ""), ("list", "0"), ("watch", "20")]
    assert "ends the initial events" in setting.errors[0]


# --- Kinds ------------------------------------------------------------------------------------------------------------


SECRET = b'{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s","namespace":"a","resourceVersion":"11"}}'
POD = b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"a","resourceVersion":"12"}}'


async def test_only_objects_of_the_right_kind_enter_the_store() -> None:
    listed = respond(
        body=b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[%s,%s]}'
        % (SECRET, POD.replace(b'"p"', b'"listed"'))
    )
    events = b"".join(b'{"type":"ADDED","object":%s}\n' % each for each in (SECRET, POD))
    clock = VirtualClock()
    problems: list[Problem] = []
    async with (
        ScriptedServer(listed, [stream_head(), chunk(events), HANG]) as server,
        RESTClient(ClientConfig(host=server.url), clock=clock) as rest,
        SharedIndexInformer(
            ListWatch.from_client(rest, "pods"), Pod, streaming=False, clock=clock, on_problem=problems.append
        ) as informer,
    ):
        await until(lambda: informer.statistics().sources[0].events == 2)
        await until(lambda: len(informer.indexer) == 2)

        assert sorted(item.name for item in informer.indexer.list()) == ["listed", "p"]
        assert informer.statistics().sources[0].skipped == 2
    assert [str(each.error) for each in problems] == ["Pod a/s: expected v1 Pod, got v1 Secret"] * 2


async def test_a_table_instead_of_a_list_is_a_failed_request() -> None:
    table = respond(body=b'{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9"},"rows":[]}')
    async with reflecting(table, NO_PODS, [stream_head(), HANG]) as (setting, _):
        await until(lambda: bool(setting.problems))

        assert "Table" in setting.errors[0]
        assert setting.reflector.last_sync_resource_version == ""


# --- Long lists -------------------------------------------------------------------------------------------------------


class ReceivedBody:
    """A REST client that has received the response to every request already."""

    def __init__(self, body: bytes) -> None:
        self.raw = body

    def verb(self, _: str) -> ReceivedBody:
        return self

    resource = namespace = params = verb

    async def do(self) -> ReceivedBody:
        return self


async def test_a_long_list_of_a_rest_client_does_not_block_the_event_loop() -> None:
    items = b",".join([b'{"metadata":{"name":"a","namespace":"b"},"spec":{"nodeName":"%s"}}' % (b"n" * 1000)] * 20_000)
    source: Any = ListWatch.from_client(ReceivedBody(b'{"items":[%s]}' % items), "pods", kind=Pod)

    listing = asyncio.create_task(source.list())
    turns = 0
    while not listing.done():
        await asyncio.sleep(0)
        turns += 1

    assert len(listing.result().items) == 20_000
    assert turns > 3

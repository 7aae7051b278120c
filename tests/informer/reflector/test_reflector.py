"""The requests of a reflector and their delays, with a virtual clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from listwatch.cache.delta_fifo import DeltaFIFO
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import (
    ConnectRefusedError,
    ExpiredError,
    ForbiddenError,
    InternalServerError,
    StreamIdleError,
    WatchClosedError,
)
from listwatch.informer.reflector.problems import Problem
from listwatch.informer.reflector.reflector import Reflector
from listwatch.models.core_v1 import Pod
from listwatch.objects.object_list import ObjectList
from listwatch.sources.list_watch import ListWatch
from listwatch.testing.clocks import VirtualClock
from listwatch.testing.scripted_server import HANG, ScriptedServer, chunk, respond, stream_head
from listwatch.testing.scripted_source import ScriptedSource


def pod(name: str, version: str = "1") -> Pod:
    return Pod.from_dict({"metadata": {"name": name, "namespace": "default", "resourceVersion": version}})


class Setting:
    """A reflector with a scripted source and a virtual clock."""

    def __init__(self, *, streaming: bool = False, **options: Any) -> None:
        self.clock = VirtualClock()
        self.source = ScriptedSource(Pod, supports_streaming=streaming)
        self.fifo: DeltaFIFO[Pod] = DeltaFIFO()
        self.problems: list[Problem] = []
        self.listen_to(self.source, **options)

    def listen_to(self, source: Any, **options: Any) -> None:
        self.reflector = Reflector(
            source, Pod, self.fifo, clock=self.clock, random=Random(1), on_problem=self.problems.append, **options
        )

    def requested(self) -> list[tuple[str, str]]:
        return [(what, options["resource_version"]) for what, options in self.source.requests]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.reflector.run())
        try:
            await self.clock.advance(0)
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def queued(self) -> list[str]:
        queued = []
        while batch := self.fifo.pop_batch():
            queued += [type(delta).__name__ for delta in batch]
            self.fifo.processed(batch)
        return queued


async def test_a_list_and_a_watch_reach_the_queue_in_order() -> None:
    setting = Setting()
    setting.source.will_list([pod("a")], resource_version="10")
    watch = setting.source.will_watch()
    watch.add(pod("b", "11")).modify(pod("a", "12")).delete(pod("b", "13")).bookmark("20")

    async with setting.running():
        assert setting.queued() == ["ReplacedAllDelta", "AddedDelta", "UpdatedDelta", "DeletedDelta", "BookmarkDelta"]
        assert setting.reflector.last_sync_resource_version == "20"
        assert setting.requested() == [("list", "0"), ("watch", "10")]

    assert watch.closed.is_set()


async def test_the_statistics_name_the_phase_of_the_reflector() -> None:
    setting = Setting()

    async with setting.running():
        assert setting.reflector.statistics().state == "listing"

    setting = Setting()
    setting.source.will_list(resource_version="10")
    watch = setting.source.will_watch()
    async with setting.running():
        assert setting.reflector.statistics().state == "watching"
        watch.break_with(ConnectRefusedError("refused"))
        await setting.clock.advance(0)
        assert setting.reflector.statistics().state == "backing off"


async def test_the_statistics_count_how_often_everything_was_read_and_how() -> None:
    setting = Setting(streaming=True)
    assert (setting.reflector.statistics().syncs, setting.reflector.statistics().synced_by) == (0, "")
    watch = setting.source.will_watch()
    watch.bookmark("10", ends_initial_events=True)

    async with setting.running():
        assert (setting.reflector.statistics().syncs, setting.reflector.statistics().synced_by) == (1, "stream")
        setting.source.will_fail_watch(InternalServerError("no streams now"))
        setting.source.will_list(resource_version="20")
        setting.source.will_watch()
        watch.fail(ExpiredError("too old"))
        await setting.clock.advance(10)
        assert (setting.reflector.statistics().syncs, setting.reflector.statistics().synced_by) == (2, "list")


async def test_a_resumed_watch_does_not_count_as_a_sync() -> None:
    setting = Setting()
    setting.source.will_list(resource_version="10")
    setting.source.will_fail_watch(ConnectRefusedError("refused"))
    setting.source.will_watch()

    async with setting.running():
        await setting.clock.advance(10)
        assert setting.reflector.statistics().watches == 2
        assert setting.reflector.statistics().syncs == 1


async def test_missed_changes_are_read_before_a_watch_gives_way_to_handlers() -> None:
    asked: list[bool] = []
    confirmed: list[str] = []

    async def is_same_source() -> bool:
        return True

    def backlog() -> int:
        asked.append(bool(confirmed))
        return 0

    setting = Setting(backlog=backlog)
    setting.reflector.resume("10", is_same_source=is_same_source, on_confirmed=confirmed.append)
    watch = setting.source.will_watch()
    for version in range(11, 511):
        watch.add(pod(f"p{version}", str(version)))

    async with setting.running():
        await setting.clock.advance(1)
        assert confirmed == ["510"]
        assert asked == []
        for version in range(511, 1011):
            watch.add(pod(f"p{version}", str(version)))
        await setting.clock.advance(1)
        assert setting.reflector.last_sync_resource_version == "1010"
        assert asked
        assert all(asked)


async def test_a_failing_list_is_retried_with_growing_delays() -> None:
    setting = Setting()
    for _ in range(4):
        setting.source.will_fail_list(InternalServerError("oops"))
    setting.source.will_list(resource_version="10")

    async with setting.running():
        await setting.clock.advance(60)

    delays = [problem.delay for problem in setting.problems]
    assert [problem.attempt for problem in setting.problems] == [1, 2, 3, 4]
    assert all(low <= delay <= 2 * low for delay, low in zip(delays, (0.8, 1.6, 3.2, 6.4), strict=True))
    assert setting.reflector.statistics().failures_in_a_row == 0


async def test_delays_are_reset_after_two_minutes_without_failures() -> None:
    setting = Setting()
    setting.source.will_fail_list(InternalServerError("oops"))
    setting.source.will_fail_list(InternalServerError("oops"))
    setting.source.will_list(resource_version="10")
    watch = setting.source.will_watch()
    setting.source.will_list(resource_version="11")

    async with setting.running():
        await setting.clock.advance(200)
        watch.break_with(InternalServerError("oops"))
        await setting.clock.advance(10)

    assert setting.problems[-1].delay <= 1.6


async def test_a_forbidden_resource_is_retried_with_long_delays_and_every_failure_is_reported() -> None:
    setting = Setting()
    for _ in range(100):
        setting.source.will_fail_list(ForbiddenError("pods is forbidden"))

    async with setting.running():
        await setting.clock.advance(600)

    assert 5 <= len(setting.source.requests) <= 12
    assert len(setting.problems) == len(setting.source.requests)


async def test_a_watch_whose_connection_is_refused_is_resumed_without_a_list() -> None:
    setting = Setting()
    setting.source.will_list(resource_version="10")
    setting.source.will_fail_watch(ConnectRefusedError("refused"))
    setting.source.will_fail_watch(ConnectRefusedError("refused"))

    async with setting.running():
        await setting.clock.advance(10)

    assert setting.requested() == [("list", "0"), ("watch", "10"), ("watch", "10"), ("watch", "10")]


async def test_an_error_event_is_reported_and_leads_to_a_relist() -> None:
    setting = Setting()
    setting.source.will_list([pod("a")], resource_version="10")
    watch = setting.source.will_watch().add(pod("b", "11")).fail(ExpiredError("too old resource version"))
    setting.source.will_list([pod("b", "11")], resource_version="15")

    async with setting.running():
        await setting.clock.advance(5)
        assert setting.queued() == ["ReplacedAllDelta", "AddedDelta", "ReplacedAllDelta"]

    assert watch.closed.is_set()
    assert isinstance(setting.problems[0].error, ExpiredError)
    assert setting.requested() == [("list", "0"), ("watch", "10"), ("list", "11"), ("watch", "15")]


async def test_watches_are_requested_for_five_to_ten_minutes() -> None:
    setting = Setting()
    setting.source.will_list(resource_version="10")
    for _ in range(20):
        setting.source.will_watch().bookmark("10").end()

    async with setting.running():
        await setting.clock.advance(1)

    requested = [options["timeout_seconds"] for what, options in setting.source.requests if what == "watch"]
    assert len(set(requested)) > 10
    assert all(isinstance(each, int) and 300 <= each <= 600 for each in requested)


@pytest.mark.parametrize(("least", "low", "high"), [(1.0, 300, 600), (1800.0, 1800, 3600)])
async def test_min_watch_can_only_extend_the_duration_of_watches(least: float, low: int, high: int) -> None:
    setting = Setting(min_watch=least)
    setting.source.will_list(resource_version="10")

    async with setting.running():
        pass

    assert low <= setting.source.requests[1][1]["timeout_seconds"] <= high


async def test_a_watch_that_ends_at_once_is_retried_with_a_delay() -> None:
    setting = Setting()
    for _ in range(50):
        setting.source.will_list(resource_version="10")
        setting.source.will_watch().end()

    async with setting.running():
        await setting.clock.advance(60)

    assert len(setting.source.requests) < 20
    assert isinstance(setting.problems[0].error, WatchClosedError)


async def test_a_stream_fills_the_queue_after_the_initial_events_and_continues() -> None:
    setting = Setting(streaming=True)
    watch = setting.source.will_watch().add(pod("a", "5"))

    async with setting.running():
        assert setting.queued() == []
        watch.bookmark("20", ends_initial_events=True).add(pod("b", "21"))
        await setting.clock.advance(0)
        assert setting.queued() == ["ReplacedAllDelta", "AddedDelta"]

    assert setting.source.requests[0][1]["send_initial_events"] is True
    assert setting.source.requests[0][1]["resource_version_match"] == "NotOlderThan"
    assert len(setting.source.requests) == 1


async def test_a_server_that_does_not_end_the_initial_events_is_listed_from_then_on() -> None:
    setting = Setting(streaming=True)
    silent = setting.source.will_watch().add(pod("a", "5"))
    setting.source.will_list([pod("a", "5")], resource_version="20")
    watch = setting.source.will_watch()
    setting.source.will_list([pod("a", "5")], resource_version="30")

    async with setting.running():
        await setting.clock.advance(9)
        assert setting.requested() == [("watch", "")]
        await setting.clock.advance(2)
        assert setting.queued() == ["ReplacedAllDelta"]
        assert silent.closed.is_set()
        watch.fail(ExpiredError("too old"))
        await setting.clock.advance(5)

    assert setting.requested() == [("watch", ""), ("list", "0"), ("watch", "20"), ("list", "20"), ("watch", "30")]


async def test_cancelling_closes_the_stream_at_once() -> None:
    setting = Setting()
    setting.source.will_list(resource_version="10")
    watch = setting.source.will_watch()

    async with setting.running():
        assert watch.opened.is_set()
        assert not watch.closed.is_set()

    assert watch.closed.is_set()


async def test_a_source_that_raises_any_exception_is_retried() -> None:
    setting = Setting()
    setting.source.will_fail_list(ZeroDivisionError("a bug in the source"))
    setting.source.will_list(resource_version="10")

    async with setting.running():
        await setting.clock.advance(5)
        assert setting.queued() == ["ReplacedAllDelta"]

    assert isinstance(setting.problems[0].error, ZeroDivisionError)


async def test_a_source_that_awaits_something_cancelled_is_retried() -> None:
    setting, cancelled = Setting(), asyncio.get_running_loop().create_future()
    cancelled.cancel()
    setting.source.will_list(resource_version="10")
    responses = [cancelled, setting.source.list()]

    async def list_in_turn() -> Any:
        return await responses.pop(0)

    setting.listen_to(ListWatch(list=list_in_turn, watch=setting.source.watch), streaming=False)
    async with setting.running():
        await setting.clock.advance(5)
        assert setting.queued() == ["ReplacedAllDelta"]

    assert [str(each.error) for each in setting.problems] == ["the source awaited something that was cancelled"]


@pytest.mark.parametrize("hides_it", [False, True])
async def test_a_source_that_replaces_a_cancellation_does_not_prevent_the_end(hides_it: bool) -> None:
    setting = Setting()
    setting.source.will_list(resource_version="10")
    watches = 0

    async def watch() -> AsyncIterator[Any]:
        nonlocal watches
        watches += 1
        try:
            await asyncio.Event().wait()
            yield pod_added("11")
        except asyncio.CancelledError:
            if not hides_it:
                raise ConnectionError("lost, in the middle of the end") from None

    setting.listen_to(ListWatch(list=setting.source.list, watch=watch), streaming=False)
    async with setting.running():
        await setting.clock.advance(1)

    assert watches == 1


def functions() -> dict[str, Callable[..., Any]]:
    async def watch(resource_version: str) -> AsyncIterator[Any]:
        yield pod_added(resource_version)
        await asyncio.Event().wait()

    return {"list": lambda: [pod("a")], "watch": watch}


def pod_added(version: str) -> Any:
    from listwatch.api.watch_events import AddedEvent

    return AddedEvent(pod("b", version or "7"))


async def test_two_functions_make_a_source() -> None:
    fifo: DeltaFIFO[Pod] = DeltaFIFO()
    reflector = Reflector(ListWatch[Pod](**functions()), Pod, fifo, clock=(clock := VirtualClock()), streaming=False)
    task = asyncio.create_task(reflector.run())
    await clock.advance(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    names = [type(delta).__name__ for delta in [*fifo.pop_batch(), *fifo.pop_batch()]]
    assert names == ["ReplacedAllDelta", "AddedDelta"]


async def test_a_source_without_chunking_requests_complete_lists() -> None:
    requested: list[int | None] = []

    async def everything(limit: int | None) -> ObjectList[Pod]:
        requested.append(limit)
        return ObjectList([pod("a")])

    source = ListWatch[Pod](list=everything, watch=functions()["watch"], chunking=False)
    await source.list(limit=500, resource_version="0")

    assert requested == [0]


async def test_an_on_problem_that_raises_does_not_end_the_reflector() -> None:
    setting = Setting()

    def fail(problem: Problem) -> None:
        raise ZeroDivisionError(problem.source)

    setting.reflector = Reflector(
        setting.source, Pod, setting.fifo, clock=setting.clock, random=Random(1), on_problem=fail
    )
    setting.source.will_fail_list(InternalServerError("oops"))
    setting.source.will_list([pod("a")], resource_version="10")

    async with setting.running():
        await setting.clock.advance(5)

    assert setting.queued() == ["ReplacedAllDelta"]


# --- A dead peer, which the watches of a client notice ---------------------------------------------------------------

NO_PODS = respond(body=b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[]}')


def bookmark(version: int) -> bytes:
    return chunk(b'{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"%d"}}}\n' % version)


@asynccontextmanager
async def reflecting(*watches: Any) -> AsyncIterator[tuple[Setting, ScriptedServer]]:
    """A reflector with a client, whose server responds to the list and then to these watches."""
    setting = Setting()
    async with (
        ScriptedServer(NO_PODS, *watches) as server,
        RESTClient(ClientConfig(host=server.url), clock=setting.clock) as rest,
    ):
        setting.listen_to(ListWatch.from_client(rest, "pods"), streaming=False)
        async with setting.running():
            await server.wait_requests(2)
            yield setting, server


def versions_watched(server: ScriptedServer) -> list[str]:
    targets = [parse_qs(urlsplit(request.target).query) for request in server.requests]
    return [query["resourceVersion"][0] for query in targets if "watch" in query]


async def test_a_dead_peer_is_detected_and_the_watch_is_resumed() -> None:
    async with reflecting([stream_head(), HANG], [stream_head(), HANG]) as (setting, server):
        await setting.clock.advance(329)  # a watch lasts at least 300 seconds
        assert not setting.problems
        await setting.clock.advance(330)
        await server.wait_requests(3)

        assert isinstance(setting.problems[0].error, StreamIdleError)
        assert versions_watched(server) == ["10", "10"]


async def test_a_server_that_stops_sending_bookmarks_is_considered_dead_early() -> None:
    async with reflecting([stream_head(), bookmark(12), HANG], [stream_head(), HANG]) as (setting, server):
        await setting.clock.advance(179)
        assert not setting.problems
        await setting.clock.advance(10)
        await server.wait_requests(3)

        assert isinstance(setting.problems[0].error, StreamIdleError)
        assert versions_watched(server) == ["10", "12"]


async def test_an_idle_watch_whose_server_sends_bookmarks_is_kept() -> None:
    minutes = [asyncio.Event() for _ in range(5)]
    script = [step for count, minute in enumerate(minutes) for step in (minute, bookmark(11 + count))]
    async with reflecting([stream_head(), *script, HANG]) as (setting, server):
        for minute in minutes:
            await setting.clock.advance(170)
            minute.set()
            await setting.clock.advance(1)

        assert not setting.problems
        assert setting.reflector.last_sync_resource_version == "15"
        assert versions_watched(server) == ["10"]

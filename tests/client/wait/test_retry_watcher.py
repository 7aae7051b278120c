"""When a RetryWatcher resumes, which errors it raises, and how long it waits."""

import asyncio
from typing import Any

import pytest

from listwatch.api.watch_events import AddedEvent, DeletedEvent, ModifiedEvent, WatchEvent
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.wait.retry_watcher import RetryWatcher
from listwatch.client.wait.until import until, until_without_retry
from listwatch.errors import (
    APIError,
    BadRequestError,
    ConnectionLostError,
    ConnectRefusedError,
    ExpiredError,
    ForbiddenError,
    GoneError,
    InternalServerError,
    NotFoundError,
    RequestTimeoutError,
    ResponseTooLargeError,
    ServiceUnavailableError,
    StatusCause,
    StatusDetails,
    StreamIdleError,
    TooManyRequestsError,
    UnauthorizedError,
    UsageError,
    WaitTimeoutError,
    WatchClosedError,
)
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ObjectMeta
from listwatch.server import APIServer, CutStream, Fault
from listwatch.testing.clocks import InstantClock, VirtualClock
from listwatch.testing.scripted_source import ScriptedSource


def config_map(name: str, version: int) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, resource_version=str(version)))


@pytest.fixture
def source() -> ScriptedSource[ConfigMap]:
    return ScriptedSource(ConfigMap)


@pytest.fixture
def clock() -> InstantClock:
    return InstantClock()


def versions(source: ScriptedSource[ConfigMap]) -> list[str]:
    """The versions from which it was watched."""
    assert all(options["allow_watch_bookmarks"] for _, options in source.requests)
    return [options["resource_version"] for _, options in source.requests]


async def first(count: int, watcher: RetryWatcher[ConfigMap]) -> list[WatchEvent[ConfigMap]]:
    async with watcher:
        return [await anext(watcher) for _ in range(count)]


# --- going on --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["", "0"])
def test_it_cannot_start_from_a_version_that_is_not_fixed(source: ScriptedSource[ConfigMap], version: str):
    with pytest.raises(UsageError, match="list first, and pass the resource_version of the list"):
        RetryWatcher(source, version)


async def test_it_resumes_from_the_last_event(source: ScriptedSource[ConfigMap], clock: InstantClock):
    source.will_watch().add(config_map("a", 6)).modify(config_map("a", 7)).end()
    source.will_watch().delete(config_map("a", 9)).end()
    seen = await first(3, RetryWatcher(source, "5", clock=clock))
    assert [type(each) for each in seen] == [AddedEvent, ModifiedEvent, DeletedEvent]
    assert versions(source) == ["5", "7"]


async def test_it_resumes_from_the_last_bookmark_and_does_not_yield_it(
    source: ScriptedSource[ConfigMap], clock: InstantClock
):
    source.will_watch().bookmark("20").end()
    source.will_watch().add(config_map("a", 21))
    watcher = RetryWatcher(source, "5", clock=clock)
    assert [each.object.name for each in await first(1, watcher)] == ["a"]
    assert versions(source) == ["5", "20"]
    assert watcher.resource_version == "21"


@pytest.mark.parametrize(
    "error",
    [
        ConnectionLostError("reset"),
        ConnectRefusedError("connection refused"),
        StreamIdleError("silent"),
        ServiceUnavailableError("not ready"),
        InternalServerError("broken"),
        NotFoundError("not there yet"),
        BadRequestError("what?"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_watch_that_cannot_be_opened_is_retried(
    source: ScriptedSource[ConfigMap], clock: InstantClock, error: Exception
):
    source.will_fail_watch(error)
    source.will_fail_watch(error)
    source.will_watch().add(config_map("a", 6))
    assert len(await first(1, RetryWatcher(source, "5", clock=clock))) == 1
    assert versions(source) == ["5", "5", "5"]


async def test_a_broken_stream_is_resumed(source: ScriptedSource[ConfigMap], clock: InstantClock):
    source.will_watch().add(config_map("a", 6)).break_with(ConnectionLostError("reset"))
    source.will_watch().add(config_map("b", 8))
    assert len(await first(2, RetryWatcher(source, "5", clock=clock))) == 2
    assert versions(source) == ["5", "6"]


@pytest.mark.parametrize(
    ("error", "delay"),
    [
        (RequestTimeoutError("slow"), 0.0),
        (RequestTimeoutError("slow", retry_after=7), 7.0),
        (InternalServerError("broken", retry_after=3), 3.0),
        (TooManyRequestsError("busy", retry_after=9), 9.0),
        (APIError("?", status_code=418), 0.0),
    ],
)
async def test_a_transient_error_event_is_retried_after_its_delay(
    source: ScriptedSource[ConfigMap], clock: InstantClock, error: APIError, delay: float
):
    source.will_watch().add(config_map("a", 6)).fail(error)
    source.will_watch().add(config_map("b", 7))
    assert len(await first(2, RetryWatcher(source, "5", clock=clock))) == 2
    assert clock.slept == [max(delay, 1.0)]


async def test_watches_start_at_least_a_second_apart(source: ScriptedSource[ConfigMap], clock: InstantClock):
    for _ in range(3):
        source.will_watch().end()
    source.will_watch().add(config_map("a", 6))
    await first(1, RetryWatcher(source, "5", clock=clock))
    assert clock.slept == [1.0, 1.0, 1.0]


async def test_a_long_watch_is_resumed_at_once(source: ScriptedSource[ConfigMap]):
    clock = VirtualClock()
    long = source.will_watch()
    source.will_watch().add(config_map("a", 6))
    reading = asyncio.create_task(first(1, RetryWatcher(source, "5", clock=clock)))
    await long.opened.wait()
    clock.jump(300.0)
    long.end()
    await reading
    assert clock.monotonic() == 300.0


# --- giving up -------------------------------------------------------------------------------------------------------


FINAL = [ExpiredError("too old"), GoneError("gone"), ForbiddenError("forbidden"), UnauthorizedError("unauthorized")]


@pytest.mark.parametrize("error", FINAL, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("where", ["when it is opened", "in the stream"])
async def test_final_errors_are_raised(
    source: ScriptedSource[ConfigMap], clock: InstantClock, error: APIError, where: str
):
    if where == "in the stream":
        source.will_watch().fail(error)
    else:
        source.will_fail_watch(error)
    with pytest.raises(type(error)):
        await first(1, RetryWatcher(source, "5", clock=clock))
    assert len(source.requests) == 1


async def test_an_event_that_is_too_large_ends_it(source: ScriptedSource[ConfigMap], clock: InstantClock):
    source.will_fail_watch(ResponseTooLargeError("an event of the watch has more than 5 bytes"))
    with pytest.raises(ResponseTooLargeError):
        await first(1, RetryWatcher(source, "5", clock=clock))
    assert len(source.requests) == 1, "the next watch would receive it again"


async def test_an_event_without_a_version_ends_it(source: ScriptedSource[ConfigMap], clock: InstantClock):
    source.will_watch().add(ConfigMap(metadata=ObjectMeta(name="a")))
    with pytest.raises(WatchClosedError, match="the event of ConfigMap a has no resourceVersion"):
        await first(1, RetryWatcher(source, "5", clock=clock))


async def test_an_event_that_cannot_be_read_ends_it(source: ScriptedSource[ConfigMap], clock: InstantClock):
    causes = (StatusCause(reason="ClientWatchDecoding", message="no JSON"),)
    source.will_watch().fail(InternalServerError("unreadable", details=StatusDetails(causes=causes)))
    with pytest.raises(InternalServerError, match="unreadable"):
        await first(1, RetryWatcher(source, "5", clock=clock))


async def test_it_is_closed_after_an_error(source: ScriptedSource[ConfigMap], clock: InstantClock):
    source.will_fail_watch(ForbiddenError("forbidden"))
    watcher = RetryWatcher(source, "5", clock=clock)
    with pytest.raises(ForbiddenError):
        await anext(watcher)
    assert [event async for event in watcher] == []


async def test_leaving_closes_the_watch_with_unread_events(source: ScriptedSource[ConfigMap], clock: InstantClock):
    watch = source.will_watch()
    for version in range(6, 20):
        watch.add(config_map("a", version))
    await first(1, RetryWatcher(source, "5", clock=clock))
    assert watch.closed.is_set()


async def test_cancelling_closes_the_watch(source: ScriptedSource[ConfigMap], clock: InstantClock):
    watch = source.will_watch()
    reading = asyncio.create_task(first(1, RetryWatcher(source, "5", clock=clock)))
    await watch.opened.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert watch.closed.is_set()


async def test_closing_ends_the_loop_of_another_task(source: ScriptedSource[ConfigMap], clock: InstantClock):
    watch = source.will_watch().add(config_map("a", 6))
    watcher = RetryWatcher(source, "5", clock=clock)
    assert (await anext(watcher)).object.name == "a"
    reading = asyncio.create_task(anext(watcher, None))
    await asyncio.sleep(0)
    await asyncio.gather(watcher.aclose(), watcher.aclose())
    assert await reading is None
    assert watch.closed.is_set()
    assert await anext(watcher, None) is None


async def test_closing_ends_a_wait_between_two_watches(source: ScriptedSource[ConfigMap]):
    clock = VirtualClock()
    source.will_watch().end()
    watcher = RetryWatcher(source, "5", clock=clock)
    reading = asyncio.create_task(anext(watcher, None))
    await clock.wait_asleep()
    await watcher.aclose()
    assert await reading is None


async def test_closing_an_unread_watcher_ends_it(source: ScriptedSource[ConfigMap], clock: InstantClock):
    watcher = RetryWatcher(source, "5", clock=clock)
    await watcher.aclose()
    assert await anext(watcher, None) is None
    assert source.requests == []


async def test_a_timeout_on_the_next_event_loses_none(source: ScriptedSource[ConfigMap], clock: InstantClock):
    source.will_watch().add(config_map("a", 6))  # which ends when it is cancelled, as generators do
    source.will_watch().add(config_map("b", 7))
    watcher = RetryWatcher(source, "5", clock=clock)
    await anext(watcher)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await anext(watcher)
    assert (await anext(watcher)).object.name == "b"
    assert versions(source) == ["5", "6"]
    await watcher.aclose()


async def test_closing_with_an_event_available_closes_the_watch(source: ScriptedSource[ConfigMap], clock: InstantClock):
    watch = source.will_watch()
    watcher = RetryWatcher(source, "5", clock=clock)
    reading = asyncio.create_task(anext(watcher, None))
    await watch.opened.wait()
    watch.add(config_map("a", 6))
    await watcher.aclose()
    await reading
    assert await anext(watcher, None) is None
    assert watch.closed.is_set()


async def test_a_second_reader_is_rejected(source: ScriptedSource[ConfigMap], clock: InstantClock):
    watch = source.will_watch()
    watcher = RetryWatcher(source, "5", clock=clock)
    reading = asyncio.create_task(anext(watcher))
    await watch.opened.wait()
    with pytest.raises(UsageError, match="another task is already reading"):
        await anext(watcher)
    watch.add(config_map("a", 6))
    assert (await reading).object.name == "a"
    await watcher.aclose()


# --- at a server -----------------------------------------------------------------------------------------------------


async def test_no_event_is_lost_or_duplicated_when_connections_break(
    server: APIServer, client: ClientSet, clock: InstantClock
):
    maps = client.core_v1.configmaps("default")
    start = (await maps.list()).resource_version
    server.faults.add(Fault(CutStream(after_events=2), verb="watch", times=4))
    for number in range(10):
        await maps.create(ConfigMap(metadata=ObjectMeta(name=f"c-{number}")))
    seen = await first(10, RetryWatcher(maps, start, clock=clock))
    assert [each.object.name for each in seen] == [f"c-{number}" for number in range(10)]
    assert len(server.requests.matching(verb="watch")) == 5


async def test_timeouts_on_the_next_event_leave_the_watch_open(server: APIServer, client: ClientSet):
    maps = client.core_v1.configmaps("default")
    async with RetryWatcher(maps, (await maps.list()).resource_version) as watcher:
        for number in range(3):
            await maps.create(ConfigMap(metadata=ObjectMeta(name=f"c-{number}")))
            assert (await anext(watcher)).object.name == f"c-{number}"
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0):
                    await anext(watcher)
    assert len(server.requests.matching(verb="watch")) == 1


async def test_a_compacted_version_raises_on_a_server(server: APIServer, client: ClientSet):
    maps = client.core_v1.configmaps("default")
    start = (await maps.list()).resource_version
    for number in range(3):
        await maps.create(ConfigMap(metadata=ObjectMeta(name=f"c-{number}")))
    server.compact()
    with pytest.raises(ExpiredError):
        await first(1, RetryWatcher(maps, start))


# --- until -----------------------------------------------------------------------------------------------------------


def named(name: str) -> Any:
    def is_named(event: WatchEvent[ConfigMap]) -> bool:
        return event.object.name == name

    return is_named


async def test_conditions_are_met_in_turn(source: ScriptedSource[ConfigMap], clock: InstantClock):
    source.will_watch().add(config_map("b", 6)).add(config_map("a", 7)).end()
    source.will_watch().modify(config_map("b", 8))
    last = await until(source, "5", named("a"), named("b"), clock=clock)
    assert (type(last), last.object.resource_version) == (ModifiedEvent, "8")


async def test_one_event_may_meet_several_conditions(source: ScriptedSource[ConfigMap], clock: InstantClock):
    source.will_watch().add(config_map("a", 6))
    last = await until(source, "5", named("a"), lambda event: isinstance(event, AddedEvent), named("a"), clock=clock)
    assert last.object.resource_version == "6"


async def test_an_exception_in_a_condition_ends_the_wait(source: ScriptedSource[ConfigMap], clock: InstantClock):
    watch = source.will_watch().add(config_map("a", 6))

    def fail(_: WatchEvent[ConfigMap]) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await until(source, "5", fail, clock=clock)
    assert watch.closed.is_set()


async def test_a_timeout_reports_the_last_event(source: ScriptedSource[ConfigMap]):
    clock = VirtualClock()
    watch = source.will_watch().add(config_map("b", 6))
    waiting = asyncio.create_task(until(source, "5", named("a"), timeout=30, clock=clock))
    await watch.opened.wait()
    await clock.advance(30)
    with pytest.raises(
        WaitTimeoutError, match="timed out after 30 s waiting for is_named; the last event was ADDED ConfigMap b"
    ) as caught:
        await waiting
    assert isinstance(caught.value.last, AddedEvent)
    assert watch.closed.is_set()


async def test_a_single_watch_may_end_too_early(source: ScriptedSource[ConfigMap]):
    source.will_watch().add(config_map("b", 6)).end()
    async with source.watch(resource_version="5") as events:
        with pytest.raises(WatchClosedError, match="the watch ended while waiting for is_named, is_named"):
            await until_without_retry(events, named("a"), named("c"))


async def test_an_error_in_a_single_watch_is_raised(source: ScriptedSource[ConfigMap]):
    source.will_watch().fail(InternalServerError("broken"))
    async with source.watch(resource_version="5") as events:
        with pytest.raises(InternalServerError):
            await until_without_retry(events, named("a"))

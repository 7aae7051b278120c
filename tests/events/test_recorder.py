"""Events on the embedded server, over HTTP, also while it is unreachable."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest

import listwatch as lw
from listwatch.errors import ForbiddenError, StatusCause, StatusDetails, UsageError
from listwatch.events.recorder import EventRecorder
from listwatch.models.core_v1 import Event, Node, ObjectReference, Pod
from listwatch.server import APIServer, DropResponse, Fail, Fault, Refuse
from listwatch.testing.clocks import VirtualClock

POD = Pod.from_dict(
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "uid": "uid-1"}}
)
APIS = ["core_v1", "events_v1"]


@pytest.fixture
async def server() -> AsyncIterator[APIServer]:
    async with APIServer() as server:
        yield server


@pytest.fixture
async def client(server: APIServer) -> AsyncIterator[lw.ClientSet]:
    async with lw.ClientSet(server.config) as client:
        yield client


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


async def close_in_time(recorder: EventRecorder, clock: VirtualClock) -> None:
    """Close one that is waiting to write again, while time passes."""
    leaving = asyncio.create_task(recorder.aclose())
    await clock.wait_asleep(2)
    while not leaving.done():
        clock.wake_next()
        await asyncio.sleep(0.001)


def recorder_for(client: lw.ClientSet, clock: VirtualClock, *, api: str = "core_v1", **options: Any) -> EventRecorder:
    events = getattr(client, api).events()
    return EventRecorder(events, component="tests", instance="one", clock=clock, random=Random(1), **options)


async def kept(client: lw.ClientSet) -> list[Any]:
    return list(await client.core_v1.events().list())


async def retried(clock: VirtualClock, *, times: int) -> None:
    """Let a task sleep and wake this many times."""
    for _ in range(times):
        await clock.wait_asleep()
        clock.wake_next()


# --- What arrives -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("api", APIS)
async def test_an_event_is_written_beside_its_object(client: lw.ClientSet, clock: VirtualClock, api: str):
    async with recorder_for(client, clock, api=api) as recorder:
        recorder.event(
            POD,
            "Warning",
            "BackOff",
            "restarting failed",
            action="Restart",
            related=ObjectReference(api_version="v1", kind="Node", name="n1"),
            annotations={"try": "3"},
        )
        await recorder.flush()
    [event] = await kept(client)
    assert (event.namespace, event.name.startswith("web.")) == ("default", True)
    assert (event.type, event.reason, event.message, event.action) == (
        "Warning",
        "BackOff",
        "restarting failed",
        "Restart",
    )
    assert (event.involved_object.kind, event.involved_object.uid) == ("Pod", "uid-1")
    assert (event.related.name, event.metadata.annotations) == ("n1", {"try": "3"})
    assert (event.reporting_component, event.reporting_instance) == ("tests", "one")
    assert recorder.statistics().created == 1


async def test_an_event_about_an_object_without_namespace_is_in_the_default_one(
    client: lw.ClientSet, clock: VirtualClock
):
    async with recorder_for(client, clock, api="events_v1") as recorder:
        recorder.event(Node.from_dict({"metadata": {"name": "n1"}}), "Normal", "Ready", "it is")
    [event] = await kept(client)
    assert event.namespace == "default"
    assert event.action == "Ready"  # there must be one


async def test_an_event_that_repeats_is_counted(client: lw.ClientSet, clock: VirtualClock):
    async with recorder_for(client, clock) as recorder:
        for _ in range(3):
            recorder.event(POD, "Normal", "Pulled", "the image is there")
            await clock.advance(1)
        await recorder.flush()
    [event] = await kept(client)
    assert event.count == 3
    assert (event.last_timestamp - event.first_timestamp).total_seconds() == 2
    now = recorder.statistics()
    assert (now.recorded, now.created, now.patched, now.pending) == (3, 1, 2, 0)


async def test_very_many_events_become_few(client: lw.ClientSet, clock: VirtualClock):
    async with recorder_for(client, clock) as recorder:
        for number in range(40):
            recorder.event(POD, "Warning", "Failed", f"try {number}")
    events = await kept(client)
    assert len(events) == 10
    assert max(event.count for event in events) == 16
    assert sum(event.message.startswith("(combined from similar events): ") for event in events) == 1
    assert recorder.statistics().filtered == 15


async def test_a_series_is_written_at_the_second_event_and_when_it_ends(client: lw.ClientSet, clock: VirtualClock):
    async with recorder_for(client, clock, api="events_v1") as recorder:
        for _ in range(5):
            recorder.event(POD, "Warning", "BackOff", "restarting failed")
        await recorder.flush()
        [event] = await kept(client)
        assert event.series.count == 2
        await clock.advance(360)
        await recorder.flush()
        [event] = await kept(client)
        assert event.series.count == 5
        recorder.event(POD, "Warning", "BackOff", "restarting failed")
    assert len(await kept(client)) == 2
    now = recorder.statistics()
    assert (now.created, now.patched, now.counted) == (2, 2, 3)


async def test_the_count_of_a_series_is_written_when_the_recorder_is_closed(client: lw.ClientSet, clock: VirtualClock):
    async with recorder_for(client, clock, api="events_v1") as recorder:
        for _ in range(9):
            recorder.event(POD, "Warning", "BackOff", "restarting failed")
    [event] = await kept(client)
    assert event.series.count == 9


async def test_the_count_of_a_series_that_cannot_be_written_in_time_is_counted_as_dropped(
    server: APIServer, client: lw.ClientSet, clock: VirtualClock, caplog: pytest.LogCaptureFixture
):
    async with recorder_for(client, clock, api="events_v1") as recorder:
        for _ in range(9):
            recorder.event(POD, "Warning", "BackOff", "restarting failed")
        await recorder.flush()
        server.faults.add(Fault(Refuse(), resource="events"))
        await close_in_time(recorder, clock)
    assert (recorder.statistics().counted, recorder.statistics().dropped) == (7, 1)
    assert "Dropped, because they were not written in time: 1 event" in caplog.text


@pytest.mark.parametrize("api", APIS)
async def test_a_lone_surrogate_is_replaced_and_later_events_are_written(
    client: lw.ClientSet, clock: VirtualClock, api: str
):
    async with recorder_for(client, clock, api=api) as recorder:
        recorder.event(POD, "Warning", "Unreadable", "the file \udcff")
        recorder.event(POD, "Normal", "Pulled", "the image is there")
    assert [event.message for event in await kept(client)] == ["the file ?", "the image is there"]


async def test_a_repeated_event_that_expired_on_the_server_is_created_again(client: lw.ClientSet, clock: VirtualClock):
    async with recorder_for(client, clock) as recorder:
        recorder.event(POD, "Normal", "Pulled", "the image is there")
        await recorder.flush()
        await client.core_v1.events("default").delete_collection()
        recorder.event(POD, "Normal", "Pulled", "the image is there")
    [event] = await kept(client)
    assert event.count == 2
    assert recorder.statistics().created == 2


async def test_a_name_that_cannot_be_part_of_an_events_name_is_replaced(client: lw.ClientSet, clock: VirtualClock):
    odd = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "system:odd"}}
    long = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x" * 250, "namespace": "default"}}
    async with recorder_for(client, clock) as recorder:
        recorder.event(odd, "Normal", "Seen", "it has a colon")
        recorder.event(long, "Normal", "Seen", "it is long")
    events = await kept(client)
    assert sorted(event.involved_object.name for event in events) == ["system:odd", "x" * 250]
    assert all(len(event.name) == 36 for event in events)


async def test_what_was_recorded_before_opening_is_written_then(client: lw.ClientSet, clock: VirtualClock):
    recorder = recorder_for(client, clock)
    recorder.event(POD, "Normal", "Early", "before anything ran")
    async with recorder:
        pass
    assert [event.reason for event in await kept(client)] == ["Early"]


async def test_any_thread_may_record(client: lw.ClientSet, clock: VirtualClock):
    async with recorder_for(client, clock) as recorder:

        def record(number: int) -> None:
            recorder.event(POD, "Normal", f"Done{number}", "in a thread")

        threads = [threading.Thread(target=record, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len({event.name for event in await kept(client)}) == 8


# --- A server that is away --------------------------------------------------------------------------------------------


async def test_an_event_is_retried_while_the_server_is_unreachable(
    server: APIServer, client: lw.ClientSet, clock: VirtualClock
):
    server.faults.add(Fault(Refuse(), resource="events", times=3))
    async with recorder_for(client, clock) as recorder:
        recorder.event(POD, "Normal", "Pulled", "the image is there")
        await retried(clock, times=3)
        await recorder.flush()
    assert [event.reason for event in await kept(client)] == ["Pulled"]
    assert 20 < clock.monotonic() < 30  # 10 seconds between tries, and a random part of that at first
    now = recorder.statistics()
    assert (now.created, now.retries, now.failed) == (1, 3, 0)


async def test_an_event_fails_after_twelve_attempts_and_the_next_is_written(
    server: APIServer, client: lw.ClientSet, clock: VirtualClock, caplog: pytest.LogCaptureFixture
):
    server.faults.add(Fault(Refuse(), resource="events", times=12))
    async with recorder_for(client, clock) as recorder:
        recorder.event(POD, "Normal", "Lost", "never written")
        recorder.event(POD, "Normal", "Pulled", "the image is there")
        await retried(clock, times=11)
        await recorder.flush()
    assert [event.reason for event in await kept(client)] == ["Pulled"]
    now = recorder.statistics()
    assert (now.created, now.retries, now.failed) == (1, 11, 1)
    assert "Cannot write the event" in caplog.text


async def test_an_event_whose_response_was_lost_is_counted_as_created(
    server: APIServer, client: lw.ClientSet, clock: VirtualClock
):
    server.faults.add(Fault(DropResponse(), resource="events", verb="create", times=1))
    async with recorder_for(client, clock) as recorder:
        recorder.event(POD, "Normal", "Pulled", "the image is there")
        await retried(clock, times=1)
        await recorder.flush()
    assert len(await kept(client)) == 1
    assert (recorder.statistics().created, recorder.statistics().failed) == (1, 0)


async def test_an_event_that_the_server_rejects_is_not_retried(
    server: APIServer, client: lw.ClientSet, clock: VirtualClock, caplog: pytest.LogCaptureFixture
):
    server.faults.add(Fault(Fail(ForbiddenError("no events for you")), resource="events", times=1))
    async with recorder_for(client, clock) as recorder:
        recorder.event(POD, "Normal", "Refused", "not welcome")
        recorder.event(POD, "Normal", "Pulled", "the image is there")
    assert [event.reason for event in await kept(client)] == ["Pulled"]
    assert (recorder.statistics().failed, recorder.statistics().retries) == (1, 0)
    assert "no events for you" in caplog.text


async def test_a_terminating_namespace_is_logged_at_debug_level_only(
    server: APIServer, client: lw.ClientSet, clock: VirtualClock, caplog: pytest.LogCaptureFixture
):
    details = StatusDetails(causes=(StatusCause(reason="NamespaceTerminating"),))
    server.faults.add(Fault(Fail(ForbiddenError("it is terminating", details=details)), resource="events", times=1))
    async with recorder_for(client, clock) as recorder:
        recorder.event(POD, "Normal", "Refused", "not welcome")
    assert recorder.statistics().failed == 1
    assert [
        record for record in caplog.records if record.levelno > logging.DEBUG and record.name == "listwatch.events"
    ] == []


async def test_recording_never_blocks_and_dropped_events_are_counted(
    server: APIServer, client: lw.ClientSet, clock: VirtualClock, caplog: pytest.LogCaptureFixture
):
    server.faults.add(Fault(Refuse(), resource="events"))
    recorder = recorder_for(client, clock, queue_size=10, flush_timeout=60.0)
    for number in range(25):
        recorder.event(POD, "Normal", f"Reason{number}", "too much")
    now = recorder.statistics()
    assert (now.recorded, now.pending, now.dropped) == (25, 10, 15)
    assert caplog.text.count("Dropping events") == 1
    async with recorder:
        await clock.wait_asleep()
        await close_in_time(recorder, clock)
    assert recorder.statistics().dropped == 25
    assert "Dropped, because they were not written in time: 10 events" in caplog.text
    assert 60 <= clock.monotonic() < 75


class GatedEvents:
    """Creates an event on the server when `permits` allows it."""

    kind = Event

    def __init__(self, client: lw.ClientSet) -> None:
        self.permits = asyncio.Semaphore(0)
        self._events = client.core_v1.events("default")

    def namespace(self, _namespace: str) -> "GatedEvents":
        return self

    async def create(self, obj: Any) -> Event:
        await self.permits.acquire()
        return await self._events.create(obj)

    async def patch(self, name: str, patch: Any, *, type: Any) -> Event:
        return await self._events.patch(name, patch, type=type)


async def test_dropping_is_reported_again_only_after_the_queue_was_half_empty(
    client: lw.ClientSet, clock: VirtualClock, caplog: pytest.LogCaptureFixture
):
    events = GatedEvents(client)
    async with EventRecorder(events, component="tests", queue_size=10, clock=clock, random=Random(1)) as recorder:

        async def overflow(from_pending: int) -> int:
            """Write until so many events are pending, overflow the queue, and count the reports of dropped events."""
            while recorder.statistics().pending > from_pending:
                events.permits.release()
                expected = recorder.statistics().pending - 1
                while recorder.statistics().pending > expected:  # noqa: ASYNC110  # the recorder has no event for it
                    await asyncio.sleep(0)
            for _ in range(12 - from_pending):
                recorder.event(POD, "Normal", f"Reason{recorder.statistics().recorded}", "too much")
            return caplog.text.count("Dropping events")

        reports = [await overflow(pending) for pending in (0, 9, 6, 5, 8)]
        for _ in range(50):
            events.permits.release()
    assert reports == [1, 1, 1, 2, 2]


# --- From beginning to end --------------------------------------------------------------------------------------------


async def test_events_after_closing_are_dropped_and_counted(client: lw.ClientSet, clock: VirtualClock):
    async with recorder_for(client, clock) as recorder:
        pass
    recorder.event(POD, "Normal", "Late", "too late")
    await recorder.aclose()
    assert recorder.statistics().dropped == 1
    assert repr(recorder) == "<EventRecorder of 'tests': 0 pending, closed>"
    with pytest.raises(UsageError, match="was opened before"):
        await recorder.__aenter__()


async def test_a_flush_ends_when_the_recorder_is_closed(server: APIServer, client: lw.ClientSet, clock: VirtualClock):
    server.faults.add(Fault(Refuse(), resource="events"))
    async with recorder_for(client, clock) as recorder:
        recorder.event(POD, "Normal", "Started", "cannot be written")
        flushing = asyncio.create_task(recorder.flush())
        await clock.wait_asleep()
        await close_in_time(recorder, clock)
        await asyncio.sleep(0)
        assert flushing.done()
    async with asyncio.timeout(0):
        await recorder.flush()
    assert recorder.statistics().dropped == 1


async def test_a_recorder_that_was_never_opened_can_be_closed_and_not_flushed(
    client: lw.ClientSet, clock: VirtualClock
):
    recorder = recorder_for(client, clock)
    with pytest.raises(UsageError, match="is not open"):
        await recorder.flush()
    await recorder.aclose()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((POD, "Bad", "Reason", "x"), "type='Bad' is not one of Normal, Warning"),
        ((POD, "Normal", "", "x"), "needs a reason"),
        ((POD, "Normal", "x" * 129, "x"), "its reason is longer than 128 bytes"),
        (("web", "Normal", "Reason", "x"), "cannot record an event about 'web'"),
        ((POD, "Normal", "Reason", ValueError("x")), "message=ValueError\\('x'\\) is not a str"),
        ((POD, "Normal", 3, "x"), "reason=3 is not a str"),
    ],
)
async def test_an_invalid_event_is_refused_at_once(
    client: lw.ClientSet, clock: VirtualClock, arguments: Any, complaint: str
):
    recorder = recorder_for(client, clock)
    with pytest.raises(UsageError, match=complaint):
        recorder.event(*arguments)
    assert recorder.statistics().recorded == 0


async def test_an_invalid_sink_or_component_is_refused(client: lw.ClientSet):
    with pytest.raises(UsageError, match=r"expected client.core_v1.events\(\)"):
        EventRecorder(client.core_v1.pods(), component="tests")
    with pytest.raises(UsageError, match=r"expected client.core_v1.events\(\)"):
        EventRecorder(client, component="tests")  # type: ignore[arg-type]  # that is what is tested
    with pytest.raises(UsageError, match="needs component="):
        EventRecorder(client.core_v1.events(), component="")


async def test_a_sink_that_waits_for_its_own_write_gets_an_error(clock: VirtualClock):
    errors: list[str] = []

    class WaitingSink:
        kind = Event

        def namespace(self, namespace: str) -> Any:
            return self

        async def create(self, obj: Any, /) -> Any:
            for wait in (recorder.flush, recorder.aclose):
                try:
                    await wait()
                except UsageError as error:
                    errors.append(str(error))
            return Event.from_dict({**obj})

        async def patch(self, name: str, patch: Any, /, *, type: str) -> Any:
            raise AssertionError

    async with EventRecorder(WaitingSink(), component="tests", clock=clock) as recorder:
        recorder.event(POD, "Normal", "Started", "it started")
        await recorder.flush()
        assert ["was called by its own write" in each for each in errors] == [True, True]
        assert recorder.statistics().created == 1

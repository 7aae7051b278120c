"""One store, many handlers: what they receive, and that they are independent."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import aclosing
from itertools import pairwise
from typing import Any, Self

import pytest
from tests.informer.settings import BrokenClock, CancellationSwallower, RecordingHandler, Setting, pod

from listwatch.api.watch_events import ModifiedEvent
from listwatch.errors import (
    ExpiredError,
    ForbiddenError,
    IndexConflictError,
    InformerStoppedError,
    InternalServerError,
    SyncTimeoutError,
    UsageError,
    WaitTimeoutError,
)
from listwatch.informer.handlers import HandlerFunctions, ObjectAdded, ObjectDeleted, ObjectUpdated
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.models.core_v1 import Pod
from listwatch.sources.list_watch import ListWatch
from listwatch.testing.clocks import VirtualClock
from listwatch.testing.scripted_source import ScriptedSource


async def test_a_handler_receives_all_existing_objects_and_every_change() -> None:
    setting, recorder = Setting(pod("a")), RecordingHandler()
    setting.informer.add_handler(recorder)

    async with setting.running():
        setting.watch.add(pod("b", "11")).modify(pod("a", "12")).delete(pod("b", "13"))
        await setting.settle()

    assert recorder.calls == [
        ("add", "a", True),
        ("add", "b", False),
        ("update", "a", "1", "12"),
        ("delete", "b", True),
    ]


async def test_the_store_contains_the_state_that_a_handler_receives() -> None:
    setting = Setting(pod("a"))
    seen: list[Any] = []
    setting.informer.add_handler(
        on_add=lambda item: seen.append(setting.informer.indexer.get("default/" + item.name) is item),
        on_delete=lambda item: seen.append(setting.informer.indexer.get("default/" + item.name)),
    )

    async with setting.running():
        setting.watch.delete(pod("a", "11"))
        await setting.settle()

    assert seen == [True, None]


async def test_a_relist_reports_missed_deletions_after_the_store_is_final() -> None:
    setting, recorder = Setting(pod("a"), pod("b"), pod("c")), RecordingHandler()
    sizes: list[int] = []
    setting.informer.add_handler(recorder)
    setting.informer.add_handler(on_delete=lambda _: sizes.append(len(setting.informer.indexer)))
    setting.watch.fail(ExpiredError("too old"))
    setting.source.will_list([pod("c", "20"), pod("d", "21")], resource_version="30")

    async with setting.running():
        await setting.clock.advance(5)

    assert recorder.calls[3:] == [
        ("delete", "a", False),
        ("delete", "b", False),
        ("update", "c", "1", "20"),
        ("add", "d", False),
    ]
    assert sizes == [2, 2]


async def test_a_relist_does_not_report_unchanged_objects() -> None:
    setting, recorder = Setting(pod("a")), RecordingHandler()
    setting.informer.add_handler(recorder)
    setting.watch.fail(ExpiredError("too old"))
    setting.source.will_list([pod("a")], resource_version="30")

    async with setting.running():
        await setting.clock.advance(5)

    assert recorder.calls == [("add", "a", True)]


async def test_an_object_without_a_version_counts_as_changed() -> None:
    setting, recorder = Setting(pod("a", "")), RecordingHandler()
    setting.informer.add_handler(recorder)

    async with setting.running():
        setting.watch.modify(pod("a", "", app="web"))
        await setting.settle()

    assert recorder.calls == [("add", "a", True), ("update", "a", "", "")]


async def test_a_handler_added_later_receives_the_current_objects_first() -> None:
    setting, recorder = Setting(pod("a")), RecordingHandler()

    async with setting.running() as informer:
        registration = informer.add_handler(recorder)
        assert not registration.has_synced
        setting.watch.add(pod("b", "11"))
        await registration.wait_for_sync()
        await setting.settle()

    assert recorder.calls == [("add", "a", True), ("add", "b", False)]


async def test_a_slow_handler_delays_neither_the_store_nor_other_handlers() -> None:
    setting, recorder = Setting(pod("a")), RecordingHandler()
    gate = asyncio.Event()

    async def slow(_: Pod) -> None:
        await gate.wait()

    registration = setting.informer.add_handler(on_add=slow)
    setting.informer.add_handler(recorder)

    async with setting.running():
        setting.watch.add(pod("b", "11"))
        await setting.settle()
        assert len(recorder.calls) == 2
        assert registration.statistics().pending == 1
        gate.set()
        await setting.settle()
        assert registration.statistics().pending == 0


async def test_a_change_whose_handler_raises_counts_as_handled() -> None:
    setting, recorder = Setting(pod("a"), pod("b")), RecordingHandler()
    failures: list[tuple[str, Exception]] = []

    def broken(_: Pod) -> None:
        raise ValueError("a mistake in a handler")

    registration = setting.informer.add_handler(
        on_add=broken, on_failure=lambda name, _, error: failures.append((name, error))
    )
    setting.informer.add_handler(recorder)

    async with setting.running() as informer:
        await informer.wait_for_sync(timeout=1)
        assert registration.has_synced

    assert [type(error) for _, error in failures] == [ValueError, ValueError]
    assert "broken" in failures[0][0]
    assert len(recorder.calls) == 2
    assert registration.statistics().failed == 2


async def test_a_handler_that_awaits_something_cancelled_receives_the_next_change() -> None:
    setting = Setting(pod("a"), pod("b"))
    failures: list[Any] = []

    async def wait_in_vain(item: Pod) -> None:
        never = asyncio.get_running_loop().create_future()
        never.cancel()
        await never

    setting.informer.add_handler(on_add=wait_in_vain, on_failure=lambda *failure: failures.append(failure[2]))
    async with setting.running() as informer:
        await informer.wait_for_sync(timeout=5)

    assert [str(each) for each in failures] == ["the handler awaited something that was cancelled"] * 2


async def test_waiting_for_sync_waits_for_handlers_too() -> None:
    setting = Setting(pod("a"))
    gate = asyncio.Event()

    async def slow(_: Pod) -> None:
        await gate.wait()

    setting.informer.add_handler(on_add=slow)

    async with setting.running() as informer:
        waiting = asyncio.create_task(informer.wait_for_sync())
        await setting.settle()
        assert informer.has_synced
        assert not waiting.done()
        gate.set()
        await setting.settle()
        assert waiting.done()


async def test_an_informer_syncs_with_an_empty_list() -> None:
    setting = Setting()
    setting.informer.add_handler(RecordingHandler())

    async with setting.running() as informer:
        await informer.wait_for_sync(timeout=1)
        assert len(informer.indexer) == 0


async def test_a_sync_timeout_reports_the_cause() -> None:
    setting = Setting(version="")
    for _ in range(10):
        setting.source.will_fail_list(ForbiddenError("pods is forbidden: no rule allows it"))

    async with setting.running() as informer:
        waiting = asyncio.create_task(informer.wait_for_sync(timeout=20))
        await setting.clock.advance(25)
        with pytest.raises(SyncTimeoutError, match=r"pods: \d failed attempts?.*no rule allows it") as caught:
            await waiting

    assert isinstance(caught.value.last_error, ForbiddenError)
    assert caught.value.attempts >= 2


async def test_a_sync_timeout_of_an_informer_that_was_not_started_says_so() -> None:
    setting = Setting()
    waiting = asyncio.create_task(setting.informer.wait_for_sync(timeout=5))
    await setting.clock.advance(6)

    with pytest.raises(SyncTimeoutError, match="not started"):
        await waiting


async def test_a_program_reads_its_own_writes() -> None:
    setting = Setting(pod("a"))

    async with setting.running() as informer:
        waiting = asyncio.create_task(informer.wait_until("12", timeout=5))
        setting.watch.add(pod("b", "11"))
        await setting.settle()
        assert not waiting.done()
        setting.watch.modify(pod("a", "12"))
        await setting.settle()
        assert waiting.done()
        await informer.wait_until("12")


async def test_a_bookmark_ends_a_wait_for_its_version() -> None:
    setting = Setting(pod("a"))

    async with setting.running() as informer:
        waiting = asyncio.create_task(informer.wait_until("50"))
        setting.watch.bookmark("60")
        await setting.settle()
        assert waiting.done()


async def test_a_timed_out_wait_for_a_version_reports_the_version_of_the_store() -> None:
    setting = Setting(pod("a"))

    async with setting.running() as informer:
        waiting = asyncio.create_task(informer.wait_until("99", timeout=5))
        await setting.clock.advance(6)
        with pytest.raises(WaitTimeoutError, match=r"did not reach version 99 within .* it has reached 10"):
            await waiting


async def test_each_handler_is_resynced_at_its_own_period() -> None:
    setting = Setting(pod("a"))
    never, two, three = RecordingHandler(), RecordingHandler(), RecordingHandler()
    setting.informer.add_handler(never)
    setting.informer.add_handler(two, resync=2.0)
    setting.informer.add_handler(three, resync=3.0)

    async with setting.running():
        await setting.clock.advance(6.5)

    assert len(never.calls) == 1
    assert len(two.calls) == 1 + 3
    assert len(three.calls) == 1 + 2
    assert two.calls[1] == ("update", "a", "1", "1")


async def test_no_handler_is_resynced_more_often_than_once_a_second() -> None:
    setting, recorder = Setting(pod("a"), resync=0.01), RecordingHandler()
    setting.informer.add_handler(recorder)

    async with setting.running():
        await setting.clock.advance(3.5)

    assert len(recorder.calls) == 1 + 3


async def test_a_removed_handler_receives_no_further_changes() -> None:
    setting, recorder, other = Setting(pod("a")), RecordingHandler(), RecordingHandler()
    registration = setting.informer.add_handler(recorder)
    setting.informer.add_handler(other)

    async with setting.running():
        registration.remove()
        registration.remove()
        setting.watch.add(pod("b", "11"))
        await setting.settle()
        await registration.wait_removed()

    assert len(recorder.calls) == 1
    assert len(other.calls) == 2


async def test_a_removal_can_wait_for_the_current_call() -> None:
    setting = Setting(pod("a"))
    gate, finished = asyncio.Event(), []

    async def slow(_: Pod) -> None:
        await gate.wait()
        finished.append(True)

    registration = setting.informer.add_handler(on_add=slow)

    async with setting.running():
        waiting = asyncio.create_task(registration.wait_removed())
        await setting.settle()
        assert not waiting.done()
        gate.set()
        await waiting

    assert finished == [True]


async def test_one_handler_can_be_registered_twice() -> None:
    setting, recorder = Setting(pod("a")), RecordingHandler()
    first = setting.informer.add_handler(recorder)
    setting.informer.add_handler(recorder)

    async with setting.running():
        first.remove()
        setting.watch.add(pod("b", "11"))
        await setting.settle()

    assert recorder.calls == [("add", "a", True), ("add", "a", True), ("add", "b", False)]


async def test_a_handler_added_by_a_handler_receives_every_object_once() -> None:
    setting, late = Setting(*(pod(f"p{n}") for n in range(2500))), RecordingHandler()
    added: list[Any] = []

    def add_once(_: Pod) -> None:
        if not added:
            added.append(setting.informer.add_handler(late))

    setting.informer.add_handler(on_add=add_once)

    async with setting.running() as informer:
        await informer.wait_for_sync(timeout=5)
        await setting.settle()

    assert sorted(name for _, name, _ in late.calls) == sorted(f"p{n}" for n in range(2500))


async def test_a_filter_turns_updates_into_additions_and_deletions() -> None:
    setting, recorder = Setting(pod("a", app="web"), pod("b", app="db")), RecordingHandler()
    setting.informer.add_handler(recorder, filter=lambda item: item.labels.get("app") == "web")

    async with setting.running():
        setting.watch.modify(pod("b", "11", app="web")).modify(pod("b", "12", app="web"))
        setting.watch.modify(pod("a", "13", app="db")).delete(pod("a", "14", app="db")).delete(
            pod("b", "15", app="web")
        )
        await setting.settle()

    assert recorder.calls == [
        ("add", "a", True),
        ("add", "b", False),
        ("update", "b", "11", "12"),
        ("delete", "a", True),
        ("delete", "b", True),
    ]


async def test_a_full_backlog_is_coalesced_into_one_change_per_object() -> None:
    setting, recorder = Setting(), RecordingHandler()
    gate = asyncio.Event()
    setting.informer.add_handler(recorder)

    async def slow(item: Pod) -> None:
        await gate.wait()

    calls: list[Any] = []
    registration = setting.informer.add_handler(
        on_add=slow,
        on_update=lambda old, new: calls.append((old.resource_version, new.resource_version)),
        max_pending=3,
    )

    async with setting.running():
        setting.watch.add(pod("a", "11"))
        await setting.settle()
        for version in range(12, 30):
            setting.watch.modify(pod("a", str(version)))
        await setting.settle()
        assert registration.statistics().pending <= 3
        gate.set()
        await setting.settle()

    assert calls[0][0] == "11"
    assert calls[-1][1] == "29"
    assert registration.statistics().coalesced > 10
    assert len(recorder.calls) == 19


async def test_handlers_can_be_added_as_decorators() -> None:
    setting = Setting(pod("a"))
    calls: list[str] = []

    @setting.informer.on_add
    def came(item: Pod) -> None:
        calls.append("+" + item.name)

    @setting.informer.on_update
    async def changed(old: Pod, new: Pod) -> None:
        calls.append("~" + new.name)

    @setting.informer.on_delete
    def went(item: Pod) -> None:
        calls.append("-" + item.name)

    async with setting.running():
        setting.watch.modify(pod("a", "11")).delete(pod("a", "12"))
        await setting.settle()

    assert calls == ["+a", "~a", "-a"]


async def test_changes_can_be_read_in_a_loop() -> None:
    setting = Setting(pod("a"))
    seen: list[Any] = []

    async with setting.running() as informer:
        setting.watch.modify(pod("a", "11")).delete(pod("a", "12"))
        async with aclosing(informer.changes()) as changes:
            async for change in changes:
                seen.append(change)
                if isinstance(change, ObjectDeleted):
                    break
        assert informer.statistics().handlers == ()

    assert [type(each) for each in seen] == [ObjectAdded, ObjectUpdated, ObjectDeleted]


async def test_a_transform_is_applied_once_to_each_object() -> None:
    calls: list[str] = []

    def shorten(item: Pod) -> Pod:
        calls.append(item.name)
        copy = item.copy()
        copy.metadata.annotations["seen"] = "yes"
        return copy

    setting = Setting(pod("a"), transform=shorten)
    async with setting.running() as informer:
        setting.watch.add(pod("b", "11"))
        await setting.settle()
        found = informer.indexer.get("default/b")
        assert found is not None
        assert found.metadata.annotations == {"seen": "yes"}

    assert calls == ["a", "b"]


async def test_indexes_can_be_added_to_a_running_informer_and_their_failures_are_reported() -> None:
    setting = Setting(pod("a", node="n1"), pod("b", node="n2"), indexers={"bad": lambda item: 1 / 0})

    async with setting.running() as informer:
        informer.indexer.add_indexers({"node": lambda item: [item.spec.node_name or ""]})
        assert [item.name for item in informer.indexer.by_index("node", "n1")] == ["a"]
        assert informer.indexer.by_index("bad", "x") == []
        assert [item.name for item in informer.lister.namespace("default").list()] == ["a", "b"]
        with pytest.raises(IndexConflictError):
            informer.indexer.add_indexers({"node": lambda item: []})

    assert any("bad" in str(problem.error) for problem in setting.problems)


async def test_an_informer_runs_once() -> None:
    setting = Setting()
    async with setting.running():
        pass

    assert setting.informer.is_stopped
    with pytest.raises(InformerStoppedError, match="create a new one"):
        await setting.informer.run()
    with pytest.raises(InformerStoppedError, match="it has stopped"):
        setting.informer.add_handler(RecordingHandler())


async def test_waits_end_when_the_informer_stops() -> None:
    setting = Setting(version="")
    async with setting.running() as informer:
        sync = asyncio.create_task(informer.wait_for_sync())
        version = asyncio.create_task(informer.wait_until("5"))
        await setting.settle()

    for waiting in (sync, version):
        with pytest.raises(InformerStoppedError):
            await waiting


async def test_the_store_of_a_stopped_informer_can_be_read() -> None:
    setting = Setting(pod("a"))
    async with setting.running():
        pass

    assert setting.informer.lister.get("default/a").name == "a"


async def test_a_relist_of_one_namespace_does_not_change_the_others_in_a_shared_store() -> None:
    setting = Setting()
    sources = {name: ScriptedSource(Pod) for name in ("red", "blue")}
    for name, source in sources.items():
        source.will_list([pod("a", namespace=name), pod("b", namespace=name)], resource_version="10")
    informer = SharedIndexInformer(sources, Pod, clock=setting.clock)
    recorder = RecordingHandler()
    informer.add_handler(on_delete=lambda item: recorder.calls.append(str(item.key)))
    red = sources["red"].will_watch()
    sources["red"].will_list([pod("b", namespace="red")], resource_version="20")

    async with informer:
        await setting.settle()
        assert informer.has_synced
        assert len(informer.indexer) == 4
        red.break_with(InternalServerError("oops"))
        await setting.clock.advance(5)
        assert sorted(informer.indexer.keys()) == ["blue/a", "blue/b", "red/b"]

    assert recorder.calls == ["red/a"]


async def test_an_informer_has_synced_when_all_namespaces_have() -> None:
    setting = Setting()
    sources = {name: ScriptedSource(Pod) for name in ("red", "blue")}
    sources["red"].will_list([], resource_version="10")
    informer = SharedIndexInformer(sources, Pod, clock=setting.clock)

    async with informer:
        await setting.settle()
        assert not informer.has_synced


async def test_a_change_of_a_cached_object_in_place_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LISTWATCH_MUTATION_DETECTOR", "1")
    setting = Setting(pod("a"), pod("b"))

    async with setting.running() as informer:
        await setting.clock.advance(2)
        assert setting.problems == []
        found = informer.indexer.get("default/a")
        assert found is not None
        found.metadata.labels["mine"] = "yes"
        await setting.clock.advance(2)

    assert "Pod default/a was changed in place" in str(setting.problems[0].error)
    assert len(setting.problems) == 1


async def test_a_handler_without_functions_is_rejected() -> None:
    setting = Setting()
    with pytest.raises(UsageError, match="the handler has no functions; pass on_add, on_update or on_delete"):
        setting.informer.add_handler()
    with pytest.raises(UsageError, match="RecordingHandler has no functions"):
        setting.informer.add_handler(type("RecordingHandler", (), {})())


async def test_waiting_for_a_version_of_a_stopped_informer_fails_at_once() -> None:
    setting = Setting(pod("a"))
    async with setting.running():
        pass
    await setting.informer.wait_until("10")
    with pytest.raises(InformerStoppedError, match="has stopped"):
        await setting.informer.wait_until("11", timeout=30)


async def test_a_sync_timeout_contains_the_last_error_once_and_the_number_of_attempts() -> None:
    setting = Setting(version="")
    for _ in range(3):
        setting.source.will_fail_list(InternalServerError("the disk is full"))
    async with setting.running() as informer:
        waiting = asyncio.create_task(informer.wait_for_sync(timeout=10))
        await setting.clock.advance(10)
        with pytest.raises(SyncTimeoutError) as caught:
            await waiting
    assert str(caught.value).count("the disk is full") == 1
    assert caught.value.attempts == 3


# --- handlers of every form -------------------------------------------------------------------------------------------


async def test_changes_end_when_the_informer_stops() -> None:
    setting, seen = Setting(pod("a")), list[str]()

    async def read() -> None:
        async for change in setting.informer.changes():
            seen.append(change.object.name)

    async with setting.running():
        reading = asyncio.create_task(read())
        await setting.settle()
    await reading

    assert seen == ["a"]


async def test_changes_can_be_filtered_and_bounded() -> None:
    setting, seen = Setting(pod("a"), pod("b")), list[Any]()
    async with setting.running() as informer:
        changes = informer.changes(filter=lambda item: item.name == "a", max_pending=2)
        async with aclosing(changes):
            seen.append(await anext(changes))
            for version in range(11, 30):
                setting.watch.modify(pod("a", str(version)))
            await setting.settle()
            [statistics] = informer.statistics().handlers
            seen.append(await anext(changes))

    assert statistics.name == "changes()"
    assert statistics.coalesced > 10
    assert [(type(each), each.object.name) for each in seen] == [(ObjectAdded, "a"), (ObjectUpdated, "a")]
    assert seen[1].old.resource_version == "1"


async def test_a_change_counts_as_handled_when_the_next_one_is_requested() -> None:
    setting = Setting(pod("a"))
    async with setting.running() as informer, aclosing(informer.changes()) as changes:
        await anext(changes)
        waiting = asyncio.create_task(informer.wait_for_sync(timeout=1))
        await setting.clock.advance(2)
        with pytest.raises(SyncTimeoutError, match=r"these handlers have not: changes\(\)"):
            await waiting
        reading = asyncio.ensure_future(anext(changes))
        await informer.wait_for_sync(timeout=1)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def test_a_short_resync_does_not_wait_for_the_end_of_a_long_one() -> None:
    setting = Setting(pod("a"), resync=600.0)
    patient, eager = RecordingHandler(), RecordingHandler()
    setting.informer.add_handler(patient)
    async with setting.running() as informer:
        await setting.clock.advance(10)
        informer.add_handler(eager, resync=20.0)
        await setting.clock.advance(50)

    assert len(eager.calls) == 1 + 2
    assert len(patient.calls) == 1


async def test_a_resync_is_delivered_only_to_handlers_that_are_due() -> None:
    setting = Setting(pod("a"))
    recorders = {period: RecordingHandler() for period in (2.0, 3.0, 0.0)}
    for period, recorder in recorders.items():
        setting.informer.add_handler(recorder, resync=period)
    async with setting.running():
        await setting.clock.advance(12.5)

    assert {period: len(recorder.calls) - 1 for period, recorder in recorders.items()} == {2.0: 6, 3.0: 4, 0.0: 0}


async def test_a_removed_handler_is_garbage_collected() -> None:
    setting = Setting(pod("a"))
    async with setting.running() as informer:
        recorder = RecordingHandler()
        trace = weakref.ref(recorder)
        registration = informer.add_handler(recorder)
        await setting.settle()
        await registration.wait_removed()
        await setting.settle()
        del recorder, registration
        gc.collect()
        assert trace() is None


async def test_removing_a_handler_twice_or_after_the_stop_does_nothing() -> None:
    setting = Setting(pod("a"))
    registration = setting.informer.add_handler(RecordingHandler())
    async with setting.running():
        registration.remove()
        await registration.wait_removed()
    registration.remove()
    await registration.wait_removed()


# --- the store's version ----------------------------------------------------------------------------------------------


async def test_the_version_of_the_store_follows_events_and_bookmarks() -> None:
    setting = Setting(pod("a"), version="10")
    seen = []
    async with setting.running() as informer:
        seen.append(informer.indexer.resource_version)
        for change in (
            lambda: setting.watch.add(pod("b", "11")),
            lambda: setting.watch.modify(pod("a", "12")),
            lambda: setting.watch.delete(pod("a", "13")),
            lambda: setting.watch.bookmark("17"),
        ):
            change()
            await setting.settle()
            seen.append(informer.indexer.resource_version)

    assert seen == ["10", "11", "12", "13", "17"]


async def test_a_wait_for_a_version_can_be_limited_to_one_namespace() -> None:
    clock = VirtualClock()
    sources = {"red": ScriptedSource(Pod), "blue": ScriptedSource(Pod)}
    sources["red"].will_list(resource_version="10")
    sources["blue"].will_list(resource_version="20")
    red = sources["red"].will_watch()
    async with SharedIndexInformer(sources, Pod, clock=clock) as informer:
        await informer.wait_for_sync(timeout=5)
        assert informer.indexer.resource_version == "10"
        await informer.wait_until("20", timeout=1, namespace="blue")
        waiting = asyncio.create_task(informer.wait_until("15", timeout=1))
        await clock.advance(2)
        with pytest.raises(WaitTimeoutError, match=r"did not reach version 15 within .* it has reached 10"):
            await waiting
        with pytest.raises(UsageError, match="does not watch the namespace 'green'"):
            await informer.wait_until("15", namespace="green")
        red.bookmark("30")
        await informer.wait_until("15", timeout=1)
        assert informer.indexer.resource_version == "20"


async def test_deltas_without_a_version_do_not_change_the_version_of_a_namespace() -> None:
    def fail_at_the_end(item: Pod) -> Pod:
        return {"50": item}[item.resource_version]

    clock = VirtualClock()
    sources = {"red": ScriptedSource(Pod), "blue": ScriptedSource(Pod)}
    sources["red"].will_list(resource_version="5")
    sources["blue"].will_list([pod("a", "50", namespace="blue")], resource_version="50")
    blue = sources["blue"].will_watch()
    options: Any = {"transform": fail_at_the_end, "on_problem": lambda _: None}
    async with SharedIndexInformer(sources, Pod, clock=clock, **options) as informer:
        await informer.wait_for_sync(timeout=5)
        blue.delete(pod("a", "60", namespace="blue"))
        await clock.advance(0)
        assert informer.indexer.keys() == []
        assert informer.indexer.resource_version == "5"
        await informer.wait_until("50", timeout=0, namespace="blue")


# --- the end ----------------------------------------------------------------------------------------------------------


async def test_an_internal_error_ends_the_informer_and_is_raised(caplog: pytest.LogCaptureFixture) -> None:
    source = ScriptedSource(Pod)
    source.will_fail_list(InternalServerError("oops"))
    informer = SharedIndexInformer(source, Pod, clock=BrokenClock(), on_problem=lambda _: None)
    informer.start()
    with pytest.raises(InformerStoppedError, match="stopped before it had synced"):
        await informer.wait_for_sync()
    with pytest.raises(ExceptionGroup) as caught:
        await informer.stop()

    assert caught.group_contains(RuntimeError, match="no time")
    assert informer.is_stopped
    assert "Task informer pods failed" in caplog.text
    assert "no time" in caplog.text


async def test_an_error_that_ends_run_is_raised_and_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    source = ScriptedSource(Pod)
    source.will_fail_list(InternalServerError("oops"))
    informer = SharedIndexInformer(source, Pod, clock=BrokenClock(), on_problem=lambda _: None)
    with pytest.raises(ExceptionGroup) as caught:
        await informer.run()

    assert caught.group_contains(RuntimeError, match="no time")
    assert caplog.text == ""


async def test_stop_ends_a_run_that_is_awaited() -> None:
    setting, recorder = Setting(pod("a")), RecordingHandler()
    setting.informer.add_handler(recorder)
    running = asyncio.create_task(setting.informer.run())
    await setting.settle()
    await setting.informer.stop()
    setting.watch.add(pod("b", "11"))
    await setting.settle()

    assert setting.watch.closed.is_set()
    assert setting.informer.indexer.keys() == ["default/a"]
    assert recorder.calls == [("add", "a", True)]
    assert await running is None


async def test_cancelling_run_stops_the_informer() -> None:
    setting = Setting(pod("a"))
    running = asyncio.create_task(setting.informer.run())
    await setting.settle()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert setting.informer.is_stopped
    assert setting.watch.closed.is_set()


async def test_a_handler_that_swallows_a_cancellation_does_not_prevent_the_stop() -> None:
    setting, swallower = Setting(pod("a"), pod("b")), CancellationSwallower()
    handler: Any = swallower
    setting.informer.add_handler(handler)
    setting.informer.start()
    await setting.settle()
    stopping = asyncio.create_task(setting.informer.stop())
    await setting.settle()

    assert stopping.done()
    assert swallower.calls == ["a"]


async def test_an_informer_can_be_stopped_before_its_start_and_repeatedly() -> None:
    setting = Setting(pod("a"))
    await setting.informer.stop()
    await setting.informer.stop()
    assert setting.informer.is_stopped
    with pytest.raises(InformerStoppedError, match="it has stopped"):
        setting.informer.add_handler(RecordingHandler())


# --- the event loop belongs to all ------------------------------------------------------------------------------------


async def test_a_large_list_is_applied_in_slices_between_which_other_tasks_run() -> None:
    names, calls, now = [f"p{number}" for number in range(500)], 0, asyncio.get_running_loop().time

    def slowly(item: Pod) -> list[str]:
        nonlocal calls
        calls, ends = calls + 1, now() + 0.0001
        while now() < ends:
            pass
        return [item.name]

    setting = Setting(*(pod(name) for name in names), indexers={"slow": slowly})
    setting.watch.fail(ExpiredError("too old"))
    setting.source.will_list([pod(name, "20") for name in names], resource_version="30")
    seen = set[int]()
    async with setting.informer:
        while calls < 500:
            seen.add(calls)
            await asyncio.sleep(0)
        advancing = asyncio.create_task(setting.clock.advance(5))
        while calls < 1000:
            seen.add(calls)
            await asyncio.sleep(0)
        await advancing

    assert max(after - before for before, after in pairwise(sorted(seen))) <= 100


async def test_a_handler_added_later_receives_many_objects_at_its_own_pace() -> None:
    setting = Setting(*(pod(f"p{number}") for number in range(5000)))
    async with setting.running() as informer:
        await informer.wait_for_sync(timeout=5)
        registration = informer.add_handler(on_add=lambda item: sum(range(2000)))
        assert registration.statistics().pending == 5000
        turns = 0
        while not registration.has_synced:
            turns += 1
            await asyncio.sleep(0)

    assert turns > 3


async def test_a_handler_may_be_an_object_or_handler_functions() -> None:
    setting = Setting(pod("a"))
    names: list[str] = []
    setting.informer.add_handler(HandlerFunctions(on_add=lambda item: names.append(item.name), name="names"))
    recorder = RecordingHandler()
    setting.informer.add_handler(recorder)
    async with setting.running() as informer:
        assert [each.name for each in informer.statistics().handlers] == ["names", "RecordingHandler"]

    assert names == ["a"]
    assert recorder.calls == [("add", "a", True)]


def test_a_handler_with_the_wrong_parameters_is_rejected_when_it_is_added() -> None:
    informer: Any = Setting().informer
    with pytest.raises(UsageError, match=r"on_update is .*, which cannot be called with \(old, new\)"):
        informer.add_handler(on_update=lambda item: None)
    with pytest.raises(UsageError, match=r"on_add is .*, which cannot be called with \(item\)"):
        informer.on_add(lambda old, new: None)
    assert informer.statistics().handlers == ()


class BurstOfEvents:
    """A watch whose events have all arrived."""

    def __init__(self, batches: int, size: int) -> None:
        versions = [range(size * number, size * (number + 1)) for number in range(1, batches + 1)]
        self.last = str(versions[-1][-1])
        self._batches = [[ModifiedEvent(pod(f"p{each}", str(each))) for each in some] for some in versions]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None: ...

    async def __aiter__(self) -> AsyncIterator[ModifiedEvent[Pod]]:
        for batch in self._batches:
            for event in batch:
                yield event
        await asyncio.Event().wait()


class BurstOfBatches(BurstOfEvents):
    """The same in batches, like those of network reads."""

    async def batches(self) -> AsyncIterator[list[ModifiedEvent[Pod]]]:
        for batch in self._batches:
            yield batch
        await asyncio.Event().wait()


def informer_of(burst: BurstOfEvents) -> SharedIndexInformer[Pod]:
    listed = ScriptedSource(Pod)
    listed.will_list([pod("a", "1")], resource_version="1")
    return SharedIndexInformer(ListWatch(list=listed.list, watch=lambda **_: burst), Pod, streaming=False)


async def test_a_handler_that_is_slower_than_the_watch_has_a_short_backlog() -> None:
    burst, longest, done = BurstOfBatches(batches=40, size=250), 0, asyncio.Event()
    informer = informer_of(burst)
    now = asyncio.get_running_loop().time

    def handle(item: Pod) -> None:
        nonlocal longest
        longest = max(longest, registration.statistics().pending)
        until = now() + 2e-5  # longer than reading an event takes
        while now() < until:
            pass
        if item.resource_version == burst.last:
            done.set()

    registration = informer.add_handler(on_add=handle)
    async with informer:
        async with asyncio.timeout(60):
            await done.wait()
    assert longest < 4_000


async def test_a_handler_that_waits_for_something_does_not_delay_the_store() -> None:
    burst, iterations = BurstOfEvents(batches=40, size=100), 0
    informer = informer_of(burst)

    async def handle(_: Pod) -> None:
        await asyncio.Event().wait()

    async def count_iterations() -> None:
        nonlocal iterations
        while True:
            iterations += 1
            await asyncio.sleep(0)

    informer.add_handler(on_add=handle)
    async with informer:
        counting = asyncio.create_task(count_iterations())
        await informer.wait_until(burst.last, timeout=60)
        counting.cancel()
    assert iterations < 1000  # not some for each event

"""The plain informer calls its handler directly."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest
from tests.informer.settings import BrokenClock, CancellationSwallower, RecordingHandler, pod

from listwatch.errors import (
    ForbiddenError,
    IndexFunctionError,
    InformerStoppedError,
    InternalServerError,
    SyncTimeoutError,
)
from listwatch.informer.informer import Informer
from listwatch.models.core_v1 import Pod
from listwatch.objects.caching.transforms import keep_fields, metadata_only, strip_managed_fields
from listwatch.testing.clocks import VirtualClock
from listwatch.testing.scripted_source import ScriptedSource


async def test_a_plain_informer_fills_its_store_and_calls_its_handler() -> None:
    clock, source, recorder = VirtualClock(), ScriptedSource(Pod), RecordingHandler()
    source.will_list([pod("a", node="n1")], resource_version="10")
    watch = source.will_watch()
    informer = Informer(
        source,
        Pod,
        recorder,
        clock=clock,
        random=Random(1),
        indexers={"node": lambda item: [item.spec.node_name or ""]},
    )

    async with informer:
        await informer.wait_for_sync(timeout=5)
        watch.modify(pod("a", "11", node="n2")).delete(pod("a", "12"))
        await clock.advance(0)
        assert informer.indexer.index_values("node") == []

    assert recorder.calls == [("add", "a", True), ("update", "a", "1", "11"), ("delete", "a", True)]


async def test_an_exception_of_the_handler_is_reported_and_the_next_change_is_handled() -> None:
    clock, source = VirtualClock(), ScriptedSource(Pod)
    source.will_list([pod("a"), pod("b")], resource_version="10")
    problems: list[Any] = []

    class Broken:
        def on_add(self, item: Pod) -> None:
            raise ValueError(item.name)

    handler: Any = Broken()
    async with Informer(source, Pod, handler, clock=clock, on_problem=problems.append) as informer:
        await informer.wait_for_sync(timeout=5)

    assert [str(problem.error) for problem in problems] == ["a", "b"]


async def test_a_plain_informer_resyncs_periodically() -> None:
    clock, source, recorder = VirtualClock(), ScriptedSource(Pod), RecordingHandler()
    source.will_list([pod("a")], resource_version="10")

    async with Informer(source, Pod, recorder, clock=clock, resync=10.0):
        await clock.advance(25)

    assert len(recorder.calls) == 1 + 2


async def test_many_changes_do_not_block_other_tasks() -> None:
    clock, source = VirtualClock(), ScriptedSource(Pod)
    pods = [pod(f"p{number}") for number in range(5000)]
    source.will_list(pods, resource_version="10")
    others_turns: list[int] = []
    handled = 0

    class Slow:
        def on_add(self, item: Pod) -> None:
            nonlocal handled
            handled += 1
            sum(range(3000))  # some tens of microseconds

    handler: Any = Slow()
    async with Informer(source, Pod, handler, clock=clock) as informer:
        waiting = asyncio.ensure_future(informer.wait_for_sync(timeout=5))
        while not waiting.done():
            others_turns.append(handled)
            await asyncio.sleep(0)

    assert len(set(others_turns)) > 5


async def test_a_plain_informer_runs_once_and_reports_why_it_did_not_sync() -> None:
    clock, source = VirtualClock(), ScriptedSource(Pod)
    source.will_fail_list(ForbiddenError("no rule allows it"))
    informer = Informer(source, Pod, RecordingHandler(), clock=clock, on_problem=lambda _: None)
    async with informer:
        waiting = asyncio.create_task(informer.wait_for_sync(timeout=1))
        await clock.advance(2)
        with pytest.raises(SyncTimeoutError, match="no rule allows it"):
            await waiting
        with pytest.raises(InformerStoppedError, match="was already started"):
            await informer.run()


async def test_a_failing_index_function_is_reported_and_the_object_is_stored_and_handled() -> None:
    clock, source, recorder = VirtualClock(), ScriptedSource(Pod), RecordingHandler()
    source.will_list([pod("a"), pod("b", app="web")], resource_version="10")
    watch = source.will_watch()
    problems: list[Any] = []
    by_app = {"app": lambda item: [item.labels["app"]]}

    async with Informer(source, Pod, recorder, clock=clock, indexers=by_app, on_problem=problems.append) as informer:
        await informer.wait_for_sync(timeout=5)
        watch.add(pod("c", "11"))
        await clock.advance(0)
        assert informer.indexer.keys() == ["default/a", "default/b", "default/c"]
        assert informer.indexer.index_keys("app", "web") == ["default/b"]

    assert [name for _, name, *_ in recorder.calls] == ["a", "b", "c"]
    assert [type(problem.error) for problem in problems] == [IndexFunctionError] * 2
    assert "'app' failed on default/c" in str(problems[1].error)


async def test_waits_end_when_a_plain_informer_fails_and_the_error_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    source = ScriptedSource(Pod)
    source.will_fail_list(InternalServerError("oops"))
    informer = Informer(source, Pod, RecordingHandler(), clock=BrokenClock(), on_problem=lambda _: None)
    await informer.__aenter__()
    with pytest.raises(InformerStoppedError, match="stopped before it had synced"):
        await informer.wait_for_sync()
    with pytest.raises(ExceptionGroup):
        await informer.__aexit__(None, None, None)

    assert "no time" in caplog.text


async def test_waits_end_when_a_plain_informer_is_stopped_before_its_first_step() -> None:
    async with Informer(ScriptedSource(Pod), Pod, RecordingHandler(), clock=VirtualClock()) as informer:
        pass
    with pytest.raises(InformerStoppedError, match="stopped before it had synced"):
        await informer.wait_for_sync()


async def test_a_handler_that_swallows_a_cancellation_does_not_prevent_the_end() -> None:
    clock, source, swallower = VirtualClock(), ScriptedSource(Pod), CancellationSwallower()
    source.will_list([pod("a"), pod("b")], resource_version="10")
    handler: Any = swallower
    running = asyncio.create_task(Informer(source, Pod, handler, clock=clock).run())
    await clock.advance(0)
    running.cancel()
    await clock.advance(0)

    assert running.cancelled()
    assert swallower.calls == ["a"]


MANAGED = Pod.from_dict(
    {
        "metadata": {"name": "a", "managedFields": [{"manager": "x"}], "labels": {"app": "web"}},
        "spec": {"nodeName": "n1"},
        "status": {"phase": "Running"},
    }
)


def test_managed_fields_can_be_stripped() -> None:
    item = strip_managed_fields(MANAGED)

    assert item.metadata.managed_fields == []
    assert item.labels == {"app": "web"}
    assert item.spec.node_name == "n1"
    assert strip_managed_fields(item) is item


def test_only_named_fields_can_be_kept() -> None:
    item = keep_fields("status")(MANAGED)

    assert item.status.phase == "Running"
    assert item.spec.node_name is None
    assert item.name == "a"


def test_only_the_metadata_can_be_kept() -> None:
    item = metadata_only(MANAGED)

    assert set(item.to_dict()) == {"apiVersion", "kind", "metadata"}

"""Waiting for changes with an informer: existing objects count, and failures do not end the wait."""

from __future__ import annotations

import asyncio

import pytest
from tests.informer.settings import pod

from listwatch.client.resources.client_set import ClientSet
from listwatch.errors import ExpiredError, ForbiddenError, UsageError, WaitTimeoutError
from listwatch.informer.handlers import Change, ObjectAdded, ObjectDeleted
from listwatch.informer.informed_until import until_with_sync
from listwatch.models.core_v1 import ConfigMap, Pod
from listwatch.objects.metadata import ObjectMeta
from listwatch.server import APIServer, CutStream, Fault
from listwatch.testing.clocks import InstantClock, VirtualClock
from listwatch.testing.scripted_source import ScriptedSource


@pytest.fixture
def source() -> ScriptedSource[Pod]:
    return ScriptedSource(Pod)


def is_running(change: Change[Pod]) -> bool:
    return change.object.labels.get("phase") == "running"


def is_gone(change: Change[Pod]) -> bool:
    return change.type == "DELETED"


async def test_existing_objects_can_meet_the_condition(source: ScriptedSource[Pod]) -> None:
    source.will_list([pod("a", phase="running")], resource_version="10")
    watch = source.will_watch()
    found = await until_with_sync(source, Pod, is_running)
    assert isinstance(found, ObjectAdded)
    assert found.object.name == "a"
    assert watch.closed.is_set() or not watch.opened.is_set()


async def test_conditions_are_met_one_after_the_other(source: ScriptedSource[Pod]) -> None:
    source.will_list([pod("a")], resource_version="10")
    source.will_watch().modify(pod("a", "11", phase="running")).delete(pod("a", "12"))
    found = await until_with_sync(source, Pod, is_running, is_gone)
    assert isinstance(found, ObjectDeleted)
    assert found.object.resource_version == "12"


async def test_a_precondition_that_is_true_for_the_store_ends_the_wait(source: ScriptedSource[Pod]) -> None:
    source.will_list([pod("a"), pod("b")], resource_version="10")
    assert await until_with_sync(source, Pod, is_gone, precondition=lambda store: len(store) == 2) is None


async def test_a_precondition_that_is_false_leaves_existing_objects_to_the_conditions(
    source: ScriptedSource[Pod],
) -> None:
    source.will_list([pod("a", phase="running")], resource_version="10")
    found = await until_with_sync(source, Pod, is_running, precondition=lambda store: len(store) == 0)
    assert found is not None
    assert found.object.name == "a"


async def test_a_missed_deletion_meets_the_condition(source: ScriptedSource[Pod]) -> None:
    source.will_list([pod("a")], resource_version="10")
    source.will_watch().fail(ExpiredError("too old"))
    source.will_list([], resource_version="20")
    found = await until_with_sync(source, Pod, is_gone, clock=InstantClock())
    assert isinstance(found, ObjectDeleted)
    assert not found.final_state_known


async def test_an_exception_of_a_condition_ends_the_wait(source: ScriptedSource[Pod]) -> None:
    source.will_list([pod("a")], resource_version="10")

    def fail(_: Change[Pod]) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await until_with_sync(source, Pod, fail)


async def test_a_condition_that_is_not_a_function_is_rejected(source: ScriptedSource[Pod]) -> None:
    with pytest.raises(UsageError, match="'Ready' is not a condition"):
        await until_with_sync(source, Pod, "Ready")  # type: ignore[arg-type]  # it is what is tested
    assert source.requests == []


async def test_a_timeout_reports_the_last_change(source: ScriptedSource[Pod]) -> None:
    clock = VirtualClock()
    source.will_list([pod("a")], resource_version="10")
    watch = source.will_watch()
    waiting = asyncio.create_task(until_with_sync(source, Pod, is_gone, timeout=30, clock=clock))
    await watch.opened.wait()
    await clock.advance(30)
    with pytest.raises(
        WaitTimeoutError, match=r"condition not met within 30 s: is_gone; the last event was ADDED Pod"
    ) as caught:
        await waiting
    assert isinstance(caught.value.last, ObjectAdded)
    assert watch.closed.is_set()


async def test_a_timeout_without_a_list_reports_the_reason(source: ScriptedSource[Pod]) -> None:
    clock = VirtualClock()
    source.will_fail_list(ForbiddenError("pods is forbidden"))
    waiting = asyncio.create_task(until_with_sync(source, Pod, is_gone, timeout=5, clock=clock))
    await clock.advance(5)
    with pytest.raises(WaitTimeoutError, match=r"there was no event; .*pods is forbidden"):
        await waiting


async def test_a_change_is_seen_although_connections_are_cut() -> None:
    async with APIServer() as server, ClientSet(server.config) as client:
        config_maps = client.core_v1.configmaps("default")
        server.faults.add(Fault(CutStream(after_events=1), verb="watch", times=3))
        waiting = asyncio.create_task(
            until_with_sync(config_maps, ConfigMap, lambda change: change.object.name == "last")
        )
        await server.wait_for_requests(verb="watch", resource="configmaps")
        for name in ("a", "b", "c", "last"):
            await config_maps.create(ConfigMap(metadata=ObjectMeta(name=name)))
        found = await waiting
        assert found is not None
        assert found.object.name == "last"
        assert client.rest.statistics().open_watches == 0

"""From deltas to changes, and from changes to listeners."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from tests.informer.settings import pod

from listwatch.cache import deltas
from listwatch.cache.indexer import Indexer
from listwatch.cache.keys import NAMESPACE, key_of, namespace_of
from listwatch.informer.handlers import Change, HandlerFunctions, ObjectAdded, ObjectDeleted, ObjectUpdated
from listwatch.informer.listener import Listener
from listwatch.informer.shared_processor import SharedProcessor, SourcePipeline
from listwatch.models.core_v1 import Pod
from listwatch.testing.clocks import VirtualClock
from listwatch.testing.scripted_source import ScriptedSource


def replaced(*pods: Pod, version: str) -> deltas.ReplacedAllDelta[Pod]:
    return deltas.ReplacedAllDelta({key_of(each): each for each in pods}, version)


def pipeline_to(indexer: Indexer[Pod], *, scope: str | None = None) -> SourcePipeline[Pod]:
    return SourcePipeline(ScriptedSource(Pod), Pod, indexer, scope=scope)


def applied(pipeline: SourcePipeline[Pod], *batch: Any) -> list[Change[Pod]]:
    return [change for changes in pipeline.apply(batch) for change in changes]


def test_only_deltas_that_were_applied_become_changes() -> None:
    def fail_on_b(item: Pod) -> list[str]:
        return [{"a": "fine", "c": "fine"}[item.name]]

    indexer: Indexer[Pod] = Indexer(indexers={"picky": fail_on_b})
    batch = [deltas.AddedDelta(pod(name), key=f"default/{name}") for name in "abc"]

    assert [change.object.name for change in applied(pipeline_to(indexer), *batch)] == ["a", "c"]
    assert indexer.keys() == ["default/a", "default/c"]


def test_the_deletion_of_an_unknown_object_is_not_a_change() -> None:
    indexer: Indexer[Pod] = Indexer()
    indexer.add(pod("a"))
    batch = [deltas.DeletedDelta(pod(name, "5"), key=f"default/{name}") for name in ("a", "unknown")]

    assert [(type(each), each.object.name) for each in applied(pipeline_to(indexer), *batch)] == [(ObjectDeleted, "a")]


def test_the_version_after_a_batch_is_its_newest_one_even_if_its_last_event_is_old() -> None:
    indexer: Indexer[Pod] = Indexer()
    pipeline = pipeline_to(indexer)
    applied(pipeline, replaced(pod("a"), version="10"))
    late = deltas.DeletedDelta(pod("unknown", "1"), key="default/unknown")
    applied(pipeline, deltas.UpdatedDelta(pod("a", "11"), key="default/a"), late)

    assert (pipeline.resource_version, indexer.resource_version) == ("11", "11")


def test_a_relist_yields_deletions_updates_and_additions_that_are_not_initial() -> None:
    indexer: Indexer[Pod] = Indexer()
    pipeline = pipeline_to(indexer)
    first = applied(pipeline, replaced(pod("a"), pod("b"), version="10"))
    again = applied(pipeline, replaced(pod("a", "11"), pod("c", "12"), version="12"))

    assert [(type(each), each.object.name) for each in first] == [(ObjectAdded, "a"), (ObjectAdded, "b")]
    assert [(type(each), each.object.name) for each in again] == [
        (ObjectDeleted, "b"),
        (ObjectUpdated, "a"),
        (ObjectAdded, "c"),
    ]
    assert [each.is_initial for each in (*first, *again) if isinstance(each, ObjectAdded)] == [True, True, False]


def test_the_first_list_of_a_namespace_is_stored_before_its_first_change_is_yielded() -> None:
    indexer: Indexer[Pod] = Indexer(indexers={NAMESPACE: namespace_of})
    red, blue = (pipeline_to(indexer, scope=scope) for scope in ("red", "blue"))
    applied(red, replaced(pod("a", namespace="red"), version="10"))
    seen = [
        (len(changes), len(indexer))
        for changes in blue.apply([replaced(*(pod(f"p{n}", namespace="blue") for n in range(600)), version="11")])
    ]

    assert [stored for count, stored in seen if count] == [601, 601, 601]
    assert (red.resource_version, blue.resource_version) == ("10", "11")


def test_a_list_of_one_namespace_does_not_change_the_others() -> None:
    indexer: Indexer[Pod] = Indexer(indexers={NAMESPACE: namespace_of})
    red, blue = (pipeline_to(indexer, scope=scope) for scope in ("red", "blue"))
    other = pod("a", namespace="blue")
    applied(red, replaced(pod("a", namespace="red"), version="10"))
    applied(blue, replaced(other, version="11"))
    changes = applied(red, replaced(pod("b", "12", namespace="red"), version="12"))

    assert [(type(each), str(each.object.key)) for each in changes] == [
        (ObjectDeleted, "red/a"),
        (ObjectAdded, "red/b"),
    ]
    assert indexer.get("blue/a") is other
    assert sorted(indexer.keys()) == ["blue/a", "red/b"]


class FailingListener(Listener[Pod]):
    def notify(self, changes: Sequence[Change[Pod]]) -> None:
        raise ZeroDivisionError(f"{len(changes)} changes")


def test_a_listener_that_fails_is_reported_and_the_others_are_notified() -> None:
    reports: list[Exception] = []
    processor: SharedProcessor[Pod] = SharedProcessor(
        Indexer(), [], ready=asyncio.Event(), clock=VirtualClock(), report=reports.append
    )
    listeners = [FailingListener(HandlerFunctions(on_add=print)), Listener(HandlerFunctions(on_add=print))]
    for listener in listeners:
        processor.add(listener, on_added=lambda: None)
    processor.distribute([ObjectAdded(pod("a"))])

    assert listeners[1].statistics().pending == 1
    assert [str(each) for each in reports] == ["print was not notified of 1 change: ZeroDivisionError('1 changes')"]

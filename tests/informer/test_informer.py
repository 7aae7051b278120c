"""The plain informer calls its one handler inline."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.informer.settings import Diary, pod

from listwatch.informer.informer import Informer
from listwatch.informer.transforms import keep_fields, metadata_only, strip_managed_fields
from listwatch.models.core_v1 import Pod
from listwatch.testing.clocks import VirtualClock
from listwatch.testing.scripted_source import ScriptedSource


async def test_it_fills_its_own_store_and_tells_its_handler() -> None:
    clock, source, diary = VirtualClock(), ScriptedSource(Pod), Diary()
    source.will_list([pod("a", node="n1")], resource_version="10")
    watch = source.will_watch()
    informer = Informer(
        source, Pod, diary, clock=clock, random=Random(1), indexers={"node": lambda item: [item.spec.node_name or ""]}
    )

    async with informer:
        await informer.wait_for_sync(timeout=5)
        watch.modify(pod("a", "11", node="n2")).delete(pod("a", "12"))
        await clock.advance(0)
        assert informer.indexer.index_values("node") == []

    assert diary.told == [("add", "a", True), ("update", "a", "1", "11"), ("delete", "a", True)]


async def test_what_its_handler_raises_is_reported_and_the_next_change_handled() -> None:
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


async def test_it_tells_everything_again_when_asked_to() -> None:
    clock, source, diary = VirtualClock(), ScriptedSource(Pod), Diary()
    source.will_list([pod("a")], resource_version="10")

    async with Informer(source, Pod, diary, clock=clock, resync=10.0):
        await clock.advance(25)

    assert len(diary.told) == 1 + 2


MANAGED = Pod.from_dict(
    {
        "metadata": {"name": "a", "managedFields": [{"manager": "x"}], "labels": {"app": "web"}},
        "spec": {"nodeName": "n1"},
        "status": {"phase": "Running"},
    }
)


def test_managed_fields_can_be_left_out_of_the_cache() -> None:
    item = strip_managed_fields(MANAGED)

    assert item.metadata.managed_fields == []
    assert item.labels == {"app": "web"}
    assert item.spec.node_name == "n1"
    assert strip_managed_fields(item) is item


def test_only_named_parts_can_be_kept() -> None:
    item = keep_fields("status")(MANAGED)

    assert item.status.phase == "Running"
    assert item.spec.node_name is None
    assert item.name == "a"


def test_nothing_but_the_metadata_can_be_kept() -> None:
    item = metadata_only(MANAGED)

    assert set(item.to_dict()) == {"apiVersion", "kind", "metadata"}

"""From deltas to news."""

from __future__ import annotations

from typing import Any

from tests.informer.settings import pod

from listwatch.cache import deltas
from listwatch.cache.indexer import Indexer
from listwatch.cache.keys import NAMESPACE, key_of, namespace_of
from listwatch.informer.handlers import Added, Change, Deleted, Updated
from listwatch.informer.processing import Processor
from listwatch.models.core_v1 import Pod


def replaced(*pods: Pod, version: str) -> deltas.ReplacedAllDelta[Pod]:
    return deltas.ReplacedAllDelta({key_of(each): each for each in pods}, version)


def told(processor: Processor[Pod], *batch: Any) -> list[Change[Pod]]:
    return [change for some in processor.process(batch) for change in some]


def test_only_what_could_be_done_is_told() -> None:
    def fail_on_b(item: Pod) -> list[str]:
        return [{"a": "fine", "c": "fine"}[item.name]]

    indexer: Indexer[Pod] = Indexer(indexers={"picky": fail_on_b})
    batch = [deltas.AddedDelta(pod(name), key=f"default/{name}") for name in "abc"]

    assert [change.object.name for change in told(Processor(indexer), *batch)] == ["a", "c"]
    assert indexer.keys() == ["default/a", "default/c"]


def test_the_end_of_what_nobody_knew_is_not_told() -> None:
    indexer: Indexer[Pod] = Indexer()
    indexer.add(pod("a"))
    batch = [deltas.DeletedDelta(pod(name, "5"), key=f"default/{name}") for name in ("a", "stranger")]

    assert [(type(each), each.object.name) for each in told(Processor(indexer), *batch)] == [(Deleted, "a")]


def test_after_a_drop_what_changed_is_an_update_and_what_came_is_an_add_that_is_not_initial() -> None:
    indexer: Indexer[Pod] = Indexer()
    processor = Processor(indexer)
    first = told(processor, replaced(pod("a"), pod("b"), version="10"))
    again = told(processor, replaced(pod("a", "11"), pod("c", "12"), version="12"))

    assert [(type(each), each.object.name) for each in first] == [(Added, "a"), (Added, "b")]
    assert [(type(each), each.object.name) for each in again] == [(Deleted, "b"), (Updated, "a"), (Added, "c")]
    assert [each.is_initial for each in (*first, *again) if isinstance(each, Added)] == [True, True, False]


def test_the_first_list_of_a_namespace_is_in_the_store_before_anything_of_it_is_told() -> None:
    indexer: Indexer[Pod] = Indexer(indexers={NAMESPACE: namespace_of})
    red, blue = (Processor(indexer, scope=place) for place in ("red", "blue"))
    told(red, replaced(pod("a", namespace="red"), version="10"))
    seen = [
        (len(some), len(indexer))
        for some in blue.process([replaced(*(pod(f"p{n}", namespace="blue") for n in range(2500)), version="11")])
    ]

    assert [held for news, held in seen if news] == [2501, 2501, 2501]
    assert (red.resource_version, blue.resource_version) == ("10", "11")


def test_a_list_of_one_namespace_leaves_the_others_as_they_are() -> None:
    indexer: Indexer[Pod] = Indexer(indexers={NAMESPACE: namespace_of})
    red, blue = (Processor(indexer, scope=place) for place in ("red", "blue"))
    elsewhere = pod("a", namespace="blue")
    told(red, replaced(pod("a", namespace="red"), version="10"))
    told(blue, replaced(elsewhere, version="11"))
    news = told(red, replaced(pod("b", "12", namespace="red"), version="12"))

    assert [(type(each), str(each.object.key)) for each in news] == [(Deleted, "red/a"), (Added, "red/b")]
    assert indexer.get("blue/a") is elsewhere
    assert sorted(indexer.keys()) == ["blue/a", "red/b"]

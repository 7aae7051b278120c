"""Objects of a repeated list are the cached instances, whatever has changed in between."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Generator
from typing import Any

import pytest

from listwatch.api.watch_events import EventReader, UnchangedEvents
from listwatch.errors import DecodeError
from listwatch.models.core_v1 import ConfigMap, ConfigMapList
from listwatch.objects.caching.known_objects import KnownObjects, size_from_metadata
from listwatch.objects.caching.list_recognizer import ListRecognizer

HEAD = '{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"900"},"items":['
TYPE = {"kind": "ConfigMap", "apiVersion": "v1"}
SIZE = 20_000  # so that 60 objects are more than a megabyte: smaller lists are split at once


def tree(number: int, version: int) -> dict[str, Any]:
    uid = f"00000000-0000-4000-8000-{number:012}"
    metadata = {"name": f"map-{number}", "namespace": "default", "uid": uid, "resourceVersion": str(version)}
    return {"metadata": metadata, "data": {"key": f'{number % 10}","metadata":{{' * (SIZE // 16)}}


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def read(texts: list[str], known: list[ConfigMap], chunk: int) -> list[ConfigMap]:
    body = (HEAD + ",".join(texts) + "]}").encode()
    chunks = [body[start : start + chunk] for start in range(0, len(body), chunk)]
    listed = result_of(ConfigMapList.reading(chunks, known=KnownObjects({each.cache_key: each for each in known})))
    assert not listed.broken
    assert listed.resource_version == "900"
    return listed.items


def read_while_it_arrives(texts: list[str], known: list[Any], chunk: int) -> tuple[dict[str, Any], list[ConfigMap]]:
    """Return the objects that were recognized, by key, and those that were read."""
    body = (HEAD + ",".join(texts) + "]}").encode()
    recognized: dict[str, Any] = {}
    recognizer = ListRecognizer(KnownObjects({each.cache_key: each for each in known}), ConfigMap, recognized)
    left = [recognizer.feed(body[start : start + chunk]) for start in range(0, len(body), chunk)]
    listed = ConfigMapList.from_json(b"".join([*left, recognizer.finish()]))
    assert not listed.broken
    assert listed.resource_version == "900"
    return recognized, listed.items


def result_of(work: Generator[None, None, ConfigMapList]) -> ConfigMapList:
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: ConfigMapList = end.value
            return result


@pytest.mark.parametrize("seed", range(12))
def test_unchanged_objects_are_the_cached_instances_and_the_others_are_read(seed: int):
    rng = random.Random(seed)
    before = {number: tree(number, version=number + 1) for number in range(70)}
    cached = {
        number: ConfigMap.from_wire(compact(TYPE | each if rng.random() < 0.3 else each).encode())
        for number, each in before.items()
    }
    after = {number: each for number, each in before.items() if rng.random() > 0.1}
    changed = {number for number in after if rng.random() < 0.15}
    after |= {number: tree(number, version=500 + number) for number in changed}
    numbers = list(after)
    for number in range(100, 100 + rng.randrange(8)):
        after[number] = tree(number, version=number)
        numbers.insert(rng.randrange(len(numbers)), number)
    if seed % 4 == 3:
        rng.shuffle(numbers)
    found = read([compact(after[number]) for number in numbers], [*cached.values()], chunk=rng.choice([1_000, 262_144]))
    assert [each.name for each in found] == [f"map-{number}" for number in numbers]
    for number, item in zip(numbers, found, strict=True):
        is_unchanged = number in cached and number not in changed
        assert (item is cached.get(number)) == is_unchanged
        assert (item.data, item.resource_version) == (
            after[number]["data"],
            after[number]["metadata"]["resourceVersion"],
        )
    for known in ([*cached.values()], [StandIn(each) for each in cached.values()]):
        recognized, others = read_while_it_arrives(
            [compact(after[number]) for number in numbers], known, chunk=rng.choice([1_000, 30_000, 262_144])
        )
        assert recognized == {each.cache_key: each for each in known if each.name in unchanged_names(cached, after)}
        assert sorted([each.name for each in others] + [each.name for each in recognized.values()]) == sorted(
            f"map-{number}" for number in numbers
        )


class StandIn:
    """What a compact store has in place of an object: its bytes are not at hand, but their size is known."""

    _received = None

    def __init__(self, item: ConfigMap) -> None:
        self.name, self.uid, self.resource_version = item.name, item.uid, item.resource_version
        self.cache_key = item.cache_key
        self.size = size_from_metadata(item._raw)


def unchanged_names(cached: dict[int, ConfigMap], after: dict[int, dict[str, Any]]) -> set[str]:
    versions = {number: each["metadata"]["resourceVersion"] for number, each in after.items()}
    return {each.name for number, each in cached.items() if versions.get(number) == each.resource_version}


ONE, TWO = (compact(tree(number, version=1)) for number in (1, 2))


@pytest.mark.parametrize(
    "body",
    [
        f"{HEAD}{ONE},]}}",
        f"{HEAD}{ONE},",
        f"{HEAD}{ONE}",
        f"{HEAD}{ONE}}}",
        f"{HEAD}{ONE}{TWO}]}}",
        f"{HEAD}{ONE},{TWO[:-1]}]}}",
    ],
)
@pytest.mark.parametrize("chunk", [10, 100_000])
def test_a_malformed_list_stays_malformed_without_its_known_objects(body: str, chunk: int):
    text, recognized = body.encode(), dict[str, ConfigMap]()
    item = ConfigMap.from_wire(ONE.encode())
    recognizer = ListRecognizer(KnownObjects({item.cache_key: item}), ConfigMap, recognized)
    left = [recognizer.feed(text[start : start + chunk]) for start in range(0, len(text), chunk)]
    with pytest.raises(DecodeError):
        ConfigMapList.from_json(b"".join([*left, recognizer.finish()]))


@pytest.mark.parametrize(
    "body",
    [
        f"{HEAD}]}}",
        f"{HEAD[:-1]}null}}",
        '{"kind":"Status","apiVersion":"v1","metadata":{},"code":200}',
        f" {HEAD}{ONE},{TWO}]}}",
        f"{HEAD}{TWO}]}}",
        "",
    ],
)
def test_a_body_without_known_objects_is_left_as_it_is(body: str):
    item, recognized = ConfigMap.from_wire(ONE.encode()), dict[str, ConfigMap]()
    recognizer = ListRecognizer(KnownObjects({item.cache_key: item}), ConfigMap, recognized)
    assert recognizer.feed(body.encode()) + recognizer.finish() == body.encode()
    assert not recognized


def test_an_object_of_another_size_with_a_known_version_is_read_and_hides_no_neighbour():
    items = [ConfigMap.from_wire(compact(tree(number, version=1)).encode()) for number in range(3)]
    known = [StandIn(each) for each in items]
    texts = [compact(tree(number, version=1)) for number in range(3)]
    texts[1] = texts[1][:-1] + ',"immutable":true}'
    recognized, others = read_while_it_arrives(texts, known, chunk=5_000)
    assert [*recognized.values()] == [known[0], known[2]]
    assert [each.immutable for each in others] == [True]


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
def test_objects_are_recognized_in_any_order(order: tuple[int, ...]):
    texts = [compact(tree(number, version=1)) for number in range(3)]
    items = [ConfigMap.from_wire(text.encode()) for text in texts]
    for known in (items, [StandIn(each) for each in items]):
        recognized, others = read_while_it_arrives([texts[number] for number in order], known, chunk=5_000)
        assert [*recognized.values()] == [known[number] for number in order]
        assert not others
        reader = EventReader(ConfigMap, known=KnownObjects({each.cache_key: each for each in known}))
        lines = [f'{{"type":"ADDED","object":{texts[number]}}}\n' for number in order]
        [unchanged] = reader.feed("".join(lines).encode())
        assert isinstance(unchanged, UnchangedEvents)
        assert [*unchanged.objects.values()] == [known[number] for number in order]


def test_after_many_changed_objects_the_rest_of_a_list_is_left_as_it_is():
    items = [ConfigMap.from_wire(compact(tree(number, version=1)).encode()) for number in range(130)]
    texts = [compact(tree(number, version=2)) for number in range(129)] + [compact(tree(129, version=1))]
    recognized, others = read_while_it_arrives(texts, items, chunk=262_144)
    assert not recognized
    assert len(others) == 130


def test_the_same_version_in_other_bytes_is_the_cached_instance_and_hides_no_neighbour():
    trees = [tree(number, version=number + 1) for number in range(60)]
    cached = [ConfigMap.from_wire(compact(each).encode()) for each in trees]
    texts = [compact(each) for each in trees]
    texts[0] = texts[0][:-1] + ',"immutable":true}'
    texts[30] = texts[30][:-3] + '"}}'
    texts[59] = texts[59].replace('"data":', '"data" : ')
    found = read(texts, cached, chunk=50_000)
    assert [each.name for each in found] == [each.name for each in cached]
    assert all(one is other for one, other in zip(found, cached, strict=True))


def test_objects_without_a_version_are_read_again():
    trees = [tree(number, version=1) for number in range(60)]
    for each in trees:
        del each["metadata"]["resourceVersion"]
    cached = [ConfigMap.from_wire(compact(each).encode()) for each in trees]
    found = read([compact(each) for each in trees], cached, chunk=262_144)
    assert found == cached
    assert not any(one is other for one, other in zip(found, cached, strict=True))

"""Objects of a repeated list are the cached instances, whatever has changed in between."""

from __future__ import annotations

import json
import random
from collections.abc import Generator
from typing import Any

import pytest

from listwatch.models.core_v1 import ConfigMap, ConfigMapList
from listwatch.objects.caching.known_objects import KnownObjects

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
    listed = result_of(ConfigMapList.reading(chunks, known=KnownObjects(known)))
    assert not listed.broken
    assert listed.resource_version == "900"
    return listed.items


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

"""Hashes, ranges and selectors of shards: the values that every replica and the server must agree on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api.shard_selector import HASH_SPACE, HashRange, ShardSelector, fnv1a64
from listwatch.errors import SelectorError, UsageError
from listwatch.sharding import ShardSpace

COUNTS = st.integers(min_value=1, max_value=1024)


@pytest.mark.parametrize(
    ("text", "value", "shards"),
    [
        ("", 0xCBF29CE484222325, (50, 79, 203)),
        ("foobar", 0x85944171F73967E8, (33, 52, 133)),
        ("default", 0xEBADA5168620C5FE, (58, 92, 235)),
        ("team-01", 0x410C24D7853EC178, (16, 25, 65)),
        ("team-02", 0x410C27D7853EC691, (16, 25, 65)),
        ("6ba7b810-9dad-11d1-80b4-00c04fd430c8", 0xAD05FD9059563830, (43, 67, 173)),
        ("zürich", 0xFE8BB21E6544B7A0, (63, 99, 254)),
    ],
)
def test_a_text_has_the_hash_and_the_shard_that_kubernetes_gives_it(text: str, value: int, shards: tuple[int, ...]):
    assert fnv1a64(text) == value
    assert tuple(ShardSpace(count).shard_of(text) for count in (64, 100, 256)) == shards


@given(COUNTS)
def test_the_ranges_of_all_shards_cover_the_hash_space_once(count: int):
    ranges = [ShardSpace(count).range_of(shard) for shard in range(count)]
    assert [each.start for each in ranges] == [0, *(each.end for each in ranges[:-1])]
    assert ranges[-1].end == HASH_SPACE


@given(COUNTS, st.text(), st.sampled_from(["fnv1a64", "fnv1a64+fmix64"]))
def test_the_hash_of_a_text_is_in_the_range_of_its_shard(count: int, text: str, name):
    space = ShardSpace(count, hash_name=name)
    assert space.hash_of(text) in space.range_of(space.shard_of(text))


@given(COUNTS, st.data())
def test_a_selector_selects_exactly_the_texts_of_its_shards(count: int, data: st.DataObject):
    space = ShardSpace(count, by="namespace")
    shards = data.draw(st.sets(st.integers(0, count - 1), min_size=1))
    text = data.draw(st.text())
    selector = space.selector(shards)
    assert selector.matches(text) == (space.shard_of(text) in shards)
    assert ShardSelector.parse(str(selector)) == selector


def test_adjacent_ranges_of_a_selector_are_merged():
    space = ShardSpace(4)
    assert str(space.selector([2, 0, 1])) == (
        "shardRange(object.metadata.uid, '0x0000000000000000', '0xc000000000000000')"
    )
    assert str(space.selector([3, 0])) == (
        "shardRange(object.metadata.uid, '0x0000000000000000', '0x4000000000000000') || "
        "shardRange(object.metadata.uid, '0xc000000000000000', '0x10000000000000000')"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "shardRange(object.metadata.uid, '0x0', '0x8000000000000000')",
        "shardRange(object.metadata.uid, '0x0000000000000000', '0x800000000000000A')",
        "shardRange(object.metadata.name, '0x0000000000000000', '0x8000000000000000')",
        "shardRange(object.metadata.uid, '0x8000000000000000', '0x8000000000000000')",
        "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || "
        "shardRange(object.metadata.namespace, '0x8000000000000000', '0x10000000000000000')",
    ],
)
def test_a_malformed_selector_is_rejected(text: str):
    with pytest.raises(SelectorError):
        ShardSelector.parse(text)


def test_an_empty_range_is_rejected():
    with pytest.raises(SelectorError):
        HashRange(5, 5)


def test_names_that_look_alike_share_a_shard_unless_their_hashes_are_mixed():
    names = [f"team-{number:02}" for number in range(100)]
    plain, mixed = ShardSpace(64), ShardSpace(64, hash_name="fnv1a64+fmix64")
    assert len({plain.shard_of(name) for name in names}) == 1
    assert len({mixed.shard_of(name) for name in names}) == 48
    with pytest.raises(UsageError, match="no server can select"):
        mixed.selector([0])


@pytest.mark.parametrize(
    "options", [{"count": 0}, {"count": 1025}, {"count": True}, {"by": "name"}, {"hash_name": "md5"}]
)
def test_an_impossible_space_is_rejected(options: dict):
    with pytest.raises(UsageError):
        ShardSpace(**{"count": 64, **options})

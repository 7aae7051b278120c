"""Lists and watches with damaged bytes: an error, or objects of which those that are not damaged are intact."""

from random import Random

import pytest
from tests.protobuf.wire import METADATA

from listwatch.errors import DecodeError, ResponseTooLargeError
from listwatch.models.core_v1 import ConfigMap, ConfigMapList
from listwatch.protobuf import encode_list, encode_message, encode_object, encode_watch_frame
from listwatch.protobuf.list_splitter import ListSplitter
from listwatch.protobuf.watch_frames import FrameReader

TREES = [{"metadata": METADATA | {"name": f"web-{n}"}, "data": {"k": "v" * 40 * n}} for n in range(8)]
ITEMS = [encode_message(tree, "v1", "ConfigMap") for tree in TREES]
BODY = encode_list("v1", "ConfigMapList", {"resourceVersion": "9"}, ITEMS)
OBJECTS = [encode_object({"kind": "ConfigMap", "apiVersion": "v1", **tree}) for tree in TREES]
FRAMES = [encode_watch_frame("ADDED", each) for each in OBJECTS]


def damaged(random: Random, data: bytes) -> bytes:
    found = bytearray(data)
    for _ in range(random.randint(1, 4)):
        place = random.randrange(len(found))
        match random.randrange(4):
            case 0:
                found[place] = random.randrange(256)
            case 1:
                del found[place : place + random.randint(1, 20)]
            case 2:
                found[place:place] = random.randbytes(random.randint(1, 20))
            case _:
                found[place : place + 4] = b"\xff" * 4  # lengths become huge
    return bytes(found)


def chunks(random: Random, data: bytes) -> list[bytes]:
    size = random.choice([1, 7, 100, 10**6])
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.mark.parametrize("seed", range(300))
def test_a_damaged_list_is_an_error_or_is_split_by_its_lengths(seed: int):
    random = Random(seed)
    body = damaged(random, BODY)
    splitter = ListSplitter(chunks(random, body))
    try:
        found = [item for group in splitter.groups() for item in group]
    except DecodeError:
        return
    messages = [item.removeprefix(splitter._prefix) for item in found]
    assert all(message in body for message in messages)
    assert sum(map(len, messages)) <= len(body)


@pytest.mark.parametrize("seed", range(100))
def test_damage_inside_of_an_object_does_not_change_its_neighbours(seed: int):
    random = Random(seed)
    broken, items = random.randrange(len(ITEMS)), list(ITEMS)
    items[broken] = damaged(random, items[broken])
    page = ConfigMapList.from_wire(encode_list("v1", "ConfigMapList", {}, items))
    assert len(page.items) + len(page.broken) == len(ITEMS)
    by_name = {item.name: item for item in page.items}
    for number, raw in enumerate(OBJECTS):
        if number != broken:
            assert by_name[f"web-{number}"] == ConfigMap.from_wire(raw)
    for item in page.items:
        try:
            item.to_dict()
        except DecodeError:
            assert item._damaged_parts()


@pytest.mark.parametrize("seed", range(300))
def test_a_damaged_watch_ends_with_an_error_or_is_split_by_its_lengths(seed: int):
    random = Random(seed)
    position = random.randrange(len(FRAMES))
    frames = [*FRAMES]
    frames[position] = damaged(random, frames[position])
    reader, found = FrameReader(max_size=1 << 20), list[tuple[str, bytes]]()
    try:
        for piece in chunks(random, b"".join(frames)):
            found.extend(reader.feed(piece))
    except (DecodeError, ResponseTooLargeError):
        pass
    assert [raw for _, raw in found[:position]] == OBJECTS[:position]

"""Generates lists and watch frames with odd and damaged objects, and compares what is read with what `json` reads.

An object is odd if it cannot be decoded as a whole, although its structure is that of JSON: it must not hide others.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from listwatch.api.watch_events import EventReader, ReceivedEvent, UndecodableEvent, read_events
from listwatch.errors import DecodeError
from listwatch.objects import list_splitter
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList
from soak.informers import Outcome

__all__ = ["SplitterRound", "check_frames", "check_list"]

TEXTS = ["", "a", "web", "é", "\U0001f600", "},{", '":[', "items", "metadata", "\\", "\n", "\u2028", "x" * 70]
NUMBERS = [b"0", b"-0", b"1.50", b"1e2", b"-1E-2", b"123456789012345678901234567890", b"0.1", b"9007199254740993"]
ODD_SCALARS = [b"NaN", b"01", b"1e400", b"-", b"tru", b"+1", b"1.", b"Infinity"]
ODD_STRINGS = [b'"\\ud800"', b'"\\udc00 x"', b'"\xff"', b'"\\x"', b'"\x01"', b'"\xed\xa0\x80"', b'"\\u12"']
SPACES = [b"", b"", b"", b" ", b"\t", b"  "]
DAMAGE = [b"\xff", b"\x01", b"{", b"}", b"[", b"]", b'"', b"\\", b",", b":", b" ", b"x", b"\n"]
REFUSED = object()


class Thing(Object):
    """An object of no known kind, so that nothing is added to it."""


class Writer:
    """Writes arbitrary JSON. With `odd`, some of it is invalid inside of strings and numbers, or nested very deeply."""

    def __init__(self, rng: Random, *, odd: float, spaces: list[bytes]) -> None:
        self.rng, self.odd, self.spaces = rng, odd, spaces

    def space(self) -> bytes:
        return self.rng.choice(self.spaces)

    def string(self, text: str | None = None) -> bytes:
        text = self.rng.choice(TEXTS) if text is None else text
        written = json.dumps(text, ensure_ascii=self.rng.random() < 0.5).encode()
        if text and self.rng.random() < 0.1:
            written = b'"' + b"".join(b"\\u%04x" % ord(each) for each in text if ord(each) < 0x10000) + b'"'
        return written

    def value(self, depth: int = 3) -> bytes:
        rng = self.rng
        if rng.random() < self.odd:
            return rng.choice([*ODD_SCALARS, *ODD_STRINGS, self.deep()])
        match rng.randrange(6 if depth else 4):
            case 0:
                return rng.choice(NUMBERS)
            case 1:
                return rng.choice([b"true", b"false", b"null", b"[]", b"{}"])
            case 2 | 3:
                return self.string()
            case 4:
                return self.array([self.value(depth - 1) for _ in range(rng.randrange(4))])
            case _:
                return self.object([(self.string(), self.value(depth - 1)) for _ in range(rng.randrange(4))])

    def deep(self) -> bytes:
        depth = self.rng.choice([500, 1200, 3000])
        start, end = self.rng.choice([(b"[", b"]"), (b'{"a":', b"}"), (b'[{"a" :[1, ', b"]}]")])
        return start * depth + b"1" + end * depth

    def array(self, elements: list[bytes]) -> bytes:
        return b"[" + b",".join(self.space() + each + self.space() for each in elements) + b"]"

    def object(self, members: list[tuple[bytes, bytes]]) -> bytes:
        written = [b"".join((self.space(), name, self.space(), b":", self.space(), value)) for name, value in members]
        return b"{" + b",".join(each + self.space() for each in written) + b"}"

    def item(self, number: int) -> bytes:
        """An object, or something else."""
        rng = self.rng
        if rng.random() < 0.05:
            return self.value()
        head = [(b'"name"', self.string(f"w-{number}"))]
        head += [(b'"labels"', self.value())] * (rng.random() < 0.3) + [(b'"namespace"', b'"n"')] * (rng.random() < 0.5)
        head += [(self.string(), self.value())] * (rng.random() < 0.3)
        rng.shuffle(head)
        members = [(b'"metadata"', self.object(head) if rng.random() < 0.95 else self.value())]
        members += [(self.string(rng.choice(["spec", "status", "kind", "items"])), self.value()) for _ in range(2)]
        if rng.random() < 0.5:
            rng.shuffle(members)
        return self.object(members)


class WrittenList(NamedTuple):
    """A list, its items, and where they are; `is_plain` if nothing but its items is odd."""

    body: bytes
    items: list[bytes]
    places: list[int]
    is_plain: bool


def write_list(rng: Random) -> WrittenList:
    """A list in one of many formats."""
    odd = rng.choice([0.0, 0.0, 0.02, 0.2])
    writer = Writer(rng, odd=odd, spaces=rng.choice([[b""], SPACES, [b"\n  "]]))
    items = [writer.item(number) for number in range(rng.choice([0, 1, 2, 3, 10, 40]))]
    names = [b'"apiVersion"', b'"kind"', b'"metadata"', b'"items"', *[b'"x"'] * rng.randrange(2)]
    if rng.random() < 0.5:
        rng.shuffle(names)
    is_doubled = rng.random() < 0.03
    names += [rng.choice([b'"items"', b'"\\u0069tems"'])] * is_doubled
    values = {
        b'"apiVersion"': b'"v1"',
        b'"kind"': b'"ThingList"',
        b'"metadata"': writer.object([(b'"resourceVersion"', b'"5"'), (b'"x"', b"[{}]")]),
        b'"x"': writer.value(),
    }
    body, places, start, end = writer.space() + b"{", list[int](), writer.space(), writer.space()
    for index, name in enumerate(names):
        body += b"," * (index > 0) + writer.space() + name + writer.space() + b":" + writer.space()
        if name in values:
            body += values[name]
            continue
        body += b"[" + start
        places = []
        for number, item in enumerate(items):
            body += b"," * (number > 0) + start * (number > 0)
            places.append(len(body))
            body += item + end
        body += b"]"
    return WrittenList(body + b"}" + writer.space(), items, places, not is_doubled)


# --- what json reads ------------------------------------------------------------------------------------------------


def json_value(text: bytes) -> Any:
    """What `json` reads; REFUSED for what it refuses, and for what is not JSON although Python reads it."""
    try:
        tree = json.loads(text.decode(), parse_constant=_refuse, object_pairs_hook=_checked)
    except (ValueError, RecursionError):
        return REFUSED
    return tree if _is_json(tree) else REFUSED


def _refuse(text: str) -> None:
    raise ValueError(text)


def _checked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Of equal names json keeps the last one, but the others must be JSON as well.
    if not all(_is_json([name, value]) for name, value in pairs):
        raise ValueError
    return dict(pairs)


def _is_json(tree: Any) -> bool:
    """Whether texts and numbers are JSON. `_checked` has seen the objects already, the innermost first."""
    left = [tree]
    while left:
        match left.pop():
            case list() as found:
                left += found
            case str() as text:
                if any("\ud800" <= each <= "\udfff" for each in text):
                    return False
            case float() as number if not math.isfinite(number):
                return False
    return True


def check_item(found: Object | DecodeError | None, text: bytes, where: str) -> None:
    """Compare what was read of an item with what json reads."""
    expected = json_value(text)
    if isinstance(found, Object):
        try:
            tree = found.to_dict()
        except DecodeError:
            assert expected is REFUSED or _is_nearly_too_deep(text), f"{where}: not read: {text[:200]!r}"
            return
        assert tree == expected or expected is REFUSED, f"{where}: {tree!r} instead of {expected!r}"
        if expected is not REFUSED and isinstance(expected.get("metadata"), dict):
            name = expected["metadata"].get("name")
            assert found.name == (name if isinstance(name, str) else ""), f"{where}: {found.name!r}"
        return
    assert isinstance(found, DecodeError), f"{where}: it is missing"
    if isinstance(expected, dict):
        metadata = expected.get("metadata")
        namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
        assert not isinstance(namespace, str | None), f"{where}: {found} for {text[:200]!r}"


def _is_nearly_too_deep(text: bytes) -> bool:
    return text.count(b"[") + text.count(b"{") > 400


# --- lists ----------------------------------------------------------------------------------------------------------


@contextmanager
def small_groups(rng: Random) -> Iterator[None]:
    """Make a list of a few hundred bytes a large one."""
    names = ("LARGE", "_GROUP", "_WINDOW", "_SCANNED_GROUP")
    before = {name: getattr(list_splitter, name) for name in names}
    group = rng.choice([1, 60, 300])
    sizes = dict(zip(names, (rng.choice([0, 200]), group, 4 * group, rng.choice([1, 50])), strict=True))
    try:
        for name, size in sizes.items():
            setattr(list_splitter, name, size)
        yield
    finally:
        for name, size in before.items():
            setattr(list_splitter, name, size)


def pieces_of(rng: Random, text: bytes) -> list[bytes]:
    """The text, cut at any positions."""
    size = rng.choice([1, 7, 64, 1000, 1 << 20])
    cuts = [0]
    while cuts[-1] < len(text):
        cuts.append(cuts[-1] + rng.randrange(1, size + 1))
    return [text[start:end] for start, end in pairwise(cuts)]


class ReadList(NamedTuple):
    """What was read of a list: its fields, and its items or their errors by index."""

    head: tuple[str, str, str]
    items: dict[int, Object | DecodeError]


def read_list(body: bytes, pieces: list[bytes] | None = None) -> ReadList | DecodeError:
    """What is read of a list; the error if it is refused."""
    try:
        if pieces is None:
            listed = ObjectList[Thing].from_json(body, Thing)
        else:
            reading = ObjectList[Thing].reading(pieces, Thing)
            try:
                while True:
                    next(reading)
            except StopIteration as done:
                listed = done.value
    except DecodeError as error:
        return error
    found: dict[int, Object | DecodeError] = {int(each.field[6:-1]): each for each in listed.broken}
    rest = iter(listed.items)
    for index in range(len(listed.items) + len(listed.broken)):
        if index not in found:
            found[index] = next(rest)
    return ReadList((listed.kind, listed.api_version, listed.resource_version), found)


def read_both_ways(rng: Random, body: bytes) -> ReadList | DecodeError:
    """Read a list at once and in slices; both must agree."""
    at_once = read_list(body)
    with small_groups(rng):
        in_slices = read_list(body, pieces_of(rng, body))
    if isinstance(at_once, DecodeError) or isinstance(in_slices, DecodeError):
        assert type(at_once) is type(in_slices), f"at once: {at_once!r}; in slices: {in_slices!r}; of {body[:500]!r}"
        return at_once
    assert (at_once.head, at_once.items.keys()) == (in_slices.head, in_slices.items.keys()), f"of {body[:500]!r}"
    for index, one in at_once.items.items():
        other = in_slices.items[index]
        assert type(one) is type(other), f"item {index} of {body[:500]!r}"
        if isinstance(one, Object) and isinstance(other, Object):
            assert one == other, f"item {index} of {body[:500]!r}"
    return at_once


def check_list(rng: Random) -> None:
    """Generate a list, and damage it in several ways."""
    written = write_list(rng)
    found = read_both_ways(rng, written.body)
    if not written.is_plain:
        assert isinstance(found, DecodeError), f"two lists of items are one: {written.body[:500]!r}"
        return
    assert not isinstance(found, DecodeError), f"{found}: {written.body[:500]!r}"
    assert found.head == ("ThingList", "v1", "5")
    assert len(found.items) == len(written.items)
    for index, text in enumerate(written.items):
        check_item(found.items[index], text, f"item {index}")
    _check_cut(rng, written)
    _check_damaged_text(rng, written)
    _check_any_damage(rng, written.body)


def _check_cut(rng: Random, written: WrittenList) -> None:
    body = written.body.rstrip()
    cut = body[: rng.randrange(len(body))]
    assert isinstance(read_both_ways(rng, cut), DecodeError), f"accepted although it is cut: {cut[-200:]!r}"
    more = body + rng.choice([b"x", b"{}", b",", b"]", b"}", body])
    assert isinstance(read_both_ways(rng, more), DecodeError), f"accepted with more after it: {more[-200:]!r}"


def _check_damaged_text(rng: Random, written: WrittenList) -> None:
    """Damage inside of a string of one item leaves all others as they are."""
    if not written.items:
        return
    index = rng.randrange(len(written.items))
    text, start = written.items[index], written.places[index]
    name = b"w-%d" % index
    at = text.find(name)
    if at < 0:
        return
    damaged = text[:at] + rng.choice([b"\xff", b"\x01"]) + text[at + 1 :]
    found = read_both_ways(rng, written.body[:start] + damaged + written.body[start + len(text) :])
    assert not isinstance(found, DecodeError), f"one damaged item hides the others: {found}"
    for each, other in enumerate(written.items):
        check_item(found.items.get(each), damaged if each == index else other, f"item {each}")


def _check_any_damage(rng: Random, body: bytes) -> None:
    """Any other damage leads to an error of ours, or to a list of which each item is read as json reads it."""
    damaged = bytearray(body)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(damaged))
        damaged[at : at + rng.randrange(2)] = rng.choice(DAMAGE)
    found, expected = read_both_ways(rng, bytes(damaged)), json_value(bytes(damaged))
    if isinstance(found, DecodeError) or expected is REFUSED:
        return
    for index, each in enumerate(expected["items"] or ()):
        check_item(found.items.get(index), json.dumps(each).encode(), f"item {index}")


# --- frames ---------------------------------------------------------------------------------------------------------


def write_frames(rng: Random) -> tuple[list[bytes], list[bytes]]:
    """Frames without line feeds, and their objects."""
    writer = Writer(rng, odd=rng.choice([0.0, 0.05, 0.3]), spaces=rng.choice([[b""], SPACES]))
    objects = [writer.item(number) for number in range(rng.choice([1, 2, 10]))]
    frames = []
    for each in objects:
        members = [(b'"type"', rng.choice([b'"ADDED"', b'"MODIFIED"', b'"DELETED"'])), (b'"object"', each)]
        members += [(b'"more"', writer.value())] * (rng.random() < 0.1)
        if rng.random() < 0.2:
            rng.shuffle(members)
        frames.append(
            writer.object(members) if rng.random() < 0.3 else Writer(rng, odd=0, spaces=[b""]).object(members)
        )
    return frames, objects


def read_stream(pieces: list[bytes]) -> tuple[list[ReceivedEvent[Thing]], bool]:
    """The events of a stream that ends after these pieces, and whether it ended with an error."""
    reader, events = EventReader(Thing), list[ReceivedEvent[Thing]]()
    try:
        for piece in pieces:
            events.extend(reader.feed(piece))
        if rest := reader.finish():
            events.extend(read_events(rest, Thing))
    except DecodeError:
        return events, True
    return events, False


def _check_events(events: list[ReceivedEvent[Thing]], objects: list[bytes]) -> None:
    for index, (event, text) in enumerate(zip(events, objects, strict=False)):
        check_item(event.error if isinstance(event, UndecodableEvent) else event.object, text, f"event {index}")


def check_frames(rng: Random) -> None:
    """Generate a stream, and cut and damage it."""
    frames, objects = write_frames(rng)
    stream = b"".join(each + rng.choice([b"\n", b"\r\n", b"\n\n"]) for each in frames)
    events, is_failed = read_stream(pieces_of(rng, stream))
    assert not is_failed, f"a stream is refused: {stream[:500]!r}"
    assert len(events) == len(objects), f"{len(events)} events of {len(objects)}: {stream[:500]!r}"
    _check_events(events, objects)
    cut = rng.randrange(len(stream))
    events, is_failed = read_stream(pieces_of(rng, stream[:cut]))
    complete = sum(len(b"\n".join(frames[: number + 1]).replace(b"\n", b"")) <= cut for number in range(len(frames)))
    assert len(events) <= complete, f"half a frame is an event: {stream[max(cut - 200, 0) : cut]!r}"
    _check_events(events, objects)
    damaged = bytearray(stream)
    damaged[rng.randrange(len(damaged))] = rng.choice(DAMAGE)[0]
    for event in read_stream(pieces_of(rng, bytes(damaged)))[0]:
        if not isinstance(event, UndecodableEvent):
            with suppress(DecodeError):
                event.object.to_dict()


class SplitterRound:
    """Generates lists and streams for some seconds."""

    def __init__(self, seed: int, *, seconds: float) -> None:
        self._seed = seed
        self._seconds = seconds

    async def run(self) -> Outcome:
        """Run until the time is over, or until something is read wrongly."""
        rng, ends, lists, streams = Random(self._seed), time.monotonic() + self._seconds, 0, 0
        failures: list[str] = []
        while time.monotonic() < ends and not failures:
            for check in (check_list, check_frames):
                number = rng.randrange(2**32)
                try:
                    check(Random(number))
                except Exception as error:  # noqa: BLE001  # any error but ours is a failure
                    place = traceback.extract_tb(error.__traceback__)[-1]
                    failures.append(f"{check.__name__}(Random({number})): {error!r} in {place.name}"[:2000])
            lists, streams = lists + 1, streams + 1
            await asyncio.sleep(0)
        return Outcome(self._seed, writes=lists, notifications=streams, faults=[], failures=failures)

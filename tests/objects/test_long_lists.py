"""Long lists are split in groups, so that the event loop is not blocked; the result is the same as at once."""

import json
import random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from listwatch.errors import DecodeError
from listwatch.objects import list_splitter
from listwatch.objects.json.json_scan import ValueScanner
from listwatch.objects.list_splitter import ListSplitter, WireList, split_list
from listwatch.objects.object_list import ObjectList

LOOKALIKE = {"metadata": {"name": "inside"}}
SIZES = [random.Random(number).randrange(2_000, 80_000) for number in range(150)]
# What looks like the place between two objects, in texts and for real.
NOTE = '},{"metadata": \\" },{\\"metadata\\": ] } é'


def item(number: int, size: int, templates: int) -> dict[str, Any]:
    return {
        "metadata": {"name": f"widget-{number}"},
        "templates": [LOOKALIKE] * templates,
        "note": (NOTE * (size // len(NOTE) + 1))[:size],
        "more": [LOOKALIKE] * templates,
    }


def written(items: list[Any], *, is_sorted: bool = False) -> bytes:
    head = {"kind": "WidgetList", "apiVersion": "example.com/v1", "metadata": {"resourceVersion": "5"}}
    tree = dict(sorted({**head, "items": items}.items())) if is_sorted else {**head, "items": items}
    return json.dumps(tree, separators=(",", ":")).encode()


def read(body: bytes) -> ObjectList[Any]:
    reading = ObjectList.reading([body])
    while True:
        try:
            next(reading)
        except StopIteration as done:
            found: ObjectList[Any] = done.value
            return found


def cut(body: bytes, size: int) -> tuple[list[list[bytes]], WireList]:
    """The groups, and what the list says of itself."""
    splitter = ListSplitter(body[start : start + size] for start in range(0, len(body), size))
    groups = [[bytes(raw) for raw in group] for group in splitter.groups() if group]
    return groups, splitter.head


def both_ways(body: bytes, size: int = 100_000) -> tuple[Any, Any]:
    """What cutting in groups and cutting at once give: the objects and what the list says of itself; or an error."""
    results: list[Any] = []
    for in_groups in (True, False):
        try:
            groups, wire = cut(body, size) if in_groups else ([split_list(body).items or []], split_list(body))
            raws = [bytes(raw) for group in groups for raw in group]
            results.append((raws, wire.kind, wire.api_version, wire.metadata))
        except DecodeError:
            results.append(DecodeError)
    return results[0], results[1]


@pytest.mark.parametrize("is_sorted", [False, True])
@pytest.mark.parametrize("templates", [0, 1, 3])
@pytest.mark.parametrize("size", [100_000, 1_000_003, 1 << 30])
def test_splitting_in_groups_equals_splitting_at_once(size: int, templates: int, is_sorted: bool):
    items = [item(number, SIZES[number], templates) for number in range(150)]
    # Those of custom kinds name themselves, and their list does so at the end.
    named = [{"apiVersion": "example.com/v1", "kind": "Widget", **each} for each in items]
    body = written(named if is_sorted else items, is_sorted=is_sorted)
    in_groups, at_once = both_ways(body, size)
    assert in_groups == at_once
    assert len(in_groups[0]) == 150
    groups, _ = cut(body, size)
    assert len(groups) > 8


def test_objects_get_their_kind_from_a_list_whose_kind_follows_them():
    body = written([item(number, SIZES[number], 0) for number in range(150)], is_sorted=True)
    groups, wire = cut(body, 100_000)
    assert len(groups) > 8
    assert wire.kind == "WidgetList"
    assert {each.kind for each in ObjectList.from_json(body)} == {"Widget"}
    assert {each.kind for each in read(body)} == {"Widget"}
    assert read(body) == ObjectList.from_json(body)


def test_objects_get_their_kind_from_a_list_whose_api_version_follows_them():
    tree = {"kind": "WidgetList", "items": [item(number, 10_000, 0) for number in range(150)]}
    body = json.dumps({**tree, "apiVersion": "example.com/v1"}, separators=(",", ":")).encode()
    assert {(each.api_version, each.kind) for each in read(body)} == {("example.com/v1", "Widget")}
    assert read(body) == ObjectList.from_json(body)


def test_one_object_may_be_longer_than_any_group():
    in_groups, at_once = both_ways(written([item(0, 3_000_000, 0), item(1, 10, 0), item(2, 2_000_000, 2)]))
    assert in_groups == at_once
    assert len(in_groups[0]) == 3


def test_an_object_that_contains_separators_is_one_object():
    in_groups, at_once = both_ways(written([item(0, 300_000, 50_000), item(1, 10, 0)]))
    assert in_groups == at_once
    assert len(in_groups[0]) == 2


@pytest.mark.parametrize(
    "items",
    [[1234567] * 150_000, [{}] * 600_000, [{"metadata": {}}, 7, None, {"a": "x" * 2_000_000}, []], ["x" * 2_000_000]],
)
def test_objects_may_have_any_content(items: list[Any]):
    in_groups, at_once = both_ways(written(items))
    assert in_groups == at_once
    assert len(in_groups[0]) == len(items)


BODY = written([item(number, SIZES[number], 1) for number in range(40)])


@given(st.floats(0, 1), st.sampled_from([b"}", b"]", b'"', b"\x80", b"{", b",", b"\\"]))
@example(1.0, b" ")
@example(0.0, b"[")
def test_damage_has_the_same_result_in_groups_and_at_once(place: float, damage: bytes):
    at = int(place * (len(BODY) - 1))
    in_groups, at_once = both_ways(BODY[:at] + damage + BODY[at + 1 :])
    assert in_groups == at_once


@pytest.mark.parametrize("body", [b'{"items":[{"metadata":{"name":"a"}}]}', b'{\n  "items": []\n}', b'{"items":null}'])
def test_short_lists_are_read_too(body: bytes):
    assert read(body) == ObjectList.from_json(body)


@pytest.mark.parametrize("group", [1, 60, 200, 300])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_a_comma_behind_the_last_object_is_an_error(group: int, count: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(list_splitter, "LARGE", 0)
    monkeypatch.setattr(list_splitter, "_GROUP", group)
    monkeypatch.setattr(list_splitter, "_WINDOW", 4 * group)
    monkeypatch.setattr(list_splitter, "_SCANNED_GROUP", 1)
    items = [{"metadata": {"name": f"widget-{number}"}} for number in range(count)]
    for body in (written(items), written(items, is_sorted=True)):
        damaged = body.replace(b"}],", b"},],").replace(b"}]}", b"},]}")
        assert damaged != body
        for size in (30, 1000):
            with pytest.raises(DecodeError, match="malformed"):
                cut(damaged, size)


def test_elements_that_are_not_objects_are_reported_with_their_index():
    items = [item(number, 50_000, 0) for number in range(40)]
    items[3], items[31] = 5, "x"
    listed = read(written(items))
    assert [error.field for error in listed.broken] == ["items[3]", "items[31]"]
    assert [each.name for each in listed] == [f"widget-{number}" for number in range(40) if number not in (3, 31)]
    assert (listed.kind, listed.resource_version) == ("WidgetList", "5")


# --- the work that splitting takes ------------------------------------------------------------------------------------


class Work:
    """Counts the bytes that are decoded, searched or scanned."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bytes = 0
        self.slices: list[int] = []
        work = self

        class Decoder:
            def __init__(self, decoder: Any) -> None:
                self._decoder = decoder

            def decode(self, text: bytes) -> Any:
                work.bytes += len(text)
                return self._decoder.decode(text)

        class Scanner(ValueScanner):
            def scan(self, document: bytes | bytearray, stop: int) -> bool:
                before = self.position
                is_complete = super().scan(document, stop)
                # A scan that gets stuck has read the rest of the document.
                stuck = len(document) - self.position if self.position < stop and not is_complete else 0
                work.bytes += self.position - before + stuck
                return is_complete

        for name in ("_lists", "_raws", "_members"):
            monkeypatch.setattr(list_splitter, name, Decoder(getattr(list_splitter, name)))
        monkeypatch.setattr(list_splitter, "ValueScanner", Scanner)

    def of(self, body: bytes, size: int) -> float:
        """The work per byte; also collects the work of each slice."""
        self.bytes, self.slices = 0, []
        before = 0
        splitter = ListSplitter(body[start : start + size] for start in range(0, len(body), size))
        for _ in splitter.groups():
            self.slices.append(self.bytes - before)
            before = self.bytes
        return self.bytes / len(body)


ITEMS = [json.dumps(item(number, 5_000, 1), separators=(",", ":")).encode() for number in range(300)]
HEAD = b'"kind":"WidgetList","apiVersion":"example.com/v1","metadata":{"resourceVersion":"5"}'
DEEP = b'{"metadata":{"name":"deep"},"x":%b}' % (b"[" * 5000 + b"]" * 5000)
FORMATS = {
    "usual": b'{%b,"items":[%b]}' % (HEAD, b",".join(ITEMS)),
    "line feeds": b'{%b,"items":[%b]}' % (HEAD, b",\n".join(ITEMS)),
    "spaces": b'{%b,"items": [ %b ] }' % (HEAD, b" , ".join(ITEMS)),
    "items first": b'{"items":[%b],%b}' % (b",".join(ITEMS), HEAD),
    "unusual first item": b'{%b,"items":[%b]}' % (HEAD, b",".join([b'{"a":1}', *ITEMS])),
    "unusual items": b'{%b,"items":[%b]}'
    % (
        HEAD,
        b",".join(b'{"k%d":1,%b' % (number, each[1:]) for number, each in enumerate(ITEMS)),
    ),
    "deep items": b'{%b,"items":[%b]}' % (HEAD, b",".join([DEEP, *ITEMS] * 2)),
    "many deep items": b'{%b,"items":[%b]}' % (HEAD, b",".join([DEEP] * 200)),
    "one large item": b'{%b,"items":[%b]}' % (HEAD, b'{"x":[%b]}' % b",".join(ITEMS)),
    "one large text": b'{%b,"items":[{"x":"%b"}]}' % (HEAD, b"x" * 2_000_000),
    "numbers": b'{%b,"items":[%b]}' % (HEAD, b",".join([b"1234567"] * 150_000)),
    "white space": b'{%b,"items":[%b]}' % (HEAD, (b"," + b" " * 100_000).join(ITEMS[:40])),
    "no list": b'{%b,"x":[%b]}' % (HEAD, b",".join(ITEMS)),
    "lookalikes": written([item(number, 100, 4_000) for number in range(12)]),
}


@pytest.mark.parametrize("size", [1_000, 65_536, 1 << 30])
@pytest.mark.parametrize("body", FORMATS.values(), ids=FORMATS)
def test_the_work_is_linear_whatever_the_format(body: bytes, size: int, monkeypatch: pytest.MonkeyPatch):
    work = Work(monkeypatch)
    try:
        per_byte = work.of(body, size)
    except DecodeError:
        per_byte = work.bytes / len(body)
    assert per_byte < 6
    assert per_byte > 0.5


@pytest.mark.parametrize("name", [each for each in FORMATS if each not in ("one large text", "no list")])
def test_the_work_is_done_in_slices_whatever_the_format(name: str, monkeypatch: pytest.MonkeyPatch):
    work = Work(monkeypatch)
    work.of(FORMATS[name], 1 << 30)
    assert max(work.slices) < 1_000_000
    assert len(work.slices) > 5


@pytest.mark.parametrize("name", [each for each in FORMATS if each != "no list"])
def test_the_objects_are_the_same_in_every_format(name: str):
    body = FORMATS[name]
    in_groups, at_once = both_ways(body)
    assert in_groups == at_once
    assert in_groups[1:3] == ("WidgetList", "example.com/v1")
    if b"[[[[" not in body:
        assert [json.loads(raw) for raw in in_groups[0]] == json.loads(body)["items"]

"""Which events follow from the messages of a watch."""

from typing import Any

import msgspec
import pytest

from listwatch.cache import Keyed, Tombstone
from listwatch.errors import ProtocolError, ResponseTooLargeError
from listwatch.sources.etcd.entries import EntryMapping
from listwatch.sources.etcd.messages import Header, KeyValueMessage, WatchedEvent, WatchResponse
from listwatch.sources.etcd.watch_state import WatchMachine


class Item(Keyed, msgspec.Struct):
    value: int


@pytest.fixture
def machine() -> WatchMachine[Item]:
    return WatchMachine(EntryMapping("/p/", Item, None, None), start=10)


def put(key: str, revision: int, value: object = 1, created: int | None = None) -> WatchedEvent:
    content = value if isinstance(value, bytes) else msgspec.json.encode({"value": value})
    entry = KeyValueMessage(
        key=f"/p/{key}".encode(),
        value=content,
        mod_revision=str(revision),
        create_revision=str(created or revision),
    )
    return WatchedEvent(entry)


def deleted(key: str, revision: int, previous: WatchedEvent | None = None) -> WatchedEvent:
    entry = KeyValueMessage(key=f"/p/{key}".encode(), mod_revision=str(revision))
    return WatchedEvent(entry, type="DELETE", prev_kv=previous.kv if previous else None)


def message(*events: WatchedEvent, fragment: bool = False, revision: int = 0, created: bool = False) -> WatchResponse:
    return WatchResponse(Header(str(revision)), [*events], fragment=fragment, created=created)


def shown(events: list[Any]) -> list[tuple[str, str, str]]:
    return [(each.type, each.object.cache_key, each.object.resource_version) for each in events]


def test_a_put_is_new_if_the_key_was_created_by_it(machine: WatchMachine[Item]):
    events = machine.receive(message(put("a", 10), put("b/c", 11, created=3)))
    assert shown(events) == [("ADDED", "a", "10"), ("MODIFIED", "b/c", "11")]
    assert machine.revision == 11


def test_a_deletion_has_the_previous_value_and_its_own_version(machine: WatchMachine[Item]):
    (event,) = machine.receive(message(deleted("a", 12, put("a", 9, 7))))
    assert shown([event]) == [("DELETED", "a", "12")]
    assert event.object == Item(7)


@pytest.mark.parametrize("previous", [None, put("a", 9, b"?")])
def test_a_deletion_without_a_usable_value_is_delivered_as_a_tombstone(machine: WatchMachine[Item], previous):
    (event,) = machine.receive(message(deleted("a", 12, previous)))
    assert event.type == "DELETED"
    assert event.object == Tombstone("a", "12")


def test_a_deletion_without_previous_values_refers_to_the_state_of_the_reader():
    machine = WatchMachine[Item](EntryMapping("/p/", Item, None, None), start=10, previous_values=False)
    (event,) = machine.receive(message(deleted("a", 12)))
    assert event.object == Tombstone("a", "12", final_state_known=True)


def test_a_revision_that_is_divided_into_fragments_is_delivered_whole(machine: WatchMachine[Item]):
    assert shown(machine.receive(message(put("a", 10), put("b", 11), fragment=True))) == [("ADDED", "a", "10")]
    assert machine.receive(message(put("c", 11), fragment=True)) == []
    assert machine.revision == 10, "a resumed watch must repeat the incomplete revision"
    events = machine.receive(message(put("d", 12)))
    assert shown(events) == [("ADDED", "b", "11"), ("ADDED", "c", "11"), ("ADDED", "d", "12")]
    assert machine.revision == 12


def test_a_first_fragment_of_one_revision_delivers_nothing(machine: WatchMachine[Item]):
    assert machine.receive(message(put("a", 10), put("b", 10), fragment=True)) == []
    assert machine.receive(message(fragment=True)) == []
    assert machine.revision == 9


def test_a_last_fragment_without_events_completes_the_message(machine: WatchMachine[Item]):
    assert machine.receive(message(put("a", 10), fragment=True)) == []
    assert shown(machine.receive(message(revision=99))) == [("ADDED", "a", "10")]
    assert machine.revision == 10, "the revision of a message with events is no progress"


def test_a_message_without_events_is_progress(machine: WatchMachine[Item]):
    assert shown(machine.receive(message(revision=20))) == [("BOOKMARK", "", "20")]
    assert machine.revision == 20


@pytest.mark.parametrize("early", [message(revision=8), message(revision=20, created=True)])
def test_progress_below_the_start_and_the_confirmation_are_no_progress(machine: WatchMachine[Item], early):
    assert machine.receive(early) == []
    assert machine.revision == 9


def test_the_revision_of_a_message_with_events_is_no_progress(machine: WatchMachine[Item]):
    assert shown(machine.receive(WatchResponse(Header("50"), [put("a", 12)]))) == [("ADDED", "a", "12")]
    assert machine.revision == 12


def test_events_before_the_start_are_dropped(machine: WatchMachine[Item]):
    assert shown(machine.receive(message(put("a", 9), put("b", 10)))) == [("ADDED", "b", "10")]


def test_an_undecodable_value_removes_the_object_and_is_reported(machine: WatchMachine[Item]):
    bad, good = machine.receive(message(put("a", 10, b"{"), put("b", 11)))
    assert bad.type == "DELETED"
    assert isinstance(bad.object, Tombstone)
    assert (bad.object.cache_key, bad.object.resource_version) == ("a", "10")
    assert "etcd key /p/a" in str(bad.object.error)
    assert good.object == Item(1)


def test_the_first_key_outside_of_the_mapping_is_reported_and_the_version_moves(machine: WatchMachine[Item]):
    first = machine.receive(message(put("a/b/c", 10)))
    assert shown(first) == [("DELETED", "", "10"), ("BOOKMARK", "", "10")]
    assert "/p/a/b/c" in str(first[0].object.error)  # type: ignore[union-attr]  # a Tombstone
    assert shown(machine.receive(message(put("a/b/d", 11)))) == [("BOOKMARK", "", "11")]
    assert shown(machine.receive(message(put("", 12), put("x", 13)))) == [("ADDED", "x", "13")]


def test_a_key_that_is_not_text_is_outside_of_the_mapping(machine: WatchMachine[Item]):
    binary = WatchedEvent(KeyValueMessage(key=b"/p/\xff", value=b"{}", mod_revision="10", create_revision="10"))
    reported, bookmark = machine.receive(message(binary))
    assert "\\xff" in str(reported.object.error)  # type: ignore[union-attr]  # a Tombstone
    assert bookmark.type == "BOOKMARK"


def test_another_watch_repeats_nothing_and_completes_what_was_held_back(machine: WatchMachine[Item]):
    machine.receive(message(put("a", 10), put("b", 11), fragment=True))
    machine.restart()
    events = machine.receive(message(put("a", 10), put("b", 11), put("c", 11)))
    assert shown(events) == [("ADDED", "b", "11"), ("ADDED", "c", "11")]


def test_revisions_never_go_back(machine: WatchMachine[Item]):
    machine.receive(message(put("a", 10), put("b", 12)))
    assert machine.receive(message(put("a", 10), put("b", 12))) == []
    assert shown(machine.receive(message(put("c", 14), put("a", 11), put("d", 14)))) == [
        ("ADDED", "c", "14"),
        ("ADDED", "d", "14"),
    ]
    assert machine.revision == 14


def test_an_event_after_progress_that_was_ahead_of_it_is_not_lost(machine: WatchMachine[Item]):
    machine.receive(message(put("a", 10)))
    machine.receive(message(revision=20))
    assert shown(machine.receive(message(put("b", 15)))) == [("ADDED", "b", "15")]
    assert machine.revision == 20, "a resumed watch must not repeat what was delivered"


class Counted(list[WatchedEvent]):
    """Counts the events that are read by their positions or copied."""

    reads = 0

    def __getitem__(self, index: Any) -> Any:
        Counted.reads += 1
        return super().__getitem__(index)

    def __add__(self, other: Any) -> Any:
        Counted.reads += len(self)
        return super().__add__(other)


def test_a_revision_of_many_fragments_takes_linear_time(machine: WatchMachine[Item]):
    Counted.reads = 0
    for number in range(1000):
        fragment = WatchResponse(Header("1"), Counted([put(f"n{number}", 10)]), fragment=True)
        assert machine.receive(fragment) == []
        machine._held = Counted(machine._held)
    assert len(machine.receive(message())) == 1000
    assert Counted.reads < 20_000


def test_an_incomplete_revision_has_a_limit():
    machine = WatchMachine[Item](EntryMapping("/p/", Item, None, None), start=10, max_held=10_000)
    fragments = [message(put(f"n{number}", 10), fragment=True) for number in range(200)]
    with pytest.raises(ResponseTooLargeError, match="revision 10 has more than 10,000 bytes"):
        [*map(machine.receive, fragments)]


def test_a_number_that_is_none_is_a_protocol_error(machine: WatchMachine[Item]):
    odd = WatchedEvent(KeyValueMessage(key=b"/p/a", mod_revision="x"))
    with pytest.raises(ProtocolError, match="revision 'x'"):
        machine.receive(message(odd))

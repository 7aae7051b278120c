"""Compares a storage with a simple model: all states, by revision."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from listwatch.meta import ObjectKey
from listwatch.server.storage.sqlite_journal import open_storage
from listwatch.server.storage.storage import Storage
from listwatch.server.storage.values import (
    Event,
    KeyExistsError,
    KeyMissingError,
    RevisionCompactedError,
    RevisionConflictError,
    RevisionTooLargeError,
    Stored,
)

MAX_EVENTS = 12
RESOURCES = ["core/pods", "apps/deployments"]
NAMESPACES = ["a", "a-b", "a0"]

Place = tuple[str, ObjectKey]
State = tuple[ObjectKey, bytes, int]

keys = st.builds(ObjectKey, st.sampled_from(NAMESPACES), st.sampled_from(["x", "x-y", "x.y", "y", "é"]))
places = st.tuples(st.sampled_from(RESOURCES), keys)
contents = st.binary(max_size=3)
# How many revisions to go back from the newest interesting one, which does not exist yet.
moments = st.integers(0, 30)


class Past(NamedTuple):
    """An event, as the model knows it."""

    revision: int
    type: str
    place: Place
    value: bytes
    previous: State | None


class Selection(NamedTuple):
    """Which objects to read."""

    resource: str
    namespace: str | None
    start_after: ObjectKey | None

    def includes(self, resource: str, key: ObjectKey) -> bool:
        in_namespace = self.namespace in (None, key.namespace)
        return (
            resource == self.resource and in_namespace and (not self.start_after or path(key) > path(self.start_after))
        )


selections = st.builds(Selection, st.sampled_from(RESOURCES), st.sampled_from([None, *NAMESPACES]), st.none() | keys)


class Reading(NamedTuple):
    """A list or scan in progress, and the objects that it has not returned yet."""

    selection: Selection
    revision: int
    pending: list[State]


def path(key: ObjectKey) -> bytes:
    return f"{key.namespace}/{key.name}".encode()


def encoder(content: bytes) -> Callable[[int], bytes]:
    return lambda revision: content + b" at %d" % revision


def state_of(stored: Stored) -> State:
    return stored.key, stored.value, stored.revision


def past_of(event: Event) -> Past:
    previous = event.previous and state_of(event.previous)
    return Past(event.revision, event.type, (event.resource, event.key), event.value, previous)


class Model:
    """What a storage should hold."""

    def __init__(self) -> None:
        self.revision = 1
        self.states: dict[int, dict[Place, State]] = {1: {}}
        self.past: list[Past] = []
        self.compacted_on_command = 1

    @property
    def now(self) -> dict[Place, State]:
        return self.states[self.revision]

    @property
    def compacted(self) -> int:
        beyond_the_window = self.past[:-MAX_EVENTS]
        return max(self.compacted_on_command, beyond_the_window[-1].revision if beyond_the_window else 1)

    def write(self, type_: str, place: Place, content: bytes) -> State:
        before = self.now
        self.revision += 1
        state = place[1], encoder(content)(self.revision), self.revision
        self.past.append(Past(self.revision, type_, place, state[1], before.get(place)))
        after = {**before, place: state}
        if type_ == "DELETED":
            del after[place]
        self.states[self.revision] = after
        return state

    def skip_to(self, revision: int) -> None:
        self.states[revision] = self.now
        self.revision = revision

    def lose_after(self, revision: int) -> None:
        self.revision = revision
        self.past = [past for past in self.past if past.revision <= revision]
        self.states = {known: state for known, state in self.states.items() if known <= revision}

    def moment(self, steps_back: int) -> int:
        worth_asking = sorted({*self.states, *(known - 1 for known in self.states), self.revision + 1}, reverse=True)
        return worth_asking[min(steps_back, len(worth_asking) - 1)]

    def select(self, selection: Selection, revision: int) -> list[State]:
        then = self.states[max(known for known in self.states if known <= revision)]
        return sorted((then[place] for place in then if selection.includes(*place)), key=lambda state: path(state[0]))


class MemoryComparison(RuleBasedStateMachine):
    """Does the same to a storage and to the model."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.group_commit = False
        self.safe_revision = 1
        self.received: list[Past] = []
        self.pages: list[Reading] = []
        self.scans: list[tuple[Reading, Iterator[Stored]]] = []
        self.storage, self.unsubscribe = Storage(), lambda: None
        self.use(self.opened())

    def opened(self) -> Storage:
        return Storage(max_events=MAX_EVENTS)

    def use(self, storage: Storage) -> None:
        self.unsubscribe()
        self.storage = storage
        self.unsubscribe = storage.subscribe(lambda event: self.received.append(past_of(event)))
        self.scans.clear()

    def teardown(self) -> None:
        self.storage.close()

    # Writes

    @rule(place=places, content=contents)
    def create(self, place: Place, content: bytes) -> None:
        if place in self.model.now:
            with pytest.raises(KeyExistsError):
                self.storage.create(*place, encoder(content))
        else:
            stored = self.storage.create(*place, encoder(content))
            assert state_of(stored) == self.model.write("ADDED", place, content)

    @rule(place=places, content=contents, stale=st.sampled_from([None, 0, 1]), delete=st.booleans())
    def change(self, place: Place, content: bytes, stale: int | None, delete: bool) -> None:
        write = self.storage.delete if delete else self.storage.update
        current = self.model.now.get(place)
        if not current:
            with pytest.raises(KeyMissingError):
                write(*place, encoder(content), expected=stale)
        elif stale:
            with pytest.raises(RevisionConflictError):
                write(*place, encoder(content), expected=current[2] - stale)
        else:
            stored = write(*place, encoder(content), expected=None if stale is None else current[2])
            assert state_of(stored) == self.model.write("DELETED" if delete else "MODIFIED", place, content)

    @rule(moment=moments)
    def compact(self, moment: int) -> None:
        revision = self.model.moment(moment)
        if revision > self.model.revision:
            with pytest.raises(RevisionTooLargeError):
                self.storage.compact(revision)
        else:
            self.storage.compact(revision)
            self.model.compacted_on_command = max(self.model.compacted_on_command, revision)
            self.safe_revision = self.model.revision

    # Reads

    @rule(selection=selections, moment=moments, limit=st.integers(0, 4))
    def begin_list(self, selection: Selection, moment: int, limit: int) -> None:
        revision = self.model.moment(moment)
        if self.is_refused(revision, lambda: self.storage.list(**selection._asdict(), revision=revision, limit=limit)):
            return
        expected = self.model.select(selection, revision)
        assert self.storage.count(**selection._asdict(), revision=revision) == len(expected)
        self.read_page(Reading(selection, revision, expected), limit)

    @precondition(lambda self: self.pages)
    @rule(data=st.data(), limit=st.integers(1, 4))
    def continue_list(self, data: st.DataObject, limit: int) -> None:
        reading = self.pages.pop(data.draw(st.integers(0, len(self.pages) - 1)))
        if self.is_refused(
            reading.revision, lambda: self.storage.list(reading.selection.resource, revision=reading.revision)
        ):
            return
        self.read_page(reading, limit)

    def read_page(self, reading: Reading, limit: int) -> None:
        page = self.storage.list(**reading.selection._asdict(), revision=reading.revision, limit=limit)
        size = limit or len(reading.pending)
        given, pending = reading.pending[:size], reading.pending[size:]
        assert [*map(state_of, page.items)] == given
        assert (page.revision, page.remaining) == (reading.revision, len(pending))
        assert page.next == (given[-1][0] if pending else None)
        if page.next:
            following = reading.selection._replace(start_after=page.next)
            self.pages.append(Reading(following, reading.revision, pending))

    @rule(selection=selections, moment=moments)
    def begin_scan(self, selection: Selection, moment: int) -> None:
        revision = self.model.moment(moment)
        if self.is_refused(revision, lambda: self.storage.scan(**selection._asdict(), revision=revision)):
            return
        scan = self.storage.scan(**selection._asdict(), revision=revision)
        self.scans.append((Reading(selection, revision, self.model.select(selection, revision)), scan))

    @precondition(lambda self: self.scans)
    @rule(data=st.data(), steps=st.integers(1, 5))
    def continue_scan(self, data: st.DataObject, steps: int) -> None:
        at = data.draw(st.integers(0, len(self.scans) - 1))
        reading, scan = self.scans[at]
        try:
            for _ in range(steps):
                stored = next(scan, None)
                assert (stored and state_of(stored)) == (reading.pending.pop(0) if reading.pending else None)
        except RevisionCompactedError:
            assert self.model.compacted > reading.revision
            del self.scans[at]

    @rule(resource=st.none() | st.sampled_from(RESOURCES), moment=moments)
    def read_events(self, resource: str | None, moment: int) -> None:
        after = self.model.moment(moment)
        if self.is_refused(after, lambda: self.storage.events(resource, after=after)):
            return
        expected = [past for past in self.model.past if past.revision > after and resource in (None, past.place[0])]
        assert [*map(past_of, self.storage.events(resource, after=after))] == expected

    def is_refused(self, revision: int, read: Callable[[], object]) -> bool:
        if self.model.compacted <= revision <= self.model.revision:
            return False
        with pytest.raises(RevisionTooLargeError if revision > self.model.revision else RevisionCompactedError):
            read()
        return True

    @rule(place=places)
    def write_to_a_fork(self, place: Place) -> None:
        fork = self.storage.fork()
        fork.compact(fork.revision)
        (fork.update if place in self.model.now else fork.create)(*place, encoder(b"only there"))

    # What always holds

    @invariant()
    def subscribers_received_durable_events_only(self) -> None:
        if not self.group_commit:
            self.safe_revision = self.model.revision
        assert self.received == [past for past in self.model.past if past.revision <= self.safe_revision]

    @invariant()
    def the_storage_equals_the_model(self) -> None:
        revisions = self.storage.revision, self.storage.compacted_revision
        assert revisions == (self.model.revision, self.model.compacted)
        for resource in RESOURCES:
            page = self.storage.list(resource)
            everything = Selection(resource, None, None)
            assert [*map(state_of, page.items)] == self.model.select(everything, self.model.revision)


class SqliteComparison(MemoryComparison):
    """The same with a file, which is reopened, also in the state after a process was killed."""

    def __init__(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.crashes = 0
        super().__init__()

    @property
    def home(self) -> Path:
        return Path(self.directory.name, str(self.crashes))

    def opened(self) -> Storage:
        return open_storage(self.home, max_events=MAX_EVENTS, group_commit=self.group_commit)

    @rule()
    def sync(self) -> None:
        self.storage.sync()
        self.safe_revision = self.model.revision

    @rule(group_commit=st.booleans())
    def restart(self, group_commit: bool) -> None:
        self.sync()
        self.storage.close()
        self.reopen(group_commit)

    @rule(group_commit=st.booleans())
    def crash(self, group_commit: bool) -> None:
        left = self.home
        self.crashes += 1
        shutil.copytree(left, self.home)
        self.storage.close()
        self.reopen(group_commit)

    def reopen(self, group_commit: bool) -> None:
        issued = self.model.revision
        self.group_commit = group_commit
        self.use(self.opened())
        assert self.storage.revision > issued
        self.model.lose_after(self.safe_revision)
        self.model.skip_to(self.storage.revision)
        # If group commit works, no reader can have started from these.
        self.pages = [page for page in self.pages if page.revision <= self.safe_revision]
        self.safe_revision = self.model.revision

    def teardown(self) -> None:
        super().teardown()
        self.directory.cleanup()


def test_a_storage_in_memory_equals_the_model():
    run_state_machine_as_test(MemoryComparison, settings=settings(stateful_step_count=50))


def test_a_storage_in_a_file_equals_the_model_across_restarts_and_crashes():
    run_state_machine_as_test(
        SqliteComparison, settings=settings(max_examples=settings.default.max_examples // 2, stateful_step_count=30)
    )

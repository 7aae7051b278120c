"""Group commits: many writes share one sync, and no response is sent before the sync."""

import asyncio
import logging
from collections.abc import Sequence

import pytest

from listwatch.meta import ObjectKey
from listwatch.server.storage.commits import Commits
from listwatch.server.storage.storage import Storage
from listwatch.server.storage.values import Event, JournalError


class CountingJournal:
    """Counts the writes of each sync, and fails on demand."""

    def __init__(self) -> None:
        self.unsynced = 0
        self.synced: list[int] = []
        self.fails = False

    def append(self, event: Event) -> None:
        self.unsynced += 1

    def forget(self, events: Sequence[Event], *, compacted: int) -> None: ...

    def sync(self) -> None:
        if self.fails:
            raise JournalError("the disk is full")
        if self.unsynced:
            self.synced.append(self.unsynced)
            self.unsynced = 0

    def close(self) -> None: ...


class LosingJournal(CountingJournal):
    """Loses what was not synced when it fails."""

    def __init__(self) -> None:
        super().__init__()
        self.appended: list[Event] = []
        self.append_fails = False

    def append(self, event: Event) -> None:
        if self.append_fails:
            self.lose()
        self.appended.append(event)
        super().append(event)

    def sync(self) -> None:
        if self.fails and self.appended:
            self.lose()
        super().sync()
        self.appended = []

    def lose(self) -> None:
        lost, self.appended, self.unsynced = self.appended, [], 0
        raise JournalError("the disk is full", lost=lost)


class RecoveringController:
    has_pending = False
    recovered = 0

    def run_pending(self) -> None: ...

    def recover(self) -> None:
        self.recovered += 1


@pytest.fixture
def journal() -> CountingJournal:
    return CountingJournal()


@pytest.fixture
def storage(journal: CountingJournal) -> Storage:
    return Storage(journal=journal, group_commit=True)


def write(storage: Storage, name: str) -> None:
    storage.create("/pods", ObjectKey("default", name), lambda revision: b"{}")


async def write_and_wait(storage: Storage, commits: Commits, name: str) -> None:
    write(storage, name)
    await commits.wait_durable()


class FollowerController:
    """Writes one object after the first write."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    @property
    def has_pending(self) -> bool:
        return not self._storage.get("/pods", ObjectKey("default", "follower"))

    def run_pending(self) -> None:
        write(self._storage, "follower")


class FailingController:
    has_pending = True

    def run_pending(self) -> None:
        raise ValueError("a bug")


async def test_concurrent_writes_share_one_sync(storage: Storage, journal: CountingJournal):
    commits = Commits(storage, (), grouped=True)
    await asyncio.gather(*(write_and_wait(storage, commits, f"pod-{number}") for number in range(10)))
    assert journal.synced == [10]
    await write_and_wait(storage, commits, "another")
    assert journal.synced == [10, 1]


async def test_there_is_no_sync_without_a_write(storage: Storage, journal: CountingJournal):
    await Commits(storage, (), grouped=True).wait_durable()
    assert journal.synced == []


async def test_readers_wait_for_the_writes_that_they_may_have_seen(storage: Storage, journal: CountingJournal):
    commits = Commits(storage, (), grouped=True)
    write(storage, "a")
    reader = asyncio.create_task(commits.wait_durable())
    await reader
    assert journal.synced == [1]


@pytest.mark.parametrize("grouped", [False, True])
async def test_the_writes_of_controllers_are_durable_too(storage: Storage, journal: CountingJournal, grouped: bool):
    commits = Commits(storage, (FollowerController(storage),), grouped=grouped)
    await write_and_wait(storage, commits, "leader")
    assert journal.synced == [1, 1]
    assert journal.unsynced == 0
    await commits.wait_durable()
    assert journal.synced == [1, 1]


async def test_a_failing_controller_is_logged_and_fails_no_request(
    storage: Storage, journal: CountingJournal, caplog: pytest.LogCaptureFixture
):
    commits = Commits(storage, (FailingController(), FollowerController(storage)), grouped=True)
    with caplog.at_level(logging.ERROR):
        await write_and_wait(storage, commits, "leader")
    assert journal.synced == [1, 1]
    assert {record.controller for record in caplog.records} == {"FailingController"}


async def test_all_waiting_requests_get_the_error_of_a_sync(storage: Storage, journal: CountingJournal):
    commits = Commits(storage, (), grouped=True)
    journal.fails = True
    waiting = (write_and_wait(storage, commits, f"pod-{number}") for number in range(3))
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [JournalError] * 3
    with pytest.raises(JournalError):
        await commits.wait_durable()


async def test_writes_that_are_lost_are_undone_and_controllers_read_all_objects_again():
    journal = LosingJournal()
    storage = Storage(journal=journal, group_commit=True)
    controller = RecoveringController()
    commits = Commits(storage, (controller,), grouped=True)
    await write_and_wait(storage, commits, "kept")
    events: list[Event] = []
    storage.subscribe(events.append)
    revision, journal.fails = storage.revision, True
    waiting = (write_and_wait(storage, commits, f"lost-{number}") for number in range(3))
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [JournalError] * 3
    assert (storage.revision, storage.rollbacks, events) == (revision, 1, [])
    assert [stored.key.name for stored in storage.scan("/pods")] == ["kept"]
    assert storage.events("/pods", after=revision) == []
    await commits.wait_durable()
    journal.fails = False
    assert controller.recovered == 0
    await write_and_wait(storage, commits, "later")
    assert [event.key.name for event in events] == ["later"]
    assert controller.recovered == 1


async def test_a_write_is_not_acknowledged_if_a_later_one_of_its_group_loses_it():
    journal = LosingJournal()
    storage = Storage(journal=journal, group_commit=True)
    commits = Commits(storage, (), grouped=True)
    first = asyncio.create_task(write_and_wait(storage, commits, "first"))
    await asyncio.sleep(0)
    journal.append_fails = True
    with pytest.raises(JournalError):
        write(storage, "second")
    with pytest.raises(JournalError):
        await first
    assert storage.count("/pods") == 0


async def test_a_cancelled_request_cancels_no_others(storage: Storage, journal: CountingJournal):
    commits = Commits(storage, (), grouped=True)
    first, second = (asyncio.create_task(write_and_wait(storage, commits, name)) for name in ("a", "b"))
    await asyncio.sleep(0)
    first.cancel()
    await second
    assert first.cancelled()

"""When writes are safe: many at once, and none that anybody has heard of before."""

import asyncio

import pytest

from listwatch.meta import ObjectKey
from listwatch.server.storage.commits import Commits
from listwatch.server.storage.storage import Event, JournalError, NoJournal, Storage


class CountingJournal(NoJournal):
    """Counts the syncs that had something to do, and fails when told to."""

    def __init__(self) -> None:
        self.unsynced = 0
        self.synced: list[int] = []
        self.fails = False

    def append(self, event: Event) -> None:
        self.unsynced += 1

    def sync(self) -> None:
        if self.fails:
            raise JournalError("the disk is full")
        if self.unsynced:
            self.synced.append(self.unsynced)
            self.unsynced = 0


@pytest.fixture
def journal() -> CountingJournal:
    return CountingJournal()


@pytest.fixture
def storage(journal: CountingJournal) -> Storage:
    return Storage(journal=journal, group_commit=True)


def write(storage: Storage, name: str) -> None:
    storage.create("/pods", ObjectKey("default", name), lambda revision: b"{}")


async def write_and_settle(storage: Storage, commits: Commits, name: str) -> None:
    write(storage, name)
    await commits.settled()


async def test_those_who_write_at_the_same_time_share_one_sync(storage: Storage, journal: CountingJournal):
    commits = Commits(storage, lambda: None, grouped=True)
    await asyncio.gather(*(write_and_settle(storage, commits, f"pod-{number}") for number in range(10)))
    assert journal.synced == [10]
    await write_and_settle(storage, commits, "another")
    assert journal.synced == [10, 1]


async def test_nobody_waits_when_nothing_was_written(storage: Storage, journal: CountingJournal):
    await Commits(storage, lambda: None, grouped=True).settled()
    assert journal.synced == []


async def test_readers_wait_for_what_they_may_have_seen(storage: Storage, journal: CountingJournal):
    commits = Commits(storage, lambda: None, grouped=True)
    write(storage, "a")
    reader = asyncio.create_task(commits.settled())
    await reader
    assert journal.synced == [1]


@pytest.mark.parametrize("grouped", [False, True])
async def test_what_follows_from_a_write_is_safe_with_it(storage: Storage, journal: CountingJournal, grouped: bool):
    def follow_up() -> None:
        if not storage.get("/pods", ObjectKey("default", "follower")):
            write(storage, "follower")

    commits = Commits(storage, follow_up, grouped=grouped)
    await write_and_settle(storage, commits, "leader")
    assert journal.synced == [1, 1]
    assert journal.unsynced == 0
    await commits.settled()
    assert journal.synced == [1, 1]


async def test_all_who_wait_are_told_of_a_failure(storage: Storage, journal: CountingJournal):
    commits = Commits(storage, lambda: None, grouped=True)
    journal.fails = True
    waiting = (write_and_settle(storage, commits, f"pod-{number}") for number in range(3))
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [JournalError] * 3
    with pytest.raises(JournalError):
        await commits.settled()


async def test_one_who_gives_up_waiting_takes_nobody_along(storage: Storage, journal: CountingJournal):
    commits = Commits(storage, lambda: None, grouped=True)
    first, second = (asyncio.create_task(write_and_settle(storage, commits, name)) for name in ("a", "b"))
    await asyncio.sleep(0)
    first.cancel()
    await second
    assert first.cancelled()
    assert journal.synced == [2]

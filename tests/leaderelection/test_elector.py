"""Electors on a lock in memory and a virtual clock: leading, losing, renewing and releasing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime
from random import Random
from typing import Any

import pytest
from tests.leaderelection.memory_lock import MemoryLock, RecordStore

from listwatch.errors import ConflictError, ConnectionLostError, InternalServerError, LeadershipLostError, UsageError
from listwatch.leaderelection.elector import LeaderElector
from listwatch.leaderelection.elector_state import LeaderRecord
from listwatch.testing.clocks import START, VirtualClock

THEIRS = LeaderRecord("other", 15, START, START, transitions=3)


class Setting:
    """One elector, whose block writes down what becomes of it."""

    def __init__(self, record: LeaderRecord | None = None, **options: Any) -> None:
        self.clock = VirtualClock()
        self.store = RecordStore(record)
        self.lock = MemoryLock(self.store)
        self.elector = LeaderElector(self.lock, identity="me", clock=self.clock, random=Random(1), **options)
        self.story: list[str] = []
        self.leave = asyncio.Event()

    async def lead(self) -> None:
        try:
            async with self.elector.lead():
                self.story.append("leads")
                try:
                    await self.leave.wait()
                finally:
                    self.story.append(f"ends, and the record names {self.holder}")
        except LeadershipLostError as error:
            self.story.append(str(error))

    @property
    def holder(self) -> str:
        return self.store.record.holder if self.store.record else ""

    @asynccontextmanager
    async def leading(self) -> AsyncIterator[asyncio.Task[None]]:
        """In the block, with a record that was just written."""
        task = asyncio.create_task(self.lead())
        await self.clock.advance(0)
        assert self.story == ["leads"]
        self.lock.requests.clear()
        yield task
        self.leave.set()
        await self.clock.advance(30)
        await task


# --- being elected ----------------------------------------------------------------------------------------------------


def is_warning(record: logging.LogRecord) -> bool:
    """Whether the record is ours, and at least a warning; asyncio warns on slow machines."""
    return record.name == "listwatch.leaderelection" and record.levelno >= logging.WARNING


async def test_the_first_candidate_creates_the_record_and_leads():
    setting = Setting()
    async with setting.leading():
        assert setting.elector.is_leader
        assert setting.elector.leader == "me"
        assert setting.store.record == LeaderRecord("me", 15, START, START, transitions=0)


async def test_an_expired_lease_is_taken_over_after_its_duration():
    setting = Setting(THEIRS)
    task = asyncio.create_task(setting.lead())
    await setting.clock.advance(14.9)
    assert setting.story == []
    assert setting.elector.leader == "other"
    await setting.clock.advance(0.1 + 4.4)
    assert setting.story == ["leads"]
    assert setting.store.record is not None
    assert setting.store.record.transitions == 4
    assert setting.store.record.acquired is not None
    assert setting.store.record.acquired > START
    setting.leave.set()
    await task


async def test_a_released_lease_is_acquired_at_the_next_attempt():
    setting = Setting(THEIRS)
    task = asyncio.create_task(setting.lead())
    await setting.clock.advance(1.0)
    setting.store.put(replace(THEIRS, holder="", lease_duration=1))
    await setting.clock.advance(4.4)
    assert setting.story == ["leads"]
    setting.leave.set()
    await task


async def test_candidates_retry_after_one_to_two_point_two_retry_periods():
    setting = Setting(replace(THEIRS, lease_duration=10_000))
    task = asyncio.create_task(setting.lead())
    waits = []
    for _ in range(50):
        await setting.clock.advance(0)
        before = setting.clock.monotonic()
        setting.clock.wake_next()
        waits.append(setting.clock.monotonic() - before)
    assert all(2.0 <= wait <= 4.4 for wait in waits)
    assert max(waits) - min(waits) > 1.0
    task.cancel()
    await asyncio.wait([task])


async def test_failures_are_retried_and_each_cause_is_logged_once(caplog: pytest.LogCaptureFixture):
    setting = Setting()
    setting.lock.troubles.extend([InternalServerError("oops"), ValueError("a mistake in a lock"), None])
    task = asyncio.create_task(setting.lead())
    await setting.clock.advance(5.0)
    statistics = setting.elector.statistics()
    assert statistics.failures_in_a_row == 2
    assert isinstance(statistics.last_error, ValueError)
    await setting.clock.advance(20.0)
    assert setting.story == ["leads"]
    assert setting.elector.statistics().failures_in_a_row == 0
    assert setting.elector.statistics().last_error is None
    assert [record.message for record in caplog.records if is_warning(record)] == [
        "Cannot acquire or renew the lease memory/lock: oops (InternalError, 500); attempt 1 failed, retrying in 2 s",
        "Cannot acquire or renew the lease memory/lock: a mistake in a lock; attempt 2 failed, retrying in 2 s",
        "Cannot acquire or renew the lease memory/lock: no response within 5 s; attempt 3 failed, retrying in 2 s",
    ]
    setting.leave.set()
    await task


async def test_a_conflict_is_not_a_failure(caplog: pytest.LogCaptureFixture):
    setting = Setting(replace(THEIRS, holder=""))
    setting.lock.troubles.extend([False, ConflictError("the other was faster")])  # type: ignore[list-item]  # no trouble
    task = asyncio.create_task(setting.lead())
    await setting.clock.advance(0)
    assert setting.elector.statistics().failures_in_a_row == 0
    assert not [record for record in caplog.records if is_warning(record)]
    task.cancel()
    await asyncio.wait([task])


# --- renewing ---------------------------------------------------------------------------------------------------------


async def test_a_leader_renews_without_reading_and_keeps_acquire_time_and_transitions():
    setting = Setting(replace(THEIRS, holder=""))
    async with setting.leading():
        first = setting.store.record
        await setting.clock.advance(6.0)
        assert setting.lock.requests == ["update", "update", "update"]
        assert first is not None
        assert setting.store.record == replace(first, renewed=setting.clock.now())
        assert setting.elector.statistics().slow_paths == 0


async def test_a_renewal_with_a_conflict_reads_and_writes_again_at_once():
    setting = Setting()
    async with setting.leading():
        assert setting.store.record is not None
        setting.store.put(replace(setting.store.record))  # a label was added by another client
        await setting.clock.advance(2.0)
        assert setting.lock.requests == ["update", "get", "update"]
        assert setting.elector.statistics().slow_paths == 1
        assert setting.elector.is_leader


async def test_a_leader_creates_a_deleted_record_again():
    setting = Setting()
    async with setting.leading():
        setting.store.put(None)
        await setting.clock.advance(2.0)
        assert setting.lock.requests == ["update", "get", "create"]
        assert setting.holder == "me"
        assert setting.elector.is_leader


async def test_an_outage_that_is_shorter_than_the_renew_deadline_is_survived():
    setting = Setting()
    async with setting.leading():
        setting.lock.troubles.extend([ConnectionLostError("cut")] * 6)
        await setting.clock.advance(7.9)
        assert setting.elector.statistics().failures_in_a_row == 3
        await setting.clock.advance(30.0)
        assert setting.story == ["leads"]
        assert setting.elector.is_leader


async def test_a_request_that_hangs_leaves_time_for_another():
    setting = Setting()
    async with setting.leading():
        setting.lock.troubles.append(None)
        await setting.clock.advance(7.0)
        assert setting.lock.requests == ["update", "get", "update"]
        await setting.clock.advance(30.0)
        assert setting.story == ["leads"]


# --- losing -----------------------------------------------------------------------------------------------------------


async def test_the_block_is_cancelled_at_the_renew_deadline_even_if_requests_hang():
    setting = Setting()
    async with setting.leading() as task:
        setting.lock.is_cut_off = True
        await setting.clock.advance(9.9)
        assert setting.story == ["leads"]
        assert setting.elector.is_leader
        await setting.clock.advance(0.1)
        assert setting.story == ["leads", "ends, and the record names me"]
        assert not setting.elector.is_leader
        await setting.clock.advance(10.0)
        assert task.done()
        assert setting.story[-1] == (
            "me has lost the lease memory/lock: it was not renewed within 10 s; "
            "the last error was: no response within 5 s"
        )


async def test_the_renew_deadline_counts_from_when_the_last_renewal_was_sent():
    setting = Setting()
    async with setting.leading():
        await setting.clock.advance(5.0)  # renewed at 2 and at 4
        setting.lock.is_cut_off = True
        await setting.clock.advance(8.9)
        assert setting.story == ["leads"]
        await setting.clock.advance(0.1)
        assert len(setting.story) == 2


async def test_the_block_is_cancelled_as_soon_as_another_holder_is_read():
    setting = Setting()
    async with setting.leading():
        setting.store.put(THEIRS)
        await setting.clock.advance(2.0)
        assert setting.story == [
            "leads",
            "ends, and the record names other",
            "me has lost the lease memory/lock: other holds it",
        ]
        assert setting.store.record == THEIRS
        statistics = setting.elector.statistics()
        assert (statistics.terms, statistics.losses, statistics.leader) == (1, 1, "other")


async def test_a_block_that_ends_late_neither_regains_leadership_nor_has_its_lease_released_before():
    setting = Setting()
    clean = asyncio.Event()

    async def slowly() -> None:
        async with setting.elector.lead():
            try:
                await setting.leave.wait()
            finally:
                await clean.wait()

    task = asyncio.create_task(slowly())
    await setting.clock.advance(0)
    setting.lock.is_cut_off = True
    await setting.clock.advance(10.0)
    setting.lock.is_cut_off = False
    setting.lock.requests.clear()
    await setting.clock.advance(60.0)
    assert not setting.elector.is_leader
    assert setting.lock.requests == []
    clean.set()
    with pytest.raises(LeadershipLostError):
        await task
    assert setting.lock.requests == ["get", "update"]
    assert setting.holder == ""


async def test_a_block_that_swallows_the_cancellation_still_raises_the_loss():
    setting = Setting()

    async def stubborn() -> None:
        async with setting.elector.lead():
            with suppress(asyncio.CancelledError):
                await setting.leave.wait()

    task = asyncio.create_task(stubborn())
    await setting.clock.advance(0)
    setting.store.put(THEIRS)
    await setting.clock.advance(2.0)
    with pytest.raises(LeadershipLostError):
        await task


async def test_an_exception_of_the_block_is_raised_and_the_lease_is_released():
    setting = Setting()
    with pytest.raises(TimeoutError, match="of its own"):
        async with setting.elector.lead():
            raise TimeoutError("of its own")
    assert setting.holder == ""
    assert setting.elector.statistics().losses == 0


async def test_cancelled_from_outside_the_block_ends_first_while_the_lease_is_kept():
    setting = Setting()
    done = asyncio.Event()

    async def cleans_up() -> None:
        async with setting.elector.lead():
            try:
                await setting.leave.wait()
            finally:
                await done.wait()
                setting.story.append(f"ends, and the record names {setting.holder}")

    task = asyncio.create_task(cleans_up())
    await setting.clock.advance(0)
    task.cancel()
    await setting.clock.advance(60.0)
    assert setting.elector.is_leader
    assert setting.store.record is not None
    assert setting.store.record.renewed == setting.clock.now()
    done.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert setting.story == ["ends, and the record names me"]
    assert setting.holder == ""


async def test_cancelled_from_outside_after_a_loss_it_stays_cancelled():
    setting = Setting()

    async def lead() -> None:
        async with setting.elector.lead():
            try:
                await setting.leave.wait()
            finally:
                task.cancel()

    task = asyncio.create_task(lead())
    await setting.clock.advance(0)
    setting.store.put(THEIRS)
    await setting.clock.advance(2.0)
    with pytest.raises(asyncio.CancelledError):
        await task


# --- releasing --------------------------------------------------------------------------------------------------------


async def test_the_lease_is_read_and_released_after_the_block():
    setting = Setting()
    async with setting.leading() as task:
        await setting.clock.advance(3.0)
        setting.lock.requests.clear()
        setting.leave.set()
        await task
        assert setting.story == ["leads", "ends, and the record names me"]
        assert setting.lock.requests == ["get", "update"]
        now = setting.clock.now()
        assert setting.store.record == LeaderRecord("", 1, now, now, transitions=0)


async def test_a_release_with_a_conflict_is_retried():
    setting = Setting()
    async with setting.leading() as task:
        setting.lock.troubles.extend([False, ConflictError("a renewal came late")])  # type: ignore[list-item]  # no trouble
        setting.leave.set()
        await setting.clock.advance(1.0)
        await task
        assert setting.lock.requests == ["get", "update", "get", "update"]
        assert setting.holder == ""


async def test_a_deleted_lease_or_that_of_another_holder_is_not_released():
    for record in (None, THEIRS):
        setting = Setting()
        async with setting.leading() as task:
            setting.store.put(record)
            setting.leave.set()
            await task
            assert setting.lock.requests == ["get"]
            assert setting.store.record == record


async def test_a_failed_release_is_logged_and_does_not_change_the_result_of_the_block(caplog: pytest.LogCaptureFixture):
    setting = Setting()
    async with setting.leading() as task:
        setting.lock.is_cut_off = True
        setting.leave.set()
        await setting.clock.advance(10.0)
        await task
        assert setting.story == ["leads", "ends, and the record names me"]
        assert "Cannot release the lease memory/lock, which will expire: no response within 5 s" in caplog.text


async def test_a_skipped_release_leaves_the_lease_to_expire_and_affects_one_term_only():
    setting = Setting()
    async with setting.elector.lead():
        setting.elector.skip_release()
    assert setting.holder == "me"
    async with setting.elector.lead():
        pass
    assert setting.holder == ""


async def test_a_candidate_that_never_wrote_sends_no_release():
    setting = Setting(THEIRS)
    task = asyncio.create_task(setting.lead())
    await setting.clock.advance(1.0)
    task.cancel()
    await asyncio.wait([task])
    assert setting.lock.requests == ["get"]


async def test_a_candidate_cancelled_during_its_first_write_releases_the_lease():
    setting = Setting()
    setting.lock.troubles.extend([False, None])  # type: ignore[list-item]  # success, then no response
    task = asyncio.create_task(setting.lead())
    await setting.clock.advance(0)
    setting.store.put(LeaderRecord("me", 15, START, START))  # it had arrived
    task.cancel()
    await asyncio.wait([task])
    assert setting.holder == ""


# --- callbacks and re-election ----------------------------------------------------------------------------------------


async def test_run_leads_loses_and_is_elected_again():
    story: list[str] = []

    async def on_started_leading() -> None:
        story.append("started")
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            story.append("cancelled")

    setting = Setting(
        on_started_leading=on_started_leading,
        on_stopped_leading=lambda: story.append(f"stopped, and the record names {setting.holder}"),
        on_new_leader=story.append,
    )
    task = asyncio.create_task(setting.elector.run())
    await setting.clock.advance(5.0)
    assert story == ["me", "started"]
    setting.store.put(THEIRS)
    await setting.clock.advance(2.0)
    assert story[2:] == ["other", "cancelled", "stopped, and the record names other"]
    await setting.clock.advance(20.0)
    assert story[5:] == ["me", "started"]
    task.cancel()
    await asyncio.wait([task])
    assert story[7:] == ["cancelled", "stopped, and the record names me"]
    assert setting.holder == ""


async def test_on_stopped_leading_that_waits_for_the_end_of_its_leadership_gets_an_error():
    errors: list[str] = []

    async def on_stopped_leading() -> None:
        try:
            await setting.elector.wait_lost()
        except UsageError as error:
            errors.append(str(error))

    setting = Setting(on_stopped_leading=on_stopped_leading)
    task = asyncio.create_task(setting.elector.run())
    await setting.clock.advance(5.0)
    task.cancel()
    await setting.clock.advance(5.0)
    assert task.done()
    assert ["on_stopped_leading called wait_lost()" in each for each in errors] == [True]


async def test_on_stopped_leading_is_not_called_without_leadership():
    story: list[str] = []
    setting = Setting(THEIRS, on_stopped_leading=lambda: story.append("stopped"))
    task = asyncio.create_task(setting.elector.run())
    await setting.clock.advance(5.0)
    task.cancel()
    await asyncio.wait([task])
    assert story == []


@pytest.mark.parametrize("result", [None, 5, "started"])
async def test_leadership_is_kept_after_on_started_leading_has_returned(result: object):
    called: list[str] = []
    setting = Setting(
        on_started_leading=lambda: result,
        on_stopped_leading=lambda: called.append("stopped") or result,
        on_new_leader=lambda leader: called.append(leader) or result,
    )
    task = asyncio.create_task(setting.elector.run())
    await setting.clock.advance(60.0)
    assert setting.elector.is_leader
    assert setting.elector.statistics().terms == 1
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert called == ["me", "stopped"]


async def test_an_error_of_on_started_leading_ends_the_run_and_releases_the_lease():
    def on_started_leading() -> None:
        raise ValueError("a mistake")

    setting = Setting(on_started_leading=on_started_leading)
    with pytest.raises(ValueError, match="a mistake"):
        await setting.elector.run()
    assert setting.holder == ""


async def test_the_election_does_not_wait_for_on_new_leader(caplog: pytest.LogCaptureFixture):
    async def for_ever(leader: str) -> None:
        await asyncio.get_running_loop().create_future()

    def mistaken(leader: str) -> None:
        raise ValueError("a mistake")

    async def mistaken_later(leader: str) -> None:
        raise ValueError("a later mistake")

    for callback in (for_ever, mistaken, mistaken_later):
        setting = Setting(on_new_leader=callback)
        async with setting.leading():
            assert setting.elector.is_leader
    assert "ValueError: a mistake" in caplog.text
    assert "ValueError: a later mistake" in caplog.text


async def test_on_new_leader_is_called_once_per_leader():
    called: list[str] = []
    setting = Setting(THEIRS, on_new_leader=called.append)
    task = asyncio.create_task(setting.lead())
    await setting.clock.advance(5.0)
    setting.store.put(replace(THEIRS, renewed=START.replace(year=2021)))
    await setting.clock.advance(5.0)
    setting.store.put(replace(THEIRS, holder="third"))
    await setting.clock.advance(30.0)
    assert called == ["other", "third", "me"]
    setting.leave.set()
    await task


# --- questions --------------------------------------------------------------------------------------------------------


async def test_health_fails_only_while_a_block_runs_long_after_the_lease_has_expired():
    setting = Setting()
    setting.elector.check_health(0.0)  # before any election
    stays = asyncio.Event()

    async def clings() -> None:
        async with setting.elector.lead():
            try:
                await setting.leave.wait()
            finally:
                await stays.wait()

    task = asyncio.create_task(clings())
    await setting.clock.advance(1.0)
    setting.lock.is_cut_off = True
    await setting.clock.advance(34.0)
    setting.elector.check_health(20.0)
    await setting.clock.advance(0.1)
    with pytest.raises(LeadershipLostError, match="me has not renewed the lease memory/lock for 35 s and still runs"):
        setting.elector.check_health(20.0)
    stays.set()
    await setting.clock.advance(10.0)
    setting.elector.check_health(0.0)
    await asyncio.wait([task])
    assert isinstance(task.exception(), LeadershipLostError)


async def test_health_of_a_candidate_does_not_depend_on_the_age_of_the_record():
    setting = Setting(replace(THEIRS, lease_duration=10_000))
    task = asyncio.create_task(setting.lead())
    await setting.clock.advance(100.0)
    setting.elector.check_health(0.0)
    task.cancel()
    await asyncio.wait([task])


async def test_wait_lost_returns_when_leadership_ends_and_after_its_timeout():
    setting = Setting()
    assert await setting.elector.wait_lost()
    async with setting.leading():
        waiting = asyncio.create_task(setting.elector.wait_lost(timeout=3.0))
        await setting.clock.advance(3.0)
        assert await waiting is False
        waiting = asyncio.create_task(setting.elector.wait_lost())
        setting.leave.set()
        await setting.clock.advance(0)
        assert await waiting is True


async def test_is_leader_is_false_after_the_deadline_even_if_the_event_loop_is_blocked():
    setting = Setting()
    async with setting.leading():
        setting.clock.jump(10.0)
        assert not setting.elector.is_leader


async def test_the_repr_of_an_elector_shows_its_state():
    setting = Setting()
    assert repr(setting.elector) == "<LeaderElector me of memory/lock, not running>"
    async with setting.leading():
        assert repr(setting.elector) == "<LeaderElector me of memory/lock, leader>"


# --- bad input --------------------------------------------------------------------------------------------------------


async def test_an_elector_runs_once_at_a_time():
    setting = Setting()
    async with setting.leading():
        with pytest.raises(UsageError, match="is already running"):
            async with setting.elector.lead():
                pass
        assert setting.elector.is_leader


async def test_callbacks_for_run_are_refused_by_lead():
    setting = Setting(on_started_leading=lambda: None)
    with pytest.raises(UsageError, match="are for run"):
        async with setting.elector.lead():
            pass


def test_a_name_for_a_lock_is_refused():
    with pytest.raises(UsageError, match="is a lock and has a name"):
        LeaderElector(MemoryLock(RecordStore()), name="x")


@pytest.mark.parametrize("given", [None, "default/x", object()])
def test_a_value_that_is_neither_a_client_nor_a_lock_is_refused(given: Any):
    with pytest.raises(UsageError, match=r"LeaderElector\(.*\): expected a client, or a lock"):
        LeaderElector(given, name="x")


def test_an_identity_that_is_not_a_str_is_refused():
    with pytest.raises(UsageError, match="identity=5: expected a str"):
        LeaderElector(MemoryLock(RecordStore()), identity=5)  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("name", ["on_started_leading", "on_stopped_leading", "on_new_leader"])
def test_a_callback_that_is_not_callable_is_refused(name: str):
    callback: Any = {name: 5}
    with pytest.raises(UsageError, match=f"{name}=5 is not callable"):
        LeaderElector(MemoryLock(RecordStore()), **callback)


def test_durations_are_checked_when_an_elector_is_created():
    with pytest.raises(UsageError, match=r"lease_duration=5\.0 must be longer"):
        LeaderElector(MemoryLock(RecordStore()), lease_duration=5.0)


def test_default_identities_are_unique():
    one, other = LeaderElector(MemoryLock(RecordStore())), LeaderElector(MemoryLock(RecordStore()))
    assert one.identity != other.identity


async def test_the_record_s_times_are_the_clock_s_time_of_day():
    setting = Setting()
    async with setting.leading():
        await setting.clock.advance(4.0)
        assert setting.store.record is not None
        times: list[datetime | None] = [setting.store.record.acquired, setting.store.record.renewed]
        assert times == [START, START.replace(second=4)]

"""Repeated failures of one cause are folded into one line with a count."""

from __future__ import annotations

import asyncio
import logging

import pytest

from listwatch.clock import SystemClock
from listwatch.logs.folded_log import MAX_CAUSES, FoldedLog, Folding, cause_of_call, cause_of_text
from listwatch.testing.clocks import InstantClock, VirtualClock

LOGGER = logging.getLogger("listwatch.test")


def shown(caplog: pytest.LogCaptureFixture, level: int = logging.WARNING) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == level]


async def test_an_outage_of_an_hour_is_one_line_per_minute_and_every_failure_is_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = InstantClock()
    log = FoldedLog(LOGGER, clock)
    for attempt in range(1, 3601):
        log.log(logging.WARNING, "refused", "pods: refused; attempt %d", attempt, fields={"attempt": attempt})
        await clock.sleep(1)
    log.flush()

    records = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert 55 <= len(records) <= 62
    assert sum(vars(record)["count"] for record in records) == 3600
    assert records[0].getMessage() == "pods: refused; attempt 1"
    assert records[1].getMessage() == "pods: refused; attempt 61 (60 times since the last line)"


async def test_each_cause_has_its_own_lines(caplog: pytest.LogCaptureFixture) -> None:
    log = FoldedLog(LOGGER, VirtualClock())
    for cause in ("refused", "reset", "refused", "reset"):
        log.log(logging.WARNING, cause, "%s", cause, fields={})

    assert shown(caplog) == ["refused", "reset"]


async def test_folded_failures_are_logged_at_debug(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "listwatch")
    log = FoldedLog(LOGGER, VirtualClock())
    for attempt in range(3):
        log.log(logging.WARNING, "refused", "attempt %d", attempt, fields={})

    assert shown(caplog) == ["attempt 0"]
    assert shown(caplog, logging.DEBUG) == ["attempt 1", "attempt 2"]


async def test_a_failure_after_a_quiet_minute_is_logged_at_once(caplog: pytest.LogCaptureFixture) -> None:
    clock = VirtualClock()
    log = FoldedLog(LOGGER, clock)
    for _ in range(3):
        log.log(logging.WARNING, "refused", "refused", fields={})
        await clock.advance(61)

    assert shown(caplog) == ["refused"] * 3


async def test_the_first_failures_of_a_burst_are_logged_one_by_one(caplog: pytest.LogCaptureFixture) -> None:
    log = FoldedLog(LOGGER, VirtualClock(), burst=3)
    for number in range(10):
        log.log(logging.ERROR, "bug", "object %d", number, fields={})
    log.flush()

    assert shown(caplog, logging.ERROR) == [
        "object 0",
        "object 1",
        "object 2",
        "object 9 (7 times since the last line)",
    ]


async def test_the_count_of_a_burst_is_logged_although_no_failure_follows(caplog: pytest.LogCaptureFixture) -> None:
    log, logged = FoldedLog(LOGGER, SystemClock(), interval=0.01), asyncio.Event()

    class Waker(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "since the last line" in record.getMessage():
                logged.set()

    LOGGER.addHandler(waker := Waker())
    try:
        for _ in range(2):
            log.log(logging.WARNING, "refused", "refused", fields={})
        await asyncio.wait_for(logged.wait(), 10)
    finally:
        LOGGER.removeHandler(waker)
    assert shown(caplog) == ["refused", "refused (once since the last line)"]


async def test_the_memory_is_bounded_however_many_causes_there_are(caplog: pytest.LogCaptureFixture) -> None:
    clock, folding = VirtualClock(), Folding[str]()
    reported = sum(folding.take(number, "", clock.monotonic()) for number in range(10 * MAX_CAUSES))
    reported += sum(count for _, count in folding.take_due(clock.monotonic(), at_end=True))

    assert len(folding) == MAX_CAUSES + 1
    assert reported == 10 * MAX_CAUSES  # none is lost

    await clock.advance(120)
    assert folding.take("new", "", clock.monotonic()) == 1
    assert len(folding) == 1  # idle causes are forgotten


def test_a_logger_that_is_off_counts_nothing() -> None:
    logger = logging.getLogger("listwatch.test.off")
    logger.setLevel(logging.CRITICAL)
    log = FoldedLog(logger, VirtualClock())

    assert not log.log(logging.WARNING, "refused", "refused", fields={})


def test_numbers_do_not_make_another_cause() -> None:
    assert cause_of_text(OSError("port 8001 refused")) == cause_of_text(OSError("port 8002 refused"))
    assert cause_of_text(OSError("refused")) != cause_of_text(OSError("reset"))
    assert cause_of_text(OSError("refused")) != cause_of_text(ValueError("refused"))


def test_the_cause_of_a_call_is_its_class_and_the_lines_that_it_passed_through() -> None:
    def fail(kind: type[Exception], text: str) -> Exception:
        try:
            raise kind(text)
        except Exception as error:  # noqa: BLE001  # any class
            return error

    def fail_elsewhere() -> Exception:
        try:
            raise ValueError("web-a")
        except ValueError as error:
            return error

    first, second = (fail(ValueError, name) for name in ("web-a", "web-b"))
    assert cause_of_call(first) == cause_of_call(second)
    assert cause_of_call(first) != cause_of_call(fail(KeyError, "web-a"))
    assert cause_of_call(first) != cause_of_call(fail_elsewhere())


def test_the_line_of_the_caller_is_in_the_record(caplog: pytest.LogCaptureFixture) -> None:
    FoldedLog(LOGGER, VirtualClock()).log(logging.WARNING, "refused", "refused", fields={"resource": "pods"})

    [record] = caplog.records
    assert (record.funcName, vars(record)["resource"], vars(record)["count"]) == (
        "test_the_line_of_the_caller_is_in_the_record",
        "pods",
        1,
    )


async def test_discarded_failures_are_not_logged_after_a_recovery(caplog: pytest.LogCaptureFixture) -> None:
    log = FoldedLog(LOGGER, VirtualClock())
    for cause in (("pods", "refused"), ("nodes", "refused")) * 2:
        log.log(logging.WARNING, cause, "%s: refused", cause[0], fields={})
    log.discard(lambda cause: isinstance(cause, tuple) and cause[0] == "pods")
    log.flush()

    assert shown(caplog) == ["pods: refused", "nodes: refused", "nodes: refused (once since the last line)"]

"""How problems reach `on_problem` and the log."""

from __future__ import annotations

import logging

import pytest

from listwatch.informer.reflector.problems import Problem, ProblemReporter
from listwatch.testing.clocks import VirtualClock


def skipped(number: int = 0) -> Problem:
    return Problem("pods", ValueError(f"object {number}"), 0, 0.0)


def failed(attempt: int, text: str) -> Problem:
    return Problem("pods", ConnectionError(text), attempt, 1.0)


async def test_the_first_errors_are_reported_one_by_one_and_the_others_with_a_count() -> None:
    clock, reported = VirtualClock(), list[Problem]()
    report = ProblemReporter(reported.append, clock)
    for second in range(11):
        for number in range(1000):
            report(skipped(1000 * second + number))
        await clock.advance(1)
    report.flush(at_end=True)

    assert [each.count for each in reported[:20]] == [1] * 20
    assert len(reported) <= 24
    assert sum(each.count for each in reported) == 11000
    assert str(reported[-1].error) == "object 10999"


async def test_errors_that_come_slowly_are_all_reported() -> None:
    clock, reported = VirtualClock(), list[Problem]()
    report = ProblemReporter(reported.append, clock)
    for number in range(100):
        report(skipped(number))
        await clock.advance(6)

    assert [each.count for each in reported] == [1] * 100


def test_failed_requests_are_never_folded() -> None:
    reported = list[Problem]()
    report = ProblemReporter(reported.append, VirtualClock())
    for attempt in range(1, 101):
        report(failed(attempt, "refused"))

    assert len(reported) == 100


def test_the_log_has_one_warning_per_cause(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "listwatch")
    report = ProblemReporter(None, VirtualClock())
    for attempt, text in enumerate(["port 1 refused", "port 2 refused", "reset", "reset", "port 3 refused"], 1):
        report(failed(attempt, text))

    assert [record.getMessage().split(";")[0] for record in caplog.records] == [
        "pods: port 1 refused",
        "pods: reset",
    ]


def test_the_log_has_the_number_of_folded_errors(caplog: pytest.LogCaptureFixture) -> None:
    report = ProblemReporter(None, VirtualClock())
    for number in range(1000):
        report(skipped(number))
    report.flush(at_end=True)

    assert len(caplog.records) == 21
    assert caplog.records[-1].getMessage() == "pods: object 999 (and 979 more errors)"

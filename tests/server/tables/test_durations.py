"""Durations, with the units of kube-apiserver."""

from datetime import UTC, datetime

import pytest

from listwatch.server.tables.durations import duration_text, seconds_between, since_text

MINUTE, HOUR, DAY = 60, 3600, 86400
YEAR = 365 * DAY


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"),
        (-1.9, "0s"),
        (0, "0s"),
        (0.999, "0s"),
        (119.9, "119s"),
        (2 * MINUTE, "2m"),
        (2 * MINUTE + 1, "2m1s"),
        (10 * MINUTE - 1, "9m59s"),
        (10 * MINUTE + 59, "10m"),
        (3 * HOUR - 1, "179m"),
        (3 * HOUR, "3h"),
        (3 * HOUR + MINUTE, "3h1m"),
        (8 * HOUR - 1, "7h59m"),
        (8 * HOUR + 59 * MINUTE, "8h"),
        (2 * DAY - 1, "47h"),
        (2 * DAY, "2d"),
        (2 * DAY + HOUR, "2d1h"),
        (8 * DAY - 1, "7d23h"),
        (8 * DAY + 5 * HOUR, "8d"),
        (2 * YEAR - 1, "729d"),
        (2 * YEAR, "2y"),
        (2 * YEAR + DAY, "2y1d"),
        (8 * YEAR - 1, "7y364d"),
        (8 * YEAR + 100 * DAY, "8y"),
    ],
)
def test_a_duration_has_at_most_two_units(seconds: float, text: str):
    assert duration_text(seconds) == text


def test_the_time_since_nothing_is_unknown():
    assert since_text("", datetime(2026, 1, 1, tzinfo=UTC)) == "<unknown>"


def test_timestamps_have_seconds_or_microseconds():
    now = datetime(2026, 1, 1, 0, 0, 5, tzinfo=UTC)
    assert since_text("2026-01-01T00:00:00Z", now) == "5s"
    assert since_text("2026-01-01T00:00:00.500000Z", now) == "4s"
    assert seconds_between("2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z") == HOUR

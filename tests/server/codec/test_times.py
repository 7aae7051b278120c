"""Times are parsed as Go's `time.Parse` does; the messages were compared with those of kube-apiserver."""

import pytest

from listwatch.server.codec.times import LAYOUTS, TimeError, parse_time

SECONDS, MICROSECONDS = LAYOUTS["seconds"], LAYOUTS["microseconds"]


@pytest.mark.parametrize(
    ("text", "layout", "expected"),
    [
        ("2026-01-02T03:04:05Z", SECONDS, "2026-01-02T03:04:05"),
        ("2026-01-02T3:04:05Z", SECONDS, "2026-01-02T03:04:05"),
        ("2026-01-02T03:04:05.123456789Z", SECONDS, "2026-01-02T03:04:05.123456"),
        ("2026-01-02T03:04:05,5Z", SECONDS, "2026-01-02T03:04:05.500000"),
        ("2026-01-02T03:04:05+02:30", SECONDS, "2026-01-02T00:34:05"),
        ("2026-01-02T03:04:05-24:00", SECONDS, "2026-01-03T03:04:05"),
        ("2026-01-02T03:04:05.000001Z", MICROSECONDS, "2026-01-02T03:04:05.000001"),
    ],
)
def test_a_time_is_converted_to_utc(text: str, layout: str, expected: str):
    assert parse_time(text, layout).replace(tzinfo=None).isoformat() == expected


@pytest.mark.parametrize(
    ("text", "layout", "why"),
    [
        ("", SECONDS, f' as "{SECONDS}": cannot parse "" as "2006"'),
        ("x", SECONDS, f' as "{SECONDS}": cannot parse "x" as "2006"'),
        ("2026", SECONDS, f' as "{SECONDS}": cannot parse "" as "-"'),
        ("2026-1-02T00:00:00Z", SECONDS, f' as "{SECONDS}": cannot parse "1-02T00:00:00Z" as "01"'),
        ("2026-01-02", SECONDS, f' as "{SECONDS}": cannot parse "" as "T"'),
        ("2026-01-02 03:04:05Z", SECONDS, f' as "{SECONDS}": cannot parse " 03:04:05Z" as "T"'),
        ("2026-01-02T03:04:05", SECONDS, f' as "{SECONDS}": cannot parse "" as "Z07:00"'),
        ("2026-01-02T03:04:05+0200", SECONDS, f' as "{SECONDS}": cannot parse "+0200" as "Z07:00"'),
        ("2026-01-02T03:04:05Z", MICROSECONDS, f' as "{MICROSECONDS}": cannot parse "Z" as ".000000"'),
        ("2026-01-02T03:04:05.1234567Z", MICROSECONDS, f' as "{MICROSECONDS}": cannot parse "7Z" as "Z07:00"'),
        ("2026-13-02T03:04:05Z", SECONDS, ": month out of range"),
        ("2026-02-30T03:04:05Z", SECONDS, ": day out of range"),
        ("2026-01-02T24:04:05Z", SECONDS, ": hour out of range"),
        ("2026-01-02T03:60:05Z", SECONDS, ": minute out of range"),
        ("2026-01-02T03:04:60Z", SECONDS, ": second out of range"),
        ("2026-01-02T03:04:05+25:00", SECONDS, ": time zone offset hour out of range"),
        ("2026-01-02T03:04:05+01:61", SECONDS, ": time zone offset minute out of range"),
        ("2026-01-02T03:04:05Zx", SECONDS, ': extra text: "x"'),
    ],
)
def test_the_error_shows_where_a_text_is_not_a_time(text: str, layout: str, why: str):
    with pytest.raises(TimeError) as error:
        parse_time(text, layout)
    assert str(error.value) == f'parsing time "{text}"{why}'


def test_the_error_shows_other_characters_as_bytes():
    with pytest.raises(TimeError, match=r'^parsing time "\\xc3\\xa9\\"" as'):
        parse_time('é"', SECONDS)

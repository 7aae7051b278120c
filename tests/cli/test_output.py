"""Ages, tables and templates."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from listwatch.cli.output import age_of, format_table
from listwatch.cli.templates import render

NOW = datetime(2026, 11, 16, tzinfo=UTC)


@pytest.mark.parametrize(
    ("elapsed", "text"),
    [
        (timedelta(seconds=-5), "0s"),
        (timedelta(seconds=119), "119s"),
        (timedelta(minutes=3, seconds=20), "3m20s"),
        (timedelta(minutes=5), "5m"),
        (timedelta(minutes=90, seconds=10), "90m"),
        (timedelta(hours=5, minutes=12), "5h12m"),
        (timedelta(hours=30), "30h"),
        (timedelta(days=3, hours=4), "3d4h"),
        (timedelta(days=400), "400d"),
        (timedelta(days=3 * 365 + 10), "3y10d"),
        (timedelta(days=9 * 365 + 10), "9y"),
    ],
)
def test_an_age_has_at_most_two_units(elapsed: timedelta, text: str):
    assert age_of((NOW - elapsed).isoformat(), NOW) == text


def test_an_age_that_is_unknown_is_not_an_error():
    assert (age_of(None, NOW), age_of("yesterday", NOW), age_of("2026-11-16", NOW)) == (
        "<unknown>",
        "<invalid>",
        "<invalid>",
    )


def test_columns_stay_aligned_over_several_calls():
    widths: list[int] = []
    text = format_table(["Name", "Age"], [["a", "1s"]], widths=widths)
    text += format_table([], [["long-name", "2s"], ["b", "3s"]], show_headers=False, widths=widths)
    assert text.splitlines() == ["NAME   AGE", "a      1s", "long-name   2s", "b           3s"]


@pytest.mark.parametrize(
    ("value", "cell"), [(None, "<none>"), (True, "true"), (3, "3"), ("a\nb", "a..."), ("\x07", "\\x07")]
)
def test_a_cell_is_one_line_of_printable_text(value: object, cell: str):
    assert format_table([], [[value]], show_headers=False) == f"{cell}\n"


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{.a}", "1"),
        (".a", "1"),
        ("{.missing}", ""),
        ("{range .list[*]}{.x}{end}", "xy"),
        ("{range .list[*]}{range .deep[*]}<{}>{end}{end}", "<1><2>"),
        ("{range .missing[*]}{.x}{end}!", "!"),
        ("{.a}{'-'}{\"\\t\"}{.a}", "1-\t1"),
        ("{.list[0]}", '{"x":"x","deep":[1,2]}'),
    ],
)
def test_a_template_is_filled_in(template: str, text: str):
    assert render(template, {"a": 1, "list": [{"x": "x", "deep": [1, 2]}, {"x": "y"}]}) == text

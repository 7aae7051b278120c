import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.client.config.client_config import ServerWarning
from listwatch.client.rest.warnings import WarningReporter, parse_warnings

printable = st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=30)


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ('299 - "a is deprecated"', [ServerWarning(299, "-", "a is deprecated")]),
        ('  299 kube-apiserver/1.37 "x"', [ServerWarning(299, "kube-apiserver/1.37", "x")]),
        (r'299 - "say \"b\" and \\"', [ServerWarning(299, "-", 'say "b" and \\')]),
        ('299 - "a, b" "Wed, 21 Oct 2015 07:28:00 GMT"', [ServerWarning(299, "-", "a, b")]),
        ('299 - "a", 199 b "c"', [ServerWarning(299, "-", "a"), ServerWarning(199, "b", "c")]),
        ('299 - "a" "date",299 - "b"', [ServerWarning(299, "-", "a"), ServerWarning(299, "-", "b")]),
        ('299 - ""', [ServerWarning(299, "-", "")]),
        ('299 - "a" what, 299 - "b"', []),
        ('299 - "a", nonsense, 299 - "b"', [ServerWarning(299, "-", "a")]),
        ('29 - "a"', []),
        ('299 "a"', []),
        ('299 - "a', []),
        ('299 - "a\x07b"', []),
        ('299 - "a\udcff"', []),
        ("", []),
        ("299", []),
    ],
)
def test_a_header_is_read_up_to_the_first_invalid_warning(header: str, expected: list[ServerWarning]):
    assert parse_warnings([header]) == expected


@given(st.lists(st.tuples(st.integers(100, 999), printable), min_size=1, max_size=5))
def test_every_text_of_a_warning_is_read_back(warnings: list[tuple[int, str]]):
    header = ", ".join(f"{code} - {quoted(text)}" for code, text in warnings)
    assert parse_warnings([header]) == [ServerWarning(code, "-", text) for code, text in warnings]


@given(st.lists(st.text(max_size=40), max_size=3))
def test_every_header_can_be_parsed(headers: list[str]):
    parse_warnings(headers)


def test_a_handler_receives_every_warning_of_code_299():
    received: list[ServerWarning] = []
    reporter = WarningReporter(received.append)
    expected = ServerWarning(299, "-", "old")
    assert reporter.report(['299 - "old"', '199 - "nothing of ours"']) == (expected,)
    assert reporter.report(['299 - "old"']) == (expected,)
    assert received == [expected, expected]


def test_each_warning_is_logged_once(caplog: pytest.LogCaptureFixture):
    reporter = WarningReporter()
    for _ in range(3):
        reporter.report(['299 - "old"', '299 - "older"'])
    assert [record.getMessage() for record in caplog.records] == [
        "The API server warns: old",
        "The API server warns: older",
    ]
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


def test_the_number_of_remembered_warnings_is_bounded(caplog: pytest.LogCaptureFixture):
    reporter = WarningReporter()
    reporter.report([f'299 - "{number}"' for number in range(1001)])
    reporter.report(['299 - "1000"', '299 - "0"'])
    assert [record.getMessage() for record in caplog.records][1001:] == ["The API server warns: 0"]


def test_a_handler_that_fails_is_logged_and_the_request_succeeds(caplog: pytest.LogCaptureFixture):
    def fail(warning: ServerWarning) -> None:
        raise RuntimeError("no")

    assert WarningReporter(fail).report(['299 - "old"']) == (ServerWarning(299, "-", "old"),)
    assert "The warning handler failed on: old" in caplog.text

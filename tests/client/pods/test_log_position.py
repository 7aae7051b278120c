"""Where a log was read to."""

import random

from hypothesis import given
from hypothesis import strategies as st

from listwatch.client.containers.log_position import LineReader, LogPosition, split_timestamp

A, B, C = (f"2026-01-01T00:00:00.{number:09d}Z" for number in (1, 2, 3))


def accepted(position: LogPosition, *times: str) -> list[bool]:
    return [position.accepts(each) for each in times]


def test_lines_that_were_delivered_are_skipped_after_a_resume():
    position = LogPosition()
    assert accepted(position, A, B, B) == [True, True, True]
    position.resume()
    assert accepted(position, A, B, B, B, C) == [False, False, False, True, True]


def test_nothing_is_skipped_before_the_first_line():
    position = LogPosition()
    position.resume()
    assert position.since is None
    assert accepted(position, A) == [True]


def test_an_older_time_after_the_position_is_new():
    position = LogPosition()
    accepted(position, A, B)
    position.resume()
    assert accepted(position, A, B, C, A) == [False, False, True, True]


def test_lines_without_a_time_are_new():
    position = LogPosition()
    accepted(position, A)
    position.resume()
    assert accepted(position, "") == [True]


def test_times_of_other_zones_are_compared_as_times():
    position = LogPosition()
    accepted(position, "2026-01-01T02:00:00.5+02:00")
    position.resume()
    assert accepted(position, "2026-01-01T00:00:00.500000000Z", "2026-01-01T00:00:00.6Z") == [False, True]


def test_a_line_is_split_into_time_and_text():
    assert split_timestamp(f"{A}  two spaces") == (A, " two spaces")
    assert split_timestamp("no time") == ("", "no time")
    assert split_timestamp(A) == (A, "")


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_any_cuts_of_a_log_lose_and_repeat_nothing(steps: list[int], chance: random.Random):
    times, now = [], 0
    for step in steps:
        now += step
        times.append(now)
    log = [(f"2026-01-01T00:00:{number // 4:02d}.{number % 4}Z", index) for index, number in enumerate(times)]
    position, delivered = LogPosition(), []
    while len(delivered) < len(log):
        since = position.since
        position.resume()
        # The server sends again from the whole second on, and the stream is cut somewhere.
        text = since.strftime("%Y-%m-%dT%H:%M:%S") if since else ""
        sent = [line for line in log if line[0] >= text]
        for time, index in sent[: chance.randint(1, len(sent))]:
            if position.accepts(time):
                delivered.append(index)
    assert delivered == [*range(len(log))]


def test_lines_are_completed_across_pieces():
    reader = LineReader()
    assert reader.feed(b"a\nb") == ["a"]
    assert reader.feed(b"c\n\nd") == ["bc", ""]
    assert reader.finish() == ["d"]
    assert reader.finish() == []


def test_a_line_without_end_is_returned_in_parts():
    reader = LineReader()
    assert [len(each) for each in reader.feed(b"x" * (2**20 + 1))] == [2**20 + 1]

"""Correlation of similar events."""

import sys
from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.errors import UsageError
from listwatch.events.correlation import COMBINED, Correlator, CountedEvent
from listwatch.events.correlation_series import SeriesCorrelator
from listwatch.events.event_bodies import core_body, core_patch, series_body, series_patch
from listwatch.events.occurrence import Occurrence, Reference, Source, reference_to
from listwatch.models.core_v1 import ObjectReference, Pod
from listwatch.testing.clocks import START

WEB = Reference("v1", "Pod", "default", "web", "uid-1", "7")
API = Reference("v1", "Pod", "default", "api", "uid-2", "8")
SOURCE = Source("tests", "replica-1")
numbers = count()


def happened(message: str = "it broke", **other: Any) -> Occurrence:
    fields: dict[str, Any] = {"regarding": WEB, "type": "Warning", "reason": "Broken", "at": START, **other}
    return Occurrence(name=f"web.{next(numbers):x}", message=message, **fields)


def correlated(correlator: Correlator, occurrences: list[Occurrence], *, now: float = 0.0) -> list[CountedEvent | None]:
    return [correlator.correlate(each, now=now) for each in occurrences]


def counts(found: list[CountedEvent | None]) -> Iterator[int | None]:
    return (each and each.count for each in found)


# --- The core API's ---------------------------------------------------------------------------------------------------


def test_equal_events_are_one_event_with_a_count():
    later = START + timedelta(seconds=5)
    first, *others = correlated(Correlator(), [happened(), happened(at=later), happened(at=later)])
    assert first is not None
    assert (first.count, first.is_repeated, first.message) == (1, False, "it broke")
    assert list(counts(others)) == [2, 3]
    assert {each.name for each in others if each} == {first.name}
    assert {each.first_at for each in others if each} == {START}


@pytest.mark.parametrize(
    "other",
    [{"reason": "Lost"}, {"type": "Normal"}, {"regarding": API}, {"message": "it broke again"}],
    ids=lambda other: next(iter(other)),
)
def test_events_that_differ_are_counted_apart(other: dict[str, Any]):
    found = correlated(Correlator(), [happened(), happened(**other), happened(), happened(**other)])
    assert list(counts(found)) == [1, 1, 2, 2]


def test_a_newer_version_of_the_object_makes_no_difference():
    found = correlated(Correlator(), [happened(), happened(regarding=WEB._replace(resource_version="9"))])
    assert list(counts(found)) == [1, 2]


def test_the_tenth_message_with_the_same_reason_is_combined_with_later_ones():
    found = correlated(Correlator(), [happened(f"try {number}") for number in range(13)])
    events = [each for each in found if each]
    assert [each.count for each in events] == [1] * 9 + [1, 2, 3, 4]
    assert [each.message for each in events[:9]] == [f"try {number}" for number in range(9)]
    assert [each.message for each in events[9:]] == [f"{COMBINED}try {number}" for number in range(9, 13)]
    assert len({each.name for each in events[9:]}) == 1


def test_similar_events_are_not_combined_after_ten_minutes():
    correlator = Correlator()
    correlated(correlator, [happened(f"try {number}") for number in range(9)], now=0.0)
    [found] = correlated(correlator, [happened("try 9")], now=600.1)
    assert found is not None
    assert found.message == "try 9"


def test_ten_minutes_are_counted_from_the_last_similar_event():
    correlator = Correlator()
    for number in range(12):
        [found] = correlated(correlator, [happened(f"try {number}")], now=number * 599.0)
    assert found is not None
    assert found.message == f"{COMBINED}try 11"


def test_twenty_five_events_about_an_object_pass_and_then_one_every_five_minutes():
    correlator = Correlator()
    found = correlated(correlator, [happened() for _ in range(30)])
    assert [each is not None for each in found] == [True] * 25 + [False] * 5
    [still_too_soon] = correlated(correlator, [happened()], now=299.0)
    [late] = correlated(correlator, [happened()], now=300.0)
    [again] = correlated(correlator, [happened()], now=301.0)
    assert (still_too_soon, again) == (None, None)
    assert late is not None
    assert late.count == 32  # what was not let through was still counted


def test_too_many_events_about_an_object_do_not_affect_others():
    correlator = Correlator()
    correlated(correlator, [happened() for _ in range(30)])
    assert None not in correlated(correlator, [happened(regarding=API), happened(type="Normal")])


def test_the_number_of_remembered_objects_is_bounded():
    correlator = Correlator()
    for number in range(4100):
        correlated(correlator, [happened(regarding=WEB._replace(name=f"pod-{number}"))])
    newest, oldest = correlated(
        correlator, [happened(regarding=WEB._replace(name=name)) for name in ("pod-4099", "pod-0")]
    )
    assert newest is not None
    assert oldest is not None
    assert (newest.count, oldest.count) == (2, 1)


@given(st.lists(st.tuples(st.sampled_from("abcdefghijklmn"), st.floats(0, 700)), max_size=80))
def test_names_and_counts_of_written_events_are_consistent(events: list[tuple[str, float]]):
    correlator, now, seen = Correlator(), 0.0, {}
    for message, gap in events:
        now += gap
        found = correlator.correlate(happened(message), now=now)
        if found is not None:
            assert found.count > seen.get(found.name, 0)
            assert found.message.endswith(message)
            seen[found.name] = found.count


# --- Those of events.k8s.io -------------------------------------------------------------------------------------------


def test_the_first_is_an_event_the_second_a_series_and_the_others_are_counted():
    correlator = SeriesCorrelator()
    first = correlator.observe(happened(), now=0.0)
    assert first is not None
    assert not first.is_repeated
    second = correlator.observe(happened("in other words", at=START + timedelta(seconds=1)), now=1.0)
    assert second is not None
    assert (second.count, second.last_at) == (2, START + timedelta(seconds=1))
    assert second.occurrence is first.occurrence
    assert [correlator.observe(happened(), now=2.0) for _ in range(3)] == [None] * 3


@pytest.mark.parametrize(
    "other",
    [{"reason": "Lost"}, {"type": "Normal"}, {"regarding": API}, {"action": "Retry"}, {"related": API}],
    ids=lambda other: next(iter(other)),
)
def test_other_events_are_no_part_of_a_series(other: dict[str, Any]):
    correlator = SeriesCorrelator()
    correlator.observe(happened(), now=0.0)
    found = correlator.observe(happened(**other), now=0.0)
    assert found is not None
    assert not found.is_repeated


def test_a_series_ends_after_six_minutes_without_an_event_and_its_count_is_written():
    correlator = SeriesCorrelator()
    for _ in range(5):
        correlator.observe(happened(), now=100.0)
    assert correlator.next_due() == 460.0
    assert correlator.due(now=459.0) == []
    [final] = correlator.due(now=460.0)
    assert final.count == 5
    new = correlator.observe(happened(), now=461.0)
    assert new is not None
    assert new.count == 1


def test_an_event_that_did_not_repeat_is_dropped_without_a_write():
    correlator = SeriesCorrelator()
    correlator.observe(happened(), now=0.0)
    assert correlator.due(now=360.0) == []
    assert correlator.next_due() == float("inf")


def test_a_series_that_does_not_end_is_written_every_half_hour():
    correlator = SeriesCorrelator()
    written = []
    for minute in range(65):
        correlator.observe(happened(), now=minute * 60.0)
        written += [(minute, series.count) for series in correlator.due(now=minute * 60.0)]
    assert written == [(31, 32), (61, 62)]  # half an hour after the second, and after that


STEPS = st.tuples(st.sampled_from([WEB, API]), st.sampled_from([0.0, 0.1, 59.9, 300.0, 360.0, 1800.0]), st.booleans())


@given(st.lists(STEPS, max_size=60))
def test_no_series_is_due_unless_it_is_next(steps: list[tuple[Reference, float, bool]]):
    correlator, known, now = SeriesCorrelator(), {}, 0.1
    for regarding, delay, looks in steps:
        now += delay
        if looks:
            due = {key: each for key, each in known.items() if each.next_due() <= now}
            unwritten = {key: each.count for key, each in due.items() if each.is_unwritten}
            assert {each.occurrence.regarding: each.count for each in correlator.due(now=now)} == unwritten
            known = {key: each for key, each in known.items() if each.last_seen + 360.0 > now}
        else:
            series = correlator.observe(happened(regarding=regarding), now=now)
            if series is not None:
                known[regarding] = series
        assert correlator.next_due() == min((each.next_due() for each in known.values()), default=float("inf"))


def test_one_more_event_does_not_visit_every_series():
    correlator = SeriesCorrelator()
    for number in range(1000):
        correlator.observe(happened(regarding=Reference("v1", "Pod", "default", f"web-{number}")), now=0.0)
    calls = []
    sys.setprofile(lambda frame, event, argument: calls.append(event))
    try:
        correlator.observe(happened(), now=1.0)
        assert correlator.due(now=1.0) == []
        assert correlator.next_due() == 360.0
    finally:
        sys.setprofile(None)
    assert len(calls) < 100


def test_the_unwritten_counts_are_available_at_the_end():
    correlator = SeriesCorrelator()
    for _ in range(4):
        correlator.observe(happened(), now=0.0)
    correlator.observe(happened(regarding=API), now=0.0)
    assert [series.count for series in correlator.unwritten(now=1.0)] == [4]
    assert correlator.unwritten(now=1.0) == []


# --- As the API reads them --------------------------------------------------------------------------------------------


def test_a_core_event_has_the_fields_that_client_go_writes():
    [counted] = correlated(Correlator(), [happened(annotations={"note": "x"}, related=API, action="Retry")])
    assert counted is not None
    body = core_body(counted, SOURCE)
    assert body == {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": counted.name, "namespace": "default", "annotations": {"note": "x"}},
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": "default",
            "name": "web",
            "uid": "uid-1",
            "resourceVersion": "7",
        },
        "related": API.tree(),
        "type": "Warning",
        "reason": "Broken",
        "action": "Retry",
        "message": "it broke",
        "count": 1,
        "firstTimestamp": "2020-01-01T00:00:00Z",
        "lastTimestamp": "2020-01-01T00:00:00Z",
        "source": {"component": "tests"},
        "reportingComponent": "tests",
        "reportingInstance": "replica-1",
    }
    assert core_patch(counted) == {"count": 1, "lastTimestamp": "2020-01-01T00:00:00Z", "message": "it broke"}


def test_a_series_has_its_count_and_last_time():
    correlator = SeriesCorrelator()
    series = correlator.observe(happened("ö" * 1000), now=0.0)
    assert series is not None
    body = series_body(series, SOURCE)
    assert "series" not in body
    assert body["eventTime"] == "2020-01-01T00:00:00.000000Z"
    assert len(body["note"].encode()) <= 1024
    assert body["note"].endswith("ö…")
    correlator.observe(happened(at=START + timedelta(microseconds=7)), now=0.0)
    expected = {"count": 2, "lastObservedTime": "2020-01-01T00:00:00.000007Z"}
    assert series_patch(series) == {"series": expected}
    assert series_body(series, SOURCE)["series"] == expected


def test_the_events_of_objects_without_a_namespace_are_in_the_default_one():
    assert Reference("v1", "Node", "", "n1").event_namespace == "default"


def test_a_reference_is_made_of_objects_references_and_manifests():
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "uid": "uid-1"}}
    expected = Reference("v1", "Pod", "default", "web", "uid-1")
    named = ObjectReference(api_version="v1", kind="Pod", name="web", namespace="default", uid="uid-1")
    assert reference_to(manifest) == reference_to(Pod.from_dict(manifest)) == reference_to(named) == expected
    named.field_path = "spec.containers{web}"
    assert reference_to(named).tree()["fieldPath"] == "spec.containers{web}"
    assert reference_to(expected) is expected


@pytest.mark.parametrize("nothing", [None, {}, "web", {"metadata": {"name": "web"}}, Pod()])
def test_a_value_that_is_no_reference_is_refused(nothing: Any):
    with pytest.raises(UsageError, match=r"cannot record an event about .* no kind or no name"):
        reference_to(nothing)

"""The decisions of a candidate, given the record that it read."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.errors import UsageError
from listwatch.leaderelection.elector_state import ElectorState, LeaderRecord, Timing

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TIMING = Timing(15.0, 10.0, 2.0)
THEIRS = LeaderRecord("other", 15, NOON, NOON, transitions=3)
OURS = replace(THEIRS, holder="me")
FREE = LeaderRecord("", 1, NOON, NOON, transitions=3)


def candidate(record: LeaderRecord | None = None, *, seen: float = 0.0) -> ElectorState:
    state = ElectorState("me", TIMING)
    state.enter()
    state.observe(record, now=seen)
    return state


def leader(*, sent: float = 0.0) -> ElectorState:
    state = candidate()
    state.observe_write(state.claim(NOON), sent=sent, now=sent)
    return state


# --- taking it --------------------------------------------------------------------------------------------------------


def test_a_missing_record_is_created():
    state = candidate(None)
    assert state.is_missing
    assert state.may_claim(0.0)
    assert state.claim(NOON) == LeaderRecord("me", 15, NOON, NOON, transitions=0)


def test_a_record_without_a_holder_is_acquired_at_once():
    state = candidate(FREE)
    assert state.may_claim(0.0)
    later = NOON + timedelta(seconds=1)
    assert state.claim(later) == LeaderRecord("me", 15, later, later, transitions=4)


def test_a_record_that_changed_is_not_claimed_for_its_whole_duration():
    state = candidate(THEIRS, seen=100.0)
    assert not state.may_claim(114.9)
    assert state.may_claim(115.0)


def test_a_takeover_counts_as_a_transition_and_starts_a_new_term():
    state = candidate(THEIRS)
    later = NOON + timedelta(seconds=20)
    assert state.claim(later) == LeaderRecord("me", 15, later, later, transitions=4)


def test_each_observed_renewal_restarts_the_duration():
    state = candidate(THEIRS, seen=0.0)
    state.observe(replace(THEIRS, renewed=NOON + timedelta(seconds=2)), now=14.0)
    assert not state.may_claim(28.9)
    assert state.may_claim(29.0)


def test_reading_the_same_record_again_changes_nothing():
    state = candidate(THEIRS, seen=0.0)
    state.observe(THEIRS, now=14.0)
    assert state.may_claim(15.0)


@pytest.mark.parametrize("duration", [1, 5, 60])
def test_the_record_s_own_duration_counts_and_not_the_candidate_s(duration: int):
    state = candidate(replace(THEIRS, lease_duration=duration), seen=0.0)
    assert not state.may_claim(duration - 0.1)
    assert state.may_claim(duration)


@given(st.datetimes(), st.datetimes())
@settings(deadline=None)
def test_the_times_in_a_record_are_never_compared_with_a_clock(acquired: datetime, renewed: datetime):
    state = candidate(replace(THEIRS, acquired=acquired, renewed=renewed), seen=50.0)
    assert not state.may_claim(64.9)
    assert state.may_claim(65.0)


def test_an_own_record_is_claimed_again_without_a_transition():
    state = candidate(OURS)
    assert state.may_claim(0.0)
    later = NOON + timedelta(seconds=3)
    assert state.claim(later) == replace(OURS, renewed=later)


def test_without_candidacy_nothing_is_claimed():
    state = ElectorState("me", TIMING)
    state.observe(FREE, now=0.0)
    assert not state.may_claim(0.0)


# --- keeping it -------------------------------------------------------------------------------------------------------


def test_a_leader_leads_for_the_renew_deadline_from_when_it_sent_its_record():
    state = candidate()
    state.observe_write(state.claim(NOON), sent=100.0, now=104.0)
    assert state.time_left(104.0) == pytest.approx(6.0)
    assert state.is_leader(109.9)
    assert not state.is_leader(110.0)


def test_a_record_whose_response_was_too_late_makes_no_leader():
    state = candidate()
    state.observe_write(state.claim(NOON), sent=100.0, now=111.0)
    assert not state.is_leader(111.0)


def test_a_leader_renews_without_reading_as_long_as_it_leads():
    state = leader(sent=0.0)
    assert state.may_renew_without_reading(9.9)
    assert not state.may_renew_without_reading(10.0)
    assert not candidate(OURS).may_renew_without_reading(0.0)


def test_a_leader_that_reads_another_holder_stops_leading():
    state = leader()
    state.observe(THEIRS, now=1.0)
    assert not state.is_leader(1.0)
    assert not state.may_hold
    assert not state.may_claim(math.inf)


@pytest.mark.parametrize("record", [None, FREE])
def test_a_leader_that_reads_no_holder_claims_the_record_again(record: LeaderRecord | None):
    state = leader()
    state.observe(record, now=1.0)
    assert state.is_leader(1.0)
    assert state.may_claim(1.0)
    assert state.claim(NOON).holder == "me"


def test_a_renewal_that_arrives_after_resigning_does_not_make_a_leader():
    state = leader()
    renewal = state.claim(NOON)
    state.resign()
    state.observe_write(renewal, sent=9.0, now=10.0)
    assert not state.is_leader(10.0)
    assert state.may_hold


# --- giving it back ---------------------------------------------------------------------------------------------------


def test_a_released_record_has_no_holder_and_keeps_its_transitions():
    later = NOON + timedelta(seconds=9)
    assert candidate(OURS).release(later) == LeaderRecord("", 1, later, later, transitions=3)


@pytest.mark.parametrize("record", [None, THEIRS, FREE])
def test_a_record_of_another_holder_is_not_released(record: LeaderRecord | None):
    assert candidate(record).release(NOON) is None


def test_a_sent_record_may_be_held_until_another_holder_is_read():
    state = candidate(FREE)
    assert not state.may_hold
    state.claim(NOON)
    assert state.may_hold
    state.observe(OURS, now=1.0)
    assert state.may_hold
    state.observe(THEIRS, now=2.0)
    assert not state.may_hold


# --- durations --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("durations", "complaint"),
    [
        ((0, 10, 2), "lease_duration=0: expected a positive number of seconds"),
        ((15, -1, 2), "renew_deadline=-1: expected a positive number of seconds"),
        ((15, 10, 0.0), "retry_period=0.0: expected a positive number of seconds"),
        ((math.nan, 10, 2), "lease_duration=nan: expected a positive number of seconds"),
        ((math.inf, 10, 2), "lease_duration=inf: expected a positive number of seconds"),
        ((15, "10s", 2), "renew_deadline='10s': expected a positive number of seconds"),
        ((15, 10, True), "retry_period=True: expected a positive number of seconds"),
        ((10, 10, 2), "lease_duration=10 must be longer than renew_deadline=10"),
        ((15, 2.4, 2), "renew_deadline=2.4 must be longer than 1.2 times retry_period=2"),
    ],
)
def test_inconsistent_durations_are_refused(durations: tuple[float, float, float], complaint: str):
    with pytest.raises(UsageError) as caught:
        Timing(*durations)
    assert complaint in str(caught.value)


@given(st.floats(min_value=0.01, max_value=1e5))
@settings(deadline=None)
def test_the_written_duration_is_never_shorter_than_the_lease_duration(duration: float):
    timing = Timing(duration, duration * 0.9, duration * 0.1)
    assert timing.lease_duration <= timing.written_duration < timing.lease_duration + 1


@pytest.mark.parametrize(("renew_deadline", "timeout"), [(10.0, 5.0), (1.5, 1.0), (0.6, 0.6)])
def test_a_request_that_hangs_leaves_time_for_another_if_there_is_enough(renew_deadline: float, timeout: float):
    assert Timing(15.0, renew_deadline, 0.1).request_timeout == timeout

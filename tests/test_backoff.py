"""Delays between attempts: growth, end, reset and presets."""

import math
from itertools import islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.backoff import (
    DEFAULT_BACKOFF,
    DEFAULT_RETRY,
    REFLECTOR_BACKOFF,
    REFLECTOR_RESET,
    Backoff,
    KeyedBackoff,
    ResettingBackoff,
)
from listwatch.errors import UsageError


class FixedRandom(Random):
    """Always the same number: 0 for no jitter, 1 for all of it."""

    def __init__(self, number: float) -> None:
        super().__init__()
        self._number = number

    def random(self) -> float:
        return self._number


NO_JITTER, FULL_JITTER = FixedRandom(0.0), FixedRandom(1.0)


def first(count: int, backoff: Backoff, random: Random = NO_JITTER) -> list[float]:
    return list(islice(backoff.delays(random), count))


# --- One sequence ----------------------------------------------------------------------------------------------------


def test_delays_grow_up_to_the_cap_and_stay_there():
    assert first(7, Backoff(initial=0.8, cap=30)) == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30]
    assert first(3, Backoff(initial=20, cap=30)) == [20, 30, 30]


def test_delays_grow_once_per_step():
    assert first(5, Backoff(initial=1, factor=3, steps=2)) == [1, 3, 9, 9, 9]
    assert first(3, Backoff(initial=1, factor=3, steps=0)) == [1, 1, 1]


def test_jitter_is_added_to_each_delay_and_to_no_other():
    backoff = Backoff(initial=1, cap=4, jitter=0.5)
    assert first(4, backoff, FULL_JITTER) == [1.5, 3, 6, 6]


def test_each_sequence_begins_anew():
    backoff = Backoff(initial=1)
    assert first(3, backoff) == first(3, backoff) == [1, 2, 4]


@given(
    st.builds(
        Backoff,
        initial=st.floats(0, 10),
        factor=st.floats(1, 10),
        cap=st.floats(10, 100),
        jitter=st.floats(0, 2),
        steps=st.none() | st.integers(0, 50),
    ),
    st.integers(),
)
def test_no_delay_leaves_its_bounds(backoff: Backoff, seed: int):
    plain, jittered = first(60, backoff), first(60, backoff, Random(seed))
    assert plain == sorted(plain)
    assert all(backoff.initial <= delay <= backoff.cap for delay in plain)
    for least, delay in zip(plain, jittered, strict=True):
        assert least <= delay <= least * (1 + backoff.jitter)


def test_growth_without_a_cap_does_not_overflow():
    assert first(2000, Backoff(initial=1, factor=10))[-1] == math.inf


@pytest.mark.parametrize(
    "numbers",
    [
        {"initial": -1},
        {"initial": 2, "cap": 1},
        {"initial": 1, "factor": 0.5},
        {"initial": 1, "jitter": -1},
        {"initial": 1, "steps": -1},
        {"initial": math.nan},
    ],
)
def test_numbers_that_make_no_sense_are_refused(numbers):
    with pytest.raises(UsageError, match="invalid Backoff"):
        Backoff(**numbers)


# --- A number of attempts --------------------------------------------------------------------------------------------


def test_between_attempts_there_is_one_wait_fewer():
    assert list(Backoff(initial=1, steps=4).retries(NO_JITTER)) == [1, 2, 4]
    assert list(Backoff(initial=1, steps=1).retries(NO_JITTER)) == []
    assert list(Backoff(initial=1, steps=0).retries(NO_JITTER)) == []


def test_reaching_the_cap_ends_no_attempts():
    assert list(Backoff(initial=1, cap=2, steps=5).retries(NO_JITTER)) == [1, 2, 2, 2]


def test_without_a_number_of_steps_attempts_never_end():
    assert list(islice(Backoff(initial=1).retries(NO_JITTER), 12))[-1] == 2**11


# --- Presets ---------------------------------------------------------------------------------------------------------


def test_the_reflector_waits_30_to_60_seconds_at_most():
    assert first(7, REFLECTOR_BACKOFF) == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30]
    assert first(8, REFLECTOR_BACKOFF, FULL_JITTER)[-1] == 60


def test_the_default_retry_is_five_quick_attempts():
    assert list(DEFAULT_RETRY.retries(NO_JITTER)) == [0.01] * 4
    assert list(DEFAULT_RETRY.retries(FULL_JITTER)) == pytest.approx([0.011] * 4)


def test_the_default_backoff_is_four_attempts_further_and_further_apart():
    assert list(DEFAULT_BACKOFF.retries(NO_JITTER)) == pytest.approx([0.01, 0.05, 0.25])
    assert list(DEFAULT_BACKOFF.retries(FULL_JITTER)) == pytest.approx([0.011, 0.055, 0.275])


# --- Beginning again -------------------------------------------------------------------------------------------------


def reflector_backoff() -> ResettingBackoff:
    return ResettingBackoff(REFLECTOR_BACKOFF, reset=REFLECTOR_RESET, random=NO_JITTER)


def test_a_backoff_begins_again_when_it_was_not_needed_for_long():
    backoff = reflector_backoff()
    assert [backoff.next_delay(now) for now in (0, 1, 121)] == [0.8, 1.6, 3.2]
    assert backoff.next_delay(241.5) == 0.8


def test_a_backoff_in_use_stays_long_while_failures_continue():
    backoff, now = reflector_backoff(), 0.0
    delays = []
    for _ in range(30):
        delays.append(backoff.next_delay(now))
        now += delays[-1]
    assert now > 5 * REFLECTOR_RESET
    assert delays[6:] == [30] * 24


def test_a_backoff_can_be_reset():
    backoff = reflector_backoff()
    assert [backoff.next_delay(0), backoff.next_delay(1)] == [0.8, 1.6]
    backoff.restart()
    assert backoff.next_delay(2) == 0.8


# --- A delay for each key --------------------------------------------------------------------------------------------


def keyed(*, random: Random = NO_JITTER, jitter: float = 0.0, expire_after: float | None = None) -> KeyedBackoff[str]:
    return KeyedBackoff(Backoff(initial=1, cap=8, jitter=jitter), random=random, expire_after=expire_after)


def test_each_key_has_a_delay_of_its_own():
    backoff = keyed()
    assert [backoff.failed("a", now=now) for now in range(5)] == [1, 2, 4, 8, 8]
    assert backoff.failed("b", now=5) == 1
    assert (backoff.delay("a"), backoff.delay("b"), backoff.delay("c")) == (8, 1, 0)


def test_the_jitter_of_a_key_counts_in_its_next_delay_and_is_capped():
    backoff = keyed(random=FULL_JITTER, jitter=0.5)
    assert [backoff.failed("a", now=0) for _ in range(4)] == [1.5, 3.75, 8, 8]


def test_a_key_without_failures_for_twice_the_cap_begins_again():
    backoff = keyed()
    assert [backoff.failed("a", now=now) for now in (0, 16, 32.1)] == [1, 2, 1]


def test_when_keys_expire_can_be_chosen():
    backoff = keyed(expire_after=3)
    assert [backoff.failed("a", now=now) for now in (0, 3, 6.1)] == [1, 2, 1]


def test_a_key_waits_from_its_last_failure():
    backoff = keyed()
    backoff.failed("a", now=10)
    backoff.failed("a", now=11)
    assert backoff.is_waiting("a", now=12.9)
    assert not backoff.is_waiting("a", now=13)
    assert not backoff.is_waiting("b", now=11)


def test_a_key_can_be_checked_for_an_event_of_another_time():
    backoff = keyed()
    backoff.failed("a", now=10)
    assert backoff.is_waiting("a", now=20.9, since=20)
    assert not backoff.is_waiting("a", now=21, since=20)
    assert not backoff.is_waiting("a", now=27, since=27)


def test_keys_can_be_forgotten_one_by_one_or_when_expired():
    backoff = keyed()
    backoff.failed("a", now=0)
    backoff.failed("b", now=10)
    backoff.failed("c", now=10)
    backoff.forget("c")
    backoff.forget("unknown")
    backoff.forget_expired(now=16.1)
    assert len(backoff) == 1
    assert backoff.failed("b", now=16.1) == 2

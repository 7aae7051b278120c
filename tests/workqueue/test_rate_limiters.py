"""The delays of rate limiters."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.errors import UsageError
from listwatch.workqueue.rate_limiters import (
    BucketLimiter,
    ExponentialLimiter,
    FastSlowLimiter,
    ItemLimiter,
    MaxOfLimiter,
    MaxWaitLimiter,
    default_limiter,
)


def delays(limiter: ItemLimiter[str], count: int, *, item: str = "one", now: float = 0.0) -> list[float]:
    return [limiter.next_delay(item, now=now) for _ in range(count)]


def test_the_delay_of_an_item_doubles_up_to_the_cap_and_restarts_when_forgotten():
    limiter = ExponentialLimiter[str](initial=0.001, cap=1.0)
    assert delays(limiter, 12) == [0.001 * 2**n for n in range(10)] + [1.0, 1.0]
    assert limiter.requeues("one") == 12
    assert delays(limiter, 2, item="two") == [0.001, 0.002]
    limiter.forget("one")
    assert limiter.requeues("one") == 0
    assert delays(limiter, 1) == [0.001]
    assert limiter.requeues("two") == 2


def test_the_defaults_are_those_of_client_go():
    limiter = ExponentialLimiter[str]()
    found = delays(limiter, 20)
    assert found[:3] == [0.005, 0.01, 0.02]
    assert found[17:] == [0.005 * 2**17, 1000.0, 1000.0]


def test_any_number_of_failures_can_be_counted():
    limiter = ExponentialLimiter[str](initial=1.0, cap=1000.0)
    assert delays(limiter, 3000)[-1] == 1000.0
    assert limiter.requeues("one") == 3000


def test_forgetting_an_item_without_failures_has_no_effect():
    limiter = ExponentialLimiter[str]()
    limiter.forget("unknown")
    assert limiter.requeues("unknown") == 0


def test_items_that_are_never_forgotten_expire():
    limiter = ExponentialLimiter[int](initial=0.005, cap=10.0)
    for number in range(100_000):
        limiter.next_delay(number, now=float(number))
    remembered = sum(limiter.requeues(number) for number in range(100_000))
    assert remembered < 2048
    assert limiter.requeues(99_999) == 1


def test_an_item_that_keeps_failing_does_not_expire():
    limiter = ExponentialLimiter[int](initial=0.005, cap=10.0)
    for number in range(1, 5001):
        limiter.next_delay(0, now=float(number))
        limiter.next_delay(number, now=float(number))
    assert limiter.requeues(0) == 5000


def test_fast_retries_come_before_slow_ones():
    limiter = FastSlowLimiter[str](fast=0.005, slow=10.0, fast_tries=3)
    assert delays(limiter, 5) == [0.005, 0.005, 0.005, 10.0, 10.0]
    assert limiter.requeues("one") == 5
    assert delays(limiter, 2, item="two") == [0.005, 0.005]
    limiter.forget("one")
    assert delays(limiter, 1) == [0.005]
    assert limiter.requeues("one") == 1


def test_a_bucket_allows_a_burst_and_then_its_rate():
    limiter = BucketLimiter(qps=10.0, burst=3)
    assert [limiter.next_delay(item, now=0.0) for item in "abcde"] == [0.0, 0.0, 0.0, 0.1, 0.2]
    assert limiter.next_delay("f", now=0.5) == 0.0  # 5 more came, 3 of which were left
    assert limiter.requeues("a") == 0
    limiter.forget("a")


def test_a_bucket_never_holds_more_than_its_burst():
    limiter = BucketLimiter(qps=10.0, burst=3)
    limiter.next_delay("a", now=0.0)
    assert delays(limiter, 4, now=1000.0) == [0.0, 0.0, 0.0, 0.1]


@given(st.lists(st.floats(0, 5), min_size=1, max_size=60))
def test_a_bucket_never_exceeds_its_rate_and_burst(gaps: list[float]):
    limiter, now, ready = BucketLimiter(qps=10.0, burst=5), 0.0, []
    for gap in gaps:
        now += gap
        ready.append(now + limiter.next_delay("x", now=now))
    for moment in ready:
        assert sum(moment <= each < moment + 1 - 1e-6 for each in ready) <= 15


def test_the_longest_of_several_delays_is_taken_and_all_of_them_count():
    fast_slow, exponential = FastSlowLimiter[str](fast=0.005, slow=3.0, fast_tries=3), ExponentialLimiter[str]()
    limiter = MaxOfLimiter(fast_slow, exponential)
    assert delays(limiter, 5) == [0.005, 0.01, 0.02, 3.0, 3.0]
    assert (limiter.requeues("one"), fast_slow.requeues("one"), exponential.requeues("one")) == (5, 5, 5)
    limiter.forget("one")
    assert (limiter.requeues("one"), fast_slow.requeues("one"), exponential.requeues("one")) == (0, 0, 0)


def test_no_delay_is_longer_than_the_maximum():
    inner = ExponentialLimiter[str](initial=1.0, cap=1000.0)
    limiter = MaxWaitLimiter(inner, max_delay=5.0)
    assert delays(limiter, 5) == [1.0, 2.0, 4.0, 5.0, 5.0]
    assert limiter.requeues("one") == 5
    limiter.forget("one")
    assert delays(limiter, 1) == [1.0]


def test_the_default_limits_the_total_rate_of_retries():
    limiter = default_limiter()
    found = [limiter.next_delay(number, now=0.0) for number in range(102)]
    assert found[:100] == [0.005] * 100
    assert found[100:] == pytest.approx([0.1, 0.2])


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: ExponentialLimiter(initial=0), "initial=0 and cap=1000.0 are invalid"),
        (lambda: ExponentialLimiter(initial=2, cap=1), "initial <= cap"),
        (lambda: ExponentialLimiter(cap=math.inf), "cap=inf are invalid"),
        (lambda: FastSlowLimiter(fast=-1, slow=1, fast_tries=1), "fast=-1 and slow=1 are invalid"),
        (lambda: BucketLimiter(qps=0), "qps=0 and burst=100 are invalid"),
        (lambda: BucketLimiter(burst=0), "burst=0 are invalid"),
        (lambda: MaxOfLimiter(), "at least one limiter"),
    ],
)
def test_invalid_numbers_are_refused(make, complaint):
    with pytest.raises(UsageError, match=complaint):
        make()

"""The arithmetic of rate limits."""

from listwatch.token_bucket import Tokens


def test_a_burst_needs_no_wait_and_later_tokens_arrive_at_the_rate():
    tokens = Tokens(rate=2.0, burst=3)
    assert [tokens.reserve(10.0) for _ in range(5)] == [0.0, 0.0, 0.0, 0.5, 1.0]
    assert tokens.reserve(10.5) == 1.0


def test_an_idle_bucket_is_never_fuller_than_its_burst():
    tokens = Tokens(rate=2.0, burst=1)
    assert tokens.take(0.0)
    assert tokens.take(1000.0)
    assert not tokens.take(1000.0)


def test_a_token_that_was_given_back_can_be_taken_by_another_caller():
    tokens = Tokens(rate=1.0, burst=1)
    assert tokens.take(0.0)
    assert tokens.reserve(0.0) == 1.0
    tokens.give_back()
    assert tokens.reserve(0.0) == 1.0


def test_a_token_that_is_missing_is_not_taken():
    tokens = Tokens(rate=0.5, burst=1)
    assert tokens.take(0.0)
    assert not tokens.take(1.9)
    assert tokens.take(2.0)

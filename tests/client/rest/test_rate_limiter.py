import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.client.rest.rate_limiter import TokenBucket
from listwatch.testing.clocks import VirtualClock


async def pass_through(bucket: TokenBucket, clock: VirtualClock, name: int, passed: list[tuple[int, float]]) -> None:
    await bucket.wait()
    passed.append((name, clock.monotonic()))


async def test_a_burst_passes_at_once_and_the_rest_at_the_rate():
    clock, passed = VirtualClock(), []
    bucket = TokenBucket(qps=2, burst=3, clock=clock)
    async with asyncio.TaskGroup() as tasks:
        for name in range(6):
            tasks.create_task(pass_through(bucket, clock, name, passed))
        await clock.advance(10)
    assert passed == [(0, 0), (1, 0), (2, 0), (3, 0.5), (4, 1), (5, 1.5)]


async def test_tokens_come_back_and_never_exceed_the_burst():
    clock = VirtualClock()
    bucket = TokenBucket(qps=1, burst=2, clock=clock)
    assert await bucket.wait() + await bucket.wait() == 0
    clock.jump(1000)
    assert await bucket.wait() + await bucket.wait() == 0
    waiting = asyncio.create_task(bucket.wait())
    await clock.advance(1)
    assert waiting.result() == 1


async def test_wait_returns_the_seconds_that_it_waited():
    clock = VirtualClock()
    bucket = TokenBucket(qps=4, burst=1, clock=clock)
    assert await bucket.wait() == 0
    waiting = asyncio.create_task(bucket.wait())
    await clock.advance(0.25)
    assert waiting.result() == 0.25


async def test_a_cancelled_wait_returns_its_token():
    clock = VirtualClock()
    bucket = TokenBucket(qps=1, burst=1, clock=clock)
    assert await bucket.wait() == 0
    waiting = asyncio.create_task(bucket.wait())
    await clock.wait_asleep()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    clock.jump(1)
    assert await bucket.wait() == 0


async def test_later_calls_do_not_overtake_waiting_ones():
    clock, passed = VirtualClock(), []
    bucket = TokenBucket(qps=1, burst=1, clock=clock)
    async with asyncio.TaskGroup() as tasks:
        for name in range(3):
            tasks.create_task(pass_through(bucket, clock, name, passed))
        await clock.advance(0.9)
        tasks.create_task(pass_through(bucket, clock, 3, passed))
        await clock.advance(10)
    assert passed == [(0, 0), (1, 1), (2, 2), (3, 3)]


@given(
    arrivals=st.lists(st.integers(0, 30), min_size=1, max_size=40).map(sorted),
    qps=st.integers(1, 5),
    burst=st.integers(1, 6),
)
def test_no_interval_has_more_requests_than_the_burst_and_its_share(arrivals: list[int], qps: int, burst: int):
    clock, passed = VirtualClock(), []
    bucket = TokenBucket(qps=qps, burst=burst, clock=clock)

    async def arrive(name: int, moment: int) -> None:
        await clock.sleep(moment)
        await pass_through(bucket, clock, name, passed)

    async def all_arrive() -> None:
        async with asyncio.TaskGroup() as tasks:
            for name, moment in enumerate(arrivals):
                tasks.create_task(arrive(name, moment))

    clock.run(all_arrive())
    times = [time for _, time in passed]
    assert [arrivals[name] for name, _ in passed] == arrivals
    for first, start in enumerate(times):
        for last in range(first, len(times)):
            assert last - first + 1 <= burst + qps * (times[last] - start) + 1e-6


def test_the_repr_shows_the_state():
    bucket = TokenBucket(qps=5, burst=10, clock=VirtualClock())
    assert repr(bucket) == "TokenBucket(qps=5, burst=10, tokens=10.0)"
    assert bucket.qps == 5

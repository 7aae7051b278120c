"""Retries after conflicts."""

import pytest

from listwatch.backoff import DEFAULT_BACKOFF, Backoff
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.wait.retry_on_conflict import retry_on_conflict, retry_on_error
from listwatch.errors import ConflictError, NotFoundError, ServiceUnavailableError
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ObjectMeta
from listwatch.testing.clocks import InstantClock


class Attempts:
    """Fails a number of times, and then returns a value."""

    def __init__(self, failures: int, error: type[Exception] = ConflictError) -> None:
        self.failures = failures
        self.error = error
        self.made = 0

    async def __call__(self) -> str:
        self.made += 1
        if self.made <= self.failures:
            raise self.error(f"attempt {self.made}")
        return "done"


@pytest.mark.parametrize("failures", [0, 1, 4])
async def test_a_conflict_is_retried(failures: int):
    attempts, clock = Attempts(failures), InstantClock()
    assert await retry_on_conflict(attempts, clock=clock) == "done"
    assert attempts.made == failures + 1
    assert len(clock.slept) == failures
    assert all(0.01 <= delay <= 0.011 for delay in clock.slept)


async def test_the_last_conflict_is_raised_after_all_retries():
    attempts, clock = Attempts(9), InstantClock()
    with pytest.raises(ConflictError, match="attempt 5"):
        await retry_on_conflict(attempts, clock=clock)
    assert (attempts.made, len(clock.slept)) == (5, 4)


async def test_other_errors_are_raised_at_once():
    attempts = Attempts(1, NotFoundError)
    with pytest.raises(NotFoundError):
        await retry_on_conflict(attempts, clock=InstantClock())
    assert attempts.made == 1


async def test_retries_use_the_backoff():
    clock = InstantClock()
    with pytest.raises(ConflictError, match="attempt 4"):
        await retry_on_conflict(Attempts(9), backoff=DEFAULT_BACKOFF, clock=clock)
    assert [round(delay / 1.05, 2) for delay in clock.slept] == pytest.approx([0.01, 0.05, 0.25], rel=0.1)


async def test_the_caller_decides_which_errors_are_retried():
    attempts = Attempts(2, ServiceUnavailableError)
    backoff = Backoff(initial=1.0, steps=3)
    clock = InstantClock()

    def is_away(error: Exception) -> bool:
        return isinstance(error, ServiceUnavailableError)

    assert await retry_on_error(attempts, is_away, backoff=backoff, clock=clock) == "done"
    assert clock.slept == [1.0, 2.0]


async def test_a_change_succeeds_in_spite_of_concurrent_writes(client: ClientSet):
    maps = client.core_v1.configmaps("default")
    await maps.create(ConfigMap(metadata=ObjectMeta(name="a")))
    rivals = iter(["one", "two"])

    async def add_mine() -> ConfigMap:
        found = await maps.get("a")
        if (rival := next(rivals, None)) is not None:
            await maps.patch("a", {"data": {rival: "theirs"}})
        found.data["mine"] = "yes"
        return await maps.update(found)

    changed = await retry_on_conflict(add_mine)
    assert changed.data == {"one": "theirs", "two": "theirs", "mine": "yes"}

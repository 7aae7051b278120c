"""Waiting until a store has reached a version."""

from __future__ import annotations

import asyncio

import pytest

from listwatch.errors import ResourceVersionError
from listwatch.informer.version_waits import VersionWaits, oldest


@pytest.mark.parametrize(
    ("versions", "found"),
    [
        (["7"], "7"),
        (["abc"], "abc"),
        (["10", "9", "11"], "9"),
        (["10", "", "11"], ""),
        (["", "9"], ""),
        (["10", "abc"], ""),
        (["0", "9"], ""),
    ],
)
def test_the_oldest_version_is_found_if_all_are_comparable(versions: list[str], found: str) -> None:
    assert oldest(versions) == found


async def test_a_version_that_cannot_be_compared_fails_only_its_own_wait() -> None:
    waits, current = VersionWaits(), [""]
    incomparable = asyncio.create_task(waits.wait("abc", lambda: current[0]))
    comparable = asyncio.create_task(waits.wait("9", lambda: current[0]))
    await asyncio.sleep(0)
    current[0] = "10"
    waits.check()
    with pytest.raises(ResourceVersionError, match="abc"):
        await incomparable
    await comparable


async def test_version_zero_does_not_end_a_wait() -> None:
    waits = VersionWaits()
    waiting = asyncio.create_task(waits.wait("1", lambda: "0"))
    await asyncio.sleep(0)
    waits.check()
    assert not waiting.done()
    waits.fail(ValueError("stopped"))
    with pytest.raises(ValueError, match="stopped"):
        await waiting

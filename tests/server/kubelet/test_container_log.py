"""The log of a container in memory."""

import asyncio
from datetime import UTC, datetime, timedelta

from listwatch.models.core_v1 import Pod
from listwatch.server import ContainerLog, LogRequest, User
from listwatch.testing import VirtualClock

POD = Pod.from_dict({"metadata": {"name": "p"}})


def requested(**options: object) -> LogRequest:
    return LogRequest(pod=POD, container="a", user=User("u"), **options)  # type: ignore[arg-type]  # any options


async def read(log: ContainerLog, **options: object) -> bytes:
    return b"".join([piece async for piece in log.read(requested(**options))])


async def test_a_log_is_read_as_it_was_written():
    log = ContainerLog()
    log.write("a\nb")
    log.write(b"c\r50%\nd")
    assert await read(log) == b"a\nbc\r50%\nd"
    assert await read(log, tail_lines=2) == b"bc\r50%\nd"
    assert await read(log, tail_lines=0) == b""
    assert await read(log, tail_lines=9) == b"a\nbc\r50%\nd"


async def test_lines_have_times():
    clock = VirtualClock()
    log = ContainerLog(clock=clock)
    log.write("old\n")
    await clock.advance(10)
    log.write("new\n")
    start = clock.now() - timedelta(seconds=10)
    assert await read(log, since_seconds=5) == b"new\n"
    assert await read(log, since_seconds=60) == b"old\nnew\n"
    assert await read(log, since_time=start) == b"old\nnew\n"
    assert await read(log, since_time=clock.now()) == b"new\n"
    assert await read(log, since_time=clock.now() + timedelta(seconds=1)) == b""
    first, _ = (await read(log, timestamps=True)).splitlines()
    time, _, text = first.partition(b" ")
    assert text == b"old"
    assert datetime.fromisoformat(time.decode()[:26]).replace(tzinfo=UTC) == start


async def test_a_log_is_followed_until_it_is_closed():
    log = ContainerLog()
    log.write("a\nb\nhal")
    pieces = log.read(requested(follow=True, tail_lines=2))
    assert await anext(pieces) == b"b\nhal"
    log.write("f\n")
    assert await anext(pieces) == b"f\n"
    log.write("last\n")
    log.close()
    assert [piece async for piece in pieces] == [b"last\n"]


async def test_old_lines_are_dropped():
    log = ContainerLog(max_lines=2)
    pieces = log.read(requested(follow=True))
    log.write("a\n")
    assert await anext(pieces) == b"a\n"
    log.write("b\nc\nd\n")
    log.close()
    assert [piece async for piece in pieces] == [b"c\nd\n"]
    assert await read(log) == b"c\nd\n"


async def test_a_log_can_be_written_in_another_thread():
    log = ContainerLog()
    pieces = log.read(requested(follow=True))
    first = asyncio.ensure_future(anext(pieces))
    await asyncio.sleep(0)
    await asyncio.to_thread(log.write, "a\n")
    assert await first == b"a\n"
    await asyncio.to_thread(log.close)
    assert [piece async for piece in pieces] == []

"""Lines, events and bodies of streams that are larger than the client accepts."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from listwatch import blocking
from listwatch.api.watch_events import EventReader
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import ResponseTooLargeError
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.json.wire import LineSplitter
from listwatch.testing.scripted_server import HANG, LAST_CHUNK, ScriptedServer, chunk, stream_head

ENDLESS = (stream_head(), *itertools.repeat(chunk(b"x" * 100), 100), HANG)


def event(name: str, size: int = 0) -> bytes:
    """A line of that size, or a short one."""
    content = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "resourceVersion": "1"}}
    line = msgspec.json.encode({"type": "ADDED", "object": {**content, "data": {"k": ""}}}) + b"\n"
    return line.replace(b'"k":""', b'"k":"%s"' % (b"v" * (size - len(line)))) if size else line


@asynccontextmanager
async def rest(server: ScriptedServer, **options: Any) -> AsyncIterator[RESTClient]:
    async with RESTClient(ClientConfig(host=server.url, **options)) as client:
        yield client


# --- Watches ----------------------------------------------------------------------------------------------------------


async def test_an_event_without_an_end_is_refused():
    async with ScriptedServer(ENDLESS) as server, rest(server, max_event_size=1000) as client:
        watch = client.get().resource("configmaps").watch(ConfigMap)
        with pytest.raises(ResponseTooLargeError) as caught:
            await anext(watch)
        assert watch.is_closed
        await server.wait_all_closed()
    assert str(caught.value) == (
        "GET /api/v1/configmaps: an event of the watch has more than 1,000 bytes; "
        "set a larger max_event_size in the ClientConfig, or 0 for no limit"
    )


@pytest.mark.parametrize("cut", [0, 10, 1500])
async def test_events_before_one_that_is_too_large_are_delivered(cut: int):
    content = event("a") + event("b") + event("c", 2000) + event("d")
    reply = [stream_head(), *([chunk(content[:-cut]), chunk(content[-cut:])] if cut else [chunk(content)]), HANG]
    async with ScriptedServer(reply) as server, rest(server, max_event_size=1999) as client:
        watch = client.get().resource("configmaps").watch(ConfigMap)
        assert [(await anext(watch)).object.name for _ in range(2)] == ["a", "b"]
        with pytest.raises(ResponseTooLargeError):
            await anext(watch)
        with pytest.raises(StopAsyncIteration):
            await anext(watch)


async def test_an_event_of_exactly_the_limit_is_delivered():
    reply = [stream_head(), chunk(event("a", 2000)), LAST_CHUNK]
    async with ScriptedServer(reply) as server, rest(server, max_event_size=2000) as client:
        assert [each.object.name async for each in client.get().resource("configmaps").watch(ConfigMap)] == ["a"]


@pytest.mark.parametrize("size", [1, 100, 3000])
def test_the_limit_applies_wherever_a_line_is_cut(size: int):
    content = event("a", 500) + event("b", 1000) + event("c", 1001) + event("d", 500)
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    reader = EventReader(ConfigMap, max_size=1000)
    events = (each for piece in pieces for each in reader.feed(piece))
    assert [next(events).object.name for _ in range(2)] == ["a", "b"]
    with pytest.raises(ResponseTooLargeError):
        next(events)


async def test_the_limit_of_an_event_is_that_of_client_go_by_default():
    assert ClientConfig(host="http://127.0.0.1").max_event_size == 16 * 2**20
    assert EventReader(ConfigMap).max_size == 16 * 2**20


# --- Lines and logs ---------------------------------------------------------------------------------------------------


async def test_a_line_without_an_end_is_refused():
    async with ScriptedServer(ENDLESS) as server, rest(server, max_event_size=1000) as client:
        stream = client.get().abs_path("/metrics").stream()
        with pytest.raises(ResponseTooLargeError, match="a line has more than 1,000 bytes"):
            [line async for line in stream.lines()]
        assert stream.is_closed


async def test_the_blocking_client_refuses_a_line_without_an_end():
    async with ScriptedServer(ENDLESS) as server:
        config = ClientConfig(host=server.url, max_event_size=1000)

        def read() -> None:
            with blocking.RESTClient(config) as client:
                list(client.get().abs_path("/metrics").stream().lines())

        with pytest.raises(ResponseTooLargeError):
            await asyncio.to_thread(read)


@pytest.mark.parametrize("pieces", [[b"xx", b"x"], [b"a\nxxx"], [b"xxx\n"], [b"x", b"xx\na\n"]])
def test_a_splitter_refuses_a_longer_line_wherever_it_is(pieces: list[bytes]):
    splitter = LineSplitter(max_size=2)
    with pytest.raises(ResponseTooLargeError):
        list(map(splitter.feed, pieces))


async def test_a_log_line_without_an_end_is_returned_in_parts():
    piece = "é".encode() * 40_001 + b"x"
    count = 30
    reply = [stream_head(), *itertools.repeat(chunk(piece), count), chunk(b"\nnext\n"), LAST_CHUNK]
    async with ScriptedServer(reply) as server, ClientSet(ClientConfig(host=server.url)) as client:
        lines = [line async for line in client.core_v1.pods("a").follow_logs("web")]
    assert lines[-1] == "next"
    assert "".join(lines[:-1]) == piece.decode() * count
    assert 2 <= len(lines[:-1]) <= 4


async def test_a_whole_log_is_limited():
    async with (
        ScriptedServer(ENDLESS) as server,
        ClientSet(ClientConfig(host=server.url, max_response_size=1000)) as client,
    ):
        with pytest.raises(ResponseTooLargeError, match="set a larger max_response_size"):
            await client.core_v1.pods("a").logs("web")
        await server.wait_all_closed()

"""Watches over real connections to a scripted server."""

import asyncio
import gc
import gzip
import logging
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.api.watch_events import (
    AddedEvent,
    BookmarkEvent,
    DeletedEvent,
    ErrorEvent,
    ModifiedEvent,
    UndecodableEvent,
)
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.rest.rest_client import RESTClient
from listwatch.client.rest.streams import ByteStream, WatchStream, idle_timeout_for
from listwatch.client.transport.aiohttp_transport import AiohttpTransport
from listwatch.errors import (
    APIError,
    ConnectionLostError,
    ConnectRefusedError,
    ExpiredError,
    ForbiddenError,
    InternalServerError,
    ProtocolError,
    StreamIdleError,
    TransportTimeoutError,
    UsageError,
)
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.unstructured import Unstructured
from listwatch.testing.clocks import InstantClock, VirtualClock
from listwatch.testing.scripted_server import (
    CLOSE,
    HANG,
    LAST_CHUNK,
    RESET,
    Reply,
    ScriptedServer,
    chunk,
    respond,
    stream_head,
)


def event(kind: str, name: str, version: int = 1) -> bytes:
    metadata = {"name": name, "namespace": "a", "resourceVersion": str(version)}
    return line(kind, {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata})


def line(kind: str, content: Any) -> bytes:
    return msgspec.json.encode({"type": kind, "object": content}) + b"\n"


BOOKMARK = line("BOOKMARK", {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}})
GONE = {"kind": "Status", "status": "Failure", "message": "too old resource version", "reason": "Expired", "code": 410}


def client(server: ScriptedServer, clock: InstantClock | None = None) -> RESTClient:
    config = ClientConfig(host=server.url)
    return RESTClient(config, clock=clock or InstantClock(), transport=AiohttpTransport(config))


def watch(rest: RESTClient, **options: Any) -> WatchStream[ConfigMap]:
    return rest.get().namespace("a").resource("configmaps").params(options).watch(ConfigMap)


async def all_of(stream: WatchStream[ConfigMap]) -> list[tuple[str, str]]:
    return [(event.type, event.object.name) async for event in stream]


# --- Events ----------------------------------------------------------------------------------------------------------


async def test_events_come_in_order_with_their_types_and_objects():
    events = [event("ADDED", "x", 1), event("MODIFIED", "x", 2), BOOKMARK, event("DELETED", "x", 10)]
    async with ScriptedServer([stream_head(), *map(chunk, events), LAST_CHUNK]) as server, client(server) as rest:
        found = [each async for each in watch(rest, resourceVersion="0", timeoutSeconds=300)]
    assert [type(each) for each in found] == [AddedEvent, ModifiedEvent, BookmarkEvent, DeletedEvent]
    assert [each.object.resource_version for each in found] == ["1", "2", "9", "10"]
    assert all(isinstance(each.object, ConfigMap) for each in found)
    target = "/api/v1/namespaces/a/configmaps?resourceVersion=0&timeoutSeconds=300&watch=true"
    assert server.requests[0].target == target
    assert server.requests[0].headers["accept-encoding"] == "identity"


async def test_without_a_type_objects_are_read_as_mappings():
    async with (
        ScriptedServer([stream_head(), chunk(event("ADDED", "x")), LAST_CHUNK]) as server,
        client(server) as rest,
    ):
        [found] = [each async for each in rest.get().resource("configmaps").param("watch", "1").watch()]
    assert isinstance(found.object, Unstructured)
    assert found.object["kind"] == "ConfigMap"
    assert server.requests[0].target == "/api/v1/configmaps?watch=1"


@pytest.mark.parametrize(
    "reply",
    [
        respond(200, event("ADDED", "x") + event("ADDED", "y")),
        [b"HTTP/1.1 200 OK\r\n\r\n" + event("ADDED", "x") + event("ADDED", "y"), CLOSE],
        [b"HTTP/1.1 200 OK\r\n\r\n" + event("ADDED", "x") + event("ADDED", "y").strip(), CLOSE],
        [stream_head(), chunk(b"\n\r\n" + event("ADDED", "x") + b"\n  \n" + event("ADDED", "y")), LAST_CHUNK],
        [stream_head(headers={"Content-Type": "application/json;stream=watch"})]
        + [chunk(bytes([byte])) for byte in event("ADDED", "x") + event("ADDED", "y")]
        + [LAST_CHUNK],
    ],
    ids=["length", "until close", "no line feed at the end", "blank lines", "byte by byte"],
)
async def test_events_are_the_same_however_they_are_sent(reply: Reply):
    async with ScriptedServer(reply) as server, client(server) as rest:
        assert await all_of(watch(rest)) == [("ADDED", "x"), ("ADDED", "y")]


class Pieces:
    """A ResponseStream of given pieces, without a connection and without optional methods."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.status, self.headers, self.warnings = 200, {}, ()
        self.is_closed = False
        self.expected: list[float] = []
        self._pieces = iter(pieces)

    async def read(self) -> bytes:
        return next(self._pieces, b"")

    def set_idle_timeout(self, patience: float) -> None:
        self.expected.append(patience)

    def close(self) -> None:
        self.is_closed = True


class CoalescingPieces(Pieces):
    """A stream that can coalesce reads."""

    def __init__(self, pieces: list[bytes]) -> None:
        super().__init__(pieces)
        self.coalesced: list[bool] = []

    def coalesce_reads(self, *, enabled: bool) -> None:
        self.coalesced.append(enabled)


class QueuedPieces(Pieces):
    """A stream that waits for its pieces."""

    def __init__(self) -> None:
        super().__init__([])
        self.queue: asyncio.Queue[bytes] = asyncio.Queue()

    async def read(self) -> bytes:
        return await self.queue.get()


def watching(pieces: list[bytes]) -> WatchStream[ConfigMap]:
    return watching_stream(Pieces(pieces))


def watching_stream(
    stream: Pieces, *, idle_timeout: float = 60, initial_events: bool = False
) -> WatchStream[ConfigMap]:
    async def opened() -> Pieces:
        return stream

    return WatchStream(ByteStream(opened), ConfigMap, idle_timeout=idle_timeout, initial_events=initial_events)


@settings(deadline=None)
@given(names=st.lists(st.text("é😀xyz", min_size=1, max_size=9), max_size=6), data=st.data())
async def test_events_are_the_same_wherever_they_are_cut(names: list[str], data: st.DataObject):
    whole = b"".join(event("ADDED", name) for name in names)
    cuts = sorted(data.draw(st.sets(st.integers(1, max(len(whole) - 1, 1)), max_size=10)))
    pieces = [whole[a:b] for a, b in pairwise([0, *cuts, len(whole)]) if a < b]
    assert await all_of(watching(pieces)) == [("ADDED", name) for name in names]


@pytest.mark.parametrize("idle_timeout", [60, 330])
async def test_reads_are_coalesced_until_the_bookmark_after_the_initial_events(idle_timeout: float):
    stream = CoalescingPieces([event("ADDED", "x"), event("ADDED", "y"), BOOKMARK, event("ADDED", "z"), BOOKMARK])
    batches = watching_stream(stream, idle_timeout=idle_timeout, initial_events=True).batches()
    assert len(await anext(batches)) == len(await anext(batches)) == 1
    assert (stream.expected, stream.coalesced) == ([idle_timeout], [True])
    assert len([batch async for batch in batches]) == 3
    assert (stream.expected, stream.coalesced) == ([idle_timeout, min(idle_timeout, 180)], [True, False])


async def test_a_stream_that_cannot_coalesce_reads_gives_initial_events_too():
    stream = Pieces([event("ADDED", "x"), BOOKMARK, event("ADDED", "y")])
    assert len(await all_of(watching_stream(stream, idle_timeout=330, initial_events=True))) == 3
    assert stream.expected == [330, 180]


class Given:
    """A Transport with a single stream."""

    def __init__(self, stream: Pieces) -> None:
        self._stream = stream

    async def open_stream(self, _request: Any, *, timeout: float | None) -> Pieces:
        return self._stream

    async def aclose(self) -> None:
        pass


@pytest.mark.parametrize(("options", "in_bulk"), [({}, False), ({"sendInitialEvents": True}, True)])
async def test_reads_are_coalesced_if_initial_events_are_requested(options: dict[str, Any], in_bulk: bool):
    stream = CoalescingPieces([])
    stream.headers = {"Content-Type": "application/json"}
    async with RESTClient(ClientConfig(host="http://unused"), transport=Given(stream)) as rest:
        assert await all_of(watch(rest, timeoutSeconds=30, **options)) == []
    assert stream.expected == [60]
    assert stream.coalesced == [in_bulk]


async def test_many_initial_events_and_those_after_them_are_read_completely():
    much = [chunk(event("ADDED", str(number)) * 100) for number in range(60)]
    script = [stream_head(), *much, chunk(BOOKMARK), chunk(event("MODIFIED", "last")), LAST_CHUNK]
    async with ScriptedServer(script) as server, client(server) as rest, asyncio.timeout(10):
        found = [(each.type, each.object.name) async for each in watch(rest, sendInitialEvents=True)]
    initial = [("ADDED", str(number)) for number in range(60) for _ in range(100)]
    assert found == [*initial, ("BOOKMARK", ""), ("MODIFIED", "last")]


async def test_a_batch_has_the_events_of_one_read():
    go_on = asyncio.Event()
    script = [stream_head(), chunk(event("ADDED", "x") + event("ADDED", "y") + event("ADDED", "z")[:20]), go_on]
    script += [chunk(event("ADDED", "z")[20:] + event("DELETED", "x")), LAST_CHUNK]
    async with ScriptedServer(script) as server, client(server) as rest, watch(rest) as stream:
        batches = stream.batches()
        assert [each.object.name for each in await anext(batches)] == ["x", "y"]
        go_on.set()
        assert [each.object.name for each in await anext(batches)] == ["z", "x"]
        assert await anext(batches, None) is None


async def test_batches_start_where_a_loop_has_stopped():
    events = b"".join(event("ADDED", name) for name in "xyz")
    async with ScriptedServer([stream_head(), chunk(events), LAST_CHUNK]) as server, client(server) as rest:
        stream = watch(rest)
        assert (await anext(stream)).object.name == "x"
        assert [[each.object.name for each in batch] async for batch in stream.batches()] == [["y", "z"]]


async def test_a_line_of_megabytes_is_one_event():
    content = {"kind": "ConfigMap", "metadata": {"name": "big"}, "data": {"x": "y" * 3_000_000}}
    whole = line("ADDED", content)
    chunks = [chunk(whole[at : at + 10_000]) for at in range(0, len(whole), 10_000)]
    async with ScriptedServer([stream_head(), *chunks, LAST_CHUNK]) as server, client(server) as rest:
        [found] = [each async for each in watch(rest)]
    assert len((found.object.data or {})["x"]) == 3_000_000


async def test_an_error_of_the_server_is_raised_in_a_loop():
    script = [stream_head(), chunk(event("ADDED", "x") + line("ERROR", GONE) + event("ADDED", "never")), HANG]
    async with ScriptedServer(script) as server, client(server) as rest:
        stream = watch(rest)
        assert (await anext(stream)).object.name == "x"
        with pytest.raises(ExpiredError, match="too old resource version"):
            await anext(stream)
        assert await anext(stream, None) is None
        await server.wait_all_closed()


async def test_an_error_of_the_server_is_an_event_in_a_batch():
    async with (
        ScriptedServer([stream_head(), chunk(line("ERROR", GONE)), LAST_CHUNK]) as server,
        client(server) as rest,
    ):
        [[failed]] = [batch async for batch in watch(rest).batches()]
    assert isinstance(failed, ErrorEvent)
    assert isinstance(failed.error, ExpiredError)


@pytest.mark.parametrize(
    "wrong",
    [
        b"nonsense\n",
        line("SOMETHING", {"metadata": {}}),
        b'{"type":"ADDED"}\n',
        b'{"object":{}}\n',
        line("ERROR", GONE)[:-10] + b"\n",
    ],
)
async def test_a_line_that_cannot_be_decoded_ends_the_watch_with_an_error(wrong: bytes):
    script = [stream_head(), chunk(event("ADDED", "x") + wrong + event("ADDED", "never")), HANG]
    async with ScriptedServer(script, script) as server, client(server) as rest:
        [[first, failed]] = [batch async for batch in watch(rest).batches()]
        assert isinstance(first, AddedEvent)
        assert isinstance(failed, ErrorEvent)
        assert failed.error.status_code == 500
        assert [cause.reason for cause in failed.error.causes] == ["ClientWatchDecoding"]
        stream = watch(rest)
        await anext(stream)
        with pytest.raises(InternalServerError, match="an event of the watch cannot be decoded"):
            await anext(stream)
        await server.wait_all_closed()


async def test_a_part_of_an_object_that_cannot_be_decoded_does_not_end_the_watch():
    odd = line("ADDED", {"kind": "ConfigMap", "metadata": {"name": "odd", "labels": 7}, "data": [1]})
    async with (
        ScriptedServer([stream_head(), chunk(odd + event("ADDED", "x")), LAST_CHUNK]) as server,
        client(server) as rest,
    ):
        assert await all_of(watch(rest)) == [("ADDED", "odd"), ("ADDED", "x")]


async def test_an_event_whose_object_cannot_be_decoded_is_skipped_and_logged(caplog: pytest.LogCaptureFixture):
    odd = line("MODIFIED", "no object")
    async with (
        ScriptedServer(
            *[[stream_head(), chunk(event("ADDED", "x") + odd + event("ADDED", "y")), LAST_CHUNK]] * 2
        ) as server,
        client(server) as rest,
    ):
        stream = watch(rest)
        assert await all_of(stream) == [("ADDED", "x"), ("ADDED", "y")]
        assert stream.skipped == 1
        [batch] = [batch async for batch in watch(rest).batches()]
    assert [type(each) for each in batch] == [AddedEvent, UndecodableEvent, AddedEvent]
    [logged] = [record.getMessage() for record in caplog.records]
    assert logged.startswith(
        "GET /api/v1/namespaces/a/configmaps: skipped an event (1 so far): ConfigMap: the object of the MODIFIED"
    )


# --- Compression -----------------------------------------------------------------------------------------------------


def gzipped(*events: bytes) -> list[bytes]:
    """A stream as a server sends it that ends a gzip member at each flush."""
    head = stream_head(headers={"Content-Encoding": "gzip"})
    return [head, *(chunk(gzip.compress(each)) for each in events)]


async def test_a_compressed_watch_is_read_member_by_member_to_its_end():
    go_on = asyncio.Event()
    script = [*gzipped(event("ADDED", "x"), BOOKMARK), go_on, *gzipped(event("ADDED", "y"))[1:], LAST_CHUNK]
    async with ScriptedServer(script) as server, client(server) as rest:
        request = rest.get().resource("configmaps").header("Accept-Encoding", "gzip").param("sendInitialEvents", True)
        stream = request.watch(ConfigMap)
        assert (await anext(stream)).object.name == "x"
        assert isinstance(await anext(stream), BookmarkEvent)
        go_on.set()
        assert (await anext(stream)).object.name == "y"
        assert await anext(stream, None) is None
    assert server.requests[0].headers["accept-encoding"] == "gzip"


@pytest.mark.parametrize("ending", [[CLOSE], [RESET], [LAST_CHUNK]], ids=["closed", "reset", "ended"])
async def test_a_watch_that_is_cut_within_a_gzip_member_is_lost(ending: list[Any]):
    half = gzip.compress(event("ADDED", "y"))[:-12]
    gate = asyncio.Event()
    script = [*gzipped(event("ADDED", "x")), gate, chunk(half), *ending]
    async with ScriptedServer(script) as server, client(server) as rest:
        stream = watch(rest)
        assert (await anext(stream)).object.name == "x"
        gate.set()
        with pytest.raises(ConnectionLostError):
            await anext(stream)


# --- Ends ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        ([chunk(event("ADDED", "y")[:30]), CLOSE], "in the middle of the response"),
        ([chunk(event("ADDED", "y")), CLOSE], "in the middle of the response"),
        ([CLOSE], "in the middle of the response"),
        ([chunk(event("ADDED", "y"))[:-9], RESET], ""),
        ([chunk(event("ADDED", "y")[:30]), LAST_CHUNK], "in the middle of an event"),
    ],
    ids=["mid event", "after an event", "no word", "reset", "ended mid event"],
)
async def test_a_watch_that_is_cut_raises_an_error_that_names_the_request(ending: list[Any], message: str):
    gate = asyncio.Event()
    async with (
        ScriptedServer([stream_head(), chunk(event("ADDED", "x")), gate, *ending]) as server,
        client(server) as rest,
    ):
        stream = watch(rest)
        assert (await anext(stream)).object.name == "x"
        gate.set()
        with pytest.raises(ConnectionLostError, match=message or "in the middle of the response|reset") as caught:
            await all_of(stream)
        assert caught.value.doing == "GET /api/v1/namespaces/a/configmaps"
        assert stream.is_closed


async def test_an_event_before_the_cut_is_delivered_before_the_error():
    gate = asyncio.Event()
    async with (
        ScriptedServer([stream_head(), chunk(event("ADDED", "x")), gate, RESET]) as server,
        client(server) as rest,
    ):
        stream = watch(rest)
        assert (await anext(stream)).object.name == "x"
        gate.set()
        with pytest.raises(ConnectionLostError):
            await anext(stream)
        assert await anext(stream, None) is None


async def test_leaving_a_watch_closes_its_connection_at_once():
    async with ScriptedServer([stream_head(), chunk(event("ADDED", "x")), HANG]) as server, client(server) as rest:
        async with watch(rest) as stream:
            assert (await anext(stream)).object.name == "x"
            assert rest.statistics().open_watches == 1
        assert stream.is_closed
        assert rest.statistics().open_watches == 0
        await server.wait_all_closed()


async def test_breaking_out_of_a_loop_closes_the_connection():
    async with ScriptedServer([stream_head(), chunk(event("ADDED", "x") * 3), HANG]) as server, client(server) as rest:
        async for each in watch(rest):
            assert each.type == "ADDED"
            break
        gc.collect()
        await server.wait_all_closed()


async def test_closing_a_watch_ends_the_loop_of_another_task():
    async with ScriptedServer([stream_head(), chunk(event("ADDED", "x")), HANG]) as server, client(server) as rest:
        stream = watch(rest)
        looping = asyncio.create_task(all_of(stream))
        await server.wait_requests(1)
        stream.close()
        await stream.aclose()
        assert await looping in ([("ADDED", "x")], [])
        await server.wait_all_closed()


async def test_closing_a_watch_that_has_half_an_event_ends_the_loop_of_another_task():
    script = [stream_head(), chunk(event("ADDED", "x") + event("ADDED", "y")[:50]), HANG]
    async with ScriptedServer(script) as server, client(server) as rest:
        stream = watch(rest)
        assert (await anext(stream)).object.name == "x"
        looping = asyncio.create_task(all_of(stream))
        await asyncio.sleep(0)
        stream.close()
        assert await looping == []
        await server.wait_all_closed()


async def test_data_that_arrived_before_close_is_not_read():
    pieces = QueuedPieces()
    stream = watching_stream(pieces)
    pieces.queue.put_nowait(event("ADDED", "x") + event("ADDED", "y")[:50])
    assert (await anext(stream)).object.name == "x"
    looping = asyncio.create_task(all_of(stream))
    await asyncio.sleep(0)
    pieces.queue.put_nowait(event("ADDED", "y")[50:] + event("ADDED", "z"))
    stream.close()
    assert await looping == []


@pytest.mark.parametrize("wrong", [line("ERROR", GONE), b"nonsense\n"], ids=["error", "nonsense"])
async def test_an_error_ends_the_watch_even_if_a_partial_event_follows(wrong: bytes):
    stream = watching([wrong + event("ADDED", "x")[:50]])
    with pytest.raises(APIError):
        await anext(stream)
    assert await anext(stream, None) is None


async def test_no_event_follows_one_that_cannot_be_decoded():
    batches = watching([b"nonsense\n" + event("ADDED", "x")[:50]]).batches()
    assert [[type(each) for each in batch] async for batch in batches] == [[ErrorEvent]]


@pytest.mark.parametrize("reply", [HANG, [stream_head(), HANG]], ids=["opening", "reading"])
async def test_a_cancelled_loop_closes_the_connection(reply: Reply):
    async with ScriptedServer(reply) as server, client(server) as rest:
        looping = asyncio.create_task(all_of(watch(rest)))
        await server.wait_requests(1)
        await asyncio.sleep(0)
        looping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await looping
        await server.wait_all_closed()


async def test_a_timeout_on_the_next_event_leaves_the_watch_open():
    go_on = asyncio.Event()
    half = len(event("ADDED", "x")) // 2
    script = [stream_head(), chunk(event("ADDED", "x")[:half]), go_on, chunk(event("ADDED", "x")[half:]), LAST_CHUNK]
    async with ScriptedServer(script) as server, client(server) as rest, watch(rest) as stream:
        for _ in range(3):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0):
                    await anext(stream)
        go_on.set()
        assert await all_of(stream) == [("ADDED", "x")]
    assert len(server.requests) == 1


async def test_a_second_reader_of_a_watch_fails_and_the_first_continues():
    go_on = asyncio.Event()
    script = [stream_head(), go_on, chunk(event("ADDED", "x")), LAST_CHUNK]
    async with ScriptedServer(script) as server, client(server) as rest, watch(rest) as stream:
        looping = asyncio.create_task(all_of(stream))
        await asyncio.sleep(0)
        with pytest.raises(UsageError, match="another task is already reading this stream"):
            await anext(stream)
        go_on.set()
        assert await looping == [("ADDED", "x")]


# --- Beginnings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (respond(403, b'{"kind":"Status","status":"Failure","reason":"Forbidden","code":403}'), ForbiddenError),
        (respond(403), ForbiddenError),
        (respond(410, msgspec.json.encode(GONE)), ExpiredError),
        (respond(302, headers={"Location": "http://elsewhere.example/"}), APIError),
        (respond(200, b"<html>", headers={"Content-Type": "text/html"}), ProtocolError),
        (respond(200, b"\xd9", headers={"Content-Type": "application/cbor-seq"}), ProtocolError),
    ],
)
async def test_a_rejected_watch_raises_when_it_is_entered(reply: Reply, error: type[Exception]):
    async with ScriptedServer(reply, reply) as server, client(server) as rest:
        with pytest.raises(error):
            async with watch(rest):
                pass
        with pytest.raises(error):
            await anext(watch(rest))
        assert rest.statistics().open_watches == 0


@pytest.mark.parametrize("reply", [RESET, CLOSE], ids=["reset", "closed"])
async def test_a_watch_whose_connections_are_always_lost_is_an_error(reply: Reply):
    clock = InstantClock()
    async with ScriptedServer(otherwise=reply) as server, client(server, clock) as rest:
        with pytest.raises(ConnectionLostError):
            await all_of(watch(rest))
        assert rest.statistics().open_watches == 0
    assert len(server.requests) == 11
    assert clock.slept == [1.0] * 10


async def test_a_watch_that_is_slow_to_begin_is_retried():
    clock = VirtualClock()
    event_ = event("ADDED", "x")
    async with (
        ScriptedServer(HANG, respond(200, event_)) as server,
        RESTClient(ClientConfig(host=server.url), clock=clock) as rest,
    ):
        looping = asyncio.create_task(all_of(watch(rest)))
        await server.wait_requests(1)
        await clock.advance(31)
        await clock.advance(1)
        assert await looping == [("ADDED", "x")]


async def test_a_refused_connection_is_raised():
    async with ScriptedServer() as server:
        pass
    async with client(server) as rest:
        with pytest.raises(ConnectRefusedError):
            await all_of(watch(rest))


async def test_a_throttled_watch_starts_after_the_delay(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG, "listwatch")
    clock = InstantClock()
    storm = [respond(429, headers={"Retry-After": "2"})] * 3
    async with ScriptedServer(*storm, respond(200, event("ADDED", "x"))) as server, client(server, clock) as rest:
        assert await all_of(watch(rest)) == [("ADDED", "x")]
    assert clock.slept == [2.0, 2.0, 2.0]
    assert server.connections == 1
    retries = [(each.levelname, each.attempt) for each in caplog.records if "retrying in 2 s" in each.getMessage()]
    assert retries == [("WARNING", 1), ("DEBUG", 2), ("DEBUG", 3)]  # one warning per cause


# --- Silence ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "patience"),
    [({"timeoutSeconds": 300}, 330), ({}, 3630), ({"timeoutSeconds": "x"}, 3630), ({"timeoutSeconds": 0}, 3630)],
)
async def test_a_watch_that_is_silent_for_longer_than_it_can_last_is_dead(options: dict[str, Any], patience: float):
    clock = VirtualClock()
    async with (
        ScriptedServer([stream_head(), HANG]) as server,
        RESTClient(ClientConfig(host=server.url), clock=clock) as rest,
    ):
        looping = asyncio.create_task(all_of(watch(rest, **options)))
        await server.wait_requests(1)
        await clock.advance(patience - 1)
        assert not looping.done()
        await clock.advance(1)
        with pytest.raises(StreamIdleError, match=f"no data for {patience} s") as caught:
            await looping
        assert isinstance(caught.value, TransportTimeoutError)
        await server.wait_all_closed()


async def test_a_server_that_sends_bookmarks_is_dead_when_they_stop():
    clock = VirtualClock()
    async with (
        ScriptedServer([stream_head(), chunk(BOOKMARK), HANG]) as server,
        RESTClient(ClientConfig(host=server.url), clock=clock) as rest,
    ):
        stream = watch(rest, timeoutSeconds=600, allowWatchBookmarks=True)
        assert isinstance(await anext(stream), BookmarkEvent)
        waiting = asyncio.create_task(anext(stream))
        await clock.advance(179)
        assert not waiting.done()
        await clock.advance(1)
        with pytest.raises(StreamIdleError, match="no data for 180 s"):
            await waiting


async def test_bookmarks_do_not_extend_the_idle_timeout_of_a_short_watch():
    clock = VirtualClock()
    async with (
        ScriptedServer([stream_head(), chunk(BOOKMARK), HANG]) as server,
        RESTClient(ClientConfig(host=server.url), clock=clock) as rest,
    ):
        stream = watch(rest, timeoutSeconds=10)
        assert isinstance(await anext(stream), BookmarkEvent)
        waiting = asyncio.create_task(anext(stream))
        await clock.advance(40)
        with pytest.raises(StreamIdleError, match="no data for 40 s"):
            await waiting


async def test_the_idle_timeout_can_be_set():
    clock = VirtualClock()
    async with (
        ScriptedServer([stream_head(), HANG]) as server,
        RESTClient(ClientConfig(host=server.url), clock=clock) as rest,
    ):
        stream = rest.get().resource("configmaps").watch(ConfigMap, idle_timeout=5)
        waiting = asyncio.create_task(anext(stream))
        await server.wait_requests(1)
        await clock.advance(5)
        with pytest.raises(StreamIdleError, match="no data for 5 s"):
            await waiting
    assert idle_timeout_for(5) == 35


async def test_the_repr_shows_the_state():
    stream = watching([])
    assert repr(stream) == "<WatchStream of ConfigMap, open>"
    assert await all_of(stream) == []
    assert repr(stream) == "<WatchStream of ConfigMap, closed>"

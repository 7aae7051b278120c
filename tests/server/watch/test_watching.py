"""Watches over HTTP, from their first event to their end. `test_watch_feed.py` tests what they share."""

import asyncio
import json
import zlib
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from tests.server.caller import CONFIG_MAPS, Caller, brief, config_map, next_chunk, raw_connection, raw_watch

from listwatch.meta import ObjectKey
from listwatch.server.api_server import APIServer
from listwatch.server.watch.watching import WatchSettings
from listwatch.testing.clocks import VirtualClock

INITIAL = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def server(clock: VirtualClock) -> AsyncIterator[APIServer]:
    async with APIServer(clock=clock) as server:
        yield server


@pytest.fixture
async def call(server: APIServer) -> AsyncIterator[Caller]:
    async with Caller(server) as call:
        yield call


async def ended_watches(server: APIServer, count: int = 1) -> None:
    await server.wait_for_requests(count, until="finished", verb="watch")


# Events


async def test_a_watch_sends_events_in_order(call: Caller):
    async with call.watch() as events:
        created = await call.create("a")
        await call("PUT", f"{CONFIG_MAPS}/a", {**created, "data": {"of": "b"}})
        await call.delete("a")
        assert await events.some(3) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


async def test_a_watch_from_a_version_sends_the_events_after_it_and_continues(call: Caller):
    version = (await call.create("a"))["metadata"]["resourceVersion"]
    await call.create("b")
    await call.delete("a")
    async with call.watch(f"resourceVersion={version}") as events:
        await call.create("c")
        assert await events.some(3) == [("ADDED", "b"), ("DELETED", "a"), ("ADDED", "c")]


@pytest.mark.parametrize("query", ["", "resourceVersion=0"])
async def test_a_watch_without_a_version_starts_with_the_existing_objects(call: Caller, query: str):
    await call.create("a")
    await call.create("b")
    await call.delete("a")
    async with call.watch(query) as events:
        await call.create("c")
        assert await events.some(2) == [("ADDED", "b"), ("ADDED", "c")]


async def test_a_deleted_object_is_sent_in_its_last_state_at_the_version_of_the_deletion(call: Caller):
    created = await call.create("a")
    async with call.watch(f"resourceVersion={created['metadata']['resourceVersion']}") as events:
        await call.delete("a")
        gone = (await events.next())["object"]
    assert int(gone["metadata"].pop("resourceVersion")) > int(created["metadata"].pop("resourceVersion"))
    assert gone == created


async def test_a_deletion_after_a_finalizer_is_sent_with_the_last_seen_state(call: Caller):
    await call.create("a", finalizers=["example.com/hold"])
    async with call.watch("resourceVersion=0") as events:
        await call("DELETE", f"{CONFIG_MAPS}/a")
        patch = {"metadata": {"finalizers": None}, "data": {"not": "seen"}}
        await call("PATCH", f"{CONFIG_MAPS}/a", patch, Content_Type="application/merge-patch+json")
        _, marked, gone = [await events.next() for _ in range(3)]
    assert (marked["type"], gone["type"]) == ("MODIFIED", "DELETED")
    assert int(gone["object"]["metadata"].pop("resourceVersion")) > int(
        marked["object"]["metadata"].pop("resourceVersion")
    )
    assert gone["object"] == marked["object"]


async def test_a_watch_sends_no_events_of_other_namespaces_or_resources(call: Caller):
    async with call.watch() as events, call.watch(path="/api/v1/configmaps") as everywhere:
        await call("POST", "/api/v1/namespaces/kube-system/configmaps", config_map("elsewhere"))
        await call("POST", "/api/v1/namespaces/default/secrets", {"metadata": {"name": "other"}})
        await call.create("here")
        assert await events.some(1) == [("ADDED", "here")]
        assert await everywhere.some(2) == [("ADDED", "elsewhere"), ("ADDED", "here")]


async def test_events_of_one_batch_are_sent_in_one_piece(server: APIServer):
    async with raw_watch(server) as reader:
        for name in ("a", "b", "c"):
            put(server, name)
        chunk = await next_chunk(reader)
    assert [brief(json.loads(line)) for line in chunk.splitlines()] == [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")]


def put(server: APIServer, name: str) -> None:
    """Write to the storage directly, so that several events are published at once."""

    def encode(revision: int) -> bytes:
        return json.dumps(config_map(name, namespace="default", resourceVersion=str(revision))).encode()

    server.storage.create("/configmaps", ObjectKey("default", name), encode)


# Initial events


async def test_the_end_of_the_initial_events_is_marked(server: APIServer, call: Caller):
    await call.create("a")
    await call.create("b")
    async with call.watch(INITIAL) as events:
        assert await events.some(2) == [("ADDED", "a"), ("ADDED", "b")]
        assert await events.next() == {
            "type": "BOOKMARK",
            "object": {
                "kind": "ConfigMap",
                "apiVersion": "v1",
                "metadata": {
                    "resourceVersion": str(server.revision),
                    "annotations": {"k8s.io/initial-events-end": "true"},
                },
            },
        }
        await call.create("c")
        assert await events.some(1) == [("ADDED", "c")]


async def test_a_watch_with_initial_events_of_a_future_version_waits_for_it(server: APIServer, call: Caller):
    wanted = server.revision + 2
    opening = asyncio.create_task(opened(call, f"{INITIAL}&resourceVersion={wanted}"))
    await server.wait_for_requests(1, until="started", verb="watch")
    await call.create("a")
    await call.create("b")
    assert [brief(event)[1] for event in await opening] == ["a", "b"]


async def opened(call: Caller, query: str) -> list[Any]:
    async with call.watch(query) as events:
        return [await events.next(), await events.next()]


async def test_a_future_version_that_is_not_reached_ends_the_watch_with_an_error(
    server: APIServer, call: Caller, clock: VirtualClock
):
    async def watch() -> list[Any]:
        async with call.watch(f"{INITIAL}&resourceVersion=999999") as events:
            assert events.status == 200
            return await events.rest()

    watching = asyncio.create_task(watch())
    await clock.wait_asleep()
    await clock.advance(3.0)
    [error] = await watching
    assert error["type"] == "ERROR"
    assert (error["object"]["code"], error["object"]["reason"]) == (504, "Timeout")
    assert error["object"]["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


async def test_a_watch_from_a_future_version_sends_only_later_events(server: APIServer, call: Caller):
    async with call.watch(f"resourceVersion={server.revision + 1}") as events:
        await call.create("too-early")
        await call.create("a")
        assert await events.some(1) == [("ADDED", "a")]


# The past


async def test_a_compacted_version_ends_the_watch_with_410(server: APIServer, call: Caller):
    await call.create("a")
    await call.create("b")
    server.compact()
    async with call.watch("resourceVersion=2") as events:
        assert events.status == 200
        [error] = await events.rest()
    assert error["type"] == "ERROR"
    assert error["object"] == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f"too old resource version: 2 ({server.revision})",
        "reason": "Expired",
        "code": 410,
    }


async def test_a_server_can_send_410_as_an_http_status():
    async with APIServer(watch_errors_as_http=True) as server, Caller(server) as call:
        await call.create("a")
        server.compact()
        reply = await call("GET", f"{CONFIG_MAPS}?watch=1&resourceVersion=2")
    assert (reply.status, reply.json["reason"]) == (410, "Expired")


async def test_an_open_watch_is_not_affected_by_compaction(server: APIServer, call: Caller):
    async with call.watch() as events:
        await call.create("a")
        server.compact()
        await call.create("b")
        assert await events.some(2) == [("ADDED", "a"), ("ADDED", "b")]


# Selectors


async def test_an_object_enters_and_leaves_what_a_watch_selects(call: Caller):
    async with call.watch("labelSelector=app%3Dweb") as events:
        created = await call.create("a", labels={"app": "api"})
        created["metadata"]["labels"] = {"app": "web"}
        entered = (await call("PUT", f"{CONFIG_MAPS}/a", created)).json
        seen = await events.next()
        assert (seen["type"], seen["object"]) == ("ADDED", entered)

        left = {**entered, "metadata": {**entered["metadata"], "labels": {"app": "db"}}, "data": {"not": "seen"}}
        left = (await call("PUT", f"{CONFIG_MAPS}/a", left)).json
        seen = await events.next()
        last = {**entered["metadata"], "resourceVersion": left["metadata"]["resourceVersion"]}
        assert (seen["type"], seen["object"]) == ("DELETED", {**entered, "metadata": last})

        await call.delete("a")
        await call.create("b", labels={"app": "web"})
        assert await events.some(1) == [("ADDED", "b")]


async def test_one_object_is_watched_by_its_name(call: Caller):
    query = "fieldSelector=metadata.name%3Da"
    async with call.watch(query) as by_field, call.watch(path=f"/api/v1/watch{CONFIG_MAPS[7:]}/a") as by_path:
        await call.create("b")
        await call.create("a")
        assert await by_field.some(1) == [("ADDED", "a")]
        assert await by_path.some(1) == [("ADDED", "a")]


# Representations


async def test_a_watch_of_metadata_sends_nothing_else(call: Caller):
    accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    async with call.watch("", Accept=accept) as events:
        await call.create("a")
        seen = (await events.next())["object"]
    assert (seen["kind"], seen["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    assert "data" not in seen


async def test_a_watch_in_yaml_is_not_acceptable(call: Caller):
    assert (await call("GET", f"{CONFIG_MAPS}?watch=1", Accept="application/yaml")).status == 406


async def test_each_piece_of_a_compressed_watch_list_can_be_read_when_it_arrives(server: APIServer, call: Caller):
    await call.create("a")
    async with raw_watch(server, INITIAL, Accept_Encoding="gzip") as reader:
        first = await next_chunk(reader)
        await call.create("b")
        second = await next_chunk(reader)
    assert [brief(event) for event in unpacked(first)] == [("ADDED", "a"), ("BOOKMARK", "")]
    assert [brief(event) for event in unpacked(second)] == [("ADDED", "b")]


async def test_the_events_of_a_compressed_piece_can_be_read_before_its_last_block(server: APIServer, call: Caller):
    # Go's reader keeps back the content of the last block of a member until the next member begins.
    await call.create("a")
    async with raw_watch(server, INITIAL, Accept_Encoding="gzip") as reader:
        member = await next_chunk(reader)
    flushed, mark, last = member.rpartition(b"\0\0\xff\xff")
    lines = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(flushed + mark)
    assert [brief(json.loads(line)) for line in lines.splitlines()] == [("ADDED", "a"), ("BOOKMARK", "")]
    assert len(last) == 10  # an empty block, the checksum and the size


async def test_a_server_without_compression_does_not_compress_watches_and_lists():
    async with APIServer(compression=False) as server, Caller(server) as call:
        await call.create("a", annotations={"long": "x" * 200_000})
        assert "Content-Encoding" not in (await call("GET", CONFIG_MAPS, Accept_Encoding="gzip")).headers
        async with call.watch(INITIAL, Accept_Encoding="gzip") as events:
            assert "Content-Encoding" not in events.headers
            assert await events.some(2) == [("ADDED", "a"), ("BOOKMARK", "")]


async def test_a_compressed_watch_list_has_a_content_encoding(call: Caller):
    async with call.watch(INITIAL, Accept_Encoding="gzip") as events:
        assert events.headers["Content-Encoding"] == "gzip"
        assert events.headers["Vary"] == "Accept-Encoding"


def unpacked(member: bytes) -> list[Any]:
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    lines = unpacker.decompress(member)
    assert unpacker.eof
    assert not unpacker.unused_data
    return [json.loads(line) for line in lines.splitlines()]


async def test_other_watches_are_not_compressed(call: Caller):
    async with call.watch("resourceVersion=1", Accept_Encoding="gzip") as events:
        assert "Content-Encoding" not in events.headers


# Bookmarks and the end


async def test_bookmarks_come_about_once_a_minute_and_shortly_before_the_end(
    server: APIServer, call: Caller, clock: VirtualClock
):
    async with call.watch("resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=100") as events:
        await clock.advance(59.0)
        put(server, "a")
        assert brief(await events.next()) == ("ADDED", "a")
        await clock.advance(1.0)
        bookmark = await events.next()
        assert bookmark == {
            "type": "BOOKMARK",
            "object": {
                "kind": "ConfigMap",
                "apiVersion": "v1",
                "metadata": {"resourceVersion": str(server.revision)},
            },
        }
        await call("POST", "/api/v1/namespaces/default/secrets", {"metadata": {"name": "another-resource"}})
        await clock.advance(38.0)
        last = await events.next()
        assert last["object"]["metadata"] == {"resourceVersion": str(server.revision)}
        await clock.advance(2.0)
        assert await events.rest() == []


async def test_a_watch_without_bookmarks_gets_none(server: APIServer, call: Caller, clock: VirtualClock):
    async with call.watch("resourceVersion=1&timeoutSeconds=100") as events:
        await clock.advance(90.0)
        put(server, "a")
        await clock.advance(10.0)
        assert [brief(event) for event in await events.rest()] == [("ADDED", "a")]


async def test_a_bookmark_without_a_new_version_is_not_sent(server: APIServer, call: Caller, clock: VirtualClock):
    query = f"resourceVersion={server.revision}&allowWatchBookmarks=true&timeoutSeconds=100"
    async with call.watch(query) as events:
        await clock.advance(100.0)
        assert await events.rest() == []


async def test_a_watch_without_a_timeout_ends_after_half_an_hour_to_an_hour(clock: VirtualClock):
    async with APIServer(clock=clock, seed=7) as server, Caller(server) as call, call.watch() as events:
        assert await clock.wait_asleep() is None
        assert 1800.0 <= (clock.next_deadline or 0) - clock.monotonic() < 3600.0
        await clock.advance(3600.0)
        assert await events.rest() == []


async def test_the_same_seed_gives_the_same_end(clock: VirtualClock):
    ends = []
    for seed in (1, 1, 2):
        async with APIServer(clock=clock, seed=seed) as server, Caller(server) as call, call.watch():
            await clock.wait_asleep()
            ends.append(clock.next_deadline)
    assert ends[0] == ends[1] != ends[2]


async def test_a_server_that_stops_ends_its_watches_properly(clock: VirtualClock):
    async with APIServer(clock=clock) as server, Caller(server) as call, call.watch() as events:
        await server.stop()
        assert await events.rest() == []


async def test_an_http_1_0_client_is_served_until_the_connection_ends(server: APIServer, call: Caller):
    async with raw_connection(server) as (reader, writer):
        writer.write(f"GET {CONFIG_MAPS}?watch=1 HTTP/1.0\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"chunked" not in head
        await call.create("a")
        assert brief(json.loads(await reader.readline())) == ("ADDED", "a")


# Slow and disconnected clients


async def test_a_client_that_disconnects_ends_its_watch(server: APIServer, call: Caller):
    async with call.watch() as events:
        assert server.statistics().watches == 1
        events.response.close()
        await ended_watches(server)
    assert server.statistics().watches == 0


async def test_a_client_that_does_not_read_is_aborted_and_delays_no_others(clock: VirtualClock):
    settings = WatchSettings(max_backlog_bytes=4 << 20)
    async with (
        APIServer(clock=clock, watch_settings=settings) as server,
        Caller(server) as call,
        raw_watch(server) as slow,
        call.watch() as others,
    ):
        for number in range(30):
            await create_large(call, number)
            assert (await others.some(1)) == [("ADDED", f"large-{number}")]
        await ended_watches(server)
        assert server.statistics().watches == 1
        with pytest.raises(ConnectionError):
            await slow.read()


async def create_large(call: Caller, number: int) -> None:
    await call("POST", CONFIG_MAPS, {**config_map(f"large-{number}"), "data": {"much": "x" * 900_000}})


async def test_a_slow_client_receives_all_events(server: APIServer, call: Caller):
    async with raw_watch(server) as slow:
        for number in range(20):
            await create_large(call, number)
        seen = b""
        while seen.count(b"\n") < 20:
            seen += await next_chunk(slow)
    assert [brief(json.loads(line)) for line in seen.splitlines()] == [("ADDED", f"large-{n}") for n in range(20)]


async def test_a_client_that_does_not_read_is_disconnected_after_the_timeout(
    server: APIServer, call: Caller, clock: VirtualClock
):
    async with raw_watch(server, "timeoutSeconds=100"):
        for number in range(20):
            await create_large(call, number)
        await clock.advance(100.0)
        assert server.statistics().watches == 1
        await clock.advance(5.0)
        await ended_watches(server)


async def test_an_error_in_an_open_watch_ends_only_that_watch(
    server: APIServer, call: Caller, caplog: pytest.LogCaptureFixture
):
    async with call.watch("labelSelector=app") as events:
        server.storage.create("/configmaps", ObjectKey("default", "broken"), lambda revision: b"no object at all")
        with pytest.raises(aiohttp.ClientError):
            await events.response.content.readline()
    assert "failed" in caplog.text
    assert (await call("GET", "/version")).status == 200


async def test_each_of_many_watchers_receives_every_event_once(server: APIServer, call: Caller):
    async def watch(count: int) -> list[tuple[str, str]]:
        async with call.watch("resourceVersion=1") as events:
            return await events.some(count)

    watchers = [asyncio.create_task(watch(100)) for _ in range(20)]
    await server.wait_for_requests(5, verb="watch")
    await asyncio.gather(*(call.create(f"n-{number}") for number in range(100)))
    histories = await asyncio.gather(*watchers)
    assert len(set(histories[0])) == 100
    assert all(history == histories[0] for history in histories)

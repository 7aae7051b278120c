"""Responses that etcd does not send: of other servers, proxies and damaged members."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.sources.etcd.test_gateway import (
    BOB,
    CREATED,
    Item,
    changes,
    client_of,
    failed,
    line,
    listed,
    put,
    source_of,
)

from listwatch.errors import ConnectionLostError, ExpiredError, ProtocolError
from listwatch.sources.etcd import EtcdStore
from listwatch.testing import ScriptedServer
from listwatch.testing.scripted_server import HANG, chunk, respond


def page(*names: str, revision: str = "7", cluster: str = "1", more: bool = False, count: int = 9) -> bytes:
    kvs = [{**put(name, 5)["kv"], "mod_revision": "5"} for name in names]
    header = {"revision": revision, "cluster_id": cluster}
    return respond(200, json.dumps({"header": header, "kvs": kvs, "more": more, "count": str(count)}).encode())


NOT_ETCD = [
    respond(502, b"<html>bad gateway</html>", headers={"Content-Type": "text/html"}),
    respond(404, b"404 page not found"),
    respond(200, b"<html>welcome</html>"),
    respond(200, b"{}"),
]


# --- other servers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reply", NOT_ETCD)
async def test_a_proxy_that_responds_for_a_member_does_not_hide_the_others(reply: bytes):
    async with ScriptedServer(reply) as first, ScriptedServer(listed()) as second, client_of(first, second) as client:
        assert (await source_of(client).list()).resource_version == "7"


@pytest.mark.parametrize("reply", NOT_ETCD)
async def test_a_watch_opens_at_the_member_after_a_proxy(reply: bytes):
    async with (
        ScriptedServer(reply) as first,
        ScriptedServer([*CREATED, line(events=[put("a", 8)]), HANG], listed()) as second,
        client_of(first, second) as client,
        source_of(client).watch(resource_version="7") as watch,
    ):
        assert (await anext(watch)).object.cache_key == "a"


@pytest.mark.parametrize("reply", NOT_ETCD)
async def test_the_write_after_one_to_a_proxy_goes_to_the_next_member(reply: bytes):
    async with ScriptedServer(reply) as first, ScriptedServer(listed()) as second, client_of(first, second) as client:
        store = EtcdStore(client, "/p/", Item)
        with pytest.raises(ProtocolError, match="etcd's JSON gateway"):
            await store.put("a", Item(1))
        assert len(second.requests) == 0
        assert (await store.put("a", Item(1))).resource_version == "7"


async def test_an_empty_object_is_no_response_of_etcd():
    async with ScriptedServer(otherwise=respond(200, b"{}")) as server, client_of(server) as client:
        store = EtcdStore(client, "/p/", Item)
        for request in (store.get("a"), store.put("a", Item(1)), store.create("a", Item(1)), store.delete("a")):
            with pytest.raises(ProtocolError, match="its response has no revision"):
                await request


@pytest.mark.parametrize("status", [200, 400, 404, 500])
async def test_a_server_that_echoes_the_login_does_not_reveal_the_password(status: int):
    echo = respond(status, b'{"you sent":"secret","code":3,"error":"","message":""}')
    async with ScriptedServer(echo) as server, client_of(server, **BOB) as client:
        with pytest.raises(ProtocolError, match="etcd's JSON gateway") as caught:
            await source_of(client).list()
        assert "secret" not in str(caught.value)


# --- lists ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", ["x", "", "-5", "1\n", "\u0663", "1" * 5000])
async def test_a_revision_that_is_no_number_is_a_protocol_error(revision: str):
    async with ScriptedServer(page(revision=revision)) as server, client_of(server) as client:
        with pytest.raises(ProtocolError, match="not of etcd's JSON gateway"):
            await source_of(client).list()
    seen, error = await changes(line(header={"revision": revision, "cluster_id": "1"}), line(events=[put("a", 8)]))
    assert seen == []
    assert isinstance(error, ProtocolError)


@pytest.mark.parametrize("pages", [[page(more=True)], [page("b", more=True), page("a", more=True)]])
async def test_a_list_that_does_not_advance_is_given_up(pages: list[bytes]):
    async with ScriptedServer(*pages, otherwise=page("b", more=True)) as server, client_of(server) as client:
        with pytest.raises(ProtocolError, match="does not advance"):
            await source_of(client).list()
        assert len(server.requests) == len(pages)


async def test_a_list_that_continues_after_its_last_key_is_given_up():
    pages = [page(name, more=True, count=2) for name in "abcd"]
    async with ScriptedServer(*pages) as server, client_of(server) as client:
        with pytest.raises(ProtocolError, match="the list of 2 keys continues after 3"):
            await source_of(client).list()


async def test_pages_of_different_clusters_are_not_one_list():
    pages = [page("a", more=True), page("b", cluster="2")]
    async with ScriptedServer(*pages) as server, client_of(server) as client:
        with pytest.raises(ExpiredError, match="another cluster"):
            await source_of(client).list()


async def test_a_page_that_takes_too_long_is_read_in_parts():
    pages = [page("a", "b", "c", "d", more=True), HANG, page("e", more=True), page("f", "g")]
    async with ScriptedServer(*pages) as server, client_of(server, timeout=0.2) as client:
        found = await source_of(client).list()
        assert [item.cache_key for item in found.items] == [*"abcdefg"]
        assert [int(json.loads(request.body)["limit"]) for request in server.requests[1:3]] == [16, 1]


# --- watches ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [1, 2, 10, 13, 15])
async def test_a_watch_is_resumed_after_an_error_with_an_unknown_outcome(code: int):
    frame = json.dumps({"error": {"code": code, "message": "stream terminated"}}).encode()
    seen, error = await changes(line(events=[put("a", 8)]), chunk(frame + b"\n"), HANG)
    assert seen == ["a"]
    assert isinstance(error, ConnectionLostError), "an informer would list again after any other error"


async def test_a_write_with_an_unknown_outcome_is_not_reported_as_refused():
    async with ScriptedServer(failed(500, 13, "internal")) as server, client_of(server) as client:
        with pytest.raises(ConnectionLostError):
            await EtcdStore(client, "/p/", Item).put("a", Item(1))


async def test_the_events_before_a_damaged_one_are_delivered():
    damaged: dict[str, Any] = {"kv": {**put("b", 9)["kv"], "mod_revision": "x"}}
    seen, error = await changes(line(events=[put("a", 8)]) + line(events=[damaged]) + line(events=[put("c", 10)]), HANG)
    assert seen == ["a"]
    assert isinstance(error, ProtocolError)
    assert "revision 'x'" in str(error)


async def test_events_that_are_sent_again_reach_no_handler():
    frames = [line(events=[put("a", 8), put("b", 9)]), line(events=[put("a", 8)]), line(events=[put("c", 10)])]
    seen, _ = await changes(*frames, b"0\r\n\r\n")
    assert seen == ["a", "b", "c"]


async def test_a_message_of_many_events_is_delivered_in_batches_of_whole_revisions():
    events = [put(f"n{number}", 8 + number // 150) for number in range(4000)]
    frame = json.dumps({"result": {"events": events}}).encode() + b"\n"
    batches: list[list[str]] = []
    async with (
        ScriptedServer([*CREATED, chunk(frame), HANG], listed()) as server,
        client_of(server) as client,
        source_of(client).watch(resource_version="7") as watch,
    ):
        async for batch in watch.batches():
            batches.append([event.object.resource_version for event in batch])
            if sum(map(len, batches)) == 4000:
                break
    assert max(map(len, batches)) < 2200, "the event loop was blocked for a whole message"
    assert len({version for batch in batches for version in {*batch}}) == sum(len({*batch}) for batch in batches)


async def test_the_events_before_the_end_of_a_cancelled_watch_are_delivered():
    seen, error = await changes(line(events=[put("a", 8)]) + line(canceled=True, compact_revision="9"), HANG)
    assert seen == ["a"]
    assert isinstance(error, ExpiredError)

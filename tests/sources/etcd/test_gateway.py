"""What the client does with the responses of etcd's gateway, of several versions, as scripted bytes."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import msgspec
import pytest

from listwatch.cache import Keyed
from listwatch.errors import (
    APIError,
    ConnectionLostError,
    ExpiredError,
    ForbiddenError,
    ListWatchError,
    ProtocolError,
    RequestEntityTooLargeError,
    ResponseTooLargeError,
    TooManyRequestsError,
    TransportError,
    TransportTimeoutError,
    UnauthorizedError,
    UsageError,
)
from listwatch.sources.etcd import EtcdClient, EtcdListWatch, EtcdStore
from listwatch.sources.etcd.gateway_errors import MemberUnavailableError, error_of
from listwatch.testing import ScriptedServer
from listwatch.testing.scripted_server import CLOSE, HANG, RESET, chunk, respond, stream_head


class Item(Keyed, msgspec.Struct):
    value: int


def text(value: str) -> str:
    return base64.b64encode(value.encode()).decode()


def listed(revision: int = 7) -> bytes:
    return respond(200, json.dumps({"header": {"revision": str(revision), "cluster_id": "1"}}).encode())


def failed(status: int, code: int, message: str, *, old: bool = False) -> bytes:
    body: dict[str, Any] = {"code": code, "message": message}
    return respond(status, json.dumps({"error": message, **body} if old else body).encode())


def line(**result: Any) -> bytes:
    return chunk(json.dumps({"result": {"header": {"revision": "7", "cluster_id": "1"}, **result}}).encode() + b"\n")


def put(name: str, revision: int) -> dict[str, Any]:
    value = text('{"value":1}')
    kv = {"key": text(f"/p/{name}"), "value": value, "mod_revision": str(revision), "create_revision": str(revision)}
    return {"kv": kv}


CREATED = [stream_head(), line(created=True)]


def client_of(*servers: ScriptedServer, timeout: float = 10.0, **options: str) -> EtcdClient:
    class First:
        """Starts with the first member."""

        def randrange(self, _: int) -> int:
            return 0

    return EtcdClient([server.url for server in servers], timeout=timeout, random=First(), **options)  # type: ignore[arg-type]  # only this method is called


def source_of(client: EtcdClient) -> EtcdListWatch[Item]:
    return EtcdListWatch(client, "/p/", Item)


# --- failover ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        failed(400, 9, "etcdserver: rpc not supported for learner"),
        failed(503, 14, "etcdserver: rpc not supported for learner", old=True),
        failed(503, 14, "etcdserver: no leader"),
        failed(503, 14, "etcdserver: request timed out"),
        failed(504, 4, "context deadline exceeded"),
        failed(400, 11, "etcdserver: mvcc: required revision is a future revision"),
        RESET,
        CLOSE,
    ],
)
async def test_a_read_goes_to_the_next_member(reply):
    async with ScriptedServer(reply) as first, ScriptedServer(listed()) as second, client_of(first, second) as client:
        assert (await source_of(client).list()).resource_version == "7"
        assert len(first.requests) == len(second.requests) == 1


async def test_a_write_that_was_not_processed_goes_to_the_next_member():
    refused = failed(503, 14, "etcdserver: no leader")
    async with ScriptedServer(refused) as first, ScriptedServer(listed()) as second, client_of(first, second) as client:
        assert (await EtcdStore(client, "/p/", Item).put("a", Item(1))).resource_version == "7"


@pytest.mark.parametrize("reply", [RESET, failed(503, 14, "etcdserver: request timed out")])
async def test_a_write_that_may_have_been_processed_is_not_repeated(reply):
    async with ScriptedServer(reply) as first, ScriptedServer(listed()) as second, client_of(first, second) as client:
        store = EtcdStore(client, "/p/", Item)
        with pytest.raises(ConnectionLostError):
            await store.put("a", Item(1))
        assert len(second.requests) == 0
        await store.put("a", Item(1))
        assert len(second.requests) == 1, "the next request goes to the next member"


async def test_the_last_error_is_raised_when_all_members_fail():
    refused = failed(503, 14, "etcdserver: no leader")
    async with ScriptedServer(refused) as first, ScriptedServer(refused) as second, client_of(first, second) as client:
        with pytest.raises(ConnectionLostError, match="no leader"):
            await source_of(client).list()


async def test_a_silent_member_is_left_after_the_timeout():
    async with (
        ScriptedServer(HANG) as first,
        ScriptedServer(listed()) as second,
        client_of(first, second, timeout=0.2) as client,
    ):
        assert (await source_of(client).list()).resource_version == "7"


async def test_requests_that_fail_together_skip_a_member_once():
    refused = failed(503, 14, "etcdserver: no leader")
    async with (
        ScriptedServer(refused, refused) as first,
        ScriptedServer(listed(), listed(), listed()) as second,
        ScriptedServer() as third,
        client_of(first, second, third) as client,
    ):
        source = source_of(client)
        await asyncio.gather(source.list(), source.list())
        await source.list()
        assert (len(first.requests), len(second.requests), len(third.requests)) == (2, 3, 0)


# --- login ------------------------------------------------------------------------------------------------------------

TOKEN = respond(200, b'{"token":"abc.14"}')
BOB = {"username": "bob", "password": "secret"}


async def test_the_token_is_sent_bare_and_kept():
    async with ScriptedServer(TOKEN, listed(), listed()) as server, client_of(server, **BOB) as client:
        await source_of(client).list()
        await source_of(client).list()
        assert [request.target for request in server.requests] == [
            "/v3/auth/authenticate",
            "/v3/kv/range",
            "/v3/kv/range",
        ]
        assert server.requests[1].headers["authorization"] == "abc.14"


@pytest.mark.parametrize(
    "refused",
    [
        failed(401, 16, "etcdserver: invalid auth token"),
        failed(400, 3, "etcdserver: user name is empty"),
        failed(401, 16, "etcdserver: revision of auth store is old", old=True),
    ],
)
async def test_a_rejected_token_is_renewed_once(refused):
    again = respond(200, b'{"token":"def.15"}')
    async with ScriptedServer(TOKEN, refused, again, listed()) as server, client_of(server, **BOB) as client:
        await source_of(client).list()
        assert server.requests[-1].headers["authorization"] == "def.15"
    async with ScriptedServer(TOKEN, refused, again, refused) as server, client_of(server, **BOB) as client:
        with pytest.raises(UnauthorizedError):
            await source_of(client).list()


async def test_disabled_authentication_needs_no_token():
    disabled = failed(400, 9, "etcdserver: authentication is not enabled")
    async with ScriptedServer(disabled, listed(), listed()) as server, client_of(server, **BOB) as client:
        await source_of(client).list()
        await source_of(client).list()
        assert len(server.requests) == 3
        assert "authorization" not in server.requests[1].headers


def test_a_user_needs_a_password():
    with pytest.raises(UsageError, match="username and password together"):
        EtcdClient(username="bob")
    with pytest.raises(UsageError, match="endpoints is empty"):
        EtcdClient([])


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "message", "kind"),
    [
        (11, "etcdserver: mvcc: required revision has been compacted", ExpiredError),
        (11, "etcdserver: mvcc: required revision is a future revision", MemberUnavailableError),
        (3, "etcdserver: request is too large", RequestEntityTooLargeError),
        (8, "grpc: received message larger than max (10500011 vs. 2097152)", RequestEntityTooLargeError),
        (8, "etcdserver: too many requests", TooManyRequestsError),
        (8, "etcdserver: mvcc: database space exceeded", APIError),
        (7, "etcdserver: permission denied", ForbiddenError),
        (3, "etcdserver: authentication failed, invalid user ID or password", UnauthorizedError),
        (14, "error reading from server: EOF", ConnectionLostError),
        (14, "etcdserver: no leader", MemberUnavailableError),
    ],
)
def test_errors_are_recognized_by_code_and_message(code, message, kind):
    error = error_of(code, message, "range", "host")
    assert isinstance(error, kind)
    assert message in str(error)


@pytest.mark.parametrize(
    "reply",
    [
        respond(404, b"404 page not found", headers={"Content-Type": "text/plain"}),
        respond(404, b'{"code":5,"message":""}'),
        respond(401, b'{"kind":"Status","code":401,"message":"Unauthorized"}'),
        respond(200, b"<html></html>"),
        respond(200, b"{}"),
        respond(200, b"[]"),
        respond(200, b""),
    ],
)
async def test_a_server_that_is_not_etcd_is_a_protocol_error(reply):
    async with ScriptedServer(reply) as server, client_of(server) as client:
        with pytest.raises(ProtocolError, match="etcd's JSON gateway"):
            await source_of(client).list()


# --- watches ----------------------------------------------------------------------------------------------------------


async def changes(*steps: bytes | object, check: bytes | None = None) -> tuple[list[str], ListWatchError | None]:
    """The names in the events of a scripted watch from revision 7, and the error that ended it."""
    seen: list[str] = []
    async with ScriptedServer([*CREATED, *steps], check or listed()) as server, client_of(server) as client:
        try:
            async with source_of(client).watch(resource_version="7") as watch:
                async for event in watch:
                    seen.append(event.object.cache_key or f"bookmark {event.object.resource_version}")
        except ListWatchError as error:
            return seen, error
    return seen, None


async def test_messages_arrive_in_pieces_of_any_size():
    whole = json.dumps({"result": {"events": [put("a", 8), put("b", 9)]}}).encode() + b"\n"
    pieces = [chunk(whole[start : start + 7]) for start in range(0, len(whole), 7)]
    last = chunk(b'{"error":{"code":14,"message":"the end"}}'), b"0\r\n\r\n"
    seen, error = await changes(*pieces, line(events=[put("c", 10)]), line(header={"revision": "12"}), *last)
    assert seen == ["a", "b", "c", "bookmark 12"]
    assert "the end" in str(error)


@pytest.mark.parametrize(
    "frame",
    [
        b'{"error":{"code":14,"message":"error reading from server: EOF"}}\n',
        b'{"error":{"grpc_code":14,"http_code":503,"message":"error reading from server: EOF"}}',
    ],
)
async def test_a_stream_that_etcd_ends_can_be_resumed(frame: bytes):
    seen, error = await changes(line(events=[put("a", 8)]), chunk(frame), b"0\r\n\r\n")
    assert seen == ["a"]
    assert isinstance(error, TransportError), "an informer resumes after a TransportError and lists after any other"
    assert "EOF" in str(error)


@pytest.mark.parametrize("end", [b"0\r\n\r\n", RESET, CLOSE])
async def test_a_stream_that_ends_without_an_error_can_be_resumed(end):
    _, error = await changes(line(events=[put("a", 8)]), end)
    assert isinstance(error, TransportError)


async def test_a_message_without_an_end_is_rejected_at_the_limit():
    endless = [chunk(b" " * 2**20)] * 18
    async with (
        ScriptedServer([*CREATED, *endless, HANG], listed()) as server,
        client_of(server) as client,
        source_of(client).watch(resource_version="7") as watch,
    ):
        with pytest.raises(ResponseTooLargeError, match=r"a message of the watch has more than 16,777,216 bytes"):
            await asyncio.wait_for(anext(watch), 10)


async def test_events_of_an_incomplete_message_are_not_delivered():
    end = chunk(b'{"error":{"code":14,"message":"the end"}}'), b"0\r\n\r\n"
    seen, error = await changes(line(events=[put("a", 8), put("b", 9)], fragment=True), *end)
    assert seen == ["a"], "b may be a part of its revision"
    assert isinstance(error, ConnectionLostError)


async def test_a_compacted_watch_has_expired_though_the_connection_stays_open():
    seen, error = await changes(line(canceled=True, compact_revision="12"), HANG)
    assert seen == []
    assert isinstance(error, ExpiredError)


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        (failed(400, 11, "etcdserver: mvcc: required revision has been compacted"), "compacted"),
        (failed(400, 11, "etcdserver: mvcc: required revision is a future revision"), "restored from a backup"),
    ],
)
async def test_a_revision_that_is_not_in_the_history_has_expired(check: bytes, reason: str):
    _, error = await changes(HANG, check=check)
    assert isinstance(error, ExpiredError)
    assert reason in str(error)


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("rpc error: code = PermissionDenied desc = etcdserver: permission denied", ForbiddenError),
        ("rpc error: code = Unauthenticated desc = etcdserver: invalid auth token", UnauthorizedError),
        ("rpc error: code = InvalidArgument desc = etcdserver: user name is empty", UnauthorizedError),
    ],
)
async def test_a_refused_watch_is_tried_once_with_a_new_token(reason: str, kind: type[Exception]):
    refused = [stream_head(), line(created=True, canceled=True, watch_id="-1", cancel_reason=reason), HANG]
    again = respond(200, b'{"token":"def.15"}')
    async with (
        ScriptedServer(TOKEN, refused, again, [*CREATED, HANG], listed()) as server,
        client_of(server, **BOB) as client,
        source_of(client).watch(resource_version="7"),
    ):
        assert server.requests[3].headers["authorization"] == "def.15"
    async with ScriptedServer(TOKEN, refused, again, refused) as server, client_of(server, **BOB) as client:
        with pytest.raises(kind):
            async with source_of(client).watch(resource_version="7"):
                pass


async def test_a_watch_that_is_not_confirmed_times_out():
    async with ScriptedServer([stream_head(), HANG]) as server, client_of(server, timeout=0.2) as client:
        with pytest.raises(TransportTimeoutError):
            async with source_of(client).watch(resource_version="7"):
                pass


async def test_a_watch_opens_at_the_next_member():
    behind = failed(503, 14, "etcdserver: rpc not supported for learner", old=True)
    async with (
        ScriptedServer(behind) as first,
        ScriptedServer([*CREATED, line(events=[put("a", 8)]), HANG], listed()) as second,
        client_of(first, second) as client,
    ):
        async with source_of(client).watch(resource_version="7") as watch:
            assert (await anext(watch)).object.cache_key == "a"
        create = json.loads(second.requests[0].body)["create_request"]
        assert create["start_revision"] == "8"
        assert create["fragment"] is create["prev_kv"] is create["progress_notify"] is True
        assert second.requests[0].headers["grpc-metadata-hasleader"] == "true"


@pytest.mark.parametrize(
    ("probe", "kind"),
    [
        (failed(503, 14, "etcdserver: no leader"), ConnectionLostError),
        (listed(3), ExpiredError),
        (failed(403, 7, "etcdserver: permission denied"), ForbiddenError),
    ],
)
async def test_a_member_that_does_not_serve_a_read_ends_the_watch(probe: bytes, kind: type[Exception]):
    async with ScriptedServer([*CREATED, HANG], listed(), probe) as server, client_of(server) as client:
        source = EtcdListWatch(client, "/p/", Item, probe_interval=0.01)
        with pytest.raises(kind):
            async with source.watch(resource_version="7") as watch:
                await anext(watch)


# --- progress ---------------------------------------------------------------------------------------------------------


def version(text: str) -> bytes:
    return respond(200, json.dumps({"etcdserver": text, "etcdcluster": "3.5.0"}).encode())


def progress(revision: int) -> bytes:
    return line(header={"revision": str(revision), "cluster_id": "1"}, watch_id="-1")


def watches_of(server: ScriptedServer) -> list[bytes]:
    return [request.body for request in server.requests if request.target == "/v3/watch"]


async def test_an_idle_watch_requests_its_progress_on_a_new_stream():
    during_opening = asyncio.Event()
    successor = [during_opening, *CREATED, line(events=[put("a", 8)]), progress(10), line(events=[put("b", 11)]), HANG]
    script = [[*CREATED, line(events=[put("a", 8)]), HANG], listed(), listed(10), version("3.6.16"), successor]
    async with ScriptedServer(*script, otherwise=listed(10)) as server, client_of(server) as client:
        # The event of the first stream arrives after the first probe has started to open the second one.
        source = EtcdListWatch(client, "/p/", Item, probe_interval=0.01)
        async with source.watch(resource_version="7") as watch:
            await server.wait_requests(5)
            assert (await anext(watch)).object.cache_key == "a"
            during_opening.set()
            bookmark, change = await anext(watch), await anext(watch)
        assert (bookmark.type, bookmark.object.resource_version) == ("BOOKMARK", "10")
        assert (change.object.cache_key, change.object.resource_version) == ("b", "11")
        create, *requests = watches_of(server)[1].replace(b"}{", b"}\n{").splitlines()
        assert json.loads(create)["create_request"]["start_revision"] == "8"
        assert {*requests} == {b'{"progress_request":{}}'}


@pytest.mark.parametrize("found", [version("3.5.1"), version("3.5.7"), version("3.6.0-rc.1"), respond(404, b"")])
async def test_progress_is_not_requested_where_it_may_be_ahead_of_the_events(found: bytes):
    script = [[*CREATED, HANG], listed(), listed(10), found]
    async with ScriptedServer(*script, otherwise=listed(10)) as server, client_of(server) as client:
        source = EtcdListWatch(client, "/p/", Item, probe_interval=0.01)
        async with source.watch(resource_version="7"):
            await server.wait_requests(8)
        assert len(watches_of(server)) == 1


async def test_a_watch_continues_if_its_progress_cannot_be_requested():
    refused = asyncio.Event()
    compacted = [stream_head(), line(created=True, canceled=True, compact_revision="9"), HANG]
    first = [*CREATED, refused, line(events=[put("a", 11)]), HANG]
    script = [first, listed(), listed(10), version("3.6.16"), compacted]
    async with ScriptedServer(*script, otherwise=listed(10)) as server, client_of(server) as client:
        source = EtcdListWatch(client, "/p/", Item, probe_interval=0.01)
        async with source.watch(resource_version="7") as watch:
            await server.wait_requests(6)
            refused.set()
            assert (await anext(watch)).object.cache_key == "a"


async def test_closing_a_watch_closes_the_stream_that_was_to_replace_it():
    first = [*CREATED, line(events=[put("a", 8)]), HANG]
    script = [first, listed(), listed(10), version("3.6.16"), [*CREATED, HANG]]
    async with ScriptedServer(*script, otherwise=listed(10)) as server:
        async with client_of(server) as client:
            source = EtcdListWatch(client, "/p/", Item, probe_interval=0.01)
            async with source.watch(resource_version="7"):
                await server.wait_requests(7)
            [member] = client._gateway.members
            assert all(stream.is_closed for stream in member.transport._streams)
        await server.wait_all_closed()

"""Requests over real connections to a scripted server. Waits take no time; the clock records them."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from listwatch.client.config.client_config import ClientConfig, ServerWarning
from listwatch.client.rest.rate_limiter import TokenBucket
from listwatch.client.rest.request import Request
from listwatch.client.rest.rest_client import RESTClient
from listwatch.client.rest.streams import ByteStream
from listwatch.client.transport.aiohttp_transport import AiohttpTransport
from listwatch.errors import (
    APIError,
    ConnectionLostError,
    ConnectRefusedError,
    DecodeError,
    ForbiddenError,
    InternalServerError,
    NotFoundError,
    ServiceUnavailableError,
    StreamIdleError,
    TooManyRequestsError,
    TransportError,
    TransportTimeoutError,
    UnauthorizedError,
    UsageError,
)
from listwatch.models.core_v1 import ConfigMap, Pod, PodList
from listwatch.models.meta_v1 import APIResourceList
from listwatch.objects.unstructured import Unstructured
from listwatch.tasks.cooperative import run_sliced
from listwatch.tasks.retry_observer import observing_retries
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

POD = b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0","namespace":"default"},"spec":{"nodeName":"n1"}}'


def again(status: int = 429, seconds: int = 1) -> bytes:
    return respond(status, b"{}", headers={"Retry-After": str(seconds)})


def client(server: ScriptedServer, clock: InstantClock | None = None, **options: Any) -> RESTClient:
    """Waits before retries take no time; the connections keep real time."""
    config = ClientConfig(host=server.url, **options)
    return RESTClient(config, clock=clock or InstantClock(), transport=AiohttpTransport(config))


async def other_turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


# --- Responses -------------------------------------------------------------------------------------------------------


async def test_a_pod_is_read_as_a_pod():
    async with ScriptedServer(respond(200, POD)) as server, client(server) as rest:
        pod = (await rest.get().namespace("default").resource("pods").name("web-0").do()).into(Pod)
    assert isinstance(pod, Pod)
    assert (pod.name, pod.spec.node_name) == ("web-0", "n1")
    assert server.requests[0].target == "/api/v1/namespaces/default/pods/web-0"
    assert server.requests[0].headers["accept"] == "application/json, */*"


async def test_a_response_can_be_decoded_as_several_types():
    items = b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[%s]}' % POD
    resources = b'{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","verbs":["get"]}]}'
    async with (
        ScriptedServer(respond(201, POD), respond(200, items), respond(200, resources)) as server,
        client(server) as rest,
    ):
        created = await rest.post().namespace("default").resource("pods").body({}).do()
        listed = await rest.get().resource("pods").do()
        discovered = await rest.get().do()
    assert (created.status_code, created.was_created, listed.was_created) == (201, True, False)
    assert created.raw == POD
    assert created.into(Unstructured)["spec"] == {"nodeName": "n1"}
    assert created.into(dict)["kind"] == "Pod"
    assert created.headers["content-type"] == "application/json"
    assert [pod.name for pod in listed.into(PodList)] == ["web-0"]
    assert listed.into_list(Pod).resource_version == "7"
    assert discovered.into(APIResourceList).resources[0].verbs == ["get"]
    assert repr(listed) == f"<Result of GET /api/v1/pods: 200, {len(items)} bytes>"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (respond(200, b"<html>", headers={"Content-Type": "text/html"}), "its Content-Type is text/html"),
        (respond(200, b'{"items":{}}'), "items: expected array, got object"),
        (respond(200, POD), "expected a list, got Pod without items"),
    ],
)
async def test_the_error_of_an_invalid_list_names_the_request(reply: bytes, reason: str):
    async with ScriptedServer(reply, reply, reply) as server, client(server) as rest:
        result = await rest.get().resource("pods").do()
        with pytest.raises(DecodeError, match=rf"^GET /api/v1/pods as a list: .*{reason}"):
            result.into_list(Pod)
        with pytest.raises(DecodeError, match=rf"^GET /api/v1/pods as PodList: .*{reason}"):
            result.into(PodList)
        with pytest.raises(DecodeError, match=rf"^GET /api/v1/pods as a list: .*{reason}"):
            await run_sliced(result._decode_list_sliced(Pod))


@pytest.mark.parametrize(
    ("reply", "kind", "message"),
    [
        (respond(200, POD), ConfigMap, "GET /api/v1 as ConfigMap: the response is a Pod of v1"),
        (respond(200, b'{"kind":"Status","status":"Success"}'), Pod, "the response is a Status of no version"),
        (respond(200), Pod, r"the response \(status 200\) is empty"),
        (respond(200), dict, "is empty"),
        (respond(200), PodList, "is empty"),
        (respond(200, POD), PodList, "got Pod without items"),
        (respond(200, b"<html>", headers={"Content-Type": "text/html"}), Pod, "its Content-Type is text/html"),
        (respond(200, b"<html>", headers={"Content-Type": "text/html"}), dict, "its Content-Type is text/html"),
        (respond(200, POD[:-3]), Pod, "truncated"),
    ],
)
async def test_a_response_of_another_kind_is_an_error(reply: Reply, kind: type[Any], message: str):
    async with ScriptedServer(reply) as server, client(server) as rest:
        result = await rest.get().do()
    with pytest.raises(DecodeError, match=message):
        result.into(kind)


async def test_a_response_cannot_be_decoded_as_an_unknown_type():
    async with ScriptedServer(respond(200, POD)) as server, client(server) as rest:
        result = await rest.get().do()
    with pytest.raises(UsageError, match="cannot be decoded as <class 'int'>"):
        result.into(int)


async def test_an_error_response_is_raised_with_the_request():
    status = b'{"kind":"Status","status":"Failure","message":"pods \\"a\\" not found","reason":"NotFound","code":404}'
    async with (
        ScriptedServer(respond(404, status, headers={"Audit-Id": "id-7"})) as server,
        client(server) as rest,
    ):
        with pytest.raises(NotFoundError) as caught:
            await rest.get().namespace("x").resource("pods").name("a").param("b", "c").do()
    assert str(caught.value) == 'GET /api/v1/namespaces/x/pods/a: pods "a" not found (NotFound, 404)'
    assert caught.value.request_id == "id-7"


async def test_raw_bytes_are_the_received_body():
    async with (
        ScriptedServer(respond(200, b"ok", headers={"Content-Type": "text/plain"})) as server,
        client(server) as rest,
    ):
        assert await rest.get().abs_path("/healthz").do_raw() == b"ok"


async def test_a_request_can_be_sent_more_than_once():
    async with ScriptedServer(otherwise=respond(200, POD)) as server, client(server) as rest:
        request = rest.get().resource("pods")
        await request.do()
        await request.do()
    assert [received.target for received in server.requests] == ["/api/v1/pods"] * 2


async def test_warnings_reach_the_handler_and_the_result():
    reported: list[ServerWarning] = []
    headers = {"Warning": '299 - "deprecated", 199 - "other"'}
    replies = [
        respond(200, POD, headers=headers),
        respond(404, headers=headers),
        [stream_head(headers=headers), LAST_CHUNK],
    ]
    async with ScriptedServer(*replies) as server, client(server, warning_handler=reported.append) as rest:
        result = await rest.get().do()
        with pytest.raises(NotFoundError):
            await rest.get().do()
        await rest.get().stream().read_all()
    expected = ServerWarning(299, "-", "deprecated")
    assert result.warnings == (expected,)
    assert reported == [expected] * 3


# --- Trying again ----------------------------------------------------------------------------------------------------

VERBS = ["GET", "POST", "PUT", "DELETE", "PATCH"]
MODES: dict[str, Callable[[Request], Any]] = {
    "do": lambda request: request.do(),
    "do_raw": lambda request: request.do_raw(),
    "stream": lambda request: request.stream().read_all(),
    "watch": lambda request: first_event(request),
}


async def first_event(request: Request) -> Any:
    return await anext(request.watch(Pod), None)


ALWAYS, NEVER = set(MODES), set[str]()
NOT_STREAMS = ALWAYS - {"stream"}
PARTIAL_HEAD = [b"HTTP/1.1 200 OK\r\nContent-Type: ", CLOSE]

CONDITIONS: list[tuple[str, list[str], Reply, set[str]]] = [
    ("429 with a time", VERBS, again(429, 0), ALWAYS),
    ("503 with a time", VERBS, again(503, 0), ALWAYS),
    ("500 with a time", VERBS, again(500, 5), ALWAYS),
    ("500 without a time", VERBS, respond(500), NEVER),
    ("429 without a time", VERBS, respond(429), NEVER),
    ("503 with a date", VERBS, respond(503, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}), NEVER),
    ("reset", ["GET"], RESET, NOT_STREAMS),
    ("closed before the response", ["GET"], CLOSE, NOT_STREAMS),
    ("closed in the head", ["GET"], PARTIAL_HEAD, NOT_STREAMS),
    ("reset", ["POST", "PUT", "DELETE", "PATCH"], RESET, {"watch"}),
    ("closed before the response", ["POST", "PUT", "DELETE", "PATCH"], CLOSE, {"watch"}),
    ("no HTTP", VERBS, [b"nonsense\r\n\r\n", CLOSE], NEVER),
    ("200", VERBS, respond(200, b""), NEVER),
    ("301 with a time", VERBS, respond(301, headers={"Retry-After": "0"}), NEVER),
    ("404 with a time", VERBS, respond(404, headers={"Retry-After": "0"}), NEVER),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("verb", "reply", "is_retried_in"),
    [
        pytest.param(verb, reply, modes, id=f"{name}-{verb}")
        for name, verbs, reply, modes in CONDITIONS
        for verb in verbs
    ],
)
async def test_a_request_is_retried_under_these_conditions_only(
    mode: str, verb: str, reply: Reply, is_retried_in: set[str]
):
    async with ScriptedServer(otherwise=reply) as server, client(server) as rest:
        with suppress(APIError, TransportError):
            await MODES[mode](rest.verb(verb).namespace("a").resource("pods").max_retries(2))
        assert len(server.requests) == (3 if mode in is_retried_in else 1)
        assert rest.statistics().requests == len(server.requests)


@pytest.mark.parametrize("mode", MODES)
async def test_a_refused_connection_is_not_retried(mode: str):
    async with ScriptedServer() as server:
        pass
    async with client(server) as rest:
        with pytest.raises(ConnectRefusedError):
            await MODES[mode](rest.get().resource("pods"))
        assert rest.statistics().failures == 1


@pytest.mark.parametrize(("retries", "tries"), [(None, 11), (0, 1), (-3, 1), (2, 3)])
async def test_a_request_fails_after_the_maximum_number_of_retries(retries: int | None, tries: int):
    clock = InstantClock()
    async with ScriptedServer(otherwise=again(429, 7)) as server, client(server, clock) as rest:
        request = rest.post().namespace("a").resource("pods").body({"a": 1})
        if retries is not None:
            request.max_retries(retries)
        with pytest.raises(TooManyRequestsError) as caught:
            await request.do()
    assert caught.value.retry_after == 7
    assert [received.body for received in server.requests] == [b'{"a":1}'] * tries
    assert clock.slept == [7.0] * (tries - 1)
    assert server.connections == 1


@pytest.mark.parametrize("mode", ["do", "do_raw", "stream", "watch"])
async def test_a_request_succeeds_after_several_retries(mode: str):
    clock = InstantClock()
    event = b'{"type":"ADDED","object":%s}\n' % POD
    replies = [again(429, 3), again(503, 1), again(500, 0), respond(200, event)]
    async with ScriptedServer(*replies) as server, client(server, clock) as rest:
        got = await MODES[mode](rest.get().resource("pods"))
        statistics = rest.statistics()
    assert got is not None
    assert clock.slept == [3.0, 1.0, 0.0]
    assert (statistics.requests, statistics.retries) == (4, 3)
    assert statistics.responses == {429: 1, 503: 1, 500: 1, 200: 1}


async def test_reads_are_retried_after_a_lost_connection():
    clock = InstantClock()
    replies = [RESET, CLOSE, [respond(200, POD)[:-5], CLOSE], respond(200, POD)]
    async with ScriptedServer(*replies) as server, client(server, clock) as rest:
        result = await rest.get().resource("pods").do()
        assert rest.statistics().failures == 3
    assert result.raw == POD
    assert clock.slept == [1.0, 1.0, 1.0]


async def test_the_last_error_has_a_note_about_an_earlier_one():
    async with ScriptedServer(CLOSE, [b"nonsense\r\n\r\n", CLOSE]) as server, client(server) as rest:
        with pytest.raises(TransportError) as caught:
            await rest.get().do()
    [note] = caught.value.__notes__
    assert "an earlier attempt failed too: " in note
    assert "closed the connection without a response" in note


async def test_a_repeated_error_has_no_note():
    async with ScriptedServer(otherwise=CLOSE) as server, client(server) as rest:
        with pytest.raises(ConnectionLostError) as caught:
            await rest.get().max_retries(1).do()
    assert not hasattr(caught.value, "__notes__")


async def test_retries_are_logged(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO, "listwatch")
    async with ScriptedServer(again(429, 2), respond(200, POD)) as server, client(server, token="c4n4ry") as rest:
        await rest.get().resource("pods").do()
    [record] = caplog.records
    assert record.getMessage() == (
        "GET /api/v1/pods: the server responded with status 429; attempt 1 failed, retrying in 2 s"
    )


async def test_many_requests_are_retried_concurrently():
    replies: list[Reply] = [again(429, 1)] * 30
    async with ScriptedServer(*replies, otherwise=respond(200, POD)) as server, client(server) as rest:
        results = await asyncio.gather(*(rest.get().resource("pods").do() for _ in range(20)))
    assert {result.raw for result in results} == {POD}
    assert len(server.requests) == 50


# --- Time ------------------------------------------------------------------------------------------------------------


async def test_each_attempt_has_the_timeout_of_the_config():
    clock = VirtualClock()
    async with (
        ScriptedServer(again(429, 50), HANG) as server,
        RESTClient(ClientConfig(host=server.url, timeout=20), clock=clock) as rest,
    ):
        doing = asyncio.create_task(rest.get().do())
        await server.wait_requests(1)
        await clock.advance(50)
        await server.wait_requests(2)
        await clock.advance(19)
        assert not doing.done()
        await clock.advance(1)
        with pytest.raises(TransportTimeoutError, match="no response within 20 s"):
            await doing


async def test_a_timeout_covers_all_attempts():
    clock = VirtualClock()
    async with (
        ScriptedServer(again(429, 6), HANG) as server,
        RESTClient(ClientConfig(host=server.url, timeout=1), clock=clock) as rest,
    ):
        doing = asyncio.create_task(rest.get().timeout(10).do())
        await server.wait_requests(1)
        await clock.advance(6)
        await server.wait_requests(2)
        await clock.advance(3.9)
        assert not doing.done()
        await clock.advance(0.1)
        with pytest.raises(TransportTimeoutError, match="no response within 4 s"):
            await doing
    assert server.requests[0].target == "/api/v1?timeout=10s"


async def test_a_retry_that_would_come_too_late_is_not_waited_for():
    clock = InstantClock()
    async with ScriptedServer(otherwise=again(503, 30)) as server, client(server, clock) as rest:
        with pytest.raises(ServiceUnavailableError) as caught:
            await rest.get().timeout(20).do()
    assert caught.value.retry_after == 30
    assert clock.slept == []


@pytest.mark.parametrize(
    ("options", "delay"), [({}, 60.0), ({"max_retry_after": 5.0}, 5.0), ({"max_retry_after": None}, 86400.0)]
)
async def test_a_long_retry_after_is_shortened(options: dict[str, Any], delay: float):
    clock = InstantClock()
    async with ScriptedServer(again(429, 86400), respond(200, POD)) as server, client(server, clock, **options) as rest:
        await rest.get().do()
    assert clock.slept == [delay]


@pytest.mark.parametrize("mode", ["stream", "watch"])
async def test_the_timeout_of_a_stream_covers_the_retries_before_it_starts(mode: str):
    clock = InstantClock()
    async with ScriptedServer(otherwise=again(503, 30)) as server, client(server, clock) as rest:
        with pytest.raises(ServiceUnavailableError):
            await MODES[mode](rest.get().resource("pods").timeout(20))
    assert clock.slept == []


async def test_an_observer_is_notified_of_each_retry_and_may_delay_it(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO, "listwatch")
    clock, observed = InstantClock(), []

    def observe(error: Exception, delay: float) -> float:
        observed.append((type(error), delay))
        return 7.0

    async with ScriptedServer(again(429, 3), CLOSE, respond(200, POD)) as server, client(server, clock) as rest:
        with observing_retries(observe):
            await rest.get().do()
    assert not [each for each in caplog.records if each.name != "asyncio"]  # the observer reports them
    assert observed == [(TooManyRequestsError, 3.0), (ConnectionLostError, 1.0)]
    assert clock.slept == [7.0, 7.0]


async def test_a_long_wait_is_logged_as_a_warning_when_it_begins(caplog: pytest.LogCaptureFixture):
    async with ScriptedServer(again(429, 86400), respond(200, POD)) as server, client(server) as rest:
        await rest.get().resource("pods").do()
    (record,) = [each for each in caplog.records if each.name != "asyncio"]
    assert record.levelname == "WARNING"
    assert record.getMessage().endswith("status 429; attempt 1 failed, retrying in 60 s (Retry-After: 86400 s)")


async def test_a_wait_before_a_retry_can_be_cancelled():
    clock = VirtualClock()
    async with ScriptedServer(otherwise=again(429, 3600)) as server:
        config = ClientConfig(host=server.url)
        async with RESTClient(config, clock=clock, transport=AiohttpTransport(config)) as rest:
            doing = asyncio.create_task(rest.get().do())
            await clock.wait_asleep()
            doing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await doing
    assert len(server.requests) == 1


# --- The client's own limit ------------------------------------------------------------------------------------------


class CountingLimiter:
    """Delays no caller, but reports `waited` seconds, and counts the calls."""

    def __init__(self, waited: float = 0.0) -> None:
        self.waited = waited
        self.passed = 0

    async def wait(self) -> float:
        self.passed += 1
        return self.waited


@pytest.mark.parametrize(("mode", "tokens"), [("do", 3), ("do_raw", 3), ("stream", 3), ("watch", 2)])
async def test_every_attempt_takes_a_token_except_the_first_of_a_watch(mode: str, tokens: int):
    limiter = CountingLimiter()
    async with ScriptedServer(again(), again(), respond(200, b"")) as server:
        config = ClientConfig(host=server.url)
        async with RESTClient(
            config, clock=InstantClock(), transport=AiohttpTransport(config), rate_limiter=limiter
        ) as rest:
            await MODES[mode](rest.get().resource("pods"))
    assert limiter.passed == tokens


async def test_the_config_limits_the_rate_of_all_group_versions_together():
    clock = InstantClock()
    async with (
        ScriptedServer(otherwise=respond(200, POD)) as server,
        client(server, clock, qps=2, burst=1) as rest,
    ):
        apps = rest.for_group_version("apps/v1")
        await rest.get().do()
        await apps.get().do()
        await rest.get().do()
        statistics = rest.statistics()
    assert clock.slept == [0.5, 0.5]
    assert (statistics.throttled, statistics.throttled_seconds) == (2, 1.0)
    assert statistics == apps.statistics()


async def test_there_is_no_rate_limit_by_default():
    clock = InstantClock()
    async with ScriptedServer(otherwise=respond(200, POD)) as server, client(server, clock) as rest:
        for _ in range(30):
            await rest.get().do()
    assert clock.slept == []


async def test_long_throttling_is_logged_at_intervals(caplog: pytest.LogCaptureFixture):
    clock, limiter = InstantClock(), CountingLimiter(waited=1.5)
    async with ScriptedServer(otherwise=respond(200, POD)) as server:
        config = ClientConfig(host=server.url)
        async with RESTClient(config, clock=clock, transport=AiohttpTransport(config), rate_limiter=limiter) as rest:
            for pause in (0, 9, 0.9, 0.1):
                await clock.sleep(pause)
                await rest.get().resource("pods").do()
            limiter.waited = 1.0
            await clock.sleep(100)
            await rest.get().do()
    text = "GET /api/v1/pods was throttled for 1.5 s by the client's rate limiter (qps, burst)"
    assert [record.getMessage() for record in caplog.records] == [text, f"{text} (3 times since the last line)"]


# --- Streams ---------------------------------------------------------------------------------------------------------


async def test_a_log_is_read_as_it_grows():
    go_on = asyncio.Event()
    head = stream_head(headers={"Content-Type": "text/plain"})
    async with (
        ScriptedServer([head, chunk(b"one\ntw"), go_on, chunk(b"o\nthree"), LAST_CHUNK]) as server,
        client(server) as rest,
        rest.get().namespace("a").resource("pods").name("b").subresource("log").stream() as log,
    ):
        assert log.headers["Content-Type"] == "text/plain"
        lines = log.lines()
        assert await anext(lines) == b"one"
        assert rest.statistics().open_streams == 1
        go_on.set()
        assert [line async for line in lines] == [b"two", b"three"]
        assert log.is_closed
        assert rest.statistics().open_streams == 0
    assert server.requests[0].target == "/api/v1/namespaces/a/pods/b/log"


async def test_a_stream_sends_its_request_when_it_is_first_read():
    async with ScriptedServer(respond(200, b"abc")) as server, client(server) as rest:
        stream = rest.get().stream()
        assert repr(stream) == "<ByteStream, not open yet>"
        assert server.requests == []
        assert b"".join([piece async for piece in stream]) == b"abc"
        assert repr(stream) == "<ByteStream, closed>"


async def test_a_rejected_stream_raises_when_it_is_entered():
    body = b'{"kind":"Status","status":"Failure","code":400,"message":"a container name must be specified"}'
    async with (
        ScriptedServer(respond(400, body), respond(401), respond(500)) as server,
        client(server) as rest,
    ):
        with pytest.raises(APIError, match="a container name must be specified"):
            async with rest.get().stream():
                pass
        with pytest.raises(UnauthorizedError):
            await rest.get().stream().read()
        with pytest.raises(InternalServerError):
            await rest.get().stream().read_all()


async def test_leaving_a_stream_closes_its_connection():
    async with ScriptedServer([stream_head(), chunk(b"a"), HANG]) as server, client(server) as rest:
        async with rest.get().stream() as stream:
            assert await stream.read() == b"a"
        assert await stream.read() == b""
        await server.wait_all_closed()


async def test_an_unreferenced_stream_closes_its_connection():
    async with ScriptedServer([stream_head(), chunk(b"a"), HANG]) as server, client(server) as rest:
        async for _ in rest.get().stream():
            break
        await server.wait_all_closed()


async def test_a_stream_that_is_closed_while_it_opens_never_opens():
    async with ScriptedServer(HANG) as server, client(server) as rest:
        stream = rest.get().stream()
        reading = asyncio.create_task(stream.read())
        await server.wait_requests(1)
        stream.close()
        stream.close()
        assert await reading == b""
        await server.wait_all_closed()


async def test_a_stream_that_was_cancelled_while_opening_is_requested_again_on_read():
    async with ScriptedServer(HANG, respond(200, b"abc")) as server, client(server) as rest:
        stream = rest.get().stream()
        opening = asyncio.create_task(stream.open())
        await server.wait_requests(1)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        await server.wait_all_closed()
        assert await stream.read() == b"abc"


@pytest.mark.parametrize("reply", [HANG, [stream_head(), HANG]], ids=["opening", "reading"])
async def test_a_second_reader_of_a_stream_fails_and_the_first_continues(reply: Reply):
    async with ScriptedServer(reply) as server, client(server) as rest, asyncio.TaskGroup() as tasks:
        stream = rest.get().stream()
        reading = tasks.create_task(stream.read())
        await server.wait_requests(1)
        await other_turns()
        with pytest.raises(UsageError, match="another task is already reading this stream"):
            await stream.read()
        assert not stream.is_closed
        assert not reading.done()
        stream.close()


async def test_an_idle_stream_fails_only_with_an_idle_timeout():
    clock = VirtualClock()
    async with (
        ScriptedServer(otherwise=[stream_head(), HANG]) as server,
        RESTClient(ClientConfig(host=server.url), clock=clock) as rest,
    ):
        patient, impatient = rest.get().stream(), rest.get().stream(idle_timeout=30)
        async with patient, impatient:
            waiting, silent = asyncio.create_task(patient.read()), asyncio.create_task(impatient.read())
            await clock.advance(30)
            with pytest.raises(StreamIdleError, match="no data for 30 s"):
                await silent
            await clock.advance(10_000)
            assert not waiting.done()
            patient.close()
            assert await waiting == b""


async def test_a_stream_is_not_read_after_it_was_closed():
    async with ScriptedServer(respond(200, b"abc")) as server, client(server) as rest:
        stream = rest.get().stream()
        await stream.aclose()
        assert await stream.read() == b""
        assert server.requests == []
    assert isinstance(stream, ByteStream)


# --- Life ------------------------------------------------------------------------------------------------------------


async def test_a_client_for_another_group_version_is_closed_with_the_first():
    async with ScriptedServer(otherwise=respond(200, POD)) as server:
        rest = client(server)
        apps = rest.for_group_version("apps/v1")
        await apps.get().resource("deployments").do()
        await apps.aclose()
        await rest.get().resource("pods").do()
        assert (apps.group_version, rest.group_version) == ("apps/v1", "v1")
        assert apps.config is rest.config
        await rest.aclose()
        with pytest.raises(UsageError, match="the client is closed"):
            await apps.get().do()
    assert [request.target for request in server.requests] == ["/apis/apps/v1/deployments", "/api/v1/pods"]
    assert server.connections == 1


async def test_a_client_is_created_without_an_event_loop_and_closed_without_use():
    rest = await asyncio.to_thread(lambda: RESTClient(ClientConfig(host="http://127.0.0.1:1")))
    await rest.aclose()
    await rest.aclose()
    assert rest.statistics().requests == 0


@pytest.mark.parametrize("reply", [HANG, [respond(200, POD)[:-1], HANG], again(seconds=3600)], ids=["0", "1/2", "429"])
async def test_closing_a_client_ends_its_requests_at_once(reply: Reply):
    async with ScriptedServer(reply) as server:
        config = ClientConfig(host=server.url, timeout=None)
        rest = RESTClient(config, clock=VirtualClock(), transport=AiohttpTransport(config))
        request = asyncio.create_task(rest.get().resource("pods").do())
        await server.wait_requests(1)
        await other_turns()
        await asyncio.gather(rest.aclose(), rest.aclose())
        with pytest.raises(ConnectionLostError, match="GET /api/v1/pods: the client was closed during the request"):
            await request
        await server.wait_all_closed()


@pytest.mark.parametrize("reply", [HANG, again(seconds=3600)], ids=["no response", "429"])
async def test_closing_a_client_ends_a_watch_that_is_being_opened(reply: Reply):
    async with ScriptedServer(reply) as server:
        config = ClientConfig(host=server.url, timeout=None)
        rest = RESTClient(config, clock=VirtualClock(), transport=AiohttpTransport(config))
        watching = asyncio.create_task(anext(rest.get().resource("pods").watch(), None))
        await server.wait_requests(1)
        await other_turns()
        await rest.aclose()
        with pytest.raises(ConnectionLostError, match="the client was closed during the request"):
            await watching
        await server.wait_all_closed()


async def test_closing_a_client_ends_a_pending_tls_handshake():
    async with ScriptedServer(greeting=HANG) as server:
        rest = RESTClient(ClientConfig(host=server.url.replace("http:", "https:"), insecure_skip_tls_verify=True))
        request = asyncio.create_task(rest.get().do())
        await server.wait_connections(1)
        await rest.aclose()
        with pytest.raises(ConnectionLostError, match="the client was closed during the request"):
            await request
        await server.wait_all_closed()


async def test_closing_a_client_ends_requests_that_are_throttled():
    clock = VirtualClock()
    bucket = TokenBucket(qps=1, burst=1, clock=clock)
    await bucket.wait()
    rest = RESTClient(ClientConfig(host="http://127.0.0.1:1"), clock=clock, rate_limiter=bucket)
    request = asyncio.create_task(rest.get().do())
    await clock.wait_asleep()
    await rest.aclose()
    with pytest.raises(ConnectionLostError, match="the client was closed during the request"):
        await request


async def test_a_client_works_after_a_forbidden_response():
    async with ScriptedServer(respond(403), respond(200, POD)) as server, client(server) as rest:
        with pytest.raises(ForbiddenError):
            await rest.get().do()
        assert (await rest.get().do()).raw == POD
    assert server.connections == 1

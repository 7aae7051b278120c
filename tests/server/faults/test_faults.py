"""Fault injection: first which requests a fault affects, then its effects over HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator
from random import Random

import aiohttp
import pytest
from tests.server.caller import CONFIG_MAPS, Caller, brief, config_map, next_chunk, raw_watch

from listwatch.errors import (
    ForbiddenError,
    InternalServerError,
    ServiceUnavailableError,
    TooManyRequestsError,
    UsageError,
)
from listwatch.server.api_server import APIServer
from listwatch.server.faults.faults import (
    CutStream,
    Delay,
    DropBookmarks,
    DropResponse,
    Expire,
    Fail,
    Fault,
    FaultInjector,
    HoldEvents,
    Refuse,
)
from listwatch.server.faults.request_log import LoggedRequest, RequestLog, RequestRecorder
from listwatch.testing.clocks import VirtualClock

# Which requests


def logged(method: str = "GET", path: str = "/api/v1/pods", verb: str = "list", **more: str) -> LoggedRequest:
    return LoggedRequest(method, path, verb=verb, **{"resource": "pods", **more})


def strikes(faults: FaultInjector, request: LoggedRequest) -> bool:
    return bool(faults.begin(request).faults)


@pytest.mark.parametrize(
    "criteria",
    [
        {},
        {"verb": "list"},
        {"resource": "p*", "method": "GET"},
        {"user": "system:*", "user_agent": "kubectl/?.*"},
        {"namespace": "default", "name": "web-0", "path": "/api/*"},
        {"group": "", "subresource": ""},
    ],
)
def test_a_fault_affects_requests_that_match_all_criteria(criteria: dict[str, str]):
    faults = FaultInjector(Random().random)
    faults.add(Fault(Refuse(), **criteria))
    request = logged(user="system:admin", user_agent="kubectl/1.2", namespace="default", name="web-0")
    assert strikes(faults, request)


@pytest.mark.parametrize("criteria", [{"verb": "get"}, {"resource": "pod"}, {"verb": "list", "namespace": "default"}])
def test_a_fault_does_not_affect_requests_that_fail_one_criterion(criteria: dict[str, str]):
    faults = FaultInjector(Random().random)
    faults.add(Fault(Refuse(), **criteria))
    assert not strikes(faults, logged())


def test_a_fault_skips_and_counts_matching_requests_only():
    faults = FaultInjector(Random().random)
    fault = faults.add(Fault(Refuse(), verb="list", skip=1, times=2))
    struck = [strikes(faults, logged(verb=verb)) for verb in ("list", "get", "list", "get", "list", "list")]
    assert struck == [False, False, True, False, True, False]
    assert faults.hits(fault) == 2


def test_random_faults_are_reproducible_with_a_seed():
    def run(seed: int) -> list[bool]:
        faults = FaultInjector(Random(seed).random)
        faults.add(Fault(Refuse(), probability=0.5))
        return [strikes(faults, logged()) for _ in range(50)]

    assert run(1) == run(1) != run(2)
    assert 10 < sum(run(1)) < 40


def test_a_removed_fault_affects_no_requests():
    faults = FaultInjector(Random().random)
    first, second = faults.add(Fault(Refuse())), faults.add(Fault(Refuse(), verb="get"))
    faults.remove(first)
    assert not strikes(faults, logged())
    assert strikes(faults, logged(verb="get"))
    faults.remove(second)
    faults.remove(second)
    assert len(faults) == 0


def test_faults_of_watches_do_not_count_other_requests():
    faults = FaultInjector(Random().random)
    faults.add(Fault(CutStream(), times=1))
    assert not strikes(faults, logged())
    assert strikes(faults, logged(verb="watch"))


def test_a_fault_affects_open_watches_and_no_closed_ones():
    faults = FaultInjector(Random().random)
    changes = []
    plans = [faults.begin(logged(verb="watch", user=user)) for user in ("a", "b", "b")]
    for plan in plans:
        plan.on_change = lambda: changes.append("changed")
    faults.end(plans[2])
    fault = faults.add(Fault(HoldEvents(), user="b"))
    assert [bool(plan.find(HoldEvents)) for plan in plans] == [False, True, False]
    faults.remove(fault)
    assert plans[1].find(HoldEvents) is None
    assert changes == ["changed", "changed"]


def test_delays_add_up():
    faults = FaultInjector(Random().random)
    faults.add(Fault(Delay(1.0)))
    faults.add(Fault(Delay(0.5), verb="list"))
    assert faults.begin(logged()).delay == 1.5


@pytest.mark.parametrize(
    "make",
    [
        lambda: Fault("refuse"),
        lambda: Fault(Refuse(), times=0),
        lambda: Fault(Refuse(), skip=-1),
        lambda: Fault(Refuse(), probability=1.5),
        lambda: Fault(Refuse(), resources="pods"),
    ],
)
def test_an_invalid_fault_is_rejected(make):
    with pytest.raises(UsageError):
        make()


def test_the_log_keeps_the_latest_requests():
    recorder = RequestRecorder(max_requests=2)
    log = RequestLog(recorder)
    for name in ("a", "b", "c"):
        recorder.add(logged(name=name))
    assert [request.name for request in log] == ["b", "c"]
    assert (len(log), log.total, log[-1].name) == (2, 3, "c")
    log.clear()
    assert len(log) == 0


# Effects over HTTP


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


async def test_a_refused_request_is_reset_and_not_handled(server: APIServer, call: Caller):
    server.faults.add(Fault(Refuse(), method="POST", resource="configmaps", times=1))
    with pytest.raises(aiohttp.ClientConnectionError):
        await call.create("a")
    assert (await call("GET", f"{CONFIG_MAPS}/a")).status == 404
    await call.create("a")


async def test_a_request_with_a_dropped_response_is_handled_and_reset(server: APIServer, call: Caller):
    server.faults.add(Fault(DropResponse(), verb="create", times=1))
    with pytest.raises(aiohttp.ClientConnectionError):
        await call.create("a")
    assert (await call("GET", f"{CONFIG_MAPS}/a")).status == 200
    [lost] = server.requests.matching(verb="create")
    assert (lost.status, lost.is_finished) == (0, True)


@pytest.mark.parametrize(
    "error",
    [
        TooManyRequestsError("slow down", retry_after=7),
        InternalServerError("broken"),
        ServiceUnavailableError("later"),
        ForbiddenError.of("configmaps", "a", "no"),
    ],
)
async def test_a_request_fails_with_the_error_of_the_fault(server: APIServer, call: Caller, error):
    server.faults.add(Fault(Fail(error), verb="get", times=1))
    reply = await call("GET", f"{CONFIG_MAPS}/a")
    assert (reply.status, reply.json["reason"], reply.json["message"]) == (error.code, error.reason, error.message)
    assert reply.headers.get("Retry-After") == ("7" if error.retry_after else None)
    assert (await call("GET", f"{CONFIG_MAPS}/a")).status == 404


async def test_a_delayed_request_is_handled_after_the_delay(server: APIServer, call: Caller, clock: VirtualClock):
    server.faults.add(Fault(Delay(5.0), verb="create"))
    creating = asyncio.create_task(call.create("a"))
    await clock.wait_asleep()
    assert (await call("GET", f"{CONFIG_MAPS}/a")).status == 404
    await clock.advance(5.0)
    await creating
    assert (await call("GET", f"{CONFIG_MAPS}/a")).status == 200


async def test_a_stop_does_not_wait_for_a_delay(clock: VirtualClock):
    async with APIServer(clock=clock) as server, Caller(server) as call:
        server.faults.add(Fault(Delay(5.0), verb="create"))
        creating = asyncio.create_task(call.create("a"))
        await clock.wait_asleep()
        await server.stop()
        with pytest.raises(aiohttp.ClientConnectionError):
            await creating


async def test_a_list_expires_by_a_fault(server: APIServer, call: Caller):
    server.faults.add(Fault(Expire(), verb="list", times=1))
    reply = await call("GET", CONFIG_MAPS)
    assert (reply.status, reply.json["reason"]) == (410, "Expired")


async def test_a_watch_expires_before_it_begins_or_while_it_is_open(server: APIServer, call: Caller):
    async with call.watch() as events:
        expired = server.faults.add(Fault(Expire(), verb="watch"))
        [error] = await events.rest()
    async with call.watch(f"resourceVersion={server.revision}") as events:
        assert await events.rest() == [error | {"object": error["object"]}]
    assert (error["type"], error["object"]["code"], error["object"]["reason"]) == ("ERROR", 410, "Expired")
    assert server.faults.hits(expired) == 2


async def test_a_stream_is_cut_after_so_many_events(server: APIServer, call: Caller):
    server.faults.add(Fault(CutStream(after_events=2), verb="watch", times=1))
    async with call.watch() as events:
        await asyncio.gather(*(call.create(name) for name in ("a", "b", "c")))
        await events.some(2)
        with pytest.raises(aiohttp.ClientPayloadError):
            await events.response.content.readline()
    [record] = await server.wait_for_requests(1, until="finished", verb="watch")
    assert record.events == 2


@pytest.mark.parametrize("size", [1, 17, 200, 300])
async def test_a_stream_is_cut_after_so_many_bytes(server: APIServer, call: Caller, size: int):
    server.faults.add(Fault(CutStream(after_bytes=size), verb="watch", times=1))
    async with raw_watch(server, "resourceVersion=1") as reader:
        await call.create("a")
        received = await next_chunk(reader)
        if len(received) < size:
            await call.create("b")
            received += await next_chunk(reader)
        assert len(received) == size
        assert await reader.read() == b""  # and no mark of an end


async def test_an_open_stream_can_be_cut_now(server: APIServer, call: Caller):
    async with call.watch() as events:
        await call.create("a")
        await events.some(1)
        server.faults.add(Fault(CutStream(), verb="watch", times=1))
        with pytest.raises(aiohttp.ClientPayloadError):
            await events.response.content.readline()


async def test_dropped_bookmarks_are_not_sent(server: APIServer, call: Caller, clock: VirtualClock):
    server.faults.add(Fault(DropBookmarks(), verb="watch"))
    query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=100"
    async with call.watch(query) as events:
        await call.create("a")
        await clock.advance(100.0)
        assert [brief(event) for event in await events.rest()] == [("ADDED", "a")]


async def test_one_client_has_a_stale_view_until_it_is_released(server: APIServer):
    token = server.issue_token("stale")
    async with (
        Caller(server) as fresh,
        Caller(server, token=token) as stale,
        fresh.watch() as all_events,
        stale.watch() as late_events,
    ):
        held = server.faults.add(Fault(HoldEvents(), user="stale"))
        await fresh.create("a")
        await fresh.create("b")
        assert await all_events.some(2) == [("ADDED", "a"), ("ADDED", "b")]
        server.faults.remove(held)
        await fresh.create("c")
        assert await late_events.some(3) == [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")]


async def test_held_events_are_sent_in_one_piece(server: APIServer, call: Caller):
    held = server.faults.add(Fault(HoldEvents(), verb="watch"))
    async with raw_watch(server) as reader:
        for name in ("a", "b", "c"):
            await call.create(name)
        server.faults.remove(held)
        chunk = await next_chunk(reader)
    assert [brief(json.loads(line))[1] for line in chunk.splitlines()] == ["a", "b", "c"]


# The log


async def test_the_log_has_user_verb_resource_and_status(server: APIServer):
    async with Caller(server, User_Agent="tool/1") as call:
        await call("POST", CONFIG_MAPS, config_map("a"))
        await call("GET", f"{CONFIG_MAPS}?limit=5")
        await call("GET", "/apis/apps/v1/namespaces/default/deployments/web/scale")
        await call("GET", "/version")
    async with Caller(server, token="unknown") as call:
        await call("GET", "/api/v1/pods")
    facts = [(each.method, each.verb, each.resource, each.name, each.user, each.status) for each in server.requests]
    admin = "listwatch-admin"
    assert facts == [
        ("POST", "create", "configmaps", "", admin, 201),
        ("GET", "list", "configmaps", "", admin, 200),
        ("GET", "get", "deployments", "web", admin, 404),
        ("GET", "get", "", "", admin, 200),
        ("GET", "list", "", "", "", 401),
    ]
    listed, scaled = server.requests[1], server.requests[2]
    assert (listed.query.text("limit"), listed.user_agent, listed.namespace) == ("5", "tool/1", "default")
    assert (scaled.group, scaled.version, scaled.subresource) == ("apps", "v1", "scale")
    assert all(each.is_finished for each in server.requests)


async def test_the_log_can_be_waited_for(server: APIServer, call: Caller):
    waiting = asyncio.create_task(server.wait_for_requests(2, verb="list", resource="configmaps"))
    for path in (CONFIG_MAPS, "/api/v1/pods", CONFIG_MAPS):
        assert not waiting.done()
        await call("GET", path)
    assert [request.path for request in await waiting] == [CONFIG_MAPS, CONFIG_MAPS]


def test_an_unknown_verb_is_rejected():
    with pytest.raises(UsageError, match="no request has the verb 'wach'; the verbs are get, list, watch"):
        Fault(Refuse(), verb="wach")
    with pytest.raises(UsageError, match="'WATCH'"):
        RequestLog(RequestRecorder()).matching(verb="WATCH")
    assert Fault(Refuse(), verb="delete*").matches(logged(verb="deletecollection"))

"""A server that replays a recording, over HTTP: with a virtual clock, as fast as it can, or step by step."""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.server.caller import CONFIG_MAPS, Caller, Events
from tests.server.replay.script import STREAMED, Script, config_map

from listwatch.errors import ConfigError, UsageError
from listwatch.server import APIServer, Playback
from listwatch.testing.clocks import VirtualClock

ALL = "/api/v1/configmaps"


@asynccontextmanager
async def replay(
    script: Script, folder: Path, *, clock: VirtualClock | None = None, **options: Any
) -> AsyncIterator[tuple[APIServer, Caller]]:
    playback = Playback(script.save(folder), **options)
    async with APIServer(replay=playback, clock=clock) as server, Caller(server) as call:
        yield server, call


def versions(tree: Any) -> dict[str, str]:
    return {each["metadata"]["name"]: each["metadata"]["resourceVersion"] for each in tree["items"]}


def brief(event: Any) -> tuple[str, str, str]:
    metadata = event["object"]["metadata"]
    return event["type"], metadata.get("name", ""), metadata["resourceVersion"]


async def briefly(events: Events, count: int) -> list[tuple[str, str, str]]:
    return [brief(await events.next()) for _ in range(count)]


def churn() -> Script:
    """A list of two config maps, and ten seconds later three changes and a bookmark."""
    script = Script()
    script.list(10, config_map("a", 4), config_map("b", 7))
    stream = script.watch({"resourceVersion": "10", "allowWatchBookmarks": "true"})
    script.now = 10.0
    stream.send(("ADDED", config_map("c", 12)), ("MODIFIED", config_map("a", 15)))
    stream.send(("DELETED", config_map("b", 16)))
    stream.bookmark(20)
    script.now = 20.0
    stream.end("closed")
    return script


# --- Time


@pytest.mark.parametrize(("speed", "seconds"), [(1, 10.0), (4, 2.5), (0.5, 20.0)])
async def test_changes_happen_at_their_time_divided_by_the_speed(tmp_path: Path, speed: float, seconds: float):
    clock = VirtualClock()
    async with replay(churn(), tmp_path, clock=clock, speed=speed) as (server, call):
        await clock.advance(seconds - 0.01)
        before = (await call("GET", ALL)).json
        await clock.advance(0.02)
        after = (await call("GET", ALL)).json
        assert (versions(before), before["metadata"]["resourceVersion"]) == ({"a": "4", "b": "7"}, "10")
        assert (versions(after), after["metadata"]["resourceVersion"]) == ({"a": "15", "c": "12"}, "20")
        await clock.advance(10 / speed)
        assert server.playback.is_finished
        assert server.playback.position == 20.0


async def test_a_watch_gets_the_recorded_events_versions_and_bookmarks(tmp_path: Path):
    async with (
        replay(churn(), tmp_path, speed=math.inf, wait_for_watches=1) as (_, call),
        call.watch("resourceVersion=10&allowWatchBookmarks=true", path=ALL) as events,
    ):
        changes = [("ADDED", "c", "12"), ("MODIFIED", "a", "15"), ("DELETED", "b", "16")]
        assert await briefly(events, 4) == [*changes, ("BOOKMARK", "", "20")]


async def test_a_client_that_joins_late_gets_a_consistent_state(tmp_path: Path):
    # What is skipped is played before the server listens: no client sees a state in between.
    async with replay(churn(), tmp_path, clock=VirtualClock(), start_at=15, paused=True) as (server, call):
        assert server.playback.position == 10.0
        async with call.watch("&".join(f"{key}={value}" for key, value in STREAMED.items()), path=ALL) as events:
            assert await briefly(events, 3) == [("ADDED", "a", "15"), ("ADDED", "c", "12"), ("BOOKMARK", "", "20")]
        async with call.watch("resourceVersion=12", path=ALL) as events:
            assert await briefly(events, 2) == [("MODIFIED", "a", "15"), ("DELETED", "b", "16")]
        async with call.watch("resourceVersion=9", path=ALL) as events:
            assert (await events.next())["object"]["code"] == 410  # before the recording


async def test_a_paused_playback_goes_on_step_by_step(tmp_path: Path):
    async with (
        replay(churn(), tmp_path, paused=True) as (server, call),
        call.watch("resourceVersion=10", path=ALL) as events,
    ):
        server.playback.step()
        assert await briefly(events, 2) == [("ADDED", "c", "12"), ("MODIFIED", "a", "15")]
        assert versions((await call("GET", ALL)).json) == {"a": "15", "b": "7", "c": "12"}
        server.playback.speed = math.inf
        server.playback.resume()
        await server.playback.wait_finished()
        assert await briefly(events, 1) == [("DELETED", "b", "16")]


async def test_time_does_not_pass_for_a_paused_playback(tmp_path: Path):
    clock = VirtualClock()
    async with replay(churn(), tmp_path, clock=clock) as (server, call):
        await clock.advance(4)
        server.playback.pause()
        await clock.advance(100)
        server.playback.resume()
        await clock.advance(5.9)
        assert versions((await call("GET", ALL)).json) == {"a": "4", "b": "7"}
        await clock.advance(0.2)
        assert versions((await call("GET", ALL)).json) == {"a": "15", "c": "12"}


async def test_a_server_that_is_started_again_plays_from_the_beginning(tmp_path: Path):
    async with replay(churn(), tmp_path, speed=math.inf) as (server, _):
        await server.playback.wait_finished()
        assert server.revision == 20
        await server.stop()
        await server.start()
        async with Caller(server) as call:
            await server.playback.wait_finished()
            assert versions((await call("GET", ALL)).json) == {"a": "15", "c": "12"}


async def test_waiting_for_the_end_is_an_error_if_the_server_stops_before(tmp_path: Path):
    async with replay(churn(), tmp_path, paused=True) as (server, _):
        waiting = asyncio.create_task(server.playback.wait_finished())
        await asyncio.sleep(0)
        await server.stop()
        with pytest.raises(UsageError, match="stopped before all of the recording was played"):
            await waiting


# --- Requests


async def test_reads_are_served_and_everything_else_is_refused(tmp_path: Path):
    async with replay(churn(), tmp_path, paused=True) as (server, call):
        assert (await call("GET", f"{CONFIG_MAPS}/a")).json["data"] == {"at": "4"}
        page = (await call("GET", f"{ALL}?limit=1")).json
        assert page["metadata"]["continue"]
        assert versions(page) == {"a": "4"}
        assert versions((await call("GET", f"{ALL}?fieldSelector=metadata.name=b")).json) == {"b": "7"}
        created = await call("POST", CONFIG_MAPS, config_map("x", 1))
        assert created.status == 405
        assert "replays the recording" in created.json["message"]
        assert (await call("DELETE", f"{CONFIG_MAPS}/a")).status == 405
        missing = await call("GET", "/api/v1/pods")
        assert missing.status == 404
        assert "does not contain pods in v1; it has configmaps" in missing.json["message"]
        assert [each["name"] for each in (await call("GET", "/api/v1")).json["resources"]] == ["configmaps"]
        with pytest.raises(UsageError, match="replays a recording"):
            await server.import_yaml("")


async def test_custom_resources_are_served_by_their_recorded_names(tmp_path: Path):
    script = Script()
    metadata = {"name": "w", "uid": "w", "resourceVersion": "3"}
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, "spec": {"size": 1}}
    place = {"group": "example.com", "version": "v1", "resource": "widgets"}
    script.list(5, widget, kind="WidgetList", api_version="example.com/v1", **place)
    async with replay(script, tmp_path, speed=math.inf) as (_, call):
        [found] = (await call("GET", "/apis/example.com/v1")).json["resources"]
        assert (found["name"], found["kind"], found["namespaced"]) == ("widgets", "Widget", False)
        listed = (await call("GET", "/apis/example.com/v1/widgets")).json
        assert listed["kind"] == "WidgetList"
        assert listed["items"] == [widget]
        assert (await call("GET", "/apis/example.com/v1/widgets/w")).json == widget


async def test_the_state_at_a_moment_can_be_changed_on_another_server(tmp_path: Path):
    async with replay(churn(), tmp_path, speed=math.inf) as (server, _):
        await server.playback.wait_finished()
        async with APIServer(snapshot=server.snapshot()) as other, Caller(other) as call:
            patch = {"data": {"at": "now"}}
            changed = await call("PATCH", f"{CONFIG_MAPS}/a", patch, content_type="application/merge-patch+json")
            assert changed.status == 200
            assert changed.json["data"] == {"at": "now"}


# --- Failures


async def test_requests_fail_from_a_recorded_failure_to_the_next_success(tmp_path: Path):
    script = churn()
    script.now = 30.0
    script.fail("list", 503, "ServiceUnavailable", retry_after=3)
    script.fail_to_connect("watch")
    script.now = 40.0
    script.list(30, config_map("a", 15))
    clock = VirtualClock()
    async with replay(script, tmp_path, clock=clock) as (server, call):
        assert (await call("GET", ALL)).status == 200
        await clock.advance(30.5)
        failed = await call("GET", ALL)
        assert (failed.status, failed.json["reason"], failed.headers["Retry-After"]) == (503, "ServiceUnavailable", "3")
        with pytest.raises(aiohttp.ClientConnectionError):
            async with call.watch(path=ALL):
                pass
        assert (await call("GET", f"{CONFIG_MAPS}/a")).status == 200
        await clock.advance(10)
        assert versions((await call("GET", ALL)).json) == {"a": "15"}
        assert server.playback.is_finished
        assert not server.faults


async def test_failures_that_last_until_the_end_end_with_the_recording(tmp_path: Path):
    script = churn()
    script.fail("list", 403, "Forbidden", namespace="default")
    async with replay(script, tmp_path, speed=math.inf) as (server, call):
        await server.playback.wait_finished()
        assert (await call("GET", CONFIG_MAPS)).status == 200


async def test_a_recorded_410_expires_the_watches_of_the_resource_and_a_list_shows_what_was_missed(tmp_path: Path):
    script = churn()
    script.now = 30.0
    script.fail("watch", 410, "Expired")
    script.now = 31.0
    script.list(50, config_map("a", 15), config_map("d", 45))
    async with replay(script, tmp_path, paused=True) as (server, call):
        server.playback.step(5)
        async with call.watch("resourceVersion=10", path=ALL) as events:
            assert (await briefly(events, 3))[2] == ("DELETED", "b", "16")
            server.playback.step()
            server.playback.step()  # the body of the response, and its end
            assert (await events.next())["object"]["code"] == 410
            assert await events.rest() == []
        async with call.watch("resourceVersion=20", path=ALL) as events:
            assert (await events.next())["object"]["reason"] == "Expired"
        listed = (await call("GET", ALL)).json
        assert versions(listed) == {"a": "15", "c": "12"}
        async with call.watch(f"resourceVersion={listed['metadata']['resourceVersion']}", path=ALL) as events:
            server.playback.step(2)
            assert await briefly(events, 2) == [("ADDED", "d", "45"), ("DELETED", "c", "50")]


@pytest.mark.parametrize(
    ("how", "seconds", "ends"), [("lost", 0, "cut"), ("complete", 0, "end"), ("complete", 300, "")]
)
async def test_streams_end_as_they_did_except_by_their_timeout(tmp_path: Path, how: Any, seconds: int, ends: str):
    script = Script()
    script.list(10, config_map("a", 4))
    stream = script.watch({"resourceVersion": "10", "timeoutSeconds": "300"})
    stream.send(("ADDED", config_map("b", 11)))
    script.now = float(seconds)
    stream.end(how)
    script.watch({"resourceVersion": "11"}).send(("ADDED", config_map("c", 12)))
    async with (
        replay(script, tmp_path, speed=math.inf, wait_for_watches=1) as (_, call),
        call.watch("resourceVersion=10", path=ALL) as events,
    ):
        assert await briefly(events, 1) == [("ADDED", "b", "11")]
        if ends == "cut":
            with pytest.raises(aiohttp.ClientPayloadError):
                await events.rest()
        elif ends:
            assert await events.rest() == []
        else:
            assert await briefly(events, 1) == [("ADDED", "c", "12")]


# --- Files


async def test_a_damaged_recording_is_played_up_to_the_damage(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    file = churn().save(tmp_path)
    file.write_bytes(file.read_bytes() + file.read_bytes()[:-5])
    async with APIServer(replay=Playback(file, speed=math.inf)) as server:
        await server.playback.wait_finished()
        assert server.revision == 20
    assert "its last part is incomplete" in caplog.text


async def test_a_server_does_not_start_with_a_file_that_is_no_recording(tmp_path: Path):
    (file := tmp_path / "notes.txt").write_text("nothing")
    for wrong in (file, tmp_path / "missing"):
        server = APIServer(replay=wrong)
        with pytest.raises(ConfigError, match=str(wrong)):
            await server.start()


@pytest.mark.parametrize("options", [{"data_dir": "x"}, {"simulate": True}, {"authorization": "rbac"}])
def test_a_replay_excludes_other_sources_of_objects(options: Any):
    with pytest.raises(UsageError, match="cannot be combined"):
        APIServer(replay="incident.lwrec", **options)


@pytest.mark.parametrize("speed", [0, -1, math.nan])
def test_a_speed_is_positive(speed: float):
    with pytest.raises(UsageError, match="speed"):
        Playback("incident.lwrec", speed=speed)

"""The demo: its story on a real embedded server, as lines and as a live view."""

from __future__ import annotations

import io
from random import Random

import pytest
from rich.console import Console

from listwatch.cli.scenario.demo import play_demo
from listwatch.cli.scenario.demo_view import DemoView, summary_lines
from listwatch.cli.scenario.story import ACTS, Stage, Summary
from listwatch.cli.scenario.workload import Workload
from listwatch.client.resources.client_set import ClientSet
from listwatch.clock import SystemClock
from listwatch.errors import ExpiredError
from listwatch.server import APIServer


async def test_without_a_terminal_the_story_is_printed_as_lines_and_ends_with_a_summary() -> None:
    out = io.StringIO()
    assert await play_demo(Console(file=out, width=200), speed=20.0) == 0
    lines = out.getvalue().splitlines()
    assert "\x1b" not in out.getvalue()
    for number, act in enumerate(ACTS, start=1):
        assert any(line.startswith(f"{number}. {act.title}. ") for line in lines)
    assert lines[-1].startswith("Try next: ")
    summary = dict(line.strip().split(": ", 1) for line in lines[lines.index("Summary") + 1 :] if line)
    assert summary["lists"].startswith("4 by stream, 1 of them a relist; the reason: ")
    assert "equal to the server" in summary["stores"]
    assert any("DELETED" in line and "missed; found by the relist" in line for line in lines)


async def test_on_a_terminal_a_live_view_is_drawn_and_the_summary_remains() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=120, height=40, legacy_windows=False, _environ={})
    assert await play_demo(console, speed=20.0) == 0
    drawn = out.getvalue()
    assert "\x1b[?1049h" in drawn
    assert "Reflector" in drawn
    _, left, after = drawn.partition("\x1b[?1049l")
    assert left
    assert "what was seen" in after
    assert "Try next: " in after


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40), (200, 60)])
async def test_the_view_fits_the_terminal(size: tuple[int, int]) -> None:
    async with APIServer() as server, ClientSet(server.config) as client:
        stage = Stage(server, client, clock=SystemClock(), speed=50.0)
        await stage.prepare()
        async with stage.running():
            await stage._sync()
            await stage.workload.start("web:1")
            out = io.StringIO()
            Console(file=out, width=size[0], height=size[1], force_terminal=False).print(DemoView(stage), end="")
    lines = out.getvalue().rstrip("\n").split("\n")
    assert len(lines) <= size[1]
    assert all(len(line) <= size[0] for line in lines)


async def test_a_workload_ends_with_its_pods_running_and_its_owners_counting_them() -> None:
    async def pause(_seconds: float) -> None:
        pass

    async with APIServer() as server, ClientSet(server.config) as client:
        workload = Workload(client, "web", replicas=2, pause=pause, random=Random(1))
        await workload.start("web:1")
        await workload.update("web:2")
        pods = await client.core_v1.pods("default").list()
        assert [pod.status.phase for pod in pods] == ["Running", "Running"]
        assert {pod.spec.containers[0].image for pod in pods} == {"web:2"}
        deployment = await client.apps_v1.deployments("default").get("web")
        assert deployment.status.ready_replicas == 2
        assert len(await client.apps_v1.replicasets("default").list()) == 1
        await workload.remove()
        assert not await client.core_v1.pods("default").list()


async def test_the_story_can_be_played_again_after_a_reset() -> None:
    async with APIServer() as server, ClientSet(server.config) as client:
        stage = Stage(server, client, clock=SystemClock(), speed=50.0)
        await stage.prepare()
        async with stage.running():
            await stage._sync()
            await stage.workload.start("web:1")
            await stage._cut_the_watch()
            await stage.reset()
            assert [pod.name for pod in stage.pods.indexer] == ["db-0"]
            await stage.workload.start("web:1")
            assert not (await stage.summary()).differences
            assert len(server.faults) == 0


def test_the_summary_names_a_store_that_differs() -> None:
    summary = Summary(
        seconds=1.0,
        events=10,
        lists=2,
        watches=3,
        relist_reasons=(ExpiredError("too old"),),
        interruptions=(),
        notifications=(("log", 10),),
        peak_backlog=1,
        objects=4,
        differences=("pods web-0 @7",),
    )
    assert "DIFFERENT from the server: pods web-0 @7" in dict(summary_lines(summary))["stores"]

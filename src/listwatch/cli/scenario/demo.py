"""Plays the story: as a live view on a terminal, else as plain lines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

from rich.console import Console
from rich.live import Live

from listwatch.cli.scenario.demo_view import DemoView, summary_lines, summary_panel
from listwatch.cli.scenario.observer import Act, SeenChange
from listwatch.cli.scenario.story import Stage
from listwatch.cli.screen import captured_log
from listwatch.cli.shells import program_call
from listwatch.client.resources.client_set import ClientSet
from listwatch.clock import Clock, SystemClock
from listwatch.server import APIServer

__all__ = ["play_demo"]

_FRAMES_PER_SECOND = 12
_NEXT = ("top pods --embedded", "serve", "--help")
_FAST = 4.0
"""The speed without a terminal, where nothing has to be slow enough to be followed."""


async def play_demo(
    console: Console, *, forever: bool = False, speed: float | None = None, clock: Clock | None = None
) -> int:
    """Play the story; returns the exit code: 1 if a store differs from the server in the end."""
    clock = clock or SystemClock()
    show = _live if console.is_terminal else _lines
    speed = speed or (1.0 if console.is_terminal else _FAST)
    async with APIServer() as server, ClientSet(server.config) as client:
        stage = Stage(server, client, clock=clock, speed=speed)
        await stage.prepare()
        async with stage.running(), show(console, stage, clock) as announce:
            await stage.play(before_act=announce)
            while forever:
                await stage.reset()
                await stage.play(before_act=announce, again=True)
            summary = await stage.summary()
    if console.is_terminal:
        console.print(summary_panel(summary))
    else:
        _print(console, "", "Summary", *(f"  {subject}: {sentence}" for subject, sentence in summary_lines(summary)))
    program = program_call()
    _print(console, "", "Try next: " + ", ".join(f"{program} {each}" for each in _NEXT))
    return 1 if summary.differences else 0


@asynccontextmanager
async def _live(console: Console, stage: Stage, clock: Clock) -> AsyncIterator[Callable[[Act], None]]:
    """Draw the view several times per second within this block."""
    view = DemoView(stage)

    async def draw() -> None:
        while True:
            stage.sample()
            live.refresh()
            await clock.sleep(1 / _FRAMES_PER_SECOND)

    with captured_log(lambda _line: None), Live(view, console=console, screen=True, auto_refresh=False) as live:
        async with _in_background(draw()):
            yield lambda _act: None


@asynccontextmanager
async def _lines(console: Console, stage: Stage, clock: Clock) -> AsyncIterator[Callable[[Act], None]]:
    """Print each act, and its first changes, as lines within this block."""
    printed, max_lines = 0, 0

    def end_act() -> None:
        if printed > max_lines:
            _print(console, f"   … and {printed - max_lines} more")

    def announce(act: Act) -> None:
        nonlocal printed, max_lines
        end_act()
        printed, max_lines = 0, act.max_lines
        _print(console, "", f"{stage.observer.current + 1}. {act.title}. {act.text}")

    def print_change(change: SeenChange) -> None:
        nonlocal printed
        printed += 1
        if printed <= max_lines:
            where = f"{change.kind} {change.name}"
            _print(console, f"   {change.seconds:5.2f} s  {change.verb:<8}  {where}  {change.detail}".rstrip())

    async def sample() -> None:
        while True:
            stage.sample()
            await clock.sleep(0.05)

    _print(console, f"An embedded API server listens on {stage.server.url}.")
    stage.observer.on_change = print_change
    async with _in_background(sample()):
        yield announce
    end_act()


@asynccontextmanager
async def _in_background(work: Coroutine[object, object, None]) -> AsyncIterator[None]:
    """Run the coroutine within this block; its failure ends the block."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(work)
        try:
            yield
        finally:
            task.cancel()


def _print(console: Console, *lines: str) -> None:
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

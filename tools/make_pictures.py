"""Makes the pictures of the README and the documentation: `python -m tools.make_pictures [FOLDER]`.

They show what the terminal shows: the demo before its last act, and a live table of pods; and the inspector page, if
there is a browser.
"""

from __future__ import annotations

import asyncio
import io
import re
import sys
from pathlib import Path
from random import Random

from rich.console import Console, Group, RenderableType
from rich.terminal_theme import MONOKAI, TerminalTheme

from listwatch.cli.scenario.demo_view import DemoView
from listwatch.cli.scenario.observer import Act
from listwatch.cli.scenario.story import ACTS, Stage
from listwatch.cli.top.live import Top
from listwatch.client import ClientSet, ResourceClient
from listwatch.clock import SystemClock
from listwatch.models.core_v1 import Pod
from listwatch.server import APIServer
from tools.chromium import why_no_chromium
from tools.inspector_picture import picture_of_the_inspector

FOLDER = Path(__file__).parent.parent / "docs" / "images"
# The fonts would be loaded from elsewhere; without them, the reader's own monospaced font is used.
_FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def write_picture(
    name: str, drawn: RenderableType, folder: Path, *, title: str, size: tuple[int, int], theme: TerminalTheme = MONOKAI
) -> None:
    """Write a terminal with this content as an SVG file."""
    console = Console(record=True, width=size[0], height=size[1], file=io.StringIO(), force_terminal=True)
    console.print(drawn, end="")
    svg = console.export_svg(title=title, theme=theme, unique_id=f"listwatch-{name}")
    path = folder / f"{name}.svg"
    path.write_text(_FONT_FACE.sub("", svg), encoding="utf-8")
    print(f"wrote {path}")


async def picture_of_the_demo(folder: Path) -> None:
    """Play the demo, and draw it before its last act."""
    clock = SystemClock()
    async with APIServer() as server, ClientSet(server.config) as client:
        stage = Stage(server, client, clock=clock, speed=2.0)
        await stage.prepare()

        def before_act(act: Act) -> None:
            if act is ACTS[-1]:
                stage.observer.current -= 1
                write_picture("demo", DemoView(stage), folder, title="listwatch demo", size=(124, 31))
                stage.observer.current += 1

        async with stage.running(), asyncio.TaskGroup() as group:
            sampling = group.create_task(_sample(stage, clock))
            await stage.play(before_act=before_act)
            sampling.cancel()


async def _sample(stage: Stage, clock: SystemClock) -> None:
    while True:
        stage.sample()
        await clock.sleep(0.08)


async def picture_of_top(folder: Path) -> None:
    """Draw a table of pods, sorted by their changes."""
    clock, random = SystemClock(), Random(3)
    async with APIServer() as server, ClientSet(server.config) as client:
        pods = client.core_v1.pods()
        for team in "abc":
            await client.core_v1.namespaces().create({"metadata": {"name": f"team-{team}"}})
        for number in range(240):
            await _create_pod(pods.namespace(f"team-{'abc'[number % 3]}"), number, random)
        resource = Pod.resource
        assert resource is not None
        source = client.dynamic.resource(resource)
        top = Top(source, source.kind, resource, where="in all namespaces", metadata_only=False, clock=clock)
        async with top.informer:
            await top.informer.wait_for_sync(timeout=30)
            top.status()  # the rate of events is measured from here on
            for _ in range(150):
                number = min(int(random.expovariate(0.08)), 239)
                annotation = {"metadata": {"annotations": {"touched": str(random.random())}}}
                namespace = f"team-{'abc'[number % 3]}"
                patched = await pods.namespace(namespace).patch(_name(number), annotation)
            await top.informer.wait_until(patched.resource_version, timeout=30)
            top.rows.sort(top.column("changes"))
            top.rows.refresh(1.0)
            top.table.lines(top.status(), width=112, height=26)
            for key in ("down", "down", "down"):
                top.table.press(key)
            lines = top.table.lines(top.status(), width=112, height=26)
        title = "listwatch top pods -A --sort changes"
        write_picture("top", Group(*lines), folder, title=title, size=(112, 26))


_APPS = ("web", "api", "worker", "cart", "search", "mail")


def _name(number: int) -> str:
    return f"{_APPS[number % len(_APPS)]}-{number * 7919 % 65521:04x}-{number:03d}"


async def _create_pod(pods: ResourceClient[Pod], number: int, random: Random) -> None:
    name, app = _name(number), _APPS[number % len(_APPS)]
    spec = {"nodeName": f"node-{number % 9}", "containers": [{"name": "main", "image": f"{app}:1.0"}]}
    await pods.create({"metadata": {"name": name, "labels": {"app": app}}, "spec": spec})
    state: dict[str, object] = {"running": {}}
    phase = "Running"
    if number % 23 == 0:
        phase, state = "Pending", {"waiting": {"reason": "ContainerCreating"}}
    elif number % 31 == 0:
        state = {"waiting": {"reason": "CrashLoopBackOff"}}
    container = {
        "name": "main",
        "image": app,
        "imageID": "",
        "ready": "running" in state,
        "restartCount": random.randrange(1, 9) if number % 31 == 0 else 0,
        "state": state,
    }
    status = {"phase": phase, "containerStatuses": [container]}
    await pods.patch(name, {"status": status}, subresource="status")


async def _main(folder: Path) -> None:
    await picture_of_the_demo(folder)
    await picture_of_top(folder)
    if reason := why_no_chromium():
        print(f"no picture of the inspector: {reason}")
    else:
        await picture_of_the_inspector(folder)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(_main(target))

"""Measures the inspector over a replayed list, in a real browser: `python -m bench.inspector_page 100000 [events/s]`.

Prints how late the event loop of the program runs its callbacks, how long searches take, how long the page needs for a
frame, and the memory of both.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from bench.replay.control import ReplayControl
from bench.replay.replay_server import replaying
from listwatch.client import ClientConfig, ClientSet
from listwatch.factory.factory import SharedInformerFactory
from listwatch.inspector import Inspector
from tools.chromium import Chromium, ChromiumPage

_SECONDS = 8.0
_FRAMES = """(() => {
    window.gaps = []; window.updates = 0;
    let last = performance.now();
    const frame = (now) => { window.gaps.push(now - last); last = now; requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
    const changes = {subtree: true, childList: true, characterData: true};
    new MutationObserver(() => window.updates++).observe(document.body, changes);
})()"""


class LoopDelay:
    """Measures how late timers of the event loop are."""

    def __init__(self) -> None:
        self._late: list[float] = []

    async def run(self) -> None:
        while True:
            started = time.perf_counter()
            await asyncio.sleep(0.005)
            self._late.append(1000 * (time.perf_counter() - started - 0.005))

    def taken(self) -> list[float]:
        taken, self._late = self._late, []
        return taken


async def measure(url: str, rate: int) -> None:
    delay = LoopDelay()
    async with (
        ClientSet(ClientConfig(host=url)) as client,
        SharedInformerFactory(client) as factory,
        asyncio.TaskGroup() as group,
    ):
        watching = group.create_task(delay.run())
        factory.core_v1.pods.informer  # noqa: B018  # starts it
        await factory.wait_for_sync(timeout=300)
        _print("while the cache synced, late by", delay.taken())
        before = _memory()
        await ReplayControl(url).send(f"pace?rate={rate}&events={rate * 600}")
        await asyncio.sleep(_SECONDS)
        _print(f"{rate} events/s, no page, late by", delay.taken())
        async with Inspector(factory, client) as inspector, Chromium() as browser:
            page = await browser.open(inspector.url)
            await page.wait_for("document.getElementById('connection').innerText == 'live'")
            await page.evaluate(_FRAMES)
            delay.taken()  # not the start of the browser
            await asyncio.sleep(_SECONDS)
            _print(f"{rate} events/s, a page is open, late by", delay.taken())
            _print("frames of the page took", await page.evaluate("window.gaps"))
            await _search(page, delay)
            print(f"{'memory of the program':<40}{before:8.0f} MB before, {_memory():.0f} MB with the page")
            heap = await page.evaluate("performance.memory.usedJSHeapSize / 1e6")
            print(f"{'heap of the page':<40}{heap:8.1f} MB, {await page.evaluate('window.updates')} updates")
        watching.cancel()


async def _search(page: ChromiumPage, delay: LoopDelay) -> None:
    delay.taken()
    for text in ("app-7", "zzz", "9"):
        await page.evaluate(
            "window.gaps = []; document.getElementById('search-name').value = ''; "
            "document.getElementById('results').innerText = ''"
        )
        started = time.perf_counter()
        await page.type("#search-name", text)
        await page.wait_for("document.getElementById('results').innerText != ''")
        took = 1000 * (time.perf_counter() - started)
        print(f"{f'search for {text!r}':<40}{took:8.0f} ms until the page shows it")
        _print("  frames of the page took", await page.evaluate("window.gaps"))
    _print("while searching, late by", delay.taken())


def _print(what: str, milliseconds: list[float]) -> None:
    ordered = sorted(milliseconds) or [0.0]
    middle, high = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    print(f"{what:<40}{middle:8.1f} ms median, {high:6.1f} p99, {ordered[-1]:6.1f} max", flush=True)


def _memory() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS"))


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with replaying(count) as address:
        asyncio.run(measure(address, int(sys.argv[2]) if len(sys.argv) > 2 else 500))

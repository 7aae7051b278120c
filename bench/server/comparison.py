"""The embedded API server: time to start, creates and lists per second, and whether watchers receive every event once.

Server and clients run in separate processes. `python -m bench.server.comparison CONTENDER` measures one contender and
prints its figures as JSON.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import aiohttp

from bench.harness.runner import Effort, Figures, compare_here
from bench.report.report import Report
from bench.report.tables import Target, number, spread
from bench.server.load import post_all

OBJECTS = 5_000
WRITERS = 16
EVENTS, WATCHERS = 20_000, 50
TOKEN = "bench"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
PROTOBUF = "application/vnd.kubernetes.protobuf"

ECHO, IN_MEMORY, ON_DISK = "aiohttp, echo", "listwatch", "listwatch, on disk"
STARTING, WATCHING = "start to first response", f"{WATCHERS} watchers"
LISTED = 10_000
LISTING = {f"list of {LISTED:,} pods, JSON": "application/json", f"list of {LISTED:,} pods, protobuf": PROTOBUF}


def measure(effort: Effort) -> Report:
    """Run the part and return its report."""
    text = f"the embedded server: {OBJECTS:,} creates by {WRITERS} writers; {EVENTS:,} events to {WATCHERS} watchers"
    result = compare_here(
        "bench.server.comparison", [ECHO, IN_MEMORY, ON_DISK, STARTING], effort, rounds=effort.rounds(2, 5)
    )
    result.add(compare_here("bench.server.comparison", [*LISTING, WATCHING], effort, rounds=1))
    report = Report("server", text, comparisons={"": result})
    columns = [
        spread("creates/s", "rate"),
        number("ms", "seconds", ".0f", factor=1e3),
        number("first time, ms", "first", ".0f", factor=1e3),
        number("pods/s", "pods"),
        number("MB", "megabytes", ".1f"),
        number("events/s to all", "events"),
        number("lost", "lost"),
        number("doubled", "doubled"),
    ]
    report.table("server", columns, result.rows, result.length)
    report.targets = _targets(result.rows)
    return report


def _targets(rows: Mapping[str, Figures]) -> list[Target]:
    if not {ECHO, IN_MEMORY, STARTING, WATCHING} <= rows.keys():
        return []
    watch = rows[WATCHING]
    return [
        Target("creates, against an echo", rows[IN_MEMORY]["rate"] / rows[ECHO]["rate"], 0.25),
        Target("start to first response, against 30 ms", rows[STARTING]["seconds"] / 0.03, most=1.0),
        Target(
            "fraction of events that each watcher received exactly once",
            1 - (watch["lost"] + watch["doubled"]) / EVENTS,
            1.0,
        ),
    ]


# --- The servers ------------------------------------------------------------------------------------------------------

_ECHO_PROGRAM = """
import asyncio
from aiohttp import web

async def echo(request):
    return web.Response(body=await request.read(), content_type="application/json", status=201)

async def serve():
    protocols = web.Server(echo, access_log=None)
    server = await asyncio.get_running_loop().create_server(protocols, "127.0.0.1", 0)
    print("listening on", "http://127.0.0.1:%d" % server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(serve())
"""


@asynccontextmanager
async def running(*command: str) -> AsyncIterator[str]:
    """Run a server process inside the context; yields its URL."""
    process = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        line = (await process.stdout.readline()).decode()
        yield line.split()[-1].rstrip("/")
    finally:
        process.terminate()
        await process.communicate()


def echo_server() -> Any:
    """The minimum that aiohttp can serve: no application, routes or middlewares."""
    return running("-c", _ECHO_PROGRAM)


def our_server(*options: str) -> Any:
    return running("-m", "listwatch.server", "--token", TOKEN, *options)


# --- The clients ------------------------------------------------------------------------------------------------------


def session() -> aiohttp.ClientSession:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", "User-Agent": "bench"}
    timeout = aiohttp.ClientTimeout(total=None)
    return aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(limit=0), timeout=timeout)


async def create(url: str, numbers: range) -> float:
    """Objects created per second."""
    return await post_all(url, CONFIG_MAPS, TOKEN, list(map(config_map, numbers)), connections=WRITERS)


def config_map(number: int) -> bytes:
    metadata = {"name": f"bench-{number}", "labels": {"app": "bench"}}
    body = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": {"key": "x" * 200}}
    return json.dumps(body).encode()


async def measure_creates(server: Any) -> Figures:
    async with server as url:
        await create(url, range(200))  # warm-up: fills caches
        return {"rate": await create(url, range(200, 200 + OBJECTS))}


async def measure_start() -> Figures:
    from listwatch.server import APIServer

    async with session() as client:
        started = time.perf_counter()
        async with APIServer(token=TOKEN) as server, client.get(f"{server.url}/version") as response:
            await response.read()
            return {"seconds": time.perf_counter() - started}


def pod(number: int) -> bytes:
    container = {
        "name": "main",
        "image": "registry.example.com/web:1.2.3",
        "env": [{"name": f"VARIABLE_{each}", "value": "x" * 40} for each in range(10)],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/config"}],
    }
    spec = {"containers": [container], "volumes": [{"name": "config", "configMap": {"name": "web"}}]}
    metadata = {"name": f"web-{number}", "labels": {"app": "web", "shard": str(number % 16)}}
    return json.dumps({"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": spec}).encode()


async def measure_list(accept: str) -> Figures:
    """The best of five lists, and the first one, which fills caches."""
    async with our_server() as url, session() as client:
        await post_all(url, PODS, TOKEN, list(map(pod, range(LISTED))), connections=WRITERS)
        first = best = math.inf
        size = 0
        for number_ in range(5):
            started = time.perf_counter()
            async with client.get(
                f"{url}{PODS}", headers={"Accept": accept, "Accept-Encoding": "identity"}
            ) as response:
                size = len(await response.read())
            elapsed = time.perf_counter() - started
            first, best = (first if number_ else elapsed), min(best, elapsed)
    return {"seconds": best, "first": first, "pods": LISTED / best, "megabytes": size / 1e6}


async def measure_watchers() -> Figures:
    async with our_server() as url, session() as client:
        watchers = [asyncio.create_task(watch(client, url)) for _ in range(WATCHERS)]
        started = time.perf_counter()
        await create(url, range(EVENTS))
        histories = await asyncio.gather(*watchers)
        elapsed = time.perf_counter() - started
    return {
        "events": EVENTS * WATCHERS / elapsed,
        "lost": max(EVENTS - len(set(history)) for history in histories),
        "doubled": max(len(history) - len(set(history)) for history in histories),
    }


async def watch(client: aiohttp.ClientSession, url: str) -> list[bytes]:
    """The names of all added objects, in the order of one watch, which is resumed if it ends."""
    name, version = re.compile(rb'"name":"(bench-\d+)"'), re.compile(rb'"resourceVersion":"(\d+)"')
    history: list[bytes] = []
    seen = b"1"
    while len(history) < EVENTS:
        async with client.get(f"{url}{CONFIG_MAPS}?watch=1&resourceVersion={seen.decode()}") as response:
            rest = b""
            async for chunk in response.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                history += [name.search(line)[1] for line in lines]  # type: ignore[index]  # every event has a name
                if lines:
                    seen = version.search(lines[-1])[1]  # type: ignore[index]  # every event has a version
                if len(history) >= EVENTS:
                    break
    return history


# --- Contenders -------------------------------------------------------------------------------------------------------


def _contender(name: str, folder: str) -> Callable[[], Coroutine[Any, Any, Figures]]:
    return {
        ECHO: lambda: measure_creates(echo_server()),
        IN_MEMORY: lambda: measure_creates(our_server()),
        ON_DISK: lambda: measure_creates(our_server("--data-dir", folder)),
        STARTING: measure_start,
        WATCHING: measure_watchers,
        **{each: partial(measure_list, accept) for each, accept in LISTING.items()},
    }[name]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(asyncio.run(_contender(sys.argv[1], folder)())))

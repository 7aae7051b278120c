"""Traces a real run and prints which modules it enters: `python -m tools.walk event|list|create|reconcile`.

event      a MODIFIED watch event, from the read of the socket to the call of the handler of a SharedIndexInformer
list       `client.core_v1.pods("default").list()`, from the call to the returned page
create     a POST of a Pod on the embedded server, from the read of the socket to the last write of the response
reconcile  a MODIFIED watch event, from the read of the socket to the call of the reconcile function of a Controller

The other side runs in another thread and is not traced: for `create` that is the client, else the embedded server.
Each operation runs twice before it is traced, so that imports and first-time caches are not part of the result.

What is counted, between start and end, in the thread of the event loop:

- A function of listwatch is entered when it is called, or when its own code continues after an `await`. A coroutine
  that is resumed only to pass control to the coroutine that it awaits is not entered.
- A callback of the event loop belongs to the walk if it led to the end: it scheduled a callback that did, or it is an
  earlier part of a task that did. Other tasks, and a reader that goes back to waiting, do not belong to it.
- A comprehension or a generator expression is part of its function. Module and class bodies are not functions.
- Each function and each module counts once. A module counts if at least one of its functions counts.
- Listed but not counted: functions of `listwatch.models` (generated), `listwatch.clock` and yields, properties, and
  special methods (constructors, comparisons, attribute access), except those in `tracer.STEPS`, such as `__call__`.
- A step is a change from one module to another between two entries; a return is not a step. A walk that never goes
  back and forth has one step less than modules. All further steps lead back to a module that was entered before.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from urllib.parse import urlsplit

import listwatch as lw
from listwatch.models.core_v1 import Pod
from listwatch.server import APIServer
from tools.tracer import Tracer, Walk

WARM_UPS = 2
TIMEOUT = 30.0
"""Seconds after which an expected event is considered missing."""
PODS = "/api/v1/namespaces/default/pods"


# --- The other side, in another thread


@contextmanager
def served() -> Iterator[lw.ClientConfig]:
    """An embedded server in a separate thread, which is not traced."""
    ready: list[lw.ClientConfig] = []
    started, loop = threading.Event(), asyncio.new_event_loop()
    stopped = asyncio.Event()

    async def serve() -> None:
        try:
            async with APIServer() as server:
                ready.append(server.config)
                started.set()
                await stopped.wait()
        finally:
            started.set()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(serve())

    thread = threading.Thread(target=run, name="embedded API server")
    thread.start()
    started.wait(TIMEOUT)
    try:
        if not ready:
            raise RuntimeError("the embedded API server did not start")
        yield ready[0]
    finally:
        if thread.is_alive():
            loop.call_soon_threadsafe(stopped.set)
        thread.join()


class PlainClient:
    """Sends requests through one connection, from a thread that is not traced and without listwatch."""

    def __init__(self, config: lw.ClientConfig) -> None:
        address = urlsplit(config.host)
        self._connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=TIMEOUT)
        self._headers = {"Authorization": f"Bearer {config.token}"}

    async def create(self, name: str) -> None:
        pod = {"metadata": {"name": name}, "spec": {"containers": [{"name": "main", "image": "example"}]}}
        await asyncio.to_thread(self._send, "POST", PODS, "application/json", pod)

    async def label(self, name: str, value: str) -> None:
        patch = {"metadata": {"labels": {"walk": value}}}
        await asyncio.to_thread(self._send, "PATCH", f"{PODS}/{name}", "application/merge-patch+json", patch)

    def close(self) -> None:
        self._connection.close()

    def _send(self, method: str, path: str, media_type: str, body: object) -> None:
        headers = {**self._headers, "Content-Type": media_type}
        self._connection.request(method, path, json.dumps(body).encode(), headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.status >= 300:
            raise RuntimeError(f"{method} {path} failed with status {response.status}: {content.decode()}")


@asynccontextmanager
async def served_pod() -> AsyncIterator[tuple[lw.ClientConfig, PlainClient]]:
    """A server with the Pod `web`, and a client that changes it."""
    with served() as config:
        writer = PlainClient(config)
        try:
            await writer.create("web")
            yield config, writer
        finally:
            writer.close()


# --- The walks


async def walk_event() -> Walk:
    """A MODIFIED event, from the socket to the handler."""
    seen = asyncio.Event()

    def handler(_old: Pod, _new: Pod) -> None:
        seen.set()

    async with served_pod() as (config, writer), lw.RESTClient(config) as client:
        source: lw.ListWatch[Pod] = lw.ListWatch.from_client(client, "pods", namespace="default")
        informer = lw.SharedIndexInformer(source, Pod)
        informer.add_handler(on_update=handler)
        async with informer:
            await informer.wait_for_sync(timeout=TIMEOUT)
            return await _walk_change(writer, seen, handler)


async def walk_reconcile() -> Walk:
    """A MODIFIED event, from the socket to the reconcile function."""
    seen = asyncio.Event()

    async def reconcile(_key: lw.ObjectKey) -> None:
        seen.set()

    async with served_pod() as (config, writer), lw.ClientSet(config) as client:
        manager = lw.Manager(client)
        manager.add(lw.Controller(reconcile, for_=Pod, name="walk"))
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(manager.run())
            await _wait(seen)  # for the Pod that exists already
            walk = await _walk_change(writer, seen, reconcile)
            running.cancel()
        return walk


async def _walk_change(writer: PlainClient, seen: asyncio.Event, end: Callable[..., object]) -> Walk:
    """Trace how a change of the Pod reaches the function `end`, which sets `seen`."""
    for attempt in range(WARM_UPS):
        seen.clear()
        await writer.label("web", f"warm-up-{attempt}")
        await _wait(seen)
    seen.clear()
    with Tracer(from_read=True, end=end) as tracer:
        await writer.label("web", "traced")
        await _wait(seen)
    if not tracer.walk.end:
        raise RuntimeError("the traced change did not lead to the expected call")
    return tracer.walk


async def walk_list() -> Walk:
    """A list call, to the returned page."""
    async with served_pod() as (config, _), lw.ClientSet(config) as client:
        for _attempt in range(WARM_UPS):
            await client.core_v1.pods("default").list()
        with Tracer() as tracer:
            await client.core_v1.pods("default").list()
        return tracer.walk


async def walk_create() -> Walk:
    """A POST on the embedded server, from the socket to the response."""
    async with APIServer() as server:
        client = PlainClient(server.config)
        try:
            for attempt in range(WARM_UPS):
                await client.create(f"warm-up-{attempt}")
            with Tracer(from_read=True, to_write=True) as tracer:
                await client.create("traced")
            return tracer.walk
        finally:
            client.close()


async def _wait(seen: asyncio.Event) -> None:
    async with asyncio.timeout(TIMEOUT):
        await seen.wait()


WALKS: dict[str, Callable[[], Coroutine[None, None, Walk]]] = {
    "event": walk_event,
    "list": walk_list,
    "create": walk_create,
    "reconcile": walk_reconcile,
}


# --- Printing


def report(walk: Walk) -> Iterator[str]:
    """Each module with its functions, in order of first entry, then the figures."""
    order = list(dict.fromkeys(walk.entries))
    counted = set(walk.modules)
    for module in dict.fromkeys(entry.module for entry in order):
        yield module if module in counted else f"{module}  (not counted)"
        for number, entry in enumerate(order, start=1):
            if entry.module == module:
                yield f"  {number:4}  {entry.function}" + (f"  ({entry.mark}, not counted)" if entry.mark else "")
    if walk.end:
        yield f"→ {walk.end}"
    yield ""
    yield from summary(walk)


def sequence(walk: Walk) -> Iterator[str]:
    """Every counted entry in order, with the modules named where they change."""
    module = ""
    for entry in walk.counted:
        if entry.module != module:
            module = entry.module
            yield module
        yield f"    {entry.function}"
    if walk.end:
        yield f"→ {walk.end}"
    yield ""
    yield from summary(walk)


def summary(walk: Walk) -> Iterator[str]:
    """The figures alone."""
    everything = set(walk.entries)
    modules = {entry.module for entry in everything}
    yield f"modules: {len(walk.modules)}, functions: {len(walk.functions)}"
    yield f"including those not counted: modules: {len(modules)}, functions: {len(everything)}"
    yield f"steps between modules: {len(walk.steps)}, of which back and forth: {len(walk.steps_back)}"


def steps_back(walk: Walk) -> Iterator[str]:
    """The figures, and each pair of modules between which the walk goes back and forth."""
    yield from summary(walk)
    for (origin, target), times in Counter(walk.steps_back).most_common():
        yield f"  {times} × {origin} → {target}"


def figures(walk: Walk) -> dict[str, object]:
    """The figures for machine reading."""
    return {
        "modules": walk.modules,
        "functions": [f"{entry.module}:{entry.function}" for entry in walk.functions],
        "end": walk.end,
        "steps": len(walk.steps),
        "steps_back": len(walk.steps_back),
    }


def main(arguments: list[str] | None = None) -> None:
    """Trace and print the named walk."""
    parser = argparse.ArgumentParser(prog="python -m tools.walk", description=__doc__.partition(":")[0])
    parser.add_argument("walk", choices=WALKS)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--sequence", action="store_true", help="print every entry, not only the first of a function")
    form.add_argument("--steps-back", action="store_true", help="print the figures and each step back and forth")
    form.add_argument("--summary", action="store_true", help="print the figures only")
    form.add_argument("--json", action="store_true", help="print figures, modules and functions as JSON")
    options = parser.parse_args(arguments)

    walk = asyncio.run(WALKS[options.walk]())
    if options.json:
        print(json.dumps(figures(walk), indent=2))
        return
    forms = {sequence: options.sequence, steps_back: options.steps_back, summary: options.summary, report: True}
    lines = next(lines for lines, is_wanted in forms.items() if is_wanted)
    print("\n".join(lines(walk)))


if __name__ == "__main__":
    main()

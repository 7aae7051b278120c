"""Replicas of a sharded manager in processes of their own, of which one is killed, frozen or added every ten seconds.

Each replica appends its reconciles to a file, with start, end and token. In the end every object must have the wanted
value, and no two reconciles of one object may overlap: only a process that was frozen may end late, and it cannot
write. Before the faults, each replica must hold its part of the bytes, and no more.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TypeVar

import listwatch as lw
from listwatch.controller import Controller, Manager, Watch
from listwatch.models.core_v1 import ConfigMap
from listwatch.server import APIServer
from listwatch.sharding import ShardingOptions
from listwatch.testing import RealAPIServer
from soak.informers import Outcome

__all__ = ["ShardingOptionsOfSoak", "ShardingRound"]

R = TypeVar("R")

FAULT_INTERVAL = 10.0
CONVERGENCE = 180.0
CONVERGENCE_PER_OBJECT = 0.005
"""Seconds that are added for each object."""
SHARDS = 32
CONCURRENCY = 8
"""Reconciles that each replica runs at a time."""
PADDING = "x" * 1000


@dataclass(frozen=True, slots=True)
class ShardingOptionsOfSoak:
    """The size of the soak, and the server that it runs on."""

    objects: int = 500
    replicas: int = 4
    shard_selectors: bool = True
    real: bool = False
    faults: bool = True
    reconcile_seconds: float = 0.002
    """How long each reconcile waits, as for a response of another system."""


async def replica(kubeconfig: str, name: str, record: str, seconds: str) -> None:
    """One replica: writes the wanted value into each of its objects."""
    with Path(record).open("a", buffering=1) as file:  # noqa: ASYNC230  # before anything runs

        async def reconcile(key: lw.ObjectKey, context: lw.ReconcileContext[ConfigMap]) -> None:
            started, token = time.monotonic(), context.fencing_token
            try:
                item = context.get()
                if item is not None and item.data.get("has") != item.data["wants"]:
                    changed = item.copy()
                    changed.data["has"] = changed.data["wants"]
                    await context.client.core_v1.configmaps("default").update(changed)
                await asyncio.sleep(float(seconds))
            finally:  # also a reconcile that was cancelled or failed has run
                file.write(f"{key.name} {started} {time.monotonic()} {token} {name}\n")

        async with lw.ClientSet(lw.load_config(kubeconfig=kubeconfig)) as client:
            options = ShardingOptions(group="soak", shards=SHARDS, identity=name)
            manager = Manager(client, namespace="default", shards=options)
            watch = Watch(ConfigMap, label_selector="app=soak")
            manager.add(Controller(reconcile, for_=watch, concurrency=CONCURRENCY))
            report = lambda: file.write(f"#{json.dumps(status_of(manager, name))}\n")  # noqa: E731  # a handler
            asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, report)
            await manager.run()


def status_of(manager: Manager, name: str) -> dict[str, object]:
    """What a replica holds, and what it has used so far."""
    items = manager.controllers[0].indexer(ConfigMap).list()
    usage, shards = resource.getrusage(resource.RUSAGE_SELF), manager.statistics().shards
    assert shards is not None
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "name": name,
        "objects": len(items),
        "bytes": sum(len(item.to_json()) for item in items),
        "rss": pages * os.sysconf("SC_PAGE_SIZE") // 2**20,
        "cpu": round(usage.ru_utime + usage.ru_stime, 1),
        "owned": shards.states["owned"],
        "paths": dict(shards.read_paths),
        "dropped": shards.foreign_events,
        "sessions lost": shards.sessions_lost,
        "writes refused": shards.writes_refused,
    }


class ShardingRound:
    """Objects whose wanted values change, replicas that set them, and faults every ten seconds."""

    def __init__(self, seed: int, *, seconds: float, options: ShardingOptionsOfSoak | None = None) -> None:
        self.seed = seed
        self._rng = Random(seed)
        self._options = options or ShardingOptionsOfSoak()
        self._seconds = max(seconds, 3 * FAULT_INTERVAL)
        self._faults: list[str] = []
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        self._frozen: list[tuple[str, float, float]] = []
        self._thaws: dict[str, asyncio.Task[None]] = {}
        self._limit = CONVERGENCE + CONVERGENCE_PER_OBJECT * self._options.objects
        self._writes = 0
        self._wanted: dict[str, str] = {}
        """The last wanted values, by the names of the objects; "0" for the others."""
        self._record = Path()
        self._kubeconfig = Path()

    async def run(self) -> Outcome:
        options = self._options
        flags = [f"--feature-gates=ShardedListAndWatch={str(options.shard_selectors).lower()}"]
        server = (
            RealAPIServer(flags=flags) if options.real else APIServer(tls=True, shard_selectors=options.shard_selectors)
        )
        with tempfile.TemporaryDirectory() as folder:
            self._kubeconfig, self._record = Path(folder) / "kubeconfig", Path(folder) / "reconciles"
            self._record.touch()
            async with server, lw.ClientSet(server.config) as client:
                server.kubeconfig(self._kubeconfig)
                await self._create(client)
                try:
                    for number in range(options.replicas):
                        await self._start(f"r{number}")
                    failures = await self._check_parts(client)
                    if options.faults:
                        await self._disturb(client)
                    failures += self._ended()
                    failures += await self._check_converged(client)
                    _print_statuses("at the end", await self._statuses())
                finally:
                    await self._stop()
            lines = self._record.read_text().splitlines()
            return Outcome(self.seed, self._writes, len(lines), self._faults, [*failures, *self._overlaps(lines)])

    async def _create(self, client: lw.ClientSet) -> None:
        numbers, started = iter(range(self._options.objects)), time.monotonic()

        async def create() -> None:
            for number in numbers:
                metadata = lw.ObjectMeta(name=f"c{number:06}", labels={"app": "soak"})
                item = ConfigMap(metadata=metadata, data={"wants": "0", "has": "0", "padding": PADDING})
                await client.core_v1.configmaps("default").create(item)

        await asyncio.gather(*(create() for _ in range(48 if self._options.real else 16)))
        _print(f"created {self._options.objects} objects in {time.monotonic() - started:.0f} s")

    async def _start(self, name: str) -> None:
        with self._log_of(name).open("wb") as log:
            self._processes[name] = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "soak.sharding", str(self._kubeconfig), name, str(self._record)),
                str(self._options.reconcile_seconds),
                stderr=log,
            )

    def _log_of(self, name: str) -> Path:
        return self._record.with_name(f"{name}.log")

    def _ended(self) -> list[str]:
        """Replicas that ended by themselves, with the ends of their logs."""
        return [
            f"{name} ended with code {process.returncode}: {self._log_of(name).read_text()[-500:]}"
            for name, process in self._processes.items()
            if process.returncode is not None
        ]

    # --- faults ------------------------------------------------------------------------------------------------------

    async def _disturb(self, client: lw.ClientSet) -> None:
        ends, next_fault = time.monotonic() + self._seconds, time.monotonic() + FAULT_INTERVAL
        while time.monotonic() < ends:
            name = f"c{self._rng.randrange(self._options.objects):06}"
            wanted = str(self._rng.random())
            await self._write_wanted(client, name, wanted)
            await asyncio.sleep(0.02)
            if time.monotonic() >= next_fault:
                next_fault += FAULT_INTERVAL
                await self._fault()
        await asyncio.gather(*self._thaws.values())

    async def _write_wanted(self, client: lw.ClientSet, name: str, wanted: str) -> None:
        patch = {"data": {"wants": wanted}}
        await self._retrying(f"write {name}", lambda: client.core_v1.configmaps("default").patch(name, patch))
        self._wanted[name] = wanted
        self._writes += 1

    async def _retrying(self, what: str, send: Callable[[], Awaitable[R]]) -> R:
        """Repeat what an overloaded server does not answer in time; raises the last error after a while."""
        ends = time.monotonic() + self._limit
        while True:
            try:
                return await send()
            except lw.errors.ListWatchError as error:
                if time.monotonic() > ends:
                    raise
                _print(f"cannot {what}, retrying: {error}")
                await asyncio.sleep(2)

    async def _fault(self) -> None:
        name = self._rng.choice([each for each in self._processes if each not in self._thaws])
        limit = self._options.replicas + 2
        fault = self._rng.choice(["kill", "freeze", "add"]) if len(self._processes) < limit else "kill"
        if len(self._processes) - len(self._thaws) < 2:
            fault = "add"
        self._faults.append(f"{fault} {name}")
        _print(f"{fault} {name}, {len(self._processes)} replicas")
        process = self._processes[name]
        if fault == "kill":
            process.kill()
            await process.wait()
            del self._processes[name]
        if fault == "freeze":
            self._thaws[name] = asyncio.create_task(self._freeze(name, process.pid, self._rng.choice([5.0, 25.0])))
        if fault == "add" or len(self._processes) < 2:
            await self._start(f"r{len(self._faults) + self._options.replicas}")

    async def _freeze(self, name: str, pid: int, seconds: float) -> None:
        started = time.monotonic()
        with contextlib.suppress(ProcessLookupError):  # it has ended, which `_ended` reports
            os.kill(pid, signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
            self._frozen.append((name, started, time.monotonic()))
            del self._thaws[name]

    async def _stop(self) -> None:
        for task in [*self._thaws.values()]:
            task.cancel()
        await asyncio.gather(*self._thaws.values(), return_exceptions=True)
        await asyncio.gather(*(_terminate(process) for process in self._processes.values()))

    # --- checks ------------------------------------------------------------------------------------------------------

    async def _check_parts(self, client: lw.ClientSet) -> list[str]:
        """Each replica holds its part of the bytes, within a fifth of it."""
        started = time.monotonic()
        while not await self._is_balanced(client):
            if time.monotonic() > started + self._limit:
                return [f"the shards are not balanced after {self._limit:.0f} s"]
            await asyncio.sleep(0.5)
        if failure := await self._wait_reconciled():
            return [failure]
        _print(f"all objects were reconciled {time.monotonic() - started:.0f} s after the start of the replicas")
        self._print_throughput()
        # What was prefetched and not gained is dropped after a while.
        ends, statuses = time.monotonic() + 90, await self._statuses()
        while sum(int(str(each["objects"])) for each in statuses) != self._options.objects and time.monotonic() < ends:
            await asyncio.sleep(5)
            statuses = await self._statuses()
        _print_statuses("before the faults", statuses)
        total = sum(int(str(each["bytes"])) for each in statuses)
        paths = ("selector",) if self._options.shard_selectors else ("metadata", "filter")
        return [
            f"{each['name']} holds {int(str(each['bytes'])) / total:.1%} of the bytes by {each['paths']}"
            for each in statuses
            if abs(int(str(each["bytes"])) / total * len(statuses) - 1) > 0.2
            or each["paths"] not in [{"configmaps": path} for path in paths]
        ]

    async def _is_balanced(self, client: lw.ClientSet) -> bool:
        leases = await client.coordination_v1.leases("default").list(
            label_selector="listwatch/shard-group=soak,listwatch/role=shard"
        )
        holders = [lease.spec.holder_identity for lease in leases]
        sizes = {holders.count(each) for each in holders if each}
        return (
            len(holders) == SHARDS
            and all(holders)
            and len(set(holders)) == self._options.replicas
            and max(sizes) - min(sizes) <= 1
        )

    async def _wait_reconciled(self) -> str:
        """Wait until each object was reconciled; returns what is missing."""
        ends, seen, read = time.monotonic() + self._limit, set[str](), 0
        while len(seen) < self._options.objects and time.monotonic() < ends:
            with self._record.open() as file:  # a local file
                file.seek(read)
                text = file.read()
            complete = text[: text.rfind("\n") + 1]
            read += len(complete)
            seen.update(line.split()[0] for line in complete.splitlines() if not line.startswith("#"))
            await asyncio.sleep(0.5)
        lacking = self._options.objects - len(seen)
        return f"{lacking} objects were not reconciled after {self._limit:.0f} s" if lacking else ""

    def _print_throughput(self) -> None:
        """Reconciles per second: from the 10th to the 90th part of a hundred, since replicas start and end apart."""
        calls = [line.split() for line in self._record.read_text().splitlines() if not line.startswith("#")]
        ends = sorted(float(each[2]) for each in calls if len(each) == 5)
        first, last = ends[len(ends) // 10], ends[len(ends) * 9 // 10]
        _print(f"{0.8 * len(ends) / max(last - first, 0.001):.0f} reconciles per second, {len(ends)} in all")

    async def _statuses(self) -> list[dict[str, object]]:
        """Let all replicas report."""
        before = self._record.stat().st_size
        running = [process for process in self._processes.values() if process.returncode is None]
        for process in running:
            process.send_signal(signal.SIGUSR1)
        ends, found = time.monotonic() + 60, list[dict[str, object]]()
        while len(found) < len(running) and time.monotonic() < ends:
            await asyncio.sleep(0.2)
            with self._record.open() as file:  # a local file
                file.seek(before)
                lines = file.read().splitlines()
            found = [json.loads(line[1:]) for line in lines if line.startswith("#") and line.endswith("}")]
        return found

    async def _check_converged(self, client: lw.ClientSet) -> list[str]:
        """Every object has its last wanted value: all are listed, those that lack it are read until they have it."""
        started, configmaps = time.monotonic(), client.core_v1.configmaps("default")
        ends = started + self._limit
        left, seen = await self._list_lacking(client)
        while left and time.monotonic() < ends:
            _print(f"{len(left)} objects left after {time.monotonic() - started:.0f} s")
            names = [*left]
            for start in range(0, len(names), 16):
                reads = (configmaps.get(name) for name in names[start : start + 16])
                found = await asyncio.gather(*reads, return_exceptions=True)
                left -= {each.name for each in found if isinstance(each, ConfigMap) and self._has_wanted(each)}
            if left:
                await asyncio.sleep(2)
            else:
                left, seen = await self._list_lacking(client)
        if left or seen != self._options.objects:
            return [
                f"{len(left)} of {seen} objects do not have the wanted value after {time.monotonic() - started:.0f} s"
            ]
        _print(f"all {seen} objects have the wanted value after {time.monotonic() - started:.0f} s")
        return []

    async def _list_lacking(self, client: lw.ClientSet) -> tuple[set[str], int]:
        """The names of the objects without the wanted value, and the number of all objects."""
        started = time.monotonic()

        async def list_all() -> tuple[set[str], int]:
            lacking, seen = set[str](), 0
            async for page in client.core_v1.configmaps("default").pages(label_selector="app=soak"):
                lacking.update(item.name for item in page if not self._has_wanted(item))
                seen += len(page)
            return lacking, seen

        lacking, seen = await self._retrying("list all objects", list_all)
        _print(f"listed {seen} objects in {time.monotonic() - started:.0f} s, {len(lacking)} left")
        return lacking, seen

    def _has_wanted(self, item: ConfigMap) -> bool:
        return item.data.get("has") == item.data["wants"] == self._wanted.get(item.name, "0")

    def _overlaps(self, lines: list[str]) -> list[str]:
        """Reconciles of one object at the same time, by different replicas; those over a freeze are exempt."""
        calls: dict[str, list[tuple[float, float, int, str]]] = {}
        for line in lines:
            parts = line.split()
            if len(parts) == 5 and not line.startswith("#"):  # a killed process may have written a part of a line
                calls.setdefault(parts[0], []).append((float(parts[1]), float(parts[2]), int(parts[3]), parts[4]))
        failures = []
        for name, found in calls.items():
            kept = sorted(each for each in found if not self._was_frozen(each))
            for earlier, later in pairwise(kept):
                if later[0] < earlier[1]:
                    failures.append(f"{name} was reconciled by {earlier[3]} and {later[3]} at the same time")
                if later[2] < earlier[2]:
                    failures.append(f"{name}: token {later[2]} of {later[3]} after {earlier[2]} of {earlier[3]}")
        return failures

    def _was_frozen(self, call: tuple[float, float, int, str]) -> bool:
        return any(call[3] == name and call[0] <= end and start <= call[1] for name, start, end in self._frozen)


async def _terminate(process: asyncio.subprocess.Process) -> None:
    """Let a replica leave its group, for at most a minute."""
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(60):
            await process.wait()
    except TimeoutError:
        _print(f"process {process.pid} does not end, and is killed")
        process.kill()
        await process.wait()


def _print(text: str) -> None:
    """At once, also into a file: a run of many minutes is followed there."""
    print(text, flush=True)


def _print_statuses(when: str, statuses: list[dict[str, object]]) -> None:
    total = sum(int(str(each["bytes"])) for each in statuses) or 1
    _print(f"{when}:")
    for each in sorted(statuses, key=lambda each: str(each["name"])):
        _print(f"  {int(str(each['bytes'])) / total:6.1%} of the bytes: {each}")


if __name__ == "__main__":
    asyncio.run(replica(*sys.argv[1:5]))

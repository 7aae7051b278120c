"""Four replicas of a sharded manager in processes of their own, of which one is killed, frozen or added now and then.

Each replica appends its reconciles to a file, with start, end, token and generation. In the end every object must have
been reconciled in its last generation, and no two reconciles of one object may overlap: only a process that was frozen
may end late, and it cannot write.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from random import Random

import listwatch as lw
from listwatch.controller import Controller, Manager, Watch
from listwatch.models.core_v1 import ConfigMap
from listwatch.server import APIServer
from listwatch.sharding import ShardingOptions
from soak.informers import Outcome

__all__ = ["ShardingRound"]

OBJECTS = 500
REPLICAS = 4
FAULT_INTERVAL = 10.0
CONVERGENCE = 120.0


async def replica(kubeconfig: str, name: str, record: str) -> None:
    """One replica: writes the wanted value into each of its objects."""
    with Path(record).open("a", buffering=1) as file:  # noqa: ASYNC230  # before anything runs

        async def reconcile(key: lw.ObjectKey, context: lw.ReconcileContext[ConfigMap]) -> None:
            started = time.monotonic()
            item = context.get()
            if item is not None and item.data.get("has") != item.data["wants"]:
                changed = item.copy()
                changed.data["has"] = changed.data["wants"]
                await context.client.core_v1.configmaps("default").update(changed)
            await asyncio.sleep(0.002)
            file.write(f"{key.name} {started} {time.monotonic()} {context.fencing_token} {name}\n")

        async with lw.ClientSet(lw.load_config(kubeconfig=kubeconfig)) as client:
            options = ShardingOptions(group="soak", shards=32, identity=name)
            manager = Manager(client, namespace="default", shards=options)
            manager.add(Controller(reconcile, for_=Watch(ConfigMap, label_selector="app=soak"), concurrency=8))
            await manager.run()


class ShardingRound:
    """Objects whose wanted values change, replicas that set them, and faults every ten seconds."""

    def __init__(self, seed: int, *, seconds: float, objects: int = OBJECTS) -> None:
        self.seed = seed
        self._rng = Random(seed)
        self._seconds = max(seconds, 3 * FAULT_INTERVAL)
        self._objects = objects
        self._faults: list[str] = []
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        self._frozen: list[tuple[str, float, float]] = []
        self._writes = 0

    async def run(self) -> Outcome:
        with tempfile.TemporaryDirectory() as folder:
            async with APIServer(tls=True) as server, lw.ClientSet(server.config) as client:
                kubeconfig, record = Path(folder) / "kubeconfig", Path(folder) / "reconciles"
                server.kubeconfig(kubeconfig)
                for number in range(self._objects):
                    metadata = lw.ObjectMeta(name=f"c{number:05}", labels={"app": "soak"})
                    await client.core_v1.configmaps("default").create(ConfigMap(metadata=metadata, data={"wants": "0"}))
                try:
                    for number in range(REPLICAS):
                        await self._start(f"r{number}", kubeconfig, record)
                    await self._disturb(client, kubeconfig, record)
                    failures = await self._check_converged(client)
                finally:
                    await self._stop()
            lines = record.read_text().splitlines() if record.exists() else []
            return Outcome(self.seed, self._writes, len(lines), self._faults, [*failures, *self._overlaps(lines)])

    async def _start(self, name: str, kubeconfig: Path, record: Path) -> None:
        self._processes[name] = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "soak.sharding", str(kubeconfig), name, str(record), stderr=asyncio.subprocess.DEVNULL
        )

    async def _disturb(self, client: lw.ClientSet, kubeconfig: Path, record: Path) -> None:
        ends, next_fault = time.monotonic() + self._seconds, time.monotonic() + FAULT_INTERVAL
        while time.monotonic() < ends:
            name = f"c{self._rng.randrange(self._objects):05}"
            wanted = {"data": {"wants": str(self._rng.random())}}
            await client.core_v1.configmaps("default").patch(name, wanted)
            self._writes += 1
            await asyncio.sleep(0.02)
            if time.monotonic() >= next_fault:
                next_fault += FAULT_INTERVAL
                await self._fault(kubeconfig, record)

    async def _fault(self, kubeconfig: Path, record: Path) -> None:
        name = self._rng.choice([*self._processes])
        fault = self._rng.choice(["kill", "freeze", "add"]) if len(self._processes) < REPLICAS + 2 else "kill"
        self._faults.append(f"{fault} {name}")
        process = self._processes[name]
        if fault == "kill":
            process.kill()
            await process.wait()
            del self._processes[name]
        if fault == "freeze":
            started = time.monotonic()
            os.kill(process.pid, signal.SIGSTOP)
            await asyncio.sleep(self._rng.choice([5.0, 25.0]))
            os.kill(process.pid, signal.SIGCONT)
            self._frozen.append((name, started, time.monotonic()))
        if fault == "add" or len(self._processes) < 2:
            await self._start(f"r{len(self._faults) + REPLICAS}", kubeconfig, record)

    async def _check_converged(self, client: lw.ClientSet) -> list[str]:
        ends = time.monotonic() + CONVERGENCE
        while time.monotonic() < ends:
            listed = await client.core_v1.configmaps("default").list(label_selector="app=soak")
            left = sum(item.data.get("has") != item.data["wants"] for item in listed)
            if not left:
                return []
            await asyncio.sleep(0.5)
        return [f"{left} objects do not have the wanted value after {CONVERGENCE:.0f} s"]

    async def _stop(self) -> None:
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            try:
                async with asyncio.timeout(60):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()

    def _overlaps(self, lines: list[str]) -> list[str]:
        """Reconciles of one object at the same time, by different replicas; those over a freeze are exempt."""
        calls: dict[str, list[tuple[float, float, int, str]]] = {}
        for line in lines:
            parts = line.split()
            if len(parts) == 5:  # a killed process may have written a part of its last line
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


if __name__ == "__main__":
    asyncio.run(replica(*sys.argv[1:4]))

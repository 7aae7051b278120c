"""Kills a program with a persistent cache repeatedly, while objects change; used on both servers."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import listwatch as lw
from listwatch.models.core_v1 import ConfigMap

ROOT = Path(__file__).parents[3]
NAMES = [f"c-{number}" for number in range(20)]


@dataclass
class Killed:
    """What was seen in all rounds."""

    rounds: int = 0
    lists: int = 0
    restored: int = 0


class Churn:
    """Creates, changes and deletes objects."""

    def __init__(self, client: lw.ClientSet, rng: Random) -> None:
        self._configmaps = client.core_v1.configmaps("default")
        self._rng = rng
        self._present: set[str] = set()
        self._serial = 0

    async def write(self) -> str:
        """Write once; return the version."""
        name, self._serial = self._rng.choice(NAMES), self._serial + 1
        data = {"serial": str(self._serial), "text": "words " * self._rng.randint(0, 200)}
        if name not in self._present:
            self._present.add(name)
            made = await self._configmaps.create(ConfigMap.from_dict({"metadata": {"name": name}, "data": data}))
        elif self._rng.random() < 0.3:
            self._present.discard(name)
            await self._configmaps.delete(name)
            return ""
        else:
            made = await self._configmaps.patch(name, {"data": data})
        return made.resource_version


@asynccontextmanager
async def running(kubeconfig: Path, folder: Path, form: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.informer.persistence.killed_program",
        str(kubeconfig),
        str(folder),
        form,
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=2**24,
    )
    try:
        yield process
    finally:
        process.kill()
        await process.communicate()


async def next_report(process: asyncio.subprocess.Process) -> dict[str, Any]:
    assert process.stdout is not None
    found: dict[str, Any] = json.loads(await process.stdout.readline())
    assert found["violations"] == []
    assert found["is_used"]
    return found


async def kill_rounds(client: lw.ClientSet, kubeconfig: Path, folder: Path, *, rounds: int, form: str) -> Killed:
    """Run and kill the program; after each start, its store must be that of a fresh list."""
    seen, rng = Killed(), Random(rounds)
    churn = Churn(client, rng)
    for number in range(rounds):
        for _ in range(rng.randint(0, 20)):
            await churn.write()
        async with running(kubeconfig, folder, form) as process:
            started = await next_report(process)
            seen.lists += started["lists"]
            seen.restored += started["restored"]
            assert number == 0 or started["lists"] == 0, "the server still has the version"
            last = ""
            while not last:
                last = await churn.write()
            await check(client, process, last)
            for _ in range(rng.randint(0, 60)):  # killed somewhere in the middle of writing these
                await churn.write()
        seen.rounds += 1
    return seen


async def check(client: lw.ClientSet, process: asyncio.subprocess.Process, version: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{version}\n".encode())
    found = await next_report(process)
    listed = (await client.core_v1.configmaps("default").list()).items
    assert found["versions"] == {each.cache_key: each.resource_version for each in listed}
    assert found["data"] == {each.cache_key: dict(each.data) for each in listed}

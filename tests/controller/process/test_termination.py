"""SIGTERM during reconciles: the program shuts down, releases its lease, and reports only finished reconciles."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.controller.worlds import config_map

from listwatch.client.resources.client_set import ClientSet
from listwatch.server import APIServer

PROGRAM = Path(__file__).with_name("two_step_operator.py")


@asynccontextmanager
async def operator(server: APIServer, folder: Path, grace_period: float) -> AsyncIterator[asyncio.subprocess.Process]:
    server.kubeconfig(folder / "kubeconfig")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(PROGRAM),
        str(grace_period),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "KUBECONFIG": str(folder / "kubeconfig")},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        process._transport.close()  # type: ignore[attr-defined]  # asyncio leaves its pipes to the collector otherwise


async def steps(client: ClientSet) -> dict[str, str]:
    return {each.name: each.data.get("step", "0") for each in await client.core_v1.configmaps("default").list()}


async def wait_for_first_steps(client: ClientSet) -> None:
    while list((await steps(client)).values()).count("1") < 4:
        pass


async def end_of(process: asyncio.subprocess.Process) -> tuple[list[str], int]:
    assert process.stdout is not None
    said = json.loads(await process.stdout.read())
    assert await process.wait() == 0
    return said["reported"], said["interrupted"]


async def holder(client: ClientSet) -> str:
    [lease] = await client.coordination_v1.leases().list(field_selector="metadata.name=two-steps")
    return lease.spec.holder_identity or ""


async def test_sigterm_lets_running_reconciles_end_and_starts_no_others(tmp_path: Path):
    async with APIServer() as server, ClientSet(server.config) as client:
        maps = client.core_v1.configmaps("default")
        await maps.create(config_map("gate", open="no"))
        for number in range(20):
            await maps.create(config_map(f"m-{number:02}"))
        async with operator(server, tmp_path, grace_period=60.0) as process:
            await wait_for_first_steps(client)
            assert await holder(client) != ""
            process.send_signal(signal.SIGTERM)
            await maps.patch("gate", {"data": {"open": "yes"}})
            reported, interrupted = await end_of(process)
        after = await steps(client)
        assert interrupted == 0
        assert reported == sorted(name for name, step in after.items() if step == "2")
        assert "1" not in after.values()
        assert len(reported) >= 4
        assert await holder(client) == ""


async def test_reconciles_that_exceed_the_grace_period_are_not_reported_as_done(tmp_path: Path):
    async with APIServer() as server, ClientSet(server.config) as client:
        maps = client.core_v1.configmaps("default")
        await maps.create(config_map("gate", open="no"))
        for number in range(20):
            await maps.create(config_map(f"m-{number:02}"))
        async with operator(server, tmp_path, grace_period=0.05) as process:
            await wait_for_first_steps(client)
            process.send_signal(signal.SIGTERM)
            reported, interrupted = await end_of(process)
        after = await steps(client)
        assert (reported, interrupted) == ([], 4)
        assert list(after.values()).count("1") == 4
        assert await holder(client) == ""

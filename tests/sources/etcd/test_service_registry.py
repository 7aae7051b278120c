"""The example of a service registry runs unchanged on a real etcd."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

EXAMPLE = Path(__file__).parents[3] / "examples" / "11_service_registry.py"


@asynccontextmanager
async def running(etcd_url: str, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(EXAMPLE),
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "ETCD_ENDPOINTS": etcd_url, "SERVICE_TTL": "2"},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        assert process.stdout is not None
        await process.stdout.read()
        await process.wait()


async def line_of(process: asyncio.subprocess.Process, wanted: str) -> None:
    """Read lines up to the wanted one."""
    assert process.stdout is not None
    lines = []
    while wanted not in lines:
        line = await process.stdout.readline()
        assert line, f"the program ended without {wanted!r}: {lines}"
        lines.append(line.decode().strip())


async def test_instances_are_found_by_region_until_they_stop_or_die(etcd_url: str):
    async with (
        running(etcd_url, "directory") as directory,
        running(etcd_url, "register", "web", "10.0.0.1:80", "eu") as first,
        running(etcd_url, "register", "web", "10.0.0.2:80", "eu") as second,
    ):
        await line_of(directory, "eu: web/10.0.0.1:80 web/10.0.0.2:80")
        first.send_signal(signal.SIGINT)
        await line_of(first, "stopped")
        await line_of(directory, "eu: web/10.0.0.2:80")
        second.kill()
        await line_of(directory, "eu: none")


def test_the_example_is_short():
    assert len(EXAMPLE.read_text().splitlines()) < 80

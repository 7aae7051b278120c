"""The programs of README.md work as pasted."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import listwatch as lw
from listwatch.models.core_v1 import Container, Pod, PodSpec
from listwatch.objects import ObjectMeta
from listwatch.server import APIServer

README = (Path(__file__).parents[1] / "README.md").read_text()
INFORMER, CONTROLLER, TEST = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
DEPLOYMENT = {
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "nginx"}]},
        },
    },
}


@asynccontextmanager
async def running(program: str, server: APIServer, folder: Path) -> AsyncIterator[asyncio.StreamReader]:
    """A program on the embedded server, and its output."""
    server.kubeconfig(folder / "kubeconfig")
    (folder / "program.py").write_text(program)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(folder / "program.py"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "KUBECONFIG": str(folder / "kubeconfig"), "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    try:
        # Not a measurement: a program that never prints the expected line must not hang the tests.
        async with asyncio.timeout(60):
            yield process.stdout
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()
        process._transport.close()  # type: ignore[attr-defined]  # asyncio leaves its pipes to the collector otherwise


async def next_line(output: asyncio.StreamReader) -> str:
    return (await output.readline()).decode().strip()


async def test_the_informer_prints_every_change(tmp_path: Path) -> None:
    async with APIServer(tls=True) as server, lw.ClientSet(server.config) as client:
        pods = client.core_v1.pods("default")
        meta = ObjectMeta(name="web-0", labels={"app": "web"})
        await pods.create(Pod(metadata=meta, spec=PodSpec(containers=[Container(name="web", image="nginx")])))
        async with running(INFORMER, server, tmp_path) as output:
            assert await next_line(output) == "ADDED default/web-0"
            assert await next_line(output) == "1 pods of web and api, from memory"
            await pods.patch("web-0", {"metadata": {"labels": {"tier": "front"}}})
            assert await next_line(output) == "MODIFIED default/web-0 Pending"
            await pods.delete("web-0", grace_period_seconds=0)
            while (line := await next_line(output)).startswith("MODIFIED"):  # its deletion begins
                pass
            assert line == "DELETED default/web-0"


async def test_the_controller_makes_a_budget(tmp_path: Path) -> None:
    async with APIServer(tls=True) as server, lw.ClientSet(server.config) as client:
        await client.apps_v1.deployments("default").create(DEPLOYMENT)
        # Another program may listen on the port of the README.
        async with running(CONTROLLER.replace("health_port=8081", "health_port=0"), server, tmp_path):
            budgets = client.policy_v1.poddisruptionbudgets("default")
            made = await lw.wait_for(budgets, "web", lambda budget: budget is not None, timeout=60)
            assert made is not None
            assert made.metadata.owner_references[0].name == "web"


def test_the_test_passes(tmp_path: Path) -> None:
    (tmp_path / "budgets.py").write_text(CONTROLLER)
    (tmp_path / "test_budgets.py").write_text(TEST)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        str(tmp_path),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 180


@pytest.mark.parametrize("program", [INFORMER, CONTROLLER, TEST])
def test_a_program_fits_into_the_column_of_a_package_index(program: str) -> None:
    assert [line for line in program.splitlines() if len(line) > 105] == []

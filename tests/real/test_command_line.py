"""The command line on a real server: tables of the server, a watch of them, and server-side apply."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from listwatch.client.resources.client_set import ClientSet
from listwatch.testing import RealAPIServer

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
"""


async def start(kubeconfig: Path, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "listwatch", *arguments),
        env={**os.environ, "KUBECONFIG": str(kubeconfig)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def lines(kubeconfig: Path, *arguments: str, text: str = "") -> list[list[str]]:
    process = await start(kubeconfig, *arguments)
    out, errors = await process.communicate(text.encode())
    assert (process.returncode, errors) == (0, b"")
    return [line.split() for line in out.decode().splitlines()]


async def test_objects_are_applied_shown_watched_and_deleted(tmp_path: Path, cluster: RealAPIServer, client: ClientSet):
    file = tmp_path / "kubeconfig"
    cluster.kubeconfig(file)
    assert await lines(file, "apply", "-f", "-", text=DEPLOYMENT) == [["deployment.apps/web", "created"]]
    assert await lines(file, "apply", "-f", "-", text=DEPLOYMENT) == [["deployment.apps/web", "unchanged"]]
    header, row = await lines(file, "get", "deploy")
    assert header == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    assert row[:4] == ["web", "0/2", "0", "0"]
    watch = await start(file, "watch", "deploy/web")
    assert watch.stdout is not None
    assert (await watch.stdout.readline()).split()[:3] == [b"EVENT", b"NAME", b"READY"]
    assert (await watch.stdout.readline()).split()[:3] == [b"ADDED", b"web", b"0/2"]
    await client.apps_v1.deployments("default").patch("web", {"spec": {"replicas": 3}})
    assert (await watch.stdout.readline()).split()[:3] == [b"MODIFIED", b"web", b"0/3"]
    assert await lines(file, "delete", "deploy", "web") == [["deployment.apps/web", "deleted"]]
    assert (await watch.stdout.readline()).split()[:2] == [b"DELETED", b"web"]
    watch.send_signal(signal.SIGINT)
    assert (await watch.communicate())[1] == b""
    assert watch.returncode == 130

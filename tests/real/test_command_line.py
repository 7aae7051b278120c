"""The command line on a real server: tables of the server, a watch of them, server-side apply, diff and pruning."""

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


async def outcome(kubeconfig: Path, *arguments: str) -> tuple[int | None, list[str]]:
    process = await start(kubeconfig, *arguments)
    out, errors = await process.communicate()
    assert errors == b""
    return process.returncode, out.decode().splitlines()


async def test_diff_shows_what_apply_changes_and_prunes(tmp_path: Path, cluster: RealAPIServer, client: ClientSet):
    file, folder = tmp_path / "kubeconfig", tmp_path / "manifests"
    cluster.kubeconfig(file)
    folder.mkdir()
    (folder / "web.yaml").write_text(DEPLOYMENT)
    (folder / "old.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\n")
    options = ("-f", str(folder), "--prune", "--applyset", "shop")
    code, shown = await outcome(file, "diff", *options)
    assert (code, {"Deployment web (new)", "ConfigMap old (new)"} <= {*shown}) == (1, True)
    assert await outcome(file, "apply", *options) == (0, ["configmap/old created", "deployment.apps/web created"])
    assert await outcome(file, "diff", *options) == (0, [])
    await client.apps_v1.deployments("default").apply(
        {"metadata": {"name": "web"}, "spec": {"replicas": 5}}, field_manager="scaler", force=True
    )
    (folder / "old.yaml").unlink()
    assert await outcome(file, "diff", *options) == (
        1,
        [
            "Deployment web",
            "~ .spec.replicas: 5 -> 2",
            "! .spec.replicas: owned by scaler",
            "- ConfigMap default/old (pruned)",
        ],
    )
    assert await outcome(file, "apply", *options, "--force-conflicts") == (
        0,
        ["deployment.apps/web configured", "configmap/old pruned"],
    )
    assert await outcome(file, "diff", *options) == (0, [])

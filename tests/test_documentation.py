"""The examples of the documentation pages run one after the other on the embedded server."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.client.pods.local_kubelet import LocalKubelet, pod_tree
from tests.controller.worlds import HastyClock

import listwatch as lw
from listwatch.client import apply_objects
from listwatch.errors import ServiceUnavailableError
from listwatch.metrics.samples import samples_of
from listwatch.models.core_v1 import ConfigMap, Pod
from listwatch.objects import ObjectMeta
from listwatch.server import APIServer, ContainerLog
from listwatch.server.faults.faults import Fail, Fault

DOCS = Path(__file__).parents[1] / "docs"
WITH_CONTAINERS = {"exec-and-port-forward.md"}
WRITES_FILES = {*WITH_CONTAINERS, "record-and-replay.md"}
BEYOND = {"real-servers.md"}  # which needs kube-apiserver and etcd
PAGES = {
    page.relative_to(DOCS).as_posix(): examples
    for page in sorted(DOCS.rglob("*.md"))
    if page.name not in BEYOND
    and (examples := re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE))
}


def local_kubelet() -> LocalKubelet:
    """Containers that are this machine, whose logs have two lines."""
    kubelet, log = LocalKubelet(), ContainerLog()
    log.write("started\nGET /healthz 200\n")
    log.close()
    kubelet.logs = log.read  # type: ignore[method-assign]  # a kubelet of this test
    return kubelet


async def create_pods(client: lw.ClientSet) -> None:
    """The pods that the page about containers uses."""
    for name in ("web-0", "web-1"):
        pod = await client.core_v1.pods("default").create(pod_tree(name, app="web"))
        pod.status = Pod.from_dict(pod_tree(name)).status
        await client.core_v1.pods("default").update_status(pod)


async def run(example: str, where: str, names: dict[str, Any]) -> None:
    code = compile(example, where, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    if code.co_flags & inspect.CO_COROUTINE:
        await eval(code, names)
    else:
        # In a thread, as programs without an event loop are.
        await asyncio.to_thread(exec, code, names)


def test_the_pages_are_found():
    assert {"clients.md", "controllers.md", "informers.md", "objects.md", "queues.md", "speed.md"} <= PAGES.keys()
    assert sum(map(len, PAGES.values())) > 45


@pytest.mark.parametrize("page", PAGES)
async def test_the_examples_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    kubelet = local_kubelet() if page in WITH_CONTAINERS else None
    options: dict[str, Any] = {"tls": True, "bootstrap": False, "kubelet": kubelet}
    async with APIServer(**options) as server, lw.ClientSet(server.config) as client:
        if kubelet is not None:
            await create_pods(client)
        if page in WRITES_FILES:
            monkeypatch.chdir(tmp_path)
        server.kubeconfig(tmp_path / "kubeconfig")
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
        names: dict[str, Any] = {"__name__": "examples"}
        for number, example in enumerate(PAGES[page], start=1):
            names["client"] = client
            await run(example, f"docs/{page}, example {number}", names)
        if left := [each for each in names.values() if isinstance(each, asyncio.Task)]:
            await asyncio.wait(left)
        for lease in await client.coordination_v1.leases("default").list():
            assert lease.spec.holder_identity == ""


@pytest.mark.parametrize("page", PAGES)
def test_every_name_on_a_page_exists(page: str):
    assert set(re.findall(r"\blw\.(\w+)", (DOCS / page).read_text())) <= set(lw.__all__)


# --- Test files: blocks with the title of a file that pytest collects, and the files that they need

# As users run them without another plugin for async tests.
PLUGINS = ("-p", "no:cacheprovider", "-p", "no:anyio", "-p", "no:asyncio")
PYTEST = [sys.executable, "-m", "pytest", "-q", "-W", "error", *PLUGINS]
FILE = re.compile(r'^```\w+ title="(\w+\.\w+)"\n(.*?)^```$', re.DOTALL | re.MULTILINE)
TEST_FILES = {
    page.relative_to(DOCS).as_posix(): files
    for page in sorted(DOCS.rglob("*.md"))
    if page.name != "tutorial.md"  # which has tests of its own
    and (files := FILE.findall(page.read_text()))
    and any(name.startswith("test_") for name, _ in files)
}


def test_the_test_files_are_found():
    assert {"testing.md", "coming-from/kopf.md"} <= TEST_FILES.keys()


@pytest.mark.parametrize("page", TEST_FILES)
def test_the_test_files_of_a_page_pass(page: str, tmp_path: Path):
    for name, text in TEST_FILES[page]:
        (tmp_path / name).write_text(text)
    result = subprocess.run(PYTEST, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


# --- Manifests and metrics


async def test_the_manifests_of_the_deployment_page_are_valid():
    blocks = re.findall(r"^```yaml\n(.*?)^```$", (DOCS / "deployment.md").read_text(), re.DOTALL | re.MULTILINE)
    objects = [item for block in blocks for item in yaml.safe_load_all(block)]
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        applied = await apply_objects(client, objects, field_manager="tests")
    assert {"ClusterRole", "Role", "Deployment"} <= {item.kind for item in applied}


async def test_every_metric_on_the_metrics_page_exists():
    reconciled = asyncio.Event()

    async def reconcile(key: lw.ObjectKey) -> None:
        reconciled.set()

    async with (
        APIServer() as server,
        lw.RESTClient(replace(server.config, qps=1000), clock=HastyClock()) as rest,
    ):
        client = lw.ClientSet(rest)
        server.faults.add(Fault(Fail(ServiceUnavailableError("busy", retry_after=1)), verb="create", times=1))
        manager = lw.Manager(client, leader_election="metrics", lease_namespace="default")
        manager.add(lw.Controller(reconcile, for_=ConfigMap, name="maps"))
        async with manager:
            await client.core_v1.configmaps("default").create(ConfigMap(metadata=ObjectMeta(name="web")))
            await reconciled.wait()
            exported = {each.name for each in samples_of((manager.statistics(), client.rest.statistics()))}
    page = (DOCS / "metrics.md").read_text()
    lines = re.findall(r"^\| `.*|expr: .*$", page, re.MULTILINE)
    documented = set(re.findall(r"\b(?:[a-z]+_)+[a-z]+\b", " ".join(lines)))
    documented -= {"requeue_after"}  # the value of a label
    assert len(documented) > 20
    assert documented <= exported

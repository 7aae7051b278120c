"""Runs the programs of docs/coming-from on the embedded API server: those of other clients, and their ports.

    python -m tools.other_clients            all pages
    python -m tools.other_clients kubectl kopf  some of them

Each page has a program `before`, which runs with the pinned version of the other client (`bench/environments`), and its
port. Programs that end by themselves have to print what the page says. Controllers run until they have done their work,
which is checked through the API. client-go needs Go. `make clients` installs what is missing. kubectl, if there is one
on the PATH, runs a list of commands, each of which has to succeed.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.harness import environments

import listwatch as lw
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects import ObjectMeta
from listwatch.server import APIServer

__all__ = ["PAGES", "Page", "read_page"]

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "coming-from"
PAGES = ("client-go", "kopf", "kr8s", "kubernetes", "kubernetes-asyncio", "lightkube")
TIMEOUT = 120.0
_BLOCK = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]*)")?\n(?P<text>.*?)^```$', re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True)
class Page:
    """The programs of one page, and what they print; empty for controllers, which do not end."""

    name: str
    before: str
    after: str
    output: str


def read_page(name: str) -> Page:
    """Read the program titled `before: …`, and the first other one in Python."""
    blocks = list(_BLOCK.finditer((FOLDER / f"{name}.md").read_text()))
    [before] = [block["text"] for block in blocks if (block["title"] or "").startswith("before")]
    after = next(block["text"] for block in blocks if block["language"] == "python" and block["text"] != before)
    output = next((block["text"] for block in blocks if block["language"] == "text"), "")
    return Page(name, before, after, output)


class TrialError(Exception):
    """A program did not do what its page says."""


async def _try_page(page: Page) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for which, program in (("before", page.before), ("after", page.after)):
            command = _command(page.name, which, program, Path(folder))
            async with APIServer(tls=True) as server, lw.ClientSet(server.config) as client:
                server.kubeconfig(kubeconfig := Path(folder, "kubeconfig"))
                async with asyncio.timeout(TIMEOUT), _running(command, Path(folder), kubeconfig) as process:
                    try:
                        await (_drive(page, client) if not page.output else _compare(page, process))
                    except Exception as error:
                        process.terminate_quietly()
                        raise TrialError(f"{which}: {error!r}\n{await process.rest()}") from error


def _command(page: str, which: str, program: str, folder: Path) -> list[str]:
    if which == "before" and page == "client-go":
        return _build_go(program, folder)
    (file := folder / f"{which}.py").write_text(program)
    if which == "after":
        return [sys.executable, str(file)]
    python = environments.HOME / page.replace("-", "_") / "bin" / "python"
    return [str(python), *(["-m", "kopf", "run", "-n", "default", "--standalone"] if page == "kopf" else []), str(file)]


def _build_go(program: str, folder: Path) -> list[str]:
    """The program is built with the module requirements of the client-go benchmark, so nothing else is downloaded."""
    go = shutil.which("go") or "/usr/local/go/bin/go"
    source = folder / "controller"
    source.mkdir()
    (source / "main.go").write_text(program)
    for name in ("go.mod", "go.sum"):
        shutil.copy(ROOT / "bench" / "clientgo" / name, source / name)
    if reason := environments._run([go, "build", "-mod=mod", "-o", str(folder / "counter"), "."], source):
        raise TrialError(f"go build: {reason}")
    return [str(folder / "counter")]


class _Process:
    """A program whose output is collected."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    def terminate_quietly(self) -> None:
        if self._process.returncode is None:
            self._process.terminate()

    async def rest(self) -> str:
        """What it prints until it ends."""
        output, _ = await self._process.communicate()
        return output.decode()

    async def wait(self) -> int:
        return await self._process.wait()


@asynccontextmanager
async def _running(command: list[str], folder: Path, kubeconfig: Path) -> AsyncIterator[_Process]:
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={**os.environ, "KUBECONFIG": str(kubeconfig), "PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "ignore"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield _Process(process)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


async def _compare(page: Page, process: _Process) -> None:
    printed = await process.rest()
    if await process.wait() != 0 or printed != page.output:
        raise TrialError(f"it was to print\n{page.output}and printed\n{printed}")


async def _drive(page: Page, client: lw.ClientSet) -> None:
    await DRIVERS[page.name](client)


async def _use_databases(client: lw.ClientSet) -> None:
    """What a user does to the operator of the page about kopf."""
    definitions = client.dynamic.resource("crd")
    await definitions.create(lw.Unstructured.from_yaml(_database_definition()))
    await lw.wait_for(definitions, "databases.example.com", "ready", timeout=30)
    databases = client.dynamic.resource("example.com/v1", "Database", namespace="default")
    await databases.create({"metadata": {"name": "orders"}, "spec": {"size": 10}})
    await lw.wait_for(databases, "orders", "jsonpath={.status.size}=10", timeout=60)
    await lw.wait_for(databases, "orders", _has_checks, timeout=60)
    made = await databases.get("orders")
    if made.metadata.finalizers != ["example.com/database"]:
        raise TrialError(f"the finalizers are {made.metadata.finalizers}")
    await databases.patch("orders", {"spec": {"size": 20}})
    await lw.wait_for(databases, "orders", "jsonpath={.status.size}=20", timeout=60)
    await databases.delete("orders")
    await lw.wait_for(databases, "orders", "deleted", timeout=60)


def _database_definition() -> str:
    text = (FOLDER / "kopf.md").read_text()
    [definition] = [block["text"] for block in _BLOCK.finditer(text) if block["title"] == "crd.yaml"]
    return definition


def _has_checks(database: lw.Unstructured | None) -> bool:
    return database is not None and database.get("status", {}).get("checks", 0) > 1


async def _use_counter(client: lw.ClientSet) -> None:
    """What a user does to the controller of the page about client-go."""
    configmaps = client.core_v1.configmaps("default")
    meta = ObjectMeta(name="a", labels={"count": "yes"})
    for entries in ("1", "2"):
        if entries == "1":
            await configmaps.create(ConfigMap(metadata=meta, data={"x": "1"}))
        else:
            await configmaps.patch("a", {"data": {"y": "2"}})

        def is_counted(item: ConfigMap | None, entries: str = entries) -> bool:
            return item is not None and item.metadata.annotations.get("example.com/entries") == entries

        await lw.wait_for(configmaps, "a", is_counted, timeout=60)


KUBECTL = """
create configmap settings --from-literal=port=80
get configmaps,namespaces
get configmap settings -o yaml
create deployment web --image=nginx
scale deployment web --replicas=3
wait --for=jsonpath={.spec.replicas}=3 deployment/web --timeout=30s
label deployment web tier=front
annotate deployment web owner=me
set image deployment/web nginx=nginx:2
patch deployment web --patch {"spec":{"replicas":2}}
describe deployment web
get deployments -o wide -l tier=front
apply -f crd.yaml
wait --for=condition=Established crd/databases.example.com --timeout=30s
apply -f database.yaml
apply -f larger-database.yaml
wait --for=jsonpath={.spec.size}=2 database/orders --timeout=30s
apply --server-side --force-conflicts -f database.yaml
diff -f database.yaml
explain databases
get databases -o name
delete deployment web
delete -f database.yaml
api-resources
auth can-i list pods
""".strip().splitlines()


def _write_manifests(folder: Path) -> None:
    (folder / "crd.yaml").write_text(_database_definition())
    for file, size in {"database.yaml": 1, "larger-database.yaml": 2}.items():
        (folder / file).write_text(
            f"apiVersion: example.com/v1\nkind: Database\nmetadata: {{name: orders}}\nspec: {{size: {size}}}\n"
        )


async def _try_kubectl(kubectl: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _write_manifests(Path(folder))
        async with APIServer(tls=True) as server:
            server.kubeconfig(kubeconfig := Path(folder, "kubeconfig"))
            for command in KUBECTL:
                arguments = [kubectl, "--cache-dir", folder, *command.split()]
                async with asyncio.timeout(TIMEOUT), _running(arguments, Path(folder), kubeconfig) as process:
                    printed = await process.rest()
                    if await process.wait():
                        raise TrialError(f"kubectl {command}\n{printed}")


DRIVERS: dict[str, Callable[[lw.ClientSet], Awaitable[None]]] = {
    "kopf": _use_databases,
    "client-go": _use_counter,
}


async def _report_kubectl() -> int:
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        print("kubectl: skipped, it is not on the PATH", flush=True)
        return 0
    try:
        await _try_kubectl(kubectl)
    except TrialError as error:
        print(f"kubectl: failed\n{error}", flush=True)
        return 1
    print(f"kubectl: {len(KUBECTL)} commands work on the embedded server", flush=True)
    return 0


async def _main(names: list[str]) -> int:
    environments.make_all()
    versions, failed = environments.versions(), 0
    if not names or "kubectl" in names:
        failed += await _report_kubectl()
    for name in names or PAGES:
        if name == "kubectl":
            continue
        version = versions[name if name == "client-go" else name.replace("-", "_")].removeprefix("v")
        if reason := environments.reason_missing(name.replace("-", "_") if name != "client-go" else name):
            print(f"{name} {version}: skipped, {reason}", flush=True)
            continue
        try:
            await _try_page(read_page(name))
        except TrialError as error:
            failed += 1
            print(f"{name} {version}: failed\n{error}", flush=True)
        else:
            print(f"{name} {version}: the program and its port work on the embedded server", flush=True)
    return failed


if __name__ == "__main__":
    raise SystemExit(asyncio.run(_main(sys.argv[1:])))

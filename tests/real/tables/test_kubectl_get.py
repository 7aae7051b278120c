"""`kubectl get` and `listwatch get` on the embedded and on a real server print the same."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from listwatch.server.api_server import APIServer
from listwatch.testing import RealAPIServer
from listwatch.testing.real.real_binaries import RealBinaries

MANIFEST = """
apiVersion: v1
kind: Namespace
metadata: {name: tables}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: tables}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Note, type: string, jsonPath: .spec.note, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
"""
OBJECTS = """
apiVersion: v1
kind: Pod
metadata: {name: web-1, labels: {app: web, tier: a}}
spec: {nodeName: n1, containers: [{name: web, image: web:1}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, labels: {app: web}}
spec: {containers: [{name: web, image: web:1}, {name: log, image: log:1}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {type: NodePort, selector: {app: web}, ports: [{port: 80, nodePort: 30123}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web:1}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: web}
spec:
  schedule: "@daily"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: web, image: web:1}]}}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: large, labels: {app: web}}
spec: {size: 9, note: big}
status: {conditions: [{type: Ready, status: "True"}]}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: small}
spec: {size: 1}
"""
COMMANDS = [
    "get pods",
    "get pods -o wide",
    "get pods --show-labels",
    "get pods -L app,tier",
    "get pods --sort-by=.metadata.name",
    "get pods --sort-by=.spec.nodeName",
    "get pods --no-headers",
    "get pods -l tier=a",
    "get pods --field-selector spec.nodeName=n1",
    "get pods --chunk-size=1",
    "get pod web-0",
    "get pod/web-0 service/web",
    "get pods -A --field-selector metadata.namespace=tables",
    "get pods -A -o wide --field-selector metadata.namespace=tables",
    "get pods,services,deployments",
    "get all",
    "get all -o wide",
    "get widgets",
    "get wd -o wide",
    "get widgets --sort-by=.spec.size",
    "get widget large --show-labels",
    "get roles",
    "get cronjobs -o wide",
    "get deployments.v1.apps -o wide",
    "get secrets",
    "get namespace tables",
    "get crd widgets.example.com",
    "get pods -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName",
    "get pods -o name",
    "get pods --server-print=false",
    "get pods nothing",
]
LISTWATCH = ["get pods", "get pods -o wide", "get pods,services,widgets", "get deploy/web", "get widgets -o wide"]

_AGE = re.compile(r"\b\d+s\b")
_ADDRESS = re.compile(r"\b10\.(0|96)\.\d+\.\d+\b")
_TIME = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def normalized(output: str) -> list[list[str]]:
    """The words of each line without ages and addresses, whose lengths change the gaps between columns."""
    for pattern, word in ((_AGE, "age"), (_ADDRESS, "address"), (_TIME, "time")):
        output = pattern.sub(word, output)
    return [line.split() for line in output.splitlines()]


async def run(kubeconfig: Path, *command: str, text: str = "") -> str:
    process = await start(kubeconfig, *command)
    out, errors = await process.communicate(text.encode())
    return (out + errors).decode()


async def start(kubeconfig: Path, *command: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    environment = {**os.environ, "HOME": str(kubeconfig.parent), "KUBECONFIG": str(kubeconfig)}
    return await asyncio.create_subprocess_exec(*command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe)


@pytest.fixture
async def kubeconfigs(tmp_path: Path) -> AsyncIterator[tuple[Path, Path]]:
    """Kubeconfigs of an embedded and of a real server with the same objects."""
    files = tmp_path / "embedded" / "config", tmp_path / "real" / "config"
    async with APIServer() as embedded, RealAPIServer() as real:
        for server, file in zip((embedded, real), files, strict=True):
            file.parent.mkdir()
            server.kubeconfig(file)
            await kubectl(file, "apply", "-f", "-", text=MANIFEST)
            await kubectl(file, "wait", "--for=condition=Established", "crd/widgets.example.com")
            await kubectl(file, "create", "-n", "tables", "-f", "-", text=OBJECTS)
        yield files


async def kubectl(kubeconfig: Path, *arguments: str, text: str = "") -> str:
    binary = RealBinaries.find().kubectl
    assert binary is not None
    return await run(kubeconfig, str(binary), *arguments, text=text)


async def test_kubectl_get_prints_the_same_on_both_servers(kubeconfigs: tuple[Path, Path]):
    differences = {}
    for command in COMMANDS:
        place = () if "-A" in command or command.startswith(("get namespace", "get crd")) else ("-n", "tables")
        one, other = [await kubectl(file, *command.split(), *place) for file in kubeconfigs]
        if normalized(one) != normalized(other):
            differences[command] = f"\n{one}\n{other}"
    assert differences == {}


async def test_listwatch_get_prints_the_same_on_both_servers(kubeconfigs: tuple[Path, Path]):
    for command in LISTWATCH:
        program = (sys.executable, "-m", "listwatch", *command.split(), "-n", "tables")
        one, other = [await run(file, *program) for file in kubeconfigs]
        assert "NAME" in one, one
        assert normalized(one) == normalized(other)


async def test_kubectl_get_watches_tables_on_both_servers(kubeconfigs: tuple[Path, Path]):
    outputs = []
    binary = str(RealBinaries.find().kubectl)
    for file in kubeconfigs:
        process = await start(
            file, binary, "get", "widgets", "-w", "-o", "wide", "-n", "tables", "--output-watch-events"
        )
        assert process.stdout is not None
        lines = [await process.stdout.readline() for _ in range(3)]
        patch = '{"spec":{"size":10}}'
        await kubectl(file, "patch", "widget", "small", "-n", "tables", "--type=merge", "-p", patch)
        lines.append(await process.stdout.readline())
        await kubectl(file, "delete", "widget", "small", "-n", "tables")
        lines.append(await process.stdout.readline())
        process.terminate()
        await process.communicate()
        outputs.append(normalized(b"".join(lines).decode()))
    assert outputs[0] == outputs[1]
    assert [line[0] for line in outputs[0]] == ["EVENT", "ADDED", "ADDED", "MODIFIED", "DELETED"]

"""exec, attach, logs and cp print and return the same as kubectl's, on the embedded server."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.client.pods.local_kubelet import LocalKubelet, pod_tree

from listwatch.client import ClientSet
from listwatch.models.core_v1 import Pod
from listwatch.server import APIServer, AttachSession, ContainerLog, LogRequest, PortConnection
from listwatch.testing.clocks import VirtualClock
from listwatch.testing.real.real_binaries import RealBinaries

BINARY = bytes(range(256)) * 40


class Case(NamedTuple):
    arguments: tuple[str, ...]
    stdin: bytes = b""
    errors: bool = True
    """Whether stderr is compared too; kubectl words its own messages differently."""
    is_ordered: bool = True
    """Whether the lines come in the same order; those of several pods may not."""


def sh(script: str, *options: str, stdin: bytes = b"") -> Case:
    return Case(("exec", *options, "web-0", "--", "sh", "-c", script), stdin)


def exec_(*arguments: str, options: tuple[str, ...] = (), stdin: bytes = b"", errors: bool = True) -> Case:
    return Case(("exec", *options, "web-0", "--", *arguments), stdin, errors)


def logs(*arguments: str, errors: bool = True, is_ordered: bool = True) -> Case:
    return Case(("logs", *arguments), errors=errors, is_ordered=is_ordered)


CASES = {
    **{f"exit code {code}": sh(f"exit {code}") for code in (0, 1, 2, 3, 42, 126, 127, 128, 255)},
    "killed by a signal": sh("kill -9 $$"),
    "output": sh("echo out"),
    "errors": sh("echo err >&2"),
    "output and errors and a code": sh("echo out; echo err >&2; exit 5"),
    "no newline": exec_("printf", "abc"),
    "nothing": exec_("true"),
    "false": exec_("false"),
    "unicode": exec_("echo", "grüß dich ☃"),
    "arguments with spaces": exec_("printf", "[%s]", "a b", "", "c\nd"),
    "arguments that look like options": exec_("echo", "-n", "--", "-c", "--container"),
    "arguments with quotes": exec_("echo", "'a' \"b\" $HOME `x` & ; | \\"),
    "arguments with percent": exec_("echo", "100%", "a+b=c&d", "%20"),
    "binary output": exec_("printf", "\\001\\377\\000\\002"),
    "a megabyte": exec_("head", "-c", "1000000", "/dev/zero"),
    "many lines": exec_("seq", "20000"),
    "input": exec_("cat", options=("-i",), stdin=b"hello\n"),
    "input without newline": exec_("cat", options=("-i",), stdin=b"hello"),
    "no input": exec_("cat", options=("-i",)),
    "binary input": exec_("cat", options=("-i",), stdin=BINARY),
    "three megabytes of input": exec_("cat", options=("-i",), stdin=b"0123456789abcdef" * 200_000),
    "counted input": exec_("wc", "-c", options=("-i",), stdin=BINARY),
    "sorted input": exec_("sort", options=("-i",), stdin=b"b\nc\na\n"),
    "the head of the input": exec_("head", "-n", "2", options=("-i",), stdin=b"a\nb\nc\nd\n"),
    "input that is not read": exec_("true", options=("-i",), stdin=b"x" * 500_000),
    "input is not sent without -i": exec_("cat", stdin=b"hello"),
    "input and a code": sh("cat; exit 9", "-i", stdin=b"hello"),
    "a script from the input": exec_("sh", options=("-i",), stdin=b"echo one\necho two >&2\nexit 4\n"),
    "a named container": exec_("echo", "x", options=("-c", "main")),
    "a pod with its type": Case(("exec", "pod/web-0", "--", "echo", "x")),
    "another container": Case(("exec", "-c", "b", "web-1", "--", "echo", "x")),
    "the default container": Case(("exec", "web-1", "--", "echo", "x"), errors=False),
    "the pod of a deployment": Case(("exec", "deploy/web", "--", "echo", "x"), errors=False),
    "quiet": exec_("false", options=("-q",)),
    "a namespace": exec_("echo", "x", options=("-n", "default")),
    "a missing program": exec_("no-such-program", errors=False),
    "a missing pod": Case(("exec", "no", "--", "true"), errors=False),
    "a pod without a node": Case(("exec", "pending", "--", "true"), errors=False),
    "attach": Case(("attach", "web-0"), errors=False),
    "attach with input": Case(("attach", "-i", "web-0"), b"hello", errors=False),
    "a log": logs("web-0"),
    "the tail of a log": logs("web-0", "--tail", "1"),
    "no line of a log": logs("web-0", "--tail", "0"),
    "a log with times": logs("web-0", "--timestamps"),
    "a log of a container": logs("web-1", "-c", "b"),
    "a followed log that ends": logs("-f", "web-0"),
    "a previous log": logs("-p", "web-0"),
    "a recent log": logs("web-0", "--since", "1h"),
    "logs of many pods": logs("-l", "app=web", "--tail", "2", "--prefix", "--all-containers", is_ordered=False),
    "followed logs that end": logs("-l", "app=ended", "--tail", "2", "--prefix", is_ordered=False),
    "logs of no pods": logs("-l", "app=none", errors=False),
    "a log of a missing pod": logs("no", errors=False),
}


class Kubelet(LocalKubelet):
    async def attach(self, session: AttachSession) -> int:
        await session.stdout.write(f"attached to {session.container}\n")
        async for piece in session.stdin:
            await session.stdout.write(piece)
        return 0

    async def port_forward(self, connection: PortConnection) -> None:
        await connection.output.write(f"{connection.pod.name}:{connection.port}\n")

    def logs(self, request: LogRequest) -> AsyncIterator[bytes]:
        log = ContainerLog(clock=VirtualClock())
        for number in range(5):
            log.write(f"line {number} of {request.pod.name}/{request.container}{' before' * request.previous}\n")
        log.close()
        return log.read(request)


@pytest.fixture
async def kubeconfig(tmp_path: Path) -> AsyncIterator[Path]:
    (tmp_path / "container").mkdir()
    async with APIServer(kubelet=Kubelet(tmp_path / "container")) as server, ClientSet(server.config) as client:
        server.kubeconfig(tmp_path / "kubeconfig")
        trees = [
            pod_tree("web-0", app="web"),
            pod_tree("web-1", "a", "b", app="web"),
            pod_tree("ended-0", app="ended"),
        ]
        trees[2]["status"]["phase"] = "Succeeded"
        pending = pod_tree("pending")
        del pending["spec"]["nodeName"]
        pods = client.core_v1.pods("default")
        for tree in (*trees, pending):
            created = await pods.create(tree)
            created.status = Pod.from_dict(tree).status
            await pods.update_status(created)
        template = {"metadata": {"labels": {"app": "web"}}, "spec": trees[0]["spec"]}
        spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template, "replicas": 0}
        await client.apps_v1.deployments("default").create({"metadata": {"name": "web"}, "spec": spec})
        yield tmp_path / "kubeconfig"


class Done(NamedTuple):
    code: int
    out: bytes
    errors: bytes


async def finished(kubeconfig: Path, stdin: bytes, *command: str) -> Done:
    environment = {"HOME": str(kubeconfig.parent), "PATH": os.environ["PATH"], "KUBECONFIG": str(kubeconfig)}
    process = await asyncio.create_subprocess_exec(*command, env=environment, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    out, errors = await process.communicate(stdin)
    assert process.returncode is not None
    return Done(process.returncode, out, errors)


async def kubectl(kubeconfig: Path, *arguments: str, stdin: bytes = b"") -> Done:
    binary = RealBinaries.find().kubectl
    assert binary is not None
    return await finished(kubeconfig, stdin, str(binary), *arguments)


async def listwatch(kubeconfig: Path, *arguments: str, stdin: bytes = b"") -> Done:
    return await finished(kubeconfig, stdin, sys.executable, "-m", "listwatch", *arguments)


def test_there_are_fifty_cases():
    assert len(CASES) >= 50


@pytest.mark.parametrize("name", CASES)
async def test_output_and_exit_code_are_those_of_kubectl(name: str, kubeconfig: Path):
    case = CASES[name]
    expected = await kubectl(kubeconfig, *case.arguments, stdin=case.stdin)
    found = await listwatch(kubeconfig, *case.arguments, stdin=case.stdin)
    if not case.errors:
        expected, found = expected._replace(errors=b""), found._replace(errors=b"")
    if not case.is_ordered:
        expected, found = (each._replace(out=b"\n".join(sorted(each.out.splitlines()))) for each in (expected, found))
    assert found == expected


@pytest.mark.parametrize("is_ours_first", [True, False])
async def test_a_copied_directory_is_that_of_kubectl(is_ours_first: bool, kubeconfig: Path, tmp_path: Path):
    local = tmp_path / "local"
    (local / "sub").mkdir(parents=True)
    (local / "sub" / "file").write_bytes(BINARY)
    (local / "run.sh").write_text("#!/bin/sh\n")
    (local / "run.sh").chmod(0o755)
    (local / "empty").mkdir()
    send, receive = (listwatch, kubectl) if is_ours_first else (kubectl, listwatch)
    done = await send(kubeconfig, "cp", str(local), "web-0:there")
    assert done.code == 0, done.errors
    done = await receive(kubeconfig, "cp", "web-0:there", str(tmp_path / "back"))
    assert done.code == 0, done.errors
    for path in ("sub/file", "run.sh"):
        assert (tmp_path / "back" / path).read_bytes() == (local / path).read_bytes()
    assert (tmp_path / "back" / "empty").is_dir()

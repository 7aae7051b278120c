"""kubectl on the embedded server, with the kubeconfig that the server writes."""

import asyncio
import json
import os
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import listwatch as lw
from listwatch.client import apply_set
from listwatch.client.server_side_apply.apply_set import apply_set_id
from listwatch.errors import UsageError
from listwatch.models.core_v1 import Container, Pod, PodSpec
from listwatch.objects import ObjectMeta
from listwatch.server import (
    APIServer,
    AttachSession,
    ContainerLog,
    ExecSession,
    FunctionKubelet,
    Kubelet,
    PortConnection,
    ProxyRequest,
    ProxyResponse,
)
from listwatch.testing.real.real_binaries import RealBinaries


async def kubectl(kubeconfig: Path, *arguments: str, stdin: bytes = b"", code: int = 0, **environment: str) -> str:
    """Return the output of kubectl; with another exit code than zero, also its errors."""
    binary = RealBinaries.find().kubectl
    assert binary is not None
    done = await asyncio.create_subprocess_exec(
        str(binary),
        f"--kubeconfig={kubeconfig}",
        *arguments,
        env={"HOME": str(kubeconfig.parent), "PATH": os.environ["PATH"], **environment},
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
    )
    out, errors = await done.communicate(stdin)
    assert done.returncode == code, errors
    return (out + errors if code else out).decode()


async def test_kubectl_accepts_the_kubeconfig_of_an_embedded_server(tmp_path: Path):
    file = tmp_path / "kubeconfig"
    async with APIServer() as server:
        server.kubeconfig(file)
        assert await kubectl(file, "get", "--raw", "/readyz") == "ok"
        assert json.loads(await kubectl(file, "version", "-o", "json"))["serverVersion"]["major"] == "1"
        assert "namespace/default" in (await kubectl(file, "get", "namespaces", "-o", "name")).split()


async def test_a_set_of_applied_objects_has_the_id_that_kubectl_gives_it(tmp_path: Path):
    file, manifest = tmp_path / "kubeconfig", tmp_path / "a.json"
    manifest.write_text('{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}')
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        server.kubeconfig(file)
        options = ("--prune", "--applyset=configmaps/app", "-n", "default", "-f", str(manifest))
        await kubectl(file, "apply", *options, KUBECTL_APPLYSET="true")
        parent = await client.core_v1.configmaps("default").get("app")
        assert parent.labels == {"applyset.kubernetes.io/id": apply_set_id("app", "default")}
        with pytest.raises(UsageError, match="is a set of kubectl"):
            await apply_set(client, [], name="app", namespace="default")


# A kubelet of functions


async def in_pod(session: ExecSession) -> int:
    """Run a command on this machine."""
    process = await asyncio.create_subprocess_exec(*session.command, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    out, errors = await process.communicate(await session.stdin.read())
    await session.stdout.write(out)
    await session.stderr.write(errors)
    return process.returncode or 0


async def greet(connection: PortConnection) -> None:
    await connection.output.write(b"hello " + await connection.input.readline())


@asynccontextmanager
async def pod_with_kubelet(kubeconfig: Path, kubelet: Kubelet) -> AsyncIterator[None]:
    spec = PodSpec(node_name="n1", containers=[Container(name="main", image="web")])
    async with APIServer(kubelet=kubelet) as server, lw.ClientSet(server.config) as client:
        pods = client.core_v1.pods("default")
        pod = await pods.create(Pod(metadata=ObjectMeta(name="web"), spec=spec))
        await pods.patch("web", {"status": {"phase": "Running"}}, subresource="status")
        assert pod.name == "web"
        server.kubeconfig(kubeconfig)
        yield


async def test_kubectl_runs_commands_and_copies_files(tmp_path: Path):
    file, inside = tmp_path / "kubeconfig", tmp_path / "inside"
    inside.mkdir()
    source = tmp_path / "source"
    source.write_bytes(os.urandom(300_000))

    async def attach(session: AttachSession) -> None:
        await session.stdout.write(b"attached to " + await session.stdin.readline())

    async with pod_with_kubelet(file, FunctionKubelet(exec=in_pod, attach=attach)):
        assert await kubectl(file, "exec", "web", "--", "echo", "hi") == "hi\n"
        assert await kubectl(file, "exec", "-i", "web", "--", "cat", stdin=b"in\n") == "in\n"
        failed = await kubectl(file, "exec", "web", "--", "sh", "-c", "echo no >&2; exit 3", code=3)
        assert failed == "no\ncommand terminated with exit code 3\n"
        assert "attached to me" in await kubectl(file, "attach", "-i", "web", stdin=b"me\n")
        await kubectl(file, "cp", str(source), f"web:{inside}/copy")
        assert (inside / "copy").read_bytes() == source.read_bytes()
        await kubectl(file, "cp", f"web:{inside}/copy", str(tmp_path / "back"))
        assert (tmp_path / "back").read_bytes() == source.read_bytes()


async def test_kubectl_follows_logs_and_uses_proxies(tmp_path: Path):
    file, log = tmp_path / "kubeconfig", ContainerLog()
    log.write("one\ntwo\n")

    async def proxy(request: ProxyRequest) -> ProxyResponse:
        return ProxyResponse(f"{request.method} {request.path} at {request.port}")

    async with pod_with_kubelet(file, FunctionKubelet(logs=log.read, proxy=proxy)):
        assert await kubectl(file, "logs", "web", "--tail=1") == "two\n"
        following = asyncio.create_task(kubectl(file, "logs", "-f", "web"))
        log.write("three\n")
        log.close()
        assert await following == "one\ntwo\nthree\n"
        path = "/api/v1/namespaces/default/pods/http:web:80/proxy/x"
        assert await kubectl(file, "get", "--raw", path) == "GET /x at 80"


async def test_kubectl_forwards_ports(tmp_path: Path):
    file = tmp_path / "kubeconfig"
    async with pod_with_kubelet(file, FunctionKubelet(port_forward=greet)):
        binary = RealBinaries.find().kubectl
        process = await asyncio.create_subprocess_exec(
            str(binary), f"--kubeconfig={file}", "port-forward", "web", ":80", stdout=PIPE
        )
        try:
            assert process.stdout is not None
            line = (await process.stdout.readline()).decode()
            port = int(line.partition(" -> ")[0].rpartition(":")[2])
            for name in (b"one\n", b"two\n"):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(name)
                assert await reader.read() == b"hello " + name
                writer.close()
                await writer.wait_closed()
        finally:
            process.terminate()
            await process.communicate()

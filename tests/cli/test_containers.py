"""exec, attach, port-forward, cp, debug, and the logs of many pods."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import signal
import struct
import sys
import termios
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.cli.conftest import Run
from tests.client.pods.local_kubelet import LocalKubelet, pod_tree

from listwatch.client import ClientSet
from listwatch.models.core_v1 import Pod
from listwatch.server import APIServer, AttachSession, ContainerLog, ExecSession, LogRequest, PortConnection


class Kubelet(LocalKubelet):
    """Runs commands on this machine, except for `shell`, which reports what it receives."""

    async def exec(self, session: ExecSession) -> int:
        if session.command != ("shell",):
            return await super().exec(session)
        await session.stdout.write(f"tty={session.tty}\r\n")
        async with asyncio.TaskGroup() as group:
            sizes = group.create_task(self._report_sizes(session))
            while data := await session.stdin.read(1024):
                await session.stdout.write(f"{data!r}\r\n")
                if b"q" in data:
                    break
            sizes.cancel()
        return 7

    async def _report_sizes(self, session: ExecSession) -> None:
        async for width, height in session.resizes:
            await session.stdout.write(f"{width}x{height}\r\n")

    async def attach(self, session: AttachSession) -> int:
        await session.stdout.write(f"attached to {session.container}\n")
        await session.stderr.write("an error\n")
        return 3

    async def port_forward(self, connection: PortConnection) -> None:
        await connection.output.write(f"{connection.pod.name}:{connection.port}\n")

    def logs(self, request: LogRequest) -> AsyncIterator[bytes]:
        log = ContainerLog()
        log.write(f"one of {request.pod.name}\ntwo of {request.pod.name}\n")
        log.close()
        return log.read(request)


@pytest.fixture
async def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[APIServer]:
    async with APIServer(tls=True, bootstrap=False, kubelet=Kubelet(tmp_path)) as running:
        running.kubeconfig(tmp_path / "kubeconfig")
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
        monkeypatch.setenv("HOME", str(tmp_path))
        yield running


@pytest.fixture(autouse=True)
async def client(server: APIServer) -> AsyncIterator[ClientSet]:
    async with ClientSet(server.config) as connected:
        pods = connected.core_v1.pods("default")
        for tree in (pod_tree("web-0", app="web"), pod_tree("web-1", "a", "b", app="web")):
            tree["spec"]["containers"][0]["ports"] = [{"name": "http", "containerPort": 8080}]
            created = await pods.create(tree)
            created.status = Pod.from_dict(tree).status
            await pods.update_status(created)
        yield connected


# --- exec and attach --------------------------------------------------------------------------------------------------


async def test_the_exit_code_is_that_of_the_command(run: Run):
    done = await run("exec", "web-0", "--", "sh", "-c", "echo out; echo err >&2; exit 3")
    assert done == (3, "out\n", "err\ncommand terminated with exit code 3\n")


async def test_options_of_the_command_need_no_separator_before_its_name(run: Run):
    assert (await run("exec", "web-0", "-c", "main", "--", "echo", "-n", "-c")).out == "-c"


async def test_the_default_container_is_reported_if_there_are_several(run: Run):
    done = await run("exec", "web-1", "--", "true")
    assert (done.code, done.errors) == (0, "container a of a, b; select one with -c\n")
    for options in (("-c", "b"), ("-q",)):
        assert (await run("exec", "web-1", *options, "--", "true")).errors == ""


async def test_a_wrong_container_or_pod_is_reported(run: Run):
    done = await run("exec", "web-0", "-c", "no", "--", "true")
    assert (done.code, done.errors) == (2, "error: pod web-0 has no container no; it has main\n")
    done = await run("exec", "missing", "--", "true")
    assert (done.code, done.errors.splitlines()[0]) == (1, 'error: pods "missing" not found (NotFound, 404)')
    assert (await run("exec", "web-0")).code == 2


async def test_a_program_that_does_not_exist_is_an_error(run: Run):
    done = await run("exec", "web-0", "--", "no-such-program")
    assert done.code == 1
    assert "executable file not found" in done.errors


async def test_attach_shows_the_output_and_returns_the_exit_code(run: Run):
    assert await run("attach", "web-0") == (3, "attached to main\n", "an error\n")
    done = await run("attach", "-t", "web-0")
    assert done.errors == "no terminal is used: container main has none\nan error\n"


async def test_the_standard_input_is_sent_as_bytes(server: APIServer):
    data = bytes(range(256)) * 300
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "listwatch", "exec", "-i", "-t", "web-0", "--", "cat"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await process.communicate(data)
    assert (process.returncode, out) == (0, data)
    assert errors == b"no terminal is used: the standard input is not a terminal\n"


# --- a terminal -------------------------------------------------------------------------------------------------------


class Terminal(NamedTuple):
    """A terminal, of which the command has the other end."""

    ours: int
    theirs: int

    @property
    def attributes(self) -> list[Any]:
        return termios.tcgetattr(self.theirs)

    def resize(self, width: int, height: int) -> None:
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    async def read_until(self, text: bytes) -> bytes:
        found = b""
        while text not in found:
            found += await asyncio.to_thread(os.read, self.ours, 1000)
        return found


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal(*pty.openpty())
    made.resize(80, 24)
    yield made
    os.close(made.ours)
    os.close(made.theirs)


async def in_terminal(terminal: Terminal, *arguments: str) -> asyncio.subprocess.Process:
    streams = {"stdin": terminal.theirs, "stdout": terminal.theirs, "stderr": terminal.theirs}
    return await asyncio.create_subprocess_exec(sys.executable, "-m", "listwatch", *arguments, **streams)


async def test_keys_go_to_the_command_and_the_size_is_passed_on(terminal: Terminal):
    before = terminal.attributes
    process = await in_terminal(terminal, "exec", "-it", "web-0", "--", "shell")
    assert b"tty=True" in await terminal.read_until(b"80x24")
    os.write(terminal.ours, b"\x03")  # Ctrl-C
    await terminal.read_until(b"b'\\x03'")
    terminal.resize(120, 40)
    process.send_signal(signal.SIGWINCH)
    await terminal.read_until(b"120x40")
    os.write(terminal.ours, b"q")
    await terminal.read_until(b"command terminated with exit code 7")
    assert await process.wait() == 7
    assert terminal.attributes == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_terminal_is_restored_when_the_command_is_killed(terminal: Terminal, number: signal.Signals):
    before = terminal.attributes
    process = await in_terminal(terminal, "exec", "-it", "web-0", "--", "shell")
    await terminal.read_until(b"80x24")
    assert terminal.attributes != before
    process.send_signal(number)
    assert await process.wait() != 0
    assert terminal.attributes == before


async def test_the_terminal_is_restored_when_the_server_stops(terminal: Terminal, server: APIServer):
    before = terminal.attributes
    process = await in_terminal(terminal, "exec", "-it", "web-0", "--", "shell")
    await terminal.read_until(b"80x24")
    await server.stop()
    output = await terminal.read_until(b"arrived")
    assert b"error: " in output
    assert await process.wait() == 3
    assert terminal.attributes == before


# --- port-forward -----------------------------------------------------------------------------------------------------


async def test_local_ports_lead_to_a_pod_of_a_service(client: ClientSet):
    service = {"selector": {"app": "web"}, "ports": [{"port": 8000, "targetPort": "http"}]}
    await client.core_v1.services("default").create({"metadata": {"name": "web"}, "spec": service})
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "listwatch", "port-forward", "svc/web", ":8000"), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    line = (await process.stdout.readline()).decode()
    assert line.startswith("Forwarding from 127.0.0.1:")
    reader, writer = await asyncio.open_connection("127.0.0.1", int(line.split()[2].rpartition(":")[2]))
    assert await reader.read() == b"web-0:8080\n"
    writer.close()
    process.send_signal(signal.SIGINT)
    assert await process.wait() == 130


async def test_ports_are_checked(run: Run):
    for port in ("x:80", "80:", "0", "70000", "80:80:80", ""):
        assert (await run("port-forward", "web-0", port)).code == 2
    done = await run("port-forward", "web-0", "8080:metrics")
    assert (done.code, done.errors) == (
        2,
        "error: pod web-0 has no container port named 'metrics'; its named ports: http\n",
    )


# --- cp, debug and logs -----------------------------------------------------------------------------------------------


async def test_files_are_copied_both_ways(run: Run, tmp_path: Path):
    (tmp_path / "a.txt").write_text("text")
    assert await run("cp", str(tmp_path / "a.txt"), "web-0:b.txt") == (0, "", "")
    assert await run("cp", "default/web-0:b.txt", str(tmp_path / "c.txt"), "-c", "main") == (0, "", "")
    assert (tmp_path / "c.txt").read_text() == "text"


async def test_one_side_of_a_copy_is_a_pod(run: Run):
    for arguments in (("a", "b"), ("web-0:a", "web-1:b"), (":a", "b"), ("web-0:", "b")):
        assert (await run("cp", *arguments)).code == 2
    done = await run("cp", "./missing", "web-0:/tmp/x")
    assert (done.code, done.errors) == (2, "error: ./missing: no such file or directory\n")


async def test_a_debug_container_is_added(run: Run, client: ClientSet):
    done = await run("debug", "web-0", "--image", "busybox", "-c", "tools", "--target", "main", "--", "sleep", "1")
    assert done == (0, "added container tools to pod web-0\n", "")
    [added] = (await client.core_v1.pods("default").get("web-0")).spec.ephemeral_containers
    assert (added.name, added.image, added.command) == ("tools", "busybox", ["sleep", "1"])


async def test_the_logs_of_selected_pods_are_printed_with_their_names(run: Run):
    done = await run("logs", "-l", "app=web", "--tail", "1")
    assert sorted(done.out.splitlines()) == ["[pod/web-0/main] two of web-0", "[pod/web-1/a] two of web-1"]
    done = await run("logs", "-l", "app=web", "--no-prefix", "--all-containers")
    assert len(done.out.splitlines()) == 6
    assert "one of web-1" in done.out.splitlines()


async def test_logs_need_a_pod_or_a_selector(run: Run):
    for arguments in ((), ("web-0", "-l", "app=web"), ("-l", "app=web", "--previous")):
        assert (await run("logs", *arguments)).code == 2

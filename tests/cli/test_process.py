"""The command as a process: pipes, Ctrl-C, exit codes, and what it says when something is wrong."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Done, Process, Run

from listwatch.cli.app import COMMANDS
from listwatch.client import ClientSet
from listwatch.errors import ForbiddenError
from listwatch.server import APIServer, CutStream, Expire, Fail, Fault

Start = Callable[..., Awaitable[Process]]

NO_CLUSTER = {"KUBECONFIG": "/does/not/exist", "HOME": "/does/not/exist"}


def kubeconfig(folder: Path, server: str, token: str = "wrong") -> str:
    file = folder / "other-kubeconfig"
    file.write_text(
        f"""
apiVersion: v1
kind: Config
current-context: a
contexts: [{{name: a, context: {{cluster: a, user: a}}}}]
clusters: [{{name: a, cluster: {{server: "{server}", insecure-skip-tls-verify: true}}}}]
users: [{{name: a, user: {{token: {token}}}}}]
"""
    )
    return str(file)


# --- pipes ------------------------------------------------------------------------------------------------------------


def test_a_watch_ends_when_head_has_read_enough():
    command = f"set -o pipefail; {sys.executable} -m listwatch watch pods --embedded | head"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 10
    assert "\x1b" not in done.stdout


async def test_a_watch_without_changes_ends_when_its_reader_does(client: ClientSet, start: Start):
    await client.core_v1.configmaps("default").create({"metadata": {"name": "a"}})
    read, write = os.pipe()
    process = await start("watch", "configmaps", "-o", "name", stdout=write)
    os.close(write)
    assert await asyncio.to_thread(os.read, read, 100) == b"configmap/a\n"
    os.close(read)
    done = await process.end()
    assert (done.code, done.errors) == (0, "")


async def test_a_full_disk_is_an_error(server: APIServer, start: Start):
    full = os.open("/dev/full", os.O_WRONLY)
    process = await start("api-resources", stdout=full)
    os.close(full)
    done = await process.end()
    assert (done.code, done.errors) == (1, "error: cannot write the output: the disk is full\n")


# --- watch ------------------------------------------------------------------------------------------------------------


async def test_a_watch_prints_changes_and_reports_how_it_recovers(client: ClientSet, server: APIServer, start: Start):
    maps = client.core_v1.configmaps("default")
    await maps.create({"metadata": {"name": "a"}})
    process = await start("watch", "cm", "--field-selector", "metadata.name!=kube-root-ca.crt")
    assert (await process.line()).split() == ["EVENT", "NAME", "DATA", "AGE"]
    assert (await process.line()).split()[:2] == ["ADDED", "a"]
    await maps.patch("a", {"data": {"x": "1"}})
    assert (await process.line()).split()[:2] == ["MODIFIED", "a"]
    server.faults.add(Fault(CutStream(), verb="watch", resource="configmaps", times=1))
    lost, resumed = await process.error_line(), await process.error_line()
    assert lost.startswith("watch of configmaps: ")
    assert "; next attempt in " in lost
    assert resumed.startswith("watch of configmaps: resuming the watch at version ")
    server.faults.add(Fault(Expire(), verb="watch", resource="configmaps", times=1))
    while not (line := await process.error_line()).endswith("listing again"):
        assert line.startswith("watch of configmaps: ")
    await maps.delete("a")
    assert (await process.line()).split()[:2] == ["DELETED", "a"]
    process.process.send_signal(signal.SIGINT)
    done = await process.end()
    assert (done.code, "Traceback" in done.errors) == (130, False)


# --- Ctrl-C -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [("watch", "pods"), ("get", "pods", "-w"), ("events", "--watch")])
async def test_ctrl_c_ends_a_command_at_once(arguments: tuple[str, ...], start: Start):
    process = await start(*arguments, "--embedded")
    assert await process.line()
    process.process.send_signal(signal.SIGINT)
    done = await process.end()
    assert (done.code, done.errors) == (130, "")


async def test_ctrl_c_ends_a_request_that_gets_no_response(tmp_path: Path, start: Start):
    async def never_respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set()
        await reader.read()
        writer.close()

    connected = asyncio.Event()
    server = await asyncio.start_server(never_respond, "127.0.0.1", 0)
    async with server:
        file = kubeconfig(tmp_path, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        process = await start("get", "pods", KUBECONFIG=file)
        await connected.wait()
        process.process.send_signal(signal.SIGINT)
        done = await process.end()
    assert done.code == 130
    assert "Traceback" not in done.errors


# --- exit codes and messages ------------------------------------------------------------------------------------------


async def ended(start: Start, *arguments: str, **environment: str) -> Done:
    done = await (await start(*arguments, **environment)).end()
    assert "Traceback" not in done.errors
    return done


async def test_without_a_cluster_it_offers_the_embedded_server(start: Start):
    done = await ended(start, "get", "pods", **NO_CLUSTER)
    assert (done.code, done.out) == (3, "")
    assert "no API server is configured" in done.errors
    assert "--embedded" in done.errors


async def test_a_server_that_does_not_run_is_named(tmp_path: Path, start: Start):
    for command in ("get", "watch"):
        done = await ended(start, command, "pods", KUBECONFIG=kubeconfig(tmp_path, "https://127.0.0.1:1"))
        assert done.code == 3
        assert "127.0.0.1:1" in done.errors
        assert "connection refused; check that the server is running" in done.errors
        assert "add --embedded" in done.errors


async def test_a_wrong_context_lists_the_known_ones(server: APIServer, start: Start):
    done = await ended(start, "get", "pods", "--context", "prod")
    assert done.code == 3
    assert 'context "prod": does not exist; known: listwatch' in done.errors


async def test_a_token_that_is_not_accepted_is_an_error_of_its_own(tmp_path: Path, server: APIServer, start: Start):
    for command in ("get", "watch"):
        done = await ended(start, command, "pods", KUBECONFIG=kubeconfig(tmp_path, server.url))
        assert done.code == 4
        assert "missing, wrong or expired" in done.errors


async def test_a_missing_permission_is_an_error_of_its_own(server: APIServer, start: Start):
    server.faults.add(Fault(Fail(ForbiddenError.of("pods", "", "no")), resource="pods"))
    for command in ("get", "watch"):
        done = await ended(start, command, "pods")
        assert done.code == 4
        assert "pods is forbidden: no" in done.errors


async def test_http_at_an_https_address_is_explained(tmp_path: Path, start: Start):
    async with APIServer() as plain:
        done = await ended(start, "get", "pods", KUBECONFIG=kubeconfig(tmp_path, plain.url.replace("http:", "https:")))
    assert done.code == 3
    assert "http://" in done.errors


async def test_https_at_an_http_address_is_explained(tmp_path: Path, server: APIServer, start: Start):
    done = await ended(start, "get", "pods", KUBECONFIG=kubeconfig(tmp_path, server.url.replace("https:", "http:")))
    assert done.code == 3
    assert done.errors.count("; retrying in 1 s") == 3
    assert "; if the server expects TLS, write https:// in the URL\n" in done.errors


async def test_an_unknown_command_suggests_a_similar_one(run: Run):
    done = await run("gte", "pods")
    assert done.code == 2
    assert "No such command 'gte'. Did you mean get?" in done.errors


def test_without_the_extra_it_prints_how_to_install_it():
    program = (
        "import sys; sys.modules['click'] = None; from listwatch.cli.__main__ import main; sys.exit(main(['get']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "listwatch: the command line needs click; install it with: pip install 'listwatch[cli]'\n"


# --- help -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
async def test_every_command_has_help_that_begins_as_in_the_list(command: str, run: Run):
    done = await run(command, "--help")
    assert done.code == 0
    assert done.out.startswith(f"Usage: listwatch {command} ")


def test_every_command_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    assert [each for each in COMMANDS if f"### {each}\n" not in page] == []


def test_help_loads_no_client_and_no_command():
    program = (
        "import sys; from listwatch.cli.__main__ import main; main(['--help']); "
        "print([name for name in sys.modules if name.startswith(('aiohttp', 'msgspec', 'rich', 'yaml', 'asyncio', "
        "'listwatch.client', 'listwatch.cli.commands'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert all(command in done.stdout for command in COMMANDS)


def test_the_package_is_the_command():
    done = subprocess.run([sys.executable, "-m", "listwatch", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("listwatch ")


async def test_serve_prints_the_line_to_use_it(start: Start):
    server = await start("serve")
    assert (await server.line()).startswith("listening on https://")
    variable, _, file = (await server.line()).removeprefix("export ").partition("=")
    done = await ended(start, "get", "ns", "-o", "name", **{variable: file})
    assert "namespace/default" in done.out
    server.process.send_signal(signal.SIGINT)
    assert (await server.end()).code == 0


async def test_serve_fails_with_a_message(tmp_path: Path, start: Start):
    done = await ended(start, "serve", "--write-kubeconfig", str(tmp_path / "missing" / "file"))
    assert done.code == 1
    assert "does not exist" in done.errors

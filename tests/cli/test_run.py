"""`listwatch run`: what a file may define, what its errors look like, and restarts after changes."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import listwatch as lw
from listwatch.cli.programs.loader import ProgramError, load_program
from listwatch.cli.programs.reloading import SourceFiles, run_with_reload
from listwatch.client.config.kubeconfig import load_config
from listwatch.client.resources.client_set import ClientSet
from listwatch.clock import SystemClock
from listwatch.controller.manager import Manager
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ObjectMeta
from listwatch.server import APIServer

OPERATOR = """
import listwatch as lw
from listwatch.models.core_v1 import ConfigMap

async def reconcile(key: lw.ObjectKey) -> None:
    print(f"reconciled {key} as VERSION", flush=True)

maps = lw.Controller(reconcile, for_=ConfigMap)
"""


def written(folder: Path, text: str, name: str = "operator.py") -> Path:
    file = folder / name
    file.write_text(text)
    return file


@pytest.fixture(autouse=True)
def unchanged_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    for name, module in [*sys.modules.items()]:
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


# --- Loading ----------------------------------------------------------------------------------------------------------


async def controllers_of(file: Path) -> list[str]:
    async with APIServer() as server, ClientSet(server.config) as client:
        manager = Manager(client)
        await load_program(file).add_to(manager, client)
        return [each.name for each in manager.controllers]


async def test_the_controllers_of_the_module_are_run(tmp_path: Path) -> None:
    text = OPERATOR + "again = maps\nother = lw.Controller(reconcile, for_=ConfigMap, name='other')\n"
    assert await controllers_of(written(tmp_path, text)) == ["ConfigMap", "other"]


@pytest.mark.parametrize("keyword", ["", "async "])
async def test_setup_adds_the_controllers_itself(tmp_path: Path, keyword: str) -> None:
    text = (
        OPERATOR
        + f"{keyword}def setup(manager):\n    manager.add(lw.Controller(reconcile, for_=ConfigMap, name='x'))\n"
    )
    assert await controllers_of(written(tmp_path, text)) == ["x"]


async def test_a_file_may_import_other_files_of_its_folder(tmp_path: Path) -> None:
    written(tmp_path, OPERATOR, "other_controllers.py")
    file = written(tmp_path, "from other_controllers import maps\n", "main_program.py")
    assert await controllers_of(file) == ["ConfigMap"]


async def test_the_webhooks_of_the_module_are_served(tmp_path: Path) -> None:
    text = (
        "import listwatch as lw\nhooks = lw.Webhooks('maps')\n"
        "@hooks.validate('configmaps')\ndef check(obj: lw.Unstructured) -> None: ...\n"
    )
    assert await controllers_of(written(tmp_path, text)) == []


async def test_a_file_without_controllers_says_what_to_define(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match=r"defines no controllers: assign lw.Controller\(…\)"):
        await controllers_of(written(tmp_path, "x = 1\n"))


async def test_a_setup_that_fails_is_shown_with_its_line(tmp_path: Path) -> None:
    file = written(tmp_path, "def setup(manager):\n    manager.add(undefined)\n")
    with pytest.raises(ProgramError) as raised:
        await controllers_of(file)
    assert "line 2, in setup" in str(raised.value)
    assert "NameError: name 'undefined' is not defined" in str(raised.value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("import nothing_of_that_name\n", "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
        ("def f(:\n", "SyntaxError: invalid syntax"),
        ("x = 1\ny = x / 0\n", "line 2, in <module>"),
        ("import sys\nsys.exit('no')\n", "called sys.exit('no')"),
        ("setup = 3\n", "setup in"),
    ],
)
def test_a_file_that_cannot_be_imported_is_shown_without_the_frames_of_the_importer(
    tmp_path: Path, text: str, shown: str
) -> None:
    with pytest.raises(ProgramError) as raised:
        load_program(written(tmp_path, text))
    assert shown in str(raised.value)
    assert "importlib" not in str(raised.value)
    assert "loader.py" not in str(raised.value)


# --- The command ------------------------------------------------------------------------------------------------------


class Running:
    """`listwatch run` as a process, whose lines are read one by one."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[str] = []

    async def wait_for(self, wanted: str) -> str:
        assert self.process.stdout is not None
        while True:
            line = (await self.process.stdout.readline()).decode()
            assert line, f"the program ended without printing {wanted!r}; it printed {self.lines}"
            self.lines.append(line.rstrip())
            if wanted in line:
                return line

    async def end(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        assert self.process.stdout is not None
        self.lines += (await self.process.stdout.read()).decode().splitlines()
        return await self.process.wait()


@asynccontextmanager
async def running(file: Path, kubeconfig: Path, *options: str) -> AsyncIterator[Running]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "listwatch", "run", str(file), "--kubeconfig", str(kubeconfig), *options),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "HOME": str(file.parent)},
    )
    try:
        async with asyncio.timeout(60):  # not a measurement: a program that hangs must not hang the tests
            yield Running(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        process._transport.close()  # type: ignore[attr-defined]  # asyncio leaves its pipes to the collector otherwise


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[tuple[ClientSet, Path]]:
    async with APIServer(tls=True) as server, ClientSet(server.config) as client:
        server.kubeconfig(folder / "kubeconfig")
        await client.core_v1.configmaps("default").create(ConfigMap(metadata=ObjectMeta(name="web")))
        yield client, folder / "kubeconfig"


async def test_a_program_is_run_as_leader_with_probes_and_metrics_until_ctrl_c(tmp_path: Path) -> None:
    async with served(tmp_path) as (client, kubeconfig):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        options = ("--leader-election", "op", "--lease-namespace", "default", "--health-port", str(port))
        async with running(written(tmp_path, OPERATOR), kubeconfig, *options) as program:
            await program.wait_for("reconciled default/web")
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert b"workqueue_adds_total" in await reader.read()
            writer.close()
            assert (await client.coordination_v1.leases("default").get("op")).spec.holder_identity
            assert await program.end() == 0
        assert (await client.coordination_v1.leases("default").get("op")).spec.holder_identity == ""


async def test_a_namespace_limits_what_is_watched(tmp_path: Path) -> None:
    async with served(tmp_path) as (client, kubeconfig):
        await client.core_v1.configmaps("kube-public").create(ConfigMap(metadata=ObjectMeta(name="info")))
        async with running(written(tmp_path, OPERATOR), kubeconfig, "-n", "kube-public") as program:
            await program.wait_for("reconciled kube-public/info")
            assert await program.end(signal.SIGTERM) == 0
        assert not any("default/web" in line for line in program.lines)


async def test_a_file_with_an_error_ends_the_command_with_the_error(tmp_path: Path) -> None:
    async with running(written(tmp_path, "import nothing_at_all\n"), tmp_path / "none") as program:
        await program.wait_for("No module named 'nothing_at_all'")
        assert await program.process.wait() == 1


async def test_a_file_that_is_not_python_is_a_usage_error(tmp_path: Path) -> None:
    async with running(written(tmp_path, "kind: Pod", "pod.yaml"), tmp_path / "none") as program:
        await program.wait_for("pod.yaml is not a Python file: its name must end in .py")
        assert await program.process.wait() == 2


async def test_in_dev_mode_a_change_restarts_the_program_and_an_error_waits_for_the_next_change(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, kubeconfig):
        file = written(tmp_path, OPERATOR)
        async with running(file, kubeconfig, "--dev") as program:
            await program.wait_for("as VERSION")
            file.write_text(OPERATOR.replace("VERSION", "second"))
            await program.wait_for("operator.py changed; restarting")
            await program.wait_for("as second")
            file.write_text("def broken(:\n")
            await program.wait_for("SyntaxError")
            await program.wait_for("exit code 1; waiting for a change")
            file.write_text(OPERATOR.replace("VERSION", "third"))
            await program.wait_for("as third")
            assert await program.end() in (0, 130)


async def test_in_dev_mode_the_objects_of_an_embedded_server_survive_a_restart(tmp_path: Path) -> None:
    created = OPERATOR + (
        "async def setup(manager, client):\n"
        "    maps = client.core_v1.configmaps('default')\n"
        "    found = [each.name for each in await maps.list()]\n"
        "    print('found', 'mine' in found, flush=True)\n"
        "    if 'mine' not in found:\n"
        "        await maps.create({'metadata': {'name': 'mine'}})\n"
        "    manager.add(lw.Controller(reconcile, for_=ConfigMap))\n"
    )
    file = written(tmp_path, created)
    async with running(file, tmp_path / "unused", "--dev", "--embedded") as program:
        await program.wait_for("found False")
        await program.wait_for("reconciled default/mine")
        file.write_text(created + "\n")
        await program.wait_for("found True")
        assert await program.end() in (0, 130)


async def test_other_programs_can_use_the_embedded_server_of_a_program(tmp_path: Path) -> None:
    async with running(written(tmp_path, OPERATOR), tmp_path / "unused", "--embedded") as program:
        line = await program.wait_for("to use the embedded server in another terminal: export KUBECONFIG=")
        await program.wait_for("reconciled default/web")
        kubeconfig = Path(line.rpartition("=")[2].strip())
        async with ClientSet(load_config(kubeconfig)) as client:
            await client.core_v1.configmaps("default").create(ConfigMap(metadata=ObjectMeta(name="mine")))
        await program.wait_for("reconciled default/mine")
        assert await program.end() == 0
    with pytest.raises(lw.errors.ConfigError, match="does not exist"):
        load_config(kubeconfig)


# --- Reloading --------------------------------------------------------------------------------------------------------


def processes_of(marker: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if marker.encode() in (entry / "cmdline").read_bytes() and int(entry.name) != os.getpid():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):  # not a measurement: what never happens must not hang the tests
        while not condition():  # noqa: ASYNC110  # other processes set no event
            await asyncio.sleep(0.05)


async def test_a_child_that_ignores_the_request_to_stop_is_killed(tmp_path: Path) -> None:
    file = written(tmp_path, "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(600)\n")
    lines: list[str] = []
    files = SourceFiles(tmp_path, SystemClock())
    running_task = asyncio.create_task(
        run_with_reload(
            [sys.executable, str(file)], files, environment=os.environ, grace_period=0.2, report=lines.append
        )
    )
    await until(lambda: processes_of(str(file)))
    (first,) = processes_of(str(file))
    file.write_text(file.read_text() + "\n")
    await until(lambda: lines and processes_of(str(file)) not in ([], [first]))
    assert lines == ["operator.py changed; restarting"]
    assert first not in processes_of(str(file))
    running_task.cancel()
    await asyncio.wait([running_task])
    await until(lambda: not processes_of(str(file)))


async def test_a_child_ends_when_its_supervisor_is_killed(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, kubeconfig):
        file = written(tmp_path, OPERATOR)
        async with running(file, kubeconfig, "--dev") as program:
            await program.wait_for("as VERSION")
            assert len(processes_of(str(file))) == 2
            program.process.kill()
            await program.process.wait()
            await until(lambda: not processes_of(str(file)))


async def test_files_of_hidden_folders_and_virtual_environments_are_not_watched(tmp_path: Path) -> None:
    for folder in (".git", "venv", "package"):
        (tmp_path / folder).mkdir()
        written(tmp_path / folder, "", "a.py")
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    files = SourceFiles(tmp_path, SystemClock())
    written(tmp_path / ".git", "changed", "a.py")
    written(tmp_path / "venv", "changed", "a.py")
    written(tmp_path / "package", "changed", "a.py")
    assert await files.wait_changed() == [os.path.join("package", "a.py")]

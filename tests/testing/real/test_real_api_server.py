"""How a real API server is started and taken down, with programs that play its parts; `tests/real` has real ones."""

import asyncio
import os
import select
import sys
from pathlib import Path

import pytest

from listwatch.errors import ConfigError, ProgramError, UsageError
from listwatch.testing import RealAPIServer, RealBinaries

TIMEOUT = 60_000
"""Milliseconds after which something is taken never to happen."""

ETCD = """#!{python}
import os, socket, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

flags = dict(argument.lstrip("-").split("=", 1) for argument in sys.argv[1:])
open(os.environ["PID"], "w").write(str(os.getpid()))

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

class Server(HTTPServer):
    def server_bind(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        super().server_bind()

Server(("127.0.0.1", int(flags["listen-client-urls"].rpartition(":")[2])), Handler).serve_forever()
"""
BREAKS = "#!/bin/sh\necho 'flag --etcd-servers: I do not like it' >&2\nexit 1\n"
HANGS = "#!/bin/sh\nexec sleep 1000\n"


@pytest.fixture
def etcd_pid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the process that plays etcd writes its number."""
    monkeypatch.setenv("PID", str(tmp_path / "pid"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    Path(tmp_path, "temporary").mkdir()
    return tmp_path / "pid"


def binaries(folder: Path, *, kube_apiserver: str) -> RealBinaries:
    found = RealBinaries(folder / "kube-apiserver", folder / "etcd")
    found.kube_apiserver.write_text(kube_apiserver)
    found.etcd.write_text(ETCD.replace("{python}", sys.executable))
    for program in (found.kube_apiserver, found.etcd):
        program.chmod(0o755)
    return found


def has_ended(pid: int) -> bool:
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    try:
        return bool(poll.poll(TIMEOUT))
    finally:
        os.close(pidfd)


def number_in(file: Path) -> int:
    return int(file.read_text())


def left_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_a_failed_start_reports_the_reason_and_leaks_nothing(tmp_path: Path, etcd_pid: Path):
    server = RealAPIServer(binaries=binaries(tmp_path, kube_apiserver=BREAKS))
    with pytest.raises(ProgramError, match=r"kube-apiserver exited .*\n  flag --etcd-servers: I do not like it"):
        await server.start()
    assert has_ended(number_in(etcd_pid))
    assert left_in(tmp_path / "temporary") == []
    assert repr(server) == "<RealAPIServer, not running>"


async def test_a_cancelled_start_leaks_nothing(tmp_path: Path, etcd_pid: Path):
    server = RealAPIServer(binaries=binaries(tmp_path, kube_apiserver=HANGS))
    os.mkfifo(etcd_pid)
    starting = asyncio.create_task(server.start())
    pid = await asyncio.to_thread(number_in, etcd_pid)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert has_ended(pid)
    assert left_in(tmp_path / "temporary") == []


async def test_the_error_of_a_stopped_server_names_how_to_start_it():
    with pytest.raises(UsageError, match="use `async with`"):
        await RealAPIServer().kill_etcd()


async def test_a_server_beside_another_has_no_data_of_its_own(tmp_path: Path):
    with pytest.raises(UsageError, match="cannot be combined with"):
        RealAPIServer(beside=RealAPIServer(), data_dir=tmp_path)


async def test_missing_programs_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ConfigError, match="kube-apiserver was not found"):
        await RealAPIServer().start()


def test_the_fixture_skips_a_test_where_the_programs_are_missing(
    pytester: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    pytester.makepyfile("def test_it(real_api_server): ...")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(
        [f"SKIPPED *kube-apiserver was not found, neither in {tmp_path} (KUBEBUILDER_ASSETS) nor below *"]
    )

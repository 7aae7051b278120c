"""Commands, ports, files and logs from threads."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.client.pods.local_kubelet import LocalKubelet, pod_tree

from listwatch import blocking
from listwatch.errors import CommandFailedError, UsageError
from listwatch.server import APIServer, ContainerLog, PortConnection
from listwatch.testing.api_server_thread import APIServerThread


class Kubelet(LocalKubelet):
    def __init__(self) -> None:
        super().__init__()
        self.log = ContainerLog()

    def logs(self, request: Any) -> Any:
        return self.log.read(request)

    async def port_forward(self, connection: PortConnection) -> None:
        async for piece in connection.input:
            await connection.output.write(piece.upper())


@pytest.fixture
def kubelet() -> Kubelet:
    return Kubelet()


@pytest.fixture
def pods(kubelet: Kubelet) -> Iterator[Any]:
    with APIServerThread(APIServer(kubelet=kubelet)) as server, blocking.ClientSet(server.config) as client:
        found = client.core_v1.pods("default")
        found.create(pod_tree("web-0"))
        yield found


def test_a_command_returns_its_result(pods: Any):
    result = pods.exec("web-0", ["cat"], stdin="text")
    assert (result.exit_code, result.text) == (0, "text")
    with pytest.raises(CommandFailedError):
        pods.exec("web-0", ["false"], check=True)


def test_fifty_threads_run_commands_at_once(pods: Any):
    with ThreadPoolExecutor(50) as threads:
        results = [*threads.map(lambda number: pods.exec("web-0", ["echo", str(number)]).text, range(50))]
    assert results == [f"{number}\n" for number in range(50)]


def test_output_is_iterated_while_the_command_runs(pods: Any):
    with pods.stream_exec("web-0", ["cat"], stdin=True) as process:
        process.write("one")
        assert next(process) == ("stdout", b"one")
        process.write("two")
        for _, data in process:
            assert data == b"two"
            break
        process.close_stdin()
        assert [*process] == []
        assert process.exit_code == process.wait() == 0


def test_another_thread_ends_a_command(pods: Any):
    with pods.stream_exec("web-0", ["cat"], stdin=True) as process:
        threading.Timer(0.01, process.close).start()
        assert [*process] == []
        with pytest.raises(UsageError, match="was closed by this program"):
            process.wait()


def test_a_port_is_a_stream_or_a_local_port(pods: Any):
    with pods.open_port("web-0", 80) as stream:
        stream.write(b"hello")
        assert stream.read() == b"HELLO"
    with (
        pods.port_forward("web-0", 80) as forward,
        socket.create_connection(("127.0.0.1", forward.local_port)) as connection,
    ):
        connection.sendall(b"hello")
        assert connection.recv(100) == b"HELLO"


def test_files_are_copied(pods: Any, tmp_path: Path):
    (tmp_path / "a").write_text("text")
    assert blocking.copy_to_pod(pods, "web-0", tmp_path / "a", str(tmp_path / "b")).files == 1
    assert blocking.copy_from_pod(pods, "web-0", str(tmp_path / "b"), tmp_path / "c").size == 4
    assert (tmp_path / "c").read_text() == "text"


def test_logs_are_followed(pods: Any, kubelet: Kubelet):
    kubelet.log.write("one\n")
    with blocking.PodLogs(pods, follow=True) as logs:
        assert next(logs).text == "one"
        kubelet.log.write("two\n")
        assert next(logs).text == "two"

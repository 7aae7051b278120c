"""A server that is killed at any moment keeps every acknowledged write, and can be started again."""

import http.client
import itertools
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Connection = http.client.HTTPConnection
Tree = Any

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
WRITERS = 6
KILLS = 2
HEADERS = {"Authorization": "Bearer secret", "Content-Type": "application/json"}


@dataclass
class Known:
    """The last acknowledged version of an object, None after its deletion, and the method of a pending request."""

    version: int | None = None
    pending: str = ""


@dataclass
class Client:
    """Creates, changes and deletes its own objects until the server no longer responds."""

    number: int
    known: dict[str, Known] = field(default_factory=dict)
    versions: list[int] = field(default_factory=list)
    """The acknowledged versions, in order."""
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def work(self, address: str, ready: threading.Barrier) -> None:
        with closing(Connection(address, timeout=30)) as connection:
            try:
                for number in range(100_000):
                    self.write(connection, f"c{self.number}-{number % 40}", number)
                    if number == 60:
                        ready.wait()
            except (OSError, http.client.HTTPException):
                return  # the server was killed

    def write(self, connection: Connection, name: str, number: int) -> None:
        known = self.known.setdefault(name, Known())
        # Each write has other data: one that changes nothing gets no version.
        body = {"metadata": {"name": name}, "data": {"number": str(next(self.numbers))}}
        if known.version is None:
            self.send(connection, known, "POST", CONFIG_MAPS, body)
        elif number % 3:
            self.send(connection, known, "PUT", f"{CONFIG_MAPS}/{name}", body)
        else:
            self.send(connection, known, "DELETE", f"{CONFIG_MAPS}/{name}")

    def send(
        self, connection: http.client.HTTPConnection, known: Known, method: str, path: str, body: Tree = None
    ) -> None:
        known.pending = method
        response = send(connection, method, path, body)
        known.pending = ""
        known.version = None if method == "DELETE" else version(response)
        if known.version:
            self.versions.append(known.version)


def send(connection: Connection, method: str, path: str, body: Tree = None) -> Tree:
    connection.request(method, path, json.dumps(body) if body else None, HEADERS)
    response = connection.getresponse()
    received = response.read()
    assert response.status in (200, 201), received
    return json.loads(received)


def version(tree: Tree) -> int:
    return int(tree["metadata"]["resourceVersion"])


@contextmanager
def running(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The server as a program, and its address; killed at the end of the block."""
    command = [sys.executable, "-m", "listwatch.server", "--data-dir", str(folder), "--token", "secret"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().split()[-1].removeprefix("http://")
        finally:
            process.kill()


def versions_since(connection: Connection, start: int) -> list[int]:
    """The versions of all events after a version, up to that of an object created here."""
    end = version(send(connection, "POST", CONFIG_MAPS, {"metadata": {"generateName": "end-"}}))
    connection.request("GET", f"{CONFIG_MAPS}?watch=true&resourceVersion={start}", headers=HEADERS)
    response = connection.getresponse()
    received = []
    while not received or received[-1] != end:
        received.append(version(json.loads(response.readline())["object"]))
    response.close()
    return received


def test_acknowledged_writes_survive_every_kill(tmp_path: Path):
    clients = [Client(number) for number in range(WRITERS)]
    start = 0
    for _ in range(KILLS):
        with running(tmp_path) as (process, address):
            with closing(Connection(address, timeout=30)) as connection:
                start = start or version(send(connection, "GET", CONFIG_MAPS))
            ready = threading.Barrier(WRITERS + 1)
            threads = [threading.Thread(target=client.work, args=(address, ready)) for client in clients]
            for thread in threads:
                thread.start()
            ready.wait(timeout=60)
            process.kill()  # SIGKILL: it cannot write anything more
            for thread in threads:
                thread.join()
        with running(tmp_path) as (_, address), closing(Connection(address, timeout=30)) as connection:
            check(connection, clients, start)


def check(connection: Connection, clients: list[Client], start: int) -> None:
    listed = send(connection, "GET", CONFIG_MAPS)
    found = {item["metadata"]["name"]: version(item) for item in listed["items"]}
    acknowledged = [each for client in clients for each in client.versions]
    assert version(listed) >= max(acknowledged), "an acknowledged version could be assigned twice"
    for client in clients:
        assert client.versions == sorted(set(client.versions))
        for name, known in client.known.items():
            present = found.get(name)
            if not known.pending:
                assert present == known.version, name
            # A request without a response was either executed or not.
            elif present != known.version:
                assert (present is None) == (known.pending == "DELETE"), name
            known.version, known.pending = present, ""
    received = versions_since(connection, start)
    assert received == sorted(set(received))
    assert set(acknowledged) <= set(received)

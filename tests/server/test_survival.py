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
    """What a client knows of an object: the last version it was answered, None if it is gone; and what it asks for."""

    version: int | None = None
    asked: str = ""


@dataclass
class Client:
    """Makes, changes and deletes its own objects until the server does not answer any more."""

    number: int
    known: dict[str, Known] = field(default_factory=dict)
    versions: list[int] = field(default_factory=list)
    """All that it was answered, in order."""
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def work(self, address: str, enough: threading.Barrier) -> None:
        with closing(Connection(address, timeout=30)) as connection:
            try:
                for turn in range(100_000):
                    self.take_turn(connection, f"c{self.number}-{turn % 40}", turn)
                    if turn == 60:
                        enough.wait()
            except (OSError, http.client.HTTPException):
                return  # it was killed

    def take_turn(self, connection: Connection, name: str, turn: int) -> None:
        known = self.known.setdefault(name, Known())
        # Never the same again: a write that changes nothing is none.
        body = {"metadata": {"name": name}, "data": {"number": str(next(self.numbers))}}
        if known.version is None:
            self.ask(connection, known, "POST", CONFIG_MAPS, body)
        elif turn % 3:
            self.ask(connection, known, "PUT", f"{CONFIG_MAPS}/{name}", body)
        else:
            self.ask(connection, known, "DELETE", f"{CONFIG_MAPS}/{name}")

    def ask(
        self, connection: http.client.HTTPConnection, known: Known, method: str, path: str, body: Tree = None
    ) -> None:
        known.asked = method
        answer = ask(connection, method, path, body)
        known.asked = ""
        known.version = None if method == "DELETE" else version(answer)
        if known.version:
            self.versions.append(known.version)


def ask(connection: Connection, method: str, path: str, body: Tree = None) -> Tree:
    connection.request(method, path, json.dumps(body) if body else None, HEADERS)
    response = connection.getresponse()
    said = response.read()
    assert response.status in (200, 201), said
    return json.loads(said)


def version(tree: Tree) -> int:
    return int(tree["metadata"]["resourceVersion"])


@contextmanager
def running(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The server as a program, and its address; killed at the end, if it was not before."""
    command = [sys.executable, "-m", "listwatch.server", "--data-dir", str(folder), "--token", "secret"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().split()[-1].removeprefix("http://")
        finally:
            process.kill()


def told_since(connection: Connection, start: int) -> list[int]:
    """The versions of all events after that one, up to one that is made for this."""
    end = version(ask(connection, "POST", CONFIG_MAPS, {"metadata": {"generateName": "end-"}}))
    connection.request("GET", f"{CONFIG_MAPS}?watch=true&resourceVersion={start}", headers=HEADERS)
    response = connection.getresponse()
    told = []
    while not told or told[-1] != end:
        told.append(version(json.loads(response.readline())["object"]))
    response.close()
    return told


def test_acknowledged_writes_survive_every_kill(tmp_path: Path):
    clients = [Client(number) for number in range(WRITERS)]
    start = 0
    for _ in range(KILLS):
        with running(tmp_path) as (process, address):
            with closing(Connection(address, timeout=30)) as connection:
                start = start or version(ask(connection, "GET", CONFIG_MAPS))
            enough = threading.Barrier(WRITERS + 1)
            threads = [threading.Thread(target=client.work, args=(address, enough)) for client in clients]
            for thread in threads:
                thread.start()
            enough.wait(timeout=60)
            process.kill()  # SIGKILL: it has no time for anything
            for thread in threads:
                thread.join()
        with running(tmp_path) as (_, address), closing(Connection(address, timeout=30)) as connection:
            check(connection, clients, start)


def check(connection: Connection, clients: list[Client], start: int) -> None:
    listed = ask(connection, "GET", CONFIG_MAPS)
    found = {item["metadata"]["name"]: version(item) for item in listed["items"]}
    answered = [answer for client in clients for answer in client.versions]
    assert version(listed) >= max(answered), "no version is forgotten, so none is given twice"
    for client in clients:
        assert client.versions == sorted(set(client.versions))
        for name, known in client.known.items():
            present = found.get(name)
            if not known.asked:
                assert present == known.version, name
            # What was asked and not answered has happened or has not.
            elif present != known.version:
                assert (present is None) == (known.asked == "DELETE"), name
            known.version, known.asked = present, ""
    told = told_since(connection, start)
    assert told == sorted(set(told))
    assert set(answered) <= set(told)

"""A server of more pods than fit into memory as bytes: it generates the stream of initial events while it is read.

The pods are those of `pods.py`, repeated with other names, uids and versions. Only the stream is served, and the watch
that follows it sends nothing. `streaming_pods` starts it as `python -m bench.replay.many_pods COUNT`; it exits when its
standard input is closed.
"""

from __future__ import annotations

import random
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from bench.replay.paths import VERSION
from bench.replay.pods import pods
from bench.replay.recording import chunk, encoder

__all__ = ["streaming_pods"]

_TEMPLATES = 5_000
_STRIDE = 7_919
_BATCH = 50  # events that are sent at once
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
_NAME, _UID, _RESOURCE_VERSION = b"@name@", b"@uid@", b"@version@"
_encode = encoder()


def _templates() -> list[bytes]:
    """Events with places for a name, a uid and a version."""
    found = []
    for each in pods(_TEMPLATES):
        placed = {"name": _NAME.decode(), "uid": _UID.decode(), "resourceVersion": _RESOURCE_VERSION.decode()}
        pod = {"kind": "Pod", "apiVersion": "v1"} | each | {"metadata": each["metadata"] | placed}
        found.append(_encode({"type": "ADDED", "object": pod}) + b"\n")
    return found


def _events(templates: list[bytes], count: int) -> Iterator[bytes]:
    rng = random.Random(1)
    for start in range(0, count, _BATCH):
        batch = []
        for index in range(start, min(start + _BATCH, count)):
            event = templates[index % len(templates)].replace(_NAME, b"pod-%d" % index, 1)
            event = event.replace(_UID, str(uuid.UUID(int=rng.getrandbits(128), version=4)).encode(), 1)
            version = 900_000_000 + index * _STRIDE % count  # a server does not send objects in the order of versions
            batch.append(chunk(event.replace(_RESOURCE_VERSION, b"%d" % version, 1)))
        yield b"".join(batch)


def _end_of_stream() -> bytes:
    metadata = {"resourceVersion": VERSION, "annotations": {"k8s.io/initial-events-end": "true"}}
    mark = {"kind": "Pod", "apiVersion": "v1", "metadata": metadata}
    return chunk(_encode({"type": "BOOKMARK", "object": mark}) + b"\n")


def _serve_one(connection: socket.socket, templates: list[bytes], count: int) -> None:
    with connection, suppress(OSError):
        connection.recv(1 << 16)  # the request of the stream, which no other precedes
        connection.sendall(_HEAD)
        for batch in _events(templates, count):
            connection.sendall(batch)
        connection.sendall(_end_of_stream())
        connection.recv(1)  # until the client disconnects


def _serve(count: int) -> None:
    templates = _templates()
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=_serve_one, args=(connection, templates, count), daemon=True).start()


@contextmanager
def streaming_pods(count: int) -> Iterator[str]:
    """Run the server in its own process inside the context; yields its URL."""
    command = [sys.executable, "-m", "bench.replay.many_pods", str(count)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


if __name__ == "__main__":
    threading.Thread(target=_serve, args=(int(sys.argv[1]),), daemon=True).start()
    sys.stdin.read()

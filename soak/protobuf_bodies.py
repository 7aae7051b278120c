"""Sends damaged protobuf bodies to the embedded server: each must get a response of a client's error, or be accepted.

A body is truncated, over-long, wrongly typed, nested deeply, or has changed bytes. A server error or a record in the
log of the server fails the round.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any, NamedTuple

import aiohttp

from listwatch.protobuf.envelope import encode_object
from listwatch.server import APIServer
from soak.informers import Outcome

__all__ = ["Body", "ProtobufRound", "bodies", "send"]

PROTOBUF = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"
_TEMPLATE = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {
        "containers": [
            {
                "name": "c",
                "image": "i",
                "ports": [{"containerPort": 80}],
                "env": [{"name": "A", "value": "b"}],
                "resources": {"limits": {"cpu": "100m"}},
                "livenessProbe": {"httpGet": {"path": "/", "port": "web"}, "periodSeconds": 3},
            }
        ],
        "volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}],
        "nodeSelector": {"x": "y"},
    },
}
_SCHEMA = {"type": "object", "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
_KINDS: list[tuple[str, dict[str, Any]]] = [
    ("/api/v1/namespaces/default/configmaps", {"kind": "ConfigMap", "apiVersion": "v1", "data": {"a": "b", "c": "d"}}),
    ("/api/v1/namespaces/default/secrets", {"kind": "Secret", "apiVersion": "v1", "data": {"a": "Yg=="}}),
    ("/api/v1/namespaces/default/pods", {"kind": "Pod", "apiVersion": "v1", "spec": _TEMPLATE["spec"]}),
    (
        "/api/v1/namespaces/default/services",
        {"kind": "Service", "apiVersion": "v1", "spec": {"ports": [{"port": 80, "targetPort": "web"}]}},
    ),
    (
        "/apis/apps/v1/namespaces/default/deployments",
        {
            "kind": "Deployment",
            "apiVersion": "apps/v1",
            "spec": {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": _TEMPLATE},
        },
    ),
    (
        "/apis/coordination.k8s.io/v1/namespaces/default/leases",
        {
            "kind": "Lease",
            "apiVersion": "coordination.k8s.io/v1",
            "spec": {"holderIdentity": "me", "leaseDurationSeconds": 5, "renewTime": "2026-01-02T03:04:05.000006Z"},
        },
    ),
    (
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        {
            "kind": "CustomResourceDefinition",
            "apiVersion": "apiextensions.k8s.io/v1",
            "metadata": {"name": "widgets.example.com"},
            "spec": {
                "group": "example.com",
                "scope": "Namespaced",
                "names": {"plural": "widgets", "kind": "Widget"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": _SCHEMA}}],
            },
        },
    ),
]


class Body(NamedTuple):
    """A request with a damaged body."""

    path: str
    content: bytes
    damage: str


def bodies(seed: int, count: int) -> Iterator[Body]:
    """Yield requests; the same for the same seed."""
    rng = Random(seed)
    for number in range(count):
        path, tree = rng.choice(_KINDS)
        metadata = {"name": f"b{number}", "labels": {"a": "b"}, "annotations": {"c": "d"}, **tree.get("metadata", {})}
        whole = encode_object({**tree, "metadata": metadata})
        damage = rng.choice((_truncate, _extend, _change, _insert, _retype, _nest, _lengthen))
        yield Body(path, damage(rng, whole), damage.__name__.strip("_"))


def _truncate(rng: Random, whole: bytes) -> bytes:
    return whole[: rng.randrange(len(whole))]


def _extend(rng: Random, whole: bytes) -> bytes:
    return whole + rng.choice((b"\x00", b"\xff" * 11, whole, whole[4:], rng.randbytes(8)))


def _change(rng: Random, whole: bytes) -> bytes:
    changed = bytearray(whole)
    for _ in range(rng.choice((1, 1, 2, 8))):
        changed[rng.randrange(rng.choice((0, 4)), len(changed))] = rng.randrange(256)
    return bytes(changed)


def _insert(rng: Random, whole: bytes) -> bytes:
    at = rng.randrange(len(whole))
    return whole[:at] + rng.choice((b"\x80" * 12, b"\xff" * 10 + b"\x01", rng.randbytes(3))) + whole[at:]


def _retype(rng: Random, whole: bytes) -> bytes:
    """Change the wire type of what is, with some luck, the tag of a field."""
    changed = bytearray(whole)
    tags = [at for at, byte in enumerate(whole) if at > 4 and byte & 7 in (0, 2) and 0 < byte >> 3 < 16]
    changed[rng.choice(tags)] ^= rng.randrange(1, 8)
    return bytes(changed)


def _lengthen(rng: Random, whole: bytes) -> bytes:
    """Change what is, with some luck, the length of a field."""
    changed = bytearray(whole)
    lengths = [at + 1 for at, byte in enumerate(whole[:-1]) if at > 4 and byte & 7 == 2]
    changed[rng.choice(lengths)] = rng.choice((0, 1, 0x7F, 0xFF, 0x80))
    return bytes(changed)


def _nest(rng: Random, whole: bytes) -> bytes:
    """A message that is nested in itself, as the metadata of an object: most fields are unknown there."""
    field, content = rng.choice((0x0A, 0x12, 0x1A, 0x52)), b""
    for _ in range(rng.choice((10, 200, 2000))):
        content = bytes((field,)) + _varint(len(content)) + content
    return whole + b"\x12" + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    return bytes((*encoded, number))


async def send(session: aiohttp.ClientSession, url: str, body: Body) -> tuple[int, dict[str, Any]]:
    """Send a request that changes nothing; return the status and the decoded response."""
    headers = {"Content-Type": PROTOBUF, "Accept": "application/json"}
    async with session.post(f"{url}{body.path}?dryRun=All", data=body.content, headers=headers) as response:
        return response.status, json.loads(await response.read())


class ProtobufRound:
    """One round: a server, and as many bodies as fit into the time."""

    def __init__(self, seed: int, *, seconds: float = 15.0, count: int = 1 << 30) -> None:
        self._seed = seed
        self._seconds = seconds
        self._count = count

    async def run(self) -> Outcome:
        ends, sent, failures = time.monotonic() + self._seconds, 0, list[str]()
        async with APIServer() as server, aiohttp.ClientSession() as session:
            session.headers["Authorization"] = f"Bearer {server.token}"
            for body in bodies(self._seed, self._count):
                if time.monotonic() > ends or failures:
                    break
                with _recorded() as records:
                    status, response = await send(session, server.url, body)
                sent += 1
                if records or not (status == 201 or (400 <= status < 500 and response.get("kind") == "Status")):
                    found = records[0] if records else response
                    failures.append(f"{body.damage} of {body.path}: {status} {found}\n{body.content.hex()}")
        return Outcome(self._seed, writes=sent, notifications=0, faults=[], failures=failures)


@contextmanager
def _recorded() -> Iterator[list[str]]:
    """Collect the warnings and errors that are logged."""
    records: list[str] = []

    class Recorder(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record.getMessage())

    handler = Recorder(logging.WARNING)
    logger = logging.getLogger("listwatch")
    logger.addHandler(handler)
    try:
        yield records
    finally:
        logger.removeHandler(handler)

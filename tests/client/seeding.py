"""Writes many objects directly into the storage of the embedded server."""

import json

from listwatch.meta import ObjectKey
from listwatch.server import APIServer


def seed_config_maps(server: APIServer, count: int, *, namespace: str = "default") -> None:
    for number in range(count):
        key = ObjectKey(namespace, f"c-{number:05}")
        server.storage.create("/configmaps", key, lambda revision, key=key: _config_map(key, revision))


def _config_map(key: ObjectKey, revision: int) -> bytes:
    metadata = {
        "name": key.name,
        "namespace": key.namespace,
        "uid": f"uid-{key.name}",
        "resourceVersion": str(revision),
        "labels": {"parity": "odd" if int(key.name[2:]) % 2 else "even"},
    }
    tree = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}
    return json.dumps(tree, separators=(",", ":")).encode()

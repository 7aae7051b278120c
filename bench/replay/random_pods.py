"""Generates pods with high entropy, which compress badly: random names, images, hashes and values."""

from __future__ import annotations

import base64
import random
import uuid
from typing import Any

__all__ = ["random_pod"]

_MIN_SIZE, _RANGE = 1_000, 60
"""The smallest pod in bytes, and how many times as large the largest one is."""
_EMPTY = 1_300  # bytes of a pod without annotations and variables


def random_pod(index: int, rng: random.Random) -> dict[str, Any]:
    """The n-th pod: 1 to 60 KB, as many of each order of magnitude."""
    left = int(_MIN_SIZE * _RANGE ** rng.random()) - _EMPTY
    annotations, variables = {}, []
    while left > 0:
        size = min(rng.randrange(40, 2_000), left)
        left -= size + 60
        if rng.random() < 0.5:
            annotations[f"{_hex(10, rng)}.example.com/{_hex(8, rng)}"] = _text(size, rng)
        else:
            variables.append({"name": f"V_{_hex(12, rng).upper()}", "value": _hex(size, rng)})
    metadata = {
        "name": f"{_hex(12, rng)}-{index}",
        "namespace": f"team-{index % 50}",
        "uid": str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        "resourceVersion": str(900_000_000 + index),
        "creationTimestamp": "2026-01-02T03:04:05Z",
        "labels": {"app": f"app-{index % 40}", "hash": _hex(10, rng)},
        "annotations": annotations,
        "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": _hex(16, rng), "uid": _hex(32, rng)}
        ],
        "managedFields": [
            {"manager": _hex(8, rng), "operation": "Update", "apiVersion": "v1", "time": "2026-01-02T03:04:05Z"}
        ],
    }
    image = f"{_hex(12, rng)}.example.com/{_hex(12, rng)}@sha256:{_hex(64, rng)}"
    status = {"containerID": f"containerd://{_hex(64, rng)}", "name": "main", "image": image, "imageID": image}
    return {
        "metadata": metadata,
        "spec": {"nodeName": _hex(16, rng), "containers": [{"name": "main", "image": image, "env": variables}]},
        "status": {
            "phase": "Running",
            "podIP": f"10.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(256)}",
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [status | {"ready": True, "restartCount": rng.randrange(3)}],
        },
    }


def _text(size: int, rng: random.Random) -> str:
    return base64.b64encode(rng.randbytes(size * 3 // 4)).decode()


def _hex(length: int, rng: random.Random) -> str:
    return f"{rng.getrandbits(4 * length):0{length}x}"

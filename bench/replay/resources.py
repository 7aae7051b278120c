"""The replayed resources: their paths, kinds and generated objects."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench.replay.managed_fields import entry, fields_of
from bench.replay.paths import MIXED, WIDGETS
from bench.replay.pods import pod
from bench.replay.random_pods import random_pod

__all__ = ["RESOURCES", "ReplayedResource"]


@dataclass(frozen=True)
class ReplayedResource:
    """One resource, and the function that generates its n-th object."""

    path: str
    api_version: str
    kind: str
    make: Callable[[int, random.Random], dict[str, Any]]


def _config_map(index: int, rng: random.Random) -> dict[str, Any]:
    content = {"data": {"application.yaml": _text(_size(rng), rng)}}
    return _named("config", index, rng, [entry("helm", fields_of(content, "metadata"))]) | content


def _secret(index: int, rng: random.Random) -> dict[str, Any]:
    data = {"password": base64.b64encode(rng.randbytes(_size(rng) * 3 // 4)).decode()}
    content = {"type": "Opaque", "data": data}
    return _named("secret", index, rng, [entry("helm", fields_of(content, "metadata"))]) | content


def _widget(index: int, rng: random.Random) -> dict[str, Any]:
    parts = [
        {"name": f"part-{number}", "weight": rng.random(), "tags": ["a", "b"]} for number in range(_size(rng) // 66)
    ]
    spec, status = {"size": index, "parts": parts}, {"phase": "Ready", "observedGeneration": 1}
    version = f"{WIDGETS[0]}/{WIDGETS[1]}"
    managed = [
        entry("helm", {"f:spec": fields_of(spec, "spec")}, api_version=version),
        entry("widgets", {"f:status": fields_of(status, "status")}, api_version=version, subresource="status"),
    ]
    return _named("widget", index, rng, managed) | {"spec": spec, "status": status}


def _named(prefix: str, index: int, rng: random.Random, managed: list[dict[str, Any]]) -> dict[str, Any]:
    written = {"labels": {"app": f"app-{index % 40}"}, "annotations": {"team": f"team-{index % 50}"}}
    managed[0]["fieldsV1"]["f:metadata"] = fields_of(written, "metadata")
    return {
        "metadata": {
            "name": f"{prefix}-{index}",
            "namespace": f"team-{index % 50}",
            "uid": f"{rng.getrandbits(128):032x}",
            "resourceVersion": str(900_000_000 + index),
            "creationTimestamp": "2026-01-02T03:04:05Z",
            **written,
            "managedFields": managed,
        }
    }


def _size(rng: random.Random) -> int:
    """A size that makes objects of 0.6 to 60 KB, most of them small."""
    return int(20 * 3000 ** (rng.random() ** 2))


def _text(size: int, rng: random.Random) -> str:
    lines = [f"key-{number}: {rng.getrandbits(160):x}\n" for number in range(size // 50 + 1)]
    return "".join(lines)


RESOURCES = {
    "pods": ReplayedResource("/api/v1/pods", "v1", "Pod", pod),
    "random-pods": ReplayedResource("/api/v1/pods", "v1", "Pod", random_pod),
    "configmaps": ReplayedResource("/api/v1/configmaps", "v1", "ConfigMap", _config_map),
    "secrets": ReplayedResource("/api/v1/secrets", "v1", "Secret", _secret),
    "widgets": ReplayedResource("/apis/" + "/".join(WIDGETS), "/".join(WIDGETS[:2]), "Widget", _widget),
    **{
        name: ReplayedResource(f"/apis/{WIDGETS[0]}/{WIDGETS[1]}/{name}", "/".join(WIDGETS[:2]), "Widget", _widget)
        for name in MIXED
    },
}

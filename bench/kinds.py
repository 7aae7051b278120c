"""The resources that are replayed: where they are found, what they are called, and what each object looks like."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench.pods import pod

__all__ = ["KINDS", "Kind"]


@dataclass(frozen=True)
class Kind:
    """One resource, and how to make the object of a number."""

    path: str
    api_version: str
    kind: str
    make: Callable[[int, random.Random], dict[str, Any]]


def _config_map(index: int, dice: random.Random) -> dict[str, Any]:
    return _named("config", index, dice) | {"data": {"application.yaml": _text(_size(dice), dice)}}


def _secret(index: int, dice: random.Random) -> dict[str, Any]:
    content = base64.b64encode(dice.randbytes(_size(dice) * 3 // 4)).decode()
    return _named("secret", index, dice) | {"type": "Opaque", "data": {"password": content}}


def _widget(index: int, dice: random.Random) -> dict[str, Any]:
    parts = [{"name": f"part-{number}", "weight": dice.random(), "tags": ["a", "b"]} for number in range(20)]
    status = {"phase": "Ready", "observedGeneration": 1}
    return _named("widget", index, dice) | {"spec": {"size": index, "parts": parts}, "status": status}


def _named(prefix: str, index: int, dice: random.Random) -> dict[str, Any]:
    return {
        "metadata": {
            "name": f"{prefix}-{index}",
            "namespace": f"team-{index % 50}",
            "uid": f"{dice.getrandbits(128):032x}",
            "resourceVersion": str(900_000_000 + index),
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "labels": {"app": f"app-{index % 40}"},
            "annotations": {"team": f"team-{index % 50}"},
        }
    }


def _size(dice: random.Random) -> int:
    """0.5 to 60 KB, most of it small."""
    return int(500 * 120 ** (dice.random() ** 3))


def _text(size: int, dice: random.Random) -> str:
    line = f"key-{dice.randrange(1000)}: value of some length that is found in a file\n"
    return line * (size // len(line) + 1)


KINDS = {
    "pods": Kind("/api/v1/pods", "v1", "Pod", pod),
    "configmaps": Kind("/api/v1/configmaps", "v1", "ConfigMap", _config_map),
    "secrets": Kind("/api/v1/secrets", "v1", "Secret", _secret),
    "widgets": Kind("/apis/bench.example.com/v1/widgets", "bench.example.com/v1", "Widget", _widget),
}

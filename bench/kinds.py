"""The resources that are replayed: where they are found, what they are called, and what each object looks like."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench.managed_fields import entry, fields_of
from bench.pods import pod
from bench.replay_paths import WIDGETS

__all__ = ["KINDS", "Kind"]


@dataclass(frozen=True)
class Kind:
    """One resource, and how to make the object of a number."""

    path: str
    api_version: str
    kind: str
    make: Callable[[int, random.Random], dict[str, Any]]


def _config_map(index: int, dice: random.Random) -> dict[str, Any]:
    content = {"data": {"application.yaml": _text(_size(dice), dice)}}
    return _named("config", index, dice, [entry("helm", fields_of(content, "metadata"))]) | content


def _secret(index: int, dice: random.Random) -> dict[str, Any]:
    data = {"password": base64.b64encode(dice.randbytes(_size(dice) * 3 // 4)).decode()}
    content = {"type": "Opaque", "data": data}
    return _named("secret", index, dice, [entry("helm", fields_of(content, "metadata"))]) | content


def _widget(index: int, dice: random.Random) -> dict[str, Any]:
    parts = [
        {"name": f"part-{number}", "weight": dice.random(), "tags": ["a", "b"]} for number in range(_size(dice) // 66)
    ]
    spec, status = {"size": index, "parts": parts}, {"phase": "Ready", "observedGeneration": 1}
    version = f"{WIDGETS[0]}/{WIDGETS[1]}"
    managed = [
        entry("helm", {"f:spec": fields_of(spec, "spec")}, api_version=version),
        entry("widgets", {"f:status": fields_of(status, "status")}, api_version=version, subresource="status"),
    ]
    return _named("widget", index, dice, managed) | {"spec": spec, "status": status}


def _named(prefix: str, index: int, dice: random.Random, managed: list[dict[str, Any]]) -> dict[str, Any]:
    written = {"labels": {"app": f"app-{index % 40}"}, "annotations": {"team": f"team-{index % 50}"}}
    managed[0]["fieldsV1"]["f:metadata"] = fields_of(written, "metadata")
    return {
        "metadata": {
            "name": f"{prefix}-{index}",
            "namespace": f"team-{index % 50}",
            "uid": f"{dice.getrandbits(128):032x}",
            "resourceVersion": str(900_000_000 + index),
            "creationTimestamp": "2026-01-02T03:04:05Z",
            **written,
            "managedFields": managed,
        }
    }


def _size(dice: random.Random) -> int:
    """So that objects have 0.6 to 60 KB, most of them few."""
    return int(20 * 3000 ** (dice.random() ** 2))


def _text(size: int, dice: random.Random) -> str:
    lines = [f"key-{number}: {dice.getrandbits(160):x}\n" for number in range(size // 50 + 1)]
    return "".join(lines)


KINDS = {
    "pods": Kind("/api/v1/pods", "v1", "Pod", pod),
    "configmaps": Kind("/api/v1/configmaps", "v1", "ConfigMap", _config_map),
    "secrets": Kind("/api/v1/secrets", "v1", "Secret", _secret),
    "widgets": Kind("/apis/" + "/".join(WIDGETS), "/".join(WIDGETS[:2]), "Widget", _widget),
}

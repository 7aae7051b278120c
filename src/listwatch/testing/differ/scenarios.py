"""Scenarios: sequences of requests. Each scenario runs in its own namespace.

A request may refer to earlier responses of the same server: `${version configmaps/a}` and `${uid configmaps/a}` are the
latest resourceVersion and uid of that object, `${continue configmaps}` is the continue token of the latest list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from listwatch.errors import DecodeError

__all__ = ["Request", "Scenario", "read_scenarios", "write_scenarios"]


class Request(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request. `{namespace}` in its path, headers or body is replaced by the namespace of the scenario."""

    method: str
    path: str
    query: dict[str, str] = {}
    headers: dict[str, str] = {}
    body: Any = None  # msgspec does not decode recursive type aliases such as JSON
    """A string is sent as it is, any other value as JSON."""
    until: str = ""
    """The request is repeated until the response contains this text: a real server reads some objects from caches."""

    def __str__(self) -> str:
        query = "&".join(f"{name}={value}" for name, value in self.query.items())
        return f"{self.method} {self.path}{'?' if query else ''}{query}"


class Scenario(msgspec.Struct, frozen=True, omit_defaults=True):
    """Requests that build on each other."""

    requests: tuple[Request, ...]
    is_first: bool = False
    """Whether the scenario ends before the next one starts; its objects are used by others, and are not deleted."""


def write_scenarios(path: Path, scenarios: Iterable[Scenario]) -> None:
    """Write one line of JSON per scenario."""
    path.write_bytes(b"".join(msgspec.json.encode(scenario) + b"\n" for scenario in scenarios))


def read_scenarios(path: Path) -> Iterator[Scenario]:
    decoder = msgspec.json.Decoder(Scenario)
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            yield decoder.decode(line)
        except msgspec.DecodeError as error:
            raise DecodeError(f"cannot read scenarios from {path}: line {number} is not a scenario: {error}") from error

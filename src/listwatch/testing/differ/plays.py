"""What is played: requests one after the other, in a namespace of their own. `playing` does so.

A request may speak of what was answered before: `${version configmaps/a}` and `${uid configmaps/a}` are those of the
object when it was last answered, `${continue configmaps}` is what the last page of that list said; each server has its
own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from listwatch.errors import DecodeError

__all__ = ["Play", "Request", "read_plays", "write_plays"]

Tree = Any


class Request(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request; `{namespace}` in its path or body is the namespace of the play."""

    method: str
    path: str
    query: dict[str, str] = {}
    headers: dict[str, str] = {}
    body: Tree = None
    """A tree is sent as JSON, a text as it is."""

    def __str__(self) -> str:
        query = "&".join(f"{name}={value}" for name, value in self.query.items())
        return f"{self.method} {self.path}{'?' if query else ''}{query}"


class Play(msgspec.Struct, frozen=True):
    """Requests that build on each other."""

    requests: tuple[Request, ...]


def write_plays(path: Path, plays: Iterable[Play]) -> None:
    """A line of JSON for each."""
    path.write_bytes(b"".join(msgspec.json.encode(play) + b"\n" for play in plays))


def read_plays(path: Path) -> Iterator[Play]:
    decoder = msgspec.json.Decoder(Play)
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            yield decoder.decode(line)
        except msgspec.DecodeError as error:
            raise DecodeError(f"reading plays from {path}: line {number} is none: {error}") from error

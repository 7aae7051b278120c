"""The responses of the replay server for one resource, as bytes that are prepared in advance."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cached_property
from itertools import accumulate
from typing import Any

from bench.replay.paths import SENT, VERSION
from bench.replay.resources import ReplayedResource

__all__ = ["Bytes", "Recording", "chunk", "encoder"]

Bytes = bytes | memoryview

_STAMP = "0" * 19
_END = {"k8s.io/initial-events-end": "true"}


def encoder() -> Callable[[Any], bytes]:
    """The fastest JSON encoder that is installed."""
    try:
        import msgspec
    except ImportError:
        return lambda value: json.dumps(value, separators=(",", ":")).encode()
    return msgspec.json.encode


def chunk(data: Bytes) -> bytes:
    """Frame data as one chunk of a chunked HTTP response."""
    return b"%x\r\n%b\r\n" % (len(data), bytes(data))


class Recording:
    """The list of one resource, whole or in pages; its stream of initial events; and any number of later events."""

    def __init__(self, resource: ReplayedResource, count: int, *, seed: int = 1) -> None:
        self._resource = resource
        self._encode = encode = encoder()
        self.version = int(VERSION)
        rng = random.Random(seed)
        made = [resource.make(index, rng) for index in range(count)]
        items = [encode(each) for each in made]
        self._starts = [0, *accumulate(len(item) + 1 for item in items)]
        self._items = memoryview(b",".join(items) + b",")
        head = {"kind": resource.kind, "apiVersion": resource.api_version}
        type_meta = encode(head)[:-1] + b","
        self.first = type_meta + items[0][1:]
        added = (b'{"type":"ADDED","object":%b%b}\n' % (type_meta, each[1:]) for each in items)
        self.stream = memoryview(b"".join(map(chunk, added)))
        self._templates = [_template(encode({"type": "MODIFIED", "object": head | _stamped(each)})) for each in made]

    def page(self, start: int = 0, limit: int = 0) -> tuple[Bytes, ...]:
        """A page of the list, or everything from `start`."""
        count = len(self._starts) - 1
        stop = min(start + (limit or count), count)
        metadata: dict[str, Any] = {"resourceVersion": VERSION}
        if stop < count:
            metadata |= {"continue": str(stop), "remainingItemCount": count - stop}
        kind = {"kind": f"{self._resource.kind}List", "apiVersion": self._resource.api_version, "metadata": metadata}
        items = self._items[self._starts[start] : self._starts[stop] - 1]
        return self._encode(kind)[:-1] + b',"items":[', items, b"]}"

    def end_of_stream(self) -> bytes:
        """The bookmark that ends the initial events."""
        metadata = {"resourceVersion": str(self.version), "annotations": _END}
        mark = {"kind": self._resource.kind, "apiVersion": self._resource.api_version, "metadata": metadata}
        return chunk(self._encode({"type": "BOOKMARK", "object": mark}) + b"\n")

    def events(self, count: int, *, sent: int = 0) -> bytes:
        """The next events, one object after the other."""
        return b"".join([self._event(sent) for _ in range(count)])

    @cached_property
    def played(self) -> bytes:
        """One event per object, the same bytes each time."""
        return self.events(len(self._templates))

    def _event(self, sent: int) -> bytes:
        self.version += 1
        before, between, after = self._templates[self.version % len(self._templates)]
        return b"%b%d%b%019d%b" % (before, self.version, between, sent, after)


def _stamped(made: dict[str, Any]) -> dict[str, Any]:
    metadata = made["metadata"]
    annotations = {**metadata["annotations"], SENT: _STAMP}
    return made | {"metadata": metadata | {"resourceVersion": "@" * 10, "annotations": annotations}}


def _template(line: bytes) -> tuple[bytes, bytes, bytes]:
    """The chunk of an event, split where its resourceVersion and its time are inserted."""
    framed = chunk(line + b"\n")
    before, _, rest = framed.partition(b"@" * 10)
    between, _, after = rest.partition(_STAMP.encode())
    return before, between, after

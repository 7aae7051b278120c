"""The versions that a replica writes into the Lease of a shard that it releases: the next owner waits for them.

For each resource that this replica caches, the version that contains every write that it and the earlier owners made
while they owned the shard. A resource is missing if that is not known: after a deletion, whose version the server does
not send, and after a write without a response. The next owner then needs a consistent list.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

from listwatch.errors import ResourceVersionError
from listwatch.meta import is_newer

__all__ = ["ReleasedVersions", "newest"]


class ReleasedVersions:
    """The versions of the shards of one replica; writes are recorded from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: dict[int, int] = {}
        self._versions: dict[int, dict[str, str]] = {}

    def gain(self, shard: int, token: int, released: Mapping[str, str] | None) -> None:
        """A shard was gained, with what its last owner has released. Nothing is written before the caches catch up."""
        with self._lock:
            self._tokens[shard] = token
            self._versions[shard] = dict(released or {})

    def catch_up(self, shard: int, token: int, reached: Mapping[str, str]) -> None:
        """The caches contain these versions of their resources."""
        with self._lock:
            if self._tokens.get(shard) == token:
                self._versions[shard] = {name: version for name, version in reached.items() if version}

    def record(self, shard: int, resource: str, version: str) -> None:
        """A reconcile of the shard wrote an object of a resource; the version is empty if it is not known."""
        with self._lock:
            known = self._versions.get(shard, {})
            if resource in known:
                found = newest(known[resource], version) if version else ""
                if found:
                    known[resource] = found
                else:
                    del known[resource]

    def take(self, shard: int) -> dict[str, str]:
        """The versions of a shard that is released or lost."""
        with self._lock:
            self._tokens.pop(shard, None)
            return self._versions.pop(shard, {})


def newest(version: str, other: str) -> str:
    """The newer one of two versions; empty if they cannot be compared."""
    try:
        return other if is_newer(other, version) else version
    except ResourceVersionError:
        return ""

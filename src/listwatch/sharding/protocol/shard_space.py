"""Which shard an object belongs to: the hash space divided into ranges of equal size."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, get_args

from listwatch.api.shard_selector import HASH_SPACE, HashRange, ShardField, ShardSelector, fmix64, fnv1a64
from listwatch.errors import UsageError
from listwatch.keyed import Cached
from listwatch.objects.object import Object

__all__ = ["MAX_SHARDS", "HashName", "ShardSpace"]

MAX_SHARDS = 1024

HashName = Literal["fnv1a64", "fnv1a64+fmix64"]
"""The hash of Kubernetes' shard selectors, or the same followed by a mixing step, for the client side only."""


class ShardSpace:
    """`count` shards of equal size over the 64-bit hashes of uids or namespaces.

    Shard i has the hashes from ceil(i * 2^64 / count) up to ceil((i + 1) * 2^64 / count), exclusive.
    """

    __slots__ = ("_shard_of_text", "by", "count", "hash_name")

    def __init__(self, count: int, *, by: ShardField = "uid", hash_name: HashName = "fnv1a64") -> None:
        given: object = count
        if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= MAX_SHARDS:
            raise UsageError(f"shards={count!r}: expected a number from 1 to {MAX_SHARDS}")
        if by not in get_args(ShardField):
            raise UsageError(f"shard_by={by!r}: expected 'uid' or 'namespace'")
        if hash_name not in get_args(HashName):
            raise UsageError(f"shard_hash={hash_name!r}: expected 'fnv1a64' or 'fnv1a64+fmix64'")
        self.count = count
        self.by = by
        self.hash_name = hash_name
        # A hash takes about five microseconds, and there are few namespaces.
        self._shard_of_text = lru_cache(maxsize=4096 if by == "namespace" else 1024)(self._compute)

    def __repr__(self) -> str:
        return f"ShardSpace({self.count}, by={self.by!r}, hash_name={self.hash_name!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShardSpace):
            return NotImplemented
        return (self.count, self.by, self.hash_name) == (other.count, other.by, other.hash_name)

    def __hash__(self) -> int:
        return hash((self.count, self.by, self.hash_name))

    # --- hashes ------------------------------------------------------------------------------------------------------

    def hash_of(self, text: str) -> int:
        """The hash of a uid or a namespace."""
        value = fnv1a64(text)
        return fmix64(value) if self.hash_name == "fnv1a64+fmix64" else value

    def shard_of(self, text: str) -> int:
        """The shard of a uid or a namespace."""
        return self._shard_of_text(text)

    def _compute(self, text: str) -> int:
        return (self.hash_of(text) * self.count) >> 64

    # --- objects -----------------------------------------------------------------------------------------------------

    def shard_of_object(self, item: Cached) -> int:
        """The shard of an object that is reconciled itself."""
        if self.by == "namespace":
            return self.shard_of(_namespace_of(item))
        uid = getattr(item, "uid", "")
        return self.shard_of(uid if isinstance(uid, str) else "")

    # --- ranges ------------------------------------------------------------------------------------------------------

    def range_of(self, shard: int) -> HashRange:
        """The hashes of a shard."""
        return HashRange(-(-shard * HASH_SPACE // self.count), -(-(shard + 1) * HASH_SPACE // self.count))

    @property
    def is_selectable(self) -> bool:
        """Whether a server can select by these hashes: it has only one hash function."""
        return self.hash_name == "fnv1a64"

    def selector(self, shards: Iterable[int]) -> ShardSelector:
        """The shard selector of some shards, with adjacent ranges merged."""
        if not self.is_selectable:
            raise UsageError(f"no server can select by the hash {self.hash_name}: filter objects on the client")
        return ShardSelector.of(self.by, map(self.range_of, shards))


def _namespace_of(item: Cached) -> str:
    return item.namespace if isinstance(item, Object) else item.cache_key.rpartition("/")[0]

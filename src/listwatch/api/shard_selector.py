"""The shard selector of list and watch requests: ranges of a 64-bit hash of one metadata field.

    shardRange(object.metadata.uid, '0x0000000000000000', '0x4000000000000000') || shardRange(…)

The server selects the objects whose hash is in one of the ranges. `ShardSelector.__str__` is the canonical text, which
a server that supports the selector returns in `metadata.shardInfo.selector` of a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from listwatch.errors import SelectorError

__all__ = ["HASH_SPACE", "HashRange", "ShardField", "ShardSelector", "fmix64", "fnv1a64"]

HASH_SPACE = 1 << 64
"""The number of hashes: a hash is an integer from 0 up to this number, exclusive."""

_MASK = HASH_SPACE - 1

ShardField = Literal["uid", "namespace"]
"""The metadata field that is hashed."""


def fnv1a64(text: str) -> int:
    """The 64-bit FNV-1a hash of a text in UTF-8: the hash of Kubernetes' shard selectors.

    Its high bits, which the ranges select by, hardly depend on the last two characters of a text.
    """
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & _MASK
    return value


# A hash takes about five microseconds. The objects of a watch repeat, and there are few namespaces.
_hash = lru_cache(maxsize=4096)(fnv1a64)


def fmix64(value: int) -> int:
    """The finalizer of MurmurHash3, which spreads every bit of a 64-bit integer over all bits."""
    value = ((value ^ (value >> 33)) * 0xFF51AFD7ED558CCD) & _MASK
    value = ((value ^ (value >> 33)) * 0xC4CEB9FE1A85EC53) & _MASK
    return value ^ (value >> 33)


@dataclass(frozen=True, slots=True, order=True)
class HashRange:
    """The hashes from `start` up to `end`, exclusive."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end <= HASH_SPACE:
            raise SelectorError(f"the hash range {self.start:#x} to {self.end:#x} is empty or exceeds 64 bits")

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and self.start <= value < self.end

    def __str__(self) -> str:
        return f"{_hex(self.start)}-{_hex(self.end)}"


@dataclass(frozen=True, slots=True)
class ShardSelector:
    """Selects objects by the hash of a field; the ranges are kept as given. `str()` is the canonical text."""

    field: ShardField
    ranges: tuple[HashRange, ...]

    @classmethod
    def of(cls, field: ShardField, ranges: Iterable[HashRange]) -> ShardSelector:
        """The selector of these ranges, in order, with adjacent and overlapping ones merged."""
        merged: list[HashRange] = []
        for each in sorted(ranges):
            if merged and each.start <= merged[-1].end:
                merged[-1] = HashRange(merged[-1].start, max(each.end, merged[-1].end))
            else:
                merged.append(each)
        return cls(field, tuple(merged))

    @classmethod
    def parse(cls, text: str) -> ShardSelector:
        """Read a selector, as a server does; raises SelectorError."""
        found = [_parse_range(part, text) for part in text.split("||")]
        fields = {field for field, _ in found}
        if len(fields) > 1:
            raise SelectorError(f"all ranges of the shard selector {text!r} must use the same field")
        return cls(fields.pop(), tuple(each for _, each in found))

    def matches(self, text: str) -> bool:
        """Whether an object whose field has this text is selected."""
        value = _hash(text)
        return any(each.start <= value < each.end for each in self.ranges)

    def __str__(self) -> str:
        return " || ".join(
            f"shardRange(object.metadata.{self.field}, '{_hex(each.start)}', '{_hex(each.end)}')"
            for each in self.ranges
        )


_RANGE = re.compile(
    r"""\s*shardRange\(\s*object\.metadata\.(?P<field>\w+)\s*,\s*
    (?P<q1>['"])0x(?P<start>[0-9a-f]{16})(?P=q1)\s*,\s*
    (?P<q2>['"])0x(?P<end>[0-9a-f]{16}|10{16})(?P=q2)\s*\)\s*""",
    re.VERBOSE,
)


def _parse_range(part: str, text: str) -> tuple[ShardField, HashRange]:
    found = _RANGE.fullmatch(part)
    if found is None:
        raise SelectorError(
            f"{text!r} is not a shard selector: expected shardRange(object.metadata.uid, '0x…', '0x…') with 16 "
            "lower-case hexadecimal digits, or several of them joined by ||"
        )
    start, end = int(found["start"], 16), int(found["end"], 16)
    match found["field"]:
        case "uid" | "namespace" as field:
            if start >= end:
                raise SelectorError(f"a range of the shard selector {text!r} does not start before its end")
            return field, HashRange(start, end)
        case other:
            raise SelectorError(f"a shard selector cannot use the field object.metadata.{other}: use uid or namespace")


def _hex(value: int) -> str:
    return f"0x{value:016x}"

"""The names of the contenders in the tables: the modules in `contenders/`, and client-go."""

from __future__ import annotations

from collections.abc import Mapping

from bench.harness.runner import Figures

__all__ = [
    "GO",
    "GO_LISTING",
    "OURS",
    "OURS_COMPACT",
    "OURS_COMPACT_FILE",
    "OURS_LISTING",
    "OURS_PAGES",
    "OURS_PROTOBUF",
    "OURS_PROTOBUF_LISTING",
    "OURS_PROTOBUF_PAGES",
    "OURS_UNCOMPRESSED",
    "PEERS",
    "PROTOBUF",
    "PROTOBUF_LISTING",
    "SLOW",
    "events_for",
    "reference",
]

OURS, OURS_LISTING, OURS_PROTOBUF = "listwatch", "listwatch, list", "listwatch, protobuf"
OURS_PAGES, OURS_UNCOMPRESSED = "listwatch, pages", "listwatch, list, uncompressed"
OURS_PROTOBUF_LISTING, OURS_PROTOBUF_PAGES = "listwatch, protobuf, list", "listwatch, protobuf, pages"
OURS_COMPACT, OURS_COMPACT_FILE = "listwatch, compact", "listwatch, compact, file"
GO, GO_LISTING, PROTOBUF = "client-go", "client-go, list", "client-go, protobuf"
PROTOBUF_LISTING = "client-go, protobuf, list"
PEERS = ("lightkube", "lightkube_async", "kopf", "kubernetes", "cloudcoil", "kubernetes_asyncio", "kr8s")
SLOW = ("kubernetes", "cloudcoil", "kubernetes_asyncio", "kr8s")

_EVENTS = {
    OURS: (50_000, 15_000),
    OURS_LISTING: (50_000, 15_000),
    OURS_COMPACT: (50_000, 15_000),
    GO: (4_000, 4_000),
    GO_LISTING: (4_000, 4_000),
    "lightkube": (15_000, 15_000),
    "lightkube_async": (15_000, 15_000),
    "kopf": (15_000, 15_000),
    "kubernetes": (2_000, 2_000),
    "cloudcoil": (3_000, 3_000),
    "kubernetes_asyncio": (1_000, 1_000),
    "kr8s": (500, 500),
}
_MORE_IS_BETTER = {"sync", "events", "fields", "reads_key", "reads_index", "reads_selector"}


def events_for(name: str) -> tuple[int, int]:
    """How many events a contender handles in about a second when it reads metadata, and when it reads every part."""
    return _EVENTS[name]


def reference(rows: Mapping[str, Figures]) -> Figures:
    """client-go's better figure of its two ways to sync: a stream, its default, and a list, which is faster."""
    found = [rows[name] for name in (GO, GO_LISTING) if name in rows]
    names = {name for row in found for name in row}
    better = {name: max if name in _MORE_IS_BETTER else min for name in names}
    return {name: better[name](row[name] for row in found if name in row) for name in names}

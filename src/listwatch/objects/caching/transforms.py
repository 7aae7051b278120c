"""Ready-made transforms for informers, which reduce the memory of a cache.

A transform is applied once, when an object arrives, before it is stored and handlers are notified.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from listwatch.objects.object import Object

__all__ = ["keep_fields", "metadata_only", "strip_managed_fields"]

T = TypeVar("T", bound=Object)


def strip_managed_fields(item: T) -> T:
    """Remove `metadata.managedFields`, which is often a quarter to a half of an object and rarely used."""
    return item.without_managed_fields()


strip_managed_fields.drops = ("metadata.managedFields",)  # type: ignore[attr-defined]  # a source need not request them


def metadata_only(item: T) -> T:
    """Keep only `apiVersion`, `kind` and `metadata`."""
    return keep_fields()(item)


def keep_fields(*names: str) -> Callable[[T], T]:
    """Return a transform that keeps `apiVersion`, `kind`, `metadata`, and these top-level fields by wire name."""
    kept = ("apiVersion", "kind", "metadata", *names)

    def transform(item: T) -> T:
        content = {name: part for name in kept if (part := item.part(name)) is not None}
        return type(item).from_wire(msgspec.json.encode(content))

    return transform

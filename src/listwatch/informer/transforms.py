"""What of an object to cache: ready-made transforms, which save memory where objects are many.

A transform is applied once, when an object comes in, before it is stored or told of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from listwatch.objects.object import Object

__all__ = ["keep_fields", "lightest", "metadata_only", "strip_managed_fields"]

T = TypeVar("T", bound=Object)


def strip_managed_fields(item: T) -> T:
    """Without `metadata.managedFields`: a quarter to a half of many objects, and hardly ever looked at."""
    return item.without_managed_fields()


def lightest(source: Any, transform: Callable[[T], T] | None) -> Any:
    """The source, which is asked to leave out what the transform would take away, if it is one that can be asked."""
    ask = getattr(source, "without_managed_fields", None)
    return ask() if transform is strip_managed_fields and ask is not None else source


def metadata_only(item: T) -> T:
    """Nothing but kind and metadata."""
    return keep_fields()(item)


def keep_fields(*names: str) -> Callable[[T], T]:
    """Nothing but kind, metadata, and the top-level parts of these wire names."""
    kept = ("apiVersion", "kind", "metadata", *names)

    def transform(item: T) -> T:
        content = {name: part for name in kept if (part := item.part(name)) is not None}
        return type(item).from_wire(msgspec.json.encode(content))

    return transform

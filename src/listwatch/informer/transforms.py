"""Ready-made transforms, which reduce the memory of a cache.

A transform is applied once, when an object arrives, before it is stored and handlers are notified.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from listwatch.informer.reflector.lister_watcher import ListerWatcher
from listwatch.keyed import Cached
from listwatch.objects.field_cuts import FieldCuts
from listwatch.objects.object import Object

__all__ = ["StoredForm", "keep_fields", "metadata_only", "request_only_kept_fields", "strip_managed_fields"]

T = TypeVar("T", bound=Object)
C = TypeVar("C", bound=Cached)


def strip_managed_fields(item: T) -> T:
    """Remove `metadata.managedFields`, which is often a quarter to a half of an object and rarely used."""
    return item.without_managed_fields()


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


class StoredForm(Generic[C]):
    """The transform of an informer: drops fields, calls the transform of the program, and makes the result packable.

    An object is packed as bytes, so what a transform has changed in it is encoded again, if the store is packed.
    """

    def __init__(
        self, transform: Callable[[C], C] | None = None, *, drop_fields: Sequence[str] = (), packed: bool = False
    ) -> None:
        self._transform = transform
        self._cuts = FieldCuts(drop_fields) if drop_fields else None
        self._packed = packed and transform is not None
        self.drops_managed_fields = transform is strip_managed_fields or (
            self._cuts is not None and self._cuts.includes_managed_fields
        )
        self.function: Callable[[C], C] | None = self if self._cuts is not None or self._packed else transform
        """What is applied to each object; None if it is stored as it is received."""

    def __call__(self, item: C) -> C:
        kept: Any = item
        if self._cuts is not None and isinstance(kept, Object):
            kept = self._cuts.apply(kept)
        if self._transform is not None:
            kept = self._transform(kept)
        if self._packed and isinstance(kept, Object) and not kept._is_untouched():
            kept = type(kept).from_wire(kept.to_json())
        return kept  # type: ignore[no-any-return]  # of the type that the transform returns


def request_only_kept_fields(source: ListerWatcher[C], form: StoredForm[C]) -> ListerWatcher[C]:
    """Return a source that does not request what is dropped, if it can; otherwise the same source."""
    without: Callable[[], ListerWatcher[C]] | None = getattr(source, "without_managed_fields", None)
    return without() if form.drops_managed_fields and without is not None else source

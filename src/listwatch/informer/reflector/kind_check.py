"""The check of received objects: only those of the class of the informer are stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from listwatch.errors import DecodeError, ListWatchError
from listwatch.keyed import Cached, KindCheck, Tombstone, UsableCheck, describe, lazily_decoded
from listwatch.meta import Resource

__all__ = ["expected_kind"]


def expected_kind(
    kind: type[Cached], resource: Resource | None, on_skipped: Callable[[ListWatchError], None]
) -> KindCheck:
    """Return the checks of the objects of an informer of this kind.

    `resource` is the resource of the source, if it is known.
    """
    lazy = lazily_decoded(kind)
    return _ExpectedClass(kind, on_skipped) if lazy is None else lazy._expected_kind(resource, on_skipped)


class _ExpectedClass:
    """The class of an informer's objects, if they are not lazily decoded."""

    def __init__(self, kind: type[Cached], on_skipped: Callable[[ListWatchError], None]) -> None:
        def report_unusable(item: Any) -> bool:
            if type(item) is Tombstone:
                return item.is_usable(on_skipped)
            found = "an object without a key" if isinstance(item, kind) else type(item).__name__
            on_skipped(DecodeError(f"expected {kind.__name__}, got {found}", object_name=describe(item)))
            return False

        def is_usable(item: Any) -> bool:
            return (isinstance(item, kind) and bool(item.cache_key)) or report_unusable(item)

        self.is_usable_event: UsableCheck = is_usable

    def check_of_items(self, page: object) -> UsableCheck:
        return self.is_usable_event

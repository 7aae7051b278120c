"""Responses to list requests, of any source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from listwatch.errors import ListWatchError
from listwatch.keyed import Cached

__all__ = ["ListPage", "Page"]

T = TypeVar("T", bound=Cached)
T_co = TypeVar("T_co", bound=Cached, covariant=True)


class ListPage(Protocol[T_co]):
    """One response to a list request: an `ObjectList`, or a `Page`."""

    @property
    def items(self) -> Sequence[T_co]: ...
    @property
    def resource_version(self) -> str:
        """The version of the list, from which it can be watched; the same on all pages."""

    @property
    def continue_token(self) -> str:
        """Requests the next page; empty on the last page."""

    @property
    def broken(self) -> Sequence[ListWatchError]:
        """Errors of entries that could not be decoded, and are not in `items`."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One response to a list request, for sources whose objects are not API objects."""

    items: Sequence[T]
    resource_version: str
    continue_token: str = ""
    broken: Sequence[ListWatchError] = ()

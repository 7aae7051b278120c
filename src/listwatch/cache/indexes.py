"""The indexes of a store: values, and the objects under each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from listwatch.errors import IndexFunctionError
from listwatch.keyed import Cached

__all__ = ["Index", "IndexFailure", "IndexFunction", "NamespaceIndex"]

T = TypeVar("T", bound=Cached)

IndexFunction = Callable[[T], Iterable[str]]
"""Returns the values under which one index contains an object."""

IndexFailure = Callable[[str, str, Exception], None]
"""Receives the failure of an index function: name of the index, key of the object, error."""


class Index(Generic[T]):
    """One index: contains an object under each value that the index function returns for it."""

    # Readers in other threads take a bucket from `buckets` and copy it in one step. So a bucket is never empty, and an
    # object is added to new buckets before it is removed from old ones, and stays in place where its value is the same.

    __slots__ = ("_on_failure", "_values", "buckets", "function", "name")

    def __init__(self, name: str, function: IndexFunction[T], on_failure: IndexFailure | None) -> None:
        self.name = name
        self.function = function
        self.buckets: dict[str, dict[str, T]] = {}
        self._on_failure = on_failure
        # The values under which each object was added. Calling the function again could return others, because the
        # object may have been changed in place.
        self._values: dict[str, tuple[str, ...]] = {}

    def empty_copy(self) -> Index[T]:
        """Return the same index without objects."""
        return type(self)(self.name, self.function, self._on_failure)

    def values_of(self, key: str, item: T) -> tuple[str, ...]:
        """Return the values of an object; none if the function fails. Raises the failure if it is not reported."""
        try:
            found = self.function(item)
            if type(found) is list and len(found) == 1 and type(found[0]) is str:
                return (found[0],)  # the usual case, in half of the time
            return _checked_values(found)
        except Exception as error:  # noqa: BLE001  # user code may raise anything
            return self._failed(key, error)

    def accepts(self, item: T, value: str) -> bool:
        """Return whether the index function returns that value for the object."""
        try:
            return value in _checked_values(self.function(item))
        except Exception:  # noqa: BLE001  # user code; the failure was reported when the object was stored
            return False

    def stored_values(self, key: str) -> tuple[str, ...]:
        """Return the values under which the index contains the object with this key."""
        return self._values.get(key, ())

    def put(self, key: str, item: T, values: tuple[str, ...]) -> None:
        """Add the object under these values, and remove it from all others."""
        self._add(key, item, values)
        before = self._values.get(key, ())
        if before != values:
            self._values[key] = values
            self._remove_from(key, [value for value in before if value not in values])

    def remove(self, key: str) -> None:
        """Remove the object from the index."""
        self._remove_from(key, self._values.pop(key, ()))

    def _add(self, key: str, item: T, values: tuple[str, ...]) -> None:
        for value in values:
            bucket = self.buckets.get(value)
            if bucket is None:
                self.buckets[value] = {key: item}
            else:
                bucket[key] = item

    def _remove_from(self, key: str, values: Iterable[str]) -> None:
        for value in values:
            bucket = self.buckets[value]
            if len(bucket) > 1:
                del bucket[key]
            else:
                # Values such as the addresses of pods are short-lived; empty buckets would accumulate.
                del self.buckets[value]

    def _failed(self, key: str, error: Exception) -> tuple[str, ...]:
        failure = IndexFunctionError(f"the index function of {self.name!r} failed on {key}: {error}")
        failure.__cause__ = error
        if self._on_failure is None:
            raise failure
        self._on_failure(self.name, key, failure)
        return ()


class NamespaceIndex(Index[T]):
    """The index by namespace, which almost every store has. The value is a prefix of the key, so it is not stored."""

    __slots__ = ()

    put = Index._add

    def values_of(self, key: str, item: T) -> tuple[str, ...]:
        return (key.rpartition("/")[0],)

    def stored_values(self, key: str) -> tuple[str, ...]:
        return (key.rpartition("/")[0],)

    def remove(self, key: str) -> None:
        self._remove_from(key, (key.rpartition("/")[0],))


def _checked_values(found: Iterable[str]) -> tuple[str, ...]:
    # The messages do not contain the values: an index may be over secret data.
    if isinstance(found, str):
        raise TypeError("it returned a str, not a list of str")
    values = tuple(dict.fromkeys(found))
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"it returned a list that contains a {type(value).__name__}, not only str")
    return values

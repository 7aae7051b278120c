"""One index of a cache: objects by the values that a function gives for them. `contents.py` keeps several in step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from listwatch.errors import IndexFunctionError

__all__ = ["Index", "IndexFailure", "IndexFunction", "NamespaceIndex", "namespace_of"]

T = TypeVar("T")

IndexFunction = Callable[[T], Iterable[str]]
"""The values under which an object is found in one index."""

IndexFailure = Callable[[str, str, Exception], None]
"""Told of an index function that failed: the index, the object's key, and what is wrong."""


def namespace_of(item: Any) -> list[str]:
    """The index function of the index by namespace."""
    return [item.namespace]


class Index(Generic[T]):
    """Finds an object under each of its values; there is no value without an object, not even for a moment."""

    # Readers in other threads take a bucket from `buckets` and copy it in one step. So a bucket is never empty, an
    # object enters its new buckets before it leaves the old ones, and stays in its place where its value is the same.

    __slots__ = ("_filed", "_on_failure", "buckets", "function", "name")

    def __init__(self, name: str, function: IndexFunction[T], on_failure: IndexFailure | None) -> None:
        self.name = name
        self.function = function
        self.buckets: dict[str, dict[str, T]] = {}
        self._on_failure = on_failure
        # Where each object was put. Asking the function again could give another answer: what it looks at, the
        # object most of all, may have been changed in place.
        self._filed: dict[str, tuple[str, ...]] = {}

    def empty_twin(self) -> Index[T]:
        """The same index over nothing."""
        return type(self)(self.name, self.function, self._on_failure)

    def values_of(self, key: str, item: T) -> tuple[str, ...]:
        """The values of an object; none if the function fails, which is reported, or raised where nobody is told."""
        try:
            found = self.function(item)
            if type(found) is list and len(found) == 1 and type(found[0]) is str:
                return (found[0],)  # nearly always: the others take twice as long
            return _texts(found)
        except Exception as error:  # noqa: BLE001  # it is the user's function
            return self._failed(key, error)

    def accepts(self, item: T, value: str) -> bool:
        """Whether an object has that value, wherever it was put."""
        try:
            return value in _texts(self.function(item))
        except Exception:  # noqa: BLE001  # it is the user's function, and was reported when the object was put here
            return False

    def put(self, key: str, item: T, values: tuple[str, ...]) -> None:
        """Find the object under these values, and under no others from now on."""
        self._enter(key, item, values)
        before = self._filed.get(key, ())
        if before != values:
            self._filed[key] = values
            self._leave(key, [value for value in before if value not in values])

    def remove(self, key: str) -> None:
        """Find the object no more."""
        self._leave(key, self._filed.pop(key, ()))

    def _enter(self, key: str, item: T, values: tuple[str, ...]) -> None:
        for value in values:
            bucket = self.buckets.get(value)
            if bucket is None:
                self.buckets[value] = {key: item}
            else:
                bucket[key] = item

    def _leave(self, key: str, values: Iterable[str]) -> None:
        for value in values:
            bucket = self.buckets[value]
            if len(bucket) > 1:
                del bucket[key]
            else:
                # Values such as a pod's address come and go: empty buckets would pile up.
                del self.buckets[value]

    def _failed(self, key: str, error: Exception) -> tuple[str, ...]:
        failure = IndexFunctionError(f"the function of index {self.name!r} failed on {key}: {error}")
        failure.__cause__ = error
        if self._on_failure is None:
            raise failure
        self._on_failure(self.name, key, failure)
        return ()


class NamespaceIndex(Index[T]):
    """The index by namespace, which nearly every cache has: keys begin with it, so where an object was put is known."""

    __slots__ = ()

    put = Index._enter

    def values_of(self, key: str, item: T) -> tuple[str, ...]:
        return _namespace_in(key)

    def remove(self, key: str) -> None:
        self._leave(key, _namespace_in(key))


def _namespace_in(key: str) -> tuple[str]:
    return (key.rpartition("/")[0],)


def _texts(found: Iterable[str]) -> tuple[str, ...]:
    # Messages never show a value: an index may be made over something secret.
    if isinstance(found, str):
        raise TypeError("it gave a text, not a list of texts")
    values = tuple(dict.fromkeys(found))
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"it gave a {type(value).__name__} among its texts")
    return values

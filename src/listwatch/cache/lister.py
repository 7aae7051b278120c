"""Reads a cache the way a client reads a server: by name, by namespace, by selector. `Indexer` has the objects."""

from __future__ import annotations

from functools import partial
from typing import Generic, Protocol, TypeVar

from listwatch.cache.field_values import field_text
from listwatch.cache.indexer import NAMESPACE
from listwatch.errors import IndexNotFoundError, NotFoundError
from listwatch.meta import GroupResource
from listwatch.objects.object import Object
from listwatch.selectors import FieldSelectorLike, LabelSelectorLike, parse_field_selector, parse_label_selector

__all__ = ["Lister", "NamespaceLister", "Readable"]

T = TypeVar("T", bound=Object)


class Readable(Protocol[T]):
    """What a lister reads: an `Indexer`."""

    def get(self, key: str, /) -> T | None: ...
    def by_index(self, name: str, value: str, /) -> list[T]: ...
    def list(self) -> list[T]: ...


class NamespaceLister(Generic[T]):
    """The cached objects of one namespace, or of all. They are shared: `copy()` before a change."""

    def __init__(self, indexer: Readable[T], resource: GroupResource, namespace: str = "") -> None:
        self._indexer = indexer
        self._resource = resource
        self._namespace = namespace

    def get(self, name: str) -> T:
        """The object of this name, or `namespace/name` where no namespace was chosen; raises NotFoundError."""
        key = f"{self._namespace}/{name}" if self._namespace else name
        found = self._indexer.get(key)
        if found is None:
            raise NotFoundError.of(self._resource.resource, key, group=self._resource.group)
        return found

    def __repr__(self) -> str:
        place = f" in {self._namespace}" if self._namespace else ""
        return f"<{type(self).__name__} of {self._resource}{place}>"

    def _all(self) -> list[T]:
        if not self._namespace:
            return self._indexer.list()
        try:
            return self._indexer.by_index(NAMESPACE, self._namespace)
        except IndexNotFoundError:
            return [item for item in self._indexer.list() if item.namespace == self._namespace]

    # Last in the class: from here on, type checkers take `list` for this method.
    def list(self, label_selector: LabelSelectorLike = None, *, field_selector: FieldSelectorLike = None) -> list[T]:
        """The objects that match both selectors; all of them where there are none.

        Any field that the cached objects have can be selected by, not only those that the server supports.
        """
        labels, fields = parse_label_selector(label_selector), parse_field_selector(field_selector)
        if labels.is_nothing:
            return []
        found = labels.select(self._all())
        if not fields.is_empty:
            found = [item for item in found if fields.matches(partial(field_text, item))]
        return found


class Lister(NamespaceLister[T]):
    """All cached objects of one resource."""

    def __init__(self, indexer: Readable[T], resource: GroupResource) -> None:
        super().__init__(indexer, resource)

    def namespace(self, namespace: str) -> NamespaceLister[T]:
        """Those of one namespace; all of them where its name is empty."""
        return NamespaceLister(self._indexer, self._resource, namespace)

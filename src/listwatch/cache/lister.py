"""Reads an `Indexer` as a client reads a server: by name, namespace and selector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Generic, Protocol, TypeVar, cast

from listwatch.cache.field_values import field_text
from listwatch.cache.indexer import Indexer
from listwatch.cache.keys import NAMESPACE
from listwatch.errors import IndexNotFoundError, NotFoundError, UsageError
from listwatch.keyed import Cached, describe, namespace_in
from listwatch.meta import GroupResource
from listwatch.selectors import (
    FieldSelectorLike,
    LabelSelector,
    LabelSelectorLike,
    parse_field_selector,
    parse_label_selector,
)

__all__ = ["IndexReader", "Lister", "NamespaceLister"]

T = TypeVar("T", bound=Cached)


class IndexReader(Protocol[T]):
    """The reading part of an `Indexer`."""

    def get(self, key: str, /) -> T | None: ...
    def by_index(self, name: str, value: str, /) -> list[T]: ...
    def list(self) -> list[T]: ...


class NamespaceLister(Generic[T]):
    """Reads the cached objects of one namespace, or of all. Cached objects are shared: `copy()` one to change it."""

    def __init__(self, indexer: IndexReader[T], resource: GroupResource, namespace: str = "") -> None:
        self._indexer = indexer
        self._resource = resource
        self._namespace = namespace

    def get(self, name: str) -> T:
        """Return an object by name, or by `namespace/name` if no namespace is selected; raises NotFoundError."""
        key = f"{self._namespace}/{name}" if self._namespace else name
        found = self._indexer.get(key)
        if found is None:
            raise NotFoundError.of(self._resource.resource, key, group=self._resource.group)
        return found

    def __repr__(self) -> str:
        scope = f" in {self._namespace}" if self._namespace else ""
        return f"<{type(self).__name__} of {self._resource}{scope}>"

    def _all(self) -> list[T]:
        """Return the objects of the namespace, in the form in which they are stored."""
        indexer = self._indexer
        if not self._namespace:
            return indexer._snapshot() if isinstance(indexer, Indexer) else indexer.list()
        by_index = indexer._stored_by_index if isinstance(indexer, Indexer) else indexer.by_index
        try:
            return by_index(NAMESPACE, self._namespace)
        except IndexNotFoundError:
            return [item for item in self._indexer.list() if namespace_in(item.cache_key) == self._namespace]

    def to_arrow(
        self,
        paths: Sequence[str] | Mapping[str, str],
        label_selector: LabelSelectorLike = None,
        *,
        field_selector: FieldSelectorLike = None,
    ) -> Any:
        """Return a `pyarrow.Table` with a row for each matching object, and a column for each path of a field.

        Paths are those of the JSON: `status.phase`, `spec.containers[0].image`, `spec.containers[*].image`,
        `metadata.labels["app.kubernetes.io/name"]`. The keys of a mapping are the names of the columns. Only the named
        fields are decoded; a field that does not exist is null, and an object or list of objects is its JSON text.
        Needs the extra `arrow`. Any thread may call it.
        """
        # Imported here: few programs need tables.
        from listwatch.cache.arrow_table import make_table

        return make_table(self.list(label_selector, field_selector=field_selector), paths)

    # Last in the class: below this line, type checkers resolve `list` to this method.
    def list(self, label_selector: LabelSelectorLike = None, *, field_selector: FieldSelectorLike = None) -> list[T]:
        """Return the objects that match both selectors. Only objects with `labels` can be selected by labels.

        A field selector can use every field of the cached objects, not only those that the server supports.
        """
        labels = None if label_selector is None else parse_label_selector(label_selector)
        fields = None if field_selector is None else parse_field_selector(field_selector)
        if labels is not None and labels.is_nothing:
            return []
        indexer, found = self._indexer, self._all()
        if labels is not None:
            found = _select(labels, found, indexer)
        if isinstance(indexer, Indexer):
            found = indexer._open_all(found)
        if fields is not None and not fields.is_empty:
            found = [item for item in found if fields.matches(partial(field_text, item))]
        return found


class Lister(NamespaceLister[T]):
    """Reads all cached objects of one resource."""

    def __init__(self, indexer: IndexReader[T], resource: GroupResource) -> None:
        super().__init__(indexer, resource)

    def namespace(self, namespace: str) -> NamespaceLister[T]:
        """Return a lister of one namespace; an empty name selects all namespaces."""
        return NamespaceLister(self._indexer, self._resource, namespace)


def _select(labels: LabelSelector, items: list[Any], indexer: object) -> list[Any]:
    narrowed = indexer._narrowed_by_label if isinstance(indexer, Indexer) else None
    try:
        return labels.select(items, narrowed)
    except AttributeError as error:
        if error.name != "labels":
            raise
        raise UsageError(
            f"{describe(cast('Cached', error.obj))} has no labels, so it cannot be selected by {str(labels)!r}; "
            "give its class a property `labels`, or use an index"
        ) from None

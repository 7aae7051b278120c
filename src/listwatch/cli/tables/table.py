"""Tables of objects: those that the server makes, or else names, states and ages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import msgspec

from listwatch.api.options import query_parameters, selector_parameters
from listwatch.cli.cluster.session import Session
from listwatch.cli.output import age_of
from listwatch.cli.tables.status import status_of
from listwatch.client.rest.request import Request
from listwatch.errors import DecodeError
from listwatch.json_value import JSONObject
from listwatch.meta import Resource
from listwatch.objects.json.wire import DECODE_FAILURES

__all__ = ["Column", "Row", "Table", "object_columns", "object_row", "read_table", "table_of", "table_request"]

_ACCEPT = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
_PAGE_SIZE = 500
_OWN_COLUMNS = ["Name", "Status", "Age"]


class Column(msgspec.Struct):
    """A column of a table. Those with a priority above 0 are for `-o wide`."""

    name: str
    priority: int = 0


class _Metadata(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None


class _Object(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class Row(msgspec.Struct):
    """A row of a table, and the metadata of its object. An informer can cache it."""

    cells: list[object] = []
    item: _Object = msgspec.field(default_factory=_Object, name="object")

    @property
    def cache_key(self) -> str:
        metadata = self.item.metadata
        return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name

    @property
    def resource_version(self) -> str:
        return self.item.metadata.resource_version


class _ListMeta(msgspec.Struct, rename="camel"):
    continue_token: str = msgspec.field(default="", name="continue")
    resource_version: str = ""


class _Response(msgspec.Struct, rename="camel"):
    """A Table, or where the server sends none, a list or an object."""

    kind: str = ""
    column_definitions: list[Column] | None = None
    rows: list[Row] | None = None
    items: list[dict[str, Any]] | None = None  # JSON trees
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)


@dataclass(slots=True)
class Table:
    """Columns and rows; with the version of the list, and a token if it has further pages."""

    columns: Sequence[Column] = ()
    rows: list[Row] = field(default_factory=list)
    resource_version: str = ""
    continue_token: str = ""

    def without_empty_status(self) -> Table:
        """Return a table without the column of states if no object has one. Tables of the server have no such cells."""
        if [each.name for each in self.columns] != _OWN_COLUMNS or any(row.cells[1] for row in self.rows):
            return self
        rows = [Row([row.cells[0], row.cells[2]], row.item) for row in self.rows]
        return replace(self, columns=[self.columns[0], self.columns[2]], rows=rows)

    def headers(self, *, wide: bool, namespace: bool, labels: bool = False) -> list[str]:
        """Return the headers of `cells`."""
        names = [each.name for each in self.columns if wide or each.priority == 0]
        return [*(["Namespace"] if namespace else []), *names, *(["Labels"] if labels else [])]

    def cells(self, row: Row, *, wide: bool, namespace: bool, labels: bool = False, prefix: str = "") -> list[object]:
        """Return the cells of a row: with `wide` those of all columns, with a prefix before the name of the object."""
        metadata = row.item.metadata
        cells = [cell for cell, column in zip(row.cells, self.columns, strict=False) if wide or column.priority == 0]
        if prefix and cells:
            cells[0] = f"{prefix}{cells[0]}"
        return [*([metadata.namespace] if namespace else []), *cells, *([_labels(metadata.labels)] if labels else [])]


async def read_table(
    session: Session, resource: Resource, *, name: str = "", label_selector: str = "", field_selector: str = ""
) -> Table:
    """Read the table of a resource in the selected namespace, or the row of one object."""
    parameters = selector_parameters(label_selector or None, field_selector or None, "")
    if name:
        return table_of(await table_request(session, resource).name(name).do_raw(), session.clock.now())
    pages: list[Table] = []
    while True:
        options = query_parameters(limit=_PAGE_SIZE, continue_token=pages[-1].continue_token if pages else "")
        raw = await table_request(session, resource).params(parameters).params(options).do_raw()
        pages.append(table_of(raw, session.clock.now()))
        if not pages[-1].continue_token:
            return Table(pages[0].columns, [row for page in pages for row in page.rows])


def table_request(session: Session, resource: Resource) -> Request:
    """Return a request for the objects of a resource in the selected namespace, as a table."""
    request = session.client.rest.for_group_version(resource.api_version).get().resource(resource.plural)
    if namespace := session.namespace_of(resource):
        request.namespace(namespace)
    return request.header("Accept", _ACCEPT)


def table_of(raw: bytes, now: datetime) -> Table:
    """Decode a table. If the server sent a list or an object instead, make a table of names, states and ages."""
    try:
        response = msgspec.json.decode(raw, type=_Response)
        meta = response.metadata
        if response.kind == "Table":
            return Table(
                response.column_definitions or (), response.rows or [], meta.resource_version, meta.continue_token
            )
        items = [msgspec.json.decode(raw)] if response.items is None else response.items
    except DECODE_FAILURES as error:
        raise DecodeError(str(error), object_name="a table") from None
    return Table(
        object_columns(), [object_row(each, now) for each in items], meta.resource_version, meta.continue_token
    )


# --- Tables that the server does not make -----------------------------------------------------------------------------


def object_columns() -> list[Column]:
    """Return the columns of `object_row`."""
    return [Column(name) for name in _OWN_COLUMNS]


def object_row(tree: JSONObject, now: datetime) -> Row:
    """Return the row of an object: its name, state and age."""
    metadata = tree.get("metadata")
    found = metadata if isinstance(metadata, dict) else {}
    created = found.get("creationTimestamp")
    cells: list[object] = [found.get("name"), status_of(tree), age_of(created if isinstance(created, str) else "", now)]
    return Row(cells, _Object(msgspec.convert(found, _Metadata)))


def _labels(labels: dict[str, str] | None) -> str:
    pairs: Iterable[str] = (f"{name}={value}" for name, value in sorted((labels or {}).items()))
    return ",".join(pairs) or "<none>"

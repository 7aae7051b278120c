"""Tables of objects: those that the server makes, or else names, states and ages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from listwatch.api.options import query_parameters, selector_parameters
from listwatch.cli.output import age_of
from listwatch.cli.session import Session
from listwatch.cli.status import status_of
from listwatch.errors import DecodeError
from listwatch.json_value import JSONObject
from listwatch.meta import Resource
from listwatch.objects.wire import DECODE_FAILURES

__all__ = ["Column", "Row", "Table", "object_columns", "object_row", "read_table"]

_ACCEPT = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
_PAGE_SIZE = 500


class Column(msgspec.Struct):
    """A column of a table. Those with a priority above 0 are for `-o wide`."""

    name: str
    priority: int = 0


class _Metadata(msgspec.Struct):
    name: str = ""
    namespace: str = ""
    labels: dict[str, str] = {}


class _Object(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class Row(msgspec.Struct):
    """A row of a table, and the metadata of its object."""

    cells: list[object] = []
    item: _Object = msgspec.field(default_factory=_Object, name="object")


class _ListMeta(msgspec.Struct):
    continue_token: str = msgspec.field(default="", name="continue")


class _Response(msgspec.Struct, rename="camel"):
    """A Table, or where the server sends none, a list or an object."""

    kind: str = ""
    column_definitions: list[Column] = []
    rows: list[Row] = []
    items: list[dict[str, Any]] | None = None  # JSON trees
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)


@dataclass(slots=True)
class Table:
    """Columns and rows."""

    columns: Sequence[Column] = ()
    rows: list[Row] = field(default_factory=list)

    def select(
        self, *, wide: bool, namespace: bool, labels: bool, prefix: str = ""
    ) -> tuple[list[str], list[list[object]]]:
        """Return headers and cells: with `wide` all columns, with a namespace before or labels after them.

        The prefix is put before the names of objects.
        """
        chosen = [number for number, each in enumerate(self.columns) if wide or each.priority == 0]
        headers = [self.columns[number].name for number in chosen]
        rows = [[row.cells[number] for number in chosen] for row in self.rows]
        if prefix:
            for row in rows:
                row[0] = f"{prefix}{row[0]}"
        if namespace:
            headers.insert(0, "Namespace")
            for source, row in zip(self.rows, rows, strict=True):
                row.insert(0, source.item.metadata.namespace)
        if labels:
            headers.append("Labels")
            for source, row in zip(self.rows, rows, strict=True):
                row.append(_labels(source.item.metadata.labels))
        return headers, rows


async def read_table(
    session: Session, resource: Resource, *, name: str = "", label_selector: str = "", field_selector: str = ""
) -> Table:
    """Read the table of a resource in the selected namespace, or the row of one object."""
    table = Table()
    now = session.clock.now()
    selectors = selector_parameters(label_selector or None, field_selector or None, "")
    async for response, raw in _responses(session, resource, name, selectors):
        if response.kind == "Table":
            table.columns = table.columns or response.column_definitions
            table.rows += response.rows
        else:
            items = [_tree(raw)] if response.items is None else response.items
            table.columns = object_columns()
            table.rows += [object_row(item, now) for item in items]
    return table


async def _responses(
    session: Session, resource: Resource, name: str, selectors: dict[str, str]
) -> AsyncIterator[tuple[_Response, bytes]]:
    continue_token = ""
    while True:
        request = session.client.rest.for_group_version(resource.api_version).get().resource(resource.plural)
        if namespace := session.namespace_of(resource):
            request.namespace(namespace)
        if name:
            request.name(name)
        else:
            request.params(selectors).params(query_parameters(limit=_PAGE_SIZE, continue_token=continue_token))
        raw = await request.header("Accept", _ACCEPT).do_raw()
        try:
            response = msgspec.json.decode(raw, type=_Response)
        except DECODE_FAILURES as error:
            raise DecodeError(str(error), object_name=f"the table of {resource.group_resource}") from None
        yield response, raw
        continue_token = "" if name else response.metadata.continue_token
        if not continue_token:
            return


def _tree(raw: bytes) -> JSONObject:
    tree: JSONObject = msgspec.json.decode(raw)
    return tree


# --- Tables that the server does not make -----------------------------------------------------------------------------


def object_columns() -> list[Column]:
    """Return the columns of `object_row`."""
    return [Column("Name"), Column("Status"), Column("Age")]


def object_row(tree: JSONObject, now: datetime) -> Row:
    """Return the row of an object: its name, state and age."""
    metadata = tree.get("metadata")
    found = metadata if isinstance(metadata, dict) else {}
    created = found.get("creationTimestamp")
    cells: list[object] = [found.get("name"), status_of(tree), age_of(created if isinstance(created, str) else "", now)]
    return Row(cells, _Object(msgspec.convert(found, _Metadata)))


def _labels(labels: dict[str, str]) -> str:
    pairs: Iterable[str] = (f"{name}={value}" for name, value in sorted(labels.items()))
    return ",".join(pairs) or "<none>"

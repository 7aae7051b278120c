"""The parts of a table definition: columns, and where their descriptions come from.

    Table(NAME, Column("Data", count("data"), described("core.v1.ConfigMap.data")), AGE)

A table lists all columns, also those that clients show only on request. A column has a function that makes its cell of
an object; `cells` has functions for the usual cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from listwatch.json_value import JSON, JSONObject
from listwatch.server.tables.cells import Cell, age, created_at, text

__all__ = ["AGE", "CREATED_AT", "NAME", "Column", "FieldOfType", "Table", "described", "wide"]


class FieldOfType(NamedTuple):
    """A field of a type of the API, whose description is that of a column."""

    package: str
    type: str
    field: str


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. Clients show those with a priority above 0 only in wide output."""

    name: str
    cell: Cell | None
    """None if the table makes all cells of a row at once."""
    description: str | FieldOfType = ""
    type: str = "string"
    format: str = ""
    priority: int = 0


class Table:
    """The columns of a kind, and what is special about its rows.

    `row` makes all cells of a row at once, for kinds whose cells share work; by default each column makes its own.
    `conditions` makes the conditions of a row, and `order` sorts the rows of a list. For historical reasons, one table
    has `null_if_empty` instead of an empty list of rows, and another `repeats_columns` in every event of a watch.
    """

    __slots__ = ("__weakref__", "columns", "conditions", "null_if_empty", "order", "repeats_columns", "row")

    def __init__(
        self,
        *columns: Column,
        row: Callable[[JSONObject, datetime], list[JSON]] | None = None,
        conditions: Callable[[JSONObject], list[JSON]] | None = None,
        order: Callable[[JSONObject], tuple[int, str]] | None = None,
        null_if_empty: bool = False,
        repeats_columns: bool = False,
    ) -> None:
        self.columns = columns
        self.conditions = conditions
        self.order = order
        self.null_if_empty = null_if_empty
        self.repeats_columns = repeats_columns
        cells = tuple(column.cell for column in columns if column.cell)
        self.row = row or (lambda tree, now: [cell(tree, now) for cell in cells])


def described(path: str) -> FieldOfType:
    """Return a reference to the description of a field, such as core.v1.PodSpec.nodeName."""
    package, type_, field = path.rsplit(".", 2)
    return FieldOfType(package, type_, field)


def wide(name: str, cell: Cell | None, description: str | FieldOfType = "", *, format: str = "") -> Column:
    """Return a column for wide output."""
    return Column(name, cell, description, format=format, priority=1)


_CREATED = (
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed "
    "to be set in happens-before order across separate operations. Clients may not set this value. It is represented "
    "in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
)
_NAME = (
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a "
    "client to request the generation of an appropriate name automatically. Name is primarily intended for creation "
    "idempotence and configuration definition. Cannot be updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
)

NAME = Column("Name", text("metadata.name"), _NAME, format="name")
AGE = Column("Age", age, _CREATED)
CREATED_AT = Column("Created At", created_at, _CREATED, type="date")

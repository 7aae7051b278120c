"""The tables of custom resources: the printer columns of their definitions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

import msgspec

from listwatch.errors import MalformedError
from listwatch.json_value import JSON, JSONObject
from listwatch.server.json_tree import integer_at, text_at
from listwatch.server.tables.cells import Cell, number
from listwatch.server.tables.columns import AGE, NAME, Column, Table
from listwatch.server.tables.durations import UNKNOWN, since_text
from listwatch.server.tables.printer_paths import PathError, PrinterPath

__all__ = ["DEFAULT_CUSTOM_TABLE", "custom_table", "scale_table"]

_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_ESCAPES = str.maketrans(_ESCAPED)
_LARGE = 1e21
_INT64 = 2.0**63

_CUSTOM_AGE = replace(AGE, type="date")
DEFAULT_CUSTOM_TABLE = Table(NAME, _CUSTOM_AGE)


def custom_table(columns: Iterable[JSONObject]) -> Table:
    """Return the table of a version; the columns after an invalid JSONPath are left out, as in kube-apiserver."""
    made: list[Column] = []
    for column in columns:
        try:
            made.append(_column(column))
        except MalformedError:
            break
    return Table(NAME, *made)


def scale_table(*, has_status: bool) -> Table:
    """Return the table of the scale of a custom resource."""
    columns = [Column("Desired", number("spec.replicas"), "Number of desired replicas", "integer")]
    if has_status:
        columns.append(Column("Available", number("status.replicas"), "Number of actual replicas", "integer"))
    return Table(NAME, *columns, _CUSTOM_AGE)


def _column(column: JSONObject) -> Column:
    path = text_at(column, "jsonPath")
    described = text_at(column, "description")
    return Column(
        text_at(column, "name"),
        _cell(PrinterPath(path), text_at(column, "type")),
        described or f"Custom resource definition column (in JSONPath format): {path}",
        type=text_at(column, "type"),
        format=text_at(column, "format"),
        priority=integer_at(column, "priority"),
    )


def _cell(path: PrinterPath, type_: str) -> Cell:
    def cell(tree: JSONObject, now: datetime) -> JSON:
        try:
            found = path.find(tree)
        except PathError:
            return None
        return _converted(found[0], type_, now) if found else None

    return cell


def _converted(value: JSON, type_: str, now: datetime) -> JSON:
    """Return a value as a cell of a type; None if it is of another type."""
    match type_, value:
        case "string", _:
            return _text(value)
        case "boolean", bool():
            return value
        case (("integer" | "number"), bool()):
            return None
        case "integer", int() | float():
            return int(value)
        case "number", int() | float():
            return _shortened(value)
        case "date", str():
            return _date(value, now)
        case _:
            return None


def _date(value: str, now: datetime) -> str:
    if value in ("", "null"):
        return UNKNOWN
    try:
        return since_text(value, now) if _RFC3339.fullmatch(value) else "<invalid>"
    except ValueError:  # such as a 13th month
        return "<invalid>"


def _text(value: JSON) -> str:
    match value:
        case None:
            return "<no value>"
        case bool():
            return str(value).lower()
        case float():
            # A whole number is stored without a decimal point.
            return str(int(value)) if value.is_integer() and abs(value) < _INT64 else _go_float(value)
        case dict() | list():
            encoded = msgspec.json.encode(_shortened(value), order="sorted").decode()
            return encoded.translate(_ESCAPES)
        case _:
            return str(value)


def _shortened(value: JSON) -> JSON:
    """Return a value whose whole numbers have no decimal point, as Go encodes them."""
    match value:
        case float() if value.is_integer() and abs(value) < _LARGE:
            return int(value)
        case dict():
            return {name: _shortened(inner) for name, inner in value.items()}
        case list():
            return [_shortened(inner) for inner in value]
        case _:
            return value


def _go_float(value: float) -> str:
    """Format a number with Go's %v: the shortest digits, with an exponent for large and small numbers."""
    shortest = Decimal(repr(value)).normalize()
    if -5 < shortest.adjusted() < 6:
        return f"{shortest:f}"
    mantissa, _, exponent = f"{shortest:e}".partition("e")
    return f"{mantissa}e{exponent[0]}{exponent[1:]:0>2}"

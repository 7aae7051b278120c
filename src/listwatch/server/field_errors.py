"""Causes of InvalidError for single fields, worded as the real server words them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from listwatch.errors import StatusCause
from listwatch.json_value import JSON
from listwatch.server.json_tree import quoted
from listwatch.wording import counted

__all__ = [
    "duplicate",
    "forbidden",
    "invalid",
    "not_found",
    "not_supported",
    "required",
    "too_long",
    "too_many",
]


def required(field: str, detail: str = "") -> StatusCause:
    return _cause("FieldValueRequired", "Required value", field, detail)


def invalid(field: str, value: JSON | Sequence[str], detail: str) -> StatusCause:
    return _cause("FieldValueInvalid", f"Invalid value: {_shown(value)}", field, detail)


def not_supported(field: str, value: JSON, supported: Iterable[str]) -> StatusCause:
    values = ", ".join(map(quoted, supported))
    detail = f"supported values: {values}" if values else ""
    return _cause("FieldValueNotSupported", f"Unsupported value: {_shown(value)}", field, detail)


def forbidden(field: str, detail: str) -> StatusCause:
    return _cause("FieldValueForbidden", "Forbidden", field, detail)


def duplicate(field: str, value: JSON) -> StatusCause:
    return _cause("FieldValueDuplicate", f"Duplicate value: {_shown(value)}", field)


def not_found(field: str, value: JSON) -> StatusCause:
    return _cause("FieldValueNotFound", f"Not found: {_shown(value)}", field)


def too_long(field: str, maximum: int, *, unit: str = "byte") -> StatusCause:
    return _cause("FieldValueTooLong", "Too long", field, f"may not be more than {counted(maximum, unit)}")


def too_many(field: str, count: int, maximum: int) -> StatusCause:
    return _cause("FieldValueTooMany", f"Too many: {count}", field, f"must have at most {counted(maximum, 'item')}")


def _cause(reason: str, what: str, field: str, detail: str = "") -> StatusCause:
    return StatusCause(reason, f"{what}: {detail}" if detail else what, field)


def _shown(value: JSON | Sequence[str]) -> str:
    if isinstance(value, str):
        return quoted(value)
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")

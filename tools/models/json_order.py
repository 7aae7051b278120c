"""The order in which servers write the fields of a type: that of its Go struct, as in the protobuf schemas."""

from __future__ import annotations

from collections.abc import Iterator

from listwatch.protobuf.schema import read_message

__all__ = ["json_order"]


def json_order(module: str, name: str) -> list[str]:
    """The JSON names of the fields of a type in a module, `core_v1` and `Pod`; empty if it has no protobuf schema."""
    try:
        return [*_names(f"{module}.{name}")]
    except (ImportError, KeyError):
        return []


def _names(message: str) -> Iterator[str]:
    for field in read_message(message).fields:
        if field.json_name:
            yield field.json_name
        else:  # a struct whose fields are inlined
            yield from _names(field.message)

"""The text of one field of a cached object, by its path: what field selectors compare."""

from __future__ import annotations

from typing import cast

import msgspec

from listwatch.errors import SelectorError
from listwatch.keyed import Cached, LazilyDecoded, lazily_decoded

__all__ = ["field_text"]


def field_text(item: Cached, path: str) -> str:
    """Return the text of a field. The path of a Kubernetes object is that of its JSON.

    That of another object leads through attributes, and the keys of dicts. Raises SelectorError for a field that the
    kind does not have.
    """
    if lazily_decoded(type(item)) is not None:
        return cast("LazilyDecoded", item)._field_text(path)
    return _attribute_text(item, path)


def _attribute_text(item: Cached, path: str) -> str:
    value: object = item
    for name in path.split("."):
        try:
            value = value.get(name) if isinstance(value, dict) else getattr(value, name)
        except AttributeError:
            kind = type(item).__name__
            raise SelectorError(f"{kind} has no field {path!r}; select by an existing field", text=path) from None
    return _text(value)


def _text(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str() | int() | float():
            return str(value)
        case None | dict() | list() | msgspec.Struct():
            return ""
        case _:
            return str(msgspec.to_builtins(value))

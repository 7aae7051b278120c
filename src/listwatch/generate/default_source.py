"""Defaults of schemas as Python source."""

from __future__ import annotations

import base64
import binascii
import re

from listwatch.generate.generate_error import GenerateError
from listwatch.json_value import JSON, JSONObject

__all__ = ["default_source"]

_CLASS = re.compile(r"[A-Z]\w*")


def default_source(value: JSON, annotation: str, schema: JSONObject) -> str:
    """Return an expression of the type of the annotation, which contains no `Annotated`."""
    match annotation:
        case "lw.Quantity":
            return f"lw.Quantity({str(value)!r})"
        case "lw.Unstructured":
            return f"lw.Unstructured.from_dict({value!r})"
        case "datetime":
            return f"datetime.fromisoformat({value!r})"
        case "bytes":
            return repr(_decoded(value))
        case "float" if isinstance(value, int) and not isinstance(value, bool):
            return repr(float(value))
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, dict) and annotation.startswith("list["):
        inner = _item_annotation(annotation)
        return f"[{', '.join(default_source(each, inner, items) for each in value)}]"
    values = schema.get("additionalProperties")
    if isinstance(value, dict) and isinstance(values, dict) and annotation.startswith("dict["):
        inner = _item_annotation(annotation)
        return "{" + ", ".join(f"{key!r}: {default_source(each, inner, values)}" for key, each in value.items()) + "}"
    if isinstance(value, dict) and _CLASS.fullmatch(annotation) and annotation != "Any":
        return f"{annotation}.from_dict({value!r})" if value else f"{annotation}()"
    return repr(value)


def _item_annotation(annotation: str) -> str:
    """`list[X]` → `X`, `dict[str, X]` → `X`."""
    return annotation.partition("[")[2][:-1].removeprefix("str, ")


def _decoded(value: JSON) -> bytes:
    try:
        return base64.b64decode(str(value), validate=True)
    except binascii.Error as error:
        raise GenerateError("default", f"{value!r} is not base64: {error}") from None

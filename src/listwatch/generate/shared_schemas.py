"""Finds object schemas that occur several times, such as those of the parts of a PodSpec: they become one class.

Descriptions of fields do not count: the same type has another description at each field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from listwatch.json_value import JSON, JSONObject

__all__ = ["SharedSchemas"]


class SharedSchemas:
    """The occurrences of each object schema in the schemas of some kinds."""

    def __init__(self, schemas: Iterable[JSONObject]) -> None:
        self._descriptions: dict[bytes, list[str]] = {}
        for schema in schemas:
            for inner in _properties(schema).values():
                self._count(inner, is_field=True)

    def key_of(self, schema: JSONObject, *, is_field: bool) -> bytes:
        """Return a key that is equal for equal schemas."""
        compared = {name: value for name, value in schema.items() if name in _OF_CLASS or name == "description"}
        if is_field:
            compared.pop("description", None)
        return msgspec.json.encode([is_field, compared], order="sorted")

    def is_shared(self, key: bytes) -> bool:
        """True if the schema occurs more than once."""
        return len(self._descriptions.get(key, ())) > 1

    def has_one_description(self, key: bytes) -> bool:
        """True if all occurrences have the same description, so that it is that of the class."""
        return len({*self._descriptions.get(key, ())}) <= 1

    def _count(self, schema: JSONObject, *, is_field: bool = False) -> None:
        properties = _properties(schema)
        if properties:
            description = schema.get("description")
            text = description if isinstance(description, str) else ""
            self._descriptions.setdefault(self.key_of(schema, is_field=is_field), []).append(text)
        for inner in properties.values():
            self._count(inner, is_field=True)
        for name in ("items", "additionalProperties"):
            below = schema.get(name)
            if isinstance(below, dict):
                self._count(below)


# The keywords that a class expresses; others belong to the field.
_OF_CLASS = frozenset({"type", "properties", "required", "x-kubernetes-validations"})


def _properties(schema: Mapping[str, JSON]) -> dict[str, JSONObject]:
    found = schema.get("properties")
    items = found.items() if isinstance(found, dict) else ()
    return {name: each for name, each in items if isinstance(each, dict)}

"""Parts of operations that differ between the versions of OpenAPI, and the names in their ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from listwatch.json_value import JSONObject
from listwatch.server.openapi.definitions import BuiltinDefinitions

__all__ = ["ANY_TYPES", "OBJECT_TYPES", "PROTOBUF_TYPES", "capitalized", "group_name", "responses", "tag", "with_types"]

OBJECT_TYPES = ("application/json", "application/yaml")
PROTOBUF_TYPES = ("application/vnd.kubernetes.protobuf",)
ANY_TYPES = ("*/*",)
_STATUS_TEXTS = {"200": "OK", "201": "Created", "202": "Accepted"}


def responses(
    definitions: BuiltinDefinitions, codes: Iterable[str], schema: JSONObject, types: Iterable[str]
) -> JSONObject:
    """Return the responses with these status codes, whose content has this schema and one of these media types."""
    content: JSONObject = {"schema": schema}
    if definitions.is_v3:
        content = {"content": {each: {"schema": schema} for each in types}}
    found: JSONObject = {code: {"description": _STATUS_TEXTS[code], **content} for code in codes}
    return {**found, "401": {"description": "Unauthorized"}}


def with_types(
    definitions: BuiltinDefinitions,
    operation: JSONObject,
    produced: Sequence[str],
    *,
    consumed: Sequence[str] = ANY_TYPES,
) -> JSONObject:
    """Add the media types, which version 3 has beside the schemas instead."""
    if definitions.is_v3:
        return operation
    types: JSONObject = {"consumes": [*consumed]} if consumed else {}
    return {**operation, **types, "produces": [*produced], "schemes": ["https"]}


def group_name(group: str) -> str:
    """The group as in the names of operations: Core, Apps, RbacAuthorization, ComExample."""
    words = group.removesuffix(".k8s.io").split(".") if group.endswith(".k8s.io") else [*reversed(group.split("."))]
    return "".join(map(capitalized, words)) or "Core"


def tag(group: str) -> str:
    """The group as in the tags of operations: core, apps, rbacAuthorization, comExample."""
    name = group_name(group)
    return name[:1].lower() + name[1:]


def capitalized(word: str) -> str:
    return word[:1].upper() + word[1:]

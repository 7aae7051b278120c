"""Generates `metadata.managedFields` from an object, as API servers write them."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["entry", "fields_of", "keyed"]

_KEYS = {
    "conditions": ("type",),
    "containers": ("name",),
    "env": ("name",),
    "ownerReferences": ("uid",),
    "podIPs": ("ip",),
    "ports": ("containerPort", "protocol"),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
}
"""Lists whose items are managed one by one, with the keys of their items; all other lists are atomic."""
_ATOMIC = {"fieldRef", "ownerReferences"}
"""Objects, and items of lists, that are atomic."""
_ALWAYS_PRESENT = {"conditions", "containers", "metadata", "spec", "status"}
"""Fields that always exist, so that they have no manager themselves."""


def fields_of(value: Any, name: str = "") -> dict[str, Any]:
    """The field set (fieldsV1) of a value; `name` is the field that contains it."""
    inside: dict[str, Any] = {}
    if isinstance(value, dict) and name not in _ATOMIC:
        inside = {f"f:{each}": fields_of(value[each], each) for each in sorted(value)}
    elif isinstance(value, list) and (keys := _KEYS.get(name)):
        inside = {keyed(each, keys): {} if name in _ATOMIC else fields_of(each) for each in value}
    return {".": {}, **inside} if inside and name not in _ALWAYS_PRESENT else inside


def keyed(item: dict[str, Any], keys: tuple[str, ...]) -> str:
    """The path element of a list item: k:{"name":"main"}."""
    found = {key: item[key] for key in keys}
    return f"k:{json.dumps(found, separators=(',', ':'))}"


def entry(manager: str, fields: dict[str, Any], *, api_version: str = "v1", subresource: str = "") -> dict[str, Any]:
    """The managedFields entry of a manager that wrote these fields."""
    made = {
        "manager": manager,
        "operation": "Update",
        "apiVersion": api_version,
        "time": "2026-01-02T03:04:05Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    return made | {"subresource": subresource} if subresource else made

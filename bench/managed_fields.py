"""Who manages which field: `metadata.managedFields` as servers write them, made from the objects themselves."""

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
"""The lists whose items have managers of their own, and what tells the items apart; all others are managed whole."""
_WHOLE = {"fieldRef", "ownerReferences"}
"""What is managed whole though it is an object, or a list of such."""
_BARE = {"conditions", "containers", "metadata", "spec", "status"}
"""What is there in any case, and so has no manager itself."""


def fields_of(value: Any, name: str = "") -> dict[str, Any]:
    """The names of all fields in a value, which is called so where it stands."""
    inside: dict[str, Any] = {}
    if isinstance(value, dict) and name not in _WHOLE:
        inside = {f"f:{each}": fields_of(value[each], each) for each in sorted(value)}
    elif isinstance(value, list) and (keys := _KEYS.get(name)):
        inside = {keyed(each, keys): {} if name in _WHOLE else fields_of(each) for each in value}
    return {".": {}, **inside} if inside and name not in _BARE else inside


def keyed(item: dict[str, Any], keys: tuple[str, ...]) -> str:
    """What an item is called: k:{"name":"main"}."""
    found = {key: item[key] for key in keys}
    return f"k:{json.dumps(found, separators=(',', ':'))}"


def entry(manager: str, fields: dict[str, Any], *, api_version: str = "v1", subresource: str = "") -> dict[str, Any]:
    """That a manager has written these fields."""
    made = {
        "manager": manager,
        "operation": "Update",
        "apiVersion": api_version,
        "time": "2026-01-02T03:04:05Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    return made | {"subresource": subresource} if subresource else made

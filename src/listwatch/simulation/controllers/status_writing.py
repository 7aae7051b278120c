"""Writes the status of an object, if it has changed."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

from listwatch.client.resources.resource_client import ResourceClient
from listwatch.json_value import JSONObject
from listwatch.objects.object import Object

__all__ = ["write_status"]

T = TypeVar("T", bound=Object)


async def write_status(
    resource: ResourceClient[T], item: T, status: JSONObject, *, keep: Collection[str] = (), checked: bool = False
) -> None:
    """Replace the status of an object, with the members of the old one that `keep` names; not if it is the same.

    With `checked`, ConflictError is raised if the object has changed since it was read.
    """
    known: JSONObject = item.to_dict().get("status") or {}
    change: JSONObject = {name: value for name, value in status.items() if known.get(name) != value}
    present = {name for name, value in known.items() if value is not None}
    change |= dict.fromkeys(present - status.keys() - {*keep})
    if change:
        # With the uid: another object of the same name has another status.
        metadata: JSONObject = {"uid": item.uid}
        if checked:
            metadata["resourceVersion"] = item.resource_version
        await resource.patch(item.name, {"metadata": metadata, "status": change}, type="merge", subresource="status")

"""What every object and every list carries. Written by hand, because everything else is built on it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from msgspec import field

from listwatch.errors import DecodeError
from listwatch.objects.model import Model
from listwatch.objects.reasons import UNREADABLE, reason_of

__all__ = ["ListMeta", "ManagedFieldsEntry", "ObjectMeta", "OwnerReference", "ShardInfo"]

_NOTHING = msgspec.Raw()


class OwnerReference(Model, kw_only=True):
    """The object that this one belongs to, and goes with."""

    api_version: str = field(default_factory=str)
    kind: str = field(default_factory=str)
    name: str = field(default_factory=str)
    uid: str = field(default_factory=str)
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ManagedFieldsEntry(Model, kw_only=True):
    """Which manager owns which fields."""

    manager: str | None = None
    operation: str | None = None
    api_version: str | None = None
    time: datetime | None = None
    fields_type: str | None = None
    fields_v1: msgspec.Raw = _NOTHING
    """The set of owned fields as the JSON that came: often a third of an object, and hardly ever looked at."""
    subresource: str | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """The set of owned fields, decoded anew at each call."""
        try:
            owned: dict[str, Any] = {} if self.fields_v1 == _NOTHING else msgspec.json.decode(self.fields_v1)
        except UNREADABLE as error:
            what = f"managed fields of {self.manager or 'nobody'}"
            raise DecodeError(reason_of(error), object_name=what, field="fieldsV1") from None
        return owned or {}


class ObjectMeta(Model, kw_only=True):
    """Name, identity, version, labels and life of one object; `""` and 0 where the server said nothing."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    self_link: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    owner_references: list[OwnerReference] = field(default_factory=list)
    finalizers: list[str] = field(default_factory=list)
    managed_fields: list[ManagedFieldsEntry] = field(default_factory=list)


class ShardInfo(Model, kw_only=True):
    """Which part of a sharded collection a list holds."""

    selector: str = field(default_factory=str)


class ListMeta(Model, kw_only=True):
    """The version a list was read at, and how to go on reading it."""

    self_link: str = ""
    resource_version: str = ""
    continue_: str = field(default="", name="continue")
    remaining_item_count: int | None = None
    shard_info: ShardInfo | None = None

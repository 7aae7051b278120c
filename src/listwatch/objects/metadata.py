"""The metadata of objects and lists. Written by hand, because the generated models build on it."""

from __future__ import annotations

from datetime import datetime

import msgspec
from msgspec import field

from listwatch.errors import DecodeError
from listwatch.json_value import JSONObject
from listwatch.objects.json_scan import elements_of, parts_of
from listwatch.objects.model import Model
from listwatch.objects.reading import DECODE_FAILURES, convert, decoder_for, reason_of

__all__ = ["ListMeta", "ManagedFieldsEntry", "ObjectMeta", "OwnerReference", "ShardInfo", "read_deep_metadata"]

_NOTHING = msgspec.Raw()


class OwnerReference(Model, kw_only=True):
    """An owner of an object; the garbage collector deletes the object with its owners."""

    api_version: str = field(default_factory=str)
    kind: str = field(default_factory=str)
    name: str = field(default_factory=str)
    uid: str = field(default_factory=str)
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ManagedFieldsEntry(Model, kw_only=True):
    """The fields that one manager owns."""

    manager: str | None = None
    operation: str | None = None
    api_version: str | None = None
    time: datetime | None = None
    fields_type: str | None = None
    fields_v1: msgspec.Raw = _NOTHING
    """The set of owned fields, as received JSON: often a third of an object, and rarely read."""
    subresource: str | None = None

    @property
    def fields(self) -> JSONObject:
        """The set of owned fields, decoded at each call."""
        try:
            owned: JSONObject | None = {} if self.fields_v1 == _NOTHING else msgspec.json.decode(self.fields_v1)
        except DECODE_FAILURES as error:
            what = f"managedFields of {self.manager or 'an unnamed manager'}"
            raise DecodeError(reason_of(error), object_name=what, field="fieldsV1") from None
        return owned or {}


class ObjectMeta(Model, kw_only=True):
    """The metadata of an object. Absent strings are `""` and absent numbers 0."""

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


def read_deep_metadata(part: msgspec.Raw) -> ObjectMeta | None:
    """The metadata of an object that is nested too deeply; None if it cannot be decoded for another reason.

    Its managedFields are as deep as the object. Their `fields_v1` are not decoded, and raise on access.
    """
    try:
        fields = parts_of(bytes(part))
        managed = bytes(fields.pop("managedFields", b"[]"))
        metadata: ObjectMeta = convert(msgspec.json.decode(msgspec.json.encode(fields)), ObjectMeta, what="metadata")
        for start, end in elements_of(managed):
            entry = parts_of(managed[start:end])
            owned = entry.pop("fieldsV1", _NOTHING)
            metadata.managed_fields.append(decoder_for(ManagedFieldsEntry).decode(msgspec.json.encode(entry)))
            metadata.managed_fields[-1].fields_v1 = owned
    except (DecodeError, ValueError, *DECODE_FAILURES):
        return None
    return metadata


class ShardInfo(Model, kw_only=True):
    """The shard of a collection that a list contains."""

    selector: str = field(default_factory=str)


class ListMeta(Model, kw_only=True):
    """The resource version of a list, and the token of its next page."""

    self_link: str = ""
    resource_version: str = ""
    continue_: str = field(default="", name="continue")
    remaining_item_count: int | None = None
    shard_info: ShardInfo | None = None

"""The metadata of objects and lists. Written by hand, because the generated models build on it."""

from __future__ import annotations

from datetime import datetime

import msgspec
from msgspec import field

from listwatch.errors import DecodeError
from listwatch.json_value import JSONObject
from listwatch.objects.declarations.model import Model
from listwatch.objects.json.json_scan import elements_of, parts_of
from listwatch.objects.json.reading import DECODE_FAILURES, convert, decoder_for, reason_of

__all__ = ["ListMeta", "ManagedFieldsEntry", "ObjectMeta", "OwnerReference", "ShardInfo", "read_deep_metadata"]

_NOTHING = msgspec.Raw()
_decode_fields = msgspec.json.Decoder().decode


class OwnerReference(Model):
    """An owner of an object; the garbage collector deletes the object with its owners."""

    api_version: str = field(default_factory=str)
    """API version of the owner."""
    kind: str = field(default_factory=str)
    """Kind of the owner."""
    name: str = field(default_factory=str)
    """Name of the owner."""
    uid: str = field(default_factory=str)
    """UID of the owner."""
    controller: bool | None = None
    """If true, this reference points to the managing controller."""
    block_owner_deletion: bool | None = None
    """If true, an owner with the finalizer `foregroundDeletion` cannot be removed before this reference is."""


class ManagedFieldsEntry(Model):
    """The fields that one manager owns."""

    manager: str | None = None
    """Name of the workflow that manages these fields."""
    operation: str | None = None
    """`Apply` for server-side apply, otherwise `Update`."""
    api_version: str | None = None
    """Version of the resource that these fields belong to."""
    time: datetime | None = None
    """When the manager last changed its fields."""
    fields_type: str | None = None
    """The format of the fields; always `FieldsV1`."""
    fields_v1: msgspec.Raw = _NOTHING
    """The set of owned fields, as received JSON: often a third of an object, and rarely read."""
    subresource: str | None = None
    """Subresource through which the object was changed; empty for the object itself."""

    @property
    def fields(self) -> JSONObject:
        """The set of owned fields, decoded at each call."""
        try:
            owned: JSONObject | None = _decode_fields(self.fields_v1)
        except DECODE_FAILURES as error:
            if not len(self.fields_v1):
                return {}
            what = f"managedFields of {self.manager or 'an unnamed manager'}"
            raise DecodeError(reason_of(error), object_name=what, field="fieldsV1") from None
        return owned or {}


class ObjectMeta(Model):
    """The metadata of an object. Absent strings are `""` and absent numbers 0."""

    name: str = ""
    """Name, unique within a namespace. It cannot be changed."""
    generate_name: str = ""
    """Prefix from which the server makes a unique name, if `name` is empty."""
    namespace: str = ""
    """Namespace, within which each name must be unique. It cannot be changed."""
    self_link: str = ""
    """Deprecated; servers leave it empty."""
    uid: str = ""
    """Unique in time and space; set by the server."""
    resource_version: str = ""
    """Opaque version of the object, for optimistic concurrency, change detection and watches; set by the server."""
    generation: int = 0
    """Sequence number of the desired state (the spec); set by the server."""
    creation_timestamp: datetime | None = None
    """When the object was created; set by the server."""
    deletion_timestamp: datetime | None = None
    """When the object will be or was to be deleted; set by the server for a graceful deletion, and never unset."""
    deletion_grace_period_seconds: int | None = None
    """Seconds for which the object may terminate gracefully before it is removed; set with `deletion_timestamp`."""
    labels: dict[str, str] = field(default_factory=dict)
    """Map of keys and values that can be used to organize and select objects."""
    annotations: dict[str, str] = field(default_factory=dict)
    """An unstructured key value map that tools set and read. It is not queryable."""
    owner_references: list[OwnerReference] = field(default_factory=list)
    """Objects that this object depends on. When all of them are deleted, this object is garbage collected."""
    finalizers: list[str] = field(default_factory=list)
    """Must be empty before the object is removed. Each entry names the component that will remove it."""
    managed_fields: list[ManagedFieldsEntry] = field(default_factory=list)
    """Which manager owns which fields, for server-side apply. Set by the server."""


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


class ShardInfo(Model):
    """The shard of a collection that a list contains."""

    selector: str = field(default_factory=str)
    """The selector of the shard."""


class ListMeta(Model):
    """The resource version of a list, and the token of its next page."""

    self_link: str = ""
    """Deprecated; servers leave it empty."""
    resource_version: str = ""
    """The version of the collection, from which a watch can start."""
    continue_: str = field(default="", name="continue")
    """The token of the next page; empty on the last page."""
    remaining_item_count: int | None = None
    """The number of items on the following pages, if the server knows it."""
    shard_info: ShardInfo | None = None
    """The shard that this list contains, if the request selected one."""

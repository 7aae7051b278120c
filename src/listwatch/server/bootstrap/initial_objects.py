"""Creates objects from text, such as that of `bootstrap_data`.

The text has encoded objects without what varies. It is completed and stored without decoding it, so that a server with
hundreds of objects starts as fast as an empty one. The format, by line:

    > STORAGE-ID KIND API-VERSION       what follows are objects of this kind
    = MEMBERS                           of the metadata of the objects that follow
    KEY MEMBERS                         an object: namespace/name or name, and its members beside the metadata
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import msgspec

from listwatch.json_value import JSONObject
from listwatch.meta import ObjectKey
from listwatch.server.json_tree import object_at, same
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.lifecycle.strategy import Environment, timestamp
from listwatch.server.storage.values import KeyExistsError, Stored

__all__ = ["ObjectTemplate", "create_missing", "create_or_restore", "read_templates"]

# What varies is not restored; a status belongs to other components.
_KEPT = ("metadata", "status")
_RESTORED_METADATA = ("labels", "annotations")


class ObjectTemplate(NamedTuple):
    """An encoded object without uid and resourceVersion, which belong between its parts."""

    storage_id: str
    key: ObjectKey
    head: bytes
    tail: bytes

    def encode(self, uid: str, revision: int) -> bytes:
        return b'%b"uid":"%b","resourceVersion":"%d",%b' % (self.head, uid.encode(), revision, self.tail)

    def decode(self) -> JSONObject:
        """Return the object, with an empty uid."""
        tree: JSONObject = msgspec.json.decode(self.encode("", 0))
        return tree


def read_templates(
    data: bytes, environment: Environment, values: Mapping[str, str] | None = None
) -> Iterator[ObjectTemplate]:
    """Read the objects of a text, with the present time and other values for its placeholders, such as `$port$`."""
    now = timestamp(environment.now())
    for placeholder, value in {"time": now, **(values or {})}.items():
        data = data.replace(b"$%b$" % placeholder.encode(), value.encode())
    # All of it is bytes: what is not decoded need not be encoded.
    storage_id, head, metadata = "", b"", b""
    for line in data.split(b"\n"):
        first, _, rest = line.partition(b" ")
        if first == b">":
            storage_id, kind, version = rest.decode().split(" ")
            head = b'{"kind":"%b","apiVersion":"%b","metadata":{"name":"' % (kind.encode(), version.encode())
        elif first == b"=":
            metadata = b'"creationTimestamp":"%b"%b%b}' % (now.encode(), b"," if rest else b"", rest)
        elif first:
            namespace, _, name = first.rpartition(b"/")
            place = b'%b","namespace":"%b",' % (name, namespace) if namespace else b'%b",' % name
            tail = b"%b%b%b}" % (metadata, b"," if rest else b"", rest)
            yield ObjectTemplate(storage_id, ObjectKey(namespace.decode(), name.decode()), head + place, tail)


def create_missing(
    objects: ObjectStore, environment: Environment, data: bytes, values: Mapping[str, str] | None = None
) -> None:
    """Create the objects of the text that do not exist."""
    for template in read_templates(data, environment, values):
        with suppress(KeyExistsError):
            _create(objects, environment, template)


def create_or_restore(
    objects: ObjectStore, environment: Environment, data: bytes, values: Mapping[str, str] | None = None
) -> None:
    """Create the objects of the text that do not exist, and update those that differ from it."""
    for template in read_templates(data, environment, values):
        if stored := objects.storage.get(template.storage_id, template.key):
            _restore(objects, stored, template)
        else:
            _create(objects, environment, template)


def _create(objects: ObjectStore, environment: Environment, template: ObjectTemplate) -> None:
    objects.storage.create(template.storage_id, template.key, partial(template.encode, environment.new_uid()))


def _restore(objects: ObjectStore, stored: Stored, template: ObjectTemplate) -> None:
    old, wanted = decode_stored(stored), template.decode()
    metadata = {**object_at(old, "metadata")}
    for name in _RESTORED_METADATA:
        if given := object_at(wanted, "metadata", name):
            metadata[name] = {**object_at(metadata, name), **given}
    kept: JSONObject = {name: old[name] for name in _KEPT if name in old}
    new: JSONObject = {**wanted, **kept, "metadata": metadata}
    if not same(new, old):
        objects.update(template.storage_id, stored, new)

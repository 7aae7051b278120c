"""Objects as trees, on their way into the storage and out of it. What writes objects writes them through this."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from listwatch.meta import ObjectKey
from listwatch.server.codec.representations import encode_object, with_resource_version
from listwatch.server.json_tree import Tree
from listwatch.server.lifecycle.deletion import is_finished
from listwatch.server.storage.storage import KeyExistsError, Storage, Stored

__all__ = ["StoredObjects", "decoded"]

_decoder = msgspec.json.Decoder()


def decoded(stored: Stored) -> Tree:
    """The object as a tree that nobody else holds."""
    return _decoder.decode(stored.value)


class StoredObjects:
    """Writes trees to a storage; with `dry_run` all is as if, and nothing is written."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    def create(self, storage_id: str, key: ObjectKey, tree: Tree, *, dry_run: bool = False) -> Stored:
        """Raises KeyExistsError."""
        encode = _encoder(tree)
        if not dry_run:
            return self.storage.create(storage_id, key, encode)
        if self.storage.get(storage_id, key):
            raise KeyExistsError(f"cannot create {storage_id} {key}: it exists")
        return Stored(key, encode(0), 0)

    def update(self, storage_id: str, existing: Stored, tree: Tree, *, dry_run: bool = False) -> Stored:
        encode = _encoder(tree)
        if dry_run:
            return Stored(existing.key, encode(existing.revision), existing.revision)
        return self.storage.update(storage_id, existing.key, encode, expected=existing.revision)

    def remove(self, storage_id: str, existing: Stored, *, dry_run: bool = False) -> Stored:
        """Returns its last state, which is the one that was there, at the revision of its end."""
        if dry_run:
            return existing
        return self.storage.delete(
            storage_id,
            existing.key,
            lambda revision: with_resource_version(existing.value, revision),
            expected=existing.revision,
        )

    def change(self, storage_id: str, existing: Stored, tree: Tree, *, dry_run: bool = False) -> Stored:
        """Update, or remove if that was all that a deletion waited for; then the answer is what would have been."""
        if not is_finished(tree):
            return self.update(storage_id, existing, tree, dry_run=dry_run)
        self.remove(storage_id, existing, dry_run=dry_run)
        return Stored(existing.key, _encoder(tree)(existing.revision), existing.revision)


def _encoder(tree: Tree) -> Callable[[int], bytes]:
    def encode(revision: int) -> bytes:
        metadata = {**tree["metadata"]}
        metadata.pop("resourceVersion", None)
        if revision:
            metadata["resourceVersion"] = str(revision)
        return encode_object({**tree, "metadata": metadata})

    return encode

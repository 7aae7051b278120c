"""Reads and writes stored objects as JSON, in the version that a request names and in the one that is stored.

`storage` does not interpret the bytes that it holds; the rest of the server uses it through `ObjectStore`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from listwatch.errors import APIError, NotFoundError
from listwatch.json_value import JSONObject
from listwatch.meta import GroupKind, GroupVersionKind, ObjectKey, Resource
from listwatch.server.codec.conversion import convert
from listwatch.server.codec.decoding import decode_tree
from listwatch.server.codec.representations import encode_object, with_resource_version
from listwatch.server.codec.typed_decoding import StrictErrors
from listwatch.server.crd.custom_decoding import decode_custom_tree
from listwatch.server.crd.definitions import Definitions
from listwatch.server.json_tree import copied, same, value_at
from listwatch.server.lifecycle.conversion_webhooks import ConversionWebhook
from listwatch.server.requests import APIRequest, Replay
from listwatch.server.schema.registry import Registry, Traits
from listwatch.server.schema.schema import Schema
from listwatch.server.storage.storage import Storage
from listwatch.server.storage.values import KeyExistsError, Stored

__all__ = ["ObjectStore", "Target", "decode_stored", "is_deletion_complete", "not_found"]

_MAX_TARGETS = 4096
_decode: Callable[[bytes], JSONObject] = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class Target:
    """A resource, and its storage side: the version in which it is stored, its traits, its name in the storage."""

    resource: Resource
    gvk: GroupVersionKind
    stored_as: Resource
    group_kind: GroupKind
    traits: Traits
    storage_id: str
    is_built_in: bool
    is_custom: bool
    """True if a CustomResourceDefinition defines it."""
    is_converted: bool
    """True if a webhook converts its objects between versions: they are handled in the requested version."""


def decode_stored(stored: Stored) -> JSONObject:
    """Decode a stored object; the caller may change the result."""
    return _decode(stored.value)


def is_deletion_complete(tree: JSONObject) -> bool:
    """Whether an object that is being deleted has no finalizers and no grace period left."""
    metadata = tree["metadata"]
    assert isinstance(metadata, dict)
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    if metadata.get("deletionGracePeriodSeconds"):
        return False
    return not (tree["kind"] == "Namespace" and value_at(tree, "spec", "finalizers"))


def not_found(request: APIRequest) -> NotFoundError:
    return NotFoundError.of(request.resource.plural, request.name, group=request.resource.group)


class ObjectStore:
    """The objects of one storage, with the registry, schema and definitions to interpret them.

    Writes with `dry_run` return what a real write would, and store nothing.
    """

    def __init__(self, storage: Storage, registry: Registry, schema: Schema) -> None:
        self.storage = storage
        self.registry = registry
        self.schema = schema
        self.definitions = Definitions()
        self._targets: dict[int, Target] = {}
        """By the identity of the resource, which is a tenth of the time of comparing names."""
        self._targets_generation = registry.generation
        self.replay: Replay | None = None
        """The replay of the current request, since requests run one at a time; without one, nothing is converted."""

    def target(self, resource: Resource) -> Target:
        registry = self.registry
        if registry.generation != self._targets_generation:
            self._targets, self._targets_generation = {}, registry.generation
        target = self._targets.get(id(resource))
        if target is None:
            if len(self._targets) >= _MAX_TARGETS:
                self._targets.clear()
            stored_as = registry.stored_as(resource)
            definition = self.definitions.get(resource)
            if definition and definition.conversion_webhook is not None:
                stored_as = resource  # the requested version is kept up to the storage, as in kube-apiserver
            target = self._targets[id(resource)] = Target(
                resource=resource,
                gvk=resource.gvk,
                stored_as=stored_as,
                group_kind=stored_as.gvk.group_kind,
                traits=registry.traits(resource),
                storage_id=registry.storage_id(resource),
                is_built_in=self.schema.type_of(resource.api_version, resource.kind) is not None,
                is_custom=definition is not None,
                is_converted=definition is not None and definition.conversion_webhook is not None,
            )
        return target

    # --- Read

    def get(self, request: APIRequest) -> Stored:
        """Return the object that a request names; raises NotFoundError."""
        found = self.storage.get(self.target(request.resource).storage_id, request.key)
        if found is None:
            raise not_found(request)
        return found

    def find(self, storage_id: str, key: ObjectKey) -> JSONObject | None:
        """Return an object as it is stored, such as one of "/pods"; the caller may change the result."""
        found = self.storage.get(storage_id, key)
        return decode_stored(found) if found else None

    def encode(self, stored: Stored, resource: Resource) -> bytes:
        """Encode a stored object in the version of the resource."""
        target = self.target(resource)
        if target.stored_as is resource and not target.is_custom:
            return stored.value
        return self.encode_all([stored], resource)[0]

    def encode_all(self, stored: Sequence[Stored], resource: Resource) -> Sequence[bytes]:
        target = self.target(resource)
        if target.is_converted:
            return [each.value for each in self.converted(stored, resource)]
        if target.is_custom and (definition := self.definitions.get(resource)):
            return [definition.encoded(each, resource.version) for each in stored]
        if target.stored_as is resource:
            return [each.value for each in stored]
        return [encode_object(convert(decode_stored(each), resource.gvk)) for each in stored]

    def load(self, stored: Stored, target: Target) -> JSONObject:
        """Decode a stored object in the version that is stored now; the caller may change the result."""
        tree = decode_stored(stored)
        if target.is_converted:
            return self._convert([tree], target.stored_as)[0]
        if target.is_custom and (definition := self.definitions.get(target.stored_as)):
            return definition.convert(tree, target.stored_as.version)
        return tree

    def in_version(self, tree: JSONObject, resource: Resource) -> JSONObject:
        """Return an object in another version of its kind; raises WebhookNeededError. The tree may be changed."""
        target = self.target(resource)
        if target.is_converted:
            return self._convert([tree], resource)[0]
        if target.is_custom and (definition := self.definitions.get(resource)):
            return definition.convert(tree, resource.version)
        return convert(tree, resource.gvk)

    def decoded(self, tree: JSONObject, resource: Resource, kind: GroupVersionKind) -> JSONObject:
        """Decode an object that admission has changed, of a kind that the resource or its subresource has.

        Raises UnmarshalError.
        """
        custom = self.definitions.version(resource) if kind == resource.gvk else None
        if custom is not None:
            return decode_custom_tree(tree, kind, custom, self.schema, StrictErrors())
        if self.schema.type_of(kind.api_version, kind.kind) is None:
            return tree
        return decode_tree(tree, kind, self.schema, StrictErrors())

    # --- Conversion by webhooks

    def converted(self, stored: Sequence[Stored], resource: Resource) -> list[Stored]:
        """Return states in a version, for a resource whose objects a webhook converts; raises WebhookNeededError."""
        trees = self._convert([decode_stored(each) for each in stored], resource)
        return [Stored(each.key, encode_object(tree), each.revision) for each, tree in zip(stored, trees, strict=True)]

    def to_storage(self, tree: JSONObject, target: Target) -> JSONObject:
        """Return a new state in the version that is stored; raises WebhookNeededError."""
        if not target.is_converted:
            return tree
        stored_as = self.registry.stored_as(target.resource)
        [found] = self._convert([tree], stored_as)
        # The response is converted too, before anything is stored; an error is reported after that.
        with suppress(APIError):
            self._convert([copied(found)], target.resource)
        return found

    def has_old_form(self, stored: Stored, target: Target) -> bool:
        """Whether a custom object is stored in another version, or with fewer defaults, than it would be now."""
        if not target.is_custom:
            return False
        tree = decode_stored(stored)
        if tree["apiVersion"] != self.registry.stored_as(target.resource).api_version:
            return True
        return not target.is_converted and not same(tree, self.load(stored, target))

    def _convert(self, trees: list[JSONObject], resource: Resource) -> list[JSONObject]:
        definition = self.definitions.get(resource)
        assert definition is not None
        normalized = [definition.normalized(each) for each in trees]
        if self.replay is None or definition.conversion_webhook is None:
            return normalized  # controllers of the server read metadata only
        if all(each["apiVersion"] == resource.api_version for each in normalized):
            return normalized
        for each in normalized:
            if (version := str(each["apiVersion"])).rpartition("/")[2] not in definition.versions:
                raise APIError(f"request to convert CR from an invalid group/version: {version}", status_code=500)
        webhook = ConversionWebhook(definition.name, definition.conversion_webhook)
        found = webhook.convert(normalized, resource.api_version, self.replay)
        for each in found:
            definition.versions[resource.version].prune(each)
        return found

    # --- Write

    def create(self, storage_id: str, key: ObjectKey, tree: JSONObject, *, dry_run: bool = False) -> Stored:
        """Raises KeyExistsError."""
        if not dry_run:
            return self.storage.create(storage_id, key, _encoder(tree))
        if self.storage.get(storage_id, key):
            raise KeyExistsError(f"cannot create {storage_id} {key}: it exists")
        return Stored(key, encode_object(tree), 0)

    def update(self, storage_id: str, existing: Stored, tree: JSONObject, *, dry_run: bool = False) -> Stored:
        encode = _encoder(tree)
        if dry_run:
            return Stored(existing.key, encode(existing.revision), existing.revision)
        return self.storage.update(storage_id, existing.key, encode, expected=existing.revision)

    def remove(self, storage_id: str, existing: Stored, *, dry_run: bool = False) -> Stored:
        """Return the last state, at the revision of the removal."""
        if dry_run:
            return existing
        return self.storage.delete(
            storage_id,
            existing.key,
            lambda revision: with_resource_version(existing.value, revision),
            expected=existing.revision,
        )

    def update_or_remove(self, storage_id: str, existing: Stored, tree: JSONObject, *, dry_run: bool = False) -> Stored:
        """Update an object, or remove it if the update completes its deletion; returns the updated state."""
        if not is_deletion_complete(tree):
            return self.update(storage_id, existing, tree, dry_run=dry_run)
        self.remove(storage_id, existing, dry_run=dry_run)
        return Stored(existing.key, _encoder(tree)(existing.revision), existing.revision)


def _encoder(tree: JSONObject) -> Callable[[int], bytes]:
    def encode(revision: int) -> bytes:
        metadata = tree["metadata"]
        assert isinstance(metadata, dict)
        metadata = {**metadata}
        metadata.pop("resourceVersion", None)
        if revision:
            metadata["resourceVersion"] = str(revision)
        return encode_object(tree, metadata)

    return encode

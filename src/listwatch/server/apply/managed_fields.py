"""Field management: `metadata.managedFields`, and how it changes with each write.

create, update, patch    the writer becomes the only manager of every field that it changes
apply                    the writer becomes a manager of every field that it applies, beside others that applied the
                         same value; another value is a conflict
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypeGuard

from listwatch.errors import ConflictError, StatusCause, StatusDetails
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import Resource
from listwatch.server.apply.field_sets import (
    ElementKeyError,
    FieldSet,
    MergeShape,
    applied_fields,
    compare,
    created_fields,
    difference,
    intersection,
    paths,
    union,
    with_named_parents,
)
from listwatch.server.apply.merge_shapes import builtin_shapes, custom_shape, empty_object
from listwatch.server.apply.merging import merge, remove_fields, validate_applied
from listwatch.server.crd.definitions import CustomVersion, Definitions
from listwatch.server.crd.structural_schema import PRESERVES_UNKNOWN
from listwatch.server.json_tree import object_at, objects_at, same, text_at, value_at
from listwatch.server.lifecycle.strategy import timestamp
from listwatch.server.protocol.write_options import WriteOptions
from listwatch.server.requests import APIRequest
from listwatch.server.schema.schema import Schema

__all__ = [
    "APPLY",
    "BEFORE_FIRST_APPLY",
    "UPDATE",
    "ApplyConfiguration",
    "FieldManagers",
    "ManagedFields",
    "Manager",
    "after_apply",
    "after_update",
    "decode_managed",
    "differs_only_in_timestamps",
    "encode_managed",
    "is_reset",
    "managed_by_creator",
    "manager_name",
]

APPLY, UPDATE = "Apply", "Update"
BEFORE_FIRST_APPLY = "before-first-apply"
_MAX_NAME = 128
_MAX_UPDATERS = 10
_ANCIENT = "ancient-changes"
# Metadata without a manager: set by the server, or part of the object's identity.
_UNMANAGED_METADATA = frozenset(
    {
        *("name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation"),
        *("managedFields", "resourceVersion"),
    }
)


class Manager(NamedTuple):
    """A writer, with its operation and subresource; the version counts only for updates."""

    name: str
    operation: str
    api_version: str = ""
    subresource: str = ""

    @property
    def description(self) -> str:
        """The manager as conflict messages print it."""
        subresource = f' with subresource "{self.subresource}"' if self.subresource else ""
        version = f" using {self.api_version}" if self.operation == UPDATE else ""
        return f'"{self.name}"{subresource}{version}'


@dataclass(frozen=True, slots=True)
class ManagedSet:
    """The fields of one manager, the version that names them, and the time of the last change."""

    fields: FieldSet
    api_version: str
    time: str = ""


ManagedFields = dict[Manager, ManagedSet]


def manager_name(field_manager: str, user_agent: str) -> str:
    """Return the name of a writer: the requested field manager, or the program's name in its User-Agent."""
    if field_manager:
        return field_manager
    program = user_agent.partition("/")[0]
    if not program.isprintable():
        program = "".join(filter(str.isprintable, program))
    return program.encode()[:_MAX_NAME].decode("utf-8", "ignore") or "unknown"


# --- Encoding ---------------------------------------------------------------------------------------------------------


def decode_managed(entries: JSON) -> ManagedFields | None:
    """Decode `metadata.managedFields`; None if an entry is invalid."""
    if not isinstance(entries, list | None):
        return None
    try:
        return dict(_decode_entry(entry) for entry in entries or ())
    except ValueError:
        return None


def _decode_entry(entry: JSON) -> tuple[Manager, ManagedSet]:
    operation, version = text_at(entry, "operation"), text_at(entry, "apiVersion")
    if operation not in (APPLY, UPDATE) or text_at(entry, "fieldsType") != "FieldsV1":
        raise ValueError(f"unknown operation or type of fields: {operation}")
    manager = Manager(
        text_at(entry, "manager"), operation, version if operation == UPDATE else "", text_at(entry, "subresource")
    )
    fields = value_at(entry, "fieldsV1") or {}
    if not _is_field_set(fields):
        raise ValueError("not a field set")
    return manager, ManagedSet(fields, version, text_at(entry, "time"))


def _is_field_set(fields: JSON) -> TypeGuard[FieldSet]:
    return isinstance(fields, dict) and all(
        (step == "." or step[:2] in ("f:", "k:", "v:", "i:")) and _is_field_set(inner) for step, inner in fields.items()
    )


def encode_managed(managed: ManagedFields) -> list[JSON]:
    """Encode `metadata.managedFields`, sorted as the real server sorts it."""

    def order(each: tuple[Manager, ManagedSet]) -> tuple[str, ...]:
        manager, owned = each
        return manager.operation, owned.time, manager.name, owned.api_version, manager.subresource

    return [
        _encode_entry(manager, owned.fields, owned.api_version, owned.time)
        for manager, owned in sorted(_with_merged_oldest(managed).items(), key=order)
    ]


def _encode_entry(manager: Manager, fields: FieldSet, api_version: str, time: str) -> JSONObject:
    entry: dict[str, Any] = {
        "manager": manager.name,
        "operation": manager.operation,
        "apiVersion": api_version,
        "time": time,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    if manager.subresource:
        entry["subresource"] = manager.subresource
    if manager.name and api_version and time:
        return entry
    return {name: value for name, value in entry.items() if value or name == "fieldsV1"}


def _with_merged_oldest(managed: ManagedFields) -> ManagedFields:
    """Limit the number of updaters: the oldest are merged into one entry per version."""
    updaters = [each for each in managed.items() if each[0].operation == UPDATE]
    excess = len(updaters) - _MAX_UPDATERS
    if excess <= 0:
        return managed
    updaters.sort(key=lambda each: (each[1].time, each[0].name))
    kept = dict(managed)
    for manager, owned in updaters[: excess + 1]:
        del kept[manager]
        ancient = Manager(_ANCIENT, UPDATE, owned.api_version)
        before = kept.get(ancient, ManagedSet({}, owned.api_version))
        time = max(before.time, owned.time)
        kept[ancient] = ManagedSet(union(before.fields, owned.fields), owned.api_version, time)
    return kept


# --- Writes -----------------------------------------------------------------------------------------------------------


def managed_by_creator(
    new: JSONObject, empty: JSONObject, manager: Manager, shape: MergeShape, *, now: str
) -> list[JSON]:
    """Return the managedFields of a new object: its creator manages all of it."""
    fields = created_fields(_manageable(new), empty, shape)
    return [_encode_entry(manager, fields, manager.api_version, now)] if fields else []


def after_update(
    old: JSONObject,
    new: JSONObject,
    managed: ManagedFields,
    manager: Manager,
    shape: MergeShape,
    other_shapes: Mapping[str, MergeShape] | None = None,
    *,
    now: str,
) -> ManagedFields:
    """Return the managed fields after an update from the old object to the new one.

    `other_shapes` are those of other versions: the fields of a manager are compared in the version that names them.
    """
    changed, removed = compare(_manageable(old), _manageable(new), shape)
    if not changed and not removed:
        return managed
    kept: ManagedFields = {}
    for version in dict.fromkeys(owned.api_version for owned in managed.values()):
        entries = {each: owned for each, owned in managed.items() if owned.api_version == version}
        if version == manager.api_version or version not in (other_shapes or {}):
            kept |= _without(_without(entries, changed), removed)
        else:
            other = compare(_manageable(old), _manageable(new), (other_shapes or {})[version])
            kept |= _without(_without(entries, other[0]), other[1])
    if changed:
        before = kept.get(manager)
        fields = union(before.fields, changed) if before else changed
        kept[manager] = ManagedSet(fields, manager.api_version, now)
    return kept


def _manageable(tree: JSONObject) -> JSONObject:
    """Return an object without the fields that have no manager."""
    found = tree.copy()
    found.pop("apiVersion", None)
    found.pop("kind", None)
    metadata = object_at(tree, "metadata")
    found["metadata"] = {name: value for name, value in metadata.items() if name not in _UNMANAGED_METADATA}
    return found


def _without(managed: ManagedFields, fields: FieldSet) -> ManagedFields:
    if not fields:
        return dict(managed)
    rest = {manager: replace(owned, fields=difference(owned.fields, fields)) for manager, owned in managed.items()}
    return {manager: owned for manager, owned in rest.items() if owned.fields}


@dataclass(frozen=True, slots=True)
class ApplyConfiguration:
    """An object to apply, and its manager."""

    tree: JSONObject = field(repr=False)  # it may be a Secret
    manager: Manager
    api_version: str
    is_forced: bool = False
    may_take: FieldSet = field(default_factory=dict)
    """Fields whose value may change although other managers have them."""
    ignored: FieldSet = field(default_factory=dict)
    """Fields that this request cannot change, and therefore does not manage; an empty set is a field with its parts."""

    def managed_part(self, fields: FieldSet) -> FieldSet:
        return _without_parts(fields, self.ignored)


def _without_parts(fields: FieldSet, ignored: FieldSet) -> FieldSet:
    kept: FieldSet = {}
    for step, inner in fields.items():
        if step not in ignored:
            kept[step] = inner
        elif ignored[step] and (rest := _without_parts(inner, ignored[step])):
            kept[step] = rest
    return kept


def after_apply(
    live: JSONObject, config: ApplyConfiguration, managed: ManagedFields, shape: MergeShape, *, now: str
) -> tuple[JSONObject, ManagedFields]:
    """Return the merged object and its managed fields; raises ConflictError if another manager has another value."""
    before = managed.get(config.manager)
    applied = config.managed_part(applied_fields(_manageable(config.tree), shape))
    if not applied.get("f:metadata"):
        applied.pop("f:metadata", None)
    # Entries without fields are kept until the conflicts are found.
    others = {each: owned for each, owned in managed.items() if each != config.manager}
    new = merge(live, config.tree, shape)
    if before:
        new = _without_abandoned(new, before.fields, [applied, *(each.fields for each in others.values())], shape)
    merged = object_at(new)
    changed, removed = compare(_manageable(live), _manageable(merged), shape)
    has_changed = bool(changed or removed)  # also fields that this request cannot change
    changed, removed = config.managed_part(changed), config.managed_part(removed)
    if not config.is_forced:
        _check_conflicts(others, changed, config.may_take)
    kept = _without(_without(others, changed), removed)
    if applied:
        # A configuration that changes nothing keeps the time of the last change, if there was one.
        time = now if has_changed else before.time if before else ""
        kept[config.manager] = ManagedSet(applied, config.api_version, time)
    return merged, kept


def _without_abandoned(tree: JSON, before: FieldSet, applied: Iterable[FieldSet], shape: MergeShape) -> JSON:
    """Return the tree without fields that were applied before, and that no manager has now."""
    still: FieldSet = {"f:metadata": {}}  # every object has metadata
    for fields in applied:
        still = union(still, fields)
    abandoned = difference(with_named_parents(before, shape), with_named_parents(still, shape))
    return remove_fields(tree, abandoned, shape) or {} if abandoned else tree


def _check_conflicts(others: ManagedFields, changed: FieldSet, may_take: FieldSet) -> None:
    found = [
        (manager, path)
        for manager, owned in sorted(others.items())
        for path in paths(difference(intersection(owned.fields, changed), may_take))
    ]
    if not found:
        return
    causes = tuple(
        StatusCause("FieldManagerConflict", f"conflict with {manager.description}", path) for manager, path in found
    )
    raise ConflictError(_conflict_message(found), details=StatusDetails(causes=causes))


def _conflict_message(found: list[tuple[Manager, str]]) -> str:
    if len(found) == 1:
        manager, path = found[0]
        return f"Apply failed with 1 conflict: conflict with {manager.description}: {path}"
    lines = []
    for manager in dict.fromkeys(manager for manager, _ in found):
        lines.append(f"conflicts with {manager.description}:")
        lines += [f"- {path}" for each, path in found if each == manager]
    return f"Apply failed with {len(found)} conflicts: " + "\n".join(lines)


def differs_only_in_timestamps(new: JSONObject, old: JSONObject) -> bool:
    """Whether two objects differ in nothing but the times of their managedFields."""
    return same(_without_times(new), _without_times(old))


def _without_times(tree: JSONObject) -> JSONObject:
    metadata = dict(object_at(tree, "metadata"))
    entries = objects_at(metadata, "managedFields")
    metadata["managedFields"] = [{name: entry[name] for name in entry if name != "time"} for entry in entries]
    return {**tree, "metadata": metadata}


def is_reset(entries: JSON) -> bool:
    """Whether the entries that a client sent discard all managers."""
    return entries in ([], [{}])


# --- Field managers of the served resources ---------------------------------------------------------------------------


class FieldManagers:
    """Computes the managedFields of objects after a create or update, by the merge shapes of their resources."""

    def __init__(self, schema: Schema, definitions: Definitions, now: Callable[[], datetime]) -> None:
        self._schema = schema
        self._definitions = definitions
        self._now = now
        self._builtin_shape = builtin_shapes(schema)
        self._custom_shape = lru_cache(maxsize=256)(self._shape_of_version)
        self._undefined = custom_shape({PRESERVES_UNKNOWN: True}, schema)

    def now(self) -> str:
        return timestamp(self._now())

    def shape(self, resource: Resource) -> MergeShape:
        """Return the merge shape of a resource's objects."""
        if name := self._schema.kinds.get((resource.api_version, resource.kind)):
            return self._builtin_shape(name)
        version = self._definitions.version(resource)
        return self._custom_shape(version) if version else self._undefined

    def _shape_of_version(self, version: CustomVersion) -> MergeShape:
        return custom_shape(version.schema, self._schema)

    def empty(self, resource: Resource) -> JSONObject:
        """Return an object without any values. It is shared: do not change it."""
        name = self._schema.kinds.get((resource.api_version, resource.kind))
        return empty_object(name, self._schema) if name else {"metadata": {}}

    def after_create(
        self, request: APIRequest, options: WriteOptions, new: JSONObject, shaped_as: Resource
    ) -> list[JSON]:
        """Return the managedFields of a new object; `shaped_as` is the resource in the version of its schema."""
        manager = self._manager(request, options)
        if shaped_as.subresource("status"):
            new = {name: value for name, value in new.items() if name != "status"}
        try:
            now = text_at(new, "metadata", "creationTimestamp") or self.now()  # reviews have no time of creation
            return managed_by_creator(new, self.empty(shaped_as), manager, self.shape(shaped_as), now=now)
        except ElementKeyError:
            return []  # a list whose elements have no keys has no managers, but is not rejected

    def after_update(
        self,
        request: APIRequest,
        options: WriteOptions,
        *,
        old: JSONObject,
        new: JSONObject,
        sent: JSON,
        shaped_as: Resource,
    ) -> list[JSON]:
        """Return the managedFields of an updated object; `sent` are the entries in the client's object, or None."""
        if is_reset(sent) and not (sent == [] and self._definitions.version(request.resource)):
            return []  # of a custom object, an empty list is the same as none
        managed = decode_managed(sent) or decode_managed(value_at(old, "metadata", "managedFields"))
        if not managed:
            return []  # the object had no managers; only an apply adds the first
        # The real server writes no time when an object is scaled.
        now = "" if request.subresource == "scale" else self.now()
        manager = self._manager(request, options)
        try:
            others = self._other_shapes(shaped_as)
            return encode_managed(after_update(old, new, managed, manager, self.shape(shaped_as), others, now=now))
        except ElementKeyError:
            return encode_managed(managed)

    def has_typed_status(self, sent: JSONObject, resource: Resource) -> bool:
        """Whether the status that was sent with a new custom object has the types of its schema."""
        if "status" not in sent or self._definitions.version(resource) is None:
            return True
        return not validate_applied(sent["status"], self.shape(resource).member("status"), allow_duplicates=True)

    def conforms(self, sent: JSONObject, resource: Resource) -> bool:
        """Whether all of a custom object has the types of its schema."""
        return not validate_applied(_manageable(sent), self.shape(resource), allow_duplicates=True)

    def _other_shapes(self, resource: Resource) -> dict[str, MergeShape]:
        """Return the shapes of a custom resource in its versions, if it has several."""
        definition = self._definitions.get(resource)
        if definition is None or len(definition.versions) == 1:
            return {}
        versions = definition.versions.values()
        return {each.resource.api_version: self._custom_shape(each) for each in versions}

    def _manager(self, request: APIRequest, options: WriteOptions) -> Manager:
        name = manager_name(options.field_manager, request.headers.get("User-Agent", ""))
        return Manager(name, UPDATE, request.resource.api_version, request.subresource)

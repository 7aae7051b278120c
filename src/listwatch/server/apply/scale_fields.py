"""The managed fields of an object and those of its scale, translated into each other.

The scale has one managed field, `spec.replicas`, which stands for the replicas of the object. kube-apiserver translates
the same way: fields of updates lose their time, and the replicas of an update become an entry of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from listwatch.server.apply.field_sets import FieldSet, difference, is_member
from listwatch.server.apply.managed_fields import UPDATE, ManagedFields, ManagedSet

__all__ = ["SCALE_VERSION", "ReplicasPaths", "managed_by_scale", "managed_with_scale"]

SCALE_VERSION = "autoscaling/v1"
_REPLICAS: FieldSet = {"f:spec": {"f:replicas": {}}}

ReplicasPaths = Mapping[str, Sequence[str] | None]
"""The paths of the replicas by the apiVersions of the object; None for a version without a scale."""


def managed_by_scale(managed: ManagedFields, paths: ReplicasPaths) -> ManagedFields:
    """Return the managed fields of the scale of an object with these managed fields."""
    found: ManagedFields = {}
    for manager, owned in managed.items():
        path = paths.get(owned.api_version)
        if path and _has(owned.fields, path):
            version = SCALE_VERSION if manager.operation == UPDATE else ""
            found[manager._replace(api_version=version)] = ManagedSet(_REPLICAS, SCALE_VERSION, owned.time)
    return found


def managed_with_scale(
    managed: ManagedFields, scale: ManagedFields, paths: ReplicasPaths, api_version: str
) -> ManagedFields:
    """Return the managed fields of an object after a write of its scale."""
    found: ManagedFields = {}
    left = {manager: owned for manager, owned in scale.items() if _has(owned.fields, ("spec", "replicas"))}
    for manager, owned in managed.items():
        if owned.api_version not in paths:
            continue
        path = paths[owned.api_version]
        if not path or not _has(owned.fields, path) or manager in left:
            left.pop(manager, None)
            found[manager] = owned
        elif rest := difference(owned.fields, _fields(path)):
            found[manager] = ManagedSet(rest, owned.api_version, owned.time)
    path = paths[api_version]
    assert path is not None  # it has a scale
    for manager in left:
        time = managed[manager].time if manager in managed else ""
        found[manager] = ManagedSet(_fields(path), api_version, time)
    return found


def _fields(path: Sequence[str]) -> FieldSet:
    fields: FieldSet = {}
    for name in reversed(path):
        fields = {f"f:{name}": fields}
    return fields


def _has(fields: FieldSet, path: Sequence[str]) -> bool:
    for name in path:
        if (step := f"f:{name}") not in fields:
            return False
        fields = fields[step]
    return is_member(fields)

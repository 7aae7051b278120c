"""The kinds and types of `storagemigration.k8s.io/v1beta1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource, Subresource
from listwatch.models import meta_v1
from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class StorageVersionMigrationSpec(Model):
    resource: meta_v1.GroupResource = field(default_factory=meta_v1.GroupResource)


class StorageVersionMigrationStatus(Model):
    conditions: list[meta_v1.Condition] = field(default_factory=list)
    resource_version: str | None = None


class StorageVersionMigration(
    Object,
    resource=Resource(
        "storagemigration.k8s.io", "v1beta1", "StorageVersionMigration", "storageversionmigrations", "storageversionmigration",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        subresources=(
            Subresource("status", "storagemigration.k8s.io", "v1beta1", "StorageVersionMigration", ("get", "patch", "update")),
        ),
    ),
):
    spec: StorageVersionMigrationSpec = lazy(StorageVersionMigrationSpec)
    status: StorageVersionMigrationStatus = lazy(StorageVersionMigrationStatus)


class StorageVersionMigrationList(ObjectList[StorageVersionMigration], item=StorageVersionMigration):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)

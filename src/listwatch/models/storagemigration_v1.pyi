"""The kinds and types of `storagemigration.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from listwatch.models import meta_v1
from listwatch.objects.model import Model
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList


class StorageVersionMigrationSpec(Model):
    resource: meta_v1.GroupResource = ...
    """JSON: `resource`. Required."""


class StorageVersionMigrationStatus(Model):
    conditions: list[meta_v1.Condition] = []
    """JSON: `conditions`. Default: absent."""
    resource_version: str | None = None
    """JSON: `resourceVersion`. Default: absent."""


class StorageVersionMigration(Object):
    spec: StorageVersionMigrationSpec = ...
    """JSON: `spec`. Default: `{}`."""
    status: StorageVersionMigrationStatus = ...
    """JSON: `status`. Default: `{}`."""


class StorageVersionMigrationList(ObjectList[StorageVersionMigration], item=StorageVersionMigration):
    """A list of objects, as returned by one request."""

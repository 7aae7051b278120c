"""The kinds and types of `storagemigration.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from listwatch.models import meta_v1
from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList


class StorageVersionMigrationSpec(Model):
    """Spec of the storage version migration."""
    resource: meta_v1.GroupResource = ...
    """The resource that is being migrated. The migrator sends requests to the endpoint serving the resource. Immutable.

    JSON: `resource`. Required."""


class StorageVersionMigrationStatus(Model):
    """Status of the storage version migration."""
    conditions: list[meta_v1.Condition] = []
    """The latest available observations of the migration's current state.

    JSON: `conditions`. Default: absent."""
    resource_version: str | None = None
    """ResourceVersion to compare with the GC cache for performing the migration. This is the current resource version of given group, version and resource when kube-controller-manager first observes this StorageVersionMigration resource.

    JSON: `resourceVersion`. Default: absent."""


class StorageVersionMigration(Object):
    """StorageVersionMigration represents a migration of stored data to the latest storage version."""
    spec: StorageVersionMigrationSpec = ...
    """Specification of the migration.

    JSON: `spec`. Default: `{}`."""
    status: StorageVersionMigrationStatus = ...
    """Status of the migration.

    JSON: `status`. Default: `{}`."""


class StorageVersionMigrationList(ObjectList[StorageVersionMigration], item=StorageVersionMigration):
    """A list of objects, as returned by one request."""

"""The kinds and types of `internal.apiserver.k8s.io/v1alpha1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource, Subresource
from listwatch.objects.declarations.model import Model, required_list
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class ServerStorageVersion(Model):
    api_server_id: str = field(default_factory=str, name="apiServerID")
    decodable_versions: list[str] = field(default_factory=required_list)
    encoding_version: str = field(default_factory=str)
    served_versions: list[str] = field(default_factory=list)


class StorageVersionCondition(Model):
    last_transition_time: datetime | None = None
    message: str = field(default_factory=str)
    observed_generation: int | None = None
    reason: str = field(default_factory=str)
    status: str = field(default_factory=str)
    type: str = field(default_factory=str)


class StorageVersionSpec(Model):
    """Has no fields; its presence is the value."""


class StorageVersionStatus(Model):
    common_encoding_version: str | None = None
    conditions: list[StorageVersionCondition] = field(default_factory=list)
    storage_versions: list[ServerStorageVersion] = field(default_factory=list)


class StorageVersion(
    Object,
    resource=Resource(
        "internal.apiserver.k8s.io", "v1alpha1", "StorageVersion", "storageversions", "storageversion",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        subresources=(
            Subresource("status", "internal.apiserver.k8s.io", "v1alpha1", "StorageVersion", ("get", "patch", "update")),
        ),
    ),
):
    spec: StorageVersionSpec = lazy(StorageVersionSpec)
    status: StorageVersionStatus = lazy(StorageVersionStatus)


class StorageVersionList(ObjectList[StorageVersion], item=StorageVersion):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)

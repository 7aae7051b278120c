"""The kinds and types of `storage.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource, Subresource
from listwatch.models import core_v1, meta_v1
from listwatch.objects.declarations.model import Model, Quantity, required_list
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class CSIDriverSpec(Model):
    attach_required: bool | None = None
    pod_info_on_mount: bool | None = None
    volume_lifecycle_modes: list[str] = field(default_factory=list)
    storage_capacity: bool | None = None
    fs_group_policy: str | None = None
    token_requests: list[TokenRequest] = field(default_factory=list)
    requires_republish: bool | None = None
    se_linux_mount: bool | None = None
    node_allocatable_update_period_seconds: int | None = None
    service_account_token_in_secrets: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSINodeDriver(Model):
    name: str = field(default_factory=str)
    node_id: str = field(default_factory=str, name="nodeID")
    topology_keys: list[str] = field(default_factory=list)
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(Model):
    drivers: list[CSINodeDriver] = field(default_factory=required_list)


class CSINodeStatus(Model):
    storage_health: list[StorageHealth] = field(default_factory=list)


class StorageHealth(Model):
    name: str = field(default_factory=str)
    health_conditions: list[StorageHealthCondition] = field(default_factory=list)


class StorageHealthCondition(Model):
    status: str = field(default_factory=str)
    reason: str = field(default_factory=str)
    message: str | None = None
    access_mode: str | None = None
    volume_mode: str | None = None
    last_transition_time: datetime | None = None


class TokenRequest(Model):
    audience: str = field(default_factory=str)
    expiration_seconds: int | None = None


class VolumeAttachmentSource(Model):
    persistent_volume_name: str | None = None
    inline_volume_spec: core_v1.PersistentVolumeSpec | None = None


class VolumeAttachmentSpec(Model):
    attacher: str = field(default_factory=str)
    source: VolumeAttachmentSource = field(default_factory=VolumeAttachmentSource)
    node_name: str = field(default_factory=str)


class VolumeAttachmentStatus(Model):
    attached: bool = field(default_factory=bool)
    attachment_metadata: dict[str, str] = field(default_factory=dict)
    attach_error: VolumeError | None = None
    detach_error: VolumeError | None = None


class VolumeError(Model):
    time: datetime | None = None
    message: str | None = None
    error_code: int | None = None


class VolumeNodeResources(Model):
    count: int | None = None


class CSIDriver(
    Object,
    resource=Resource(
        "storage.k8s.io", "v1", "CSIDriver", "csidrivers", "csidriver",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    spec: CSIDriverSpec = lazy(CSIDriverSpec)


class CSINode(
    Object,
    resource=Resource(
        "storage.k8s.io", "v1", "CSINode", "csinodes", "csinode",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        subresources=(
            Subresource("status", "storage.k8s.io", "v1", "CSINode", ("get", "patch", "update")),
        ),
    ),
):
    spec: CSINodeSpec = lazy(CSINodeSpec)
    status: CSINodeStatus = lazy(CSINodeStatus)


class CSIStorageCapacity(
    Object,
    resource=Resource(
        "storage.k8s.io", "v1", "CSIStorageCapacity", "csistoragecapacities", "csistoragecapacity",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    capacity: Quantity | None = lazy(Quantity | None)
    maximum_volume_size: Quantity | None = lazy(Quantity | None)
    node_topology: meta_v1.LabelSelector | None = lazy(meta_v1.LabelSelector | None)
    storage_class_name: str = lazy(str)


class StorageClass(
    Object,
    resource=Resource(
        "storage.k8s.io", "v1", "StorageClass", "storageclasses", "storageclass",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("sc",),
    ),
):
    allow_volume_expansion: bool | None = lazy(bool | None)
    allowed_topologies: list[core_v1.TopologySelectorTerm] = lazy(list[core_v1.TopologySelectorTerm])
    mount_options: list[str] = lazy(list[str])
    parameters: dict[str, str] = lazy(dict[str, str])
    provisioner: str = lazy(str)
    reclaim_policy: str | None = lazy(str | None)
    volume_binding_mode: str | None = lazy(str | None)


class VolumeAttachment(
    Object,
    resource=Resource(
        "storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", "volumeattachment",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        subresources=(
            Subresource("status", "storage.k8s.io", "v1", "VolumeAttachment", ("get", "patch", "update")),
        ),
    ),
):
    spec: VolumeAttachmentSpec = lazy(VolumeAttachmentSpec)
    status: VolumeAttachmentStatus = lazy(VolumeAttachmentStatus)


class VolumeAttributesClass(
    Object,
    resource=Resource(
        "storage.k8s.io", "v1", "VolumeAttributesClass", "volumeattributesclasses", "volumeattributesclass",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("vac",),
    ),
):
    driver_name: str = lazy(str)
    parameters: dict[str, str] = lazy(dict[str, str])


class CSIDriverList(ObjectList[CSIDriver], item=CSIDriver):
    """A list of objects, as returned by one request."""


class CSINodeList(ObjectList[CSINode], item=CSINode):
    """A list of objects, as returned by one request."""


class CSIStorageCapacityList(ObjectList[CSIStorageCapacity], item=CSIStorageCapacity):
    """A list of objects, as returned by one request."""


class StorageClassList(ObjectList[StorageClass], item=StorageClass):
    """A list of objects, as returned by one request."""


class VolumeAttachmentList(ObjectList[VolumeAttachment], item=VolumeAttachment):
    """A list of objects, as returned by one request."""


class VolumeAttributesClassList(ObjectList[VolumeAttributesClass], item=VolumeAttributesClass):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)

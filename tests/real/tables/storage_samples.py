"""Volumes, claims and storage classes in many states."""

from __future__ import annotations

from typing import Any

from tests.real.tables.sample import Sample, Tree, cluster, local


def volume(
    name: str, status: Tree | None = None, deleted: bool = False, metadata: Tree | None = None, **spec: Any
) -> Sample:
    source = {
        "csi": {"driver": "d", "volumeHandle": "h"},
        "capacity": {"storage": "1024Mi"},
        "accessModes": ["ReadWriteOnce"],
    }
    return cluster(
        "v1", "persistentvolumes", name, status, spec={**source, **spec}, deleted=deleted, metadata=metadata or {}
    )


def claim(
    name: str, status: Tree | None = None, deleted: bool = False, metadata: Tree | None = None, **spec: Any
) -> Sample:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return local(
        "v1", "persistentvolumeclaims", name, status, spec={**wanted, **spec}, deleted=deleted, metadata=metadata or {}
    )


CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"

STORAGE = [
    volume("table-plain"),
    volume(
        "table-bound",
        {"phase": "Bound", "reason": "R"},
        accessModes=["ReadWriteMany", "ReadOnlyMany", "ReadWriteOnce"],
        claimRef={"namespace": "n", "name": "c"},
        storageClassName="fast",
        persistentVolumeReclaimPolicy="Delete",
        volumeMode="Block",
        volumeAttributesClassName="gold",
    ),
    volume("table-annotated", accessModes=["ReadWriteOncePod"], metadata={"annotations": {CLASS_ANNOTATION: "old"}}),
    volume("table-deleted", deleted=True),
    claim("plain"),
    claim("class", storageClassName="fast", volumeAttributesClassName="gold", volumeMode="Block"),
    claim("annotated", metadata={"annotations": {CLASS_ANNOTATION: "old"}}),
    claim(
        "bound",
        {"phase": "Bound", "capacity": {"storage": "2048Mi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"]},
        volumeName="table-bound",
    ),
    claim("bound-empty", volumeName="table-bound"),
    claim("deleted", deleted=True),
    cluster("storage.k8s.io/v1", "storageclasses", "table-plain", provisioner="example.com/a"),
    cluster(
        "storage.k8s.io/v1",
        "storageclasses",
        "table-default",
        provisioner="example.com/a",
        reclaimPolicy="Retain",
        volumeBindingMode="WaitForFirstConsumer",
        allowVolumeExpansion=True,
        metadata={"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    ),
    cluster(
        "storage.k8s.io/v1",
        "storageclasses",
        "table-beta",
        provisioner="example.com/a",
        metadata={"annotations": {"storageclass.beta.kubernetes.io/is-default-class": "true"}},
    ),
    cluster("storage.k8s.io/v1", "volumeattributesclasses", "table-gold", driverName="d", parameters={"a": "b"}),
    cluster(
        "storage.k8s.io/v1",
        "volumeattachments",
        "table-a",
        spec={"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "p"}},
    ),
    cluster(
        "storage.k8s.io/v1",
        "volumeattachments",
        "table-attached",
        {"attached": True},
        spec={"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "p"}},
    ),
    cluster(
        "storage.k8s.io/v1",
        "csinodes",
        "table-a",
        spec={"drivers": [{"name": "a", "nodeID": "n"}, {"name": "b", "nodeID": "n"}]},
    ),
    cluster("storage.k8s.io/v1", "csinodes", "table-none", spec={"drivers": []}),
    cluster("storage.k8s.io/v1", "csidrivers", "table.example.com", spec={}),
    cluster(
        "storage.k8s.io/v1",
        "csidrivers",
        "table-full.example.com",
        spec={
            "attachRequired": False,
            "podInfoOnMount": True,
            "storageCapacity": True,
            "requiresRepublish": True,
            "tokenRequests": [{"audience": "a"}, {"audience": "b"}],
            "volumeLifecycleModes": ["Persistent", "Ephemeral"],
        },
    ),
    local("storage.k8s.io/v1", "csistoragecapacities", "a", storageClassName="c", capacity="10Gi"),
]

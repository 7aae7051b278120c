"""The tables of volumes, claims, storage classes and CSI drivers."""

from __future__ import annotations

from collections.abc import Mapping

from listwatch.json_value import JSONObject
from listwatch.server.json_tree import object_at, objects_at, text_at, texts_at, value_at
from listwatch.server.tables.cells import NONE, UNSET, Cell, count, flag, joined, of, present, quantity_text, text
from listwatch.server.tables.columns import AGE, NAME, Column, Table, described, wide

__all__ = ["STORAGE"]

_ACCESS_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"


def _phase(volume: JSONObject) -> str:
    return "Terminating" if value_at(volume, "metadata", "deletionTimestamp") else text_at(volume, "status", "phase")


def _access_modes(modes: list[str]) -> str:
    return ",".join(short for mode, short in _ACCESS_MODES.items() if mode in modes)


def _storage_class(volume: JSONObject) -> str:
    annotations = object_at(volume, "metadata", "annotations")
    is_annotated = _CLASS_ANNOTATION in annotations
    return text_at(annotations, _CLASS_ANNOTATION) if is_annotated else text_at(volume, "spec", "storageClassName")


def _claim(volume: JSONObject) -> str:
    claim = value_at(volume, "spec", "claimRef")
    return f"{text_at(claim, 'namespace')}/{text_at(claim, 'name')}" if isinstance(claim, dict) else ""


def _if_bound(value: Cell) -> Cell:
    """Return a cell that is empty for a claim without a volume."""
    return lambda claim, now: value(claim, now) if text_at(claim, "spec", "volumeName") else ""


def _class_name(storage_class: JSONObject) -> str:
    name, annotations = text_at(storage_class, "metadata", "name"), object_at(storage_class, "metadata", "annotations")
    return f"{name} (default)" if any(annotations.get(each) == "true" for each in _DEFAULT_CLASS) else name


def _audiences(driver: JSONObject) -> str:
    requests = value_at(driver, "spec", "tokenRequests")
    return UNSET if requests is None else ",".join(text_at(each, "audience") for each in objects_at(requests))


_volume, _volume_status = "core.v1.PersistentVolumeSpec", "core.v1.PersistentVolumeStatus"
_claim_spec, _claim_status = "core.v1.PersistentVolumeClaimSpec", "core.v1.PersistentVolumeClaimStatus"
_driver = "storage.v1.CSIDriverSpec"
_class = "storage.v1.StorageClass"
_attachment = "storage.v1.VolumeAttachment"


STORAGE: Mapping[tuple[str, str], Table] = {
    ("", "PersistentVolume"): Table(
        NAME,
        Column(
            "Capacity",
            of(lambda volume: quantity_text(value_at(volume, "spec", "capacity", "storage"), "0")),
            described(f"{_volume}.capacity"),
        ),
        Column(
            "Access Modes",
            of(lambda volume: _access_modes(texts_at(volume, "spec", "accessModes"))),
            described(f"{_volume}.accessModes"),
        ),
        Column(
            "Reclaim Policy",
            text("spec.persistentVolumeReclaimPolicy"),
            described(f"{_volume}.persistentVolumeReclaimPolicy"),
        ),
        Column("Status", of(_phase), described(f"{_volume_status}.phase")),
        Column("Claim", of(_claim), described(f"{_volume}.claimRef")),
        Column("StorageClass", of(_storage_class), "StorageClass of the pv"),
        Column("VolumeAttributesClass", present("spec.volumeAttributesClassName"), "VolumeAttributesClass of the pv"),
        Column("Reason", text("status.reason"), described(f"{_volume_status}.reason")),
        AGE,
        wide("VolumeMode", present("spec.volumeMode"), described(f"{_volume}.volumeMode")),
    ),
    ("", "PersistentVolumeClaim"): Table(
        NAME,
        Column("Status", of(_phase), described(f"{_claim_status}.phase")),
        Column("Volume", text("spec.volumeName"), described(f"{_claim_spec}.volumeName")),
        Column(
            "Capacity",
            _if_bound(of(lambda claim: quantity_text(value_at(claim, "status", "capacity", "storage"), "0"))),
            described(f"{_claim_status}.capacity"),
        ),
        Column(
            "Access Modes",
            _if_bound(of(lambda claim: _access_modes(texts_at(claim, "status", "accessModes")))),
            described(f"{_claim_status}.accessModes"),
        ),
        Column("StorageClass", of(_storage_class), "StorageClass of the pvc"),
        Column("VolumeAttributesClass", present("spec.volumeAttributesClassName"), "VolumeAttributesClass of the pvc"),
        AGE,
        wide("VolumeMode", present("spec.volumeMode"), described(f"{_claim_spec}.volumeMode")),
    ),
    ("storage.k8s.io", "StorageClass"): Table(
        Column("Name", of(_class_name), NAME.description, format="name"),
        Column("Provisioner", text("provisioner"), described(f"{_class}.provisioner")),
        Column("ReclaimPolicy", present("reclaimPolicy", "Delete"), described(f"{_class}.reclaimPolicy")),
        Column(
            "VolumeBindingMode", present("volumeBindingMode", "Immediate"), described(f"{_class}.volumeBindingMode")
        ),
        Column("AllowVolumeExpansion", flag("allowVolumeExpansion"), described(f"{_class}.allowVolumeExpansion")),
        AGE,
    ),
    ("storage.k8s.io", "VolumeAttributesClass"): Table(
        NAME, Column("DriverName", text("driverName"), described("storage.v1.VolumeAttributesClass.driverName")), AGE
    ),
    ("storage.k8s.io", "VolumeAttachment"): Table(
        NAME,
        Column("Attacher", text("spec.attacher"), described(f"{_attachment}Spec.attacher"), format="name"),
        Column("PV", text("spec.source.persistentVolumeName"), described(f"{_attachment}Source.persistentVolumeName")),
        Column("Node", text("spec.nodeName"), described(f"{_attachment}Spec.nodeName")),
        Column("Attached", flag("status.attached"), described(f"{_attachment}Status.attached"), "boolean"),
        AGE,
    ),
    ("storage.k8s.io", "CSINode"): Table(
        NAME,
        Column(
            "Drivers",
            count("spec.drivers"),
            "Drivers indicates the number of CSI drivers registered on the node",
            "integer",
        ),
        AGE,
    ),
    ("storage.k8s.io", "CSIDriver"): Table(
        NAME,
        Column(
            "AttachRequired",
            flag("spec.attachRequired", missing=True),
            described(f"{_driver}.attachRequired"),
            "boolean",
        ),
        Column("PodInfoOnMount", flag("spec.podInfoOnMount"), described(f"{_driver}.podInfoOnMount"), "boolean"),
        Column("StorageCapacity", flag("spec.storageCapacity"), described(f"{_driver}.storageCapacity"), "boolean"),
        Column("TokenRequests", of(_audiences), described(f"{_driver}.tokenRequests")),
        Column(
            "RequiresRepublish", flag("spec.requiresRepublish"), described(f"{_driver}.requiresRepublish"), "boolean"
        ),
        Column("Modes", joined("spec.volumeLifecycleModes", NONE), described(f"{_driver}.volumeLifecycleModes")),
        AGE,
    ),
}

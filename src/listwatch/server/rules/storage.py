"""Rules for PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment and CSIDriver."""

from __future__ import annotations

from collections.abc import Iterable

from listwatch.errors import StatusCause
from listwatch.json_value import JSONObject
from listwatch.quantity import Quantity
from listwatch.server.field_errors import forbidden, invalid, not_supported, required
from listwatch.server.json_tree import object_at, text_at, value_at
from listwatch.server.rules.checks import (
    Causes,
    all_of,
    all_updates,
    at,
    changed,
    dns_subdomain,
    field_path,
    formatted,
    immutable,
    one_of,
    qualified_name,
    quantity,
    require_fields,
)
from listwatch.server.rules.workloads.pod_volumes import volume_source

__all__ = [
    "CSI_DRIVER",
    "PERSISTENT_VOLUME",
    "PERSISTENT_VOLUME_CLAIM",
    "STORAGE_CLASS",
    "VOLUME_ATTACHMENT",
    "claim_update",
    "csi_driver_update",
    "storage_class_update",
    "volume_update",
]

_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_SIZE = quantity(positive=True)


def _access_modes(modes: list[str], path: str) -> Causes:
    yield from (not_supported(path, mode, _MODES) for mode in modes if mode not in _MODES)
    if "ReadWriteOncePod" in modes and len(set(modes)) > 1:
        yield forbidden(path, "may not use ReadWriteOncePod with other access modes")


_VOLUME_MODE = one_of("Block", "Filesystem")


# --- claims ----------------------------------------------------------------------------------------------------------


def _requested_size(spec: JSONObject, path: str) -> Causes:
    size = value_at(spec, "resources", "requests", "storage")
    if size is None:
        yield required(f"{path}.resources[storage]")
    else:
        yield from _SIZE(size, f"{path}.resources[storage]")


def _class_name(name: str, path: str) -> Iterable[StatusCause]:
    return formatted(dns_subdomain)(name, path) if name else ()


PERSISTENT_VOLUME_CLAIM = at(
    "spec",
    require_fields("accessModes", detail="at least 1 access mode is required"),
    at("accessModes", _access_modes),
    _requested_size,
    at("storageClassName", _class_name),
    at("volumeMode", _VOLUME_MODE),
)


def claim_update(new: JSONObject, old: JSONObject, path: str) -> Causes:
    """A bound claim may request more. Volume and class may be set once."""
    spec, before = object_at(new, "spec"), object_at(old, "spec")
    mutable = {name for name in ("volumeName", "storageClassName") if not before.get(name)}
    if value_at(old, "status", "phase") == "Bound":
        mutable |= {"resources", "volumeAttributesClassName"}
    if any(changed(spec, before, name) for name in {*spec, *before} - mutable):
        yield forbidden(
            field_path(path, "spec"),
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
        )
    requested, before_, capacity = (
        Quantity(str(value_at(*place) or 0))
        for place in (
            (spec, "resources", "requests", "storage"),
            (before, "resources", "requests", "storage"),
            (old, "status", "capacity", "storage"),
        )
    )
    if requested < before_ and requested <= capacity:
        field = field_path(path, "spec.resources.requests.storage")
        yield forbidden(field, "field can not be less than status.capacity")


# --- volumes ---------------------------------------------------------------------------------------------------------


def _capacity(spec: JSONObject, path: str) -> Causes:
    capacity = object_at(spec, "capacity")
    if not capacity:
        yield required(f"{path}.capacity")
    if not capacity or capacity.keys() != {"storage"}:
        yield not_supported(f"{path}.capacity", value_at(spec, "capacity"), ["storage"])
    if capacity:
        yield from at("storage", lambda size, _: _SIZE(size, f"{path}.capacity[storage]"))(capacity, path)


PERSISTENT_VOLUME = at(
    "spec",
    require_fields("accessModes"),
    at("accessModes", _access_modes),
    _capacity,
    at("persistentVolumeReclaimPolicy", one_of("Delete", "Recycle", "Retain")),
    volume_source,
    at("storageClassName", _class_name),
    at("volumeMode", _VOLUME_MODE),
)

_VOLUME_OPTIONS = {
    *("capacity", "accessModes", "claimRef", "persistentVolumeReclaimPolicy", "storageClassName", "mountOptions"),
    *("volumeMode", "nodeAffinity", "volumeAttributesClassName"),
}


def volume_update(new: JSONObject, old: JSONObject, path: str) -> Causes:
    spec, before = object_at(new, "spec"), object_at(old, "spec")
    if any(changed(spec, before, name) for name in {*spec, *before} - _VOLUME_OPTIONS):
        field = field_path(path, "spec.persistentvolumesource")
        yield forbidden(field, "spec.persistentvolumesource is immutable after creation")
    yield from immutable("spec.volumeMode")(new, old, path)


# --- classes and attachments -----------------------------------------------------------------------------------------


def _provisioner(storage_class: JSONObject, path: str) -> Causes:
    name = text_at(storage_class, "provisioner").lower()
    if not name:
        yield required(field_path(path, "provisioner"))
    else:
        yield from (invalid(field_path(path, "provisioner"), name, detail) for detail in qualified_name(name))


STORAGE_CLASS = all_of(
    _provisioner,
    at("reclaimPolicy", one_of("Delete", "Retain")),
    at("volumeBindingMode", one_of("Immediate", "WaitForFirstConsumer")),
)
storage_class_update = all_updates(
    immutable("parameters"),
    immutable("provisioner", missing=""),
    immutable("reclaimPolicy"),
    immutable("volumeBindingMode"),
)


def _attachment_source(spec: JSONObject, path: str) -> Causes:
    if len(object_at(spec, "source")) != 1:
        detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
        yield required(f"{path}.source", detail)


VOLUME_ATTACHMENT = at("spec", require_fields("attacher"), _attachment_source, at("nodeName", formatted(dns_subdomain)))


# --- CSI drivers -----------------------------------------------------------------------------------------------------


def _lifecycle_modes(modes: list[str], path: str) -> Causes:
    supported = ("Persistent", "Ephemeral")
    yield from (not_supported(path, mode, supported) for mode in modes if mode not in supported)


def csi_driver_update(new: JSONObject, old: JSONObject, path: str) -> Causes:
    # kube-apiserver names the first field wrongly.
    for name, shown in (("attachRequired", "attachedRequired"), ("volumeLifecycleModes", "volumeLifecycleModes")):
        if changed(new, old, f"spec.{name}"):
            yield invalid(field_path(path, f"spec.{shown}"), value_at(new, "spec", name), "field is immutable")


CSI_DRIVER = at(
    "spec",
    at("fsGroupPolicy", one_of("File", "None", "ReadWriteOnceWithFSType")),
    at("volumeLifecycleModes", _lifecycle_modes),
)

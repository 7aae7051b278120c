"""The rules for lasting storage: PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment."""

from __future__ import annotations

from collections.abc import Iterable

from listwatch.server.field_errors import forbidden, invalid, not_supported, required
from listwatch.server.json_tree import Tree, child
from listwatch.server.rules.checks import (
    Causes,
    all_changes,
    all_of,
    amount,
    at,
    changed,
    dns_subdomain,
    formatted,
    immutable,
    inside,
    needs,
    one_of,
    qualified_name,
)
from listwatch.server.rules.workloads.pod_volumes import volume_source

__all__ = [
    "PERSISTENT_VOLUME",
    "PERSISTENT_VOLUME_CLAIM",
    "STORAGE_CLASS",
    "VOLUME_ATTACHMENT",
    "claim_change",
    "storage_class_change",
    "volume_change",
]

_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_ENOUGH = amount(0, exclusive=True)


def _access_modes(modes: Tree, path: str) -> Causes:
    yield from (not_supported(path, mode, _MODES) for mode in modes if mode not in _MODES)
    if "ReadWriteOncePod" in modes and len(set(modes)) > 1:
        yield forbidden(path, "may not use ReadWriteOncePod with other access modes")


_VOLUME_MODE = one_of("Block", "Filesystem")


# --- claims ----------------------------------------------------------------------------------------------------------


def _requested(spec: Tree, path: str) -> Causes:
    size = child(spec, "resources", "requests", "storage")
    if size is None:
        yield required(f"{path}.resources[storage]")
    else:
        yield from _ENOUGH(size, f"{path}.resources[storage]")


def _class_name(name: Tree, path: str) -> Iterable[Tree]:
    return formatted(dns_subdomain)(name, path) if name else ()


PERSISTENT_VOLUME_CLAIM = at(
    "spec",
    needs("accessModes", detail="at least 1 access mode is required"),
    at("accessModes", _access_modes),
    _requested,
    at("storageClassName", _class_name),
    at("volumeMode", _VOLUME_MODE),
)


def claim_change(new: Tree, old: Tree, path: str) -> Causes:
    """A claim that is bound may ask for more; its volume and, if it had none, its class may be set."""
    spec, before = new["spec"], old["spec"]
    free = {name for name in ("volumeName", "storageClassName") if not before.get(name)}
    if child(old, "status", "phase") == "Bound":
        free |= {"resources", "volumeAttributesClassName"}
    if any(changed(spec, before, name) for name in {*spec, *before} - free):
        yield forbidden(
            inside(path, "spec"),
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
        )


# --- volumes ---------------------------------------------------------------------------------------------------------


def _capacity(spec: Tree, path: str) -> Causes:
    capacity = spec.get("capacity")
    if not capacity:
        yield required(f"{path}.capacity")
    if not capacity or capacity.keys() != {"storage"}:
        yield not_supported(f"{path}.capacity", capacity, ["storage"])
    if capacity:
        yield from at("storage", lambda size, _: _ENOUGH(size, f"{path}.capacity[storage]"))(capacity, path)


PERSISTENT_VOLUME = at(
    "spec",
    needs("accessModes"),
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


def volume_change(new: Tree, old: Tree, path: str) -> Causes:
    spec, before = new["spec"], old["spec"]
    if any(changed(spec, before, name) for name in {*spec, *before} - _VOLUME_OPTIONS):
        where = inside(path, "spec.persistentvolumesource")
        yield forbidden(where, "spec.persistentvolumesource is immutable after creation")
    yield from immutable("spec.volumeMode")(new, old, path)


# --- classes and attachments -----------------------------------------------------------------------------------------


def _provisioner(storage_class: Tree, path: str) -> Causes:
    name = storage_class.get("provisioner", "").lower()
    if not name:
        yield required(inside(path, "provisioner"))
    else:
        yield from (invalid(inside(path, "provisioner"), name, said) for said in qualified_name(name))


STORAGE_CLASS = all_of(
    _provisioner,
    at("reclaimPolicy", one_of("Delete", "Retain")),
    at("volumeBindingMode", one_of("Immediate", "WaitForFirstConsumer")),
)
storage_class_change = all_changes(
    *(immutable(name) for name in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"))
)


def _attached(spec: Tree, path: str) -> Causes:
    if len(child(spec, "source") or {}) != 1:
        said = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
        yield required(f"{path}.source", said)


VOLUME_ATTACHMENT = at("spec", needs("attacher"), _attached, at("nodeName", formatted(dns_subdomain)))

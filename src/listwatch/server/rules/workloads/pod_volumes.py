"""Rules for the volumes of a pod, and for volume sources, which persistent volumes share."""

from __future__ import annotations

from collections.abc import Mapping

from listwatch.json_value import JSONObject
from listwatch.quantity import Quantity
from listwatch.server.field_errors import forbidden, invalid, required
from listwatch.server.json_tree import object_at, objects_at, text_at
from listwatch.server.rules.checks import (
    Causes,
    Check,
    all_of,
    at,
    at_nonempty,
    dns_label,
    each,
    formatted,
    no_parent_directory,
    one_of,
    relative_path,
    require_fields,
    unique_names,
)
from listwatch.server.rules.workloads.containers import field_reference

__all__ = ["VOLUMES", "volume_source"]


def _file_mode(mode: int, path: str) -> Causes:
    if not 0 <= mode <= 0o777:
        yield invalid(path, mode, "must be a number between 0 and 0777 (octal), both inclusive")


def _absolute(value: str, path: str) -> Causes:
    if not value.startswith("/"):
        yield invalid(path, value, "must be an absolute path")


def _size_limit(value: str, path: str) -> Causes:
    if Quantity(value) < 0:
        yield forbidden(path, "SizeLimit field must be a valid resource quantity")


def _downward_items(items: list[JSONObject], path: str) -> Causes:
    for item in items:
        if not item.get("path"):
            yield required(f"{path}.path")
        yield from (invalid(f"{path}.path", item["path"], detail) for detail in relative_path(text_at(item, "path")))
        if "fieldRef" in item and "resourceFieldRef" in item:
            yield invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
        elif "fieldRef" in item:
            yield from field_reference(object_at(item, "fieldRef"), f"{path}.fieldRef")
        elif "resourceFieldRef" not in item:
            yield required(path, "one of fieldRef and resourceFieldRef is required")


_FILE = all_of(
    require_fields("key", "path"),
    at("path", formatted(relative_path)),
    at("mode", _file_mode),
)
_FILES = all_of(at("defaultMode", _file_mode), each("items", _FILE))
_HOST_PATH_TYPES = (
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket",
)  # fmt: skip

# In the order in which the real server checks them.
_SOURCES: Mapping[str, Check] = {
    "emptyDir": at("sizeLimit", _size_limit),
    "hostPath": all_of(
        require_fields("path"), at("path", formatted(no_parent_directory)), at("type", one_of(*_HOST_PATH_TYPES))
    ),
    "gitRepo": require_fields("repository"),
    "gcePersistentDisk": require_fields("pdName"),
    "awsElasticBlockStore": require_fields("volumeID"),
    "secret": all_of(require_fields("secretName"), _FILES),
    "nfs": all_of(
        require_fields("server", "path"), lambda source, path: _absolute(text_at(source, "path"), f"{path}.path")
    ),
    "iscsi": require_fields("targetPortal", "iqn"),
    "glusterfs": require_fields("endpoints", "path"),
    "flocker": lambda _source, _path: (),
    "persistentVolumeClaim": require_fields("claimName"),
    "rbd": require_fields("monitors", "image"),
    "cinder": require_fields("volumeID"),
    "cephfs": require_fields("monitors"),
    "quobyte": require_fields("registry", "volume"),
    "downwardAPI": all_of(
        at("defaultMode", _file_mode),
        lambda source, path: _downward_items(objects_at(source, "items"), path),
    ),
    "fc": lambda _source, _path: (),
    "flexVolume": require_fields("driver"),
    "configMap": all_of(require_fields("name"), _FILES),
    "azureFile": require_fields("secretName", "shareName"),
    "vsphereVolume": require_fields("volumePath"),
    "photonPersistentDisk": require_fields("pdID"),
    "portworxVolume": require_fields("volumeID"),
    "azureDisk": require_fields("diskName", "diskURI"),
    "storageos": lambda _source, _path: (),
    "projected": at("defaultMode", _file_mode),
    "scaleIO": require_fields("gateway", "system", "volumeName"),
    "csi": require_fields("driver"),
    "ephemeral": require_fields("volumeClaimTemplate"),
    "image": lambda _source, _path: (),
    "local": require_fields("path"),
}


def volume_source(volume: JSONObject, path: str) -> Causes:
    """A volume must have exactly one source, and a valid one."""
    first, *others = [name for name in _SOURCES if name in volume] or [""]
    if not first:
        yield required(path, "must specify a volume type")
        return
    yield from _SOURCES[first](volume[first], f"{path}.{first}")
    for name in others:
        yield forbidden(f"{path}.{name}", "may not specify more than 1 volume type")


VOLUMES = all_of(
    each(
        "volumes",
        require_fields("name"),
        at_nonempty("name", formatted(dns_label)),
        volume_source,
    ),
    unique_names("volumes"),
)

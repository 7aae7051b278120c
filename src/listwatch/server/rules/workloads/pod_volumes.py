"""The rules for the volumes of a pod, and for their sources, which persistent volumes share. `pods` applies them."""

from __future__ import annotations

from listwatch.quantity import Quantity
from listwatch.server.field_errors import forbidden, invalid, required
from listwatch.server.json_tree import Tree
from listwatch.server.rules.checks import (
    Causes,
    all_of,
    at,
    dns_label,
    each,
    formatted,
    needs,
    no_way_up,
    one_member,
    one_of,
    relative_path,
    unique,
    when,
)
from listwatch.server.rules.workloads.containers import field_reference

__all__ = ["VOLUMES", "volume_source"]


def _file_mode(mode: Tree, path: str) -> Causes:
    if not 0 <= mode <= 0o777:
        yield invalid(path, mode, "must be a number between 0 and 0777 (octal), both inclusive")


def _absolute(value: Tree, path: str) -> Causes:
    if not value.startswith("/"):
        yield invalid(path, value, "must be an absolute path")


def _size_limit(value: Tree, path: str) -> Causes:
    if Quantity(value) < 0:
        yield forbidden(path, "SizeLimit field must be a valid resource quantity")


def _downward_items(items: Tree, path: str) -> Causes:
    for item in items:
        if not item.get("path"):
            yield required(f"{path}.path")
        yield from (invalid(f"{path}.path", item["path"], said) for said in relative_path(item.get("path", "")))
        if "fieldRef" in item and "resourceFieldRef" in item:
            yield invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
        elif "fieldRef" in item:
            yield from field_reference(item["fieldRef"], f"{path}.fieldRef")
        elif "resourceFieldRef" not in item:
            yield required(path, "one of fieldRef and resourceFieldRef is required")


_FILE = all_of(
    needs("key", "path"),
    at("path", formatted(relative_path)),
    at("mode", _file_mode),
)
_FILES = all_of(at("defaultMode", _file_mode), each("items", _FILE))
_HOST_PATH_TYPES = (
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket",
)  # fmt: skip

_SOURCES = {
    "emptyDir": at("sizeLimit", _size_limit),
    "hostPath": all_of(needs("path"), at("path", formatted(no_way_up)), at("type", one_of(*_HOST_PATH_TYPES))),
    "configMap": all_of(needs("name"), _FILES),
    "secret": all_of(needs("secretName"), _FILES),
    "downwardAPI": all_of(
        at("defaultMode", _file_mode),
        lambda source, path: _downward_items(source.get("items", ()), path),
    ),
    "projected": at("defaultMode", _file_mode),
    "persistentVolumeClaim": needs("claimName"),
    "nfs": all_of(needs("server", "path"), lambda source, path: _absolute(source.get("path", ""), f"{path}.path")),
    "csi": needs("driver"),
    "iscsi": needs("targetPortal", "iqn"),
    "cephfs": needs("monitors"),
    "rbd": needs("monitors", "image"),
    "fc": lambda _source, _path: (),
    "local": needs("path"),
    "image": lambda _source, _path: (),
    "ephemeral": needs("volumeClaimTemplate"),
    "gcePersistentDisk": needs("pdName"),
    "awsElasticBlockStore": needs("volumeID"),
    "azureDisk": needs("diskName", "diskURI"),
    "azureFile": needs("secretName", "shareName"),
    "cinder": needs("volumeID"),
    "flexVolume": needs("driver"),
    "flocker": lambda _source, _path: (),
    "gitRepo": needs("repository"),
    "glusterfs": needs("endpoints", "path"),
    "photonPersistentDisk": needs("pdID"),
    "portworxVolume": needs("volumeID"),
    "quobyte": needs("registry", "volume"),
    "scaleIO": needs("gateway", "system", "volumeName"),
    "storageos": lambda _source, _path: (),
    "vsphereVolume": needs("volumePath"),
}


def volume_source(volume: Tree, path: str) -> Causes:
    """Exactly one source, and that one in order."""
    more = "may not specify more than 1 volume type"
    yield from one_member(
        volume, path, _SOURCES, none="must specify a volume type", more=lambda place: forbidden(place, more)
    )
    first = next((name for name in volume if name in _SOURCES), "")
    if first:
        yield from _SOURCES[first](volume[first], f"{path}.{first}")


VOLUMES = all_of(
    each(
        "volumes",
        needs("name"),
        when(lambda volume: bool(volume.get("name")), at("name", formatted(dns_label))),
        volume_source,
    ),
    unique("volumes"),
)

"""Completes the deletion of claims, volumes and their classes once they are not used.

    PersistentVolumeClaim     used by pods that are bound to a node
    PersistentVolume          used by the claim that it is bound to
    VolumeAttributesClass     used by the claims and volumes that name it

The finalizer that protects each of them is added when it is created. In a real cluster, three controllers remove it;
here it is removed with the write that ends the use.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from listwatch.json_value import JSON, JSONObject
from listwatch.server.controllers.enabled_controllers import (
    CLAIM_PROTECTION,
    CONTROLLERS,
    VOLUME_CLASS_PROTECTION,
    VOLUME_PROTECTION,
)
from listwatch.server.controllers.owner_graph import StorageKey
from listwatch.server.json_tree import integer_at, object_at, objects_at, text_at, texts_at
from listwatch.server.lifecycle.built_in_admission import CLAIM_FINALIZER, CLASS_FINALIZER, VOLUME_FINALIZER
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.lifecycle.strategy import metadata_of
from listwatch.server.storage.values import Event, Stored

__all__ = ["VolumeProtection"]

_PODS = "/pods"
_CLAIMS = "/persistentvolumeclaims"
_VOLUMES = "/persistentvolumes"
_CLASSES = "storage.k8s.io/volumeattributesclasses"
_CONTROLLERS = {_CLAIMS: CLAIM_PROTECTION, _VOLUMES: VOLUME_PROTECTION, _CLASSES: VOLUME_CLASS_PROTECTION}
_FINALIZERS = {_CLAIMS: CLAIM_FINALIZER, _VOLUMES: VOLUME_FINALIZER, _CLASSES: CLASS_FINALIZER}
_DELETED = b'"deletionTimestamp":'


class VolumeProtection:
    """Removes the finalizers of unused objects that are being deleted; `enabled` has the controllers that run."""

    def __init__(self, objects: ObjectStore, enabled: Collection[str] = CONTROLLERS) -> None:
        self._objects = objects
        self._storage = objects.storage
        self._protected = [resource for resource, name in _CONTROLLERS.items() if name in enabled]
        self._deleted: dict[StorageKey, None] = {}
        """What is being deleted and may be used."""
        self.has_pending = False
        self._unsubscribe: Callable[[], None] | None = None
        for resource in self._protected:
            self._storage.subscribe(self._on_event, resource=resource)

    def recover(self) -> None:
        """Find what is being deleted in a storage that was used before."""
        for resource in self._protected:
            for stored in self._storage.scan(resource):
                self._track(resource, stored)

    def run_pending(self) -> None:
        """Remove the finalizers of what is not used any more."""
        self.has_pending = False
        for place in [*self._deleted]:
            stored = self._storage.get(*place)
            tree = decode_stored(stored) if stored else {}
            if stored is None or _FINALIZERS[place.storage_id] not in texts_at(tree, "metadata", "finalizers"):
                del self._deleted[place]
            elif not self._is_used(place, tree):
                del self._deleted[place]
                self._release(place, stored, tree)
        self._follow_pods()

    def _on_event(self, event: Event) -> None:
        if event.type != "DELETED":
            self._track(event.resource, event.stored)
        self._on_change(event)

    def _on_change(self, _event: Event) -> None:
        self.has_pending = bool(self._deleted)

    def _track(self, resource: str, stored: Stored) -> None:
        if _DELETED in stored.value:
            self._deleted[StorageKey(resource, stored.key)] = None
            self.has_pending = True
            self._follow_pods()

    def _follow_pods(self) -> None:
        """Receive the events of pods only while a claim waits for them."""
        waits = any(place.storage_id == _CLAIMS for place in self._deleted)
        if waits and not self._unsubscribe:
            self._unsubscribe = self._storage.subscribe(self._on_change, resource=_PODS)
        elif not waits and self._unsubscribe:
            self._unsubscribe()
            self._unsubscribe = None

    def _is_used(self, place: StorageKey, tree: JSONObject) -> bool:
        match place.storage_id:
            case "/persistentvolumeclaims":
                return any(_uses(pod, tree) for pod in self._all(_PODS, place.key.namespace))
            case "/persistentvolumes":
                return text_at(tree, "status", "phase") == "Bound"
            case _:
                users = (each for resource in (_CLAIMS, _VOLUMES) for each in self._all(resource))
                return any(place.key.name in _classes(each) for each in users)

    def _all(self, resource: str, namespace: str = "") -> Iterator[JSONObject]:
        found = self._storage.scan(resource, namespace=namespace) if namespace else self._storage.scan(resource)
        return map(decode_stored, found)

    def _release(self, place: StorageKey, stored: Stored, tree: JSONObject) -> None:
        metadata = metadata_of(tree)
        finalizer = _FINALIZERS[place.storage_id]
        left: list[JSON] = [each for each in texts_at(metadata, "finalizers") if each != finalizer]
        metadata["finalizers"] = left
        if not left:
            del metadata["finalizers"]
        self._objects.update_or_remove(place.storage_id, stored, tree)


def _uses(pod: JSONObject, claim: JSONObject) -> bool:
    """Whether the kubelet of a node may use the claim for the pod."""
    if not text_at(pod, "spec", "nodeName"):
        return False
    name = text_at(claim, "metadata", "name")
    for volume in objects_at(pod, "spec", "volumes"):
        if text_at(volume, "persistentVolumeClaim", "claimName") == name:
            return True
        is_made_for_it = f"{text_at(pod, 'metadata', 'name')}-{text_at(volume, 'name')}" == name
        if "ephemeral" in volume and is_made_for_it and not _is_shut_down(pod) and _controls(pod, claim):
            return True
    return False


def _is_shut_down(pod: JSONObject) -> bool:
    metadata = object_at(pod, "metadata")
    return "deletionTimestamp" in metadata and integer_at(metadata, "deletionGracePeriodSeconds", default=1) == 0


def _controls(pod: JSONObject, claim: JSONObject) -> bool:
    uid = text_at(pod, "metadata", "uid")
    owners = objects_at(claim, "metadata", "ownerReferences")
    return any(owner.get("controller") is True and text_at(owner, "uid") == uid for owner in owners)


def _classes(claim_or_volume: JSONObject) -> tuple[str, ...]:
    """Return the names of the classes that a claim or a volume has or is to have."""
    status = object_at(claim_or_volume, "status")
    return (
        text_at(claim_or_volume, "spec", "volumeAttributesClassName"),
        text_at(status, "currentVolumeAttributesClassName"),
        text_at(status, "modifyVolumeStatus", "targetVolumeAttributesClassName"),
    )

"""Binds PersistentVolumeClaims: to a volume that fits, or to one that is made for the claim."""

from __future__ import annotations

from collections.abc import Iterator

from listwatch.clock import Clock
from listwatch.controller.controller import Controller
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.controller.watching.watches import Watch
from listwatch.errors import AlreadyExistsError, ConflictError, NotFoundError
from listwatch.events.occurrence import EventType
from listwatch.json_value import JSONObject
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import PersistentVolume, PersistentVolumeClaim
from listwatch.models.storage_v1 import StorageClass
from listwatch.quantity import parse_quantity
from listwatch.selectors import LabelSelector
from listwatch.simulation.options import SimulationOptions
from listwatch.simulation.scheduling.pod_claims import SELECTED_NODE, waits_for_consumer

__all__ = ["STORAGE_CLASS", "VolumeClaims"]

_PREFIX = "pv.kubernetes.io/"
_DEFAULT = "storageclass.kubernetes.io/is-default-class"
_NO_PROVISIONER = "kubernetes.io/no-provisioner"

STORAGE_CLASS: JSONObject = {
    "metadata": {"name": "standard", "annotations": {_DEFAULT: "true"}},
    "provisioner": "simulation.listwatch",
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "Immediate",
}
"""The class of a cluster that has none."""


class VolumeClaims:
    """Binds claims; a claim of a storage class gets a volume of its own if no volume fits.

    A claim whose class has the mode WaitForFirstConsumer is bound when a pod that uses it has a node.
    """

    def __init__(self, options: SimulationOptions, clock: Clock) -> None:
        self._records_events = options.events
        self.controller: Controller[PersistentVolumeClaim] = Controller(
            self,
            for_=PersistentVolumeClaim,
            watches=[
                Watch(PersistentVolume, keys=self._waiting),
                Watch(StorageClass, keys=lambda _: self._waiting(None)),
            ],
            name="persistentvolume-controller",
            clock=clock,
        )

    def _waiting(self, volume: PersistentVolume | None) -> Iterator[ObjectKey]:
        if volume is not None and volume.spec.claim_ref is not None:
            yield ObjectKey(volume.spec.claim_ref.namespace or "", volume.spec.claim_ref.name or "")
            return
        for claim in self.controller.indexer(PersistentVolumeClaim):
            if claim.status.phase != "Bound":
                yield ObjectKey(claim.namespace, claim.name)

    async def reconcile(self, key: ObjectKey, context: ReconcileContext[PersistentVolumeClaim]) -> None:
        claim = context.get()
        if claim is None or claim.metadata.deletion_timestamp is not None:
            await self._release(key, claim, context)
            return
        if claim.status.phase == "Bound":
            return
        if waits_for_consumer(claim, context) and not claim.metadata.annotations.get(SELECTED_NODE):
            text = "waiting for first consumer to be created before binding"
            self._event(claim, "Normal", "WaitForFirstConsumer", text, context)
            return
        volume = self._find(claim, context)
        if volume is None:
            name = self._class_of(claim, context)
            if not name:
                text = "no persistent volumes available for this claim and no storage class is set"
                self._event(claim, "Normal", "FailedBinding", text, context)
                return
            storage = context.indexer(StorageClass).get(name)
            if storage is None:
                text = f'storageclass.storage.k8s.io "{name}" not found'
                self._event(claim, "Warning", "ProvisioningFailed", text, context)
                return
            if storage.provisioner == _NO_PROVISIONER:
                text = f"no volume plugin matched name: {_NO_PROVISIONER}"
                self._event(claim, "Warning", "ProvisioningFailed", text, context)
                return
            volume = await self._provision(claim, storage, context)
        await self._bind(claim, volume, context)

    def _find(
        self, claim: PersistentVolumeClaim, context: ReconcileContext[PersistentVolumeClaim]
    ) -> PersistentVolume | None:
        """The smallest volume that fits, or the one that the claim names."""
        volumes = context.indexer(PersistentVolume)
        if claim.spec.volume_name:
            return volumes.get(claim.spec.volume_name)
        fitting: list[PersistentVolume] = []
        for volume in volumes:
            reference = volume.spec.claim_ref
            if reference is not None:
                if (reference.namespace, reference.name) == (claim.namespace, claim.name) and (
                    reference.uid in (None, "", claim.uid)
                ):
                    return volume
            elif _fits(claim, volume, self._class_of(claim, context)):
                fitting.append(volume)
        return min(fitting, key=lambda each: parse_quantity(each.spec.capacity.get("storage", "0")), default=None)

    def _class_of(self, claim: PersistentVolumeClaim, context: ReconcileContext[PersistentVolumeClaim]) -> str:
        if claim.spec.storage_class_name is not None:
            return claim.spec.storage_class_name
        classes = context.indexer(StorageClass)
        defaults = [each.name for each in classes if each.metadata.annotations.get(_DEFAULT) == "true"]
        return defaults[0] if defaults else ""

    def _event(
        self,
        claim: PersistentVolumeClaim,
        type: EventType,
        reason: str,
        message: str,
        context: ReconcileContext[PersistentVolumeClaim],
    ) -> None:
        if self._records_events:
            context.record_event(claim, type, reason, message)

    async def _provision(
        self, claim: PersistentVolumeClaim, storage: StorageClass, context: ReconcileContext[PersistentVolumeClaim]
    ) -> PersistentVolume:
        requests = claim.spec.resources.requests
        body: JSONObject = {
            "metadata": {
                "name": f"pvc-{claim.uid}",
                "annotations": {f"{_PREFIX}provisioned-by": storage.provisioner},
            },
            "spec": {
                "accessModes": [*(claim.spec.access_modes or ["ReadWriteOnce"])],
                "capacity": {"storage": requests.get("storage", "1Gi")},
                "claimRef": _reference(claim),
                "persistentVolumeReclaimPolicy": storage.reclaim_policy or "Delete",
                "storageClassName": storage.name,
                "volumeMode": claim.spec.volume_mode or "Filesystem",
                "hostPath": {"path": f"/simulated/{claim.uid}"},
            },
        }
        volumes = context.client.core_v1.persistentvolumes()
        try:
            volume = await volumes.create(body)
        except AlreadyExistsError:
            return await volumes.get(f"pvc-{claim.uid}")
        text = f"Successfully provisioned volume {volume.name}"
        self._event(claim, "Normal", "ProvisioningSucceeded", text, context)
        return volume

    async def _bind(
        self,
        claim: PersistentVolumeClaim,
        volume: PersistentVolume,
        context: ReconcileContext[PersistentVolumeClaim],
    ) -> None:
        volumes = context.client.core_v1.persistentvolumes()
        claims = context.client.core_v1.persistentvolumeclaims(claim.namespace)
        if volume.spec.claim_ref is None or volume.spec.claim_ref.uid != claim.uid:
            change: JSONObject = {
                "metadata": {"annotations": {f"{_PREFIX}bound-by-controller": "yes"}},
                "spec": {"claimRef": _reference(claim)},
            }
            await volumes.patch(volume.name, change, type="merge")
        if volume.status.phase != "Bound":
            await volumes.patch(volume.name, {"status": {"phase": "Bound"}}, type="merge", subresource="status")
        binding: JSONObject = {
            "metadata": {"uid": claim.uid, "annotations": {f"{_PREFIX}bind-completed": "yes"}},
            "spec": {"volumeName": volume.name},
        }
        if not claim.spec.volume_name:
            binding["metadata"] = {
                "uid": claim.uid,
                "annotations": {f"{_PREFIX}bind-completed": "yes", f"{_PREFIX}bound-by-controller": "yes"},
            }
        if claim.spec.storage_class_name is None and volume.spec.storage_class_name:
            binding["spec"] = {"volumeName": volume.name, "storageClassName": volume.spec.storage_class_name}
        status: JSONObject = {
            "phase": "Bound",
            "accessModes": [*volume.spec.access_modes],
            "capacity": {**volume.spec.capacity},
        }
        try:
            await claims.patch(claim.name, binding, type="merge")
            await claims.patch(claim.name, {"status": status}, type="merge", subresource="status")
        except (NotFoundError, ConflictError):
            return

    async def _release(
        self,
        key: ObjectKey,
        claim: PersistentVolumeClaim | None,
        context: ReconcileContext[PersistentVolumeClaim],
    ) -> None:
        """Delete or keep the volume of a claim that is gone, as its reclaim policy says."""
        if claim is not None:
            return  # its finalizers go first
        volumes = context.client.core_v1.persistentvolumes()
        for volume in context.indexer(PersistentVolume):
            reference = volume.spec.claim_ref
            if reference is None or (reference.namespace, reference.name) != (key.namespace, key.name):
                continue
            try:
                if volume.spec.persistent_volume_reclaim_policy == "Delete":
                    await volumes.delete(volume.name, uid=volume.uid)
                elif volume.status.phase != "Released":
                    released: JSONObject = {"status": {"phase": "Released"}}
                    await volumes.patch(volume.name, released, type="merge", subresource="status")
            except NotFoundError:
                continue


def _fits(claim: PersistentVolumeClaim, volume: PersistentVolume, storage_class: str) -> bool:
    spec = volume.spec
    if (spec.storage_class_name or "") != (claim.spec.storage_class_name or storage_class if storage_class else ""):
        return False
    if not {*claim.spec.access_modes} <= {*spec.access_modes} or volume.status.phase not in (
        None,
        "",
        "Available",
        "Pending",
    ):
        return False
    if claim.spec.selector and not LabelSelector.from_dict(claim.spec.selector.to_dict()).matches(volume.labels):
        return False
    requests = claim.spec.resources.requests
    return parse_quantity(spec.capacity.get("storage", "0")) >= parse_quantity(requests.get("storage", "0"))


def _reference(claim: PersistentVolumeClaim) -> JSONObject:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": claim.namespace,
        "name": claim.name,
        "uid": claim.uid,
        "resourceVersion": claim.resource_version,
    }

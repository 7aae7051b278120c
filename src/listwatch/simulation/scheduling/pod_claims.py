"""The claims of a pod that is to be scheduled, and the volumes that they are bound to."""

from __future__ import annotations

from dataclasses import dataclass, field

from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import PersistentVolume, PersistentVolumeClaim, Pod
from listwatch.models.storage_v1 import StorageClass

__all__ = ["SELECTED_NODE", "PodClaims", "claims_of", "waits_for_consumer"]

SELECTED_NODE = "volume.kubernetes.io/selected-node"
"""The annotation of a claim with the node of the pod for which it is bound."""


@dataclass(slots=True)
class PodClaims:
    """What the claims of a pod mean for its node."""

    problem: str = ""
    """Why the pod cannot be scheduled on any node."""
    waiting: list[PersistentVolumeClaim] = field(default_factory=list)
    """Claims that are bound when a node was chosen."""
    volumes: list[PersistentVolume] = field(default_factory=list)


def claims_of(pod: Pod, context: ReconcileContext[Pod]) -> PodClaims:
    """Read the claims of a pod from the caches."""
    found = PodClaims()
    claims, volumes = context.indexer(PersistentVolumeClaim), context.indexer(PersistentVolume)
    for name in _names(pod):
        claim = claims.get(ObjectKey(pod.namespace, name))
        if claim is None:
            found.problem = f'persistentvolumeclaim "{name}" not found'
        elif claim.metadata.deletion_timestamp is not None:
            found.problem = f'persistentvolumeclaim "{name}" is being deleted'
        elif claim.status.phase == "Bound":
            volume = volumes.get(claim.spec.volume_name or "")
            found.volumes += [] if volume is None else [volume]
        elif waits_for_consumer(claim, context):
            found.waiting.append(claim)
        else:
            found.problem = "pod has unbound immediate PersistentVolumeClaims"
    return found


def _names(pod: Pod) -> list[str]:
    names = []
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            names.append(volume.persistent_volume_claim.claim_name)
        elif volume.ephemeral is not None:
            names.append(f"{pod.name}-{volume.name}")
    return names


def waits_for_consumer(
    claim: PersistentVolumeClaim, context: ReconcileContext[Pod] | ReconcileContext[PersistentVolumeClaim]
) -> bool:
    """Whether the storage class of a claim lets it wait for a pod."""
    storage = context.indexer(StorageClass).get(claim.spec.storage_class_name or "")
    return storage is not None and storage.volume_binding_mode == "WaitForFirstConsumer"

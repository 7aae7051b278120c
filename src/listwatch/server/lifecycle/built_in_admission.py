"""What admission plugins of kube-apiserver add to new objects of single kinds.

As in kube-apiserver, the manager of the request does not become the manager of these fields.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from listwatch.json_value import JSONObject
from listwatch.meta import GroupKind
from listwatch.server.json_tree import ensure_object, list_at, objects_at
from listwatch.server.lifecycle.strategy import NOT_READY, add_tolerations

__all__ = [
    "ADDITIONS",
    "CLAIM_FINALIZER",
    "CLASS_FINALIZER",
    "IN_USE_PROTECTION",
    "NODE_TAINTS",
    "NOT_READY",
    "TOLERATIONS",
    "VOLUME_FINALIZER",
    "Additions",
    "additions_without",
]

CLAIM_FINALIZER = "kubernetes.io/pvc-protection"
VOLUME_FINALIZER = "kubernetes.io/pv-protection"
CLASS_FINALIZER = "kubernetes.io/vac-protection"

IN_USE_PROTECTION = "StorageObjectInUseProtection"
"""The plugin that adds these finalizers."""
NODE_TAINTS = "TaintNodesByCondition"
"""The plugin that adds this taint."""
TOLERATIONS = "DefaultTolerationSeconds"
"""The plugin that adds tolerations to pods."""

Additions = Mapping[GroupKind, Callable[[JSONObject], None]]
"""Functions that change a new object in place."""


def _finalizer(finalizer: str) -> Callable[[JSONObject], None]:
    """A controller removes the finalizer from an object that is being deleted when it is not used."""

    def add(new: JSONObject) -> None:
        metadata = ensure_object(new, "metadata")
        finalizers = list_at(metadata, "finalizers")
        if finalizer not in finalizers:
            metadata["finalizers"] = [*finalizers, finalizer]

    return add


def _not_ready(node: JSONObject) -> None:
    """A new node is tainted until a controller finds that it is ready."""
    spec = ensure_object(node, "spec")
    taints = objects_at(spec, "taints")
    if not any(each.get("key") == NOT_READY and each.get("effect") == "NoSchedule" for each in taints):
        spec["taints"] = [*taints, {"key": NOT_READY, "effect": "NoSchedule"}]


_OF_PLUGINS: Mapping[str, Additions] = {
    IN_USE_PROTECTION: {
        GroupKind("", "PersistentVolumeClaim"): _finalizer(CLAIM_FINALIZER),
        GroupKind("", "PersistentVolume"): _finalizer(VOLUME_FINALIZER),
        GroupKind("storage.k8s.io", "VolumeAttributesClass"): _finalizer(CLASS_FINALIZER),
    },
    NODE_TAINTS: {GroupKind("", "Node"): _not_ready},
    TOLERATIONS: {GroupKind("", "Pod"): add_tolerations},
}


def additions_without(plugins: Collection[str]) -> Additions:
    """Return the additions of all plugins but these."""
    enabled = [additions for plugin, additions in _OF_PLUGINS.items() if plugin not in plugins]
    return {kind: add for additions in enabled for kind, add in additions.items()}


ADDITIONS = additions_without(())

"""What the server sets and preserves on objects of single kinds, in addition to `strategy`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupKind
from listwatch.server.json_tree import ensure_object, list_at, object_at, objects_at, same, value_at
from listwatch.server.requests import User

__all__ = [
    "CLAIM_FINALIZER",
    "CLASS_FINALIZER",
    "IN_USE_PROTECTION",
    "KIND_STRATEGIES",
    "NODE_TAINTS",
    "NOT_READY",
    "VOLUME_FINALIZER",
    "KindStrategies",
    "strategies_without",
]

CLAIM_FINALIZER = "kubernetes.io/pvc-protection"
VOLUME_FINALIZER = "kubernetes.io/pv-protection"
CLASS_FINALIZER = "kubernetes.io/vac-protection"
IN_USE_PROTECTION = "StorageObjectInUseProtection"
"""The admission plugin that adds these finalizers."""
NOT_READY = "node.kubernetes.io/not-ready"
NODE_TAINTS = "TaintNodesByCondition"
"""The admission plugin that adds this taint to new nodes."""

KindStrategy = Callable[[JSONObject, JSONObject | None, User], None]
"""A function of the new and the old object, which is None on create, and the user; it changes the new one in place."""
KindStrategies = Mapping[GroupKind, KindStrategy]

_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
_NUMBER = re.compile(r"[0-9]+")


def _signing_request(new: JSONObject, old: JSONObject | None, user: User) -> None:
    """The spec has the user that created it, and only subresources change the request."""
    if old is not None:
        new["spec"] = old.get("spec", {})
        return
    spec = ensure_object(new, "spec")
    requester: JSONObject = {
        "username": user.name,
        "uid": user.uid,
        "groups": [*user.groups],
        "extra": {name: [*values] for name, values in user.extra.items()},
    }
    for name, value in requester.items():
        spec.pop(name, None)
        if value:
            spec[name] = value


def _daemon_set(new: JSONObject, old: JSONObject | None, user: User) -> None:
    """An annotation counts the changes of the template."""
    if old is None:
        count = max(_template_generation(new), 1)
    else:
        changed = not same(value_at(new, "spec", "template"), value_at(old, "spec", "template"))
        count = _template_generation(old) + changed
    ensure_object(new, "metadata", "annotations")[_TEMPLATE_GENERATION] = str(count)


def _template_generation(daemon_set: JSONObject) -> int:
    text = object_at(daemon_set, "metadata", "annotations").get(_TEMPLATE_GENERATION)
    return int(text) if isinstance(text, str) and _NUMBER.fullmatch(text) else 0


def _protected_by(finalizer: str) -> KindStrategy:
    """A controller removes the finalizer from an object that is being deleted when it is not used."""

    def protect(new: JSONObject, old: JSONObject | None, user: User) -> None:
        metadata = ensure_object(new, "metadata")
        finalizers: list[JSON] = list_at(metadata, "finalizers")
        if old is None and finalizer not in finalizers:
            metadata["finalizers"] = [*finalizers, finalizer]

    return protect


def _node(new: JSONObject, old: JSONObject | None, user: User) -> None:
    """A new node is tainted until a controller finds that it is ready."""
    if old is None:
        spec = ensure_object(new, "spec")
        taints = objects_at(spec, "taints")
        if not any(each.get("key") == NOT_READY and each.get("effect") == "NoSchedule" for each in taints):
            spec["taints"] = [*taints, {"key": NOT_READY, "effect": "NoSchedule"}]


_OF_PLUGINS: Mapping[str, KindStrategies] = {
    IN_USE_PROTECTION: {
        GroupKind("", "PersistentVolumeClaim"): _protected_by(CLAIM_FINALIZER),
        GroupKind("", "PersistentVolume"): _protected_by(VOLUME_FINALIZER),
        GroupKind("storage.k8s.io", "VolumeAttributesClass"): _protected_by(CLASS_FINALIZER),
    },
    NODE_TAINTS: {GroupKind("", "Node"): _node},
}

KIND_STRATEGIES: KindStrategies = {
    GroupKind("apps", "DaemonSet"): _daemon_set,
    GroupKind("certificates.k8s.io", "CertificateSigningRequest"): _signing_request,
    **{kind: strategy for strategies in _OF_PLUGINS.values() for kind, strategy in strategies.items()},
}


def strategies_without(plugins: Collection[str]) -> KindStrategies:
    """Return the strategies without those of disabled admission plugins."""
    disabled = {kind for plugin in plugins for kind in _OF_PLUGINS.get(plugin, ())}
    return {kind: strategy for kind, strategy in KIND_STRATEGIES.items() if kind not in disabled}

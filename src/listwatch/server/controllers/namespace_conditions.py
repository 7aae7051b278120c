"""The conditions of a namespace that is being deleted, while objects are left in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from listwatch.json_value import JSON, JSONObject
from listwatch.server.controllers.owner_graph import LifecycleMetadata
from listwatch.server.json_tree import object_at, objects_at, text_at
from listwatch.server.lifecycle.strategy import timestamp

__all__ = ["with_deletion_conditions"]

_FINE = (
    ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    ("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
    (
        "NamespaceDeletionContentFailure",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    ("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"),
    ("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
)


def with_deletion_conditions(
    namespace: JSONObject, left: Iterable[tuple[str, LifecycleMetadata]], now: datetime
) -> JSONObject:
    """The namespace with conditions that name what is left, each with its resource as `configmaps.`, `jobs.batch`."""
    found = [*left]
    resources = Counter(resource for resource, _ in found)
    finalizers = Counter(name for _, metadata in found for name in metadata.finalizers)
    remaining = ", ".join(f"{name} has {count} resource instances" for name, count in sorted(resources.items()))
    waiting = ", ".join(f"{name} in {count} resource instances" for name, count in sorted(finalizers.items()))
    true = {}
    if remaining:
        true["NamespaceContentRemaining"] = "SomeResourcesRemain", f"Some resources are remaining: {remaining}"
    if waiting:
        text = f"Some content in the namespace has finalizers remaining: {waiting}"
        true["NamespaceFinalizersRemaining"] = "SomeFinalizersRemain", text
    old = {text_at(each, "type"): each for each in objects_at(namespace, "status", "conditions")}
    conditions: list[JSON] = []
    for type, reason, message in _FINE:
        status = "True" if type in true else "False"
        reason, message = true.get(type, (reason, message))
        known = old.get(type, {})
        since = known.get("lastTransitionTime") if known.get("status") == status else timestamp(now)
        conditions.append(
            {"type": type, "status": status, "lastTransitionTime": since, "reason": reason, "message": message}
        )
    return {**namespace, "status": {**object_at(namespace, "status"), "conditions": conditions}}

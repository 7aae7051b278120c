"""The fields that the server sets on a CustomResourceDefinition when it is created, updated and deleted.

The controller `custom_resources` serves what the definition defines.
"""

from __future__ import annotations

from datetime import datetime

from listwatch.json_value import JSON, JSONObject
from listwatch.server.json_tree import copied, ensure_object, objects_at, same, text_at, texts_at
from listwatch.server.lifecycle.strategy import metadata_of, timestamp

__all__ = ["CLEANUP_FINALIZER", "complete_definition", "mark_definition"]

CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
"""Present on a definition until all its objects are deleted."""

_PENDING = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"


def complete_definition(new: JSONObject, old: JSONObject | None) -> None:
    """Record, in place, all versions in which objects were ever stored."""
    if old is None:
        new["status"] = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}}
    elif same(new["spec"], old["spec"]):
        return
    status = new["status"] = {**ensure_object(new, "status")}
    known: list[JSON] = [*texts_at(status, "storedVersions")]
    versions = objects_at(new, "spec", "versions")
    storage = next((text_at(each, "name") for each in versions if each.get("storage")), "")
    if storage and storage not in known:
        known = [*known, storage]
    status["storedVersions"] = known


def mark_definition(tree: JSONObject, now: datetime) -> JSONObject:
    """Return the definition marked as being deleted."""
    marked = copied(tree)
    metadata, status = metadata_of(marked), ensure_object(marked, "status")
    metadata["deletionTimestamp"] = timestamp(now)
    finalizers = texts_at(metadata, "finalizers")
    if CLEANUP_FINALIZER not in finalizers:
        metadata["finalizers"] = [*finalizers, CLEANUP_FINALIZER]
    others = [each for each in objects_at(status, "conditions") if each["type"] != "Terminating"]
    condition: JSONObject = {"type": "Terminating", "status": "True", "lastTransitionTime": timestamp(now)}
    status["conditions"] = [*others, {**condition, "reason": "InstanceDeletionPending", "message": _PENDING}]
    return marked

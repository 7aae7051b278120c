"""What the server adds to a CustomResourceDefinition when it is made, changed, and about to go.

`custom_resources` does what follows from that.
"""

from __future__ import annotations

from datetime import datetime

from listwatch.server.json_tree import Tree, copied, same
from listwatch.server.lifecycle.semantics import timestamp

__all__ = ["CLEANUP", "complete_definition", "end_of_definition"]

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
"""The finalizer of a definition whose objects are not gone yet."""

_PENDING = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"


def complete_definition(new: Tree, old: Tree | None) -> None:
    """Remember, in place, every version in which objects were ever stored."""
    if old is None:
        new["status"] = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}}
    elif same(new["spec"], old["spec"]):
        return
    status = new["status"] = {**new["status"]}
    known = status.get("storedVersions") or []
    storage = next((each.get("name") for each in new["spec"].get("versions", ()) if each.get("storage")), None)
    if storage and storage not in known:
        known = [*known, storage]
    status["storedVersions"] = known


def end_of_definition(tree: Tree, now: datetime) -> Tree:
    """A definition that is to be deleted: it waits until its objects are gone."""
    marked = copied(tree)
    metadata, status = marked["metadata"], marked.setdefault("status", {})
    metadata["deletionTimestamp"] = timestamp(now)
    if CLEANUP not in metadata.get("finalizers", ()):
        metadata["finalizers"] = [*metadata.get("finalizers", ()), CLEANUP]
    others = [each for each in status.get("conditions") or () if each["type"] != "Terminating"]
    condition = {"type": "Terminating", "status": "True", "lastTransitionTime": timestamp(now)}
    status["conditions"] = [*others, {**condition, "reason": "InstanceDeletionPending", "message": _PENDING}]
    return marked

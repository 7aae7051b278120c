"""What a write makes of an object beyond what was asked: its identity, its times, its generation, its status.

`deletion` says the same of deletions, `verbs` calls both.
"""

from __future__ import annotations

from datetime import datetime

from listwatch.errors import APIError, BadRequestError, ConflictError, InvalidError
from listwatch.meta import Resource
from listwatch.server.causes import invalid
from listwatch.server.registry import Traits
from listwatch.server.requests import APIRequest
from listwatch.server.trees import Tree, child, same

__all__ = [
    "begin_life",
    "carry_over",
    "check_name",
    "check_namespace",
    "check_version",
    "is_unchanged",
    "keep_all_but_status",
    "metadata_of",
    "timestamp",
]

# What only the server sets. `managedFields` too, for as long as nobody manages fields here.
_SERVERS_OWN = ("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "uid", "generation", "selfLink")

# What the status of a new object says, where that is not nothing.
_FIRST_STATUS: dict[str, Tree] = {
    "Namespace": {"phase": "Active"},
    "PersistentVolume": {"phase": "Pending"},
    "PersistentVolumeClaim": {"phase": "Pending"},
    "Pod": {"phase": "Pending", "qosClass": "BestEffort"},
    "Service": {"loadBalancer": {}},
}
# These may be born with a status: whoever makes them knows it.
_WITH_STATUS_FROM_BIRTH = frozenset({"Node", "CertificateSigningRequest", "APIService"})


def metadata_of(tree: Tree) -> dict[str, Tree]:
    """The metadata of an object, made if it has none."""
    metadata: dict[str, Tree] = tree.setdefault("metadata", {})
    return metadata


def timestamp(moment: datetime) -> str:
    """As the API writes times: whole seconds of UTC."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


# --- Who is meant -----------------------------------------------------------------------------------------------------


def check_namespace(request: APIRequest, tree: Tree) -> None:
    """The namespace of the body is that of the URL, or is taken from there."""
    metadata = metadata_of(tree)
    found = metadata.get("namespace") or ""
    if not request.resource.namespaced:
        if found:
            raise BadRequestError("namespace is not allowed on cluster-scoped resources")
        return
    if found not in ("", request.namespace):
        raise BadRequestError("the namespace of the provided object does not match the namespace sent on the request")
    metadata["namespace"] = request.namespace


def check_name(request: APIRequest, tree: Tree) -> None:
    """The name of the body is that of the URL."""
    found = metadata_of(tree).get("name") or ""
    if not found:
        raise BadRequestError(
            f"the name of the object ({request.name} based on URL) was undeterminable: name must be provided"
        )
    if found != request.name:
        raise BadRequestError(f"the name of the object ({found}) does not match the name on the URL ({request.name})")


def check_version(new: Tree, old: Tree, resource: Resource, traits: Traits) -> None:
    """Who writes has seen what is there, if it says what it has seen, or if it has to."""
    asked, name = metadata_of(new).get("resourceVersion") or "", old["metadata"]["name"]
    if not asked:
        if not traits.unconditional_update:
            cause = invalid("metadata.resourceVersion", 0, "must be specified for an update")
            raise InvalidError.of(resource.kind, name, [cause], group=resource.group)
    elif asked != old["metadata"]["resourceVersion"]:
        raise ConflictError.of(resource.plural, name, group=resource.group)
    uid = metadata_of(new).get("uid") or ""
    if uid not in ("", old["metadata"]["uid"]):
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {old['metadata']['uid']}"
        raise ConflictError.of(resource.plural, name, why, group=resource.group)


# --- Being made and being changed -------------------------------------------------------------------------------------


def begin_life(tree: Tree, resource: Resource, traits: Traits, *, uid: str, now: datetime) -> None:
    """What a new object gets from the server, and what it may not bring along."""
    metadata = metadata_of(tree)
    if metadata.pop("resourceVersion", ""):
        raise APIError("resourceVersion should not be set on objects to be created", status_code=500, reason="")
    for name in (*_SERVERS_OWN, "managedFields"):
        metadata.pop(name, None)
    metadata["uid"] = uid
    metadata["creationTimestamp"] = timestamp(now)
    if traits.has_generation:
        metadata["generation"] = 1
    if resource.subresource("status") and resource.kind not in _WITH_STATUS_FROM_BIRTH:
        tree.pop("status", None)
        if resource.kind in _FIRST_STATUS:
            tree["status"] = _FIRST_STATUS[resource.kind]
    if resource.kind == "Namespace":
        # It stays until it is empty.
        tree["spec"] = {"finalizers": list(dict.fromkeys([*(child(tree, "spec", "finalizers") or ()), "kubernetes"]))}


def carry_over(new: Tree, old: Tree, resource: Resource, traits: Traits) -> None:
    """What an update cannot change: the identity, the times, and the status where that has a door of its own."""
    metadata = metadata_of(new)
    for name in (*_SERVERS_OWN, "managedFields"):
        _take(name, metadata, old["metadata"])
    metadata["resourceVersion"] = old["metadata"]["resourceVersion"]
    if resource.subresource("status"):
        _take("status", new, old)
    if resource.kind == "Namespace":
        _take("spec", new, old)  # its finalizers, which have a door of their own too
    if traits.has_generation and _wants_something_else(new, old, resource):
        metadata["generation"] = old["metadata"].get("generation", 0) + 1


def keep_all_but_status(new: Tree, old: Tree, resource: Resource, *, is_custom: bool) -> Tree:
    """What an update through the status door leaves: the new status, and of the metadata what that kind allows."""
    result = {**old, "metadata": dict(old["metadata"] if is_custom else metadata_of(new))}
    _take("status", result, new)
    metadata = result["metadata"]
    for name in (*_SERVERS_OWN, "managedFields", "ownerReferences"):
        _take(name, metadata, old["metadata"])
    if resource.kind == "Deployment":
        _take("labels", metadata, old["metadata"])
    metadata["resourceVersion"] = old["metadata"]["resourceVersion"]
    return result


def is_unchanged(new: Tree, old: Tree) -> bool:
    """True if there is nothing to write: nobody is told of it, and the version stays."""
    return same(new, old)


def _take(name: str, target: Tree, source: Tree) -> None:
    if name in source:
        target[name] = source[name]
    else:
        target.pop(name, None)


def _wants_something_else(new: Tree, old: Tree, resource: Resource) -> bool:
    aside = {"metadata", "apiVersion", "kind"} | ({"status"} if resource.subresource("status") else set())
    if any(not same(new.get(name), old.get(name)) for name in (new.keys() | old.keys()) - aside):
        return True
    return resource.kind == "Deployment" and not same(
        child(new, "metadata", "annotations") or {}, child(old, "metadata", "annotations") or {}
    )
